/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on stderr, only where ACLPROF_LOG asks for them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/errtext.h"

#define AP_LINE_SIZE 1280u

static const char *const ap__level_names[] = {"off", "error", "warn", "info", "debug"};

_Atomic int ap__log_level_now = -1;

static int ap__read_level(void)
{
    const char *value = secure_getenv("ACLPROF_LOG");

    for (int i = AP_LOG_ERROR; value != NULL && i <= AP_LOG_DEBUG; i++) {
        if (strcmp(value, ap__level_names[i]) == 0) {
            return i;
        }
    }
    return AP_LOG_OFF;
}

int ap__log_enabled(ap__log_level level)
{
    int now = atomic_load_explicit(&ap__log_level_now, memory_order_relaxed);

    if (now < 0) {
        now = ap__read_level();
        atomic_store_explicit(&ap__log_level_now, now, memory_order_relaxed);
    }
    return level != AP_LOG_OFF && (int)level <= now;
}

/* One write; a stderr without a reader must not kill the program by SIGPIPE. */
static void ap__write_line(const char *line, size_t length)
{
    static const struct timespec now = {0, 0};
    sigset_t pipe;
    sigset_t before;
    sigset_t pending;
    bool was_pending = false;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0) {
        return;
    }
    sigemptyset(&pending);
    (void)sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE) == 1;
    if (write(STDERR_FILENO, line, length) < 0 && errno == EPIPE && !was_pending) {
        (void)sigtimedwait(&pipe, NULL, &now);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ap__log(ap__log_level level, const char *format, ...)
{
    int saved = errno;
    char line[AP_LINE_SIZE];
    size_t used = 0;
    va_list args;
    int n = 0;

    if (!ap__log_enabled(level)) {
        return;
    }
    used = (size_t)snprintf(line, sizeof(line), "aclprof: %s: ", ap__level_names[level]);
    va_start(args, format);
    n = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
    va_end(args);
    if (n > 0) {
        size_t room = sizeof(line) - used - 2;

        used += (size_t)n < room ? (size_t)n : room;
    }
    line[used] = '\n';
    ap__write_line(line, used + 1);
    errno = saved;
}
