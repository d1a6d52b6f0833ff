/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof report`: one HTML file of a run, or of two that are compared. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/report.h"
#include "tool/report_page.h"
#include "tool/verbs.h"

static void ap__usage(FILE *out)
{
    fprintf(out,
            "Usage: aclprof report [options] PROF_DIR\n"
            "       aclprof report [options] PROF_DIR_A PROF_DIR_B\n\n"
            "Writes one HTML file that any browser opens from disk: timeline, tables, losses and\n"
            "cost. Of two runs it tells what became slower from A to B, and how surely.\n\n"
            "  -o, --output FILE  instead of aclprof_report.html or aclprof_comparison.html\n"
            "  -h, --help         print this\n");
}

/* The template, with css, data and js where it names them. */
static int ap__page(ap__out *o, const ap__run *runs, uint32_t run_count, const ap__names *names)
{
    const char *at = (const char *)ap__page_html;
    int rc = 0;

    while (rc == 0 && *at != '\0') {
        const char *next = strchrnul(at, '{');

        ap__out_bytes(o, at, (size_t)(next - at));
        at = next;
        if (strncmp(at, "{css}", 5) == 0) {
            ap__out_text(o, (const char *)ap__page_css);
            at += 5;
        } else if (strncmp(at, "{data}", 6) == 0) {
            rc = ap__report_data(o, runs, run_count, names);
            at += 6;
        } else if (strncmp(at, "{js}", 4) == 0) {
            ap__out_text(o, (const char *)ap__page_js);
            at += 4;
        } else if (*at != '\0') {
            ap__out_bytes(o, at++, 1);
        }
    }
    return rc;
}

static int ap__write(const char *file, const ap__run *runs, uint32_t run_count,
                     const ap__names *names)
{
    ap__out *o = malloc(sizeof(*o));
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    char *dir = slash != NULL ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    int fd = -1;
    int rc = 0;

    if (o == NULL || dir == NULL) {
        rc = ENOMEM;
        goto out;
    }
    if (name[0] == '\0' || strlen(name) >= sizeof(o->name)) {
        rc = name[0] == '\0' ? EISDIR : ENAMETOOLONG;
        goto out;
    }
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    rc = fd < 0 ? errno : ap__out_open(o, fd, name);
    if (rc != 0) {
        goto out;
    }
    rc = ap__page(o, runs, run_count, names);
    if (rc == 0) {
        rc = ap__out_finish(o);
    } else {
        ap__out_drop(o);
    }
out:
    if (rc != 0) {
        fprintf(stderr, "aclprof report: %s: %s\n", file, strerror(rc));
    } else {
        printf("%s\n", file);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(dir);
    free(o);
    return rc;
}

static int ap__report(char **paths, uint32_t count, const char *file)
{
    ap__reader *readers[2] = {NULL, NULL};
    ap__run runs[2];
    ap__names names = {0};
    uint32_t loaded = 0;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        readers[i] = ap__verb_open("report", paths[i]);
        rc = readers[i] != NULL ? ap__run_load(&runs[i], readers[i], &names) : 1;
        if (rc == ENOMEM) {
            fprintf(stderr, "aclprof report: no memory for the records of %s\n", paths[i]);
        }
        loaded += rc == 0;
    }
    rc = rc != 0 ? rc : ap__write(file, runs, count, &names);
    for (uint32_t i = 0; i < loaded; i++) {
        if (runs[i].model.simulated) {
            fprintf(stderr, "aclprof report: the device data of %s are simulated\n", paths[i]);
        }
        ap__run_free(&runs[i]);
    }
    for (uint32_t i = 0; i < count && readers[i] != NULL; i++) {
        for (uint32_t k = 0; ap__reader_note(readers[i], k) != NULL; k++) {
            fprintf(stderr, "aclprof report: %s\n", ap__reader_note(readers[i], k));
        }
        ap__reader_close(readers[i]);
    }
    ap__names_free(&names);
    return rc != 0;
}

int ap__verb_report(int argc, char **argv)
{
    static const struct option names[] = {{"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const char *file = NULL;
    int option = 0;
    int count = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "o:h", names, NULL)) != -1) {
        switch (option) {
        case 'o':
            file = optarg;
            break;
        case 'h':
            ap__usage(stdout);
            return 0;
        default:
            ap__usage(stderr);
            return 2;
        }
    }
    count = argc - optind;
    if (count != 1 && count != 2) {
        ap__usage(stderr);
        return 2;
    }
    if (file == NULL) {
        file = count == 1 ? "aclprof_report.html" : "aclprof_comparison.html";
    }
    return ap__report(argv + optind, (uint32_t)count, file);
}
