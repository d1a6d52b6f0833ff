/* SPDX-License-Identifier: Apache-2.0 */
/* Result paths: absolute form and whether a capture could write there. Creates nothing. */
#ifndef AP_SESSION_PATH_H_
#define AP_SESSION_PATH_H_

#include <stdbool.h>
#include <stddef.h>

#include "session/settings.h"

#define AP_PATH_REASON_SIZE 512u

/* Makes `path` (length bytes, no NUL among them) absolute with the current directory, without
 * empty and "." components; "~" and ".." stay as they are. False with the reason as text when it
 * has a forbidden character, or can neither be used nor created. */
bool ap__path_resolve(const char *path, size_t length, char out[AP_PATH_MAX],
                      char reason[AP_PATH_REASON_SIZE]);

#endif
