/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/control_window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "session/control_socket.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/module_link.h"
#include "session/outside.h"
#include "session/path.h"
#include "session/session.h"

#define AP_MS 1000000u
#define AP_STEPS_LOOK_MS 5 /* how soon the end of the last step is seen */
#define AP_SPIN_MS 20u     /* before an agreed time the thread sleeps to the nanosecond */
#define AP_AHEAD_NS (24u * 3600u * 1000000000ull)

typedef struct ap__window {
    ap__outside_want want;
    bool open;
    bool waits;           /* for its time */
    uint64_t at_ns;       /* CLOCK_REALTIME */
    uint64_t duration_ms; /* 0: without end */
    uint64_t end_ns;      /* CLOCK_MONOTONIC, when it records */
    uint64_t steps;       /* 0: any number */
    uint64_t steps_end;
} ap__window;

static ap__window ap__window_now;

static uint64_t ap__clock_ns(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- answers ---- */

typedef struct ap__answer {
    char *text;
    size_t size;
    size_t used;
} ap__answer;

__attribute__((format(printf, 2, 3))) static void ap__say(ap__answer *a, const char *format, ...)
{
    va_list args;
    int n = 0;

    va_start(args, format);
    n = vsnprintf(a->text + a->used, a->size - a->used, format, args);
    va_end(args);
    a->used += n > 0 && (size_t)n < a->size - a->used ? (size_t)n : 0;
    a->text[a->used] = '\0';
}

/* The text of an error is one line. */
static void ap__say_failure(ap__answer *a, const char *text)
{
    size_t from = a->used;

    ap__say(a, "error %.1000s", text);
    for (size_t i = from; i < a->used; i++) {
        a->text[i] = a->text[i] == '\n' ? ' ' : a->text[i];
    }
    ap__say(a, "\n");
}

/* ---- the window ---- */

static void ap__record(ap__window *w)
{
    ap__outside_record(0);
    w->waits = false;
    w->steps_end = atomic_load(&ap__steps_ended) + w->steps;
    w->end_ns = ap__clock_ns(CLOCK_MONOTONIC) + w->duration_ms * AP_MS;
}

static aclError ap__begin(ap__window *w)
{
    aclError code = ACL_SUCCESS;

    if (w->want.devices != 0) {
        ap__devices_load();
        ap__session_find_vendor(NULL);
    }
    w->waits = w->at_ns > ap__clock_ns(CLOCK_REALTIME);
    code = ap__outside_begin(&w->want, w->waits);
    w->open = code == ACL_SUCCESS;
    if (w->open && !w->waits) {
        ap__record(w);
    }
    return code;
}

static int ap__until(uint64_t now, uint64_t then)
{
    uint64_t ms = then > now ? (then - now) / AP_MS : 0;

    return ms > 60000 ? 60000 : (int)ms;
}

static int ap__wait_for_time(ap__window *w)
{
    uint64_t now = ap__clock_ns(CLOCK_REALTIME);
    struct timespec at = {(time_t)(w->at_ns / 1000000000u), (long)(w->at_ns % 1000000000u)};
    int left = ap__until(now, w->at_ns);

    if (left > (int)AP_SPIN_MS) {
        return left - (int)AP_SPIN_MS;
    }
    while (w->at_ns > now && clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == EINTR) {
    }
    ap__record(w);
    return 0;
}

int ap__control_turn(void)
{
    ap__window *w = &ap__window_now;
    uint64_t now = 0;

    if (!w->open) {
        return -1;
    }
    if (w->waits) {
        return ap__wait_for_time(w);
    }
    now = ap__clock_ns(CLOCK_MONOTONIC);
    if ((w->duration_ms != 0 && now >= w->end_ns) ||
        (w->steps != 0 && atomic_load(&ap__steps_ended) >= w->steps_end)) {
        w->open = false;
        (void)ap__outside_end(0, NULL);
        return -1;
    }
    if (w->steps != 0) {
        return AP_STEPS_LOOK_MS;
    }
    return w->duration_ms != 0 ? ap__until(now, w->end_ns) + 1 : -1;
}

/* ---- requests ---- */

static bool ap__number(const char *text, int base, uint64_t max, uint64_t *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoull(text, &end, base);
    return text[0] != '\0' && strspn(text, "0123456789abcdef") == strlen(text) && *end == '\0' &&
           errno == 0 && *out <= max;
}

/* One word; `rest` is what follows, which an output path takes whole. */
static bool ap__word(ap__window *w, char *word, char **rest)
{
    char reason[AP_PATH_REASON_SIZE];

    if (strcmp(word, "stamps") == 0) {
        w->want.stamps = true;
        return true;
    }
    if (strncmp(word, "devices=", 8) == 0) {
        return ap__number(word + 8, 16, UINT64_MAX, &w->want.devices);
    }
    if (strncmp(word, "at=", 3) == 0) {
        return ap__number(word + 3, 10, UINT64_MAX, &w->at_ns) &&
               w->at_ns < ap__clock_ns(CLOCK_REALTIME) + AP_AHEAD_NS;
    }
    if (strncmp(word, "duration=", 9) == 0) {
        return ap__number(word + 9, 10, UINT32_MAX, &w->duration_ms);
    }
    if (strncmp(word, "steps=", 6) == 0) {
        return ap__number(word + 6, 10, UINT32_MAX, &w->steps);
    }
    if (strncmp(word, "output=", 7) == 0) {
        if (*rest != NULL) {
            (*rest)[-1] = ' ';
            *rest = NULL;
        }
        return word[7] == '/' &&
               ap__path_resolve(word + 7, strlen(word + 7), w->want.path, reason);
    }
    return false;
}

static bool ap__is_busy(const ap__outside_view *view)
{
    return view->state == AP_OUTSIDE_WAITS || view->state == AP_OUTSIDE_RECORDS;
}

static void ap__start(char *words, ap__answer *a)
{
    ap__window w = {.open = false};
    ap__outside_view view;

    ap__outside_look(&view);
    if (ap__is_busy(&view)) {
        ap__say_failure(a, "a window is open already; stop it first");
        return;
    }
    for (char *word = strsep(&words, " "); word != NULL; word = strsep(&words, " ")) {
        if (word[0] != '\0' && !ap__word(&w, word, &words)) {
            char text[AP_QUOTE_SIZE + 64];
            char quoted[AP_QUOTE_SIZE];

            (void)ap__quote(quoted, sizeof(quoted), word, strlen(word));
            (void)snprintf(text, sizeof(text), "'%s' is not understood, or out of range", quoted);
            ap__say_failure(a, text);
            return;
        }
    }
    if (!w.want.stamps && w.want.devices == 0) {
        ap__say_failure(a, "neither stamps nor devices are asked for");
        return;
    }
    if (ap__begin(&w) != ACL_SUCCESS) {
        ap__say_failure(a, ap__last_error());
        return;
    }
    ap__window_now = w;
    ap__outside_look(&view);
    ap__say(a, "ok\nstate %s\ndirectory %s\n", w.waits ? "waiting" : "recording", view.dir);
}

static bool ap__end(ap__answer *a, char dir[AP_PATH_MAX])
{
    aclError code = ap__outside_end(0, dir);

    ap__window_now.open = false;
    if (code == ACL_ERROR_PROF_NOT_RUN) {
        ap__say_failure(a, "no window is open from outside");
    } else if (code != ACL_SUCCESS) {
        ap__say_failure(a, ap__last_error());
    } else {
        ap__say(a, "ok\nended %s\n", dir);
    }
    return code == ACL_SUCCESS;
}

/* Keeps what is left of the window. One that `aclprof run` has begun is taken over. */
static void ap__snapshot(ap__answer *a)
{
    ap__window w = ap__window_now;
    ap__outside_view view;
    char dir[AP_PATH_MAX];

    ap__outside_look(&view);
    if (view.state != AP_OUTSIDE_RECORDS) {
        ap__say_failure(a, "nothing is recorded that was begun from outside");
        return;
    }
    w.want = view.want;
    if (!ap__end(a, dir)) {
        return;
    }
    w.open = ap__outside_begin(&w.want, false) == ACL_SUCCESS;
    ap__window_now = w;
    if (!w.open) {
        ap__say(a, "stopped %.500s\n", ap__last_error());
        return;
    }
    ap__outside_look(&view);
    ap__say(a, "directory %s\n", view.dir);
}

static void ap__status(ap__answer *a)
{
    static const char *const names[] = {"idle", "own", "waiting", "recording"};
    const ap__window *w = &ap__window_now;
    aclprofStats stats = {.size = sizeof(stats)};
    ap__outside_view view;
    char name[17] = "";
    FILE *comm = fopen("/proc/self/comm", "re");

    if (comm != NULL) {
        (void)!fscanf(comm, "%16[^\n]", name);
        fclose(comm);
    }
    ap__outside_look(&view);
    ap__say(a, "ok\npid %ld\nprogram %s\nstate %s\n", (long)getpid(), name, names[view.state]);
    ap__say(a, "steps %" PRIu64 "\n", atomic_load(&ap__steps_ended));
    if (view.state == AP_OUTSIDE_IDLE) {
        return;
    }
    ap__say(a, "directory %s\n", view.dir);
    if (ap__session_stats(&stats) == ACL_SUCCESS) {
        ap__say(a,
                "emitted %" PRIu64 "\nwritten %" PRIu64 "\npending %" PRIu64 "\nlost %" PRIu64
                "\nbytes %" PRIu64 "\nthreads %" PRIu64 "\n",
                stats.emitted, stats.written, stats.pending, stats.lostTotal, stats.bytesWritten,
                (uint64_t)stats.threads);
    }
    if (w->open && !w->waits && w->duration_ms != 0) {
        uint64_t now = ap__clock_ns(CLOCK_MONOTONIC);

        ap__say(a, "left_ms %" PRIu64 "\n", w->end_ns > now ? (w->end_ns - now) / AP_MS : 0);
    }
    if (w->open && !w->waits && w->steps != 0) {
        ap__say(a, "left_steps %" PRIu64 "\n", w->steps_end - atomic_load(&ap__steps_ended));
    }
}

void ap__control_answer(char *request, char *answer, size_t size)
{
    ap__answer a = {answer, size, 0};
    char *words = request;
    const char *what = strsep(&words, " ");
    char dir[AP_PATH_MAX];

    answer[0] = '\0';
    if (strcmp(what, "start") == 0) {
        ap__start(words, &a);
    } else if (strcmp(what, "stop") == 0) {
        (void)ap__end(&a, dir);
    } else if (strcmp(what, "snapshot") == 0) {
        ap__snapshot(&a);
    } else if (strcmp(what, "status") == 0) {
        ap__status(&a);
    } else {
        ap__say_failure(&a, "no such request");
    }
}
