/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of `aclprof run` tell of their captures (session/results.h). */
#ifndef AP_TOOL_RUN_RESULTS_H_
#define AP_TOOL_RUN_RESULTS_H_

#include <limits.h>

typedef struct ap__run_results {
    int fd; /* -1: there is no file */
    char path[PATH_MAX];
} ap__run_results;

/* Makes the file, a temporary one. 0 or errno. */
int ap__run_results_open(ap__run_results *r);

/* Prints one line for each directory on stderr, its account among it. Returns how many there are,
 * refused captures included. */
unsigned ap__run_results_print(ap__run_results *r);

void ap__run_results_close(ap__run_results *r);

#endif
