/* SPDX-License-Identifier: Apache-2.0 */
/* ACLPROF_AUTOSTART, which `aclprof run` sets: the process captures itself from its first use of
 * the profiler, be that a stamp or the setting of a device. Before that there is no thread, no file
 * and no fork handler; a process without such use leaves nothing.
 *
 *   stamps           record stamps
 *   devices=HEX      mask of the devices to capture, when the program sets them
 *   delay=MS         record from then on, counted from when the library was loaded
 *   duration=MS      record for so long
 *   only=PID         not in other processes
 *
 * separated by commas. Where it is not understood, nothing is captured. */
#ifndef AP_SESSION_AUTOSTART_H_
#define AP_SESSION_AUTOSTART_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/outside.h"

typedef struct ap__autostart {
    ap__outside_want want;
    uint64_t delay_ms;
    uint64_t duration_ms; /* 0: to the end */
    int64_t only;         /* 0: any process */
} ap__autostart;

/* false: not understood, with a reason. */
bool ap__autostart_parse(const char *text, ap__autostart *out, char *reason, size_t size);

extern _Atomic bool ap__autostart_waits;

static inline bool ap__autostart_armed(void)
{
    return atomic_load_explicit(&ap__autostart_waits, memory_order_relaxed);
}

bool ap__autostart_begin(void);

/* A stamp call found that nothing is recorded. true: a capture has begun by this, try again. May do
 * all that aclprofStart does; only to be called off the straight way. */
static inline bool ap__autostart_used(void)
{
    return ap__autostart_armed() && ap__autostart_begin();
}

/* The program has set a device. Under the session's lock, the devices loaded. */
void ap__autostart_device(uint32_t device);

/* In a forked child, under the session's lock. */
void ap__autostart_child(void);

#endif
