/* SPDX-License-Identifier: Apache-2.0 */
/* Space that is kept for the end of a capture: on a disk that is full by then, files without their
 * .done and a device without its end_info would be nothing to the vendor's reader. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector_internal.h"
#include "format/ext_wire.h"
#include "session/errtext.h"
#include "writer/file_io.h"

#define AP_SMALL_FILE 4096u /* what one takes at least */
#define AP_END_FILES 4u
#define AP_REPORT_BYTES (512u << 10) /* of devices.json: all clock snapshots, all channels */

static void ap__reserve_name(char *name, size_t size, uint32_t device)
{
    (void)snprintf(name, size, AP_EXT_DEVICE_RESERVE_NAME ".%" PRIu32, device);
}

static void ap__say(ap__collector *c, int err)
{
    char reason[64] = "";
    bool said = false;

    pthread_mutex_lock(&c->lock);
    said = c->reserve_said;
    c->reserve_said = true;
    pthread_mutex_unlock(&c->lock);
    if (!said) {
        ap__log(AP_LOG_WARN,
                "no space can be kept for the end of the devices' files (%s): if the disk is full by "
                "then, \"aclprof recover\" has to finish them",
                strerror_r(err, reason, sizeof(reason)));
    }
}

void ap__reserve_device(ap__device *d)
{
    char name[48];
    int err = 0;

    ap__reserve_name(name, sizeof(name), d->id);
    (void)unlinkat(d->c->ext_fd, name, 0);
    err = ap__file_reserve(d->c->ext_fd, name,
                           (uint64_t)(d->stream_count + AP_END_FILES) * AP_SMALL_FILE);
    if (err == 0) { /* the first device's thread makes it, the others find it */
        err = ap__file_reserve(d->c->ext_fd, AP_EXT_DEVICES_RESERVE_NAME, AP_REPORT_BYTES);
    }
    if (err != 0 && err != EEXIST) {
        ap__say(d->c, err);
    }
}

void ap__reserve_release_device(ap__device *d)
{
    char name[48];

    ap__reserve_name(name, sizeof(name), d->id);
    (void)unlinkat(d->c->ext_fd, name, 0);
}

void ap__reserve_release_report(ap__collector *c)
{
    for (uint32_t i = 0; i < c->device_count; i++) {
        ap__reserve_release_device(c->devices[i]);
    }
    (void)unlinkat(c->ext_fd, AP_EXT_DEVICES_RESERVE_NAME, 0);
}
