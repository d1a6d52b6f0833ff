/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/ext_wire.h"
#include "reader/reader_internal.h"
#include "reader/safe_file.h"

#define AP_ACCOUNT_MAX ((size_t)16 << 20)
#define AP_ACCOUNT_KNOWN 1u

char *ap__quote_integers(const char *text, size_t length)
{
    char *out = malloc(length * 3 + 1); /* "1" for 1 */
    char *to = out;
    bool in_string = false;

    for (size_t i = 0; out != NULL && i < length; i++) {
        char c = text[i];

        if (!in_string && c >= '0' && c <= '9') {
            *to++ = '"';
            for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
                *to++ = text[i];
            }
            *to++ = '"';
            i--;
            continue;
        }
        if (c == '"') {
            in_string = !in_string;
        } else if (in_string && c == '\\' && i + 1 < length) {
            *to++ = c;
            c = text[++i];
        }
        *to++ = c;
    }
    if (out != NULL) {
        *to = '\0';
    }
    return out;
}

static uint64_t ap__field(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsString(item) ? strtoull(item->valuestring, NULL, 10) : 0;
}

static void ap__take_text(char *out, size_t size, const cJSON *root, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    size_t n = cJSON_IsString(item) ? strnlen(item->valuestring, size - 1) : 0;

    if (n != 0) {
        memcpy(out, item->valuestring, n);
    }
    out[n] = '\0';
}

static void ap__take_total(const cJSON *t, aclprofStats *out)
{
    out->size = sizeof(*out);
    out->emitted = ap__field(t, "emitted");
    out->written = ap__field(t, "written");
    out->pending = ap__field(t, "pending");
    out->lostTotal = ap__field(t, "lost_total");
    out->lostRingFull = ap__field(t, "lost_full");
    out->lostNoRing = ap__field(t, "lost_no_ring");
    out->lostReentrant = ap__field(t, "lost_reentrant");
    out->lostDisk = ap__field(t, "lost_disk");
    out->lostAged = ap__field(t, "lost_aged");
    out->lostDamaged = ap__field(t, "lost_damaged");
    out->openAtStop = ap__field(t, "open_at_stop");
    out->cutMessages = ap__field(t, "cut_messages");
    out->bytesWritten = ap__field(t, "bytes_written");
    out->slicesRemoved = ap__field(t, "slices_removed");
    out->callNs = ap__field(t, "call_ns");
    out->writerCpuNs = ap__field(t, "writer_cpu_ns");
    out->threads = ap__field(t, "threads");
}

/* false without memory, as below */
static bool ap__take_threads(const cJSON *list, ap__reader_account *out)
{
    size_t count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    const cJSON *item = NULL;

    if (count == 0) {
        return true;
    }
    out->threads = calloc(count, sizeof(*out->threads));
    if (out->threads == NULL) {
        return false;
    }
    cJSON_ArrayForEach(item, list) {
        ap__thread_account *t = &out->threads[out->thread_count++];

        t->tid = (uint32_t)ap__field(item, "tid");
        t->emitted = ap__field(item, "emitted");
        t->written = ap__field(item, "written");
        t->lost_full = ap__field(item, "lost_full");
        t->lost_no_ring = ap__field(item, "lost_no_ring");
        t->lost_reentrant = ap__field(item, "lost_reentrant");
        t->lost_disk = ap__field(item, "lost_disk");
        t->cut_messages = ap__field(item, "cut_messages");
    }
    return true;
}

static bool ap__take_points(const cJSON *list, ap__reader_account *out)
{
    size_t count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    const cJSON *item = NULL;

    if (count == 0) {
        return true;
    }
    out->points = calloc(count, sizeof(*out->points));
    if (out->points == NULL) {
        return false;
    }
    cJSON_ArrayForEach(item, list) {
        ap__clock_point *p = &out->points[out->point_count++];

        p->cycles = ap__field(item, "cycles");
        p->mono_raw_ns = ap__field(item, "mono_raw_ns");
        p->mono_ns = ap__field(item, "mono_ns");
        p->real_ns = ap__field(item, "real_ns");
        p->error_ns = ap__field(item, "error_ns");
    }
    return true;
}

static cJSON *ap__account_json(const char *text, size_t length)
{
    char *quoted = ap__quote_integers(text, length);
    cJSON *root = quoted == NULL ? NULL : cJSON_Parse(quoted);

    free(quoted);
    if (!cJSON_IsObject(root)) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}

ap__reader_account *ap__account_read(int ext_fd, ap__notes *notes)
{
    ap__reader_account *out = NULL;
    cJSON *root = NULL;
    size_t length = 0;
    int error = 0;
    char *text =
        ap__read_whole(ext_fd, AP_EXT_ACCOUNT_NAME, AP_ACCOUNT_MAX, &length, notes, &error);

    if (text == NULL) {
        return NULL;
    }
    root = ap__account_json(text, length);
    free(text);
    if (root == NULL) {
        ap__note(notes, "%s/%s is damaged or cut", AP_EXT_DIR, AP_EXT_ACCOUNT_NAME);
        return NULL;
    }
    if (ap__field(root, "version") != AP_ACCOUNT_KNOWN) {
        ap__note(notes, "%s/%s is of version %llu, this library knows version %u: not read",
                 AP_EXT_DIR, AP_EXT_ACCOUNT_NAME, (unsigned long long)ap__field(root, "version"),
                 AP_ACCOUNT_KNOWN);
        goto out;
    }
    out = calloc(1, sizeof(*out));
    if (out == NULL) {
        goto out;
    }
    ap__take_text(out->state, sizeof(out->state), root, "state");
    ap__take_text(out->arena, sizeof(out->arena), root, "arena");
    out->data_types = ap__field(root, "data_types");
    out->clock_is_ns = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "clock_is_ns"));
    out->disk_errno = (int)ap__field(root, "disk_errno");
    ap__take_total(cJSON_GetObjectItemCaseSensitive(root, "total"), &out->total);
    if (!ap__take_threads(cJSON_GetObjectItemCaseSensitive(root, "threads"), out) ||
        !ap__take_points(cJSON_GetObjectItemCaseSensitive(root, "clock_points"), out)) {
        ap__account_free(out);
        out = NULL;
    }
out:
    cJSON_Delete(root);
    return out;
}

void ap__account_free(ap__reader_account *account)
{
    if (account != NULL) {
        free(account->threads);
        free(account->points);
        free(account);
    }
}
