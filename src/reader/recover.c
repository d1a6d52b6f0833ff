/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "reader/device_view.h"
#include "reader/finish_files.h"
#include "reader/process.h"
#include "reader/prof_path.h"
#include "reader/reader_internal.h"
#include "reader/replay.h"
#include "reader/safe_file.h"
#include "writer/account.h"
#include "writer/control_files.h"

#define AP_DAMAGED_SUFFIX ".damaged"
#define AP_RECOVER_DEVICES 64u

typedef struct ap__recovery {
    ap__recover_report *report;
    ap__notes *notes; /* of the report */
    int prof_fd;
    int host_fd;
    int data_fd;
    int ext_fd;
    ap__meta meta;
    ap__arena_view view;
    ap__sources sources;
    ap__tally tally;
    ap__dictionaries dictionaries;
    uint64_t missing;
} ap__recovery;

static ap__recover_code ap__say(ap__recovery *r, ap__recover_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static ap__recover_code ap__say(ap__recovery *r, ap__recover_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(r->report->error, sizeof(r->report->error), format, args);
    va_end(args);
    return code;
}

static ap__recover_code ap__failed(ap__recovery *r, const char *what, int rc)
{
    char why[128];

    return ap__say(r, AP_RECOVER_FAILED, "%s: %s: %s", r->report->path, what,
                   ap__errno_text(rc, why, sizeof(why)));
}

static int ap__unlink(int dirfd, const char *name)
{
    return unlinkat(dirfd, name, 0) != 0 && errno != ENOENT ? errno : 0;
}

/* ---- opening ---- */

static ap__recover_code ap__open(ap__recovery *r, const char *prof_dir)
{
    char *path = NULL;
    ap__reader_code code =
        ap__prof_path_open(prof_dir, &path, &r->prof_fd, &r->host_fd, r->report->error,
                           sizeof(r->report->error));
    int fd = -1;

    snprintf(r->report->path, sizeof(r->report->path), "%s", path != NULL ? path : prof_dir);
    free(path);
    if (code != AP_READER_OK) {
        return AP_RECOVER_FAILED;
    }
    fd = ap__open_dir(r->host_fd, "data");
    if (fd < 0) {
        return ap__failed(r, "host/data cannot be opened", -fd);
    }
    r->data_fd = fd;
    fd = ap__open_dir(r->host_fd, AP_EXT_DIR);
    if (fd < 0 && fd != -ENOENT) {
        return ap__failed(r, "host/" AP_EXT_DIR " cannot be opened", -fd);
    }
    r->ext_fd = fd < 0 ? -1 : fd;
    return AP_RECOVER_DONE;
}

/* DONE: go on. Anything else is the answer. */
static ap__recover_code ap__judge(ap__recovery *r)
{
    const char *path = r->report->path;
    uint32_t pid = r->view.state == AP_ARENA_READY ? r->view.pid : r->meta.pid;

    if (r->ext_fd < 0) {
        return r->meta.has_end
                   ? AP_RECOVER_NOTHING
                   : ap__say(r, AP_RECOVER_FOREIGN,
                             "%s was not finished and was not written by this library: nothing was "
                             "changed; what is whole in it can be read as it is", path);
    }
    switch (r->view.state) {
    case AP_ARENA_RUNNING:
        return ap__say(r, AP_RECOVER_RUNNING, "%s: the process that writes it (pid %u) still runs, "
                       "or somebody reads or recovers it now: nothing was changed", path,
                       r->view.pid);
    case AP_ARENA_ERROR:
        return ap__say(r, AP_RECOVER_FAILED, "%s: the rings in it cannot be opened; run this as "
                       "the user who wrote it", path);
    case AP_ARENA_NONE:
        if (r->meta.has_end) {
            return AP_RECOVER_NOTHING;
        }
        break;
    case AP_ARENA_DAMAGED:
        if (r->view.version != 0 && r->view.version != AP_ARENA_VERSION) {
            return ap__say(r, AP_RECOVER_VERSION, "%s: its rings are of version %u, this library "
                           "knows version %u: nothing was changed", path, r->view.version,
                           AP_ARENA_VERSION);
        }
        break;
    default:
        break;
    }
    /* where a lock tells nothing, the process number must do */
    if ((r->view.fd < 0 || r->view.lock_unsure || r->view.state == AP_ARENA_UNBORN) &&
        ap__process_lives(pid, r->meta.begin_wall_us)) {
        return ap__say(r, AP_RECOVER_RUNNING, "%s: process %u, which writes it, still runs: "
                       "nothing was changed", path, pid);
    }
    return AP_RECOVER_DONE;
}

/* ---- the steps ---- */

static void ap__collect_open(ap__recovery *r)
{
    ap__recover_report *report = r->report;

    for (uint32_t i = 0; i < r->view.slot_count; i++) {
        uint32_t room = AP_RECOVER_OPEN_MAX - report->open_kept;
        uint32_t kept = 0;

        report->open_count +=
            ap__open_pushes(&r->view, i, report->open + report->open_kept, room, &kept);
        report->open_kept += kept;
    }
}

static int ap__list(ap__recovery *r)
{
    ap__sources_free(&r->sources);
    return ap__sources_list(r->data_fd, &r->sources, r->notes);
}

static int ap__save_rings(ap__recovery *r)
{
    ap__replay_in in = {
        .data_fd = r->data_fd,
        .ext_fd = r->ext_fd,
        .view = &r->view,
        .keep_cycles = r->meta.clock.is_ticks,
        .source = ap__sources_find(&r->sources, AP_TX_SOURCE),
        .sources = &r->sources,
        .dictionaries = &r->dictionaries,
        .notes = r->notes,
    };
    int rc = 0;

    if (r->view.state != AP_ARENA_READY) {
        return 0;
    }
    rc = ap__dictionaries_load(&r->dictionaries, r->data_fd, &r->sources, r->ext_fd, r->notes);
    if (rc != 0) {
        return rc;
    }
    r->report->had_rings = true;
    ap__collect_open(r);
    return ap__replay(&in, &r->tally, &r->report->on_disk, &r->missing);
}

/* When the capture ended, as far as can be told: with the newest event, or when the writer last
 * looked at the clock. */
static void ap__end_point(const ap__recovery *r, ap__clock_point *end)
{
    const ap__host_clock *clock = &r->meta.clock;
    struct stat st;

    memset(end, 0, sizeof(*end));
    end->mono_raw_ns = r->meta.begin_mono_ns;
    if (r->tally.newest_ns != 0) {
        end->mono_raw_ns = ap__host_clock_ns(clock, r->tally.newest_ns);
    }
    if (r->view.has_checkpoint && r->view.checkpoint.batch != 0 &&
        r->view.checkpoint.clock.mono_raw_ns > end->mono_raw_ns) {
        end->mono_raw_ns = r->view.checkpoint.clock.mono_raw_ns;
    }
    if (clock->has_wall) {
        end->real_ns = ap__host_clock_wall_ns(clock, end->mono_raw_ns);
    } else if (r->view.has_checkpoint) {
        end->real_ns =
            r->view.start.real_ns + (end->mono_raw_ns - r->view.start.mono_raw_ns);
    } else if (fstat(r->data_fd, &st) == 0) {
        end->real_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    }
}

static int ap__write_end(ap__recovery *r)
{
    ap__clock_point end;
    int rc = 0;

    if (r->meta.has_end) {
        return 0;
    }
    ap__end_point(r, &end);
    rc = ap__unlink(r->host_fd, "end_info"); /* torn, else it would be readable */
    if (rc == 0) {
        rc = ap__unlink(r->host_fd, "end_info.done");
    }
    return rc != 0 ? rc : ap__control_write_end(r->host_fd, &end);
}

/* The reader is opened for its device directories: the rings are locked by us, and not its matter. */
static int ap__finish_devices(ap__recovery *r)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(r->report->path, &error);
    ap__device_view *views = calloc(AP_RECOVER_DEVICES, sizeof(*views));
    ap__clock_point end;
    uint32_t count = 0;
    int rc = reader != NULL && views != NULL ? 0 : ENOMEM;

    ap__end_point(r, &end);
    if (rc == 0) {
        count = ap__device_views_open(reader, views, AP_RECOVER_DEVICES);
    }
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        rc = ap__device_view_finish(&views[i], r->ext_fd, &end, r->notes);
    }
    ap__device_views_close(views, count);
    free(views);
    if (reader != NULL) {
        ap__reader_close(reader);
    }
    return rc;
}

/* The estimate that the process itself would have made. */
static uint64_t ap__call_ns(const ap__recovery *r)
{
    const ap__tally *t = &r->tally;
    ap__clock_line line = r->view.line;

    if (t->sampled_calls == 0) {
        return 0;
    }
    line.cycles0 = 0;
    line.ns0 = 0;
    return (uint64_t)((unsigned __int128)ap__clock_line_ns(&line, t->sampled_cycles) *
                      t->emitted / t->sampled_calls);
}

static uint64_t ap__file_size(int dirfd, const char *name)
{
    struct stat st;

    return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0
               ? (uint64_t)st.st_size
               : 0;
}

static void ap__fill_totals(ap__recovery *r, aclprofStats *total)
{
    const ap__source *source = ap__sources_find(&r->sources, AP_TX_SOURCE);

    memset(total, 0, sizeof(*total));
    r->report->in_flight =
        ap__tally_totals(&r->tally, r->report->had_rings ? &r->view.checkpoint : NULL, r->missing,
                         total);
    for (uint32_t i = 0; source != NULL && i < source->slice_count; i++) {
        total->bytesWritten += source->slices[i].size;
    }
    total->bytesWritten += ap__file_size(r->ext_fd, AP_EXT_STAMP_NAME) +
                           ap__file_size(r->ext_fd, AP_EXT_NAMES_NAME);
    total->openAtStop = r->report->open_count;
    if (r->report->had_rings) {
        total->callNs = ap__call_ns(r);
    }
}

/* A process that died between its account and its last file has left the better account. */
static bool ap__account_is_complete(ap__recovery *r, aclprofStats *total)
{
    ap__reader_account *there = ap__account_read(r->ext_fd, r->notes);
    bool complete = there != NULL && strcmp(there->state, "finished") == 0 &&
                    r->tally.saved == 0 && there->total.written == total->written;

    if (complete) {
        *total = there->total;
    }
    ap__account_free(there);
    return complete;
}

static int ap__write_account(ap__recovery *r)
{
    ap__clock_point points[3];
    aclprofStats *total = &r->report->account;
    ap__account account = {
        .threads = r->tally.threads,
        .thread_count = r->tally.thread_count,
        .clock_is_ns = r->view.clock_is_ns,
        .state = "recovered",
        .arena = r->view.has_file ? "file" : (r->view.has_pointer ? "shm" : "anonymous"),
        .data_types = ACL_PROF_MSPROFTX,
        .points = points,
    };

    ap__fill_totals(r, total);
    if (ap__account_is_complete(r, total)) {
        return 0;
    }
    if (r->report->had_rings) {
        points[account.point_count++] = r->view.start;
        points[account.point_count++] = r->view.ready;
        if (r->view.checkpoint.clock.mono_raw_ns > r->view.ready.mono_raw_ns) {
            points[account.point_count++] = r->view.checkpoint.clock;
        }
    }
    account.total = *total;
    return ap__account_write(r->ext_fd, &account);
}

/* An arena that could not be read is kept under another name, for whoever wants to look. */
static int ap__set_aside(ap__recovery *r, const char *name)
{
    char aside[64];

    snprintf(aside, sizeof(aside), "%s%s", name, AP_DAMAGED_SUFFIX);
    return renameat(r->ext_fd, name, r->ext_fd, aside) != 0 && errno != ENOENT ? errno : 0;
}

/* The arena goes last: while it is there, everything above can be done again. */
static int ap__remove_rings(ap__recovery *r)
{
    int rc = ap__unlink(r->ext_fd, AP_EXT_RESERVE_NAME);

    rc = rc != 0 ? rc : ap__unlink(r->ext_fd, AP_EXT_DEVICES_RESERVE_NAME);
    if (rc == 0 && r->view.state == AP_ARENA_DAMAGED) {
        rc = ap__set_aside(r, AP_ARENA_POINTER_NAME);
        return rc != 0 ? rc : ap__set_aside(r, AP_ARENA_NAME);
    }
    if (rc == 0 && r->view.shm_path[0] != '\0') {
        rc = ap__unlink(AT_FDCWD, r->view.shm_path);
    }
    if (rc == 0) {
        rc = ap__unlink(r->ext_fd, AP_ARENA_POINTER_NAME);
    }
    return rc != 0 ? rc : ap__unlink(r->ext_fd, AP_ARENA_NAME);
}

static ap__recover_code ap__do_steps(ap__recovery *r)
{
    bool had_arena = r->view.state == AP_ARENA_READY;
    int rc = ap__list(r);

    if (rc == 0) {
        rc = ap__finish_ext(r->ext_fd, r->notes);
    }
    if (rc == 0) {
        rc = ap__save_rings(r);
    }
    if (rc != 0) {
        return ap__failed(r, "the events in its rings cannot be written", rc);
    }
    rc = ap__list(r);
    if (rc == 0) {
        rc = ap__finish_sources(r->data_fd, &r->sources, had_arena ? AP_TX_SOURCE : NULL,
                                r->notes);
    }
    if (rc == 0) {
        rc = ap__list(r); /* sizes may have changed */
    }
    if (rc == 0 && !ap__tally_disk(&r->tally, r->data_fd, r->ext_fd,
                                   ap__sources_find(&r->sources, AP_TX_SOURCE), r->notes)) {
        rc = ENOMEM;
    }
    for (uint32_t i = 0; rc == 0 && i < r->sources.count; i++) {
        const ap__source *source = &r->sources.list[i];

        if (strcmp(source->name, AP_TX_SOURCE) != 0 &&
            !ap__tally_raw_source(&r->tally, r->data_fd, source, r->notes)) {
            rc = ENOMEM;
        }
    }
    if (rc == 0) {
        rc = ap__write_account(r);
    }
    if (rc == 0) {
        rc = ap__finish_devices(r);
    }
    if (rc == 0) {
        rc = ap__write_end(r); /* without an arena, this is what says that all is done */
    }
    if (rc == 0) {
        rc = ap__finish_control(r->host_fd, r->notes);
    }
    if (rc == 0) {
        rc = ap__remove_rings(r);
    }
    if (rc != 0) {
        return ap__failed(r, "its files cannot be finished", rc);
    }
    if (!had_arena) {
        r->report->on_disk = r->tally.records;
    }
    r->report->saved = r->tally.saved;
    r->report->damaged_rings = r->tally.damaged_rings;
    r->report->damaged_bytes = r->tally.damaged_bytes;
    return AP_RECOVER_DONE;
}

static void ap__close(ap__recovery *r)
{
    int fds[] = {r->ext_fd, r->data_fd, r->host_fd, r->prof_fd};

    ap__arena_view_close(&r->view);
    ap__sources_free(&r->sources);
    ap__tally_free(&r->tally);
    ap__dictionaries_free(&r->dictionaries);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

int ap__recover(const char *prof_dir, ap__recover_report *report)
{
    ap__recovery r;
    ap__recover_code code = AP_RECOVER_DONE;

    memset(report, 0, sizeof(*report));
    memset(&r, 0, sizeof(r));
    r.report = report;
    r.notes = &report->notes;
    r.prof_fd = r.host_fd = r.data_fd = r.ext_fd = r.view.fd = -1;
    code = ap__open(&r, prof_dir);
    if (code == AP_RECOVER_DONE) {
        ap__meta_read(r.host_fd, &r.meta, r.notes);
        ap__arena_view_open(&r.view, r.ext_fd, true, r.notes);
        code = ap__judge(&r);
        if (code == AP_RECOVER_DONE) {
            code = ap__do_steps(&r);
        } else if (code == AP_RECOVER_NOTHING && r.ext_fd >= 0) {
            (void)ap__finish_control(r.host_fd, r.notes);
            (void)ap__unlink(r.ext_fd, AP_EXT_RESERVE_NAME);
        }
    }
    ap__close(&r);
    report->code = code;
    return code == AP_RECOVER_NOTHING ? 0 : (int)code;
}

void ap__recover_report_free(ap__recover_report *report)
{
    ap__notes_free(&report->notes);
}
