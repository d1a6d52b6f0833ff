/* SPDX-License-Identifier: Apache-2.0 */
/* ap__hal_ascend, and what its open has to say beyond a code. */
#ifndef AP_ASCEND_ASCEND_H_
#define AP_ASCEND_ASCEND_H_

#include <stdbool.h>

#include "drivers/hal.h"

typedef struct ap__ascend_report {
    bool found;     /* a library was there, usable or not */
    bool simulated; /* it is the simulated NPU's: its table is ap__hal_ascend_simulated */
    char path[512]; /* of the library in use, else "" */
    char text[1024]; /* why there is no driver, one line without end; "" on success */
} ap__ascend_report;

/* As ap__hal_ascend.open, any number of threads at once. The vendor's library runs its start-up
 * code in here, and the loader's lock is taken: hold no lock that a caller of dlopen may want. */
int ap__ascend_open(void **context, const char *path, ap__ascend_report *report);

/* ap__hal_ascend for a context whose library is the simulated one. */
extern const ap__hal_ops ap__hal_ascend_simulated;

/* ap__hal_rc for any result code of the vendor's library. */
int ap__ascend_rc(int code);

/* Where to look before the environment is asked: names for dlopen, ended by NULL. Tests put
 * theirs here. */
extern const char *const *ap__ascend_places;

#endif
