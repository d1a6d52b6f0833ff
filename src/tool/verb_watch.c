/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof watch`: a capture while it runs, on the terminal. */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/utf8.h"
#include "tool/option_values.h"
#include "tool/verbs.h"
#include "tool/watch.h"

#define AP_TOP_MOST 100u
#define AP_NAME_BYTES 40u

typedef struct ap__watch_options {
    uint64_t interval_ms;
    uint32_t top;
    uint64_t turns; /* 0: to the end of the capture */
    bool redraw;    /* on a terminal, in the same place */
} ap__watch_options;

static void ap__usage(FILE *out)
{
    fprintf(out, "Usage: aclprof watch [options] PROF_DIR\n\n"
                 "Follows a capture while it runs: events a second, what is lost, the stamps that\n"
                 "come most, how busy the devices are. Reads files only. Ends with the capture.\n\n"
                 "  --interval SEC   between two looks (1)\n"
                 "  --top N          stamps (10)\n"
                 "  --count N        end after so many looks\n"
                 "  --plain          one block after the other, as when it is not a terminal\n"
                 "  -h, --help       print this\n");
}

static uint64_t ap__now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double ap__a_second(uint64_t count, uint64_t ns)
{
    return ns != 0 ? (double)count * 1e9 / (double)ns : 0;
}

/* ---- a picture ---- */

/* Whoever names a stamp must not command the terminal. */
static void ap__print_name(const char *text)
{
    char clean[3 * AP_TX_MESSAGE_BYTES];
    size_t n = ap__utf8_clean(clean, sizeof(clean), text, strlen(text));
    size_t columns = 0;

    n = ap__utf8_cut(clean, n, AP_NAME_BYTES);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)clean[i];
        bool c1 = c == 0xC2 && i + 1 < n && (unsigned char)clean[i + 1] < 0xA0;

        columns += (c & 0xC0) != 0x80;
        if (c1) {
            i++;
        }
        putchar(c < ' ' || c == 0x7F || c1 ? '?' : c);
    }
    for (; columns < AP_NAME_BYTES; columns++) {
        putchar(' ');
    }
}

static void ap__print_time(uint64_t ns)
{
    if (ns < 1000000) {
        printf(" %9.3f us", (double)ns / 1e3);
    } else if (ns < 1000000000) {
        printf(" %9.3f ms", (double)ns / 1e6);
    } else {
        printf(" %9.3f s ", (double)ns / 1e9);
    }
}

static void ap__print_head(const ap__watch *w, uint64_t fresh, uint64_t ns)
{
    char clock[16] = "";
    time_t now = time(NULL);
    struct tm tm;

    if (localtime_r(&now, &tm) != NULL) {
        (void)strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
    }
    printf("%s  %s\n", clock, ap__reader_path(w->reader));
    if (!w->rings_known) {
        printf("events: the rings are in the process's own memory, only what is on disk is seen\n");
        return;
    }
    printf("%.0f events/s, %" PRIu64 " in all; lost: rings %" PRIu64 ", disk %" PRIu64
           ", storage limit %" PRIu64 "; %" PRIu32 " threads, fullest ring %" PRIu32 "%%\n",
           ap__a_second(fresh, ns), w->emitted, w->lost_rings, w->lost_disk, w->lost_age,
           w->threads, w->fill_most);
}

static void ap__print_devices(const ap__watch *w, uint64_t ns)
{
    for (uint32_t i = 0; i < AP_WATCH_DEVICES; i++) {
        const ap__watch_device *d = &w->devices[i];
        uint64_t span = d->span_ns > ns ? d->span_ns : ns;

        if (!d->seen) {
            continue;
        }
        printf("device %" PRIu32 "%s", i, d->simulated ? " (simulated)" : "");
        if (d->known) {
            printf(": %.0f tasks/s, %" PRIu64 " in all, busy %.1f%%, %" PRIu32 " under way\n",
                   ap__a_second(d->fresh, ns), d->tasks,
                   span != 0 ? 100.0 * (double)d->busy_ns / (double)span : 0, d->active);
        } else {
            printf(": records of this chip are not read here\n");
        }
    }
}

static void ap__print_top(ap__watch *w, uint32_t most, uint64_t ns)
{
    const ap__watch_name *top[AP_TOP_MOST];
    uint32_t count = ap__watch_top(w, top, most);

    if (count != 0) {
        printf("%-*s %10s %12s %12s %12s\n", (int)AP_NAME_BYTES, "stamp", "a second", "seen",
               "average", "longest");
    }
    for (uint32_t i = 0; i < count; i++) {
        ap__print_name(top[i]->text);
        printf(" %10.0f %12" PRIu64, ap__a_second(top[i]->fresh, ns), top[i]->count);
        ap__print_time(top[i]->total_ns / top[i]->count);
        ap__print_time(top[i]->most_ns);
        printf("\n");
    }
}

static void ap__draw(ap__watch *w, const ap__watch_options *o, uint64_t fresh, uint64_t ns)
{
    if (o->redraw) {
        printf("\033[H\033[2J");
    }
    ap__print_head(w, fresh, ns);
    ap__print_devices(w, ns);
    ap__print_top(w, o->top, ns);
    printf("\n");
    (void)fflush(stdout);
}

/* ---- the loop ---- */

static int ap__follow(ap__watch *w, const ap__watch_options *o)
{
    struct timespec nap = {(time_t)(o->interval_ms / 1000),
                           (long)(o->interval_ms % 1000) * 1000000};
    uint64_t before = 0;
    uint64_t then = 0;

    ap__watch_turn(w); /* what is there already */
    before = w->emitted;
    then = ap__now_ns();
    for (uint64_t turn = 0; (o->turns == 0 || turn < o->turns) && !w->over; turn++) {
        uint64_t now = 0;

        (void)nanosleep(&nap, NULL);
        ap__watch_turn(w);
        now = ap__now_ns();
        ap__draw(w, o, w->emitted - before, now - then);
        before = w->emitted;
        then = now;
        if (ferror(stdout)) {
            return 1;
        }
    }
    if (w->over) {
        printf("the capture has ended: aclprof summary %s\n", ap__reader_path(w->reader));
    }
    return 0;
}

static bool ap__number(const char *text, uint64_t most, uint64_t *out)
{
    char *end = NULL;

    *out = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *out <= most;
}

int ap__verb_watch(int argc, char **argv)
{
    static const struct option names[] = {{"interval", required_argument, NULL, 'i'},
                                          {"top", required_argument, NULL, 't'},
                                          {"count", required_argument, NULL, 'c'},
                                          {"plain", no_argument, NULL, 'p'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static ap__watch w;
    ap__watch_options o = {.interval_ms = 1000, .top = 10, .redraw = isatty(STDOUT_FILENO) != 0};
    char text[1200];
    uint64_t number = 0;
    bool ok = true;
    int option = 0;
    int code = 0;

    optind = 0;
    while (ok && (option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        switch (option) {
        case 'h':
            ap__usage(stdout);
            return 0;
        case 'i':
            ok = ap__option_ms(optarg, &o.interval_ms) && o.interval_ms >= 10;
            break;
        case 't':
            ok = ap__number(optarg, AP_TOP_MOST, &number);
            o.top = (uint32_t)number;
            break;
        case 'c':
            ok = ap__number(optarg, UINT32_MAX, &o.turns) && o.turns != 0;
            break;
        case 'p':
            o.redraw = false;
            break;
        default:
            ok = false;
        }
    }
    if (!ok || optind + 1 != argc) {
        ap__usage(stderr);
        return 2;
    }
    if (!ap__watch_open(&w, argv[optind], text, sizeof(text))) {
        fprintf(stderr, "aclprof watch: %s\n", text);
        return 1;
    }
    code = ap__follow(&w, &o);
    ap__watch_close(&w);
    return code;
}
