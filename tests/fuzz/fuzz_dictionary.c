/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionaries; the first byte says which: hash_dic, type_info_dic or names.dic. */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/ext_wire.h"
#include "fuzz.h"
#include "reader/dictionaries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"unaging.additional.hash_dic.slice_0",
                                        "unaging.additional.type_info_dic.slice_0",
                                        AP_EXT_NAMES_NAME};
    ap__notes notes = {0};
    ap__dictionaries d;
    ap__sources sources;
    int dir = -1;

    if (size == 0) {
        return 0;
    }
    for (size_t i = 0; i < 3; i++) {
        bool this = data[0] % 3 == i;

        dir = fuzz_file(names[i], data + 1, this ? size - 1 : 0);
    }
    assert(ap__sources_list(dir, &sources, &notes) == 0);
    assert(ap__dictionaries_load(&d, dir, &sources, dir, &notes) == 0);
    if (data[0] % 3 == 2) {
        int fd = openat(dir, AP_EXT_NAMES_NAME, O_RDONLY | O_CLOEXEC);
        int64_t whole = ap__names_walk(fd, size - 1, NULL);

        assert(whole <= (int64_t)size - 1);
        close(fd);
    }
    ap__dictionaries_free(&d);
    ap__sources_free(&sources);
    ap__notes_free(&notes);
    return 0;
}
