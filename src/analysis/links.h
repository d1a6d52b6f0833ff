/* SPDX-License-Identifier: Apache-2.0 */
/* Which call of the host has submitted a device task. */
#ifndef AP_ANALYSIS_LINKS_H_
#define AP_ANALYSIS_LINKS_H_

#include <stdint.h>

#include "analysis/model.h"

/* For each of model->tracks the index of its call, AP_NONE: none. Of the calls that were open on
 * the track's thread: the innermost launch of an operator, else the innermost of the acl level,
 * else the innermost. A bulk array (ap__bulk_free); NULL without memory. */
uint32_t *ap__links_make(const ap__model *model);

/* A connection's id in exports: calls are counted from 1. */
static inline uint32_t ap__link_id(uint32_t call)
{
    return call + 1;
}

#endif
