#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs with our header and with prototypes as in CANN 6 and 9 compile without a warning, as C and as
# C++, with gcc and with clang, link, and run on the library: all functions, three events in the result.
# Environment: ACLPROF_LIB, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE.
set -u
export LC_ALL=C
unset LD_PRELOAD ACLPROF_LOG ACLPROF_STRICT ACLPROF_AUTOSTART ACLPROF_DRIVER PROFILING_MODE \
    PROFILER_SAMPLECONFIG

if [ -n "${ACLPROF_SANITIZE:-}" ]; then
    echo "the sanitizers' runtime must come first: not with them"
    exit 77
fi
lib=${ACLPROF_LIB:?} tool=${ACLPROF_TOOL:?} src=${ACLPROF_SRC:?}
helpers=$src/tests/abi/helpers-programs
checks=0
failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad() {
    failed=$((failed + 1))
    echo "FAIL $*"
}

# program COMPILER LANGUAGE STANDARD HEADER FLAGS…
program() {
    local name="$1 $3 $4 ${*:5}"
    checks=$((checks + 1))
    rm -rf "$tmp/out"
    if ! "$1" -x "$2" -std="$3" -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror "${@:5}" \
        -I"$src/include" -include "$helpers/$4.h" -o "$tmp/program" "$helpers/program.c" \
        -x none "$lib" -Wl,-rpath,"$(dirname "$lib")" >"$tmp/log" 2>&1; then
        bad "$name: $(cat "$tmp/log")"
    elif ! "$tmp/program" "$tmp/out" >"$tmp/log" 2>&1; then
        bad "$name: $(cat "$tmp/log")"
    elif ! "$tool" check "$tmp/out" >"$tmp/log" 2>&1 || ! grep -q ' 3 host records' "$tmp/log"; then
        bad "$name: the result: $(cat "$tmp/log")"
    fi
}

for header in ours cann6 cann9; do
    for cc in gcc clang; do
        command -v $cc >/dev/null || { echo "no $cc: without it"; continue; }
        program $cc c c99 $header
        program $cc c c11 $header
    done
    program gcc c gnu17 $header -fshort-enums
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null || { echo "no $cxx: without it"; continue; }
        program $cxx c++ c++11 $header
        program $cxx c++ c++17 $header -fno-exceptions -fvisibility=hidden
    done
done

echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
