/* SPDX-License-Identifier: Apache-2.0 */
/* Records in slices: the first bytes say kind, record size, magic, where slices are cut, and what
 * limit there is. */
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "reader/slice_cursor.h"

static void walk(int dir, const ap__source *source, const uint8_t *head, bool as)
{
    static ap__slice_cursor cursor;
    ap__notes notes = {0};
    ap__blob record;
    uint32_t slice = 0;
    uint32_t index = 0;
    uint64_t seen = 0;

    if (as) {
        ap__slice_cursor_begin_as(&cursor, dir, source, 1u + head[1], (uint16_t)(head[2] & 3) << 8,
                                  head[3] % (1u + head[1]), &notes);
    } else {
        ap__slice_cursor_begin(&cursor, dir, source, &notes);
    }
    if ((head[0] & 0x80) != 0) {
        ap__slice_cursor_limit(&cursor, head[4] % 4, head[5] * 16u);
    }
    while (ap__slice_cursor_next(&cursor, &record, &slice, &index)) {
        assert(record.data != NULL && record.size == cursor.record_size && slice < 4);
        assert(record.data[0] + record.data[record.size - 1] >= 0);
        seen++;
    }
    assert(cursor.records == seen);
    ap__slice_cursor_end(&cursor);
    ap__notes_free(&notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const sources[] = {"aging.api_event.data", "aging.compact.task_track",
                                          "aging.additional.msproftx", "stars_soc.data.0"};
    const char *name = size >= 8 ? sources[data[0] % 4] : NULL;
    ap__notes notes = {0};
    ap__sources list;
    char file[128];
    int dir = -1;
    size_t at = 8;

    if (size < 8) {
        return 0;
    }
    for (unsigned i = 0; i < 3; i++) {
        size_t rest = size - at;
        size_t part = i == 2 ? rest : (size_t)data[6 + i] * 8 < rest ? data[6 + i] * 8u : rest;

        snprintf(file, sizeof(file), "%s.slice_%u", name, i);
        dir = fuzz_file(file, data + at, part);
        at += part;
    }
    assert(ap__sources_list(dir, &list, &notes) == 0);
    for (uint32_t i = 0; i < list.count; i++) {
        bool fixed = ap__source_record_size(list.list[i].kind) != 0;

        walk(dir, &list.list[i], data, !fixed || (data[0] & 0x40) != 0);
    }
    ap__sources_free(&list);
    ap__notes_free(&notes);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(file, sizeof(file), "%s.slice_%u", name, i);
        (void)unlinkat(dir, file, 0);
    }
    return 0;
}
