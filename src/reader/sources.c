/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ap__slice_mark[] = ".slice_";

typedef struct ap__listed {
    char *source;
    ap__source_slice slice;
} ap__listed;

typedef struct ap__listing {
    ap__listed *list;
    size_t count;
    size_t room;
} ap__listing;

bool ap__source_name_parse(const char *name, size_t *source_length, uint32_t *number)
{
    const char *mark = NULL;
    uint64_t value = 0;

    for (const char *p = strstr(name, ap__slice_mark); p != NULL;
         p = strstr(p + 1, ap__slice_mark)) {
        mark = p;
    }
    if (mark == NULL || mark == name) {
        return false;
    }
    *source_length = (size_t)(mark - name);
    mark += sizeof(ap__slice_mark) - 1;
    if (*mark == '\0' || (mark[0] == '0' && mark[1] != '\0')) {
        return false;
    }
    for (; *mark != '\0'; mark++) {
        if (*mark < '0' || *mark > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(*mark - '0');
        if (value > UINT32_MAX) {
            return false;
        }
    }
    *number = (uint32_t)value;
    return true;
}

bool ap__source_name_make(char *buffer, size_t size, const char *source, uint32_t number)
{
    int n = snprintf(buffer, size, "%s%s%u", source, ap__slice_mark, number);

    return n > 0 && (size_t)n < size;
}

uint32_t ap__source_record_size(ap__source_kind kind)
{
    switch (kind) {
    case AP_SOURCE_API_EVENT:
        return 40;
    case AP_SOURCE_COMPACT:
        return 64;
    case AP_SOURCE_ADDITIONAL:
        return 256;
    default:
        return 0;
    }
}

static bool ap__is_dictionary(const char *tag)
{
    return strcmp(tag, "hash_dic") == 0 || strcmp(tag, "type_info_dic") == 0 ||
           strcmp(tag, "data_format_dic") == 0;
}

static void ap__classify(ap__source *source)
{
    static const struct {
        const char *prefix;
        ap__source_kind kind;
    } kinds[] = {
        {"api_event.", AP_SOURCE_API_EVENT},
        {"compact.", AP_SOURCE_COMPACT},
        {"additional.", AP_SOURCE_ADDITIONAL},
        {"variable.", AP_SOURCE_VARIABLE},
    };
    const char *rest = source->name;

    source->kind = AP_SOURCE_OTHER;
    source->tag = source->name;
    if (strncmp(rest, "aging.", 6) == 0) {
        source->aging = true;
        rest += 6;
    } else if (strncmp(rest, "unaging.", 8) == 0) {
        rest += 8;
    } else {
        return;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t n = strlen(kinds[i].prefix);

        if (strncmp(rest, kinds[i].prefix, n) == 0 && rest[n] != '\0') {
            source->kind = kinds[i].kind;
            source->tag = rest + n;
            if (ap__is_dictionary(source->tag)) {
                source->kind = AP_SOURCE_DICTIONARY;
            }
            return;
        }
    }
}

static int ap__compare_listed(const void *a, const void *b)
{
    const ap__listed *x = a;
    const ap__listed *y = b;
    int c = strcmp(x->source, y->source);

    if (c != 0) {
        return c;
    }
    return x->slice.number < y->slice.number ? -1 : x->slice.number > y->slice.number;
}

/* 0 or errno */
static int ap__list_one(int dirfd, const char *name, ap__listing *listing, ap__notes *notes)
{
    struct stat st;
    size_t source_length = 0;
    uint32_t number = 0;
    ap__listed *entry = NULL;

    if (!ap__source_name_parse(name, &source_length, &number)) {
        return 0;
    }
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return 0; /* gone since: aged */
    }
    if (!S_ISREG(st.st_mode)) {
        ap__note(notes, "data/%s is not a file: not read", name);
        return 0;
    }
    if (listing->count == listing->room) {
        size_t room = listing->room != 0 ? listing->room * 2 : 64;
        ap__listed *bigger = realloc(listing->list, room * sizeof(*bigger));

        if (bigger == NULL) {
            return ENOMEM;
        }
        listing->list = bigger;
        listing->room = room;
    }
    entry = &listing->list[listing->count];
    entry->source = strndup(name, source_length);
    if (entry->source == NULL) {
        return ENOMEM;
    }
    entry->slice.number = number;
    entry->slice.size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    listing->count++;
    return 0;
}

static int ap__list_all(int dirfd, ap__listing *listing, ap__notes *notes)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = NULL;
    struct dirent *entry = NULL;
    int rc = 0;

    if (fd < 0) {
        return errno;
    }
    dir = fdopendir(fd);
    if (dir == NULL) {
        rc = errno;
        close(fd);
        return rc;
    }
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        rc = ap__list_one(dirfd, entry->d_name, listing, notes);
    }
    closedir(dir);
    return rc;
}

/* The run of entries of one source, from `first` up to `end`. Takes over the first one's name. */
static int ap__make_source(ap__source *source, ap__listed *first, size_t count)
{
    source->slices = malloc(count * sizeof(*source->slices));
    if (source->slices == NULL) {
        return ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        source->slices[i] = first[i].slice;
    }
    source->slice_count = (uint32_t)count;
    source->name = first->source;
    first->source = NULL;
    ap__classify(source);
    return 0;
}

static int ap__group(ap__listing *listing, ap__sources *sources)
{
    size_t i = 0;
    int rc = 0;

    sources->list = calloc(listing->count != 0 ? listing->count : 1, sizeof(*sources->list));
    if (sources->list == NULL) {
        return ENOMEM;
    }
    while (rc == 0 && i < listing->count) {
        size_t end = i + 1;

        while (end < listing->count &&
               strcmp(listing->list[end].source, listing->list[i].source) == 0) {
            end++;
        }
        rc = ap__make_source(&sources->list[sources->count], &listing->list[i], end - i);
        if (rc == 0) {
            sources->count++;
        }
        i = end;
    }
    return rc;
}

int ap__sources_list(int dirfd, ap__sources *sources, ap__notes *notes)
{
    ap__listing listing = {NULL, 0, 0};
    int rc = ap__list_all(dirfd, &listing, notes);

    memset(sources, 0, sizeof(*sources));
    if (rc == 0) {
        if (listing.count > 1) {
            qsort(listing.list, listing.count, sizeof(*listing.list), ap__compare_listed);
        }
        rc = ap__group(&listing, sources);
    }
    for (size_t i = 0; i < listing.count; i++) {
        free(listing.list[i].source);
    }
    free(listing.list);
    if (rc != 0) {
        ap__sources_free(sources);
    }
    return rc;
}

void ap__sources_free(ap__sources *sources)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        free(sources->list[i].name);
        free(sources->list[i].slices);
    }
    free(sources->list);
    memset(sources, 0, sizeof(*sources));
}

const ap__source *ap__sources_find(const ap__sources *sources, const char *name)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        if (strcmp(sources->list[i].name, name) == 0) {
            return &sources->list[i];
        }
    }
    return NULL;
}
