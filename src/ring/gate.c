/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "ring/gate.h"

#include <linux/membarrier.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/cycles.h"

ap__gate ap__the_gate;

static uint64_t ap__last_key = AP_GATE_WARM;
static bool ap__has_membarrier;

static long ap__membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0u, 0);
}

uint64_t ap__gate_new_key(void)
{
    if (ap__last_key == AP_GATE_WARM) {
        /* failure only costs the second line of defence behind the fork handler */
        (void)madvise(&ap__the_gate, sizeof(ap__the_gate), MADV_WIPEONFORK);
    }
    ap__has_membarrier = ap__membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    ap__last_key += 2;
    return ap__last_key | (ap__has_membarrier && ap__clock_is_ns == 0 ? 0 : AP_GATE_SLOW);
}

void ap__gate_open(uint64_t key)
{
    atomic_store_explicit(&ap__the_gate.key, key, memory_order_release);
}

void ap__gate_open_reports(uint64_t key)
{
    atomic_store_explicit(&ap__the_gate.reports, key, memory_order_release);
}

void ap__gate_close(uint64_t to)
{
    atomic_store_explicit(&ap__the_gate.reports, AP_GATE_CLOSED, memory_order_relaxed);
    atomic_store_explicit(&ap__the_gate.key, to, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (ap__has_membarrier) {
        (void)ap__membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    }
}
