/* SPDX-License-Identifier: Apache-2.0 */
/* Ids as hardware packs them: what the simulator packs is what comes out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include "drivers/sim/record.h"
#include "format/wire_device.h"

static void round_trip(uint32_t packing, bool expanded, uint32_t stream, uint32_t task,
                       uint32_t kind)
{
    uint16_t s = 0;
    uint16_t t = 0;

    ap__sim_pack_ids(packing, stream, task, kind, &s, &t);
    ap__stars_unpack(expanded, kind, &s, &t);
    if (s != stream || t != task) {
        fail_msg("packing %u: stream %u task %u came as %u %u", packing, stream, task, s, t);
    }
}

static void test_round_trips(void **state)
{
    (void)state;
    for (uint32_t task = 0; task < 65536; task += 37) {
        for (uint32_t stream = 0; stream < 2048; stream += stream < 8 ? 1 : 233) {
            for (uint32_t packing = 0; packing < 3; packing++) {
                round_trip(packing, false, stream, task, 0);
            }
            for (uint32_t kind = 0; kind < 12; kind++) {
                round_trip(3, true, stream, task, kind);
            }
        }
        round_trip(3, true, 32767, task, 0); /* what expansion is for */
    }
    round_trip(1, false, 2047, 65535, 0);
    round_trip(2, false, 2047, 65535, 0);
}

/* Hardware that has no need to pack does not. */
static void test_plain(void **state)
{
    uint16_t s = 100;
    uint16_t t = 40000;

    (void)state;
    ap__stars_unpack(false, 0, &s, &t);
    assert_int_equal(s, 100);
    assert_int_equal(t, 40000);
    ap__stars_unpack(true, 0, &s, &t);
    assert_int_equal(s, 100);
    assert_int_equal(t, 40000);
    s = 0xFFFF; /* exempt */
    ap__stars_unpack(true, AP_SQE_PLACE_HOLDER, &s, &t);
    assert_int_equal(s, 0xFFFF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_plain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
