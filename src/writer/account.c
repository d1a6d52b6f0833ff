/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "writer/file_io.h"
#include "writer/json_build.h"

#define AP_ACCOUNT_VERSION 1
#define AP_ACCOUNT_TEMP AP_EXT_ACCOUNT_NAME ".tmp"

static void ap__total(bool *ok, cJSON *root, const aclprofStats *t)
{
    cJSON *o = ap__json_object(ok, root, "total");

    ap__json_u64(ok, o, "emitted", t->emitted);
    ap__json_u64(ok, o, "written", t->written);
    ap__json_u64(ok, o, "pending", t->pending);
    ap__json_u64(ok, o, "lost_total", t->lostTotal);
    ap__json_u64(ok, o, "lost_full", t->lostRingFull);
    ap__json_u64(ok, o, "lost_no_ring", t->lostNoRing);
    ap__json_u64(ok, o, "lost_reentrant", t->lostReentrant);
    ap__json_u64(ok, o, "lost_disk", t->lostDisk);
    ap__json_u64(ok, o, "lost_aged", t->lostAged);
    ap__json_u64(ok, o, "lost_damaged", t->lostDamaged);
    ap__json_u64(ok, o, "open_at_stop", t->openAtStop);
    ap__json_u64(ok, o, "cut_messages", t->cutMessages);
    ap__json_u64(ok, o, "bytes_written", t->bytesWritten);
    ap__json_u64(ok, o, "slices_removed", t->slicesRemoved);
    ap__json_u64(ok, o, "call_ns", t->callNs);
    ap__json_u64(ok, o, "writer_cpu_ns", t->writerCpuNs);
    ap__json_u64(ok, o, "threads", t->threads);
}

static void ap__threads(bool *ok, cJSON *root, const ap__account *account)
{
    cJSON *list = ap__json_array(ok, root, "threads");

    for (uint32_t i = 0; *ok && i < account->thread_count; i++) {
        const ap__thread_account *t = &account->threads[i];
        cJSON *o = ap__json_item(ok, list);

        ap__json_u64(ok, o, "tid", t->tid);
        ap__json_u64(ok, o, "emitted", t->emitted);
        ap__json_u64(ok, o, "written", t->written);
        ap__json_u64(ok, o, "lost_full", t->lost_full);
        ap__json_u64(ok, o, "lost_no_ring", t->lost_no_ring);
        ap__json_u64(ok, o, "lost_reentrant", t->lost_reentrant);
        ap__json_u64(ok, o, "lost_disk", t->lost_disk);
        ap__json_u64(ok, o, "cut_messages", t->cut_messages);
    }
}

static void ap__points(bool *ok, cJSON *root, const ap__account *account)
{
    cJSON *list = ap__json_array(ok, root, "clock_points");

    for (uint32_t i = 0; *ok && i < account->point_count; i++) {
        const ap__clock_point *p = &account->points[i];
        cJSON *o = ap__json_item(ok, list);

        ap__json_u64(ok, o, "cycles", p->cycles);
        ap__json_u64(ok, o, "mono_raw_ns", p->mono_raw_ns);
        ap__json_u64(ok, o, "mono_ns", p->mono_ns);
        ap__json_u64(ok, o, "real_ns", p->real_ns);
        ap__json_u64(ok, o, "error_ns", p->error_ns);
    }
}

static char *ap__account_text(const ap__account *account)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root != NULL;

    ap__json_u64(&ok, root, "version", AP_ACCOUNT_VERSION);
    ap__json_text(&ok, root, "state", account->state != NULL ? account->state : "");
    ap__json_text(&ok, root, "arena", account->arena != NULL ? account->arena : "");
    ap__json_u64(&ok, root, "data_types", account->data_types);
    ap__json_bool(&ok, root, "clock_is_ns", account->clock_is_ns != 0);
    ap__json_i64(&ok, root, "disk_errno", account->disk_errno);
    ap__total(&ok, root, &account->total);
    ap__threads(&ok, root, account);
    ap__points(&ok, root, account);
    return ap__json_print(ok, root);
}

int ap__account_write(int dirfd, const ap__account *account)
{
    char *text = ap__account_text(account);
    int err = ENOMEM;

    if (text != NULL) {
        (void)unlinkat(dirfd, AP_ACCOUNT_TEMP, 0); /* of a process that was killed */
        err = ap__file_put(dirfd, AP_ACCOUNT_TEMP, text, strlen(text));
    }
    if (err == 0 && renameat(dirfd, AP_ACCOUNT_TEMP, dirfd, AP_EXT_ACCOUNT_NAME) != 0) {
        err = errno;
        (void)unlinkat(dirfd, AP_ACCOUNT_TEMP, 0);
    }
    cJSON_free(text);
    return err;
}
