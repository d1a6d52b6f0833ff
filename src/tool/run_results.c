/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/run_results.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/reader.h"

#define AP_SHOWN 64u /* directories of which a line is printed */

int ap__run_results_open(ap__run_results *r)
{
    const char *dir = getenv("TMPDIR");

    r->fd = -1;
    if (snprintf(r->path, sizeof(r->path), "%s/aclprof-run-XXXXXX",
                 dir != NULL && dir[0] == '/' ? dir : "/tmp") >= (int)sizeof(r->path)) {
        return ENAMETOOLONG;
    }
    r->fd = mkostemp(r->path, O_CLOEXEC | O_APPEND);
    return r->fd < 0 ? errno : 0;
}

void ap__run_results_close(ap__run_results *r)
{
    if (r->fd >= 0) {
        (void)unlink(r->path);
        close(r->fd);
        r->fd = -1;
    }
}

static void ap__print_account(const char *dir, const ap__reader *reader)
{
    const ap__reader_account *a = ap__reader_account_of(reader);

    if (a == NULL) {
        fprintf(stderr, "aclprof run: %s\n", dir);
        return;
    }
    fprintf(stderr,
            "aclprof run: %s: emitted %" PRIu64 " = written %" PRIu64 " + lost %" PRIu64
            "; %" PRIu64 " bytes, %" PRIu64 " threads; cost: calls about %" PRIu64
            " ns, writer %" PRIu64 " ns\n",
            dir, a->total.emitted, a->total.written, a->total.lostTotal, a->total.bytesWritten,
            a->total.threads, a->total.callNs, a->total.writerCpuNs);
}

static void ap__print_dir(const char *dir)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);

    if (reader == NULL) {
        fprintf(stderr, "aclprof run: %s: %s\n", dir, error.text);
        return;
    }
    if (ap__reader_state_of(reader) == AP_READER_UNFINISHED) {
        fprintf(stderr, "aclprof run: %s: not finished, its process was killed or has replaced "
                        "itself: aclprof recover %s\n",
                dir, dir);
    } else if (ap__reader_state_of(reader) == AP_READER_RUNNING) {
        fprintf(stderr, "aclprof run: %s: its process is still running\n", dir);
    } else {
        ap__print_account(dir, reader);
    }
    ap__reader_close(reader);
}

unsigned ap__run_results_print(ap__run_results *r)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n = 0;
    unsigned count = 0;
    FILE *file = r->fd >= 0 ? fopen(r->path, "re") : NULL;

    while (file != NULL && (n = getline(&line, &room, file)) > 0) {
        char *what = line;
        char *text = strchr(line, ' ');

        line[n - (line[n - 1] == '\n')] = '\0';
        text = text != NULL ? strchr(text + 1, ' ') : NULL;
        if (text == NULL) {
            continue;
        }
        text++;
        if (strncmp(what, "begin ", 6) == 0) {
            if (count++ < AP_SHOWN) {
                ap__print_dir(text);
            }
        } else if (strncmp(what, "refused ", 8) == 0 && count++ < AP_SHOWN) {
            fprintf(stderr, "aclprof run: no capture: %s\n", text);
        }
    }
    if (count > AP_SHOWN) {
        fprintf(stderr, "aclprof run: and %u more\n", count - AP_SHOWN);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(line);
    return count;
}
