/* SPDX-License-Identifier: Apache-2.0 */
/* The rings that a killed process has left. */
#include <assert.h>

#include "fuzz.h"
#include "reader/ring_cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ap__arena_view view;
    static ap__ring_cursor cursor;
    static ap__open_push open[64];
    ap__notes notes = {0};
    ap__ring_item item;
    uint32_t slots = 0;
    size_t bytes = 0;
    const uint8_t *arena = fuzz_sparse(data, size, &bytes);
    int dir = fuzz_file(AP_ARENA_NAME, arena, bytes);

    ap__arena_view_open(&view, dir, false, &notes);
    assert((view.state == AP_ARENA_READY) == (view.fd >= 0) || view.state != AP_ARENA_READY);
    if (view.state == AP_ARENA_READY) {
        ap__ring_cursor_begin(&cursor, &view, size % 2 != 0, &notes);
        while (ap__ring_cursor_next(&cursor, &item)) {
            assert(item.slot < view.slot_count);
            slots += item.kind == AP_RING_END;
            assert(item.kind != AP_RING_EVENT || item.fields.message != NULL ||
                   item.fields.length == 0);
            assert(item.kind != AP_RING_RAW || item.raw_bytes == 0 || item.raw != NULL);
        }
        assert(slots == view.slot_count);
        for (uint32_t i = 0; i < view.slot_count && i < 8; i++) {
            uint32_t kept = 0;

            (void)ap__open_pushes(&view, i, open, 64, &kept);
            assert(kept <= 64);
        }
    }
    ap__arena_view_close(&view);
    ap__notes_free(&notes);
    return 0;
}
