#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the tool says of itself is true and the same everywhere: --help, the verbs' options, the man
# page, the completion. Environment: ACLPROF_TOOL, ACLPROF_SRC.
set -u
export LC_ALL=C.UTF-8

tool=${ACLPROF_TOOL:?} src=${ACLPROF_SRC:?}
man=$src/docs/aclprof.1
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}

verbs=$("$tool" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')
[ "$(wc -w <<<"$verbs")" -ge 9 ] || fail "verbs in --help: $verbs"

# options_of VERB: what its help tells of
options_of() {
    "$tool" "$1" --help | grep -oE -- '(^|[ ,[])--[a-z][a-z-]*' | tr -d ' ,[' | sort -u
}

# ---- each option of the help is taken, and each that is taken is in the help ----

for verb in $verbs; do
    "$tool" "$verb" --help >/dev/null || fail "$verb --help"
    [ -z "$("$tool" "$verb" --help 2>&1 >/dev/null)" ] || fail "$verb --help writes to stderr"
    for option in $(options_of "$verb"); do
        case $verb:$option in
        check:--help | recover:--help) continue ;;
        esac
        if timeout 10 "$tool" "$verb" "$option" </dev/null 2>&1 | grep -qE 'unrecognized|invalid option'; then
            fail "$verb does not know $option of its help"
        fi
    done
    file=$src/src/tool/verb_$verb.c
    [ "$verb" != install ] || file=$src/src/tool/install.c
    [ -f "$file" ] || continue
    for name in $(sed -nE 's/.*/&\n/; s/\{"([a-z-]+)", *(no|required|optional)_argument/\n@\1\n/gp' \
        "$file" | sed -n 's/^@//p'); do
        "$tool" "$verb" --help | grep -q -- "--$name" || fail "$verb --help is silent on --$name"
    done
done

# ---- the man page ----

plain=$(sed -e 's/\\-/-/g' "$man") || fail "no $man"
for verb in $verbs; do
    grep -q "^\.SS $verb\$" <<<"$plain" || fail "the man page has no $verb (docs/make_man makes it)"
    section=$(sed -n "/^\.SS $verb\$/,/^\.S[SH] /p" <<<"$plain")
    for option in $(options_of "$verb"); do
        grep -q -- "$option" <<<"$section" ||
            fail "the man page has no $option of $verb (docs/make_man makes it)"
    done
done
for verb in $(sed -n 's/^\.SS //p' <<<"$plain"); do
    grep -qw "$verb" <<<"$verbs" || fail "the man page has $verb, which is no verb"
done
for variable in ACLPROF_DRIVER ACLPROF_LOG ACLPROF_RING_SIZE ACLPROF_ARENA ACLPROF_CLOCK; do
    grep -q "$variable" <<<"$plain" || fail "the man page has no $variable"
done
if command -v man >/dev/null && command -v groff >/dev/null; then
    [ -z "$(groff -man -Tutf8 -ww "$man" 2>&1 >/dev/null)" ] ||
        fail "groff: $(groff -man -Tutf8 -ww "$man" 2>&1 >/dev/null | head -n 3)"
fi

# ---- the completion ----

# shellcheck source=/dev/null
. "$src/src/tool/completion/aclprof" || fail "the completion"
# completes WORD... : words that bash would offer for the last
completes() {
    COMP_WORDS=("$tool" "$@")
    COMP_CWORD=$#
    _aclprof
    printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"}
}
for verb in $verbs; do
    completes "" | grep -qx -- "$verb" || fail "no completion to $verb"
    for option in $(options_of "$verb"); do
        completes "$verb" -- | grep -qx -- "$option" || fail "no completion to $verb $option"
    done
done
[ "$(completes rec)" = recover ] || fail "rec is completed to $(completes rec)"
[ "$(completes export --type pf)" = pftrace ] || fail "--type pf"
[ "$(completes export --type = js)" = json ] || fail "--type=js"
cd "$src" || exit 1
completes check doc | grep -qx docs || fail "no files are offered"

[ "$bad" -eq 0 ] && echo "words: ok"
exit $bad
