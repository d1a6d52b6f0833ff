/* SPDX-License-Identifier: Apache-2.0 */
/* What lies behind us in the order of symbols. A tool there may go on to the next definition itself,
 * and that may be one of our own names (libmsprofiler.so, libprofapi.so) further back, which leads
 * here once more: such a call goes on behind that name, and no function is in it twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "reporter/vendor.h"

#define AP_PLACES 3u /* behind us, and behind either of the other names */
#define AP_HOPS 8u /* few: they lie in the static TLS, of which dlopen has little to give */

static const char *const ap__names[AP_VENDOR_CALLS] = {
    [AP_VENDOR_API] = "MsprofReportApi",
    [AP_VENDOR_EVENT] = "MsprofReportEvent",
    [AP_VENDOR_COMPACT] = "MsprofReportCompactInfo",
    [AP_VENDOR_ADDITIONAL] = "MsprofReportAdditionalInfo",
    [AP_VENDOR_BATCH] = "MsprofReportBatchAdditionalInfo",
    [AP_VENDOR_TYPE] = "MsprofRegTypeInfo",
    [AP_VENDOR_FORMAT] = "MsprofRegDataFormat",
    [AP_VENDOR_HASH] = "MsprofGetHashId",
    [AP_VENDOR_REGISTER] = "MsprofRegisterCallback",
    [AP_VENDOR_SET_DEVICE] = "MsprofNotifySetDevice",
    [AP_VENDOR_CYCLES] = "MsprofSysCycleTime",
    [AP_VENDOR_HOST_FREQ] = "MsprofHostFreqIsEnable",
    [AP_VENDOR_INIT] = "MsprofInit",
    [AP_VENDOR_FINALIZE] = "MsprofFinalize",
    [AP_VENDOR_START] = "MsprofStart",
    [AP_VENDOR_STOP] = "MsprofStop",
    [AP_VENDOR_REPORT_DATA] = "MsprofReportData",
    [AP_VENDOR_OP_TIME] = "ProfAclGetOpTime",
    [AP_VENDOR_OP_ID] = "ProfAclGetId",
    [AP_VENDOR_OP_VALUE] = "ProfAclGetOpVal",
    [AP_VENDOR_OP_ATTRIBUTE] = "ProfAclGetOpAttriVal",
};

static const char *const ap__shims[] = {"libmsprofiler.so", "libprofapi.so"};

static char ap__none; /* its address: looked for, not there */

typedef void *(*ap__next_fn)(const char *name);

/* A function of src/shim/shim.c leads back here: what is behind that object, it can tell. */
static void *ap__past_shims(void *fn, const char *name)
{
    ap__next_fn next = NULL;
    int64_t distance = 0;

    while (fn != NULL && ((uintptr_t)fn & 31) == 0 &&
           memcmp((const char *)fn + 16, "APSHIM01", 8) == 0) {
        memcpy(&distance, (const char *)fn + 24, sizeof(distance));
        *(void **)&next = (char *)fn + 24 + distance;
        fn = next(name);
    }
    return fn;
}

static void *ap__behind_shim(const char *shim, const char *name)
{
    void *handle = dlopen(shim, RTLD_LAZY | RTLD_NOLOAD);
    ap__next_fn next = NULL;

    if (handle != NULL) { /* theirs does not have it */
        *(void **)&next = dlsym(handle, "ap__shim_next");
        (void)dlclose(handle);
    }
    return next != NULL ? ap__past_shims(next(name), name) : NULL;
}

static bool ap__is_here(void *fn)
{
    Dl_info there;
    Dl_info here;

    return dladdr(fn, &there) != 0 && dladdr(&ap__none, &here) != 0 &&
           there.dli_fbase == here.dli_fbase;
}

/* Found once: what is loaded later is not in the order of symbols that was at the start. */
static void *ap__at_place(ap__vendor_call call, uint32_t place)
{
    static _Atomic(void *) found[AP_VENDOR_CALLS][AP_PLACES];
    void *fn = atomic_load_explicit(&found[call][place], memory_order_relaxed);
    const char *name = ap__names[call];

    if (fn == NULL) {
        int saved = errno;

        fn = place == 0 ? ap__past_shims(dlsym(RTLD_NEXT, name), name)
                        : ap__behind_shim(ap__shims[place - 1], name);
        fn = fn != NULL && !ap__is_here(fn) ? fn : &ap__none;
        atomic_store_explicit(&found[call][place], fn, memory_order_relaxed);
        errno = saved;
    }
    return fn != &ap__none ? fn : NULL;
}

void *ap__vendor_next(ap__vendor_call call)
{
    return ap__at_place(call, 0);
}

/* ---- calls on their way ---- */

/* Those of this thread, the outermost first. frame tells one that was left by longjmp: it lies
 * deeper than whoever comes now. */
static __thread struct {
    uintptr_t frame[AP_HOPS];
    uint8_t call[AP_HOPS];
    uint8_t place[AP_HOPS];
    uint32_t depth;
} ap__way __attribute__((tls_model("initial-exec")));

static bool ap__is_on_way(ap__vendor_call call, const void *fn)
{
    for (uint32_t i = 0; i < ap__way.depth; i++) {
        if (ap__way.call[i] == call &&
            (fn == NULL || ap__at_place(call, ap__way.place[i]) == fn)) {
            return true;
        }
    }
    return false;
}

static void ap__forget_left(uintptr_t frame)
{
    while (ap__way.depth != 0 && ap__way.frame[ap__way.depth - 1] <= frame) {
        ap__way.depth--;
    }
}

bool ap__hop_again(ap__vendor_call call)
{
    ap__forget_left((uintptr_t)__builtin_frame_address(0));
    return ap__is_on_way(call, NULL);
}

void *ap__hop_begin(ap__hop *hop, ap__vendor_call call)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0); /* the caller's, as good as */
    void *fn = NULL;
    uint32_t place = 0;

    ap__forget_left(frame);
    hop->outer = ap__way.depth;
    for (; place < AP_PLACES && fn == NULL; place++) {
        if (place == 0 || ap__is_on_way(call, NULL)) { /* only then does the loader matter */
            fn = ap__at_place(call, place);
            fn = fn != NULL && !ap__is_on_way(call, fn) ? fn : NULL;
        }
    }
    if (fn == NULL || ap__way.depth == AP_HOPS) {
        return NULL;
    }
    ap__way.call[ap__way.depth] = (uint8_t)call;
    ap__way.place[ap__way.depth] = (uint8_t)(place - 1);
    ap__way.frame[ap__way.depth] = frame;
    atomic_signal_fence(memory_order_seq_cst); /* a signal handler may report, too */
    ap__way.depth++;
    return fn;
}

void ap__hop_end(const ap__hop *hop)
{
    ap__way.depth = hop->outer;
}
