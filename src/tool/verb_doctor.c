/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof doctor` */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/doctor/doctor.h"
#include "tool/verbs.h"
#include "writer/json_build.h"

#define AP_DOCTOR_HAS_WARNINGS 3
#define AP_DOCTOR_HAS_PROBLEMS 4
#define AP_DOCTOR_SPACE ((uint64_t)1 << 30)

static void ap__usage(FILE *out)
{
    fprintf(
        out,
        "Usage: aclprof doctor [options]\n\n"
        "Says what on this machine, and in this environment, would keep profiling from working\n"
        "and what to do: the library that programs would get, the driver, its devices, the\n"
        "output path, limits, other profilers, the clock. Changes nothing.\n\n"
        "  --output DIR     the result path (default: ASCEND_WORK_PATH, else here)\n"
        "  --space BYTES    how much should be free there; K, M or G may follow (1G)\n"
        "  --acl-json FILE  what the program gives to aclInit (default: ./acl.json, if any)\n"
        "  --json           findings as one line of JSON\n"
        "  --quiet          warnings and problems only\n"
        "  --root DIR       look at the file system below DIR, such as a container's; the\n"
        "                   environment is still this one, and no driver is loaded\n"
        "  -h, --help       print this\n\n"
        "Exit codes: 0 nothing is in the way, 1 failed, 2 wrong options, %d warnings,\n"
        "%d problems.\n",
        AP_DOCTOR_HAS_WARNINGS, AP_DOCTOR_HAS_PROBLEMS);
}

static void ap__print(const ap__doctor *d, bool quiet)
{
    bool colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
    static const char *const colours[] = {"\033[32m", "", "\033[33m", "\033[31m"};

    for (uint32_t i = 0; i < d->count; i++) {
        const ap__finding *f = &d->list[i];

        if (quiet && f->grade < AP_DOCTOR_WARNING) {
            continue;
        }
        printf("%s%-8s%s %s\n", colour ? colours[f->grade] : "", ap__doctor_grade_name(f->grade),
               colour ? "\033[0m" : "", f->text);
        if (f->advice[0] != '\0') {
            printf("         -> %s\n", f->advice);
        }
    }
}

/* 0 or ENOMEM. */
static int ap__print_json(const ap__doctor *d, bool quiet)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL;
    cJSON *list = NULL;
    char *text = NULL;

    ap__json_u64(&ok, root, "version", 1);
    ap__json_text(&ok, root, "worst", ap__doctor_grade_name(ap__doctor_worst(d)));
    list = ap__json_array(&ok, root, "findings");
    for (uint32_t i = 0; i < d->count; i++) {
        const ap__finding *f = &d->list[i];
        cJSON *item = NULL;

        if (quiet && f->grade < AP_DOCTOR_WARNING) {
            continue;
        }
        item = ap__json_item(&ok, list);
        ap__json_text(&ok, item, "id", f->id);
        ap__json_text(&ok, item, "grade", ap__doctor_grade_name(f->grade));
        ap__json_text(&ok, item, "text", f->text);
        ap__json_text(&ok, item, "advice", f->advice);
    }
    text = ap__json_print(ok, root);
    if (text == NULL) {
        return ENOMEM;
    }
    puts(text);
    cJSON_free(text);
    return 0;
}

static bool ap__bytes(const char *text, uint64_t *out)
{
    char *end = NULL;
    unsigned shift = 0;

    errno = 0;
    *out = strtoull(text, &end, 10);
    if (end == text || text[0] < '0' || text[0] > '9' || errno != 0) {
        return false;
    }
    if (*end != '\0') {
        shift = *end == 'K' || *end == 'k'   ? 10
                : *end == 'M' || *end == 'm' ? 20
                : *end == 'G' || *end == 'g' ? 30
                                             : 64;
        if (shift == 64 || end[1] != '\0' || *out > UINT64_MAX >> shift) {
            return false;
        }
    }
    *out <<= shift;
    return true;
}

/* -1: go on, else the exit code. */
static int ap__options(int argc, char **argv, ap__doctor *d, bool *json, bool *quiet)
{
    static const struct option names[] = {
        {"output", required_argument, NULL, 'o'},   {"space", required_argument, NULL, 's'},
        {"acl-json", required_argument, NULL, 'a'}, {"root", required_argument, NULL, 'r'},
        {"json", no_argument, NULL, 'j'},           {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    int option = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        switch (option) {
        case 'o':
            d->output = optarg;
            break;
        case 'a':
            d->acl_json = optarg;
            break;
        case 's':
            if (!ap__bytes(optarg, &d->space)) {
                fprintf(stderr,
                        "aclprof doctor: --space is '%s'; it must be a number, with K, M or "
                        "G behind it\n",
                        optarg);
                return 2;
            }
            break;
        case 'r':
            if (realpath(optarg, d->root) == NULL) {
                fprintf(stderr, "aclprof doctor: --root %s: %s\n", optarg, strerror(errno));
                return 1;
            }
            d->root[strcmp(d->root, "/") == 0 ? 0 : strlen(d->root)] = '\0';
            break;
        case 'j':
            *json = true;
            break;
        case 'q':
            *quiet = true;
            break;
        case 'h':
            ap__usage(stdout);
            return 0;
        default:
            ap__usage(stderr);
            return 2;
        }
    }
    if (optind != argc) {
        ap__usage(stderr);
        return 2;
    }
    return -1;
}

int ap__verb_doctor(int argc, char **argv)
{
    ap__doctor *d = calloc(1, sizeof(*d));
    bool json = false;
    bool quiet = false;
    int code = 1;

    if (d == NULL) {
        fprintf(stderr, "aclprof doctor: no memory\n");
        return 1;
    }
    d->space = AP_DOCTOR_SPACE;
    code = ap__options(argc, argv, d, &json, &quiet);
    if (code < 0) {
        ap__doctor_run(d);
        code = ap__doctor_worst(d) == AP_DOCTOR_PROBLEM   ? AP_DOCTOR_HAS_PROBLEMS
               : ap__doctor_worst(d) == AP_DOCTOR_WARNING ? AP_DOCTOR_HAS_WARNINGS
                                                          : 0;
        if (!json) {
            ap__print(d, quiet);
        } else if (ap__print_json(d, quiet) != 0) {
            fprintf(stderr, "aclprof doctor: no memory\n");
            code = 1;
        }
        if (fflush(stdout) != 0) {
            code = 1;
        }
    }
    free(d);
    return code;
}
