/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this directory share. */
#ifndef AP_SUBSCRIBE_INTERNAL_H_
#define AP_SUBSCRIBE_INTERNAL_H_

#include "subscribe/subscribe.h"

/* The device that a model is loaded on, under the lock; -1: not known. */
int32_t ap__subscribe_device(uint32_t model);

#endif
