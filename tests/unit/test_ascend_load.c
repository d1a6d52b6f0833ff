/* SPDX-License-Identifier: Apache-2.0 */
/* drivers/ascend: which libraries are taken, where they are looked for, what is said of others. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "ascend_fixture.h"

static int refused(const char *path, ap__ascend_report *report)
{
    void *context = &report;
    int rc = ap__ascend_open(&context, path, report);

    assert_int_not_equal(rc, AP_HAL_OK);
    assert_null(context);
    assert_string_not_equal(report->text, "");
    assert_null(strchr(report->text, '\n'));
    return rc;
}

/* ---- open ---- */

static void opens_without_touching_a_device(void **state)
{
    ap__ascend_report report;
    void *context = NULL;

    (void)state;
    fake->calls = 0;
    assert_int_equal(ap__ascend_open(&context, full_path, &report), AP_HAL_OK);
    assert_true(report.found);
    assert_false(report.simulated);
    assert_string_equal(report.path, full_path);
    assert_string_equal(report.text, "");
    assert_int_equal(fake->calls, 0);
    assert_int_equal(hal->abi, AP_HAL_ABI);
    assert_int_equal(hal->simulated, 0);
    assert_string_equal(hal->name, "ascend");
    assert_int_equal(hal->api_version(context), 0x072418);
    hal->close(context);
    assert_true(fake_hal_is_loaded(full_path));
}

static void without_version_it_is_0(void **state)
{
    static const int codes_of_version[] = {0xfffe, 7};
    void *context = NULL;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fake->api_version = codes_of_version[i];
        assert_int_equal(hal->open(&context, full_path), AP_HAL_OK);
        assert_int_equal(hal->api_version(context), 0);
        hal->close(context);
    }
}

static const char *const required[] = {
    "prof_drv_get_channels", "prof_drv_start", "prof_stop", "prof_channel_read",
    "prof_channel_poll", "drvGetDevNum", "drvGetDevIDs", "halGetDeviceInfo", "halGetAPIVersion"};
static const char *const optional[] = {"halProfDataFlush", "drvDeviceStatus",
                                       "drvDeviceGetPhyIdByIndex"};

/* A copy of the full library in which a name of each bit of `mask` has become another. */
static void copy_without(const char *path, const char *const *names, size_t count, unsigned mask)
{
    size_t length = 0;
    char *bytes = scratch_read(place->fd, "full.so", &length);
    FILE *f = fopen(path, "wbe");

    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(names[i]) + 1;
        char *at = memmem(bytes, length, names[i], n);

        assert_non_null(at);
        if ((mask >> i & 1) != 0) {
            at[0] = 'x';
            assert_null(memmem(bytes, length, names[i], n));
        }
    }
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
    free(bytes);
}

static void any_subset_is_refused_by_name(void **state)
{
    char path[600];
    char expected[700];

    (void)state;
    for (unsigned mask = 1; mask < 1u << 9; mask++) {
        ap__ascend_report report;
        unsigned named = 0;

        snprintf(path, sizeof(path), "%s/without_%u.so", place->path, mask);
        copy_without(path, required, 9, mask);
        assert_int_equal(refused(path, &report), AP_HAL_UNSUPPORTED);
        assert_true(report.found);
        snprintf(expected, sizeof(expected), "%s lacks %d of the 9 functions that are needed: ",
                 path, __builtin_popcount(mask));
        assert_memory_equal(report.text, expected, strlen(expected));
        for (size_t i = 0; i < 9; i++) {
            int is_there = strstr(report.text, required[i]) != NULL;

            assert_int_equal(is_there, mask >> i & 1);
            named += (unsigned)is_there;
        }
        assert_int_equal(named, __builtin_popcount(mask));
        assert_int_equal(fake_hal_of(path)->calls, 0);
        unlink(path);
    }
}

static void optional_functions_may_be_absent(void **state)
{
    char path[600];

    (void)state;
    for (unsigned mask = 0; mask < 1u << 3; mask++) {
        void *context = NULL;
        uint32_t pending = 5;
        int64_t physical = 77;
        fake_hal_state *f = NULL;

        snprintf(path, sizeof(path), "%s/optional_%u.so", place->path, mask);
        copy_without(path, optional, 3, mask);
        assert_int_equal(hal->open(&context, path), AP_HAL_OK);
        f = fake_hal_of(path);
        f->pending = 640;
        f->status = 4;
        assert_int_equal(hal->flush(context, 1, 50, &pending),
                         (mask & 1) != 0 ? AP_HAL_UNSUPPORTED : AP_HAL_OK);
        assert_int_equal(pending, (mask & 1) != 0 ? 0 : 640);
        assert_int_equal(hal->status(context, 1),
                         (mask & 2) != 0 ? AP_HAL_OK : AP_HAL_DEVICE_LOST);
        assert_int_equal(hal->info(context, 1, AP_HAL_PHYSICAL_ID, &physical),
                         (mask & 4) != 0 ? AP_HAL_UNSUPPORTED : AP_HAL_OK);
        assert_int_equal(physical, (mask & 4) != 0 ? 77 : 9);
        hal->close(context);
    }
}

static void compiled_variants(void **state)
{
    ap__ascend_report report;
    char path[600];
    void *context = NULL;

    (void)state;
    fake_hal_build(path, sizeof(path), place->path, "half.so", "-DFAKE_HALF", "");
    assert_int_equal(refused(path, &report), AP_HAL_UNSUPPORTED);
    assert_non_null(strstr(report.text, "lacks 4 of the 9 functions that are needed: "
                                        "prof_channel_read, prof_channel_poll, drvGetDevIDs, "
                                        "halGetDeviceInfo"));

    fake_hal_build(path, sizeof(path), place->path, "stub.so", "-DFAKE_STUB", "");
    assert_int_equal(refused(path, &report), AP_HAL_UNSUPPORTED);
    assert_non_null(strstr(report.text, "is a stub"));

    fake_hal_build(path, sizeof(path), place->path, "unsupported.so", "-DFAKE_CODE=0xfffe", "");
    assert_int_equal(refused(path, &report), AP_HAL_UNSUPPORTED);
    assert_non_null(strstr(report.text, "drvGetDevNum gives 65534 (not supported)"));

    fake_hal_build(path, sizeof(path), place->path, "code7.so", "-DFAKE_CODE=7", "");
    assert_int_equal(refused(path, &report), AP_HAL_IO);
    assert_non_null(strstr(report.text, "drvGetDevNum gives 7"));

    fake_hal_build(path, sizeof(path), place->path, "code16.so", "-DFAKE_CODE=16", "");
    assert_int_equal(refused(path, &report), AP_HAL_TIMEOUT);

    fake_hal_build(path, sizeof(path), place->path, "simulated.so", "-DFAKE_SIMULATED",
                   "-DFAKE_NO_OPTIONAL");
    assert_int_equal(ap__ascend_open(&context, path, &report), AP_HAL_OK);
    assert_true(report.simulated);
    hal->close(context);
    assert_int_equal(ap__hal_ascend_simulated.simulated, 1);
    assert_true(ap__hal_ascend_simulated.read == hal->read);
}

static void files_that_do_not_load(void **state)
{
    ap__ascend_report report;
    char path[600];
    char needed[600];
    char by_need[620];
    FILE *f = NULL;

    (void)state;
    snprintf(path, sizeof(path), "%s/absent.so", place->path);
    assert_int_equal(refused(path, &report), AP_HAL_UNSUPPORTED);
    assert_true(report.found); /* somebody named it */
    assert_non_null(strstr(report.text, path));
    assert_int_equal(refused("libabsent_hal.so", &report), AP_HAL_UNSUPPORTED);
    assert_false(report.found);
    assert_string_equal(report.text, "there is no libabsent_hal.so");

    snprintf(path, sizeof(path), "%s/text.so", place->path);
    f = fopen(path, "we");
    assert_non_null(f);
    fputs("INPUT(something)\n", f);
    fclose(f);
    assert_int_equal(refused(path, &report), AP_HAL_UNSUPPORTED);
    assert_true(report.found);
    assert_non_null(strstr(report.text, "does not load"));
    assert_int_equal(refused(place->path, &report), AP_HAL_UNSUPPORTED);
    assert_true(report.found);

    /* its own dependency is what is not there */
    fake_hal_build(needed, sizeof(needed), place->path, "libneeded.so", "-Wl,-soname,libneeded.so",
                   "");
    snprintf(by_need, sizeof(by_need), "-Wl,--no-as-needed,%s", needed);
    fake_hal_build(path, sizeof(path), place->path, "needing.so", by_need, "");
    unlink(needed);
    assert_int_equal(refused(path, &report), AP_HAL_UNSUPPORTED);
    assert_true(report.found);
    assert_non_null(strstr(report.text, "libneeded.so"));
}

/* ---- search ---- */

static void put(const char *const *places, const char *home, const char *toolkit)
{
    ap__ascend_places = places;
    if (home != NULL) {
        setenv("ASCEND_HOME_PATH", home, 1);
    } else {
        unsetenv("ASCEND_HOME_PATH");
    }
    if (toolkit != NULL) {
        setenv("ASCEND_TOOLKIT_HOME", toolkit, 1);
    } else {
        unsetenv("ASCEND_TOOLKIT_HOME");
    }
}

static void make_dirs(char *path)
{
    for (char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
}

#if defined(__aarch64__)
#define ARCH "aarch64-linux"
#else
#define ARCH "x86_64-linux"
#endif

static void search_order(void **state)
{
    const char *const *usual = ap__ascend_places;
    char half[600], real[600], toolkit[600], home[600];
    const char *const all[] = {"libabsent_hal.so", half, real, NULL};
    const char *const bad[] = {"libabsent_hal.so", half, NULL};
    const char *const none[] = {"libabsent_hal.so", "/nowhere/libascend_hal.so", NULL};
    ap__ascend_report report;
    void *context = NULL;

    (void)state;
    assert_string_equal(usual[0], "libascend_hal.so");
    assert_string_equal(usual[1], "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so");
    assert_null(usual[2]);
    fake_hal_build(half, sizeof(half), place->path, "half_2.so", "-DFAKE_HALF", "");
    fake_hal_build(real, sizeof(real), place->path, "real.so", "", "");
    snprintf(toolkit, sizeof(toolkit), "%s/tk/" ARCH "/lib64/", place->path);
    make_dirs(toolkit);
    fake_hal_build(toolkit, sizeof(toolkit), place->path,
                   "tk/" ARCH "/lib64/libascend_hal.so", "", "");
    snprintf(home, sizeof(home), "%s/tk", place->path);

    put(all, NULL, NULL); /* a bad one is passed over for a good one behind it */
    assert_int_equal(ap__ascend_open(&context, "", &report), AP_HAL_OK);
    assert_string_equal(report.path, real);
    assert_string_equal(report.text, "");
    hal->close(context);

    put(bad, home, NULL);
    assert_int_equal(ap__ascend_open(&context, "", &report), AP_HAL_OK);
    assert_string_equal(report.path, toolkit);
    hal->close(context);
    put(none, "relative/tk", home);
    assert_int_equal(ap__ascend_open(&context, NULL, &report), AP_HAL_OK);
    assert_string_equal(report.path, toolkit);
    hal->close(context);

    put(bad, "/nowhere", NULL);
    assert_int_equal(refused("", &report), AP_HAL_UNSUPPORTED);
    assert_true(report.found);
    assert_non_null(strstr(report.text, "half_2.so lacks 4"));

    put(none, NULL, NULL);
    assert_int_equal(refused("", &report), AP_HAL_UNSUPPORTED);
    assert_false(report.found);
    assert_non_null(strstr(report.text, "there is no libascend_hal.so"));
    put(usual, NULL, NULL);
}

/* The linker's stub is not loaded at all: it would answer when the program wants the driver. */
static void stub_directories_are_not_loaded(void **state)
{
    static const char *const none[] = {"libabsent_hal.so", NULL};
    static const char *const stubs[] = {"sdk/" ARCH "/devlib/libascend_hal.so",
                                        "sdk/" ARCH "/lib64/device/lib64/libascend_hal.so"};
    const char *const *usual = ap__ascend_places;
    ap__ascend_report report;
    char stub[600], link[600], home[600];

    (void)state;
    snprintf(home, sizeof(home), "%s/sdk", place->path);
    snprintf(link, sizeof(link), "%s/sdk/" ARCH "/lib64/libascend_hal.so", place->path);
    make_dirs(link);
    put(none, home, home);
    for (size_t i = 0; i < 2; i++) {
        snprintf(stub, sizeof(stub), "%s/%s", place->path, stubs[i]);
        make_dirs(stub);
        fake_hal_build(stub, sizeof(stub), place->path, stubs[i], "-DFAKE_STUB", "");
        assert_int_equal(refused("", &report), AP_HAL_UNSUPPORTED);
        assert_false(report.found);
        assert_int_equal(symlink(stub, link), 0);
        assert_int_equal(refused("", &report), AP_HAL_UNSUPPORTED);
        assert_false(report.found);
        assert_false(fake_hal_is_loaded(stub));
        unlink(link);
    }
    put(usual, NULL, NULL);
}

/* ---- symbols ---- */

/* Loading our library must need nothing of the driver's. */
static void library_wants_no_driver_symbol(void **state)
{
    FILE *nm = popen("nm -D --undefined-only '" AP_TEST_LIB_PATH "'", "re");
    char line[512];
    unsigned lines = 0;

    (void)state;
    assert_non_null(nm);
    while (fgets(line, sizeof(line), nm) != NULL) {
        const char *name = strrchr(line, ' ') != NULL ? strrchr(line, ' ') + 1 : line;

        lines++;
        if (strncmp(name, "prof_", 5) == 0 || strncmp(name, "drv", 3) == 0 ||
            strncmp(name, "hal", 3) == 0 || strncmp(name, "dsmi", 4) == 0) {
            fail_msg("needs %s", name);
        }
    }
    assert_int_equal(pclose(nm), 0);
    assert_true(lines > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(opens_without_touching_a_device, open_full, close_full),
        cmocka_unit_test_setup_teardown(without_version_it_is_0, open_full, close_full),
        cmocka_unit_test(any_subset_is_refused_by_name),
        cmocka_unit_test(optional_functions_may_be_absent),
        cmocka_unit_test(compiled_variants),
        cmocka_unit_test(files_that_do_not_load),
        cmocka_unit_test(search_order),
        cmocka_unit_test(stub_directories_are_not_loaded),
        cmocka_unit_test(library_wants_no_driver_symbol),
    };

    return cmocka_run_group_tests(tests, build_all, scratch_teardown);
}
