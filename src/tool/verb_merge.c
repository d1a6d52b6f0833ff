/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof merge` */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/merge/merge.h"
#include "tool/verbs.h"

#define AP_MERGE_LEFT_OUT 3

typedef struct ap__wishes {
    const char *output;
    bool archive;
    bool trace;
    bool database;
} ap__wishes;

static void ap__usage(FILE *out)
{
    fprintf(
        out,
        "Usage: aclprof merge [options] --output DIR PATH…\n\n"
        "Makes one trace and one database of the results of several ranks or processes: of each\n"
        "PROF_* at a PATH or up to two levels below it. Incomplete sets are taken as they are.\n"
        "Clocks are put in line: on one host by its CLOCK_MONOTONIC_RAW, devices by the\n"
        "snapshots of their clocks, several hosts by --align or their wall clocks; the error is\n"
        "told. Ranks are those of RANK_ID, RANK and the like when the program ran.\n\n"
        "  -o, --output DIR  where merged_<time>.tar, .db or .pftrace are made\n"
        "  --type T          archive (for Perfetto from version 58), db, trace (one .pftrace for\n"
        "                    any), or several with commas (archive,db)\n"
        "  --align NAME      the n-th stamps of this name ended at the same time on all ranks,\n"
        "                    such as one around a barrier\n"
        "  -h, --help        print this\n\n"
        "Exit codes: 0 all are in, 1 failed, 2 wrong options, %d some could not be read and were\n"
        "left out.\n",
        AP_MERGE_LEFT_OUT);
}

static bool ap__types(const char *text, ap__wishes *w)
{
    w->archive = w->trace = w->database = false;
    while (*text != '\0') {
        size_t n = strcspn(text, ",");

        if (n == 7 && strncmp(text, "archive", n) == 0) {
            w->archive = true;
        } else if (n == 5 && strncmp(text, "trace", n) == 0) {
            w->trace = true;
        } else if (n == 2 && strncmp(text, "db", n) == 0) {
            w->database = true;
        } else if (n == 3 && strncmp(text, "all", n) == 0) {
            w->archive = w->trace = w->database = true;
        } else {
            return false;
        }
        text += n + (text[n] == ',');
    }
    return w->archive || w->trace || w->database;
}

static void ap__print_set(const ap__merge_set *s)
{
    static const char *const states[] = {"", ", recovered", ", unfinished", ", still running"};
    char by[96];

    if (s->failed) {
        fprintf(stderr, "aclprof merge: left out: %s\n", s->error);
        return;
    }
    ap__merge_by_text(s, by, sizeof(by));
    printf("%s: %s process %u%s; shifted by %" PRId64 " ns (%s)\n", s->label, s->process, s->pid,
           states[s->state], s->shift_ns, by);
    for (uint32_t i = 0; i < s->device_count; i++) {
        const ap__merge_device *d = &s->devices[i];

        if (d->snapshots >= 2) {
            printf("  device %u is device %u; its clock by %u snapshots, within %" PRIu64 " ns\n",
                   d->global, d->device, d->snapshots, d->error_ns);
        } else {
            printf("  device %u is device %u; its clock by the start alone, error not known\n",
                   d->global, d->device);
        }
    }
}

static void ap__print_missing(const ap__merge *m)
{
    int64_t next = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        int64_t rank = m->sets[i].rank;

        if (rank < 0) {
            continue;
        }
        if (rank > next + 1) {
            printf("no results of ranks %" PRId64 " to %" PRId64 "\n", next, rank - 1);
        } else if (rank == next + 1) {
            printf("no results of rank %" PRId64 "\n", next);
        }
        next = rank >= next ? rank + 1 : next;
    }
}

/* 0, or 1 after words. */
static int ap__one(ap__merge *m, bool wanted, const char *end,
                   int (*make)(const ap__merge *m, const char *name))
{
    char name[64];
    int rc = 0;

    if (!wanted) {
        return 0;
    }
    (void)snprintf(name, sizeof(name), "merged_%s.%s", m->stamp, end);
    rc = make(m, name);
    if (rc != 0) {
        fprintf(stderr, "aclprof merge: %s/%s: %s\n", m->output, name,
                rc == ENOTSUP ? "this build is without SQLite" : strerror(rc));
        return 1;
    }
    printf("%s/%s\n", m->output, name);
    return 0;
}

#ifndef AP_HAVE_SQLITE
int ap__merge_database(const ap__merge *m, const char *name)
{
    (void)m;
    (void)name;
    return ENOTSUP;
}
#endif

static int ap__run(ap__merge *m, const ap__wishes *w)
{
    uint32_t failed = 0;
    int code = 0;

    ap__merge_survey(m);
    ap__merge_align(m);
    if (ap__merge_open(m, w->output) != 0) {
        fprintf(stderr, "aclprof merge: %s\n", m->error);
        return 1;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        if (!m->sets[i].failed) {
            ap__merge_part(m, i, w->archive || w->trace, w->database);
        }
        ap__print_set(&m->sets[i]);
        failed += m->sets[i].failed;
    }
    ap__print_missing(m);
    if (failed == m->count) {
        fprintf(stderr, "aclprof merge: none of the results could be read\n");
        code = 1;
    } else {
        code = ap__one(m, w->archive, "tar", ap__merge_archive);
        code |= ap__one(m, w->trace, "pftrace", ap__merge_trace);
        code |= ap__one(m, w->database, "db", ap__merge_database);
        code = code == 0 && failed != 0 ? AP_MERGE_LEFT_OUT : code;
    }
    ap__merge_close(m);
    return code;
}

/* -1: go on, else the exit code. */
static int ap__options(int argc, char **argv, ap__merge *m, ap__wishes *w)
{
    static const struct option names[] = {{"output", required_argument, NULL, 'o'},
                                          {"type", required_argument, NULL, 't'},
                                          {"align", required_argument, NULL, 'a'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "ho:", names, NULL)) != -1) {
        switch (option) {
        case 'o':
            w->output = optarg;
            break;
        case 'a':
            m->sync = optarg;
            break;
        case 't':
            if (!ap__types(optarg, w)) {
                fprintf(stderr,
                        "aclprof merge: --type is '%s'; it can be archive, db, trace, all, "
                        "or several with commas\n",
                        optarg);
                return 2;
            }
            break;
        case 'h':
            ap__usage(stdout);
            return 0;
        default:
            ap__usage(stderr);
            return 2;
        }
    }
    if (optind == argc || w->output == NULL) {
        ap__usage(stderr);
        return 2;
    }
    return -1;
}

int ap__verb_merge(int argc, char **argv)
{
    ap__merge *m = calloc(1, sizeof(*m));
    ap__wishes w = {.archive = true, .database = true};
    int code = 1;

    if (m == NULL) {
        fprintf(stderr, "aclprof merge: no memory\n");
        return 1;
    }
#ifndef AP_HAVE_SQLITE
    w.database = false;
#endif
    m->output_fd = -1;
    code = ap__options(argc, argv, m, &w);
    for (int i = optind; code < 0 && i < argc; i++) {
        if (ap__merge_add(m, argv[i]) != 0) {
            fprintf(stderr, "aclprof merge: %s\n", m->error);
            code = 1;
        }
    }
    if (code < 0) {
        code = ap__run(m, &w);
        code = fflush(stdout) != 0 ? 1 : code;
    }
    ap__merge_free(m);
    free(m);
    return code;
}
