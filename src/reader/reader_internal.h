/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind reader.h share. */
#ifndef AP_READER_READER_INTERNAL_H_
#define AP_READER_READER_INTERNAL_H_

#include "format/wire_host.h"
#include "reader/arena_view.h"
#include "reader/dictionaries.h"
#include "reader/notes.h"
#include "reader/reader.h"

#define AP_TX_SOURCE "aging.additional.msproftx" /* where this library's stamps go */
#define AP_JOINS_MAX 64u

/* A message whose later segments are still to come. */
typedef struct ap__join {
    ap__raw_record first; /* blobs unset */
    ap__wire_tx tx;       /* of the first segment */
    uint32_t next_segment;
    char *text;
    size_t length;
    size_t room;
} ap__join;

typedef struct ap__stamp_reader {
    ap__records *records; /* NULL: not begun */
    bool ended;
    bool held; /* one record read ahead, in held_raw and held_tx */
    ap__raw_record held_raw;
    ap__wire_tx held_tx;
    ap__join joins[AP_JOINS_MAX]; /* oldest first */
    uint32_t join_count;
    char *joined; /* text of the join given out last */
    ap__wire_tx current;
    char message[AP_TX_MESSAGE_BYTES * 3 + 1]; /* repaired UTF-8 may be longer */
} ap__stamp_reader;

struct ap__reader {
    char *path;
    int prof_fd;
    int host_fd;
    int data_fd; /* -1: none */
    int ext_fd;  /* -1: none */
    ap__reader_state state;
    ap__meta meta;
    ap__sources sources;
    ap__dictionaries dictionaries;
    ap__arena_view arena;
    ap__notes notes;
    ap__reader_account *account;
    bool aligned;
    ap__stamp_reader stamps;
};

/* Parses account.json of directory ext_fd. NULL when there is none or it is damaged (a note). */
ap__reader_account *ap__account_read(int ext_fd, ap__notes *notes);
/* cJSON keeps numbers as doubles: integers outside strings get quotes first, so that none loses
 * bits. Text without other numbers; NULL without memory. */
char *ap__quote_integers(const char *text, size_t length);
void ap__account_free(ap__reader_account *account);

#endif
