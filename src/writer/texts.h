/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the process's dictionary to the running capture's files. Texts that records refer to by id
 * alone (long messages, tags, call stacks) are on disk before the call that introduced them
 * returns, so that a kill never leaves a record without its text; strings of aclprofStr2Id follow
 * within a turn of the writer.
 */
#ifndef AP_WRITER_TEXTS_H_
#define AP_WRITER_TEXTS_H_

#include <stdint.h>
#include <uv.h>

#include "stamp/intern.h"
#include "writer/dict.h"
#include "writer/ext_file.h"

/* Makes these the files that texts go to, from the first text on. One capture at a time. */
void ap__texts_begin(ap__dict *hashes, ap__dict *types, ap__dict *formats, ap__ext_file *names,
                     uv_async_t *wake);
/* Names that were registered for types, before the capture's own defaults. 0 or ENOMEM. */
int ap__texts_types_into(ap__dict *types);
/* Appends what is new. On a full disk entries stay pending and are tried again. */
void ap__texts_flush(void);
/* The writer's loop is about to end: from now on nobody wakes it, texts are written at once. */
void ap__texts_let_writer_go(void);
/* Flushes and forgets the files. */
void ap__texts_end(void);
/* Bytes of the names file. */
uint64_t ap__texts_stored(void);

/* fork: hold the lock over it; the child has no capture */
void ap__texts_lock(void);
void ap__texts_unlock(void);
void ap__texts_child(void);

#endif
