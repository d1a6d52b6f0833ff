/* SPDX-License-Identifier: Apache-2.0 */
/* The one driver of this process. ACLPROF_DRIVER decides, when it is first asked for:
 *   auto, unset   Huawei's when it is there, else none; never the simulated NPU
 *   ascend        Huawei's, with a warning when it is not there
 *   sim           the simulated NPU
 *   none          host only
 *   a path        the library of Huawei's interface there (anything with a '/' or ".so" in it) */
#ifndef AP_DRIVERS_CHOOSE_H_
#define AP_DRIVERS_CHOOSE_H_

#include <stdbool.h>

#include "drivers/hal.h"

typedef struct ap__driver {
    const ap__hal_ops *ops; /* NULL: host only */
    void *context;
    bool asked_for;         /* by ACLPROF_DRIVER, not taken because it was there */
    char library[512];      /* file in use; "" for the built-in simulated NPU and for none */
    char why[1200];         /* why there are no devices, one line without end; "" when there are */
} ap__driver;

/* Chooses and opens at the first call, afterwards one load; never NULL, the same for the life of
 * the process. Any thread. A driver that is there and of no use, or asked for and not there, is
 * told by one warning. In a child forked since the choice there is none. Preserves errno.
 *
 * The first call may take the loader's lock: make it before taking a lock of ours. */
const ap__driver *ap__driver_now(void);

/* What has been chosen, NULL before; never opens anything. */
const ap__driver *ap__driver_peek(void);

#endif
