/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/arena_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/wire_host.h"
#include "reader/safe_file.h"
#include "writer/slice.h"

#define AP_SHM_PREFIX "/dev/shm/aclprof-"
#define AP_RING_BYTES_MAX (1u << 30)
#define AP_STACK_BYTES_MAX (1u << 28)
#define AP_SNAPSHOT_TRIES 100

static bool ap__shm_name_ok(const char *path)
{
    const char *name = path + sizeof("/dev/shm/") - 1;

    return strncmp(path, AP_SHM_PREFIX, sizeof(AP_SHM_PREFIX) - 1) == 0 &&
           strchr(name, '/') == NULL && strspn(name, "abcdefghijklmnopqrstuvwxyz-0123456789") ==
           strlen(name);
}

/* The pointer names a file that recovery deletes: it must be an arena's name, and belong to the
 * owner of the pointer. */
static int ap__open_pointed(ap__arena_view *view, int ext_fd, bool write, ap__notes *notes)
{
    size_t length = 0;
    int error = 0;
    int fd = -1;
    struct stat pointer;
    struct stat target;
    char *path = ap__read_whole(ext_fd, AP_ARENA_POINTER_NAME, sizeof(view->shm_path) - 1, &length,
                                notes, &error);

    if (path == NULL) {
        view->has_pointer = error != ENOENT;
        view->state = error == ENOENT ? AP_ARENA_NONE : AP_ARENA_DAMAGED;
        return -1;
    }
    view->has_pointer = true;
    path[strcspn(path, "\n")] = '\0';
    if (path[0] == '\0') {
        view->state = AP_ARENA_LOST; /* ended while the pointer was written */
        goto out;
    }
    if (!ap__shm_name_ok(path)) {
        ap__note(notes, "%s names %s, which is no ring memory of ours: not touched",
                 AP_ARENA_POINTER_NAME, path);
        view->state = AP_ARENA_DAMAGED;
        goto out;
    }
    fd = ap__open_regular(AT_FDCWD, path, write, &view->size, notes);
    if (fd < 0) {
        view->state = fd == -ENOENT ? AP_ARENA_LOST
                                    : (fd == -ENOTSUP ? AP_ARENA_DAMAGED : AP_ARENA_ERROR);
        goto out;
    }
    if (fstatat(ext_fd, AP_ARENA_POINTER_NAME, &pointer, AT_SYMLINK_NOFOLLOW) != 0 ||
        fstat(fd, &target) != 0 || pointer.st_uid != target.st_uid) {
        ap__note(notes, "%s names %s, which belongs to somebody else: not touched",
                 AP_ARENA_POINTER_NAME, path);
        view->state = AP_ARENA_DAMAGED;
        close(fd);
        fd = -1;
        goto out;
    }
    strcpy(view->shm_path, path); /* read with this size as the limit */
out:
    free(path);
    return fd;
}

static int ap__open_arena(ap__arena_view *view, int ext_fd, bool write, ap__notes *notes)
{
    char why[128];
    int fd = ap__open_regular(ext_fd, AP_ARENA_NAME, write, &view->size, notes);

    if (fd == -ENOENT) {
        fd = ap__open_pointed(view, ext_fd, write, notes);
        if (view->state == AP_ARENA_LOST) {
            ap__note(notes, "the ring memory is gone (the machine was restarted, or it was "
                            "removed): events that were not on disk are lost");
        }
        if (view->state == AP_ARENA_ERROR) {
            ap__note(notes, "the ring memory in /dev/shm cannot be opened");
        }
        return fd;
    }
    view->has_file = true;
    if (fd < 0) {
        view->state = fd == -ENOTSUP ? AP_ARENA_DAMAGED : AP_ARENA_ERROR;
        if (fd != -ENOTSUP) {
            ap__note(notes, "%s cannot be opened: %s", AP_ARENA_NAME,
                     ap__errno_text(-fd, why, sizeof(why)));
        }
        return -1;
    }
    return fd;
}

/* While the process runs, the writer may flip the checkpoint under our eyes. */
static bool ap__snapshot_head(int fd, ap__arena_head *head)
{
    for (int i = 0; i < AP_SNAPSHOT_TRIES; i++) {
        ap__arena_head again;
        uint32_t active = 0;

        if (ap__pread_full(fd, head, sizeof(*head), 0) != sizeof(*head) ||
            ap__pread_full(fd, &again, sizeof(again), 0) != sizeof(again)) {
            return false;
        }
        active = atomic_load_explicit(&head->active, memory_order_relaxed);
        if (active > 1 ||
            (active == atomic_load_explicit(&again.active, memory_order_relaxed) &&
             memcmp(&head->checkpoint[active], &again.checkpoint[active],
                    sizeof(head->checkpoint[0])) == 0 &&
             head->raw_count[active] == again.raw_count[active] &&
             memcmp(head->raw[active], again.raw[active], sizeof(head->raw[0])) == 0)) {
            return true;
        }
    }
    return false;
}

static bool ap__checkpoint_ok(const ap__checkpoint *c)
{
    return c->tx_slice_bytes <= AP_SLICE_BYTES &&
           c->tx_slice_bytes % sizeof(ap__wire_additional) == 0;
}

static bool ap__raw_ok(const ap__arena_head *h, uint32_t active)
{
    bool ok = h->raw_count[active] <= AP_RAW_STREAMS;

    for (uint32_t i = 0; ok && i < h->raw_count[active]; i++) {
        const ap__raw_point *p = &h->raw[active][i];

        ok = p->name[0] != '\0' && memchr(p->name, '\0', sizeof(p->name)) != NULL &&
             strchr(p->name, '/') == NULL && p->slice_bytes <= AP_SLICE_BYTES;
    }
    return ok;
}

const ap__raw_point *ap__arena_view_raw(const ap__arena_view *view, const char *name)
{
    for (uint32_t i = 0; i < view->raw_count; i++) {
        if (strcmp(view->raw[i].name, name) == 0) {
            return &view->raw[i];
        }
    }
    return NULL;
}

static bool ap__sizes_ok(const ap__arena_head *h)
{
    uint64_t need = AP_RING_HEAD_BYTES + (uint64_t)h->stack_bytes + h->ring_bytes;

    return h->ring_bytes >= 4096 && h->ring_bytes <= AP_RING_BYTES_MAX &&
           (h->ring_bytes & (h->ring_bytes - 1)) == 0 && h->stack_bytes <= AP_STACK_BYTES_MAX &&
           h->stack_bytes % 8 == 0 && h->slot_stride >= need && h->slot_stride % 8 == 0;
}

static void ap__count_slots(ap__arena_view *view, const ap__arena_head *head, ap__notes *notes)
{
    uint32_t claimed = atomic_load_explicit(&head->slot_count, memory_order_relaxed);
    uint64_t held = view->size <= AP_ARENA_HEAD_BYTES
                        ? 0
                        : (view->size - AP_ARENA_HEAD_BYTES) / view->slot_stride;

    view->slot_count = claimed <= held ? claimed : (uint32_t)held;
    if (claimed > held) {
        ap__note(notes, "%s is cut: %u of %u rings are there", AP_ARENA_NAME, view->slot_count,
                 claimed);
    }
}

static void ap__make_line(ap__arena_view *view)
{
    const ap__clock_point *later = &view->ready;

    /* the longest baseline that there is */
    if (view->checkpoint.batch != 0 && view->checkpoint.clock.cycles > later->cycles &&
        view->checkpoint.clock.mono_raw_ns > later->mono_raw_ns) {
        later = &view->checkpoint.clock;
    }
    if (view->checkpoint.batch != 0 && view->checkpoint.line_mult != 0) {
        /* the writer's own line: times go on as those on disk */
        view->line.cycles0 = view->checkpoint.line_cycles;
        view->line.ns0 = view->checkpoint.line_ns;
        view->line.mult = view->checkpoint.line_mult;
        return;
    }
    ap__clock_line_make(&view->line, &view->start, later, view->clock_is_ns);
    if (view->line.mult != 0) {
        view->line.cycles0 = later->cycles;
        view->line.ns0 = later->mono_raw_ns;
    }
}

static ap__arena_state ap__take_head(ap__arena_view *view, ap__notes *notes)
{
    ap__arena_head head;

    if (view->size == 0) {
        return AP_ARENA_UNBORN;
    }
    if (!ap__snapshot_head(view->fd, &head)) {
        ap__note(notes, "%s is cut or cannot be read", AP_ARENA_NAME);
        return AP_ARENA_DAMAGED;
    }
    if (head.magic == 0) {
        return AP_ARENA_UNBORN;
    }
    view->version = head.version;
    if (head.magic == AP_ARENA_MAGIC && head.version != AP_ARENA_VERSION) {
        ap__note(notes, "%s is of version %u, this library knows version %u: use the version that "
                        "wrote it to recover the events in it", AP_ARENA_NAME, head.version,
                 AP_ARENA_VERSION);
        return AP_ARENA_DAMAGED;
    }
    view->active = atomic_load_explicit(&head.active, memory_order_relaxed);
    if (head.magic != AP_ARENA_MAGIC || !ap__sizes_ok(&head) || view->active > 1 ||
        !ap__checkpoint_ok(&head.checkpoint[view->active]) || !ap__raw_ok(&head, view->active)) {
        ap__note(notes, "%s is damaged: the events in it cannot be read", AP_ARENA_NAME);
        return AP_ARENA_DAMAGED;
    }
    view->slot_stride = head.slot_stride;
    view->ring_bytes = head.ring_bytes;
    view->stack_bytes = head.stack_bytes;
    view->pid = head.pid;
    view->clock_is_ns = head.clock_is_ns;
    view->start = head.start;
    view->ready = head.ready;
    view->checkpoint = head.checkpoint[view->active];
    view->raw_count = head.raw_count[view->active];
    memcpy(view->raw, head.raw[view->active], sizeof(view->raw));
    view->has_checkpoint = true;
    ap__count_slots(view, &head, notes);
    ap__make_line(view);
    return AP_ARENA_READY;
}

/* true: nobody else has it, as far as can be told */
static bool ap__lock(ap__arena_view *view, bool exclusive)
{
    int how = (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
    int rc = 0;

    do {
        rc = flock(view->fd, how);
    } while (rc != 0 && errno == EINTR);
    view->lock_unsure = rc != 0;
    return rc == 0 || errno != EWOULDBLOCK;
}

void ap__arena_view_open(ap__arena_view *view, int ext_fd, bool exclusive, ap__notes *notes)
{
    struct stat st = {.st_nlink = 1};
    bool locked = false;
    ap__arena_state found = AP_ARENA_NONE;

    memset(view, 0, sizeof(*view));
    view->fd = ext_fd < 0 ? -1 : ap__open_arena(view, ext_fd, exclusive, notes);
    if (view->fd < 0) {
        return;
    }
    locked = ap__lock(view, exclusive);
    if (fstat(view->fd, &st) == 0) {
        view->size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    }
    if (locked && st.st_nlink == 0) {
        ap__arena_view_close(view); /* finished meanwhile */
        memset(view, 0, sizeof(*view));
        view->fd = -1;
        return;
    }
    found = ap__take_head(view, notes);
    view->state = locked ? found : AP_ARENA_RUNNING;
}

void ap__arena_view_close(ap__arena_view *view)
{
    if (view->fd >= 0) {
        close(view->fd); /* and the lock with it */
        view->fd = -1;
    }
}
