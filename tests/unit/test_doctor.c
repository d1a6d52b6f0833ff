/* SPDX-License-Identifier: Apache-2.0 */
/* Each finding of `aclprof doctor`, in trees that stand for machines. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <elf.h>
#include <stdbool.h>

#include "scratch.h"
#include "tool/doctor/doctor.h"

#if defined(__aarch64__)
#define MACHINE EM_AARCH64
#define CACHE_FLAGS 0x0a03
#define ARCH "aarch64-linux"
#else
#define MACHINE EM_X86_64
#define CACHE_FLAGS 0x0303
#define ARCH "x86_64-linux"
#endif
#define DRIVER "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so"

static const char *const touched[] = {
    "LD_PRELOAD",          "LD_LIBRARY_PATH",      "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME", "ASCEND_WORK_PATH",     "ACLPROF_DRIVER",
    "ACLPROF_LOG",         "ACLPROF_ARENA",        "ACLPROF_CLOCK",
    "ACLPROF_RING_SIZE",   "PROFILING_MODE",       "PROFILER_SAMPLECONFIG",
    "KINETO_USE_DAEMON",   "MSMONITOR_USE_DAEMON", "DYNAMIC_PROFILING_KEY_PID"};

/* ---- trees ---- */

static void put(const scratch *s, const char *path, const void *bytes, size_t size)
{
    char full[PATH_MAX];
    FILE *file = NULL;

    snprintf(full, sizeof(full), "%s%s", s->path, path);
    for (char *slash = full + strlen(s->path) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    file = fopen(full, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void put_text(const scratch *s, const char *path, const char *text)
{
    put(s, path, text, strlen(text));
}

static void put_library(const scratch *s, const char *path, uint16_t machine, bool ours)
{
    struct {
        Elf64_Ehdr head;
        char text[64];
    } file = {.head = {.e_machine = machine}};

    memcpy(file.head.e_ident, ELFMAG, SELFMAG);
    file.head.e_ident[EI_CLASS] = ELFCLASS64;
    snprintf(file.text, sizeof(file.text), "aclprofInit %s", ours ? "aclprofGetStats" : "");
    put(s, path, &file, sizeof(file));
}

/* What a healthy machine has. */
static void put_machine(const scratch *s)
{
    put_library(s, "/usr/lib64/libacl_prof.so", MACHINE, true);
    put_library(s, "/usr/lib64/libmsprofiler.so", MACHINE, true);
    put_library(s, DRIVER, MACHINE, false);
    put_text(s, "/dev/davinci0", "");
    put_text(s, "/dev/davinci_manager", "");
    put_text(s, "/dev/devmm_svm", "");
    put_text(s, "/dev/hisi_hdc", "");
    put_text(s, "/dev/shm/.keep", "");
    put_text(s, "/results/.keep", "");
    put_text(s, "/proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units\n"
             "Max file size             unlimited            unlimited            bytes\n"
             "Max open files            65536                65536                files\n"
             "Max locked memory         8388608              8388608              bytes\n"
             "Max address space         unlimited            unlimited            bytes\n");
    put_text(s, "/proc/self/status", "Name:\tx\nSeccomp:\t0\n");
    put_text(s, "/proc/self/cgroup", "0::/\n");
    put_text(s, "/proc/cpuinfo", "flags\t\t: fpu tsc constant_tsc nonstop_tsc sse\n");
    put_text(s, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
}

static void examine(const scratch *s, ap__doctor *d)
{
    snprintf(d->root, sizeof(d->root), "%s", s->path);
    d->output = d->output != NULL ? d->output : "/results";
    ap__doctor_run(d);
}

static const ap__finding *find(const ap__doctor *d, const char *id)
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (strcmp(d->list[i].id, id) == 0) {
            return &d->list[i];
        }
    }
    return NULL;
}

/* The finding is there, of that grade, with that in its text; what is no matter of course has
 * advice. */
static void assert_found(const ap__doctor *d, const char *id, ap__doctor_grade grade,
                         const char *text)
{
    const ap__finding *f = find(d, id);

    if (f == NULL) {
        fail_msg("no finding %s", id);
    }
    if (f->grade != grade || strstr(f->text, text) == NULL) {
        fail_msg("%s is %s: %s", id, ap__doctor_grade_name(f->grade), f->text);
    }
    assert_true(grade < AP_DOCTOR_WARNING || f->advice[0] != '\0');
}

static int setup(void **state)
{
    for (size_t i = 0; i < sizeof(touched) / sizeof(touched[0]); i++) {
        unsetenv(touched[i]);
    }
    return scratch_setup(state);
}

/* ---- tests ---- */

static void test_healthy(void **state)
{
    ap__doctor d = {.space = 1};

    put_machine(*state);
    examine(*state, &d);
    for (uint32_t i = 0; i < d.count; i++) {
        if (d.list[i].grade >= AP_DOCTOR_WARNING && strcmp(d.list[i].id, "shm.small") != 0) {
            fail_msg("%s: %s", d.list[i].id, d.list[i].text);
        }
    }
    assert_found(&d, "library.first", AP_DOCTOR_OK, "/usr/lib64/libacl_prof.so (by a system");
    assert_found(&d, "driver.library", AP_DOCTOR_OK, DRIVER);
    assert_found(&d, "devices", AP_DOCTOR_OK, "1 of 1");
    assert_found(&d, "output.write", AP_DOCTOR_OK, "/results can be written");
    assert_found(&d, "output.space", AP_DOCTOR_OK, "MiB are free");
    assert_found(&d, "limits.files", AP_DOCTOR_OK, "65536");
    assert_found(&d, "limits.memlock", AP_DOCTOR_OK, "locks none");
    assert_found(&d, "others", AP_DOCTOR_OK, "no other");
    assert_found(&d, "clock", AP_DOCTOR_OK, "counter; the kernel's clock source is tsc");
    assert_found(&d, "umask", AP_DOCTOR_OK, "umask");
}

static void test_nothing_there(void **state)
{
    ap__doctor d = {.space = 1};

    examine(*state, &d);
    assert_found(&d, "library.absent", AP_DOCTOR_WARNING, "libacl_prof.so");
    assert_found(&d, "toolkit.none", AP_DOCTOR_NOTE, "ASCEND_HOME_PATH");
    assert_found(&d, "driver.absent", AP_DOCTOR_NOTE, "without devices");
    assert_found(&d, "devices.none", AP_DOCTOR_NOTE, "no NPU");
    assert_found(&d, "shm.absent", AP_DOCTOR_WARNING, "/dev/shm");
    assert_found(&d, "proc", AP_DOCTOR_WARNING, "/proc/self");
#if defined(__x86_64__)
    assert_found(&d, "clock.counter", AP_DOCTOR_WARNING, "rate");
#endif
}

static void test_preload(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};

    put_machine(s);
    put_library(s, "/opt/ours/libacl_prof.so", MACHINE, true);
    put_library(s, "/usr/lib64/libmsprofiler.so", MACHINE, false);
    setenv("LD_PRELOAD", "/opt/none.so:/opt/ours/libacl_prof.so", 1);
    examine(s, &d);
    assert_found(&d, "library.preload", AP_DOCTOR_OK, "/opt/ours/libacl_prof.so, behind others");
    assert_found(&d, "library.preload-missing", AP_DOCTOR_WARNING, "/opt/none.so");
    assert_found(&d, "library.foreign", AP_DOCTOR_NOTE, "the preload comes before it");
    setenv("LD_PRELOAD", "libacl_prof.so libmspti.so", 1);
    examine(s, &d);
    assert_found(&d, "library.preload", AP_DOCTOR_OK, "/usr/lib64/libacl_prof.so");
    assert_found(&d, "others.preload", AP_DOCTOR_WARNING, "msPTI");
}

static void test_library_path(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};

    put_machine(s);
    put_library(s, "/v/lib/libmsprofiler.so", MACHINE, false);
    put_library(s, "/v/lib/libprofapi.so", MACHINE, false);
    put_library(s, "/v/devlib/libacl_prof.so", MACHINE, false);
    put_library(s, "/w/libmsprofiler.so", EM_386, true); /* which the loader passes over */
    setenv("LD_LIBRARY_PATH", "/nothing:/w:/v/lib:/v/devlib", 1);
    examine(s, &d);
    assert_found(&d, "library.foreign", AP_DOCTOR_WARNING,
                 "/v/lib/libmsprofiler.so (by LD_LIBRARY_PATH)");
    assert_found(&d, "library.profapi", AP_DOCTOR_NOTE, "/v/lib/libprofapi.so");
    assert_found(&d, "library.stub", AP_DOCTOR_PROBLEM, "/v/devlib/libacl_prof.so");
}

/* A cache as ldconfig writes it; the second entry is of another machine. */
static void put_cache(const scratch *s, uint32_t entries)
{
    struct {
        char magic[20];
        uint32_t entries;
        uint32_t bytes;
        uint32_t unused[5];
        struct {
            int32_t flags;
            uint32_t key, value, os;
            uint64_t hwcap;
        } e[2];
        char texts[64];
    } cache = {.magic = {0}, .entries = entries};
    uint32_t at = offsetof(__typeof__(cache), texts);

    memcpy(cache.magic, "glibc-ld.so.cache1.1", 20);
    memcpy(cache.texts, "libmsprofiler.so\0/bad/none.so\0/c/libmsprofiler.so", 50);
    cache.e[0].flags = 1;
    cache.e[0].key = at;
    cache.e[0].value = at + 17;
    cache.e[1].flags = CACHE_FLAGS;
    cache.e[1].key = at;
    cache.e[1].value = at + 30;
    put(s, "/etc/ld.so.cache", &cache, sizeof(cache));
}

static void test_cache(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};
    char full[600];

    put_machine(s);
    put_library(s, "/c/libmsprofiler.so", MACHINE, false);
    put_cache(s, 2);
    examine(s, &d);
    assert_found(&d, "library.foreign", AP_DOCTOR_WARNING, "/c/libmsprofiler.so (by ldconfig)");
    put_cache(s, UINT32_MAX); /* more entries than bytes */
    examine(s, &d);
    assert_non_null(find(&d, "library.foreign"));
    snprintf(full, sizeof(full), "%s/etc/ld.so.cache", s->path);
    for (long size = 140; size >= 0; size -= 10) { /* cut anywhere */
        assert_int_equal(truncate(full, size), 0);
        examine(s, &d);
        assert_null(find(&d, "library.foreign"));
    }
}

static void test_toolkit(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};

    put_machine(s);
    setenv("ASCEND_HOME_PATH", "/cann", 1);
    examine(s, &d);
    assert_found(&d, "toolkit.missing", AP_DOCTOR_WARNING, "/cann is not there");
    put_library(s, "/cann/lib64/libother.so", MACHINE, false);
    examine(s, &d);
    assert_found(&d, "toolkit.bare", AP_DOCTOR_NOTE, "no libmsprofiler.so");
    put_library(s, "/cann/lib64/libmsprofiler.so", MACHINE, false);
    examine(s, &d);
    assert_found(&d, "toolkit.vendor", AP_DOCTOR_NOTE, "/cann/lib64/libmsprofiler.so");
    put_library(s, "/cann/lib64/libmsprofiler.so", MACHINE, true);
    examine(s, &d);
    assert_found(&d, "toolkit.installed", AP_DOCTOR_OK, "/cann/lib64/libmsprofiler.so");
}

static void test_driver_names(void **state)
{
    static const struct {
        const char *value;
        const char *id;
        ap__doctor_grade grade;
    } rows[] = {{"none", "driver.none", AP_DOCTOR_WARNING},
                {"sim", "driver.simulated", AP_DOCTOR_NOTE},
                {"asend", "driver.name", AP_DOCTOR_PROBLEM},
                {"/no/libascend_hal.so", "driver.absent", AP_DOCTOR_PROBLEM},
                {"/text.so", "driver.broken", AP_DOCTOR_PROBLEM},
                {DRIVER, "driver.library", AP_DOCTOR_OK},
                {"ascend", "driver.library", AP_DOCTOR_OK}};
    ap__doctor d = {.space = 1};

    put_machine(*state);
    put_text(*state, "/text.so", "no library");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setenv("ACLPROF_DRIVER", rows[i].value, 1);
        examine(*state, &d);
        assert_found(&d, rows[i].id, rows[i].grade, "");
    }
}

static void test_driver_places(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};
    char full[700];

    put_machine(s);
    put_library(s, "/stubs/devlib/libascend_hal.so", MACHINE, false);
    setenv("LD_LIBRARY_PATH", "/stubs/devlib", 1);
    examine(s, &d);
    assert_found(&d, "driver.stub", AP_DOCTOR_WARNING, "/stubs/devlib/libascend_hal.so");
    assert_found(&d, "driver.library", AP_DOCTOR_OK, DRIVER);
    snprintf(full, sizeof(full), "%s" DRIVER, s->path);
    assert_int_equal(unlink(full), 0);
    setenv("ACLPROF_DRIVER", "ascend", 1);
    examine(s, &d);
    assert_found(&d, "driver.absent", AP_DOCTOR_PROBLEM, "no libascend_hal.so");
    put_library(s, "/cann/" ARCH "/lib64/libascend_hal.so", MACHINE, false);
    setenv("ASCEND_TOOLKIT_HOME", "/cann", 1);
    examine(s, &d);
    assert_found(&d, "driver.library", AP_DOCTOR_OK, "(by ASCEND_TOOLKIT_HOME)");
    put_library(s, "/real/libascend_hal.so", MACHINE, false);
    setenv("LD_LIBRARY_PATH", "/real", 1);
    examine(s, &d);
    assert_found(&d, "driver.library", AP_DOCTOR_OK, "(by LD_LIBRARY_PATH)");
}

/* On this machine libraries are loaded. */
static void test_driver_loads(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1, .output = "/tmp"};
    char full[700];

    put_library(s, "/libascend_hal.so", MACHINE, false);
    snprintf(full, sizeof(full), "%s/libascend_hal.so", s->path);
    setenv("ACLPROF_DRIVER", full, 1);
    ap__doctor_run(&d);
    assert_found(&d, "driver.broken", AP_DOCTOR_PROBLEM, "does not load");
    setenv("ACLPROF_DRIVER", AP_TEST_LIB_PATH, 1); /* a library, and no driver */
    ap__doctor_run(&d);
    assert_found(&d, "driver.broken", AP_DOCTOR_PROBLEM, "has no function prof_drv_get_channels");
#ifdef AP_TEST_SIM_HAL
    setenv("ACLPROF_DRIVER", AP_TEST_SIM_HAL, 1);
    ap__doctor_run(&d);
    assert_found(&d, "driver.library", AP_DOCTOR_OK, "it counts");
    assert_true(d.devices != 0);
#endif
}

static void test_devices(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};
    char full[600];

    put_machine(s);
    snprintf(full, sizeof(full), "%s/dev/hisi_hdc", s->path);
    assert_int_equal(unlink(full), 0);
    examine(s, &d);
    assert_found(&d, "devices.manager", AP_DOCTOR_PROBLEM, "/dev/hisi_hdc");
    snprintf(full, sizeof(full), "%s/dev/davinci0", s->path);
    assert_int_equal(chmod(full, 0600), 0);
    assert_int_equal(chmod(s->path, 0755), 0);
    if (geteuid() == 0) { /* root may everything */
        assert_int_equal(seteuid(65534), 0);
        examine(s, &d);
        assert_int_equal(seteuid(0), 0);
        assert_found(&d, "devices.permission", AP_DOCTOR_PROBLEM, "/dev/davinci0 may not");
        assert_null(find(&d, "devices"));
        assert_found(&d, "output.write", AP_DOCTOR_PROBLEM, "Permission denied");
    }
    assert_int_equal(unlink(full), 0);
    examine(s, &d);
    assert_found(&d, "devices.none", AP_DOCTOR_PROBLEM, "a driver and no");
}

static void test_output(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1, .output = "/results/a/b"};

    put_machine(s);
    examine(s, &d);
    assert_found(&d, "output.write", AP_DOCTOR_OK, "what is missing below it can be made");
    d.space = UINT64_MAX;
    examine(s, &d);
    assert_found(&d, "output.space", AP_DOCTOR_WARNING, "are asked for");
    d.output = "/proc/self/limits";
    examine(s, &d);
    assert_found(&d, "output.path", AP_DOCTOR_PROBLEM, "no directory");
    d.output = "/results/a$b";
    examine(s, &d);
    assert_found(&d, "output.characters", AP_DOCTOR_PROBLEM, "at byte 10");
    setenv("ASCEND_WORK_PATH", "/results/\n", 1);
    d.output = NULL;
    snprintf(d.root, sizeof(d.root), "%s", s->path);
    ap__doctor_run(&d);
    assert_found(&d, "output.characters", AP_DOCTOR_PROBLEM, "at byte 9");
}

static void test_umask(void **state)
{
    ap__doctor d = {.space = 1};
    mode_t before = 0;

    put_machine(*state);
    before = umask(0277);
    examine(*state, &d);
    assert_int_equal(umask(before), 0277);
    assert_found(&d, "umask", AP_DOCTOR_WARNING, "277");
}

static void test_limits(void **state)
{
    ap__doctor d = {.space = 1};

    put_machine(*state);
    put_text(*state, "/proc/self/limits",
             "Max file size             1048576              unlimited            bytes\n"
             "Max open files            32                   65536                files\n"
             "Max address space         4294967296           unlimited            bytes\n");
    examine(*state, &d);
    assert_found(&d, "limits.files", AP_DOCTOR_WARNING, "32 open files");
    assert_found(&d, "limits.filesize", AP_DOCTOR_PROBLEM, "1 MiB");
    assert_found(&d, "limits.memory", AP_DOCTOR_WARNING, "4096 MiB");
    put_text(*state, "/proc/self/limits", "Max open files\nMax file size x\n");
    examine(*state, &d);
    assert_null(find(&d, "limits.files"));
    assert_null(find(&d, "limits.filesize"));
}

static void test_groups(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};

    put_machine(s);
    put_text(s, "/proc/self/cgroup", "0::/a/b\n");
    put_text(s, "/sys/fs/cgroup/a/memory.max", "314572800\n");
    put_text(s, "/sys/fs/cgroup/a/memory.current", "209715200\n");
    put_text(s, "/sys/fs/cgroup/a/b/memory.max", "max\n");
    put_text(s, "/sys/fs/cgroup/a/b/pids.max", "20\n");
    put_text(s, "/sys/fs/cgroup/a/b/pids.current", "18\n");
    put_text(s, "/sys/fs/cgroup/cpu.max", "50000 100000\n");
    put_text(s, "/proc/self/status", "Name:\tx\nSeccomp:\t2\n");
    examine(s, &d);
    assert_found(&d, "container.memory", AP_DOCTOR_WARNING, "100 MiB of memory left");
    assert_found(&d, "container.threads", AP_DOCTOR_PROBLEM, "2 more threads");
    assert_found(&d, "container.cpu", AP_DOCTOR_WARNING, "50 %");
    assert_found(&d, "container.seccomp", AP_DOCTOR_NOTE, "filtered");
    /* the first version, where each controller has a tree */
    put_text(s, "/proc/self/cgroup", "5:cpu,memory:/d\n3:pids:/d\n0::/\n");
    put_text(s, "/sys/fs/cgroup/memory/d/memory.limit_in_bytes", "1073741824\n");
    put_text(s, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    examine(s, &d);
    assert_found(&d, "container.memory", AP_DOCTOR_OK, "1024 MiB");
    assert_null(find(&d, "container.threads"));
}

static void test_others(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1, .acl_json = "/acl.json"};

    put_machine(s);
    put_text(s, "/proc/77/comm", "msprof\n");
    put_text(s, "/proc/78/comm", "bash\n");
    put_text(s, "/acl.json", "{\"profiler\":{\"switch\":\"on\"}}");
    setenv("PROFILING_MODE", "dynamic", 1);
    examine(s, &d);
    assert_found(&d, "others.environment", AP_DOCTOR_PROBLEM, "PROFILING_MODE");
    assert_found(&d, "others.process", AP_DOCTOR_WARNING, "msprof, process 77");
    assert_found(&d, "others.acl-json", AP_DOCTOR_WARNING, "starts a capture");
    setenv("PROFILING_MODE", "other", 1);
    setenv("PROFILER_SAMPLECONFIG", "{}", 1);
    put_text(s, "/acl.json", "{\"profiler\":{\"switch\":\"off\"}}");
    examine(s, &d);
    assert_found(&d, "others.environment", AP_DOCTOR_WARNING, "PROFILER_SAMPLECONFIG");
    assert_null(find(&d, "others.acl-json"));
    put_text(s, "/acl.json", "profiler");
    examine(s, &d);
    assert_found(&d, "others.acl-json", AP_DOCTOR_WARNING, "no JSON object");
    d.acl_json = "/none.json";
    examine(s, &d);
    assert_found(&d, "others.acl-json", AP_DOCTOR_PROBLEM, "cannot be read");
}

static void test_clock_and_settings(void **state)
{
    const scratch *s = *state;
    ap__doctor d = {.space = 1};

    put_machine(s);
    put_text(s, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    setenv("ACLPROF_LOG", "loud", 1);
    setenv("ACLPROF_ARENA", "anonymous", 1);
    setenv("ACLPROF_RING_SIZE", "8MB", 1);
    examine(s, &d);
#if defined(__x86_64__)
    assert_found(&d, "clock.source", AP_DOCTOR_WARNING, "hpet");
#endif
    assert_found(&d, "settings", AP_DOCTOR_WARNING, "ACLPROF_LOG is 'loud'");
    assert_found(&d, "settings.arena", AP_DOCTOR_NOTE, "anonymous");
    setenv("ACLPROF_LOG", "info", 1);
    setenv("ACLPROF_CLOCK", "raw", 1);
    examine(s, &d);
    assert_found(&d, "settings", AP_DOCTOR_WARNING, "ACLPROF_RING_SIZE is '8MB'");
    assert_found(&d, "clock.raw", AP_DOCTOR_NOTE, "raw");
    setenv("ACLPROF_RING_SIZE", "8M", 1);
    examine(s, &d);
    assert_null(find(&d, "settings"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_healthy),      TEST(test_nothing_there),
        TEST(test_preload),      TEST(test_library_path),
        TEST(test_cache),        TEST(test_toolkit),
        TEST(test_driver_names), TEST(test_driver_places),
        TEST(test_driver_loads), TEST(test_devices),
        TEST(test_output),       TEST(test_umask),
        TEST(test_limits),       TEST(test_groups),
        TEST(test_others),       TEST(test_clock_and_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
