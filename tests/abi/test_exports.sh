#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a program linked with or preloading the library meets: the names that the headers promise,
# under the right SONAME, and nothing that it would have to bring along. cmake/check-library has the
# rules that belong to the build; those here compare with the headers and ask the loader.
# Environment: ACLPROF_LIB, ACLPROF_SRC, ACLPROF_DEPS, CC.
set -u
export LC_ALL=C

lib=${ACLPROF_LIB:?} src=${ACLPROF_SRC:?}
if [ -n "${ACLPROF_SANITIZE:-}" ]; then
    echo "the sanitizers' runtime is linked in: nothing to check here"
    exit 77
fi
for tool in readelf nm; do
    command -v $tool >/dev/null || { echo "no $tool"; exit 77; }
done

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}

dynamic=$(readelf -dW "$lib") && segments=$(readelf -lW "$lib") || exit 1

# ---- names ----

# Every function that a header declares.
declared() {
    tr '\n' ' ' <"$1" | sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/, ,g' |
        grep -oE '(ACL_FUNC_VISIBILITY|SIMRT_API|REPORTER_API)[^;(#]*\(' | sed 's/ *($//; s/.*[ *]//' |
        grep -v '^__' | sort -u
}
{
    declared "$src/include/acl/acl_prof.h"
    declared "$src/include/aclprof_ext.h"
    declared "$src/include/sim_runtime.h"
    declared "$src/include/aclprof_reporter.h"
} | sort -u >"$tmp/declared"
sed -n 's/^ *\([A-Za-z][A-Za-z0-9_]*\);$/\1/p' "$src/src/libacl_prof.map" | sort >"$tmp/map"
nm -D --defined-only "$lib" >"$tmp/nm" || exit 1
awk '{ print $3 }' "$tmp/nm" | sort >"$tmp/exported"

[ "$(wc -l <"$tmp/declared")" -ge 20 ] || fail "the headers declare only $(wc -l <"$tmp/declared")"
cmp -s "$tmp/map" "$tmp/exported" || fail "map and exports: $(diff "$tmp/map" "$tmp/exported")"
cmp -s "$tmp/declared" "$tmp/exported" ||
    fail "headers and exports: $(diff "$tmp/declared" "$tmp/exported")"
grep -v ' T ' "$tmp/nm" && fail "exports that are no functions"
grep '@' "$tmp/nm" && fail "exports with a version: the vendor's have none"

# ---- needs ----

grep -q '(SONAME).*\[libacl_prof.so\]' <<<"$dynamic" || fail "SONAME: $dynamic"
grep -E '\((RPATH|RUNPATH|TEXTREL|SYMBOLIC)\)|TEXTREL' <<<"$dynamic" && fail "unwanted entries"
grep -q 'GNU_STACK.* RW ' <<<"$segments" || fail "the stack: $(grep GNU_STACK <<<"$segments")"
for needed in $(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic"); do
    case ${ACLPROF_DEPS:-bundled}:$needed in
    *:libc.so.6 | *:libm.so.6 | *:libpthread.so.0 | *:libdl.so.2 | *:ld-linux*) ;;
    shared:libuv.so.* | shared:libcjson.so.*) ;;
    *) fail "it needs $needed" ;;
    esac
done
# Undefined: the C library's, by their version; weak ones that compilers add. Nothing of a driver.
nm -D --undefined-only "$lib" | while read -r type name; do
    case $type:$name in
    U:*@GLIBC_* | w:*@GLIBC_* | w:_ITM_*TMCloneTable | w:__gmon_start__) ;;
    U:uv_* | U:cJSON_*) [ "${ACLPROF_DEPS:-bundled}" = shared ] || echo "$name" ;;
    *) echo "$name ($type)" ;;
    esac
done >"$tmp/strange"
[ ! -s "$tmp/strange" ] || fail "undefined: $(cat "$tmp/strange")"
# What would change the host behind its back must not even be imported.
nm -D --undefined-only "$lib" |
    grep -wE '(exit|_exit|quick_exit|srand|rand|random|srandom|setlocale|umask|chdir|signal|setenv|putenv|unsetenv|printf|puts|localtime|strerror|strtok|tmpnam|system|fork)(@.*)?$' &&
    fail "imports that change the host or are not safe among threads"

# ---- the loader's view ----

cat >"$tmp/look.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int bad = 0;

    if (lib == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    if (dlopen("libacl_prof.so", RTLD_NOW | RTLD_NOLOAD) == NULL) {
        fprintf(stderr, "not known by its SONAME\n"); /* how other libraries ask for it */
        bad = 1;
    }
    for (int i = 2; i < argc; i++) {
        if (dlsym(lib, argv[i]) == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            bad = 1;
        }
        if (dlsym(RTLD_DEFAULT, argv[i]) != NULL) {
            fprintf(stderr, "%s is seen from outside\n", argv[i]);
            bad = 1;
        }
    }
    return bad;
}
END
cat >"$tmp/link.c" <<'END'
#include <acl/acl_prof.h>

int main(void)
{
    return aclprofStop(0);
}
END
${CC:-cc} -o "$tmp/look" "$tmp/look.c" -ldl || exit 1
# shellcheck disable=SC2046
"$tmp/look" "$lib" $(cat "$tmp/exported") || fail "dlopen and dlsym"
# A program linked with it asks for the SONAME, and the library has no need of flags of its own.
${CC:-cc} -I"$src/include" -o "$tmp/link" "$tmp/link.c" -L"$(dirname "$lib")" -lacl_prof \
    -Wl,--no-undefined || fail "a program does not link"
readelf -dW "$tmp/link" | grep -q '(NEEDED).*\[libacl_prof.so\]' || fail "NEEDED of the program"
LD_LIBRARY_PATH=$(dirname "$lib") "$tmp/link" || fail "the program ends with $?"

[ $bad -ne 0 ] || echo "$(wc -l <"$tmp/exported") functions, as the headers declare them"
exit $bad
