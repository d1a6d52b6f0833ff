/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime and a graph engine report of tasks, for subscriptions. */
#ifndef AP_SUBSCRIBE_OP_FEED_H_
#define AP_SUBSCRIBE_OP_FEED_H_

#include <stdbool.h>
#include <stdint.h>

/* A compact record of at least 24 bytes. aging false: it holds for as long as a model is loaded. The
 * operator of a task is that of its kernel, until the same thread reports the node that it launched.
 * One load when nothing is subscribed to. */
void ap__op_feed(bool aging, const void *record, uint32_t len);

#endif
