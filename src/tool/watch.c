/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/hash.h"
#include "reader/prof_path.h"
#include "reader/process.h"
#include "reader/safe_file.h"

#define AP_STAMPS "aging.additional.msproftx"

/* ---- names ---- */

static ap__watch_name *ap__name(ap__watch *w, const char *text, size_t length)
{
    uint32_t at = (uint32_t)(ap__hash_id(text, length) % AP_WATCH_NAMES);

    for (uint32_t i = 0; i < AP_WATCH_NAMES; i++, at = (at + 1) % AP_WATCH_NAMES) {
        ap__watch_name *n = &w->names[at];

        if (n->count == 0) {
            if (w->name_count >= AP_WATCH_NAMES / 2) {
                break;
            }
            w->name_count++;
            memcpy(n->text, text, length);
            n->text[length] = '\0';
            return n;
        }
        if (strncmp(n->text, text, length) == 0 && n->text[length] == '\0') {
            return n;
        }
    }
    return &w->others;
}

static void ap__take_stamp(void *context, const uint8_t *record)
{
    ap__watch *w = context;
    ap__wire_additional r;
    ap__wire_tx tx;
    ap__watch_name *n = NULL;
    uint64_t begin = 0;
    uint64_t end = 0;

    memcpy(&r, record, sizeof(r));
    memcpy(&tx, r.data, sizeof(tx));
    if (r.magic != AP_WIRE_MAGIC || r.level != AP_LEVEL_TX || tx.segment != 0) {
        return;
    }
    n = ap__name(w, tx.message, strnlen(tx.message, sizeof(tx.message) - 1));
    begin = ap__host_clock_ns(&w->meta.clock, tx.start_time);
    end = ap__host_clock_ns(&w->meta.clock, tx.end_time);
    n->count++;
    n->fresh++;
    if (end > begin) {
        n->total_ns += end - begin;
        n->most_ns = end - begin > n->most_ns ? end - begin : n->most_ns;
    }
}

static bool ap__before(const ap__watch_name *a, const ap__watch_name *b)
{
    return a->fresh != b->fresh ? a->fresh > b->fresh : a->count > b->count;
}

uint32_t ap__watch_top(ap__watch *w, const ap__watch_name **top, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i <= AP_WATCH_NAMES && most != 0; i++) {
        const ap__watch_name *n = i < AP_WATCH_NAMES ? &w->names[i] : &w->others;
        uint32_t at = count;

        if (n->count == 0 || (count == most && !ap__before(n, top[most - 1]))) {
            continue;
        }
        at = count < most ? count++ : most - 1;
        for (; at > 0 && ap__before(n, top[at - 1]); at--) {
            top[at] = top[at - 1];
        }
        top[at] = n;
    }
    return count;
}

/* ---- rings ---- */

static void ap__read_rings(ap__watch *w)
{
    uint32_t slots = 0;
    uint64_t emitted = 0;
    uint64_t lost = 0;
    struct stat st;

    w->threads = 0;
    w->fill_most = 0;
    if (ap__pread_full(w->arena.fd, &slots, sizeof(slots), offsetof(ap__arena_head, slot_count)) !=
            sizeof(slots) ||
        fstat(w->arena.fd, &st) != 0) {
        return;
    }
    for (uint32_t i = 0; i < slots; i++) {
        uint64_t at = ap__arena_view_slot(&w->arena, i);
        ap__ring_head head;
        uint64_t held = 0;

        if (at + w->arena.slot_stride > (uint64_t)st.st_size ||
            ap__pread_full(w->arena.fd, &head, sizeof(head), at) != sizeof(head)) {
            break;
        }
        emitted += head.emitted + head.lost_reentrant;
        lost += head.lost_full + head.lost_reentrant;
        w->threads += head.in_use != 0;
        held = head.committed - head.tail;
        if (held <= w->arena.ring_bytes && held * 100 / w->arena.ring_bytes > w->fill_most) {
            w->fill_most = (uint32_t)(held * 100 / w->arena.ring_bytes);
        }
    }
    w->emitted = emitted > w->emitted ? emitted : w->emitted;
    w->lost_rings = lost > w->lost_rings ? lost : w->lost_rings;
}

/* What the writer last said is on disk. false: it cannot be read. */
static bool ap__read_checkpoint(ap__watch *w, ap__checkpoint *out)
{
    for (int i = 0; i < 100; i++) {
        ap__checkpoint again;
        uint32_t active[2] = {0, 0};
        uint64_t at = 0;

        if (ap__pread_full(w->arena.fd, &active[0], 4, offsetof(ap__arena_head, active)) != 4 ||
            active[0] > 1) {
            return false;
        }
        at = offsetof(ap__arena_head, checkpoint) + active[0] * sizeof(*out);
        if (ap__pread_full(w->arena.fd, out, sizeof(*out), at) != sizeof(*out) ||
            ap__pread_full(w->arena.fd, &again, sizeof(again), at) != sizeof(again) ||
            ap__pread_full(w->arena.fd, &active[1], 4, offsetof(ap__arena_head, active)) != 4) {
            return false;
        }
        if (active[0] == active[1] && memcmp(out, &again, sizeof(again)) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- turns ---- */

static bool ap__has_ended(const ap__watch *w)
{
    struct stat st;

    return fstatat(w->host_fd, "end_info", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
           !ap__process_lives(w->meta.pid, w->meta.begin_wall_us);
}

void ap__watch_turn(ap__watch *w)
{
    ap__checkpoint checkpoint;
    ap__watch_tail limit = {.begun = true};
    bool limited = false;

    w->over = ap__has_ended(w); /* asked first: what is read below is then all */
    for (uint32_t i = 0; i < AP_WATCH_NAMES; i++) {
        w->names[i].fresh = 0;
    }
    w->others.fresh = 0;
    if (w->rings_known) {
        ap__read_rings(w);
        if (ap__read_checkpoint(w, &checkpoint)) {
            w->lost_disk = checkpoint.lost_disk;
            w->lost_age = checkpoint.aged_records + checkpoint.raw_aged;
            limit.slice = checkpoint.tx_slice;
            limit.offset = checkpoint.tx_slice_bytes;
            limited = !w->over;
        }
    }
    if (w->data_fd < 0) {
        w->data_fd = ap__open_dir(w->host_fd, "data");
    }
    if (w->data_fd >= 0) {
        ap__watch_tail_read(w->data_fd, AP_STAMPS, &w->stamps, sizeof(ap__wire_additional),
                            limited ? &limit : NULL, &w->notes, ap__take_stamp, w);
    }
    ap__watch_devices(w);
}

/* Where the rings are in its own memory, only the process itself tells. */
static bool ap__is_running(const ap__reader *reader)
{
    const ap__meta *meta = ap__reader_meta(reader);

    return ap__reader_state_of(reader) == AP_READER_RUNNING ||
           (ap__reader_state_of(reader) == AP_READER_UNFINISHED &&
            ap__process_lives(meta->pid, meta->begin_wall_us));
}

bool ap__watch_open(ap__watch *w, const char *path, char *text, size_t size)
{
    ap__reader_error error;
    char *resolved = NULL;
    int prof_fd = -1;
    bool ok = false;

    memset(w, 0, sizeof(*w));
    w->host_fd = w->ext_fd = w->data_fd = w->arena.fd = -1;
    strcpy(w->others.text, "(others)");
    w->reader = ap__reader_open(path, &error);
    if (w->reader == NULL) {
        (void)snprintf(text, size, "%s", error.text);
        return false;
    }
    if (!ap__is_running(w->reader)) {
        (void)snprintf(text, size, "%s is not being written (any more): aclprof summary",
                       ap__reader_path(w->reader));
        goto out;
    }
    if (ap__prof_path_open(path, &resolved, &prof_fd, &w->host_fd, text, size) != AP_READER_OK) {
        goto out;
    }
    ap__meta_read(w->host_fd, &w->meta, &w->notes);
    w->ext_fd = ap__open_dir(w->host_fd, ".aclprof");
    ap__arena_view_open(&w->arena, w->ext_fd, false, &w->notes);
    w->rings_known = w->arena.state == AP_ARENA_RUNNING && w->arena.has_checkpoint;
    w->names = calloc(AP_WATCH_NAMES, sizeof(*w->names));
    ok = w->names != NULL;
    if (!ok) {
        (void)snprintf(text, size, "no memory");
    }
out:
    free(resolved);
    if (prof_fd >= 0) {
        close(prof_fd);
    }
    if (!ok) {
        ap__watch_close(w);
    }
    return ok;
}

void ap__watch_close(ap__watch *w)
{
    int *fds[] = {&w->host_fd, &w->ext_fd, &w->data_fd};

    if (w->reader != NULL) {
        ap__reader_close(w->reader);
        w->reader = NULL;
    }
    ap__arena_view_close(&w->arena);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
        }
        *fds[i] = -1;
    }
    ap__notes_free(&w->notes);
    free(w->names);
    w->names = NULL;
}
