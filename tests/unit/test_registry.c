/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/registry.h"

static ap__config sample(uint64_t mask)
{
    ap__config config;

    memset(&config, 0, sizeof(config));
    config.device_count = 2;
    config.devices[0] = 3;
    config.devices[1] = 1;
    config.metrics = 5;
    config.requested = mask;
    config.data_types = mask | 0x40;
    return config;
}

static void test_round_trip(void **state)
{
    ap__config in = sample(0x80);
    ap__config out;
    aclprofConfig *handle = ap__registry_add(&in);

    (void)state;
    assert_non_null(handle);
    in.requested = 1; /* a copy was taken */
    assert_true(ap__registry_get(handle, &out));
    in = sample(0x80);
    assert_memory_equal(&in, &out, sizeof(in));
    assert_false(ap__registry_was_destroyed(handle));
    assert_true(ap__registry_remove(handle));
    assert_false(ap__registry_get(handle, &out));
    assert_true(ap__registry_was_destroyed(handle));
    assert_false(ap__registry_remove(handle));
}

static void check_foreign(uintptr_t bits)
{
    const aclprofConfig *handle = (const aclprofConfig *)bits;
    ap__config out;

    assert_false(ap__registry_get(handle, &out));
    assert_false(ap__registry_remove(handle));
    assert_false(ap__registry_was_destroyed(handle));
}

static void test_foreign_handles(void **state)
{
    ap__config in = sample(1);
    aclprofConfig *handle = ap__registry_add(&in);
    uintptr_t bits = (uintptr_t)handle;
    char on_stack[320] = "";
    void *on_heap = malloc(320);

    (void)state;
    assert_non_null(handle);
    assert_non_null(on_heap);
    check_foreign(0);
    check_foreign(1);
    check_foreign(UINTPTR_MAX);
    check_foreign((uintptr_t)on_stack);
    check_foreign((uintptr_t)on_heap);
    check_foreign((uintptr_t)test_foreign_handles);
    check_foreign(bits ^ (uintptr_t)1 << 63);
    check_foreign(bits ^ (uintptr_t)1 << 48);
    check_foreign(bits + 1);          /* a slot not made yet */
    check_foreign(bits | 0xFFFFFu);   /* nor ever */
    check_foreign(bits + (1u << 20)); /* an even generation is no config's */
    check_foreign(bits + (2u << 20)); /* a generation to come */
    free(on_heap);
    assert_true(ap__registry_remove(handle));
}

static void test_a_slot_used_again_has_another_handle(void **state)
{
    ap__config a = sample(1);
    ap__config b = sample(2);
    ap__config out;
    aclprofConfig *first = ap__registry_add(&a);
    aclprofConfig *second = NULL;

    (void)state;
    assert_true(ap__registry_remove(first));
    second = ap__registry_add(&b);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    assert_int_equal((uintptr_t)first & 0xFFFFF, (uintptr_t)second & 0xFFFFF);
    assert_false(ap__registry_get(first, &out));
    assert_false(ap__registry_remove(first));
    assert_true(ap__registry_was_destroyed(first));
    assert_true(ap__registry_get(second, &out));
    assert_int_equal(out.requested, 2);
    assert_true(ap__registry_remove(second));
}

#define MANY 5000u

static void test_many_at_once(void **state)
{
    static aclprofConfig *handles[MANY];
    ap__config out;

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        ap__config in = sample(i + 1);

        handles[i] = ap__registry_add(&in);
        assert_non_null(handles[i]);
    }
    for (unsigned i = 0; i < MANY; i += 2) {
        assert_true(ap__registry_remove(handles[i]));
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(ap__registry_get(handles[i], &out), i % 2);
        assert_true(i % 2 == 0 || out.requested == i + 1);
    }
    for (unsigned i = 1; i < MANY; i += 2) {
        assert_true(ap__registry_remove(handles[i]));
    }
}

/* ---- threads ---- */

static aclprofConfig *shared_handle;
static atomic_int removed;
static atomic_int wrong;

static void *remove_it(void *arg)
{
    (void)arg;
    atomic_fetch_add(&removed, ap__registry_remove(shared_handle));
    return NULL;
}

static void *add_and_remove(void *arg)
{
    for (unsigned i = 0; i < 2000; i++) {
        ap__config in = sample((uint64_t)(uintptr_t)arg << 32 | i);
        ap__config out;
        aclprofConfig *handle = ap__registry_add(&in);

        atomic_fetch_add(&wrong,
                         !(ap__registry_get(handle, &out) && out.requested == in.requested &&
                           ap__registry_remove(handle) && !ap__registry_get(handle, &out)));
    }
    return NULL;
}

static void run(unsigned count, void *(*body)(void *))
{
    pthread_t threads[8];

    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)(i + 1)), 0);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void test_threads(void **state)
{
    (void)state;
    run(4, add_and_remove);
    assert_int_equal(atomic_load(&wrong), 0);
    for (unsigned i = 0; i < 50; i++) {
        ap__config in = sample(1);

        shared_handle = ap__registry_add(&in);
        atomic_store(&removed, 0);
        run(4, remove_it);
        assert_int_equal(atomic_load(&removed), 1);
    }
}

static void test_fork_keeps_the_handles(void **state)
{
    ap__config in = sample(7);
    ap__config out;
    aclprofConfig *handle = ap__registry_add(&in);
    int status = -1;
    pid_t child = 0;

    (void)state;
    child = fork();
    if (child == 0) {
        _exit(ap__registry_get(handle, &out) && ap__registry_remove(handle) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(ap__registry_remove(handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_foreign_handles),
        cmocka_unit_test(test_a_slot_used_again_has_another_handle),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_fork_keeps_the_handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
