/* SPDX-License-Identifier: Apache-2.0 */
/* What a forked child inherits: no capture, no thread, all locks free. */
#ifndef AP_SESSION_FORK_H_
#define AP_SESSION_FORK_H_

/* Registers the handlers, once per process, before the first control call takes a lock. 0 or
 * errno. */
int ap__fork_install(void);

#endif
