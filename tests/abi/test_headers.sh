#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the public headers alone and together with CANN's, in every language they promise.
# Environment: ACLPROF_SRC (root of the sources), CC, CXX.
set -u

src=${ACLPROF_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-cc}
cxx=${CXX:-c++}
inc=$src/include
helpers=$src/tests/abi/helpers-headers
warn="-Wall -Wextra -Werror -pedantic -fsyntax-only"
checks=0
failed=0

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# compile_as STANDARD SOURCE FLAGS...
compile_as() {
    std=$1 file=$2
    shift 2
    case $std in
    c++*) $cxx -std="$std" $warn -x c++ "$@" "$file" ;;
    *) $cc -std="$std" $warn -x c "$@" "$file" ;;
    esac
}

# must_pass NAME SOURCE FLAGS...: in all standards
must_pass() {
    name=$1 source=$2
    shift 2
    for s in c99 c11 c++11 c++17; do
        checks=$((checks + 1))
        if ! compile_as $s "$source" "$@" >"$tmp/out" 2>&1; then
            failed=$((failed + 1))
            echo "FAIL $name as $s:"
            cat "$tmp/out"
        fi
    done
}

# must_fail NAME TEXT SOURCE FLAGS...: in all standards, with TEXT in the message
must_fail() {
    name=$1 text=$2 source=$3
    shift 3
    for s in c99 c11 c++11 c++17; do
        checks=$((checks + 1))
        if compile_as $s "$source" "$@" >"$tmp/out" 2>&1; then
            failed=$((failed + 1))
            echo "FAIL $name as $s: compiles, but must not"
        elif ! grep -q "$text" "$tmp/out"; then
            failed=$((failed + 1))
            echo "FAIL $name as $s: fails for another reason:"
            cat "$tmp/out"
        fi
    done
}

# Each header alone, and twice; as a user's header and as a system header.
ext=
for header in "$inc"/acl/*.h "$inc"/aclprof_ext.h; do
    [ -f "$header" ] || continue
    rel=${header#"$inc"/}
    [ "$rel" = aclprof_ext.h ] && ext=-DHAVE_EXT
    printf '#include <%s>\n#include <%s>\ntypedef int not_empty;\n' "$rel" "$rel" >"$tmp/one.c"
    must_pass "$rel alone" "$tmp/one.c" -I"$inc"
    must_pass "$rel alone, -isystem" "$tmp/one.c" -isystem "$inc"
done

must_pass "without CANN" "$helpers/alone.c" -I"$inc" -I"$helpers"
must_pass "hidden by default" "$helpers/alone.c" -I"$inc" -I"$helpers" -fvisibility=hidden
must_pass "acl/ on the path" "$helpers/flat.c" -I"$inc/acl" -I"$helpers"
must_pass "own ACL_SUCCESS" "$helpers/own_success.c" -I"$inc"

# A second copy of ours further down the path is not CANN's header.
mkdir -p "$tmp/copy"
cp -R "$inc/acl" "$tmp/copy/acl"
must_pass "two copies of ours" "$helpers/alone.c" -I"$inc" -I"$tmp/copy" -I"$helpers"

for flavour in old new; do
    cann=$helpers/fake_cann/$flavour
    for order in cann_first ours_first rt_first base_first; do
        # ours in front on the path; CANN's in front; CANN's as system headers
        must_pass "$flavour $order, path ours:cann" "$helpers/$order.c" -I"$inc" -I"$cann"
        must_pass "$flavour $order, path cann:ours" "$helpers/$order.c" -I"$cann" -I"$inc"
        must_pass "$flavour $order, -isystem cann" "$helpers/$order.c" -I"$inc" -isystem "$cann"
        must_pass "$flavour $order, -isystem ours" "$helpers/$order.c" -I"$cann" -isystem "$inc"
    done
    must_pass "$flavour, own headers only" "$helpers/alone.c" -DACLPROF_NO_CANN_HEADERS \
        -I"$inc" -I"$cann" -I"$helpers"
    must_pass "$flavour, acl/ directories on the path" "$helpers/ours_first_flat.c" \
        -I"$inc/acl" -I"$cann/acl" -I"$helpers"
    must_pass "$flavour, CANN's acl_prof.h first" "$helpers/cann_prof_first.c" $ext \
        -include "$helpers/fake_cann/prof/acl/acl_prof.h" -I"$inc" -I"$cann"
    must_pass "$flavour, CANN's acl_prof.h on the path" "$helpers/cann_prof_path.c" $ext \
        -I"$helpers/fake_cann/prof" -I"$cann" -I"$inc"
done

# The checks bite: a wrong prototype and a wrong code are seen.
must_fail "wrong prototype" aclprofMark "$helpers/alone.c" -DBREAK_A_PROTOTYPE -I"$inc" \
    -I"$helpers"
mkdir -p "$tmp/bad/acl"
cp "$inc"/acl/*.h "$tmp/bad/acl/"
sed 's/\(ACL_ERROR_PROF_NOT_RUN[ =]*\)100043/\1100044/' "$inc/acl/acl_base.h" \
    >"$tmp/bad/acl/acl_base.h"
must_fail "wrong code" check_ACL_ERROR_PROF_NOT_RUN "$helpers/alone.c" -I"$tmp/bad" -I"$helpers"

must_fail "CANN's ignored, then included" ACL_ERROR_NONE "$helpers/ours_first.c" \
    -DACLPROF_NO_CANN_HEADERS -I"$inc" -I"$helpers/fake_cann/old"

# A library built with hidden visibility exports what the header declares.
cat >"$tmp/lib.c" <<'EOF'
#include <acl/acl_prof.h>
int aside(void);
aclError aclprofPop(void) { return 0; }
int aside(void) { return 0; }
EOF
checks=$((checks + 1))
if ! $cc -std=c11 -fPIC -shared -fvisibility=hidden -I"$inc" -o "$tmp/lib.so" "$tmp/lib.c" ||
    ! nm -D --defined-only "$tmp/lib.so" >"$tmp/out" ||
    ! grep -q ' T aclprofPop$' "$tmp/out" || grep -q aside "$tmp/out"; then
    failed=$((failed + 1))
    echo "FAIL visibility"
fi

# Plain ASCII: some compilers read sources in the locale's encoding.
for header in "$inc"/acl/*.h; do
    checks=$((checks + 1))
    if LC_ALL=C grep -n '[^ -~]' "$header"; then
        failed=$((failed + 1))
        echo "FAIL $header: not plain ASCII"
    fi
done

echo "$checks checks, $failed failed ($cc, $cxx)"
[ "$failed" -eq 0 ]
