/* SPDX-License-Identifier: Apache-2.0 */
/* Our writes may run into the host's file-size limit: that must be an error of ours (EFBIG), never
 * a SIGXFSZ that kills the host. */
#ifndef AP_RING_SHIELD_H_
#define AP_RING_SHIELD_H_

#include <signal.h>
#include <stdbool.h>

typedef struct ap__shield {
    sigset_t saved;
    bool was_pending;
} ap__shield;

void ap__shield_raise(ap__shield *shield);
/* Takes back a SIGXFSZ that came meanwhile. Preserves errno. */
void ap__shield_drop(const ap__shield *shield);

#endif
