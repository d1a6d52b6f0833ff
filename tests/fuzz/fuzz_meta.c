/* SPDX-License-Identifier: Apache-2.0 */
/* The control files; the first byte says which of them the rest is. */
#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "fuzz.h"
#include "reader/meta.h"
#include "reader/reader_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"info.json", "sample.json",    "start_info",
                                        "end_info",  "host_start.log", AP_EXT_ACCOUNT_NAME};
    ap__notes notes = {0};
    ap__reader_account *account = NULL;
    ap__meta meta;
    int dir = -1;

    if (size == 0) {
        return 0;
    }
    dir = fuzz_file(names[data[0] % 6], data + 1, size - 1);
    ap__meta_read(dir, &meta, &notes);
    assert(memchr(meta.host_name, '\0', sizeof(meta.host_name)) != NULL);
    assert(memchr(meta.process_name, '\0', sizeof(meta.process_name)) != NULL);
    (void)ap__host_clock_ns(&meta.clock, 0);
    (void)ap__host_clock_ns(&meta.clock, UINT64_MAX);
    (void)ap__host_clock_wall_ns(&meta.clock, UINT64_MAX);
    account = ap__account_read(dir, &notes);
    for (uint32_t i = 0; account != NULL && i < account->thread_count; i++) {
        assert(account->threads != NULL);
    }
    ap__account_free(account);
    ap__notes_free(&notes);
    (void)unlinkat(dir, names[data[0] % 6], 0);
    return 0;
}
