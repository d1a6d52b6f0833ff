/* SPDX-License-Identifier: Apache-2.0 */
#include "read_back.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *copy_text(const char *text, size_t length)
{
    char *copy = NULL;

    if (text == NULL) {
        return NULL;
    }
    copy = malloc(length + 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void add_stamp(read_back *back, size_t *room, const ap__stamp_record *stamp)
{
    ap__stamp_record *to = NULL;

    if (back->count == *room) {
        *room = *room != 0 ? *room * 2 : 1024;
        back->stamps = realloc(back->stamps, *room * sizeof(*back->stamps));
        if (back->stamps == NULL) {
            abort();
        }
    }
    to = &back->stamps[back->count++];
    *to = *stamp;
    to->message = copy_text(stamp->message, stamp->message_length);
    to->tag = copy_text(stamp->tag, stamp->tag != NULL ? strlen(stamp->tag) : 0);
    to->call_stack =
        copy_text(stamp->call_stack, stamp->call_stack != NULL ? strlen(stamp->call_stack) : 0);
}

read_back *read_back_open(const char *dir)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);
    read_back *back = NULL;
    ap__stamp_record stamp;
    size_t room = 0;

    if (reader == NULL) {
        fprintf(stderr, "read_back: %s\n", error.text);
        return NULL;
    }
    back = calloc(1, sizeof(*back));
    if (back == NULL) {
        abort();
    }
    back->reader = reader;
    while (ap__reader_next_stamp(reader, &stamp)) {
        add_stamp(back, &room, &stamp);
    }
    return back;
}

void read_back_close(read_back *back)
{
    if (back == NULL) {
        return;
    }
    for (size_t i = 0; i < back->count; i++) {
        free((char *)back->stamps[i].message);
        free((char *)back->stamps[i].tag);
        free((char *)back->stamps[i].call_stack);
    }
    free(back->stamps);
    ap__reader_close(back->reader);
    free(back);
}

static bool matches(const ap__stamp_record *stamp, const char *message)
{
    return message == NULL || strcmp(stamp->message, message) == 0;
}

size_t read_back_count(const read_back *back, const char *message)
{
    size_t n = 0;

    for (size_t i = 0; i < back->count; i++) {
        n += matches(&back->stamps[i], message);
    }
    return n;
}

size_t read_back_count_event(const read_back *back, const char *message, uint32_t event)
{
    size_t n = 0;

    for (size_t i = 0; i < back->count; i++) {
        n += back->stamps[i].event == event && matches(&back->stamps[i], message);
    }
    return n;
}

const ap__stamp_record *read_back_find(const read_back *back, const char *message, size_t n)
{
    for (size_t i = 0; i < back->count; i++) {
        if (matches(&back->stamps[i], message) && n-- == 0) {
            return &back->stamps[i];
        }
    }
    return NULL;
}

bool read_back_has_note(const read_back *back, const char *text)
{
    const char *note = NULL;

    for (uint32_t i = 0; (note = ap__reader_note(back->reader, i)) != NULL; i++) {
        if (strstr(note, text) != NULL) {
            return true;
        }
    }
    return false;
}

void read_back_print_notes(const read_back *back)
{
    const char *note = NULL;

    for (uint32_t i = 0; (note = ap__reader_note(back->reader, i)) != NULL; i++) {
        fprintf(stderr, "read_back: note: %s\n", note);
    }
}

static bool total_balances(const aclprofStats *t)
{
    uint64_t lost = t->lostRingFull + t->lostNoRing + t->lostReentrant + t->lostDisk +
                    t->lostAged + t->lostDamaged;

    if (lost != t->lostTotal || t->emitted != t->written + lost || t->pending != 0) {
        fprintf(stderr,
                "read_back: emitted %" PRIu64 " written %" PRIu64 " lost %" PRIu64
                " (total %" PRIu64 ") pending %" PRIu64 "\n",
                t->emitted, t->written, lost, t->lostTotal, t->pending);
        return false;
    }
    return true;
}

static bool thread_balances(const ap__thread_account *t)
{
    uint64_t lost = t->lost_full + t->lost_no_ring + t->lost_reentrant + t->lost_disk;

    if (t->emitted != t->written + lost) {
        fprintf(stderr,
                "read_back: thread %u: emitted %" PRIu64 " written %" PRIu64 " lost %" PRIu64 "\n",
                t->tid, t->emitted, t->written, lost);
        return false;
    }
    return true;
}

bool read_back_account_balances(const read_back *back)
{
    const ap__reader_account *account = ap__reader_account_of(back->reader);
    bool good = account != NULL;

    if (!good) {
        fprintf(stderr, "read_back: no account\n");
        return false;
    }
    good = total_balances(&account->total);
    for (uint32_t i = 0; i < account->thread_count; i++) {
        good = thread_balances(&account->threads[i]) && good;
    }
    if (account->total.written != back->count) {
        fprintf(stderr, "read_back: the account says %" PRIu64 " written, %zu were read\n",
                account->total.written, back->count);
        good = false;
    }
    return good;
}

char *read_back_prof_path(const char *dir)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);
    char *path = NULL;

    if (reader != NULL) {
        path = strdup(ap__reader_path(reader));
        ap__reader_close(reader);
    }
    return path;
}
