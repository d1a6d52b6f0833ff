/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/task_types.h"

#include <string.h>

#include "format/wire_host.h"
#include "format/wire_report.h"

const char *ap__host_type(const ap__model *m, const ap__track *track)
{
    static const struct {
        uint64_t type;
        const char *name;
    } types[] = {{AP_TASK_AICORE, "KERNEL_AICORE"},      {AP_TASK_AICPU, "KERNEL_AICPU"},
                 {AP_TASK_EVENT_RECORD, "EVENT_RECORD"}, {AP_TASK_EVENT_WAIT, "EVENT_WAIT"},
                 {AP_TASK_MEMCPY, "MEMCPY_ASYNC"},       {AP_TASK_AIVEC, "KERNEL_AIVEC"},
                 {AP_TASK_MIX_AIC, "KERNEL_MIX_AIC"}};
    const char *name = ap__reader_type_name(m->reader, AP_LEVEL_RUNTIME, (uint32_t)track->type);

    for (size_t i = 0; name == NULL && i < sizeof(types) / sizeof(types[0]); i++) {
        name = types[i].type == track->type ? types[i].name : NULL;
    }
    return name;
}

const char *ap__device_type(const ap__model *m, const ap__task *t)
{
    static const char *const kinds[] = {"AI_CORE",           "AI_CPU",           "AIV_SQE",
                                        "PLACE_HOLDER_SQE",  "EVENT_RECORD_SQE", "EVENT_WAIT_SQE",
                                        "NOTIFY_RECORD_SQE", "NOTIFY_WAIT_SQE",  "WRITE_VALUE_SQE",
                                        "VQ6_SQE",           "TOF_SQE",          "SDMA_SQE",
                                        "VPC_SQE",           "JPEGE_SQE",        "JPEGD_SQE",
                                        "DSA_SQE",           "ROCCE_SQE",        "PCIE_DMA_SQE",
                                        "HOST_CPU_SQE",      "CDQM_SQE",         "C_CORE_SQE"};

    if (t->part != AP_NONE) {
        return ap__task_type(m, t);
    }
    return t->kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[t->kind] : "Other";
}

const char *ap__task_text(const ap__model *m, const ap__task *t)
{
    const char *name = t->track != AP_NONE ? ap__host_type(m, &m->tracks[t->track]) : NULL;

    return name == NULL || strcmp(name, "FFTS_PLUS") == 0 || strcmp(name, "UNKNOWN") == 0
               ? ap__device_type(m, t)
               : name;
}

bool ap__is_communication_server(const char *op)
{
    size_t length = op != NULL ? strlen(op) : 0;

    return length >= 11 && strcmp(op + length - 11, "AicpuKernel") == 0;
}
