/* SPDX-License-Identifier: Apache-2.0 */
#include "subscribe/op_feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/wire_host.h"
#include "format/wire_report.h"
#include "stamp/intern.h"
#include "subscribe/op_match.h"
#include "subscribe/subscribe.h"

#define AP_DEVICE_MASK 0xFFFu /* above: kind of device */

/* The thread's last kernel: a node that it reports is that one's. */
static __thread struct {
    uint32_t device;
    uint32_t stream;
    uint32_t task;
    bool known;
} ap__last __attribute__((tls_model("initial-exec")));

/* The text of an id; its digits when it is not known here. */
static const char *ap__text(uint64_t id, char buffer[24])
{
    const char *text = ap__intern_text(id);

    if (text == NULL) {
        (void)snprintf(buffer, 24, "%" PRIu64, id);
        text = buffer;
    }
    return text;
}

static void ap__track(bool aging, uint32_t thread, uint32_t device, uint32_t stream, uint32_t task,
                      uint64_t kernel)
{
    char buffer[24];
    const char *name = kernel != 0 ? ap__text(kernel, buffer) : NULL;

    device &= AP_DEVICE_MASK;
    ap__last.device = device;
    ap__last.stream = stream;
    ap__last.task = task;
    ap__last.known = kernel != 0;
    if (aging) {
        ap__subscribe_launch(device, stream, task, AP_NO_MODEL, thread, name);
    } else {
        ap__subscribe_static(device, stream, task, thread, name);
    }
}

static void ap__node(const ap__wire_node_basic *node)
{
    char name[24];
    char type[24];

    if (ap__last.known) {
        ap__subscribe_rename(ap__last.device, ap__last.stream, ap__last.task,
                             ap__text(node->op_name, name), ap__text(node->op_type, type));
        ap__last.known = false;
    }
}

void ap__op_feed(bool aging, const void *record, uint32_t len)
{
    ap__wire_compact r = {0};
    ap__wire_task_track track;
    ap__wire_task_track_v2 track2;
    ap__wire_node_basic node;

    if (!ap__subscribe_active()) {
        return;
    }
    memcpy(&r, record, len < sizeof(r) ? len : sizeof(r));
    if (r.level == AP_LEVEL_RUNTIME && r.type == AP_TYPE_TASK_TRACK &&
        r.data_length >= offsetof(ap__wire_task_track, extension)) {
        memcpy(&track, r.data, sizeof(track));
        ap__track(aging, r.thread_id, track.device, track.stream, track.task, track.kernel_name);
    } else if (r.level == AP_LEVEL_RUNTIME && r.type == AP_TYPE_TASK_TRACK_V2 &&
               r.data_length >= offsetof(ap__wire_task_track_v2, extension)) {
        memcpy(&track2, r.data, sizeof(track2));
        ap__track(aging, r.thread_id, track2.device, track2.stream, track2.task,
                  track2.kernel_name);
    } else if (r.level == AP_LEVEL_NODE && r.type == AP_TYPE_NODE_BASIC &&
               r.data_length >= offsetof(ap__wire_node_basic, blocks)) {
        memcpy(&node, r.data, sizeof(node));
        ap__node(&node);
    }
}
