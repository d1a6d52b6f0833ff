/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reader/record_sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/safe_file.h"
#include "writer/device_files.h"

#define AP_SIZES_MAX 65536u
#define AP_RECORD_MAX 65536u

char *ap__record_sizes_read(int ext_fd, uint32_t device, ap__notes *notes)
{
    char name[48];
    size_t length = 0;
    int error = 0;

    if (ext_fd < 0) {
        return NULL;
    }
    (void)snprintf(name, sizeof(name), AP_DEVICE_FILES_NAME ".%" PRIu32, device);
    return ap__read_whole(ext_fd, name, AP_SIZES_MAX, &length, notes, &error);
}

/* false: it does not name the file, or with no good number. */
static bool ap__noted(const char *sizes, const char *name, uint32_t *out)
{
    size_t length = strlen(name);

    for (const char *p = sizes; p != NULL && *p != '\0';) {
        if (strncmp(p, name, length) == 0 && p[length] == ' ') {
            char *end = NULL;
            unsigned long n = strtoul(p + length + 1, &end, 10);

            if (end == p + length + 1 || *end != '\n' || n > AP_RECORD_MAX) {
                return false;
            }
            *out = n != 0 ? (uint32_t)n : AP_RECORD_LINES;
            return true;
        }
        p = strchr(p, '\n');
        p = p != NULL ? p + 1 : NULL;
    }
    return false;
}

/* Of directories without notes. */
static uint32_t ap__usual(const char *name, uint32_t chip)
{
    static const struct {
        const char *stem;
        uint32_t bytes;
        uint32_t of_v6; /* on chips 15 and later */
    } files[] = {{"stars_soc.data.", 64, 32},     {"ffts_profile.data.", 128, 128},
                 {"ts_track.data.", 40, 40},      {"hwts.data.", 64, 64},
                 {"aicore.data.", 128, 128},      {"l2_cache.data.", 72, 72},
                 {"lpmFreqConv.data.", 888, 888}, {"lpmInfoConv.data.", 888, 888},
                 {"socpmu.data.", 80, 80},        {"stars_soc_profile.data.", 64, 64},
                 {"aicpu.data.", 256, 256},       {"hbm.data.", 24, 24},
                 {"ddr.data.", 20, 20},           {"llc.data.", 24, 24},
                 {"npu_mem.app.", 32, 32},        {"npu_mem.data.", 32, 32},
                 {"npu_module_mem.data.", 24, 24}, {"qos.data.", 64, 64},
                 {"pcie.data.", 96, 96},          {"ub.data.", 128, 128},
                 {"tscpu.data.", 304, 304}};
    static const char *const texts[] = {"nic.data.", "roce.data.", "hccs.data.", "dvpp."};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strncmp(name, files[i].stem, strlen(files[i].stem)) == 0) {
            return chip >= 15 ? files[i].of_v6 : files[i].bytes;
        }
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strncmp(name, texts[i], strlen(texts[i])) == 0) {
            return AP_RECORD_LINES;
        }
    }
    return 0;
}

uint32_t ap__record_size_of(const char *sizes, const char *name, uint32_t chip)
{
    uint32_t bytes = 0;

    return ap__noted(sizes, name, &bytes) ? bytes : ap__usual(name, chip);
}

bool ap__record_is_host_text(const char *name)
{
    static const char *const suffixes[] = {"-CpuUsage.data", "-Memory.data"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t n = strlen(suffixes[i]);

        if (length > n && strcmp(name + length - n, suffixes[i]) == 0) {
            return true;
        }
    }
    return strncmp(name, "host_", 5) == 0;
}
