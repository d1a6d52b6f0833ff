/* SPDX-License-Identifier: Apache-2.0 */
/* drivers/ascend on a fake library that does as it is told. Include after cmocka.h. */
#ifndef AP_TESTS_UNIT_ASCEND_FIXTURE_H_
#define AP_TESTS_UNIT_ASCEND_FIXTURE_H_

#include "drivers/ascend/ascend.h"
#include "scratch.h"

#include "fake_hal/fake_build.h"

static const ap__hal_ops *const hal = &ap__hal_ascend;

static scratch *place;
static char full_path[600];
static fake_hal_state *fake;
static void *driver;

static inline int build_all(void **state)
{
    int rc = scratch_setup(state);

    if (rc == 0) {
        place = *state;
        fake_hal_build(full_path, sizeof(full_path), place->path, "full.so", "", "");
    }
    return rc;
}

static inline int open_full(void **state)
{
    static fake_hal_state fresh;
    static int kept;

    (void)state;
    fake = fake_hal_of(full_path);
    if (!kept) {
        fresh = *fake;
        kept = 1;
    }
    *fake = fresh;
    return hal->open(&driver, full_path);
}

static inline int close_full(void **state)
{
    (void)state;
    hal->close(driver);
    return 0;
}

#endif
