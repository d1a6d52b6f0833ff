/* SPDX-License-Identifier: Apache-2.0 */
/* Captures and devices for tests of the session (nothing is written, calls are counted), and
 * a fresh session for every test. Include in one source file, after cmocka.h. */
#ifndef AP_TESTS_UNIT_SESSION_FIXTURE_H_
#define AP_TESTS_UNIT_SESSION_FIXTURE_H_

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "scratch.h"
#include "session/capture_ops.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/session.h"
#include "session/state.h"

struct ap__capture {
    uint32_t number;
};

static struct {
    aclError open_code; /* what the next calls answer */
    aclError close_code;
    aclError add_code;
    unsigned opens; /* tried */
    unsigned closes;
    unsigned abandons;
    int live; /* open now */
    int most_live;
    bool recording;
    bool ever_recorded;
    ap__capture_params params; /* of the last open; its pointers are not valid any more */
    char root[AP_PATH_MAX];
    uint32_t devices[AP_CONFIG_TEXT_MAX];
    uint32_t device_count;
    uint64_t removed; /* bit i: device i has left */
    uint64_t tried_again; /* bit i: device i was there when it was added */
    ap__settings settings;
    void (*in_close)(void);
} mock;

static aclError mock_open(const ap__capture_params *params, ap__capture **out)
{
    mock.opens++;
    mock.params = *params;
    strcpy(mock.root, params->root);
    mock.device_count = params->device_count;
    memcpy(mock.devices, params->devices, params->device_count * sizeof(mock.devices[0]));
    mock.settings = *params->settings;
    *out = NULL;
    if (mock.open_code != 0) {
        return ap__fail(mock.open_code, AP_EK_DISK, params->api, "The mock does not open.");
    }
    *out = malloc(sizeof(**out));
    (*out)->number = params->start_number;
    mock.live++;
    mock.most_live = mock.live > mock.most_live ? mock.live : mock.most_live;
    mock.ever_recorded = false;
    return ACL_SUCCESS;
}

static void mock_record(ap__capture *capture, bool on)
{
    (void)capture->number;
    mock.recording = on;
    mock.ever_recorded = mock.ever_recorded || on;
}

static aclError mock_close(ap__capture *capture)
{
    mock.closes++;
    mock.live--;
    mock.recording = false;
    if (mock.in_close != NULL) {
        mock.in_close();
    }
    free(capture);
    return mock.close_code;
}

static void mock_abandon(ap__capture *capture)
{
    mock.abandons++;
    mock.live--;
    free(capture);
}

static void mock_stats(const ap__capture *capture, aclprofStats *out)
{
    memset((char *)out + sizeof(out->size), 0, sizeof(*out) - sizeof(out->size));
    out->emitted = 11;
    out->written = 12;
    out->running = capture != NULL;
}

static bool mock_has(uint32_t device)
{
    for (uint32_t i = 0; i < mock.device_count; i++) {
        if (mock.devices[i] == device) {
            return true;
        }
    }
    return false;
}

static aclError mock_add(ap__capture *capture, const char *api, const uint32_t *devices,
                         uint32_t count)
{
    (void)capture->number;
    if (mock.add_code != 0) {
        return ap__fail(mock.add_code, AP_EK_INNER, api, "The mock does not add.");
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bit = 1ull << devices[i];

        if (mock_has(devices[i]) && (mock.removed & bit) == 0) {
            mock.tried_again |= bit;
        } else {
            mock.devices[mock.device_count++] = devices[i];
            mock.removed &= ~bit;
        }
    }
    return ACL_SUCCESS;
}

static void mock_remove(ap__capture *capture, const uint32_t *devices, uint32_t count)
{
    (void)capture->number;
    for (uint32_t i = 0; i < count; i++) {
        mock.removed |= 1ull << devices[i];
    }
}

static const char *mock_dir(const ap__capture *capture)
{
    (void)capture;
    return "/mock";
}

static const ap__capture_table mock_captures = {
    .open = mock_open,
    .record = mock_record,
    .close = mock_close,
    .abandon = mock_abandon,
    .dir = mock_dir,
    .stats = mock_stats,
    .add_devices = mock_add,
    .remove_devices = mock_remove,
};

static struct {
    int32_t count;
    int32_t chip[65];
    uint32_t active[4];
    uint32_t active_count;
} machine;

static int32_t machine_count(void)
{
    return machine.count;
}

static int32_t machine_chip(uint32_t device)
{
    return machine.chip[device];
}

static uint32_t machine_active(uint32_t *devices, uint32_t max)
{
    uint32_t n = machine.active_count < max ? machine.active_count : max;

    memcpy(devices, machine.active, n * sizeof(devices[0]));
    return n;
}

static const ap__device_table mock_devices = {machine_count, machine_chip, machine_active};

/* `count` devices, all 910B. */
static inline void machine_make(int32_t count)
{
    memset(&machine, 0, sizeof(machine));
    machine.count = count;
    for (size_t i = 0; i < sizeof(machine.chip) / sizeof(machine.chip[0]); i++) {
        machine.chip[i] = 5;
    }
    ap__devices = &mock_devices;
}

#define TX ACL_PROF_MSPROFTX
#define TX_MASK (TX | 0x4000000000000000ull)

static char here[600]; /* the scratch directory */
static aclprofConfig *configs[64];
static unsigned config_count;

/* ---- set-up ---- */

static const ap__device_table *real_devices;

static inline int setup(void **state)
{
    static const char *const variables[] = {"ACLPROF_STRICT", "PROFILING_MODE",
                                            "PROFILER_SAMPLECONFIG", "ASCEND_WORK_PATH"};

    if (scratch_setup(state) != 0) {
        return -1;
    }
    snprintf(here, sizeof(here), "%s", ((scratch *)*state)->path);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        unsetenv(variables[i]);
    }
    real_devices = real_devices != NULL ? real_devices : ap__devices;
    ap__devices = real_devices;
    memset(&mock, 0, sizeof(mock));
    memset(&ap__session, 0, sizeof(ap__session));
    ap__capture_ops = &mock_captures;
    atomic_store(&ap__strict_now, 0);
    config_count = 0;
    return 0;
}

static inline int teardown(void **state)
{
    atomic_store(&ap__strict_now, 0);
    mock.in_close = NULL;
    unsetenv("PROFILER_SAMPLECONFIG");
    (void)aclprofFinalize();
    for (unsigned i = 0; i < config_count; i++) {
        (void)aclprofDestroyConfig(configs[i]);
    }
    return scratch_teardown(state);
}

static inline aclprofConfig *keep(aclprofConfig *config)
{
    if (config == NULL) {
        fail_msg("no config: %s", aclprofGetLastError());
    }
    configs[config_count++] = config;
    return config;
}

static inline aclprofConfig *host_config(uint64_t mask)
{
    return keep(aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, mask));
}

static inline aclprofConfig *device_config(uint32_t first, uint32_t count, uint64_t mask)
{
    uint32_t ids[64];

    for (uint32_t i = 0; i < count; i++) {
        ids[i] = first + i;
    }
    return keep(aclprofCreateConfig(ids, count, ACL_AICORE_PIPE_UTILIZATION, NULL, mask));
}

static inline aclError init(const char *path)
{
    return aclprofInit(path, strlen(path));
}

static inline void check_text(const char *part)
{
    if (strstr(aclprofGetLastError(), part) == NULL) {
        fail_msg("the text [%s] lacks [%s]", aclprofGetLastError(), part);
    }
}

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        aclError code_ = (call);                                                                   \
        if (code_ != 0) {                                                                          \
            fail_msg("%s: %d %s", #call, code_, aclprofGetLastError());                            \
        }                                                                                          \
    } while (0)

#define assert_code(call, code, part)                                                              \
    do {                                                                                           \
        assert_int_equal(call, code);                                                              \
        check_text(part);                                                                          \
    } while (0)

/* What `body` returns in a child. */
static inline int in_child(int (*body)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
