#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# User instructions of each stamp call, counted by callgrind inside the exported functions, against
# the committed limits. Instructions, not seconds: the same on a loaded machine.
#
#   ACLPROF_BUILD=<build directory> tests/bench/instructions.sh
set -eu
build=${ACLPROF_BUILD:?set ACLPROF_BUILD to a build directory}
bench=$build/tests/bench/bench_stamp
[ -x "$bench" ] || bench=$(find "$build" -name bench_stamp -type f -perm -u+x | head -n 1)
lib=$build/libacl_prof.so
command -v valgrind >/dev/null || { echo "instructions: valgrind is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
events=20000
fail=0
passed=0

# count OPERATION FUNCTION...: instructions per operation inside these functions
count() {
    local op=$1 toggles=() sum
    shift
    for f in "$@"; do toggles+=("--toggle-collect=$f"); done
    (cd "$dir" && valgrind --tool=callgrind --callgrind-out-file=out "${toggles[@]}" \
        "$bench" --lib "$lib" --out "$dir" --count "$op" "$events" >log 2>&1) || { cat "$dir/log"; exit 1; }
    sum=$(awk '/^(totals|summary):/ { s = $2 } END { print s + 0 }' "$dir/out")
    rm -rf "$dir"/PROF_* "$dir/out"
    echo $((sum / events))
}

# check OPERATION LIMIT FUNCTION...
check() {
    local op=$1 limit=$2 n
    shift 2
    n=$(count "$op" "$@")
    if [ "$n" -gt "$limit" ] || [ "$n" -eq 0 ]; then
        echo "FAIL $op: $n instructions, limit $limit"
        fail=$((fail + 1))
    else
        echo "ok   $op: $n instructions (limit $limit)"
        passed=$((passed + 1))
    fi
}

check mark 70 aclprofMark
check push+pop 165 aclprofPush aclprofPop
check range 215 aclprofRangeStart aclprofRangeStop
check full 360 aclprofCreateStamp aclprofSetStampTraceMessage aclprofMark aclprofDestroyStamp
check outside 24 aclprofMark
echo "$passed passed, $fail failed"
[ "$fail" -eq 0 ]
