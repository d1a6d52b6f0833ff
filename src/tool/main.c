/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/verbs.h"

typedef struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} verb;

static const verb verbs[] = {
    {"summary", ap__verb_summary, "where the time went, on the terminal"},
    {"export", ap__verb_export, "the vendor's CSV files and timeline"},
    {"report", ap__verb_report, "one HTML file to look at, of a run or of two that are compared"},
    {"check", ap__verb_check, "is a directory whole? for CI"},
    {"recover", ap__verb_recover, "finish a directory whose process was killed"},
    {"merge", ap__verb_merge, "results of several ranks as one trace and database"},
    {"doctor", ap__verb_doctor, "what would keep profiling from working here"},
    {"run", ap__verb_run, "run a program with this library preloaded"},
    {"start", ap__verb_control, "begin a capture in a running process"},
    {"stop", ap__verb_control, "end it"},
    {"snapshot", ap__verb_control, "end its directory and go on in a new one"},
    {"status", ap__verb_control, "what running processes capture"},
    {"watch", ap__verb_watch, "follow a capture while it runs"},
    {"install", ap__verb_install, "place this library in a CANN tree"},
    {"uninstall", ap__verb_uninstall, "take it out again"},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void usage(FILE *out)
{
    fprintf(out, "Usage: aclprof VERB [options] …\n\n");
    for (size_t i = 0; i < VERBS; i++) {
        fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].what);
    }
    fprintf(out,
            "\n`aclprof VERB --help` tells more. Exit codes: 0 done, 1 failed, 2 wrong options.\n");
}

int main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                     strcmp(argv[1], "help") == 0)) {
        usage(stdout);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("aclprof " AP_VERSION "\n");
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < VERBS; i++) {
        if (strcmp(argv[1], verbs[i].name) == 0) {
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    if (argc > 1) {
        fprintf(stderr, "aclprof: '%s' is no verb\n", argv[1]);
    }
    usage(stderr);
    return 2;
}
