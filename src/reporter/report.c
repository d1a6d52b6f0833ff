/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reporter/report.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/cycles.h"
#include "ring/raw.h"
#include "stamp/intern.h"
#include "stamp/type_names.h"

#define AP_HEADER_BYTES ((uint32_t)offsetof(ap__wire_compact, data))

_Static_assert(offsetof(ap__wire_compact, data) == offsetof(ap__wire_additional, data), "headers");

bool ap__report_wanted(void)
{
    return ap__report_key() != AP_GATE_CLOSED;
}

uint64_t ap__report_time(void)
{
    return ap__mono_raw_ns();
}

uint32_t ap__report_thread(void)
{
    return ap__self != &ap__nobody ? ap__self->tid : (uint32_t)syscall(SYS_gettid);
}

static uint32_t ap__flags(uint32_t kind, bool aging)
{
    return kind | (aging ? AP_RAW_AGING : 0);
}

static uint16_t ap__magic(const void *record)
{
    uint16_t magic = 0;

    memcpy(&magic, record, sizeof(magic));
    return magic;
}

int32_t ap__report_api(bool aging, const ap__wire_api *record)
{
    if (record == NULL || ap__magic(record) != AP_WIRE_MAGIC) {
        return -1;
    }
    (void)ap__raw_emit(ap__flags(AP_RAW_API, aging), record, sizeof(*record), NULL, 0);
    return 0;
}

/* Header there, and what it says of its data is there, too. */
static bool ap__record_ok(const void *record, uint32_t len, uint32_t max)
{
    uint32_t data = 0;

    if (record == NULL || len < AP_HEADER_BYTES || len > max ||
        ap__magic(record) != AP_WIRE_MAGIC) {
        return false;
    }
    memcpy(&data, (const char *)record + offsetof(ap__wire_compact, data_length), sizeof(data));
    return data <= max - AP_HEADER_BYTES;
}

int32_t ap__report_compact(bool aging, const void *record, uint32_t len)
{
    if (!ap__record_ok(record, len, sizeof(ap__wire_compact))) {
        return -1;
    }
    (void)ap__raw_emit(ap__flags(AP_RAW_COMPACT, aging), record, len, NULL, 0);
    return 0;
}

int32_t ap__report_additional(bool aging, const void *record, uint32_t len)
{
    uint32_t kind = len <= sizeof(ap__wire_additional) ? AP_RAW_ADDITIONAL : AP_RAW_VARIABLE;

    if (!ap__record_ok(record, len,
                       kind == AP_RAW_ADDITIONAL ? (uint32_t)sizeof(ap__wire_additional)
                                                 : AP_RAW_MAX_BYTES)) {
        return -1;
    }
    (void)ap__raw_emit(ap__flags(kind, aging), record, len, NULL, 0);
    return 0;
}

int32_t ap__report_batch(bool aging, const void *records, uint32_t len)
{
    const char *at = records;
    const uint32_t size = sizeof(ap__wire_additional);

    if (records == NULL || len == 0 || len % size != 0 || len > AP_REPORT_BATCH_MAX) {
        return -1;
    }
    for (uint32_t i = 0; i < len / size; i++) { /* all are looked at before any is taken */
        if (!ap__record_ok(at + i * size, size, size)) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < len / size; i++) {
        (void)ap__raw_emit(ap__flags(AP_RAW_ADDITIONAL, aging), at + i * size, size, NULL, 0);
    }
    return 0;
}

uint64_t ap__report_hash(const char *text, size_t length)
{
    uint64_t id = 0;

    return ap__intern(AP_INTERN_HASH, text, length, &id) ? id : 0;
}

int32_t ap__report_type(uint16_t level, uint32_t type, const char *name)
{
    return name != NULL && name[0] != '\0' && ap__type_register(level, type, name) ? 0 : -1;
}
