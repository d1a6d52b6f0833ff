/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery of a whole result directory: it balances, and doing it again changes nothing. */
#include <assert.h>
#include <stdlib.h>

#include "fuzz.h"
#include "reader/reader.h"
#include "reader/recover.h"

static void read_again(const char *path)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(path, &error);
    const ap__reader_account *a = NULL;
    ap__stamp_record s;

    assert(reader != NULL);
    while (ap__reader_next_stamp(reader, &s)) {
        assert(!s.from_ring);
    }
    a = ap__reader_account_of(reader);
    assert(a == NULL || ap__reader_state_of(reader) != AP_READER_RECOVERED ||
           a->total.emitted == a->total.written + a->total.lostTotal);
    ap__reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ap__recover_report report;
    static char text[8192];
    const char *path = fuzz_tree(data, size);
    int code = ap__recover(path, &report);
    uint64_t print = fuzz_tree_print();

    (void)ap__recover_report_text(&report, text, sizeof(text));
    assert(text[0] != '\0');
    assert(code == 0 || report.error[0] != '\0');
    ap__recover_report_free(&report);
    if (code != 0) {
        return 0;
    }
    read_again(path);
    assert(ap__recover(path, &report) == 0 && report.code == AP_RECOVER_NOTHING);
    ap__recover_report_free(&report);
    assert(fuzz_tree_print() == print);
    return 0;
}
