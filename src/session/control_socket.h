/* SPDX-License-Identifier: Apache-2.0 */
/* With ACLPROF_CONTROL=1 a process can be captured from outside (`aclprof start|stop|snapshot|
 * status`): from its first use of the profiler on it listens on a socket of its own
 * (session/control_path.h) for whoever has its user number, or root. One thread of its own serves
 * it; stamp calls never see it. */
#ifndef AP_SESSION_CONTROL_SOCKET_H_
#define AP_SESSION_CONTROL_SOCKET_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum ap__control_states { AP_CONTROL_UNASKED, AP_CONTROL_OFF, AP_CONTROL_ON };

extern _Atomic int ap__control_state;
/* Ends of steps that aclprofGetStepTimestamp has marked. */
extern _Atomic uint64_t ap__steps_ended;

bool ap__control_open(void);

/* The profiler is used. true: a capture may begin at any time by the socket, so that stamps are
 * given out now. Without our locks, off the straight way. */
static inline bool ap__control_used(void)
{
    int state = atomic_load_explicit(&ap__control_state, memory_order_relaxed);

    return state == AP_CONTROL_ON || (state == AP_CONTROL_UNASKED && ap__control_open());
}

/* At exit: the socket's name goes. */
void ap__control_close(void);
/* In a forked child: it has none, until it uses the profiler. */
void ap__control_child(void);

#endif
