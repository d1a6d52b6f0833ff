/* SPDX-License-Identifier: Apache-2.0 */
/* acl.json, options of the graph engine, PROFILER_SAMPLECONFIG; the first byte says which. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "session/command_parse.h"
#include "session/errtext.h"
#include "session/settings_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ap__command_config config;
    char *text = NULL;
    char *list = NULL;
    uint32_t hz = 0;
    uint64_t mb = 0;

    if (size == 0) {
        return 0;
    }
    text = malloc(size); /* without a NUL: as long as it is */
    list = malloc(size + 1);
    assert(text != NULL && list != NULL);
    memcpy(text, data + 1, size - 1);
    if (!ap__command_parse((ap__command_source)(data[0] % 3), text, size - 1, &config)) {
        assert(ap__last_error() != NULL && ap__last_error()[0] != '\0');
    }
    assert(config.config.device_count <= AP_MAX_DEVICES);
    assert(!ap__parse_hz(text, size - 1, 100, &hz) || (hz >= 1 && hz <= 100));
    assert(!ap__parse_storage_mb(text, size - 1, &mb) || mb >= 200);
    (void)ap__parse_nts(text, size - 1);
    if (ap__parse_list(text, size - 1, list)) {
        assert(strlen(list) <= size - 1);
    }
    free(list);
    free(text);
    return 0;
}
