# SPDX-License-Identifier: Apache-2.0
# What the shell tests about loading have in common. Sourced by bash; sets tmp, lib, build, tool, src.
set -u
export LC_ALL=C
unset LD_PRELOAD LD_LIBRARY_PATH ACLPROF_LOG ACLPROF_STRICT ACLPROF_ARENA ACLPROF_RING_SIZE \
    ACLPROF_AUTOSTART ASCEND_WORK_PATH ASCEND_HOME_PATH PROFILING_MODE PROFILER_SAMPLECONFIG

if [ -n "${ACLPROF_SANITIZE:-}" ]; then
    echo "the sanitizers' runtime must come first: not with them"
    exit 77
fi
lib=${ACLPROF_LIB:?} build=${ACLPROF_BUILD:?} tool=${ACLPROF_TOOL:?} src=${ACLPROF_SRC:?}
helpers=$build/tests/compat
vendor=$src/tests/compat/vendor
checks=0
failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

good() {
    checks=$((checks + 1))
    echo "ok   $1"
}
bad() {
    checks=$((checks + 1))
    failed=$((failed + 1))
    echo "FAIL $*"
}
have() {
    command -v "$1" >/dev/null || { echo "no $1: without that part"; return 1; }
}
build() {
    local program=$1 source=$2
    shift 2
    ${CC:-cc} -Wall -Wextra -O1 -o "$tmp/$program" "$source" "$@" ||
        { echo "cannot compile $source"; exit 1; }
}
# equal ROW HAVE WANT
equal() {
    if [ "$2" = "$3" ]; then good "$1"; else bad "$1: '$2' instead of '$3'"; fi
}
# holds ROW DIRECTORY NUMBER MESSAGE: one finished result, with these and nothing beside it.
holds() {
    local row=$1 dir=$2 number=$3 message=$4 out
    if ! out=$("$helpers/show_prof" "$dir" 2>&1) || [ "$out" != "finished, $number events, balanced
$number $message" ] || [ "$(ls -A "$dir" | wc -l)" != 1 ]; then
        bad "$row: $out; there are: $(ls -A "$dir" 2>&1)"
    else
        good "$row"
    fi
}
finish() {
    echo "$checks checks, $failed failed"
    [ $failed -eq 0 ]
    exit
}
