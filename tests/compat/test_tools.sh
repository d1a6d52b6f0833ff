#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several tools in one process: before ours in LD_PRELOAD and behind it, in the place of the vendor's
# reporter, and the vendor's reporter itself, which is to miss nothing while we record nothing.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
. "$vendor/build.sh"
export ACLPROF_DRIVER=sim

build_vendor "$tmp/cann" || { echo "cannot build the vendor's libraries"; exit 1; }
cann=$tmp/cann/lib64
shim=$build/libmsprofiler.so
build tool.so "$vendor/clients/tool.c" -shared -fPIC -ldl
build loader "$vendor/clients/loader.c" -ldl
cat >"$tmp/idle.c" <<'END'
#include "mock.h"

/* Works on a device, and never profiles. */
int main(void)
{
    int bad = aclInit(NULL) != 0 || aclrtSetDevice(0) != 0;

    for (int i = 0; i < 100; i++) {
        bad |= rtKernelLaunch() != 0;
    }
    bad |= HcclAllReduce() != 0;
    return bad | (aclFinalize() != 0);
}
END
build idle "$tmp/idle.c" -I"$vendor" -L"$cann" -Wl,--no-as-needed -lascendcl -lruntime -lhccl \
    -lprofapi -Wl,--allow-shlib-undefined -ldl

# count TEXT: lines of the last run that are it
count() { grep -cx "$1" "$tmp/log"; }
with() {
    local preload=$1
    shift
    rm -rf "$tmp/out"
    LD_LIBRARY_PATH=$cann LD_PRELOAD=$preload "$@" >"$tmp/log" 2>&1
}

# ---- no session of ours: everything goes on ----

with "" "$tmp/idle"
sort "$tmp/log" >"$tmp/alone"
equal "alone: the vendor's reporter has everything" "$(count 'vendor MsprofReportCompactInfo'):$(
    count 'vendor MsprofReportApi'):$(count 'vendor MsprofReportAdditionalInfo')" 100:100:1
for preload in "$lib" "$shim" "$lib:$shim" "$shim:$lib"; do
    with "$preload" "$tmp/idle" || bad "idle: $?"
    equal "no session, $(sed "s,$build/,,g" <<<"$preload"): as without us" \
        "$(sort "$tmp/log" | diff "$tmp/alone" - | head -n 5)" ""
done
# A tool before another name of ours: its RTLD_NEXT leads back to the core, whose next is the tool.
for preload in "$tmp/tool.so:$lib" "$lib:$tmp/tool.so" "$tmp/tool.so:$lib:$shim" \
    "$lib:$shim:$tmp/tool.so" "$lib:$tmp/tool.so:$shim" "$lib:$tmp/tool.so:$build/libprofapi.so" \
    "$lib:$tmp/tool.so:$shim:$build/libprofapi.so" "$shim:$tmp/tool.so:$build/libprofapi.so" \
    "$shim:$tmp/tool.so:$lib"; do
    case $preload in
    *libprofapi.so) # the vendor's is not even opened: the program asks for it by that name
        with "$preload" "$tmp/idle" # its reports are refused, as nobody wants them
        equal "no session, $(sed "s,$build/,,g; s,$tmp/,,g" <<<"$preload"): the tool has all" \
            "$(grep '^tool' "$tmp/log")" "tool: 0 marks, 100 compacts, 100 calls"
        continue
        ;;
    esac
    with "$preload" "$tmp/idle" || bad "idle: $?"
    name=$(sed "s,$build/,,g; s,$tmp/,,g" <<<"$preload")
    equal "no session, $name: the tool has all" "$(grep '^tool' "$tmp/log")" \
        "tool: 0 marks, 100 compacts, 100 calls"
    equal "no session, $name: so has the vendor's" "$(grep -v '^tool' "$tmp/log" | sort |
        diff "$tmp/alone" - | head -n 5)" ""
done

# Two tools, with names of ours before, between and behind; one that goes on in a circle.
sed 's/"tool: %u/"other tool: %u/' "$vendor/clients/tool.c" >"$tmp/other.c"
build other.so "$tmp/other.c" -shared -fPIC -ldl
with "$lib:$tmp/tool.so:$shim:$tmp/other.so" "$tmp/idle" || bad "idle: $?"
equal "no session, two tools: both have all" "$(grep 'tool:' "$tmp/log" | sort | xargs -d '\n')" \
    "other tool: 0 marks, 100 compacts, 100 calls tool: 0 marks, 100 compacts, 100 calls"
equal "no session, two tools: so has the vendor's" "$(grep -v 'tool:' "$tmp/log" | sort |
    diff "$tmp/alone" - | head -n 5)" ""
sed 's/RTLD_NEXT/RTLD_DEFAULT/' "$vendor/clients/tool.c" >"$tmp/circle.c"
build circle.so "$tmp/circle.c" -shared -fPIC -ldl
with "$lib:$tmp/circle.so" timeout 60 "$tmp/idle"
equal "no session, a tool that calls the first one again: it ends" "$(grep '^tool' "$tmp/log")" \
    "tool: 0 marks, 100 compacts, 100 calls"

# ---- a session of ours ----

build linked "$vendor/clients/linked.c" -L"$cann" -Wl,--no-as-needed -lmsprofiler \
    -Wl,--allow-shlib-undefined -ldl
for preload in "$tmp/tool.so:$lib" "$tmp/tool.so:$lib:$shim" "$tmp/tool.so:$shim"; do
    name=$(sed "s,$build/,,g; s,$tmp/,,g" <<<"$preload")
    with "$preload" "$tmp/linked" "$tmp/out" || bad "linked: $(tail -n 3 "$tmp/log")"
    equal "marks, $name: the tool has them" "$(grep '^tool' "$tmp/log")" \
        "tool: 1000 marks, 0 compacts, 0 calls"
    holds "marks, $name: so have we" "$tmp/out" 1000 linked
done
for preload in "$lib:$tmp/tool.so" "$lib:$shim:$tmp/tool.so" "$lib:$tmp/tool.so:$shim"; do
    name=$(sed "s,$build/,,g; s,$tmp/,,g" <<<"$preload")
    with "$preload" "$tmp/linked" "$tmp/out" || bad "linked: $(tail -n 3 "$tmp/log")"
    holds "marks, $name: ours" "$tmp/out" 1000 linked
done

# The records of a session of ours are ours; those before and after it go on.
for preload in "$lib:$tmp/tool.so" "$tmp/tool.so:$lib"; do
    name=$(sed "s,$build/,,g; s,$tmp/,,g" <<<"$preload")
    with "$preload" "$tmp/loader" records default "$tmp/out" || bad "records: $(tail -n 3 "$tmp/log")"
    equal "records, $name: not the vendor's" "$(count 'vendor MsprofReportCompactInfo')" 0
    equal "records, $name: ours" "$(find "$tmp/out" -name 'aging.compact.task_track.slice_0' \
        -printf '%s')" 6400
done

# What only the vendor's can read of a subscription's record goes on to it, where it is behind us.
cat >"$tmp/read.c" <<'END'
#include "mock.h"

uint64_t aclprofGetOpStart(const void *info, size_t length, uint32_t index);
size_t aclprofGetModelId(const void *info, size_t length, uint32_t index);
int aclprofGetOpNum(const void *info, size_t length, uint32_t *count);
const char *aclprofGetOpAttriValue(const void *info, size_t length, uint32_t index, int attribute);

int main(int argc, char **argv)
{
    uint32_t count = 0;
    void *front = dlopen(argv[argc - 1], RTLD_NOW);
    uint64_t (*start)(const void *, size_t, uint32_t) = NULL;
    size_t (*model)(const void *, size_t, uint32_t) = NULL;
    int (*number)(const void *, size_t, uint32_t *) = NULL;
    const char *(*attribute)(const void *, size_t, uint32_t, int) = NULL;

    *(void **)&start = dlsym(front, "aclprofGetOpStart");
    *(void **)&model = dlsym(front, "aclprofGetModelId");
    *(void **)&number = dlsym(front, "aclprofGetOpNum");
    *(void **)&attribute = dlsym(front, "aclprofGetOpAttriValue");
    printf("%llx %zu %s ", (unsigned long long)start("", 80, 2), model("", 80, 1),
           attribute("", 80, 0, 7));
    printf("%d ", number("", 160, &count));
    printf("%x\n", count);
    return 0;
}
END
build read "$tmp/read.c" -I"$vendor" -L"$cann" -Wl,--no-as-needed -lprofapi -ldl
with "$lib" "$tmp/read" "$cann/libmsprofiler.so"
equal "readers of records go on" "$(cat "$tmp/log")" "1000000005002 81 seven -160 76767676"

# A subscription where the vendor's reporter is bound to: its records come to us, and only then.
cat >"$tmp/subscribe.c" <<'END'
#include <unistd.h>

#include "mock.h"

int main(int argc, char **argv)
{
    void *ours = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    void *(*config)(int8_t, int, void *) = NULL;
    int (*subscribe)(uint32_t, const void *) = NULL;
    int (*unsubscribe)(uint32_t) = NULL;
    int32_t (*bind)(uint32_t, uint32_t) = NULL;
    int fds[2];
    int bad = pipe(fds) != 0;

    *(void **)&config = dlsym(ours, "aclprofCreateSubscribeConfig");
    *(void **)&subscribe = dlsym(ours, "aclprofModelSubscribe");
    *(void **)&unsubscribe = dlsym(ours, "aclprofModelUnSubscribe");
    *(void **)&bind = dlsym(ours, "MsprofSetDeviceIdByGeModelIdx");
    bad |= aclInit(NULL) != 0 || aclrtSetDevice(0) != 0 || bind(1, 0) != 0;
    bad |= rtKernelLaunch() != 0;
    bad |= subscribe(1, config(1, 255, &fds[1])) != 0;
    for (int i = 0; i < 5; i++) {
        bad |= rtKernelLaunch() != 0;
    }
    bad |= unsubscribe(1) != 0 || fds[1] != -1;
    for (int i = 0; i < 2; i++) {
        bad |= rtKernelLaunch() != 0;
    }
    printf("told %x\n", rtProfilingTold());
    return bad;
}
END
build subscribe "$tmp/subscribe.c" -I"$vendor" -L"$cann" -Wl,--no-as-needed -lascendcl -lruntime \
    -lprofapi -Wl,--allow-shlib-undefined -ldl
with "" "$tmp/subscribe" "$lib" || bad "subscribe: $? $(tail -n 3 "$tmp/log")"
equal "a subscription, the vendor's reporter: its records are ours, as long as it lasts" \
    "$(count 'vendor MsprofReportCompactInfo'):$(grep told "$tmp/log")" "3:told 30"

# ---- a tool in the place of libprofapi.so ----

cp -R "$tmp/cann" "$tmp/probing"
mv "$tmp/probing/lib64/libprofapi.so" "$tmp/probing/lib64/libprofapi.so.real"
build probing/lib64/libprofapi.so "$vendor/clients/shim.c" -shared -fPIC \
    -Wl,-soname,libprofapi.so -ldl
cann=$tmp/probing/lib64
with "" "$tmp/idle" || bad "idle behind the other tool: $(tail -n 3 "$tmp/log")"
sort "$tmp/log" >"$tmp/alone"
equal "libprofapi.so of a tool: it has all" "$(grep '^shim' "$tmp/log")" "shim: 201 reports"
with "$lib" "$tmp/idle" || bad "idle: $?"
equal "libprofapi.so of a tool, no session: as without us" "$(sort "$tmp/log" |
    diff "$tmp/alone" - | head -n 5)" ""
with "$lib:$shim" "$tmp/loader" records ascendcl "$tmp/out" || bad "records: $(tail -n 3 "$tmp/log")"
equal "libprofapi.so of a tool, a session: records are ours" "$(find "$tmp/out" \
    -name 'aging.*.slice_0' ! -name '*_dic*' -printf '%s\n' | sort -n | xargs)" "4000 6400 25600"

finish
