/* SPDX-License-Identifier: Apache-2.0 */
/* From what a person types to a PROF_* directory. */
#ifndef AP_READER_PROF_PATH_H_
#define AP_READER_PROF_PATH_H_

#include <stddef.h>

#include "reader/reader.h"

/* Opens path, or the only PROF_* below it when it has no host/. On success *resolved is malloc'ed
 * and both descriptors are open; else text says why. */
ap__reader_code ap__prof_path_open(const char *path, char **resolved, int *prof_fd, int *host_fd,
                                   char *text, size_t size);

#endif
