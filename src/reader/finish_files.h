/* SPDX-License-Identifier: Apache-2.0 */
/* Finishing the files of a directory whose writer is gone. */
#ifndef AP_READER_FINISH_FILES_H_
#define AP_READER_FINISH_FILES_H_

#include <stdint.h>

#include "reader/notes.h"
#include "reader/sources.h"

/* Cuts a file to `size` when it is longer. 0 (also when there is no such file) or errno. */
int ap__finish_cut(int dirfd, const char *name, uint64_t size, ap__notes *notes);

/* Missing or empty .done files of the control files in host/. 0 or errno. */
int ap__finish_control(int host_fd, ap__notes *notes);

/* Torn tails of all sources but `except` are cut, missing .done files of all are written. 0 or
 * errno. */
int ap__finish_sources(int data_fd, const ap__sources *sources, const char *except,
                       ap__notes *notes);

/* names.dic is cut behind its last whole entry, stamp_ext likewise. 0 or errno. */
int ap__finish_ext(int ext_fd, ap__notes *notes);

#endif
