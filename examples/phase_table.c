/* SPDX-License-Identifier: Apache-2.0 */
#include "phase_table.h"

#include <dirent.h>
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAGIC 0x5A5Au
#define RECORD_LEVEL 20500u /* msproftx */
#define BAR_CELLS 20

enum { EVENT_MARK = 0, EVENT_PUSH_POP = 1, EVENT_RANGE = 2, EVENT_MARK_EX = 3 };

/* A record of host/data/(un)aging.additional.msproftx.slice_*: little-endian, packed. */
typedef struct __attribute__((packed)) tx_record {
    uint16_t magic;
    uint16_t level;
    uint32_t type;
    uint32_t unused_thread;
    uint32_t data_length;
    uint64_t unused_time;
    uint16_t info_type;
    uint16_t segment;
    uint32_t reserved;
    uint16_t tx_magic;
    uint16_t tx_tag;
    uint32_t process;
    uint32_t thread;
    uint32_t category;
    uint32_t event;
    int32_t payload_type;
    uint64_t payload;
    uint64_t start;
    uint64_t end;
    uint64_t mark_id;
    uint64_t domain;
    int32_t message_type;
    char message[156];
} tx_record;
_Static_assert(sizeof(tx_record) == 256, "size of a record");
_Static_assert(offsetof(tx_record, event) == 48, "offset of the event type");
_Static_assert(offsetof(tx_record, start) == 64, "offset of the start time");
_Static_assert(offsetof(tx_record, message) == 100, "offset of the message");

#define NONE SIZE_MAX

/* Of a push and pop, or of a range. */
typedef struct span {
    uint64_t start;
    uint64_t end;
    size_t parent; /* the span it was pushed in; NONE: top level */
    size_t before; /* the span of this thread that ended before and has no parent yet */
    uint32_t name;
    bool range;
    int row;
} span;

typedef struct thread {
    uint32_t id;
    size_t last; /* span that ended last and has no parent yet */
} thread;

typedef struct row {
    int parent; /* -1: top level */
    uint32_t name;
    bool range;
    uint64_t count;
    uint64_t total;
    uint64_t min;
    uint64_t max;
    uint64_t first; /* earliest start: rows are printed in this order */
} row;

typedef struct table {
    span *spans; /* each after those within it, for it is popped, and so recorded, later */
    size_t span_count, span_room;
    thread *threads;
    size_t thread_count, thread_room;
    char **names;
    size_t name_count, name_room;
    row *rows;
    size_t row_count, row_room;
    uint64_t marks;
    uint64_t damaged;
    double ns_per_unit; /* of start and end */
} table;

typedef struct layout {
    const char *bar[9]; /* 0 to 8 eighths of a cell */
    const char *micro;
} layout;

static const layout utf8_layout = {{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}, "µs"};
static const layout ascii_layout = {{"", "", "", "", "#", "#", "#", "#", "#"}, "us"};

/* Room for one more element of `size` bytes; false when memory is short. */
static bool make_room(void **array, size_t count, size_t *room, size_t size)
{
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *grown = NULL;

    if (count < *room) {
        return true;
    }
    grown = realloc(*array, wanted * size);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *room = wanted;
    return true;
}

char *phase_table_find(const char *output)
{
    DIR *dir = opendir(output);
    struct dirent *entry = NULL;
    unsigned long long newest = 0;
    long newest_number = -1;
    char *path = NULL;

    if (dir == NULL) {
        return NULL;
    }
    while ((entry = readdir(dir)) != NULL) {
        /* PROF_<number of the Start>_<local time to the millisecond>_<pid><8 letters> */
        unsigned long long when = 0;
        long number = 0;
        long pid = 0;

        if (sscanf(entry->d_name, "PROF_%6ld_%17llu_%8ld", &number, &when, &pid) == 3 &&
            pid == (long)getpid() &&
            (when > newest || (when == newest && number > newest_number))) {
            size_t size = strlen(output) + strlen(entry->d_name) + 2;
            char *found = malloc(size);

            if (found == NULL) {
                break;
            }
            snprintf(found, size, "%s/%s", output, entry->d_name);
            free(path);
            path = found;
            newest = when;
            newest_number = number;
        }
    }
    closedir(dir);
    return path;
}

/* Times are nanoseconds, unless host/info.json states the frequency of a counter in MHz. */
static double read_time_unit(const char *prof_dir)
{
    static const char key[] = "\"Frequency\"";
    char path[PATH_MAX];
    char text[65536];
    size_t length = 0;
    FILE *file = NULL;
    char *value = NULL;
    double mhz = 0.0;

    snprintf(path, sizeof(path), "%s/host/info.json", prof_dir);
    file = fopen(path, "re");
    if (file == NULL) {
        return 1.0;
    }
    length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    value = strstr(text, key);
    if (value != NULL) {
        value += sizeof(key) - 1;
        mhz = strtod(value + strspn(value, " :\""), NULL);
    }
    return mhz > 0.0 ? 1000.0 / mhz : 1.0;
}

/* The number of a name, NONE when memory is short. */
static size_t intern(table *t, const tx_record *record)
{
    char name[sizeof(record->message)];

    memcpy(name, record->message, sizeof(name));
    name[sizeof(name) - 1] = '\0';
    for (char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F) {
            *c = '?'; /* nothing that would move the cursor of a terminal */
        }
    }
    for (size_t i = 0; i < t->name_count; i++) {
        if (strcmp(t->names[i], name) == 0) {
            return i;
        }
    }
    if (!make_room((void **)&t->names, t->name_count, &t->name_room, sizeof(*t->names))) {
        return NONE;
    }
    t->names[t->name_count] = strdup(name);
    return t->names[t->name_count] == NULL ? NONE : t->name_count++;
}

static thread *find_thread(table *t, uint32_t id)
{
    for (size_t i = 0; i < t->thread_count; i++) {
        if (t->threads[i].id == id) {
            return &t->threads[i];
        }
    }
    if (!make_room((void **)&t->threads, t->thread_count, &t->thread_room, sizeof(*t->threads))) {
        return NULL;
    }
    t->threads[t->thread_count] = (thread){id, NONE};
    return &t->threads[t->thread_count++];
}

/* Makes the newest span the parent of those that its thread began after it. Their middles are
 * looked at: the edges of nested spans may be closer together than the clock is exact. */
static bool adopt(table *t, uint32_t id)
{
    size_t newest = t->span_count - 1;
    span *s = &t->spans[newest];
    thread *owner = find_thread(t, id);

    if (owner == NULL) {
        return false;
    }
    while (owner->last != NONE) {
        span *inner = &t->spans[owner->last];
        uint64_t middle = inner->start + (inner->end - inner->start) / 2;

        if (middle <= s->start || middle > s->end) {
            break;
        }
        inner->parent = newest;
        owner->last = inner->before;
    }
    s->before = owner->last;
    owner->last = newest;
    return true;
}

static bool add_record(table *t, const tx_record *record)
{
    size_t name = 0;

    if (record->magic != RECORD_MAGIC || record->level != RECORD_LEVEL ||
        record->event > EVENT_MARK_EX || record->end < record->start) {
        t->damaged++;
        return true;
    }
    if (record->event == EVENT_MARK || record->event == EVENT_MARK_EX) {
        t->marks++;
        return true;
    }
    name = intern(t, record);
    if (name == NONE ||
        !make_room((void **)&t->spans, t->span_count, &t->span_room, sizeof(*t->spans))) {
        return false;
    }
    t->spans[t->span_count] = (span){
        .start = record->start,
        .end = record->end,
        .parent = NONE,
        .before = NONE,
        .name = (uint32_t)name,
        .range = record->event == EVENT_RANGE,
    };
    t->span_count++;
    return record->event == EVENT_RANGE || adopt(t, record->thread);
}

static bool read_slice(table *t, const char *path)
{
    tx_record records[64];
    FILE *file = fopen(path, "re");
    size_t bytes = 0;
    bool ok = false;

    if (file == NULL) {
        return false;
    }
    while ((bytes = fread(records, 1, sizeof(records), file)) > 0) {
        for (size_t i = 0; i < bytes / sizeof(tx_record); i++) {
            if (!add_record(t, &records[i])) {
                errno = ENOMEM;
                goto out;
            }
        }
        t->damaged += bytes % sizeof(tx_record) != 0;
    }
    ok = ferror(file) == 0;
out:
    fclose(file);
    return ok;
}

/* <aging|unaging>.additional.msproftx.slice_<number> */
static bool is_slice(const char *name)
{
    static const char middle[] = ".additional.msproftx.slice_";
    const char *number = strstr(name, middle);

    if (number == NULL) {
        return false;
    }
    number += sizeof(middle) - 1;
    return *number != '\0' && number[strspn(number, "0123456789")] == '\0';
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    size_t length_a = strlen((*a)->d_name);
    size_t length_b = strlen((*b)->d_name);

    if (length_a != length_b) {
        return length_a < length_b ? -1 : 1;
    }
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int slices_only(const struct dirent *entry)
{
    return is_slice(entry->d_name);
}

static bool read_directory(table *t, const char *prof_dir)
{
    char path[PATH_MAX];
    struct dirent **slices = NULL;
    int count = 0;
    bool ok = true;

    t->ns_per_unit = read_time_unit(prof_dir);
    snprintf(path, sizeof(path), "%s/host/data", prof_dir);
    count = scandir(path, &slices, slices_only, by_number);
    if (count < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (ok) {
            snprintf(path, sizeof(path), "%s/host/data/%s", prof_dir, slices[i]->d_name);
            ok = read_slice(t, path);
            if (!ok) {
                fprintf(stderr, "%s: %s\n", path, strerror(errno));
            }
        }
        free(slices[i]);
    }
    free(slices);
    return ok;
}

/* Adds a span to its row; returns the row's number, -1 when memory is short. */
static int add_to_row(table *t, const span *s, int parent)
{
    uint64_t time = s->end - s->start;
    row *r = NULL;
    size_t i = 0;

    while (i < t->row_count && (t->rows[i].parent != parent || t->rows[i].name != s->name ||
                                t->rows[i].range != s->range)) {
        i++;
    }
    if (i == t->row_count) {
        if (i == INT_MAX ||
            !make_room((void **)&t->rows, t->row_count, &t->row_room, sizeof(*t->rows))) {
            return -1;
        }
        t->rows[t->row_count++] = (row){.parent = parent,
                                        .name = s->name,
                                        .range = s->range,
                                        .min = UINT64_MAX,
                                        .first = s->start};
    }
    r = &t->rows[i];
    r->count++;
    r->total += time;
    r->min = time < r->min ? time : r->min;
    r->max = time > r->max ? time : r->max;
    r->first = s->start < r->first ? s->start : r->first;
    return (int)i;
}

/* Sums the spans up, parents first. */
static bool make_rows(table *t)
{
    for (size_t i = t->span_count; i-- > 0;) {
        span *s = &t->spans[i];

        s->row = add_to_row(t, s, s->parent == NONE ? -1 : t->spans[s->parent].row);
        if (s->row < 0) {
            return false;
        }
    }
    return true;
}

static int by_first(const void *left, const void *right)
{
    const row *a = *(row *const *)left;
    const row *b = *(row *const *)right;

    return a->first < b->first ? -1 : a->first > b->first;
}

static void print_bar(FILE *out, const layout *look, double share)
{
    int eighths = (int)(share * BAR_CELLS * 8 + 0.5);

    for (; eighths > 0; eighths -= 8) {
        fputs(look->bar[eighths >= 8 ? 8 : eighths], out);
    }
}

typedef struct printer {
    FILE *out;
    const table *t;
    row **sorted;
    const layout *look;
    const char *waiting;
    double work; /* the whole of which rows have shares */
    int name_width;
} printer;

static bool is_waiting(const printer *p, const row *r)
{
    return p->waiting != NULL && r->range && strcmp(p->t->names[r->name], p->waiting) == 0;
}

static void print_children(const printer *p, int parent, int depth)
{
    const double micro = p->t->ns_per_unit / 1e3;

    for (size_t i = 0; i < p->t->row_count; i++) {
        const row *r = p->sorted[i];
        double total = (double)r->total;

        if (r->parent != parent) {
            continue;
        }
        fprintf(p->out, "%*s%-*s %8llu %10.2f %9.2f %9.2f %9.2f ", depth * 2, "",
                p->name_width - depth * 2, p->t->names[r->name], (unsigned long long)r->count,
                total * micro / 1e3, total * micro / (double)r->count, (double)r->min * micro,
                (double)r->max * micro);
        if (is_waiting(p, r)) {
            fputs("waiting", p->out);
        } else {
            double share = p->work > 0.0 ? total / p->work : 0.0;

            fprintf(p->out, "%5.1f %% ", 100.0 * share);
            print_bar(p->out, p->look, share);
        }
        fputc('\n', p->out);
        print_children(p, (int)(r - p->t->rows), depth + 1);
    }
}

static bool print_rows(FILE *out, const table *t, const char *waiting)
{
    printer p = {.out = out, .t = t, .waiting = waiting, .name_width = 16};

    p.look = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &utf8_layout : &ascii_layout;
    p.sorted = malloc((t->row_count + 1) * sizeof(*p.sorted));
    if (p.sorted == NULL) {
        return false;
    }
    for (size_t i = 0; i < t->row_count; i++) {
        const row *r = &t->rows[i];
        int width = (int)strlen(t->names[r->name]);

        for (int up = r->parent; up >= 0; up = t->rows[up].parent) {
            width += 2;
        }
        p.name_width = width > p.name_width ? width : p.name_width;
        p.work += r->parent < 0 && !is_waiting(&p, r) ? (double)r->total : 0.0;
        p.sorted[i] = &t->rows[i];
    }
    qsort(p.sorted, t->row_count, sizeof(*p.sorted), by_first);
    fprintf(out, "%-*s %8s %10s    avg %s    min %s    max %s   share\n", p.name_width, "phase",
            "count", "total ms", p.look->micro, p.look->micro, p.look->micro);
    print_children(&p, -1, 0);
    if (t->marks > 0) {
        fprintf(out, "%-*s %8llu\n", p.name_width, "(marks)", (unsigned long long)t->marks);
    }
    free(p.sorted);
    return true;
}

long phase_table_print(FILE *out, const char *prof_dir, const char *waiting)
{
    table t = {0};
    long records = -1;

    if (!read_directory(&t, prof_dir)) {
        goto out;
    }
    if (!make_rows(&t) || !print_rows(out, &t, waiting)) {
        fprintf(stderr, "%s: no memory for %zu records\n", prof_dir, t.span_count);
        goto out;
    }
    if (t.damaged > 0) {
        fprintf(stderr, "%s: %llu damaged or incomplete records left out\n", prof_dir,
                (unsigned long long)t.damaged);
    }
    records = (long)(t.span_count + t.marks);
out:
    for (size_t i = 0; i < t.name_count; i++) {
        free(t.names[i]);
    }
    free(t.names);
    free(t.spans);
    free(t.threads);
    free(t.rows);
    return records;
}
