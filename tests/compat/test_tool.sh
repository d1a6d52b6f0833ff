#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The aclprof command as a person uses it. Environment: ACLPROF_TOOL, ACLPROF_LIB, ACLPROF_BUILD, CC.
set -u
export LC_ALL=C

tool=${ACLPROF_TOOL:?} build=${ACLPROF_BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}
# is CODE COMMAND...: the command ends with that code; its output is in $tmp/out
is() {
    local code=$1 got=0
    shift
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got instead of $code: $* ($(head -c 300 "$tmp/err"))"
}
has() {
    grep -q -- "$1" "$tmp/out" "$tmp/err" || fail "no '$1' in what was printed: $(head -c 300 "$tmp/out" "$tmp/err")"
}

# ---- words ----

is 0 "$tool" --help
has summary
is 0 "$tool" --version
is 2 "$tool"
is 2 "$tool" nonsense
has "is no verb"
for verb in summary export report check recover doctor run install uninstall merge watch start stop snapshot status; do
    is 0 "$tool" $verb --help
    has Usage
done
is 2 "$tool" summary
is 2 "$tool" summary --sort colour "$tmp"
has "it can be"
is 2 "$tool" export --type xml "$tmp"
is 1 "$tool" summary "$tmp/nothing"
is 1 "$tool" check "$tmp/nothing"
is 1 "$tool" recover "$tmp/nothing"
mkfifo "$tmp/fifo"
is 1 "$tool" check "$tmp/fifo"

# ---- a directory ----

example=$build/examples/inference_loop
if [ -x "$example" ]; then
    ACLPROF_DRIVER=sim "$example" --loops 2 --output "$tmp/o" >"$tmp/example" 2>&1 ||
        fail "the example: $(tail -n 3 "$tmp/example")"
    prof=$(ls -d "$tmp"/o/PROF_*)
    is 0 "$tool" check "$prof"
    has "^whole$"
    is 0 "$tool" check --files "$prof"
    has "stars_soc.data.0.slice_0 .* records of 64"
    is 0 "$tool" check --json "$prof"
    has '"verdict":"whole"'
    is 0 "$tool" summary "$prof"
    has "conv 3x3x16"
    has "device 0 (simulated)"
    has "0 lost"
    is 0 "$tool" summary --format json --limit 3 --name 'conv*' "$tmp/o"
    has '"table":"tasks","name":"conv 3x3x16"'
    ! grep -q relu "$tmp/out" || fail "--name lets others through"
    is 0 "$tool" summary --format csv --limit 0 --sort name "$prof"
    has "^table,name,count"
    is 0 "$tool" recover "$prof"
    mkdir "$tmp/x"
    is 0 "$tool" export --output "$tmp/x" "$prof"
    for type in op_summary op_statistic task_time api_statistic msprof_tx; do
        [ "$(ls "$tmp"/x/mindstudio_profiler_output/${type}_[0-9]*.csv | wc -l)" -eq 1 ] ||
            fail "no $type"
    done
    is 0 "$tool" export --replace --output "$tmp/x" "$prof"
    [ "$(ls "$tmp"/x/mindstudio_profiler_output/*.csv | wc -l)" -eq 5 ] || fail "--replace"
    [ "$(stat -c %a "$tmp"/x/mindstudio_profiler_output/op_summary_*.csv)" = 640 ] || fail "mode"
    if command -v python3 >/dev/null; then
        python3 - "$tmp"/x/mindstudio_profiler_output/msprof_*.json <<'PY' || fail "the timeline"
import json, sys
events = json.load(open(sys.argv[1]))
assert isinstance(events, list) and len(events) > 1000
slices = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
ends = [e for e in events if e["ph"] == "f"]
assert ends and all((e["pid"], e["tid"], e["ts"]) in slices for e in ends)
assert {e["id"] for e in ends} == {e["id"] for e in events if e["ph"] == "s"}
assert all(isinstance(e["ts"], str) and len(e["ts"].split(".")[1]) == 3 for e in events if e["ph"] == "X")
assert any(e["ph"] == "M" and "simulated" in str(e["args"]) for e in events)
PY
    fi
    truncate -s 1000 "$prof"/host/data/aging.compact.task_track.slice_0
    is 4 "$tool" check "$prof"
    has damaged
fi

# ---- run ----

if [ -z "${ACLPROF_SANITIZE:-}" ]; then # whose runtime wants to be the first preload
    is 0 "$tool" run -- true
    is 7 "$tool" run -- sh -c 'exit 7'
    is 127 "$tool" run -- "$tmp/no such program"
    is 2 "$tool" run
    is 143 bash -c "'$tool' run -- sh -c 'kill -TERM \$\$'; exit \$?"
    is 0 "$tool" run --output "$tmp/w" --log info -- sh -c 'echo "$LD_PRELOAD $ASCEND_WORK_PATH $ACLPROF_LOG"'
    has "libacl_prof.so:.*/libmsprofiler.so $tmp/w info"
    LD_PRELOAD=$tmp/other.so is 0 "$tool" run -- sh -c 'echo "$LD_PRELOAD"'
    has "libacl_prof.so:.*/libmsprofiler.so:$tmp/other.so"
    # a signal is the program's
    "$tool" run -- bash -c 'trap "exit 9" TERM; echo up; sleep 20 & wait' >"$tmp/up" 2>&1 &
    runner=$!
    for _ in $(seq 100); do
        grep -q up "$tmp/up" && break
        sleep 0.05
    done
    kill -TERM $runner
    wait $runner
    [ $? -eq 9 ] || fail "SIGTERM did not reach the program"
    printf '#include <unistd.h>\nint main(void) { sleep(3); return 3; }\n' >"$tmp/s.c"
    if ${CC:-cc} -O0 -static -o "$tmp/static" "$tmp/s.c" 2>/dev/null; then
        is 3 "$tool" run -- "$tmp/static"
        has "does not get into the program: it is static"
    fi
fi

# ---- install ----

tree=$tmp/cann
mkdir -p "$tree/x86_64-linux/lib64"
ln -s x86_64-linux/lib64 "$tree/lib64"
echo vendor >"$tree/lib64/libmsprofiler.so"
echo profapi >"$tree/lib64/libprofapi.so"
echo else >"$tree/lib64/libother.so"
mkdir "$tmp/ours"
cp "${ACLPROF_LIB:?}" "$tmp/ours/libacl_prof.so"
echo "our front" >"$tmp/ours/libmsprofiler.so"
echo "our api" >"$tmp/ours/libprofapi.so"
before=$(cd "$tree" && find . -type f | sort | xargs md5sum)
is 1 "$tool" install --prefix "$tmp" --from "$tmp/ours"
has "is no CANN tree"
is 2 "$tool" install
is 0 "$tool" install --prefix "$tree" --from "$tmp/ours"
[ "$(cat "$tree/lib64/libmsprofiler.so")" = "our front" ] || fail "the front is not ours"
[ "$(cat "$tree/lib64/libmsprofiler.so.vendor")" = vendor ] || fail "the vendor's is gone"
[ "$(cat "$tree/lib64/libprofapi.so")" = profapi ] || fail "libprofapi without --all"
cmp -s "$tree/lib64/libacl_prof.so" "$ACLPROF_LIB" || fail "no core"
is 1 "$tool" install --prefix "$tree" --from "$tmp/ours"
has "has it already"
echo changed >>"$tree/lib64/libmsprofiler.so"
is 1 "$tool" uninstall --prefix "$tree"
has "nothing is changed"
echo "our front" >"$tree/lib64/libmsprofiler.so"
is 0 "$tool" uninstall --prefix "$tree"
[ "$before" = "$(cd "$tree" && find . -type f | sort | xargs md5sum)" ] || fail "not as before"
is 0 "$tool" install --all --prefix "$tree" --from "$tmp/ours"
[ "$(cat "$tree/lib64/libprofapi.so")" = "our api" ] || fail "--all"
is 0 "$tool" uninstall --prefix "$tree"
[ "$before" = "$(cd "$tree" && find . -type f | sort | xargs md5sum)" ] || fail "not as before, --all"
rm "$tmp/ours/libmsprofiler.so"
is 1 "$tool" install --prefix "$tree" --from "$tmp/ours"
has "everything is as before"
[ "$before" = "$(cd "$tree" && find . -type f | sort | xargs md5sum)" ] || fail "a failed install leaves something"

[ $bad -eq 0 ] && echo "all as it should be"
exit $bad
