#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that were linked with the vendor's libraries, and libraries that report to the profiler:
# the rows of linking, weak references, extension modules, reporters and callbacks.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
. "$vendor/build.sh"
export ACLPROF_DRIVER=none

build_vendor "$tmp/cann" || { echo "cannot build the vendor's libraries"; exit 1; }
cann=$tmp/cann/lib64
mkdir "$tmp/ours"
cp "$build"/lib{acl_prof,msprofiler,profapi}.so "$tmp/ours"
cp -R "$tmp/cann" "$tmp/installed"
"$tool" install --prefix "$tmp/installed" --from "$tmp/ours" >/dev/null || bad install
cp -R "$tmp/cann" "$tmp/installed-all"
"$tool" install --prefix "$tmp/installed-all" --from "$tmp/ours" --all >/dev/null || bad install

# ---- link ----

linked=$vendor/clients/linked.c
build hccl_test "$linked" -L"$cann" -Wl,--no-as-needed -lmsprofiler -Wl,-rpath-link,"$cann" -ldl
build sample "$linked" -DWITH_ACL -L"$cann" -Wl,--no-as-needed -lmsprofiler -lascendcl -lprofapi \
    -lruntime -ldl
build wrapper "$linked" -DWITH_ACL -L"$cann" -Wl,--no-as-needed -lascendcl -lruntime -lmsprofiler \
    -Wl,-rpath-link,"$cann" -ldl
build bound_now "$linked" -DWITH_ACL -L"$cann" -Wl,-z,now -lmsprofiler -lascendcl -lruntime \
    -Wl,--allow-shlib-undefined -ldl

# linked_row ROW PROGRAM WHOSE VARIABLE=VALUE…
linked_row() {
    local row=$1 program=$2 want=$3 whose
    shift 3
    rm -rf "$tmp/out"
    whose=$(env "$@" "$tmp/$program" "$tmp/out" 2>"$tmp/err")
    equal "$row" "$? $whose" "0 $want"
    if [ "$want" = ours ]; then
        holds "$row, capture" "$tmp/out" 1000 linked
        equal "$row, the vendor's are not called" "$(grep -c 'vendor aclprof' "$tmp/err")" 0
    else
        equal "$row, capture" "$(grep -c 'vendor aclprofStart' "$tmp/err")" 1
    fi
}
for program in hccl_test sample wrapper bound_now; do
    row="link, $program"
    linked_row "$row, nothing" $program vendor LD_LIBRARY_PATH="$cann"
    linked_row "$row, preload" $program ours LD_LIBRARY_PATH="$cann" LD_PRELOAD="$lib"
    linked_row "$row, preload libmsprofiler.so" $program ours LD_LIBRARY_PATH="$cann" \
        LD_PRELOAD="$build/libmsprofiler.so"
    linked_row "$row, preload both" $program ours LD_LIBRARY_PATH="$cann" \
        LD_PRELOAD="$lib:$build/libmsprofiler.so"
    linked_row "$row, library path" $program ours LD_LIBRARY_PATH="$tmp/ours:$cann"
    linked_row "$row, install" $program ours LD_LIBRARY_PATH="$tmp/installed/lib64"
    linked_row "$row, install --all" $program ours LD_LIBRARY_PATH="$tmp/installed-all/lib64"
done

# Linked with ours under the vendor's name, and run with the vendor's: it starts there, too.
build with_ours "$linked" -L"$build" -Wl,--no-as-needed -lmsprofiler -Wl,--no-undefined \
    -Wl,-rpath-link,"$build" -ldl
equal "link, ours as libmsprofiler.so: NEEDED" "$(readelf -dW "$tmp/with_ours" |
    sed -n 's/.*(NEEDED).*\[\(.*prof.*\)\]/\1/p' | xargs)" libmsprofiler.so
linked_row "link, ours as libmsprofiler.so" with_ours ours LD_LIBRARY_PATH="$tmp/ours"
linked_row "link, ours as libmsprofiler.so, run with the vendor's" with_ours vendor \
    LD_LIBRARY_PATH="$cann"
build with_core "$linked" -L"$build" -lacl_prof -ldl
linked_row "link, -lacl_prof" with_core ours LD_LIBRARY_PATH="$tmp/ours"
linked_row "link, -lacl_prof with the vendor's beside" with_core ours \
    LD_LIBRARY_PATH="$tmp/ours:$cann" LD_PRELOAD="$build/libmsprofiler.so"

# ---- weak symbols (hixl) ----

weak_row() {
    local row=$1 want=$2
    shift 2
    equal "$row" "$(env "$@" "$tmp/weak" 2>/dev/null | xargs)" "$want"
}
all5() { echo "$1 $1 $1 $1 $1"; }
build weak "$vendor/clients/weak.c" -L"$cann" -Wl,--no-as-needed -lascendcl -Wl,-rpath-link,"$cann" \
    -ldl
weak_row "weak symbols, nothing" "$(all5 vendor)" LD_LIBRARY_PATH="$cann"
weak_row "weak symbols, preload" "$(all5 ours)" LD_LIBRARY_PATH="$cann" LD_PRELOAD="$lib"
weak_row "weak symbols, preload libmsprofiler.so" "$(all5 ours)" LD_LIBRARY_PATH="$cann" \
    LD_PRELOAD="$build/libmsprofiler.so"
weak_row "weak symbols, install" "$(all5 ours)" LD_LIBRARY_PATH="$tmp/installed/lib64"
build weak "$vendor/clients/weak.c" -ldl
weak_row "weak symbols, no library, nothing" "$(all5 none)" A=B
weak_row "weak symbols, no library, preload" "$(all5 ours)" LD_PRELOAD="$lib"

# ---- pyACL: an extension module that is linked with libmsprofiler.so ----

# All functions that our header declares and that are there, by PLT, in an object opened RTLD_LOCAL.
nm -D --defined-only "$lib" | awk '$3 ~ /^aclprof/ { print $3 }' | sort >"$tmp/names"
{
    sed 's/.*/void &(void);/' "$tmp/names"
    echo 'void *const acl_prof_module[] = {'
    sed 's/.*/    (void *)&,/' "$tmp/names"
    echo '    0};'
} >"$tmp/acl.c"
cat >"$tmp/python.c" <<'END'
#define _GNU_SOURCE
#include "lookup.h"

int main(int argc, char **argv)
{
    void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void *const *entry = module != NULL ? dlsym(module, "acl_prof_module") : NULL;
    int ours = 0;

    (void)argc;
    if (entry == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (; *entry != NULL; entry++) {
        ours += strcmp(lookup_whose(*entry), "ours") == 0;
    }
    printf("%d\n", ours);
    return 0;
}
END
build acl.so "$tmp/acl.c" -Wno-builtin-declaration-mismatch -fPIC -shared -L"$build" \
    -Wl,--no-as-needed -lmsprofiler -Wl,-rpath-link,"$build"
build python "$tmp/python.c" -I"$vendor/clients" -ldl
number=$(wc -l <"$tmp/names")
for row in "LD_LIBRARY_PATH=$tmp/ours" "LD_LIBRARY_PATH=$tmp/installed/lib64" \
    "LD_PRELOAD=$build/libmsprofiler.so"; do
    equal "pyACL, ${row%%=*} ${row##*/}, $number functions" \
        "$(env LD_LIBRARY_PATH="$cann" "$row" "$tmp/python" "$tmp/acl.so" 2>&1)" "$number"
done

# ---- below us: libraries that report ----

build loader "$vendor/clients/loader.c" -ldl
# records_row ROW WAY PLT DLSYM VARIABLE=VALUE…: where records of the runtime (by PLT) and of HCCL (by
# dlsym) go to during a capture: "ours", or "vendor" when they stay with its reporter.
records_row() {
    local row=$1 way=$2 plt=$3 by_dlsym=$4 said
    shift 4
    rm -rf "$tmp/out"
    said=$(env ACLPROF_DRIVER=sim "$@" "$tmp/loader" records "$way" "$tmp/out" 2>"$tmp/err")
    equal "$row, told of INIT, START, STOP, FINALIZE" "$? $said" "0 told 0xf"
    equal "$row, runtime" "$(grep -c 'vendor MsprofReportCompactInfo' "$tmp/err"):$(
        bytes_of compact)" "$(lost $plt 64)"
    equal "$row, HCCL" "$(grep -c 'vendor MsprofReportAdditionalInfo' "$tmp/err"):$(
        bytes_of additional)" "$(lost $by_dlsym 256)"
}
bytes_of() {
    find "$tmp/out" -type f -path '*/host/data/*' -name "*aging.$1.*slice_*" ! -name '*.done' ! -name '*_dic.*' \
        -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}
# 100 records of this size are ours, or the vendor has said so 100 times
lost() { if [ "$1" = ours ]; then echo "0:$((100 * $2))"; else echo 100:0; fi; }
records_row "below us, preload" default ours ours LD_LIBRARY_PATH="$cann" LD_PRELOAD="$lib"
records_row "below us, preload libmsprofiler.so" ascendcl ours ours LD_LIBRARY_PATH="$cann" \
    LD_PRELOAD="$build/libmsprofiler.so"
records_row "below us, preload libprofapi.so and libmsprofiler.so" ascendcl ours ours \
    LD_LIBRARY_PATH="$cann" LD_PRELOAD="$build/libprofapi.so:$build/libmsprofiler.so"
records_row "below us, install --all" ascendcl ours ours LD_LIBRARY_PATH="$tmp/installed-all/lib64"
records_row "below us, install (by the vendor's callbacks)" ascendcl ours ours \
    LD_LIBRARY_PATH="$tmp/installed/lib64"
records_row "below us, dlopen of a path (by the vendor's callbacks)" "$lib" ours ours \
    LD_LIBRARY_PATH="$cann"

finish
