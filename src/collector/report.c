/* SPDX-License-Identifier: Apache-2.0 */
/* What came from each channel and what did not: account, host/.aclprof/devices.json, one line. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/collector_internal.h"
#include "session/errtext.h"
#include "writer/file_io.h"
#include "writer/json_build.h"

#define AP_REPORT_NAME "devices.json"

const char *ap__hal_rc_text(int rc)
{
    static const char *const texts[] = {
        "running",
        "nothing to read",
        "it is not running",
        "it is already started in this process",
        "another process has it",
        "the driver does not offer it",
        "the program has not set the device yet",
        "the device does not answer",
        "stopped, and the device has lost data",
        "the driver refuses the arguments",
        "the device is lost",
        "the driver or the disk reports an error",
    };

    return rc >= 0 && (size_t)rc < sizeof(texts) / sizeof(texts[0]) ? texts[rc] : "unknown";
}

/* ---- account ---- */

static ap__device *ap__device_at(ap__collector *c, uint32_t index)
{
    ap__device *d = NULL;

    pthread_mutex_lock(&c->lock);
    d = index < c->device_count ? c->devices[index] : NULL;
    pthread_mutex_unlock(&c->lock);
    return d;
}

bool ap__collector_device(ap__collector *c, uint32_t index, ap__device_account *out)
{
    ap__device *d = ap__device_at(c, index);

    memset(out, 0, sizeof(*out));
    if (d == NULL) {
        return false;
    }
    pthread_mutex_lock(&c->lock);
    out->device = d->id;
    out->lost = atomic_load(&d->lost);
    out->start_rc = d->started ? d->start_rc : AP_HAL_TIMEOUT;
    out->running =
        d->started && d->start_rc == AP_HAL_OK && d->phase == AP_PHASE_NONE && !out->lost;
    out->stuck = 0;
    if (d->phase == AP_PHASE_END) {
        out->stuck = d->busy + (d->keeper_gone ? 0 : 1);
    }
    out->simulated = c->ops->simulated != 0;
    if (d->ready) {
        out->chip = d->info.chip;
        out->channel_count = d->channel_count;
        out->point_count = d->point_count;
    }
    if (d->files_done) {
        out->aged_bytes = d->aged.bytes;
    }
    pthread_mutex_lock(&c->sink.lock);
    out->disk_errno = d->disk_errno;
    pthread_mutex_unlock(&c->sink.lock);
    pthread_mutex_unlock(&c->lock);
    return true;
}

static void ap__account_read(ap__device *d, const ap__channel *ch, ap__channel_account *out)
{
    ap__reader *r = &d->readers[ch->reader];

    if (!r->begun) {
        return;
    }
    pthread_mutex_lock(&r->lock);
    out->read_bytes = ch->read_bytes;
    out->records = ch->seen.records;
    out->gaps = ch->seen.gaps;
    out->missing = ch->seen.missing;
    out->duplicates = ch->seen.duplicates;
    out->bad_magic = ch->seen.bad_magic;
    out->torn_bytes = ch->seen.torn_bytes;
    out->tail_bytes = ch->tail_bytes;
    out->dropped_bytes = ch->dropped_bytes;
    out->dropped_records = ch->dropped_records;
    out->names_bytes = ch->names_bytes;
    out->near_full = ch->near_full;
    out->read_errors = ch->read_errors;
    out->unannounced = ch->unannounced;
    pthread_mutex_unlock(&r->lock);
}

bool ap__collector_channel(ap__collector *c, uint32_t device_index, uint32_t index,
                           ap__channel_account *out)
{
    ap__device *d = ap__device_at(c, device_index);
    const ap__channel *ch = NULL;

    memset(out, 0, sizeof(*out));
    if (d == NULL) {
        return false;
    }
    pthread_mutex_lock(&c->lock);
    if (d->ready && index < d->channel_count) {
        ch = &d->channels[index];
        out->channel = ch->plan.channel;
        out->record_bytes = ch->plan.record_bytes;
        out->state = (ap__channel_state)atomic_load(&ch->state);
        out->start_rc = ch->start_rc;
        out->stop_rc = ch->stop_rc;
        memcpy(out->file, ch->plan.file, sizeof(out->file));
        ap__account_read(d, ch, out);
        pthread_mutex_lock(&c->sink.lock);
        out->stored_bytes = ch->stored_bytes;
        out->lost_disk_bytes = ch->lost_disk_bytes;
        pthread_mutex_unlock(&c->sink.lock);
    }
    pthread_mutex_unlock(&c->lock);
    return ch != NULL;
}

uint32_t ap__collector_points(ap__collector *c, uint32_t device_index, ap__device_point *out,
                              uint32_t max)
{
    ap__device *d = ap__device_at(c, device_index);
    uint32_t n = 0;

    if (d != NULL) {
        pthread_mutex_lock(&c->lock);
        n = d->point_count < max ? d->point_count : max;
        memcpy(out, d->points, n * sizeof(*out));
        pthread_mutex_unlock(&c->lock);
    }
    return n;
}

void ap__collector_sum(ap__collector *c, ap__collector_totals *out)
{
    ap__device_account device;
    ap__channel_account ch;

    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; ap__collector_device(c, i, &device); i++) {
        out->devices++;
        for (uint32_t k = 0; ap__collector_channel(c, i, k, &ch); k++) {
            out->bytes += ch.stored_bytes;
            out->records += ch.records;
            out->lost_records += ch.dropped_records + ch.missing;
            out->lost_bytes += ch.dropped_bytes + ch.lost_disk_bytes + ch.torn_bytes;
        }
    }
}

/* ---- the file ---- */

static void ap__put_channel(bool *ok, cJSON *list, const ap__channel_account *a)
{
    static const char *const states[] = {"idle",    "starting", "running",
                                         "waiting", "failed",   "stopped"};
    cJSON *o = ap__json_item(ok, list);

    ap__json_u64(ok, o, "channel", a->channel);
    ap__json_text(ok, o, "file", a->file);
    ap__json_text(ok, o, "state", states[a->state]);
    ap__json_text(ok, o, "start", ap__hal_rc_text(a->start_rc));
    ap__json_text(ok, o, "stop", a->stop_rc == 0 ? "" : ap__hal_rc_text(a->stop_rc));
    ap__json_u64(ok, o, "recordBytes", a->record_bytes);
    ap__json_u64(ok, o, "readBytes", a->read_bytes);
    ap__json_u64(ok, o, "storedBytes", a->stored_bytes);
    ap__json_u64(ok, o, "records", a->records);
    ap__json_u64(ok, o, "droppedBytes", a->dropped_bytes);
    ap__json_u64(ok, o, "droppedRecords", a->dropped_records);
    ap__json_u64(ok, o, "lostDiskBytes", a->lost_disk_bytes);
    ap__json_u64(ok, o, "gaps", a->gaps);
    ap__json_u64(ok, o, "missingRecords", a->missing);
    ap__json_u64(ok, o, "duplicates", a->duplicates);
    ap__json_u64(ok, o, "badMagic", a->bad_magic);
    ap__json_u64(ok, o, "tornBytes", a->torn_bytes);
    ap__json_u64(ok, o, "tailBytes", a->tail_bytes);
    ap__json_u64(ok, o, "namesBytes", a->names_bytes);
    ap__json_u64(ok, o, "ringNearlyFull", a->near_full);
    ap__json_u64(ok, o, "readErrors", a->read_errors);
    ap__json_u64(ok, o, "unannounced", a->unannounced);
}

static void ap__put_points(bool *ok, cJSON *o, ap__device *d)
{
    static const char *const keys[] = {"hostNs", "hostCycles", "deviceNs", "deviceCycles",
                                       "errorNs"};
    cJSON *list = ap__json_array(ok, o, "clock");

    pthread_mutex_lock(&d->c->lock);
    for (uint32_t i = 0; i < d->point_count; i++) {
        const ap__device_point *p = &d->points[i];
        const uint64_t values[] = {p->host_ns, p->host_cycles, p->device_ns, p->device_cycles,
                                   p->error_ns};
        cJSON *item = ap__json_item(ok, list);

        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
            ap__json_u64(ok, item, keys[k], values[k]);
        }
    }
    pthread_mutex_unlock(&d->c->lock);
}

static char *ap__report_json(ap__collector *c)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL;
    cJSON *list = NULL;
    ap__device_account device;
    ap__channel_account ch;

    ap__json_u64(&ok, root, "version", 1);
    ap__json_text(&ok, root, "driver", c->ops->name);
    ap__json_bool(&ok, root, "simulated", c->ops->simulated != 0);
    ap__json_u64(&ok, root, "apiVersion", c->api_version);
    list = ap__json_array(&ok, root, "devices");
    for (uint32_t i = 0; ap__collector_device(c, i, &device); i++) {
        cJSON *o = ap__json_item(&ok, list);
        cJSON *channels = NULL;

        ap__json_u64(&ok, o, "device", device.device);
        ap__json_u64(&ok, o, "chip", device.chip);
        ap__json_text(&ok, o, "start", ap__hal_rc_text(device.start_rc));
        ap__json_bool(&ok, o, "lost", device.lost);
        ap__json_u64(&ok, o, "unansweredCalls", device.stuck);
        ap__json_i64(&ok, o, "diskErrno", device.disk_errno);
        ap__json_u64(&ok, o, "agedBytes", device.aged_bytes);
        channels = ap__json_array(&ok, o, "channels");
        for (uint32_t k = 0; ap__collector_channel(c, i, k, &ch); k++) {
            ap__put_channel(&ok, channels, &ch);
        }
        ap__put_points(&ok, o, ap__device_at(c, i));
    }
    return ap__json_print(ok, root);
}

/* A record that never became whole is of no use to the vendor's readers, but may be to a person. */
static void ap__write_tails(ap__collector *c)
{
    char name[64];

    for (uint32_t i = 0; i < c->device_count; i++) {
        ap__device *d = c->devices[i];

        for (uint32_t k = 0; d->ready && k < d->channel_count; k++) {
            ap__channel *ch = &d->channels[k];

            if (d->readers[ch->reader].gone && ch->tail_bytes != 0) {
                (void)snprintf(name, sizeof(name), "device_%" PRIu32 ".channel_%u.tail", d->id,
                               (unsigned)ch->plan.channel);
                (void)ap__file_put(c->ext_fd, name, ch->tail, ch->tail_bytes);
            }
        }
    }
}

void ap__report_write(ap__collector *c)
{
    char *text = NULL;
    int err = 0;

    if (c->device_count == 0) {
        return;
    }
    text = ap__report_json(c);
    ap__reserve_release_report(c);
    err = text != NULL ? ap__file_put(c->ext_fd, AP_REPORT_NAME, text, strlen(text)) : ENOMEM;
    cJSON_free(text);
    ap__write_tails(c); /* the least of it comes last */
    if (err != 0) {
        char reason[64] = "";

        ap__log(AP_LOG_WARN, "the report of the devices could not be written: %s",
                strerror_r(err, reason, sizeof(reason)));
    }
}

void ap__report_say(ap__collector *c)
{
    ap__device_account device;
    ap__channel_account ch;
    ap__collector_totals sum;
    bool bad = false;

    for (uint32_t i = 0; ap__collector_device(c, i, &device); i++) {
        for (uint32_t k = 0; ap__collector_channel(c, i, k, &ch); k++) {
            bool lossy = ch.dropped_bytes != 0 || ch.lost_disk_bytes != 0 || ch.gaps != 0 ||
                         ch.torn_bytes != 0 || ch.tail_bytes != 0 || ch.stop_rc != 0;

            bad = bad || lossy;
            if (lossy) {
                ap__log(AP_LOG_WARN,
                        "device %" PRIu32 ", %s: %" PRIu64 " records; at least %" PRIu64
                        " missing in %" PRIu64 " gaps, %" PRIu64 " dropped (queue full), %" PRIu64
                        " bytes lost to the disk, %" PRIu64 " bytes torn, %" PRIu64
                        " bytes unfinished%s%s",
                        device.device, ch.file, ch.records, ch.missing, ch.gaps,
                        ch.dropped_records, ch.lost_disk_bytes, ch.torn_bytes, ch.tail_bytes,
                        ch.stop_rc != 0 ? "; " : "",
                        ch.stop_rc != 0 ? ap__hal_rc_text(ch.stop_rc) : "");
            }
        }
    }
    ap__collector_sum(c, &sum);
    ap__log(bad ? AP_LOG_WARN : AP_LOG_INFO,
            "devices finished: %" PRIu32 " devices, %" PRIu64 " records, %" PRIu64 " bytes%s",
            sum.devices, sum.records, sum.bytes, c->ops->simulated ? " (simulated)" : "");
}
