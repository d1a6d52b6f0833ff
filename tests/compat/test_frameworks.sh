#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sequences of calls of torch_npu, MindSpore, DIPU and Paddle, in the set-ups that bring our library
# to them.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
. "$vendor/build.sh"
export ACLPROF_DRIVER=sim

build_vendor "$tmp/cann" || { echo "cannot build the vendor's libraries"; exit 1; }
cann=$tmp/cann/lib64
mkdir "$tmp/ours"
cp "$build"/lib{acl_prof,msprofiler,profapi}.so "$tmp/ours"
cp -R "$tmp/cann" "$tmp/installed"
"$tool" install --prefix "$tmp/installed" --from "$tmp/ours" >/dev/null || bad install
build frameworks "$vendor/clients/frameworks.c" -ldl

# in_setup NAME COMMAND...
in_setup() {
    local setup=$1
    shift
    case $setup in
    preload) env LD_LIBRARY_PATH="$cann" \
        LD_PRELOAD="$build/libacl_prof.so:$build/libmsprofiler.so" "$@" ;;
    library-path) env LD_LIBRARY_PATH="$tmp/ours:$cann" "$@" ;;
    install) env LD_LIBRARY_PATH="$tmp/installed/lib64" "$@" ;;
    core) env LD_LIBRARY_PATH="$cann" LD_PRELOAD="$build/libacl_prof.so" "$@" ;;
    esac
}
# results ROW DIRECTORY NUMBER: so many PROF_*, all whole, nothing beside them
results() {
    local row=$1 dir=$2 number=$3 prof
    equal "$row: results" "$(ls -A "$dir" | grep -c '^PROF_'):$(ls -A "$dir" | wc -l)" \
        "$number:$number"
    for prof in "$dir"/PROF_*; do
        equal "$row: whole" "$("$tool" check "$prof" 2>&1 | grep -cx whole)" 1
    done
}
# calls ROW SETUP NAME …: the program goes well, and the vendor's library is not reached; with the
# core alone its front ends are, and not what is below them
calls() {
    local row=$1 setup=$2 code=0
    shift 2
    rm -rf "$tmp/out"
    in_setup "$setup" "$tmp/frameworks" "$@" >"$tmp/log" 2>&1 || code=$?
    equal "$row ($(tail -n 1 "$tmp/log"))" "$code:$(grep -c "vendor $(
        [ $setup = core ] && echo ProfAcl || echo aclprof)" "$tmp/log")" 0:0
}

for setup in preload library-path install core; do
    row="torch_npu, $setup"
    calls "$row" $setup torch "$tmp/out"
    for window in 0 1 2; do
        results "$row, window $window" "$tmp/out/window$window" 1
    done
    equal "$row: only the windows" "$(ls -A "$tmp/out" | xargs)" "window0 window1 window2"
    equal "$row: marks on the stream" "$(grep -c '^trace .*tag 11$' "$tmp/log")" 30
    equal "$row: steps" "$(grep -c '^trace .*tag 0$' "$tmp/log"):$(grep -c '^trace .*tag 1$' \
        "$tmp/log")" 30:30
    if [ $setup = core ]; then # the vendor's has no SetStampTagName any more
        row="MindSpore, $setup"
        calls "$row" $setup mindspore "$tmp/out" "$cann/libmsprofiler.so"
        results "$row" "$tmp/out" 1
        equal "$row: the front ends are the vendor's" "$(grep -c 'vendor aclprofStart' "$tmp/log")" 1
        continue
    fi
    row="DIPU, $setup"
    calls "$row" $setup dipu "$tmp/out"
    holds "$row" "$tmp/out" 200 "$(printf 'n%.0s' $(seq 399))"
    row="Paddle, $setup"
    calls "$row" $setup paddle "$tmp/out"
    results "$row" "$tmp/out" 2
done
row="MindSpore, install"
calls "$row" install mindspore "$tmp/out" "$tmp/installed/lib64/libmsprofiler.so"
results "$row" "$tmp/out" 1
equal "$row: numbers of steps" "$(grep '^trace' "$tmp/log" | sort -u | wc -l):$(
    grep -c '^trace 70[012] tag [01]$' "$tmp/log")" 6:6

finish
