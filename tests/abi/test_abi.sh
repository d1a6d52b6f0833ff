#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Nothing that programs were built with changes: exported functions, their parameters and the layouts of
# the types that they reach are those of the committed baseline (renew_baseline makes it). What was added
# since is only told.
# Environment: ACLPROF_LIB, ACLPROF_SRC, ACLPROF_SANITIZE, ACLPROF_DEPS, CC.
set -u
export LC_ALL=C

lib=${ACLPROF_LIB:?} src=${ACLPROF_SRC:?}
baseline=$src/tests/abi/baseline/libacl_prof.$(uname -m).abi
skip() {
    echo "$*"
    exit 77
}
[ -z "${ACLPROF_SANITIZE:-}" ] || skip "sanitizers add to the interface"
[ "${ACLPROF_DEPS:-bundled}" = bundled ] || skip "the baseline is of bundled dependencies"
for tool in abidw abidiff readelf; do
    command -v $tool >/dev/null || skip "no $tool (Debian's abigail-tools)"
done
${CC:-cc} --version 2>/dev/null | grep -qi 'gcc\|Free Software' || skip "the baseline is gcc's"
readelf -SW "$lib" | grep -q '\.debug_info' || skip "no debug information in $lib"
[ -f "$baseline" ] || skip "no baseline for $(uname -m)"

. "$src/tests/abi/dump_abi.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}

dump_abi "$lib" "$src/include" "$tmp/now.abi" || fail "abidw"
# differs OLD NEW OPTIONS…: abidiff's report in $tmp/report; its code: 1 it failed, 4 and 8 changes
differs() {
    local code=0
    abidiff "${@:3}" "$1" "$2" >"$tmp/report" 2>&1 || code=$?
    [ $((code & 3)) -eq 0 ] || fail "abidiff: $code: $(head -n 5 "$tmp/report")"
    [ $code -ne 0 ]
}

if differs "$baseline" "$tmp/now.abi" --no-added-syms; then
    fail "the interface has changed:"
    cat "$tmp/report"
fi
if [ "$bad" -eq 0 ] && differs "$baseline" "$tmp/now.abi"; then
    sed -n "s/^ *\[A\] /added: /p" "$tmp/report"
    echo "tests/abi/renew_baseline takes what was added into the baseline"
fi
grep -nE "='(/|[^']*\.\./)" "$baseline" && fail "the baseline has paths of a machine"

# It bites: each of these changes to what a program was built with is seen.
# seen WHAT SED
seen() {
    sed -E "$2" "$baseline" >"$tmp/other.abi"
    if cmp -s "$baseline" "$tmp/other.abi"; then
        fail "$1: there is nothing like it in the baseline"
    elif ! differs "$tmp/other.abi" "$tmp/now.abi" --no-added-syms; then
        fail "not seen: $1"
    fi
}
seen "a function has gone" \
    "s/^(.*<elf-symbol name=')aclprofMark('.*)$/\1aclprofMark\2\n\1aclprofMerk\2/"
seen "another offset in a struct" \
    "/class-decl name='aclprofStats'/,/<\/class-decl>/s/layout-offset-in-bits='64'/layout-offset-in-bits='32'/"
seen "another size of a struct" "s/(name='aclprofStats' size-in-bits=')[0-9]+/\164/"
seen "another value of an enumerator" "s/(name='ACL_STEP_END' value=')1/\12/"
seen "another parameter" \
    "/name='aclprofRangeStop'/,/<\/function-decl>/s/(<parameter type-id=')[^']*/\1$(
        grep -oE "<type-decl name='double' .*id='[^']*" "$baseline" | sed "s/.*id='//")/"

[ $bad -ne 0 ] || echo "$(grep -c '<elf-symbol ' "$baseline") functions and their types are as they were"
exit $bad
