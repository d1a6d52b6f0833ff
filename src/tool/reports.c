/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/reports.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/notes.h"
#include "reader/safe_file.h"

#define AP_REPORTS_MAX ((size_t)64 << 20)
#define AP_REPORTS_PATH 1024u

static const char *const ap__keys[AP_LAYER_COUNT] = {
    [AP_LAYER_ASCEND] = "ascend",
    [AP_LAYER_ACC_PMU] = "acc_pmu",
    [AP_LAYER_CANN] = "cann",
    [AP_LAYER_STARS_CHIP_TRANS] = "stars_chip_trans",
    [AP_LAYER_HBM] = "hbm",
    [AP_LAYER_COMMUNICATION] = "communication",
    [AP_LAYER_HCCS] = "hccs",
    [AP_LAYER_OS_RUNTIME_API] = "os_runtime_api",
    [AP_LAYER_NETWORK_USAGE] = "network_usage",
    [AP_LAYER_DISK_USAGE] = "disk_usage",
    [AP_LAYER_MEMORY_USAGE] = "memory_usage",
    [AP_LAYER_CPU_USAGE] = "cpu_usage",
    [AP_LAYER_MSPROFTX] = "msproftx",
    [AP_LAYER_NPU_MEM] = "npu_mem",
    [AP_LAYER_OVERLAP_ANALYSE] = "overlap_analyse",
    [AP_LAYER_PCIE] = "pcie",
    [AP_LAYER_SIO] = "sio",
    [AP_LAYER_STARS_SOC] = "stars_soc",
    [AP_LAYER_STEP_TRACE] = "step_trace",
    [AP_LAYER_FREQ] = "freq",
    [AP_LAYER_NIC] = "nic",
    [AP_LAYER_ROCE] = "roce",
    [AP_LAYER_QOS] = "qos",
    [AP_LAYER_DEVICE_TX] = "device_tx",
    [AP_LAYER_UB] = "ub",
    [AP_LAYER_BLOCK_DETAIL] = "block_detail",
    [AP_LAYER_FUSION_TASK] = "fusion_task",
};

/* Layers of the vendor's that we have no data for. */
static bool ap__is_other(const char *key)
{
    static const char *const others[] = {"ddr", "ccu", "llc", "biu_perf", "dpu"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(key, others[i]) == 0) {
            return true;
        }
    }
    return false;
}

static uint64_t ap__layers_of(const cJSON *process)
{
    uint64_t layers = UINT64_MAX;
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, process)
    {
        uint32_t layer = 0;

        while (layer < AP_LAYER_COUNT && strcmp(ap__keys[layer], item->string) != 0) {
            layer++;
        }
        if (!cJSON_IsBool(item) || (layer == AP_LAYER_COUNT && !ap__is_other(item->string))) {
            return UINT64_MAX;
        }
        if (layer < AP_LAYER_COUNT && cJSON_IsFalse(item)) {
            layers &= ~(1ull << layer);
        }
    }
    return layers;
}

int ap__reports_read(const char *path, uint64_t *layers, char *error, size_t size)
{
    ap__notes notes = {0};
    size_t length = 0;
    int rc = 0;
    char *text = NULL;
    cJSON *json = NULL;

    if (strlen(path) > AP_REPORTS_PATH) {
        (void)snprintf(error, size, "the path of --reports is longer than %u bytes",
                       AP_REPORTS_PATH);
        return ENAMETOOLONG;
    }
    text = ap__read_whole(AT_FDCWD, path, AP_REPORTS_MAX, &length, &notes, &rc);
    json = text != NULL ? cJSON_Parse(text) : NULL;
    if (text == NULL) {
        rc = rc != 0 ? rc : EINVAL;
        (void)snprintf(error, size, "%s cannot be read: %s", path, strerror(rc));
    } else if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(json, "json_process"))) {
        rc = EINVAL;
        (void)snprintf(error, size, "%s is no JSON object with a \"json_process\"", path);
    } else {
        rc = 0;
        *layers = ap__layers_of(cJSON_GetObjectItemCaseSensitive(json, "json_process"));
    }
    cJSON_Delete(json);
    free(text);
    ap__notes_free(&notes);
    return rc;
}
