/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "ring/ring.h"
#include "ring/thread.h"
#include "session/errtext.h"
#include "writer/texts.h"
#include "writer/uv_guard.h"

#define AP_NAP_MS 5u
#define AP_WATCH_MS 500u /* a look at the process when nobody who could wake the writer is left */
#define AP_IDLE_PASSES 40u /* empty passes before the writer sleeps until woken */
#define AP_STOP_NAPS 40u   /* for a thread that cannot be woken to be awake by itself */
#define AP_LOOP_FILES 6u   /* more descriptors than uv_loop_init opens */

/* The loop that producers may wake; changed while no producer is inside a call. */
static _Atomic(uv_async_t *) ap__wake_now;

void ap__writer_wake(void)
{
    int saved_errno = errno;

    if (atomic_load_explicit(&ap__writer_rest, memory_order_relaxed) != AP_WRITER_AWAKE &&
        atomic_exchange_explicit(&ap__writer_rest, AP_WRITER_AWAKE, memory_order_acq_rel) !=
            AP_WRITER_AWAKE) {
        uv_async_t *wake = atomic_load_explicit(&ap__wake_now, memory_order_acquire);

        if (wake != NULL) {
            (void)ap__uv_wake(wake); /* if not, a full ring tells of it */
        }
    }
    errno = saved_errno;
}

static void ap__note_cpu(ap__loop *loop)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    atomic_store_explicit(&loop->cpu_ns, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec,
                          memory_order_relaxed);
}

static void ap__on_timer(uv_timer_t *timer);

/* Says how the writer rests, then looks once more: a producer that committed before it could see
 * the word is found here, one that commits later sees it (fences on both sides). */
static void ap__rest(ap__loop *loop)
{
    bool sleep = loop->idle_passes >= AP_IDLE_PASSES;

    atomic_store_explicit(&ap__writer_rest, sleep ? AP_WRITER_SLEEP : AP_WRITER_NAP,
                          memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (sleep && ap__drain_pending(loop->drain)) {
        sleep = false;
        loop->idle_passes = 0;
    }
    if (sleep) {
        ap__note_cpu(loop);
    }
    if (sleep && atomic_load(&ap__threads_known) != 0) {
        uv_timer_stop(&loop->timer);
    } else {
        uv_timer_start(&loop->timer, ap__on_timer, sleep ? AP_WATCH_MS : AP_NAP_MS, 0);
    }
}

static void ap__drain_all(ap__loop *loop)
{
    while (ap__drain_pass(loop->drain) != 0 || ap__drain_pending(loop->drain)) {
    }
}

static void ap__end(ap__loop *loop)
{
    ap__drain_all(loop);
    ap__note_cpu(loop);
    if (atomic_load_explicit(&loop->lost, memory_order_relaxed)) {
        atomic_store_explicit(&loop->ended, true, memory_order_release);
        return;
    }
    atomic_store_explicit(&loop->ended, true, memory_order_release);
    uv_close((uv_handle_t *)&loop->timer, NULL);
    uv_close((uv_handle_t *)&loop->wake, NULL);
}

_Atomic uint32_t ap__helper_threads;

/* Field 3 of the line is the state of the first thread, field 20 the number of threads, an ended
 * first one included. */
bool ap__process_left(uint32_t callers)
{
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    const char *p = NULL;
    bool ended = false;

    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    p = strrchr(text, ')'); /* the name before it may hold anything */
    ended = p != NULL && strncmp(p, ") Z ", 4) == 0;
    for (int field = 2; ended && p != NULL && field < 20; field++) {
        p = strchr(p + 1, ' ');
    }
    return ended && p != NULL &&
           strtol(p, NULL, 10) == 1 + (long)callers + (long)atomic_load(&ap__helper_threads);
}

/* The C library calls exit() when its last thread ends, and that finishes the capture. */
static void ap__leave(ap__loop *loop)
{
    loop->left = true;
    ap__texts_let_writer_go();
    atomic_store_explicit(&ap__wake_now, NULL, memory_order_release);
    ap__end(loop);
}

static void ap__turn(ap__loop *loop)
{
    uint64_t taken = 0;

    if (loop->ended) {
        return;
    }
    atomic_store_explicit(&ap__writer_rest, AP_WRITER_AWAKE, memory_order_relaxed);
    ap__texts_flush();
    do {
        taken = ap__drain_pass(loop->drain);
        loop->idle_passes = taken == 0 ? loop->idle_passes + 1 : 0;
    } while (taken >= AP_DRAIN_BATCH);
    if (atomic_load_explicit(&loop->stopping, memory_order_acquire) != 0) {
        ap__end(loop);
        return;
    }
    if (taken == 0 && atomic_load(&ap__threads_known) == 0 && ap__process_left(1)) {
        ap__leave(loop);
        return;
    }
    ap__note_cpu(loop);
    if (!atomic_load_explicit(&loop->lost, memory_order_relaxed)) {
        ap__rest(loop);
    }
}

static void ap__on_timer(uv_timer_t *timer)
{
    ap__turn(timer->data);
}

static void ap__on_wake(uv_async_t *wake)
{
    ap__turn(wake->data);
}

static void *ap__thread_main(void *arg)
{
    ap__loop *loop = arg;

    if (ap__uv_run(&loop->loop)) {
        return NULL;
    }
    atomic_store_explicit(&ap__wake_now, NULL, memory_order_release);
    ap__texts_let_writer_go();
    atomic_store_explicit(&loop->lost, true, memory_order_release);
    ap__log(AP_LOG_WARN, "the program has closed descriptors of the profiler: what cannot be "
                         "written any more is counted as lost");
    while (!loop->ended) {
        static const struct timespec nap = {0, AP_NAP_MS * 1000000L};

        ap__turn(loop);
        (void)nanosleep(&nap, NULL);
    }
    return NULL;
}

/* libuv leaks a descriptor when it cannot open its last (and the distribution's aborts the process
 * when it cannot open its first): it is asked only when there are some left. */
static int ap__files_left(void)
{
    int fds[AP_LOOP_FILES];
    uint32_t count = 0;
    int rc = 0;

    while (rc == 0 && count < AP_LOOP_FILES) {
        fds[count] = eventfd(0, EFD_CLOEXEC);
        if (fds[count] < 0) {
            rc = errno;
        } else {
            count++;
        }
    }
    while (count > 0) {
        close(fds[--count]);
    }
    return rc;
}

int ap__loop_start(ap__loop *loop, ap__drain *drain)
{
    int rc = 0;

    loop->drain = drain;
    rc = ap__files_left();
    rc = rc != 0 ? rc : -uv_loop_init(&loop->loop);
    if (rc != 0) {
        return rc;
    }
    loop->timer.data = loop;
    loop->wake.data = loop;
    uv_timer_init(&loop->loop, &loop->timer);
    if (atomic_load(&ap__threads_known) == 0) { /* nobody whose end would wake the writer */
        uv_timer_start(&loop->timer, ap__on_timer, AP_WATCH_MS, 0);
    }
    rc = -uv_async_init(&loop->loop, &loop->wake, ap__on_wake);
    if (rc == 0) {
        atomic_store_explicit(&ap__writer_rest, AP_WRITER_SLEEP, memory_order_relaxed);
        atomic_store_explicit(&ap__wake_now, &loop->wake, memory_order_release);
        rc = ap__own_thread(&loop->thread, "aclprof-writer", ap__thread_main, loop);
        if (rc != 0) {
            atomic_store_explicit(&ap__wake_now, NULL, memory_order_release);
            uv_close((uv_handle_t *)&loop->wake, NULL);
        }
    }
    if (rc != 0) {
        uv_close((uv_handle_t *)&loop->timer, NULL);
        uv_run(&loop->loop, UV_RUN_DEFAULT);
        ap__uv_close(&loop->loop);
    }
    return rc;
}

/* false: the host has closed what would wake the thread, which is deep asleep. */
static bool ap__tell_to_stop(ap__loop *loop)
{
    static const struct timespec nap = {0, AP_NAP_MS * 1000000L};
    bool told = ap__uv_wake(&loop->wake);

    for (uint32_t i = 0; !told && i < AP_STOP_NAPS; i++) {
        (void)nanosleep(&nap, NULL);
        told = atomic_load_explicit(&loop->ended, memory_order_acquire);
    }
    return told;
}

void ap__loop_stop(ap__loop *loop)
{
    if (loop->left) {
        ap__drain_all(loop); /* what exit handlers have stamped */
        if (!atomic_load_explicit(&loop->lost, memory_order_acquire)) {
            ap__uv_close(&loop->loop);
        }
        return;
    }
    atomic_store_explicit(&loop->stopping, 1, memory_order_release);
    atomic_store_explicit(&ap__wake_now, NULL, memory_order_release);
    if (!ap__tell_to_stop(loop)) {
        loop->stuck = true;
        ap__drain_all(loop);
        return;
    }
    (void)pthread_join(loop->thread, NULL);
    if (!atomic_load_explicit(&loop->lost, memory_order_acquire)) {
        ap__uv_close(&loop->loop);
    }
}

void ap__loop_abandon(ap__loop *loop)
{
    /* uv_loop_fork would walk queues that the parent's thread may have been changing */
    const int fds[] = {loop->loop.backend_fd, loop->loop.async_io_watcher.fd, loop->loop.async_wfd,
                       loop->loop.signal_pipefd[0], loop->loop.signal_pipefd[1]};

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    free(loop->loop.watchers); /* all that a loop with a timer and a wake-up allocates */
    free(loop->loop.internal_fields);
}
