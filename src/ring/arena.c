/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "ring/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "clock/cycles.h"

#define AP_RING_DEFAULT (1u << 20)
#define AP_RING_MIN (64u << 10)
#define AP_RING_MAX (1u << 30)
/* 224 frames (deeper nesting moves to the heap); ring head, stack and guard fill 64 KiB, so that a
 * slot is a whole number of pages of any size */
#define AP_STACK_BYTES (65536u - AP_RING_HEAD_BYTES - AP_RING_GUARD_BYTES)
#define AP_PAGE 4096u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint32_t ap__ring_bytes_wanted(void)
{
    const char *text = secure_getenv("ACLPROF_RING_SIZE");
    char *end = NULL;
    unsigned long long v = 0;

    if (text == NULL || *text < '0' || *text > '9') {
        return AP_RING_DEFAULT;
    }
    v = strtoull(text, &end, 10);
    if (v > AP_RING_MAX) {
        return AP_RING_MAX;
    }
    if (*end == 'K' || *end == 'k') {
        v <<= 10;
        end++;
    } else if (*end == 'M' || *end == 'm') {
        v <<= 20;
        end++;
    } else if (*end == 'G' || *end == 'g') {
        v <<= 30;
        end++;
    }
    if (*end != '\0') {
        return AP_RING_DEFAULT;
    }
    if (v < AP_RING_MIN) {
        return AP_RING_MIN;
    }
    if (v > AP_RING_MAX) {
        return AP_RING_MAX;
    }
    /* round down to a power of two */
    return 1u << (31 - __builtin_clz((uint32_t)v));
}

/* File systems on which a shared mapping is slow, incoherent, or can fault when the disk fills
 * although space was reserved (copy on write). */
static bool ap__suits_mapping(int fd)
{
    static const uint32_t unsuited[] = {
        0x6969 /* nfs */,      0x517b /* smb */,      0xff534d42 /* cifs */, 0xfe534d42 /* smb2 */,
        0x65735546 /* fuse */, 0x01021997 /* 9p */,   0x9123683e /* btrfs */, 0x00c36400 /* ceph */,
        0x0bd00bd0 /* lustre */, 0x47504653 /* gpfs */, 0x2fc12fc1 /* zfs */,
        0xca451a4e /* bcachefs */, 0x5346414f /* afs */,
    };
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(unsuited) / sizeof(unsuited[0]); i++) {
        if ((uint32_t)fs.f_type == unsuited[i]) {
            return false;
        }
    }
    return true;
}

static ap__arena_kind ap__kind_wanted(int ext_fd)
{
    const char *text = secure_getenv("ACLPROF_ARENA");

    if (text != NULL && strcmp(text, "shm") == 0) {
        return AP_ARENA_SHM;
    }
    if (text != NULL && strcmp(text, "anonymous") == 0) {
        return AP_ARENA_ANONYMOUS;
    }
    if (text != NULL && strcmp(text, "file") == 0) {
        return AP_ARENA_FILE;
    }
    return ap__suits_mapping(ext_fd) ? AP_ARENA_FILE : AP_ARENA_SHM;
}

static int ap__open_file(ap__arena *arena)
{
    arena->fd = openat(arena->ext_fd, AP_ARENA_NAME,
                       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (arena->fd < 0) {
        return errno;
    }
    (void)fchmod(arena->fd, 0640); /* undoes the umask */
    return 0;
}

/* Not when the host has closed it, and it is a file of the host's by now. */
static bool ap__arena_fd_ours(const ap__arena *arena)
{
    struct stat st;

    return arena->fd >= 0 && fstat(arena->fd, &st) == 0 && st.st_dev == arena->device &&
           st.st_ino == arena->inode;
}

static int ap__open_shm(ap__arena *arena)
{
    int rc = 0;
    int pointer = -1;
    size_t length = 0;

    for (unsigned i = 0; i < 100 && arena->fd < 0; i++) {
        snprintf(arena->shm_path, sizeof(arena->shm_path), "/dev/shm/aclprof-%d-%llx-%u",
                 (int)getpid(), (unsigned long long)ap__mono_raw_ns(), i);
        arena->fd = open(arena->shm_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (arena->fd < 0 && errno != EEXIST) {
            return errno;
        }
    }
    if (arena->fd < 0) {
        return EEXIST;
    }
    pointer = openat(arena->ext_fd, AP_ARENA_POINTER_NAME,
                     O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    length = strlen(arena->shm_path);
    if (pointer >= 0) {
        (void)fchmod(pointer, 0640);
        (void)fchmod(arena->fd, 0600);
    }
    if (pointer < 0 || write(pointer, arena->shm_path, length) != (ssize_t)length) {
        rc = errno != 0 ? errno : ENOSPC;
        unlink(arena->shm_path);
        close(arena->fd);
        arena->fd = -1;
    }
    if (pointer >= 0) {
        close(pointer);
    }
    return rc;
}

/* Maps `bytes` at file offset; space is reserved first, so that a full disk is an error here and
 * never a fault in a stamp call. */
static void *ap__arena_map(ap__arena *arena, uint64_t offset, size_t bytes, int *rc)
{
    void *p = NULL;

    if (arena->fd < 0) {
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } else if (!ap__arena_fd_ours(arena)) {
        *rc = EBADF;
        return NULL;
    } else {
        do {
            *rc = posix_fallocate(arena->fd, (off_t)offset, (off_t)bytes);
        } while (*rc == EINTR);
        if (*rc != 0) {
            return NULL;
        }
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd, (off_t)offset);
    }
    if (p == MAP_FAILED) {
        *rc = errno;
        return NULL;
    }
    (void)madvise(p, bytes, MADV_DONTFORK); /* a child must never write into our rings */
    *rc = 0;
    return p;
}

static void ap__prefault(void *start, size_t bytes)
{
    if (madvise(start, bytes, MADV_POPULATE_WRITE) == 0) {
        return;
    }
    for (size_t i = 0; i < bytes; i += AP_PAGE) {
        *((volatile uint8_t *)start + i) = 0;
    }
}

static void ap__drop_backing(ap__arena *arena)
{
    if (arena->fd >= 0) {
        if (ap__arena_fd_ours(arena)) {
            close(arena->fd);
        }
        arena->fd = -1;
        if (arena->kind == AP_ARENA_SHM) {
            unlink(arena->shm_path);
            unlinkat(arena->ext_fd, AP_ARENA_POINTER_NAME, 0);
        } else {
            unlinkat(arena->ext_fd, AP_ARENA_NAME, 0);
        }
    }
}

static int ap__arena_open_kind(ap__arena *arena)
{
    struct stat st;
    int rc = 0;

    if (arena->kind == AP_ARENA_FILE) {
        rc = ap__open_file(arena);
    } else if (arena->kind == AP_ARENA_SHM) {
        rc = ap__open_shm(arena);
    }
    if (rc == 0 && arena->fd >= 0) {
        if (fstat(arena->fd, &st) != 0) {
            return errno;
        }
        arena->device = st.st_dev;
        arena->inode = st.st_ino;
    }
    if (rc != 0) {
        return rc;
    }
    if (arena->fd >= 0 && flock(arena->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        rc = EBUSY;
    } else {
        arena->head = ap__arena_map(arena, 0, AP_ARENA_HEAD_BYTES, &rc);
    }
    if (rc != 0) {
        ap__drop_backing(arena);
    }
    return rc;
}

int ap__arena_open(ap__arena *arena, int ext_fd, const ap__clock_point *start)
{
    int rc = 0;

    arena->fd = -1;
    arena->ext_fd = ext_fd;
    arena->kind = ap__kind_wanted(ext_fd);
    arena->head = NULL;
    rc = ap__arena_open_kind(arena);
    /* a directory or shared-memory file system that cannot hold it costs crash safety only */
    while (rc != 0 && arena->kind != AP_ARENA_ANONYMOUS) {
        arena->kind = arena->kind == AP_ARENA_FILE ? AP_ARENA_SHM : AP_ARENA_ANONYMOUS;
        rc = ap__arena_open_kind(arena);
    }
    if (rc != 0) {
        return rc;
    }
    arena->head->version = AP_ARENA_VERSION;
    arena->head->ring_bytes = ap__ring_bytes_wanted();
    arena->head->stack_bytes = AP_STACK_BYTES;
    arena->head->slot_stride =
        AP_RING_HEAD_BYTES + AP_STACK_BYTES + arena->head->ring_bytes + AP_RING_GUARD_BYTES;
    arena->head->pid = (uint32_t)getpid();
    arena->head->clock_is_ns = ap__clock_is_ns;
    arena->head->start = *start;
    arena->head->ready = *start;
    arena->head->magic = AP_ARENA_MAGIC;
    return 0;
}

static ap__ring_head *ap__arena_grow(ap__arena *arena)
{
    uint32_t n = atomic_load_explicit(&arena->head->slot_count, memory_order_relaxed);
    size_t stride = arena->head->slot_stride;
    ap__ring_head *ring = NULL;
    int rc = 0;

    if (n >= AP_ARENA_MAX_SLOTS) {
        return NULL;
    }
    ring = ap__arena_map(arena, AP_ARENA_HEAD_BYTES + (uint64_t)n * stride, stride, &rc);
    if (ring == NULL) {
        return NULL;
    }
    ap__prefault(ring, AP_RING_HEAD_BYTES + AP_PAGE);
    ap__prefault(ap__ring_data(arena, ring), arena->head->ring_bytes);
    ring->slot = n;
    ring->in_use = 1;
    arena->slots[n] = ring;
    atomic_store_explicit(&arena->head->slot_count, n + 1, memory_order_release);
    return ring;
}

ap__ring_head *ap__arena_take(ap__arena *arena)
{
    uint32_t n = atomic_load_explicit(&arena->head->slot_count, memory_order_relaxed);

    for (uint32_t i = 0; i < n; i++) {
        ap__ring_head *ring = arena->slots[i];
        uint64_t used = atomic_load_explicit(&ring->committed, memory_order_relaxed) -
                        atomic_load_explicit(&ring->tail, memory_order_acquire);

        if (ring->in_use == 0 && used <= arena->head->ring_bytes / 2) {
            ring->in_use = 1;
            return ring;
        }
    }
    return ap__arena_grow(arena);
}

void ap__arena_give(ap__ring_head *ring)
{
    ring->in_use = 0;
}

uint64_t ap__arena_stored(const ap__arena *arena)
{
    uint64_t slots = atomic_load_explicit(&arena->head->slot_count, memory_order_acquire);

    return arena->kind == AP_ARENA_FILE ? AP_ARENA_HEAD_BYTES + slots * arena->head->slot_stride
                                        : 0;
}

void ap__arena_close(ap__arena *arena, bool keep, bool leak)
{
    uint32_t n = 0;

    if (arena->head == NULL) {
        return;
    }
    n = atomic_load_explicit(&arena->head->slot_count, memory_order_relaxed);
    if (!leak) {
        for (uint32_t i = 0; i < n; i++) {
            munmap(arena->slots[i], arena->head->slot_stride);
        }
        munmap(arena->head, AP_ARENA_HEAD_BYTES);
    }
    arena->head = NULL;
    if (keep && arena->fd >= 0) {
        if (ap__arena_fd_ours(arena)) {
            close(arena->fd);
        }
        arena->fd = -1;
        return;
    }
    ap__drop_backing(arena);
}
