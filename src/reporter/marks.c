/* SPDX-License-Identifier: Apache-2.0 */
#include "reporter/marks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/utf8.h"
#include "format/wire_host.h"
#include "ring/raw.h"

#define AP_PART_MAX (AP_TX_MESSAGE_BYTES - 1u)
#define AP_RUN 16u /* parts that are recorded as a whole */
#define AP_SHORT 320u
#define AP_TEXT_MAX ((1u << 20) - 1u) /* what readers join */
#define AP_GROWTH 3u /* of a bad byte */

uint64_t ap__mark_id_next(void)
{
    static _Atomic uint64_t last;

    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static void ap__fill(ap__wire_additional *record, const ap__mark *mark, uint16_t part,
                     const char *text, size_t length)
{
    ap__wire_tx tx = {.info_type = AP_TX_INFO_EX,
                      .segment = part,
                      .process_id = (uint32_t)getpid(),
                      .thread_id = mark->thread,
                      .event_type = mark->event,
                      .start_time = mark->start,
                      .end_time = mark->end,
                      .mark_id = mark->id,
                      .domain = mark->domain};

    memcpy(tx.message, text, length);
    *record = (ap__wire_additional){.magic = AP_WIRE_MAGIC,
                                    .level = AP_LEVEL_TX,
                                    .type = AP_TYPE_TX,
                                    .thread_id = mark->thread,
                                    .data_length = AP_TX_DATA_BYTES,
                                    .time_stamp = mark->start};
    memcpy(record->data, &tx, sizeof(tx));
}

static bool ap__emit_parts(const ap__mark *mark, const char *text, size_t length)
{
    const uint32_t flags = AP_RAW_ADDITIONAL | AP_RAW_AGING | AP_RAW_OF_STAMPS;
    ap__wire_additional run[AP_RUN];
    uint16_t part = 0;
    size_t at = 0;
    bool lost = false;
    ap__raw_result result = AP_RAW_TAKEN;

    do { /* what would come behind a lost part could not be joined */
        uint32_t n = 0;

        do {
            size_t piece = ap__utf8_cut(text + at, length - at, AP_PART_MAX);

            ap__fill(&run[n++], mark, part++, text + at, piece);
            at += piece;
        } while (at < length && n < AP_RUN);
        result = ap__raw_emit_run(flags, run, n, &lost);
    } while (result == AP_RAW_TAKEN && !lost && at < length);
    return result == AP_RAW_TAKEN;
}

bool ap__mark_emit(const ap__mark *mark, const char *text, size_t length)
{
    char room[AP_GROWTH * AP_SHORT];
    size_t taken = length < AP_TEXT_MAX ? length : AP_TEXT_MAX;
    size_t size = taken <= AP_SHORT ? sizeof(room) : AP_GROWTH * taken;
    char *clean = taken <= AP_SHORT ? room : malloc(size);
    bool ok = false;

    if (clean == NULL) { /* at least how it begins */
        clean = room;
        size = sizeof(room);
    }
    taken = ap__utf8_clean(clean, size, text, taken);
    taken = ap__utf8_cut(clean, taken, mark->event == AP_TX_MARK_EX ? AP_PART_MAX : AP_TEXT_MAX);
    ok = ap__emit_parts(mark, clean, taken);
    if (clean != room) {
        free(clean);
    }
    return ok;
}
