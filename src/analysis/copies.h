/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime has told of copies. */
#ifndef AP_ANALYSIS_COPIES_H_
#define AP_ANALYSIS_COPIES_H_

#include "analysis/model.h"

typedef struct ap__copy {
    uint64_t time_ns;
    uint64_t bytes;
    uint32_t tid;
    uint16_t direction;
} ap__copy;

/* All of them by thread and time, a bulk array. 0 or ENOMEM. */
int ap__copies_read(const ap__model *m, ap__copy **copies, uint32_t *count);
/* The one that lies in the call (AP_NONE: none) that has submitted the track's task; NULL: none. */
const ap__copy *ap__copy_of(const ap__copy *copies, uint32_t count, const ap__model *m,
                            uint32_t track, uint32_t call);

#endif
