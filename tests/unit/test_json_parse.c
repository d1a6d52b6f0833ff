/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing from many threads at once, and devices that start side by side, each of which reads
 * host/info.json. What races shows itself to a thread sanitizer. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <pthread.h>

#include "collector_fixture.h"
#include "writer/json_parse.h"

#define THREADS 4u
#define ROUNDS 500u

static void *parse(void *arg)
{
    static const char good[] = "{\"a\":[1,2,{\"b\":\"c\"}]}";
    static const char bad[] = "{\"a\":[1,2,{\"b\":";
    uint32_t *wrong = arg;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        cJSON *one = ap__json_parse(good, sizeof(good) - 1);
        cJSON *none = ap__json_parse(bad, sizeof(bad) - 1);

        *wrong += !cJSON_IsObject(one) || cJSON_GetArraySize(one) != 1 || none != NULL;
        cJSON_Delete(one);
        cJSON_Delete(none);
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    uint32_t wrong[THREADS] = {0};

    (void)state;
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, parse, &wrong[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

static void test_devices(void **state)
{
    static const uint32_t channels[] = {44, 50, 53};
    static const uint32_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
    bed b;

    bed_make(&b, *state);
    for (uint32_t i = 1; i < 8; i++) {
        fake_offer(b.f, i, 5, channels, 3);
    }
    bed_open(&b);
    assert_int_equal(ap__collector_add_devices(b.c, ids, 8), AP_HAL_OK);
    assert_int_equal(ap__collector_stop(b.c), 0);
    for (uint32_t i = 0; i < 8; i++) {
        char name[40];

        snprintf(name, sizeof(name), "device_%u/info.json.%u", i, i);
        assert_true(scratch_size(b.dir.prof_fd, name) > 0);
    }
    bed_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test_setup_teardown(test_devices, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
