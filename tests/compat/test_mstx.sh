#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How the library of mstx comes by us: by a preload, by a link, by MSTX_INJECTION_PATH; and with the
# vendor's front ends between.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
. "$vendor/build.sh"
export ACLPROF_DRIVER=none

build_vendor "$tmp/cann" || { echo "cannot build the vendor's libraries"; exit 1; }
cann=$tmp/cann/lib64
mkdir "$tmp/ours"
cp "$build"/lib{acl_prof,msprofiler,profapi}.so "$tmp/ours"
build cann/lib64/libms_tools_ext.so "$vendor/tools_ext.c" -shared -fPIC -ldl -pthread \
    -Wl,-soname,libms_tools_ext.so
build marks "$vendor/clients/marks.c" -L"$cann" -lms_tools_ext -ldl
build linked "$vendor/clients/marks.c" -L"$cann" -lms_tools_ext -L"$build" -Wl,--no-as-needed \
    -lacl_prof -ldl

# row NAME NUMBER ENVIRONMENT… PROGRAM WAY: so many marks
row() {
    local row=$1 number=$2
    shift 2
    rm -rf "$tmp/out"
    env LD_LIBRARY_PATH="$cann" "$@" "$tmp/out" >"$tmp/log" 2>&1 ||
        bad "$row: $? $(tail -n 3 "$tmp/log")"
    if [ "$number" = 0 ]; then
        equal "$row: none" "$("$helpers/show_prof" "$tmp/out" 2>&1)" "finished, 0 events, balanced"
    else
        holds "$row" "$tmp/out" "$number" mstx
    fi
}
row "preload, the vendor's front ends by name" 100 LD_PRELOAD="$lib" "$tmp/marks" msprofiler
row "preload, the vendor's front ends by path" 100 LD_PRELOAD="$lib" "$tmp/marks" \
    "$cann/libmsprofiler.so"
row "preload, our functions" 100 LD_PRELOAD="$lib" "$tmp/marks" default
row "preload of the other name" 100 LD_PRELOAD="$build/libmsprofiler.so" "$tmp/marks" msprofiler
row "linked" 100 LD_LIBRARY_PATH="$build:$cann" "$tmp/linked" acl_prof
row "MSTX_INJECTION_PATH" 100 MSTX_INJECTION_PATH="$tmp/ours/libacl_prof.so" "$tmp/marks" \
    "$tmp/ours/libacl_prof.so"
row "MSTX_INJECTION_PATH of another name" 100 MSTX_INJECTION_PATH="$tmp/ours/libprofapi.so" \
    LD_LIBRARY_PATH="$tmp/ours:$cann" "$tmp/marks" msprofiler
row "opened, and nobody tells mstx" 0 "$tmp/marks" "$tmp/ours/libacl_prof.so"
row "a domain alone" 25 ACLPROF_MSTX_DOMAIN_INCLUDE=layers LD_PRELOAD="$lib" "$tmp/marks" default
row "without a domain" 75 ACLPROF_MSTX_DOMAIN_EXCLUDE=layers LD_PRELOAD="$lib" "$tmp/marks" default

# A program that only marks: `aclprof run` captures it, and a control socket gives it windows.
cat >"$tmp/only.c" <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

void mstxMarkA(const char *text, void *stream);
uint64_t mstxRangeStartA(const char *text, void *stream);
void mstxRangeEnd(uint64_t id);

int main(int argc, char **argv)
{
    for (int i = 0; i < 25 || (argc == 2 && access(argv[1], F_OK) != 0); i++) {
        mstxMarkA("mstx", NULL);
        mstxRangeEnd(mstxRangeStartA("mstx", NULL));
        usleep(argc == 2 ? 1000 : 0);
    }
    return 0;
}
END
build only "$tmp/only.c" -L"$cann" -lms_tools_ext
rm -rf "$tmp/out"
LD_LIBRARY_PATH=$cann "$tool" run --quiet --stamps --output "$tmp/out" -- "$tmp/only"
holds "aclprof run" "$tmp/out" 50 mstx
LD_LIBRARY_PATH=$cann "$tool" run --quiet --output "$tmp/none" -- "$tmp/only"
equal "aclprof run without --stamps" "$(ls "$tmp/none" 2>/dev/null)" ""
export XDG_RUNTIME_DIR=$tmp
ACLPROF_CONTROL=1 LD_LIBRARY_PATH=$cann LD_PRELOAD=$lib "$tmp/only" "$tmp/stop" &
program=$!
for _ in $(seq 1000); do [ -S "$tmp/aclprof/$program.sock" ] && break; sleep 0.01; done
rm -rf "$tmp/out"
"$tool" start --output "$tmp/out" $program >/dev/null || bad "start"
for _ in $(seq 1000); do
    "$tool" status $program | grep -q 'emitted [1-9]' && break
    sleep 0.01
done
"$tool" stop $program >/dev/null || bad "stop"
touch "$tmp/stop"
wait $program || bad "a program under control: $?"
equal "a window of it" "$("$helpers/show_prof" "$tmp/out" 2>&1 | sed 's/[0-9][0-9]* events/N events/;
    s/^[0-9][0-9]* mstx/N mstx/' | xargs)" "finished, N events, balanced N mstx"

finish
