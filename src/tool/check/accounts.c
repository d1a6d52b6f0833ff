/* SPDX-License-Identifier: Apache-2.0 */
/* account.json and devices.json against themselves and against what is there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "format/ext_wire.h"
#include "reader/reader_internal.h"
#include "reader/safe_file.h"
#include "tool/check/check.h"

#define AP_DEVICES_NAME "devices.json"
#define AP_DEVICES_MOST ((size_t)64 << 20)

static void ap__threads(ap__check *c, const ap__reader_account *a)
{
    uint64_t emitted = 0;
    uint64_t lost = 0;

    for (uint32_t i = 0; i < a->thread_count; i++) {
        const ap__thread_account *t = &a->threads[i];
        uint64_t gone = t->lost_full + t->lost_no_ring + t->lost_reentrant + t->lost_disk;

        emitted += t->emitted;
        lost += gone;
        if (t->emitted < t->written + gone && strcmp(a->state, "finished") == 0) {
            ap__check_found(c, AP_CHECK_BAD, "the account of thread %u does not balance", t->tid);
        }
    }
    if (a->thread_count != 0 && strcmp(a->state, "finished") == 0 &&
        (emitted > a->total.emitted || lost > a->total.lostTotal)) {
        ap__check_found(c, AP_CHECK_BAD, "the threads' accounts add up to more than the total");
    }
}

static void ap__host(ap__check *c)
{
    const ap__reader_account *a = ap__reader_account_of(c->reader);
    const aclprofStats *t = a != NULL ? &a->total : NULL;

    if (t == NULL) {
        ap__check_found(c, AP_CHECK_NOTE,
                        "no account (not written by this library, or unfinished)");
        return;
    }
    if (t->emitted != t->written + t->lostTotal ||
        t->lostTotal != t->lostRingFull + t->lostNoRing + t->lostReentrant + t->lostDisk +
                            t->lostAged + t->lostDamaged) {
        ap__check_found(c, AP_CHECK_BAD, "the account does not balance");
    }
    if (t->written != c->records) {
        ap__check_found(c, AP_CHECK_BAD, "%" PRIu64 " records are there, the account says %" PRIu64,
                        c->records, t->written);
    }
    if (t->lostTotal != 0) {
        ap__check_found(c, AP_CHECK_LOST, "host: %" PRIu64 " of %" PRIu64 " records are lost",
                        t->lostTotal, t->emitted);
    }
    ap__threads(c, a);
}

/* ---- devices.json ---- */

static uint64_t ap__field(const cJSON *item, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, key);

    return cJSON_IsString(value) ? strtoull(value->valuestring, NULL, 10) : 0;
}

static void ap__channel(ap__check *c, uint64_t device, const cJSON *channel)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(channel, "file");
    const cJSON *state = cJSON_GetObjectItemCaseSensitive(channel, "state");
    const char *file = cJSON_IsString(name) ? name->valuestring : "?";
    uint64_t records = ap__field(channel, "missingRecords") + ap__field(channel, "droppedRecords");
    uint64_t bytes = ap__field(channel, "droppedBytes") + ap__field(channel, "lostDiskBytes") +
                     ap__field(channel, "tornBytes");

    if (records != 0 || bytes != 0) {
        ap__check_found(c, AP_CHECK_LOST,
                        "device %" PRIu64 ", %.64s: %" PRIu64 " records and %" PRIu64
                        " bytes are lost",
                        device, file, records, bytes);
    }
    if (ap__field(channel, "duplicates") != 0 || ap__field(channel, "badMagic") != 0) {
        ap__check_found(c, AP_CHECK_NOTE,
                        "device %" PRIu64 ", %.64s: the driver gave %" PRIu64
                        " records twice and %" PRIu64 " without magic",
                        device, file, ap__field(channel, "duplicates"),
                        ap__field(channel, "badMagic"));
    }
    if (cJSON_IsString(state) && strcmp(state->valuestring, "failed") == 0) {
        ap__check_found(c, AP_CHECK_NOTE, "device %" PRIu64 ", %.64s: the channel did not start",
                        device, file);
    }
}

static void ap__device(ap__check *c, const cJSON *device)
{
    uint64_t number = ap__field(device, "device");
    const cJSON *channel = NULL;

    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(device, "lost"))) {
        ap__check_found(c, AP_CHECK_LOST, "device %" PRIu64 " was lost during the capture", number);
    }
    if (ap__field(device, "agedBytes") != 0) {
        ap__check_found(c, AP_CHECK_LOST,
                        "device %" PRIu64 ": %" PRIu64 " bytes were deleted (storage limit)",
                        number, ap__field(device, "agedBytes"));
    }
    cJSON_ArrayForEach(channel, cJSON_GetObjectItemCaseSensitive(device, "channels"))
    {
        ap__channel(c, number, channel);
    }
}

void ap__check_accounts(ap__check *c)
{
    size_t length = 0;
    int error = 0;
    char *text = NULL;
    char *quoted = NULL;
    cJSON *json = NULL;
    const cJSON *device = NULL;

    ap__host(c);
    if (c->reader->ext_fd < 0) {
        return;
    }
    text = ap__read_whole(c->reader->ext_fd, AP_DEVICES_NAME, AP_DEVICES_MOST, &length,
                          &c->reader->notes, &error);
    quoted = text != NULL ? ap__quote_integers(text, length) : NULL;
    json = quoted != NULL ? cJSON_Parse(quoted) : NULL;
    if (text != NULL && json == NULL) {
        ap__check_found(c, AP_CHECK_BAD, AP_EXT_DIR "/" AP_DEVICES_NAME " is damaged or cut");
    }
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(json, "devices"))
    {
        ap__device(c, device);
    }
    cJSON_Delete(json);
    free(quoted);
    free(text);
}
