/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stamp gate: one word that every stamp call reads first. 0 = nothing is recorded.
 *
 * Closing it must wait for calls that are already past it, without a fence on their side: a call
 * stores thread.armed = AP_INSIDE, then reads the gate again; the closer stores the gate, issues
 * membarrier(PRIVATE_EXPEDITED), then waits until no thread is inside. Where the kernel has no
 * membarrier, keys carry AP_GATE_SLOW, no thread is ever armed with them, and every call takes the
 * slow way in, which has a fence.
 */
#ifndef AP_RING_GATE_H_
#define AP_RING_GATE_H_

#include <stdatomic.h>
#include <stdint.h>

/* Values of the gate beside keys, which are greater. AP_GATE_WARM: calls succeed without recording
 * (aclprofWarmup). */
#define AP_GATE_CLOSED 0u
#define AP_GATE_WARM 2u
/* in a key: calls take the general way (no membarrier, or no cycle counter to read) */
#define AP_GATE_SLOW 1u
/* The word lies alone in its page, so that the kernel can zero it in every forked child
 * (MADV_WIPEONFORK), however the child was made. Pages larger than this lose that second line of
 * defence behind the fork handler. */
#if defined(__aarch64__)
#define AP_GATE_ALIGN 65536u
#else
#define AP_GATE_ALIGN 4096u
#endif

typedef struct ap__gate {
    _Alignas(AP_GATE_ALIGN) _Atomic uint64_t key; /* of stamps */
    _Atomic uint64_t reports; /* of records of CANN's libraries; the same key, or closed */
    uint8_t fill[AP_GATE_ALIGN - 16];
} ap__gate;

extern ap__gate ap__the_gate __attribute__((visibility("hidden")));

static inline uint64_t ap__gate_key(void)
{
    return atomic_load_explicit(&ap__the_gate.key, memory_order_relaxed);
}

static inline uint64_t ap__report_key(void)
{
    return atomic_load_explicit(&ap__the_gate.reports, memory_order_relaxed);
}

/* A fresh key, never used before in this process; sets up membarrier and fork wiping at
 * the first call. Control path only. */
uint64_t ap__gate_new_key(void);

void ap__gate_open(uint64_t key);
void ap__gate_open_reports(uint64_t key);
/* Closes both gates (that of stamps to AP_GATE_CLOSED or AP_GATE_WARM) and orders that before any later read of a thread's busy word. */
void ap__gate_close(uint64_t to);

#endif
