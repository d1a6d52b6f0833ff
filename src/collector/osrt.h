/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that the program's threads wait in, for ACL_PROF_HOST_SYS "osrt".
 *
 * The vendor's collector runs "perf trace" and ltrace on the program, which need rights that a
 * library has not and slow every call down. Here /proc/self/task/<n>/syscall is looked at once a
 * period: what a thread is seen in stands for the time until the next look, unless the thread has
 * not run between, when it is the same call still. So the times add up, long calls are right to a
 * period, and short ones are as many as have been seen. Threads of this library are left out.
 */
#ifndef AP_COLLECTOR_OSRT_H_
#define AP_COLLECTOR_OSRT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ap__osrt ap__osrt;

/* Takes lines as "perf trace" prints them; called by ap__osrt_look and ap__osrt_end only. */
typedef void (*ap__osrt_put)(void *context, const char *text, size_t bytes);

/* Whether this kernel tells. */
bool ap__osrt_available(void);

/* start_ns: CLOCK_MONOTONIC_RAW of the capture's start, the time of the first line: the vendor's
 * reader counts from there. NULL: no memory. */
ap__osrt *ap__osrt_new(uint64_t start_ns, ap__osrt_put put, void *context);

/* One look at every thread; calls that have ended since the last are put. */
void ap__osrt_look(ap__osrt *o);

/* Puts the calls that threads are still in. */
void ap__osrt_end(ap__osrt *o);

void ap__osrt_free(ap__osrt *o); /* NULL is allowed */

/* "futex", "read", …; NULL: not one that waits. *has_fd: whether the first argument is a descriptor. */
const char *ap__syscall_name(long number, bool *has_fd);

#endif
