/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and loading libascend_hal.so. */
#ifndef AP_ASCEND_LOAD_H_
#define AP_ASCEND_LOAD_H_

#include "drivers/ascend/ascend.h"
#include "drivers/ascend/vendor_abi.h"

/* Loads the library at `path`, or searches for it when that is "". ap__hal_rc; *report tells what
 * was found. A library once loaded stays, usable or not: the vendor's has threads and handlers
 * that run at exit. */
int ap__ascend_load(const char *path, ap__vendor_calls *calls, int *api_version,
                    ap__ascend_report *report);

#endif
