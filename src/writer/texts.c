/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/texts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "ring/shield.h"
#include "stamp/type_names.h"
#include "writer/uv_guard.h"

static pthread_mutex_t ap__sink_lock = PTHREAD_MUTEX_INITIALIZER;
static ap__dict *ap__hashes; /* all under the lock; NULL: no capture */
static ap__dict *ap__types;
static ap__dict *ap__formats;
static uint32_t ap__type_cursor;
static uint32_t ap__format_cursor;
static ap__ext_file *ap__names;
static uv_async_t *ap__wake;
static uint32_t ap__cursors[AP_INTERN_USES];

static void ap__enter(sigset_t *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
    pthread_mutex_lock(&ap__sink_lock);
}

static void ap__leave(const sigset_t *saved)
{
    pthread_mutex_unlock(&ap__sink_lock);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static void ap__flush_names(void)
{
    static const uint32_t kinds[AP_INTERN_USES] = {
        [AP_INTERN_NAME] = AP_EXT_NAME, [AP_INTERN_CATEGORY] = AP_EXT_CATEGORY};
    uint64_t id = 0;
    const char *text = NULL;
    size_t length = 0;

    for (uint32_t use = AP_INTERN_NAME; use <= AP_INTERN_CATEGORY; use++) {
        while (ap__intern_next(use, &ap__cursors[use], &id, &text, &length)) {
            (void)ap__ext_add_name(ap__names, kinds[use], id, text, length);
        }
    }
    (void)ap__ext_flush(ap__names);
}

static void ap__flush_hashes(void)
{
    uint64_t id = 0;
    const char *text = NULL;
    size_t length = 0;

    while (ap__intern_next(AP_INTERN_HASH, &ap__cursors[AP_INTERN_HASH], &id, &text, &length)) {
        (void)ap__dict_add_hash(ap__hashes, id, text, length);
    }
    (void)ap__dict_flush(ap__hashes);
}

int ap__texts_types_into(ap__dict *types)
{
    uint32_t cursor = 0;
    uint16_t level = 0;
    uint32_t type = 0;
    const char *name = NULL;
    int err = 0;

    while (err == 0 && ap__type_next(&cursor, &level, &type, &name)) {
        err = ap__dict_add_type(types, level, type, ap__type_name(level, type)); /* the last one */
    }
    return err;
}

static void ap__flush_types(void)
{
    uint16_t level = 0;
    uint32_t type = 0;
    const char *name = NULL;

    while (ap__type_next(&ap__type_cursor, &level, &type, &name)) {
        (void)ap__dict_add_type(ap__types, level, type, name);
    }
    while (ap__format_next(&ap__format_cursor, &level, &type, &name)) {
        (void)ap__dict_add_type(ap__formats, level, type, name);
    }
    (void)ap__dict_flush(ap__types);
    (void)ap__dict_flush(ap__formats);
}

void ap__type_added(void)
{
    int saved_errno = errno;
    sigset_t saved;
    ap__shield shield;

    ap__shield_raise(&shield);
    ap__enter(&saved);
    if (ap__types != NULL) {
        ap__flush_types(); /* before a record of the type is */
    }
    ap__leave(&saved);
    ap__shield_drop(&shield);
    errno = saved_errno;
}

void ap__texts_begin(ap__dict *hashes, ap__dict *types, ap__dict *formats, ap__ext_file *names,
                     uv_async_t *wake)
{
    sigset_t saved;

    ap__enter(&saved);
    ap__hashes = hashes;
    ap__types = types;
    ap__formats = formats;
    ap__type_cursor = 0;
    ap__format_cursor = 0;
    ap__names = names;
    ap__wake = wake;
    memset(ap__cursors, 0, sizeof(ap__cursors));
    ap__flush_types();
    ap__flush_names();
    ap__flush_hashes();
    ap__leave(&saved);
}

void ap__texts_flush(void)
{
    sigset_t saved;

    ap__enter(&saved);
    if (ap__hashes != NULL) {
        ap__flush_names();
        ap__flush_hashes();
    }
    ap__leave(&saved);
}

void ap__intern_added(ap__intern_use use)
{
    int saved_errno = errno;
    sigset_t saved;
    ap__shield shield; /* this is the host's thread: its file-size limit must not kill it */

    ap__shield_raise(&shield);
    ap__enter(&saved);
    if (ap__hashes != NULL && use != AP_INTERN_HASH) {
        ap__flush_names();
    } else if (ap__hashes != NULL && ap__wake != NULL) {
        (void)ap__uv_wake(ap__wake); /* coalesces: one write a turn of the writer */
    } else if (ap__hashes != NULL) {
        ap__flush_hashes();
    }
    ap__leave(&saved);
    ap__shield_drop(&shield);
    errno = saved_errno;
}

void ap__texts_let_writer_go(void)
{
    sigset_t saved;

    ap__enter(&saved);
    ap__wake = NULL;
    ap__leave(&saved);
}

void ap__texts_end(void)
{
    sigset_t saved;

    ap__texts_flush();
    ap__enter(&saved);
    ap__hashes = NULL;
    ap__types = NULL;
    ap__formats = NULL;
    ap__names = NULL;
    ap__wake = NULL;
    ap__leave(&saved);
}

uint64_t ap__texts_stored(void)
{
    sigset_t saved;
    uint64_t bytes = 0;

    ap__enter(&saved);
    bytes = ap__names != NULL ? ap__ext_stored(ap__names) : 0;
    ap__leave(&saved);
    return bytes;
}

void ap__texts_lock(void)
{
    pthread_mutex_lock(&ap__sink_lock);
}

void ap__texts_unlock(void)
{
    pthread_mutex_unlock(&ap__sink_lock);
}

void ap__texts_child(void)
{
    ap__hashes = NULL;
    ap__types = NULL;
    ap__formats = NULL;
    ap__names = NULL;
    ap__wake = NULL;
    pthread_mutex_unlock(&ap__sink_lock);
}
