/* SPDX-License-Identifier: Apache-2.0 */
/* Which file of a name the loader would take, without asking it: it may be another machine's. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/doctor/doctor.h"

#define AP_CACHE_PATH "/etc/ld.so.cache"
#define AP_CACHE_MAGIC "glibc-ld.so.cache1.1"
#define AP_CACHE_MOST ((size_t)16 << 20)
#define AP_LIBRARY_MOST ((size_t)64 << 20)
#define AP_MARK "aclprofGetStats" /* a name that the core and both fronts export, nobody else */

#if defined(__aarch64__)
#define AP_MACHINE EM_AARCH64
#define AP_CACHE_FLAGS 0x0a03
#define AP_MULTIARCH "aarch64-linux-gnu"
#else
#define AP_MACHINE EM_X86_64
#define AP_CACHE_FLAGS 0x0303
#define AP_MULTIARCH "x86_64-linux-gnu"
#endif

typedef struct ap__cache_head { /* of glibc's file */
    char magic[20];
    uint32_t entries;
    uint32_t text_bytes;
    uint32_t unused[5];
} ap__cache_head;

typedef struct ap__cache_entry {
    int32_t flags;
    uint32_t key; /* offsets of texts, from the head */
    uint32_t value;
    uint32_t os_version;
    uint64_t hwcap;
} ap__cache_entry;

/* ---- what a file is ---- */

/* Whether the bytes are anywhere in the file. */
static bool ap__holds(int fd, const char *what)
{
    size_t keep = strlen(what) - 1;
    size_t room = (size_t)1 << 20;
    char *buffer = malloc(room);
    size_t used = 0;
    size_t total = 0;
    bool found = false;
    ssize_t n = 0;

    while (buffer != NULL && !found && total < AP_LIBRARY_MOST &&
           (n = pread(fd, buffer + used, room - used, (off_t)total)) > 0) {
        total += (size_t)n;
        used += (size_t)n;
        found = memmem(buffer, used, what, keep + 1) != NULL;
        if (used > keep) {
            memmove(buffer, buffer + used - keep, keep);
            used = keep;
        }
    }
    free(buffer);
    return found;
}

ap__doctor_kind ap__doctor_kind_of(const ap__doctor *d, const char *path)
{
    char below[PATH_MAX];
    Elf64_Ehdr head;
    struct stat st;
    ap__doctor_kind kind = AP_LIBRARY_NONE;
    int fd = -1;

    if (ap__doctor_path(d, path, below)) {
        fd = open(below, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }
    if (fd < 0) {
        return AP_LIBRARY_NONE;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        kind = AP_LIBRARY_OTHER;
        if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
            memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
            head.e_machine == AP_MACHINE) {
            kind = ap__holds(fd, AP_MARK) ? AP_LIBRARY_OURS : AP_LIBRARY_FOREIGN;
        }
    }
    close(fd);
    return kind;
}

/* ---- where it is ---- */

static bool ap__take(const ap__doctor *d, const char *directory, size_t length, const char *name,
                     const char *by, ap__doctor_library_file *out)
{
    int n = snprintf(out->path, sizeof(out->path), "%.*s%s%s", (int)length, directory,
                     length != 0 ? "/" : "./", name);
    ap__doctor_kind kind =
        n > 0 && n < (int)sizeof(out->path) ? ap__doctor_kind_of(d, out->path) : AP_LIBRARY_NONE;

    out->by = by;
    return kind == AP_LIBRARY_OURS || kind == AP_LIBRARY_FOREIGN;
}

static bool ap__in_path(const ap__doctor *d, const char *name, ap__doctor_library_file *out)
{
    const char *at = getenv("LD_LIBRARY_PATH");

    while (at != NULL) {
        size_t length = strcspn(at, ":;");

        if (length < PATH_MAX && ap__take(d, at, length, name, "LD_LIBRARY_PATH", out)) {
            return true;
        }
        at = at[length] != '\0' ? at + length + 1 : NULL;
    }
    return false;
}

/* A NUL-terminated text of the cache, or NULL. */
static const char *ap__cache_text(const char *cache, size_t bytes, uint32_t at)
{
    return at < bytes && memchr(cache + at, '\0', bytes - at) != NULL ? cache + at : NULL;
}

static bool ap__cache_search(const ap__doctor *d, const char *cache, size_t bytes, const char *name,
                             ap__doctor_library_file *out)
{
    ap__cache_head head;

    if (bytes < sizeof(head)) {
        return false;
    }
    memcpy(&head, cache, sizeof(head));
    for (size_t i = 0;
         i < head.entries && sizeof(head) + (i + 1) * sizeof(ap__cache_entry) <= bytes; i++) {
        ap__cache_entry e;
        const char *key = NULL;
        const char *value = NULL;

        memcpy(&e, cache + sizeof(head) + i * sizeof(e), sizeof(e));
        key = ap__cache_text(cache, bytes, e.key);
        value = ap__cache_text(cache, bytes, e.value);
        if (e.flags == AP_CACHE_FLAGS && key != NULL && value != NULL && strcmp(key, name) == 0 &&
            value[0] == '/' && strlen(value) < sizeof(out->path)) {
            ap__doctor_kind kind = ap__doctor_kind_of(d, value);

            (void)snprintf(out->path, sizeof(out->path), "%s", value);
            out->by = "ldconfig";
            if (kind == AP_LIBRARY_OURS || kind == AP_LIBRARY_FOREIGN) {
                return true;
            }
        }
    }
    return false;
}

static bool ap__in_cache(const ap__doctor *d, const char *name, ap__doctor_library_file *out)
{
    char below[PATH_MAX];
    struct stat st;
    char *cache = NULL;
    const char *begin = NULL;
    bool found = false;
    ssize_t n = 0;
    int fd = ap__doctor_path(d, AP_CACHE_PATH, below)
                 ? open(below, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                 : -1;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (size_t)st.st_size <= AP_CACHE_MOST) {
        cache = malloc((size_t)st.st_size);
    }
    if (cache != NULL && (n = pread(fd, cache, (size_t)st.st_size, 0)) > 0) {
        /* an older format may lie in front */
        begin = memmem(cache, (size_t)n, AP_CACHE_MAGIC, sizeof(AP_CACHE_MAGIC) - 1);
        found = begin != NULL &&
                ap__cache_search(d, begin, (size_t)n - (size_t)(begin - cache), name, out);
    }
    free(cache);
    if (fd >= 0) {
        close(fd);
    }
    return found;
}

bool ap__doctor_find(const ap__doctor *d, const char *name, ap__doctor_library_file *out)
{
    static const char *const system_directories[] = {
        "/lib/" AP_MULTIARCH, "/usr/lib/" AP_MULTIARCH, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    bool found = ap__in_path(d, name, out) || ap__in_cache(d, name, out);

    for (size_t i = 0; !found && i < sizeof(system_directories) / sizeof(system_directories[0]);
         i++) {
        found = ap__take(d, system_directories[i], strlen(system_directories[i]), name,
                         "a system directory", out);
    }
    return found;
}
