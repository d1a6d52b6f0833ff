/* SPDX-License-Identifier: Apache-2.0 */
/* The writer thread: a libuv loop that drains while there is something to drain and otherwise
 * sleeps without waking up. */
#ifndef AP_WRITER_LOOP_H_
#define AP_WRITER_LOOP_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "writer/drain.h"

typedef struct ap__loop {
    uv_loop_t loop;
    uv_timer_t timer;
    uv_async_t wake;
    pthread_t thread;
    ap__drain *drain;
    uint32_t idle_passes;
    _Atomic uint32_t stopping;
    _Atomic bool ended; /* the thread has taken its last turn */
    bool stuck; /* the thread sleeps for ever, and needs the memory of this */
    bool left; /* the thread has gone, to let the process end */
    _Atomic bool lost; /* libuv's loop is; the thread goes on without */
    _Atomic uint64_t cpu_ns; /* of the thread, as of its last pass */
} ap__loop;

/* Threads of ours beside the writer that go on without a capture. */
extern _Atomic uint32_t ap__helper_threads;

/* Whether main() has ended with pthread_exit and no thread is left but the helpers and as many
 * callers: 1 for the writer, 0 for a helper. */
bool ap__process_left(uint32_t callers);

/* Starts the thread, all signals blocked in it. 0 or errno. */
int ap__loop_start(ap__loop *loop, ap__drain *drain);

/* In a forked child: closes the descriptors of the parent's loop and touches nothing else of it,
 * which may have been in the middle of anything. */
void ap__loop_abandon(ap__loop *loop);

/* Drains what is committed, ends the thread. May be called by that thread itself, when its end is
 * what ends the process. */
void ap__loop_stop(ap__loop *loop);

#endif
