/* SPDX-License-Identifier: Apache-2.0 */
/* ACLPROF_RESULTS, which `aclprof run` sets: a file that is there already, to which each process
 * appends what becomes of its captures, one line each: what happened, a blank, the process's
 * number, a blank, and the directory (begin, end, failed) or the reason (refused). */
#ifndef AP_SESSION_RESULTS_H_
#define AP_SESSION_RESULTS_H_

/* No more than a look at the environment where nobody asks. Preserves errno. */
void ap__results_tell(const char *what, const char *text);

#endif
