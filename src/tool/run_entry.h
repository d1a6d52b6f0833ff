/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a preloaded library gets into a program. */
#ifndef AP_TOOL_RUN_ENTRY_H_
#define AP_TOOL_RUN_ENTRY_H_

#include <sys/types.h>

/* Before the start: why the program that execvp would run takes no preload; NULL when it does, or
 * when there is no telling. */
const char *ap__run_refusal(const char *program);

/* After it: waits until `library` is in the process, or a second is over. 1: it is in, 0: it is
 * not, -1: the process has gone, or cannot be looked at. */
int ap__run_wait_entry(pid_t pid, const char *library);

#endif
