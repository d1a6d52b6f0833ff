/* SPDX-License-Identifier: Apache-2.0 */
/* Constants, enumerators and layouts of acl_prof.h that compiled programs have baked in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "acl/acl_prof.h"

static void test_data_types(void **state)
{
    static const struct {
        uint64_t is;
        uint64_t must;
    } bits[] = {
        { ACL_PROF_ACL_API, UINT64_C(0x1) },
        { ACL_PROF_TASK_TIME, UINT64_C(0x2) },
        { ACL_PROF_AICORE_METRICS, UINT64_C(0x4) },
        { ACL_PROF_AICPU, UINT64_C(0x8) },
        { ACL_PROF_L2CACHE, UINT64_C(0x10) },
        { ACL_PROF_HCCL_TRACE, UINT64_C(0x20) },
        { ACL_PROF_TRAINING_TRACE, UINT64_C(0x40) },
        { ACL_PROF_MSPROFTX, UINT64_C(0x80) },
        { ACL_PROF_RUNTIME_API, UINT64_C(0x100) },
        { ACL_PROF_GE_API_L0, UINT64_C(0x200) },
        { ACL_PROF_TASK_TIME_L0, UINT64_C(0x800) },
        { ACL_PROF_TASK_MEMORY, UINT64_C(0x1000) },
        { ACL_PROF_TASK_TIME_L2, UINT64_C(0x2000) },
        { ACL_PROF_OP_ATTR, UINT64_C(0x4000) },
        { ACL_PROF_TASK_TIME_L3, UINT64_C(0x8000) },
        { ACL_PROF_GE_API_L1, UINT64_C(0x1000000) },
        { ACL_PROF_API_STATS, UINT64_C(0x400000000) },
        { ACL_PROF_AICORE_SHAPE, UINT64_C(0x800000000) },
    };
    uint64_t all = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        assert_true(bits[i].is == bits[i].must);
        assert_true((all & bits[i].is) == 0);
        all |= bits[i].is;
    }
    /* What aclprofStart takes, but for the bit that aclprofCreateConfig adds itself. */
    assert_true(all == UINT64_C(0xC0100FBFF));
}

#define IS_64_BIT(name) \
    do { \
        assert_int_equal(sizeof(name), 8); \
        assert_true(~(name) > UINT32_MAX); \
    } while (0)

/* A constant of 32 bits would clear the upper half in `mask & ~ACL_PROF_X`. */
static void test_data_types_are_64_bit(void **state)
{
    (void)state;
    IS_64_BIT(ACL_PROF_ACL_API);
    IS_64_BIT(ACL_PROF_TASK_TIME);
    IS_64_BIT(ACL_PROF_AICORE_METRICS);
    IS_64_BIT(ACL_PROF_AICPU);
    IS_64_BIT(ACL_PROF_L2CACHE);
    IS_64_BIT(ACL_PROF_HCCL_TRACE);
    IS_64_BIT(ACL_PROF_TRAINING_TRACE);
    IS_64_BIT(ACL_PROF_MSPROFTX);
    IS_64_BIT(ACL_PROF_RUNTIME_API);
    IS_64_BIT(ACL_PROF_GE_API_L0);
    IS_64_BIT(ACL_PROF_TASK_TIME_L0);
    IS_64_BIT(ACL_PROF_TASK_MEMORY);
    IS_64_BIT(ACL_PROF_TASK_TIME_L2);
    IS_64_BIT(ACL_PROF_OP_ATTR);
    IS_64_BIT(ACL_PROF_TASK_TIME_L3);
    IS_64_BIT(ACL_PROF_GE_API_L1);
    IS_64_BIT(ACL_PROF_API_STATS);
    IS_64_BIT(ACL_PROF_AICORE_SHAPE);
}

static void test_metrics(void **state)
{
    (void)state;
    assert_int_equal(ACL_AICORE_ARITHMETIC_UTILIZATION, 0);
    assert_int_equal(ACL_AICORE_PIPE_UTILIZATION, 1);
    assert_int_equal(ACL_AICORE_MEMORY_BANDWIDTH, 2);
    assert_int_equal(ACL_AICORE_L0B_AND_WIDTH, 3);
    assert_int_equal(ACL_AICORE_RESOURCE_CONFLICT_RATIO, 4);
    assert_int_equal(ACL_AICORE_MEMORY_UB, 5);
    assert_int_equal(ACL_AICORE_L2_CACHE, 6);
    assert_int_equal(ACL_AICORE_PIPE_EXECUTE_UTILIZATION, 7);
    assert_int_equal(ACL_AICORE_MEMORY_ACCESS, 8);
    assert_int_equal(ACL_AICORE_NONE, 0xFF);
}

static void test_config_types(void **state)
{
    (void)state;
    assert_int_equal(ACL_PROF_ARGS_MIN, 0);
    assert_int_equal(ACL_PROF_STORAGE_LIMIT, 1);
    assert_int_equal(ACL_PROF_SYS_HARDWARE_MEM_FREQ, 3);
    assert_int_equal(ACL_PROF_LLC_MODE, 4);
    assert_int_equal(ACL_PROF_SYS_IO_FREQ, 5);
    assert_int_equal(ACL_PROF_SYS_INTERCONNECTION_FREQ, 6);
    assert_int_equal(ACL_PROF_DVPP_FREQ, 7);
    assert_int_equal(ACL_PROF_HOST_SYS, 8);
    assert_int_equal(ACL_PROF_HOST_SYS_USAGE, 9);
    assert_int_equal(ACL_PROF_HOST_SYS_USAGE_FREQ, 10);
    assert_int_equal(ACL_PROF_LOW_POWER_FREQ, 11);
    assert_int_equal(ACL_PROF_SYS_MEM_SERVICEFLOW, 12);
    assert_int_equal(ACL_PROF_SYS_CPU_FREQ, 13);
    assert_int_equal(ACL_PROF_OPTYPE, 14);
    assert_int_equal(ACL_PROF_NTS_METRICS, 15);
    assert_int_equal(ACL_PROF_PATH, 16);
    assert_int_equal(ACL_PROF_ARGS_MAX, 17);
}

static void test_other_enums(void **state)
{
    (void)state;
    assert_int_equal(ACL_STEP_START, 0);
    assert_int_equal(ACL_STEP_END, 1);
    assert_int_equal(ACL_SUBSCRIBE_OP, 0);
    assert_int_equal(ACL_SUBSCRIBE_SUBGRAPH, 1);
    assert_int_equal(ACL_SUBSCRIBE_OP_THREAD, 2);
    assert_int_equal(ACL_SUBSCRIBE_NONE, 0xFF);
    assert_int_equal(ACL_SUBSCRIBE_ATTRI_THREADID, 0);
    assert_int_equal(ACL_SUBSCRIBE_ATTRI_NONE, 1);
}

static void test_type_sizes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(aclError), 4);
    assert_true((aclError)-1 < 0);
    assert_int_equal(sizeof(aclrtStream), sizeof(void *));
    assert_int_equal(sizeof(aclprofAicoreMetrics), 4);
    assert_int_equal(sizeof(aclprofConfigType), 4);
    assert_int_equal(sizeof(aclprofStepTag), 4);
    assert_int_equal(sizeof(aclprofSubscribeOpFlag), 4);
    assert_int_equal(sizeof(aclprofSubscribeOpAttri), 4);
}

static void test_name_lengths(void **state)
{
    (void)state;
    assert_int_equal(ACL_PROF_MAX_OP_TYPE_LEN, 65);
    assert_int_equal(ACL_PROF_MAX_OP_NAME_LEN, 275);
}

static void test_codes(void **state)
{
    (void)state;
    assert_int_equal(ACL_SUCCESS, 0);
    assert_int_equal(ACL_ERROR_NONE, 0);
    assert_int_equal(ACL_ERROR_INVALID_PARAM, 100000);
    assert_int_equal(ACL_ERROR_UNINITIALIZE, 100001);
    assert_int_equal(ACL_ERROR_REPEAT_INITIALIZE, 100002);
    assert_int_equal(ACL_ERROR_INVALID_FILE, 100003);
    assert_int_equal(ACL_ERROR_INVALID_PROFILING_CONFIG, 100010);
    assert_int_equal(ACL_ERROR_INVALID_MODEL_ID, 100011);
    assert_int_equal(ACL_ERROR_COMPILING_STUB_MODE, 100039);
    assert_int_equal(ACL_ERROR_PROF_ALREADY_RUN, 100042);
    assert_int_equal(ACL_ERROR_PROF_NOT_RUN, 100043);
    assert_int_equal(ACL_ERROR_PROF_REPEAT_SUBSCRIBE, 148046);
    assert_int_equal(ACL_ERROR_PROF_API_CONFLICT, 148047);
    assert_int_equal(ACL_ERROR_BAD_ALLOC, 200000);
    assert_int_equal(ACL_ERROR_FEATURE_UNSUPPORTED, 200006);
    assert_int_equal(ACL_ERROR_PROF_MODULES_UNSUPPORTED, 200007);
    assert_int_equal(ACL_ERROR_GE_FAILURE, 500002);
    assert_int_equal(ACL_ERROR_PROFILING_FAILURE, 500005);
}

static void test_tensor(void **state)
{
    (void)state;
    assert_int_equal(sizeof(aclprofTensor), 48);
    assert_int_equal(offsetof(aclprofTensor, type), 0);
    assert_int_equal(offsetof(aclprofTensor, format), 4);
    assert_int_equal(offsetof(aclprofTensor, dataType), 8);
    assert_int_equal(offsetof(aclprofTensor, shapeDim), 12);
    assert_int_equal(offsetof(aclprofTensor, shape), 16);
    assert_int_equal(sizeof(((aclprofTensor *)0)->shape), 32);
}

static void test_tensor_info(void **state)
{
    (void)state;
    assert_int_equal(sizeof(aclprofTensorInfo), 48);
    assert_int_equal(offsetof(aclprofTensorInfo, opNameId), 0);
    assert_int_equal(offsetof(aclprofTensorInfo, opTypeId), 8);
    assert_int_equal(offsetof(aclprofTensorInfo, resv), 16);
    assert_int_equal(offsetof(aclprofTensorInfo, tensorNum), 20);
    assert_int_equal(offsetof(aclprofTensorInfo, kernelType), 24);
    assert_int_equal(offsetof(aclprofTensorInfo, blockNums), 28);
    assert_int_equal(offsetof(aclprofTensorInfo, stream), 32);
    assert_int_equal(offsetof(aclprofTensorInfo, tensors), 40);
}

static void test_event_attributes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(aclprofEventAttributes), 16);
    assert_int_equal(offsetof(aclprofEventAttributes, version), 0);
    assert_int_equal(offsetof(aclprofEventAttributes, size), 2);
    assert_int_equal(offsetof(aclprofEventAttributes, messageType), 4);
    assert_int_equal(offsetof(aclprofEventAttributes, message), 8);
    assert_int_equal(offsetof(aclprofEventAttributes, message.tensorInfo), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_types),
        cmocka_unit_test(test_data_types_are_64_bit),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_config_types),
        cmocka_unit_test(test_other_enums),
        cmocka_unit_test(test_type_sizes),
        cmocka_unit_test(test_name_lengths),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_tensor_info),
        cmocka_unit_test(test_event_attributes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
