/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor's reporter (libprofapi.so) in the same process. Two ways to meet it:
 * behind us in the order of symbols (we were preloaded): what is reported while no capture of ours
 * takes records is passed on to it, so that a session of its own misses nothing;
 * or bound to by libraries that did not come past us (dlopen and dlsym): for the time of a capture
 * its callbacks lead to our rings (MsprofRegisterProfileCallback).
 */
#ifndef AP_REPORTER_VENDOR_H_
#define AP_REPORTER_VENDOR_H_

#include <stdbool.h>

#include "aclprof_reporter.h"

typedef enum ap__vendor_call {
    AP_VENDOR_API,
    AP_VENDOR_EVENT,
    AP_VENDOR_COMPACT,
    AP_VENDOR_ADDITIONAL,
    AP_VENDOR_BATCH,
    AP_VENDOR_TYPE,
    AP_VENDOR_FORMAT,
    AP_VENDOR_HASH,
    AP_VENDOR_REGISTER,
    AP_VENDOR_SET_DEVICE,
    AP_VENDOR_CYCLES,
    AP_VENDOR_HOST_FREQ,
    AP_VENDOR_INIT,
    AP_VENDOR_FINALIZE,
    AP_VENDOR_START,
    AP_VENDOR_STOP,
    AP_VENDOR_REPORT_DATA,
    AP_VENDOR_OP_TIME,
    AP_VENDOR_OP_ID,
    AP_VENDOR_OP_VALUE,
    AP_VENDOR_OP_ATTRIBUTE,
    AP_VENDOR_CALLS
} ap__vendor_call;

/* The next function of the name behind this library; NULL: none. Looked for once. May wait for the
 * loader: not under a lock of ours. */
void *ap__vendor_next(ap__vendor_call call);

/* A call of it. Begin gives the function to call, or NULL: nothing is behind us, or all of it is
 * calling us already; then there is no end. */
typedef struct ap__hop {
    uint32_t outer;
} ap__hop;
void *ap__hop_begin(ap__hop *hop, ap__vendor_call call);
void ap__hop_end(const ap__hop *hop);
/* Whether this thread is in such a call already: what is done beside it has been done. */
bool ap__hop_again(ap__vendor_call call);

/* Looks for a libprofapi.so that is not this library. As above. set_device: what is done about a
 * device that it tells of. */
void ap__vendor_find(void (*set_device)(uint32_t device, bool set));
/* Leads its callbacks here and back; tells its modules. Nothing where it was not found. */
void ap__vendor_attach(void);
void ap__vendor_detach(void);
/* Tells the modules that know the vendor's library. false: not attached, or it does not do it. The
 * end of a session is told to those that knew of it, attached or not. */
bool ap__vendor_tell(const MsprofCommandHandle *handle);

#endif
