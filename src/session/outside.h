/* SPDX-License-Identifier: Apache-2.0 */
/* A capture that somebody outside of the program asks for: `aclprof run` (session/autostart.h) or
 * the control socket (session/control_socket.h). While it runs the program's own control calls
 * give 100042, as under the vendor's command line. */
#ifndef AP_SESSION_OUTSIDE_H_
#define AP_SESSION_OUTSIDE_H_

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl_prof.h"
#include "session/settings.h"

typedef struct ap__outside_want {
    bool stamps;
    uint64_t devices;       /* bit i: device i, when the program sets it */
    char path[AP_PATH_MAX]; /* absolute; "": that of a Start without aclprofInit */
} ap__outside_want;

/* Begins with the wanted ones of the devices that are set, or goes on when such a capture runs.
 * warm: records only after ap__outside_record. 0, or an ACL code with the last error set: the
 * program profiles itself, or the capture cannot begin. Takes the session's lock; the devices have
 * been loaded before. */
aclError ap__outside_begin(const ap__outside_want *want, bool warm);
aclError ap__outside_begin_locked(const ap__outside_want *want, bool warm);
/* Under the session's lock: of the newest capture from outside. The two below do nothing to another
 * one; 0: to any. */
uint32_t ap__outside_number(void);
void ap__outside_record(uint32_t number);
/* Finishes it. ACL_ERROR_PROF_NOT_RUN when there is none; *dir, if wanted, is its directory. */
aclError ap__outside_end(uint32_t number, char dir[AP_PATH_MAX]);

typedef enum ap__outside_state {
    AP_OUTSIDE_IDLE,
    AP_OUTSIDE_OWN, /* the program, or a configuration of it, captures */
    AP_OUTSIDE_WAITS,
    AP_OUTSIDE_RECORDS
} ap__outside_state;

typedef struct ap__outside_view {
    ap__outside_state state;
    ap__outside_want want; /* of one from outside */
    char dir[AP_PATH_MAX]; /* "" when idle */
} ap__outside_view;

void ap__outside_look(ap__outside_view *out);

/* Whether the running one wants the device. Under the session's lock. */
bool ap__outside_wants(uint32_t device);

#endif
