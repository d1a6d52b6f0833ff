/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "analysis/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/own_thread.h"

#define AP_MAPPED_FROM ((size_t)1 << 20) /* smaller ones are malloc's */
#define AP_TRIM_US 10000u

typedef struct ap__bulk {
    struct ap__bulk *next;
    void *at;
    size_t bytes;
    int fd; /* -1: anonymous memory */
} ap__bulk;

static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static ap__bulk *ap__all; /* mapped arrays */
static size_t ap__memory = AP_BULK_MEMORY;
static size_t ap__anonymous; /* bytes */
static size_t ap__filed;
static bool ap__trimming;

void ap__bulk_set_memory(size_t bytes)
{
    pthread_mutex_lock(&ap__lock);
    ap__memory = bytes != 0 ? bytes : AP_BULK_MEMORY;
    pthread_mutex_unlock(&ap__lock);
}

size_t ap__bulk_in_files(void)
{
    size_t bytes = 0;

    pthread_mutex_lock(&ap__lock);
    bytes = ap__filed;
    pthread_mutex_unlock(&ap__lock);
    return bytes;
}

/* ---- residence ---- */

static size_t ap__resident(int statm)
{
    char text[128];
    unsigned long resident = 0;
    ssize_t n = pread(statm, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%*u %lu", &resident) != 1) {
        return 0;
    }
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* What is let go stays in the page cache, which the kernel shrinks as it needs. */
void ap__bulk_let_go(void)
{
    static int statm = -2;

    pthread_mutex_lock(&ap__lock);
    if (statm == -2) {
        statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    }
    if (ap__filed != 0 && statm >= 0 && ap__resident(statm) >= AP_BULK_RESIDENT) {
        for (ap__bulk *b = ap__all; b != NULL; b = b->next) {
            if (b->fd >= 0) {
                (void)madvise(b->at, b->bytes, MADV_DONTNEED);
            }
        }
    }
    pthread_mutex_unlock(&ap__lock);
}

static void *ap__trim(void *argument)
{
    (void)argument;
    for (;;) {
        (void)usleep(AP_TRIM_US);
        ap__bulk_let_go();
    }
    return NULL;
}

static void ap__start_trimming(void)
{
    if (!ap__trimming) {
        ap__trimming = ap__own_thread(NULL, "aclprof-trim", ap__trim, NULL) == 0;
    }
}

/* ---- mappings ---- */

static int ap__open_file(void)
{
    const char *const places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    int fd = -1;

    for (size_t i = 0; fd < 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        char name[4096];

        if (places[i] == NULL || places[i][0] == '\0') {
            continue;
        }
        fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 &&
            snprintf(name, sizeof(name), "%s/aclprof.XXXXXX", places[i]) < (int)sizeof(name)) {
            fd = mkostemp(name, O_CLOEXEC);
            if (fd >= 0) {
                (void)unlink(name);
            }
        }
    }
    return fd;
}

static int ap__write_all(int fd, const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t n = pwrite(fd, from + at, bytes - at, (off_t)at);

        if (n <= 0 && errno != EINTR) {
            return n < 0 ? errno : ENOSPC;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* The array's mapping at the new size; b->at NULL: a first one. Space in a file is taken at once:
 * a full disk is an error here and no SIGBUS later. */
static int ap__resize(ap__bulk *b, size_t bytes)
{
    bool to_file = b->fd < 0 && ap__anonymous - b->bytes + bytes > ap__memory;
    void *at = MAP_FAILED;
    int fd = b->fd;

    if (fd < 0 && !to_file) {
        at = b->at == NULL ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                           : mremap(b->at, b->bytes, bytes, MREMAP_MAYMOVE);
        if (at == MAP_FAILED) {
            return ENOMEM;
        }
        ap__anonymous += bytes - b->bytes;
        goto done;
    }
    fd = to_file ? ap__open_file() : fd;
    if (fd < 0 || posix_fallocate(fd, 0, (off_t)bytes) != 0) {
        goto out;
    }
    if (!to_file) {
        at = mremap(b->at, b->bytes, bytes, MREMAP_MAYMOVE);
    } else if (b->at == NULL || ap__write_all(fd, b->at, b->bytes) == 0) {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (at == MAP_FAILED) {
        goto out;
    }
    if (to_file && b->at != NULL) {
        (void)munmap(b->at, b->bytes);
        ap__anonymous -= b->bytes;
    }
    ap__filed += to_file ? bytes : bytes - b->bytes;
    b->fd = fd;
    ap__start_trimming();
done:
    b->at = at;
    b->bytes = bytes;
    return 0;
out:
    if (to_file && fd >= 0) {
        (void)close(fd);
    }
    return ENOMEM;
}

static ap__bulk *ap__find(const void *at)
{
    ap__bulk *b = ap__all;

    while (b != NULL && b->at != at) {
        b = b->next;
    }
    return b;
}

static void *ap__new_mapping(size_t bytes)
{
    ap__bulk *b = calloc(1, sizeof(*b));

    if (b == NULL) {
        return NULL;
    }
    b->fd = -1;
    if (ap__resize(b, bytes) != 0) {
        free(b);
        return NULL;
    }
    b->next = ap__all;
    ap__all = b;
    return b->at;
}

/* From malloc to a mapping, or a mapping made larger. */
static void *ap__grow(void *array, size_t old_bytes, size_t bytes)
{
    ap__bulk *b = NULL;
    void *at = NULL;

    if (bytes < AP_MAPPED_FROM) {
        return realloc(array, bytes);
    }
    pthread_mutex_lock(&ap__lock);
    b = array != NULL && old_bytes >= AP_MAPPED_FROM ? ap__find(array) : NULL;
    if (b != NULL) {
        at = ap__resize(b, bytes) == 0 ? b->at : NULL;
    } else {
        at = ap__new_mapping(bytes);
        if (at != NULL && array != NULL) {
            memcpy(at, array, old_bytes);
            free(array);
        }
    }
    pthread_mutex_unlock(&ap__lock);
    return at;
}

static uint32_t ap__room(uint32_t count)
{
    uint32_t room = 1;

    while (room < count) {
        room *= 2;
    }
    return room;
}

void *ap__bulk_push(void **array, uint32_t *count, size_t element)
{
    ap__bulk_step();
    if ((*count & (*count - 1)) == 0) { /* room is the next power of two: nothing to remember */
        size_t old = *count == 0 ? 0 : (size_t)*count * element;
        void *bigger =
            *count < 1u << 31 ? ap__grow(*array, old, *count == 0 ? element : old * 2) : NULL;

        if (bigger == NULL) {
            return NULL;
        }
        *array = bigger;
    }
    return (char *)*array + element * (*count)++;
}

void *ap__bulk_make(uint32_t count, size_t element)
{
    size_t bytes = 0;

    if (count > 1u << 31) {
        return NULL;
    }
    bytes = ap__room(count) * element;
    return bytes < AP_MAPPED_FROM ? calloc(1, bytes) : ap__grow(NULL, 0, bytes);
}

void ap__bulk_free(void *array)
{
    ap__bulk **at = &ap__all;
    ap__bulk *b = NULL;

    if (array == NULL) {
        return;
    }
    pthread_mutex_lock(&ap__lock);
    while (*at != NULL && (*at)->at != array) {
        at = &(*at)->next;
    }
    b = *at;
    if (b != NULL) {
        *at = b->next;
        (void)munmap(b->at, b->bytes);
        if (b->fd >= 0) {
            (void)close(b->fd);
            ap__filed -= b->bytes;
        } else {
            ap__anonymous -= b->bytes;
        }
    }
    pthread_mutex_unlock(&ap__lock);
    if (b == NULL) {
        free(array);
    }
    free(b);
}
