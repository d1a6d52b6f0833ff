/* SPDX-License-Identifier: Apache-2.0 */
/* drivers/choose: what ACLPROF_DRIVER leads to, and what is said of it. A process chooses once, so
 * each case has one of its own. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "drivers/ascend/ascend.h"
#include "drivers/choose.h"
#include "scratch.h"
#include "session/errtext.h"

#include "fake_hal/fake_build.h"

static scratch *place;
static char good[600], half[600], stub[600], unsupported[600], simulated[600], late[600];
static const char *const nowhere[] = {"libabsent_hal.so", "/nowhere/libascend_hal.so", NULL};

static int build_all(void **state)
{
    int rc = scratch_setup(state);

    if (rc != 0) {
        return rc;
    }
    place = *state;
    unsetenv("ACLPROF_SIM");
    fake_hal_build(good, sizeof(good), place->path, "good.so", "-Wl,-soname,libascend_hal.so", "");
    fake_hal_build(half, sizeof(half), place->path, "half.so", "-DFAKE_HALF", "");
    fake_hal_build(stub, sizeof(stub), place->path, "stub.so", "-DFAKE_STUB", "");
    fake_hal_build(unsupported, sizeof(unsupported), place->path, "unsupported.so",
                   "-DFAKE_CODE=0xfffe", "");
    fake_hal_build(simulated, sizeof(simulated), place->path, "simulated.so", "-DFAKE_SIMULATED",
                   "");
    snprintf(late, sizeof(late), "%s/late.so", place->path);
    fake_compile(late, FAKE_DIR "/late_caller.c", "-DFAKE_PLAIN", "-DFAKE_PLAIN_2");
    return 0;
}

/* ---- a process per case ---- */

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            return __LINE__; \
        } \
    } while (0)

typedef struct outcome {
    int line; /* 0, or where it failed */
    char said[4096];
} outcome;

/* Runs `body` in a child with ACLPROF_DRIVER set and the search list given. */
static outcome in_child(int (*body)(void), const char *value, const char *const *places,
                        ap__log_level level)
{
    outcome out = {0, ""};
    int said[2];
    int line[2];
    ssize_t n = 0;
    size_t used = 0;
    int status = 0;
    pid_t pid = -1;

    assert_int_equal(pipe2(said, O_CLOEXEC), 0);
    assert_int_equal(pipe2(line, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        if (value != NULL) {
            setenv("ACLPROF_DRIVER", value, 1);
        } else {
            unsetenv("ACLPROF_DRIVER");
        }
        unsetenv("ASCEND_HOME_PATH");
        unsetenv("ASCEND_TOOLKIT_HOME");
        ap__ascend_places = places;
        atomic_store(&ap__log_level_now, (int)level);
        dup2(said[1], STDERR_FILENO);
        out.line = body();
        (void)!write(line[1], &out.line, sizeof(out.line));
        _exit(0);
    }
    assert_true(pid > 0);
    close(said[1]);
    close(line[1]);
    while (used < sizeof(out.said) - 1 &&
           (n = read(said[0], out.said + used, sizeof(out.said) - 1 - used)) > 0) {
        used += (size_t)n;
    }
    assert_int_equal(read(line[0], &out.line, sizeof(out.line)), sizeof(out.line));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0) { /* a sanitizer's exit code */
        fail_msg("status %x; said: %s", (unsigned)status, out.said);
    }
    close(said[0]);
    close(line[0]);
    return out;
}

static unsigned lines_of(const char *text)
{
    unsigned n = 0;

    for (; *text != '\0'; text++) {
        n += *text == '\n';
    }
    return n;
}

/* Silent, or one line that has `needle` in it. */
static void check(int (*body)(void), const char *value, const char *const *places,
                  const char *needle)
{
    outcome out = in_child(body, value, places, AP_LOG_WARN);

    if (out.line != 0) {
        fail_msg("line %d with '%s'; said: %s", out.line, value != NULL ? value : "", out.said);
    }
    if (needle == NULL) {
        assert_string_equal(out.said, "");
    } else {
        assert_int_equal(lines_of(out.said), 1);
        assert_memory_equal(out.said, "aclprof: warn: ", 15);
        if (strstr(out.said, needle) == NULL) {
            fail_msg("no '%s' in: %s", needle, out.said);
        }
    }
    out = in_child(body, value, places, AP_LOG_OFF);
    assert_int_equal(out.line, 0);
    assert_string_equal(out.said, "");
}

/* ---- bodies ---- */

static int host_only(void)
{
    const ap__driver *d = NULL;

    errno = 4711;
    EXPECT(ap__driver_peek() == NULL);
    d = ap__driver_now();
    EXPECT(errno == 4711);
    EXPECT(d != NULL && d->ops == NULL && d->context == NULL);
    EXPECT(d->why[0] != '\0' && d->library[0] == '\0');
    EXPECT(ap__driver_now() == d && ap__driver_peek() == d);
    return 0;
}

static int real_one(void)
{
    const ap__driver *d = NULL;

    errno = 4711;
    d = ap__driver_now();
    EXPECT(errno == 4711);
    EXPECT(d->ops == &ap__hal_ascend && d->context != NULL);
    EXPECT(strcmp(d->library, good) == 0 && d->why[0] == '\0');
    EXPECT(d->ops->devices(d->context, NULL, 0) == 2);
    EXPECT(ap__driver_now() == d && ap__driver_peek() == d);
    return 0;
}

static int simulated_library(void)
{
    const ap__driver *d = ap__driver_now();

    EXPECT(d->ops == &ap__hal_ascend_simulated && d->ops->simulated == 1 && d->asked_for);
    EXPECT(strcmp(d->library, simulated) == 0);
    return 0;
}

static int simulator(void)
{
    const ap__driver *d = ap__driver_now();

    EXPECT(d->ops == &ap__hal_sim && d->ops->simulated == 1 && d->asked_for);
    EXPECT(d->library[0] == '\0' && d->why[0] == '\0');
    EXPECT(d->ops->devices(d->context, NULL, 0) >= 1);
    EXPECT(ap__driver_now() == d);
    return 0;
}

/* ---- cases ---- */

static void automatic(void **state)
{
    const char *const one[] = {"libabsent_hal.so", good, NULL};
    const char *const later[] = {half, good, NULL};
    const char *const *lists[] = {one, later};

    (void)state;
    check(host_only, NULL, nowhere, NULL);
    check(host_only, "", nowhere, NULL);
    check(host_only, "auto", nowhere, NULL);
    for (size_t i = 0; i < 2; i++) {
        check(real_one, NULL, lists[i], NULL);
        check(real_one, "auto", lists[i], NULL);
    }
}

static void half_present_warns_once(void **state)
{
    const char *const halves[] = {half, NULL};
    const char *const stubs[] = {stub, NULL};
    const char *const unsupporteds[] = {unsupported, NULL};

    (void)state;
    check(host_only, NULL, halves, "lacks 4 of the 9 functions that are needed: prof_channel_read");
    check(host_only, "ascend", halves, "lacks 4 of the 9");
    check(host_only, half, nowhere, "lacks 4 of the 9");
    check(host_only, NULL, stubs, "stub.so is a stub");
    check(host_only, "auto", unsupporteds, "drvGetDevNum gives 65534");
}

static void named(void **state)
{
    const char *const goods[] = {good, NULL};

    (void)state;
    check(real_one, "ascend", goods, NULL);
    check(real_one, good, nowhere, NULL);
    check(host_only, "ascend", nowhere, "there is no libascend_hal.so");
    check(host_only, "/nowhere/libother.so", goods, "/nowhere/libother.so");
    check(host_only, "libabsent_hal.so", goods, "there is no libabsent_hal.so");
    check(host_only, "none", goods, NULL);
    check(host_only, "Sim", goods, "ACLPROF_DRIVER is 'Sim'; it can be auto");
    check(host_only, "a\nb", goods, "it can be auto");
}

static void simulator_only_when_asked_for(void **state)
{
    const char *const sims[] = {simulated, NULL};

    (void)state;
    check(host_only, NULL, sims, "is a simulated NPU");
    check(host_only, "auto", sims, "is a simulated NPU");
    check(simulated_library, "ascend", sims, NULL);
    check(simulated_library, simulated, nowhere, NULL);
    check(simulator, "sim", nowhere, NULL);
    setenv("ACLPROF_SIM", "chip=no_such", 1);
    check(host_only, "sim", nowhere, "the simulated NPU does not open: ");
    unsetenv("ACLPROF_SIM");
}

/* The name finds what the program itself has loaded. */
static int loaded_by_program(void)
{
    EXPECT(dlopen(good, RTLD_NOW | RTLD_LOCAL) != NULL);
    return real_one();
}

static void finds_what_the_program_has_loaded(void **state)
{
    static const char *const name[] = {"libascend_hal.so", NULL};

    (void)state;
    check(loaded_by_program, NULL, name, NULL);
}

/* ---- threads, fork ---- */

static pthread_barrier_t together;

static void *ask(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&together);
    return (void *)(uintptr_t)ap__driver_now();
}

static int all_see_the_same(void)
{
    pthread_t threads[8];
    void *seen = NULL;

    EXPECT(pthread_barrier_init(&together, NULL, 8) == 0);
    for (int i = 0; i < 8; i++) {
        EXPECT(pthread_create(&threads[i], NULL, ask, NULL) == 0);
    }
    for (int i = 0; i < 8; i++) {
        EXPECT(pthread_join(threads[i], &seen) == 0);
        EXPECT(seen != NULL && seen == ap__driver_now());
    }
    return 0;
}

static int threads_and_real(void)
{
    int rc = all_see_the_same();

    return rc != 0 ? rc : real_one();
}

static int threads_and_sim(void)
{
    int rc = all_see_the_same();

    return rc != 0 ? rc : simulator();
}

static void threads_choose_once(void **state)
{
    const char *const halves[] = {half, NULL};

    (void)state;
    for (int i = 0; i < 5; i++) {
        check(threads_and_real, good, nowhere, NULL);
        check(threads_and_sim, "sim", nowhere, NULL);
        check(all_see_the_same, NULL, halves, "lacks 4 of the 9");
    }
}

static atomic_int in_start_up;
static atomic_uintptr_t seen_in_start_up;

static void from_start_up(void)
{
    atomic_store(&in_start_up, 1);
    usleep(100000); /* the other thread gets as far as the loader's lock */
    atomic_store(&seen_in_start_up, (uintptr_t)ap__driver_now());
}

static void *ask_meanwhile(void *arg)
{
    (void)arg;
    while (atomic_load(&in_start_up) == 0) {
        usleep(1000);
    }
    return (void *)(uintptr_t)ap__driver_now();
}

static int under_the_loaders_lock(void)
{
    char address[32];
    pthread_t thread;
    void *seen = NULL;

    alarm(20); /* a deadlock ends the child */
    snprintf(address, sizeof(address), "%llx", (unsigned long long)(uintptr_t)from_start_up);
    setenv("FAKE_CALLBACK", address, 1);
    EXPECT(pthread_create(&thread, NULL, ask_meanwhile, NULL) == 0);
    EXPECT(dlopen(late, RTLD_NOW) != NULL);
    EXPECT(pthread_join(thread, &seen) == 0);
    EXPECT(seen != NULL && (uintptr_t)seen == atomic_load(&seen_in_start_up));
    return real_one();
}

static void a_call_from_start_up_code_does_not_hang(void **state)
{
    (void)state;
    check(under_the_loaders_lock, good, nowhere, NULL);
}

static int child_of(bool asks_first, int (*body)(void))
{
    int status = 0;
    pid_t pid = 0;

    if (asks_first) {
        (void)ap__driver_now();
    }
    pid = fork();
    if (pid == 0) {
        _exit(body() == 0 ? 0 : 1);
    }
    EXPECT(waitpid(pid, &status, 0) == pid);
    EXPECT(status == 0);
    return 0;
}

static int marked_dead(void)
{
    const ap__driver *d = ap__driver_now();

    EXPECT(d->ops == NULL && d->context == NULL);
    EXPECT(strstr(d->why, "forked") != NULL);
    EXPECT(ap__driver_peek() == d);
    return 0;
}

static int grandchild_too(void)
{
    int rc = marked_dead();

    return rc != 0 ? rc : child_of(false, marked_dead);
}

static int none_as_before(void)
{
    EXPECT(ap__driver_now()->ops == NULL);
    EXPECT(strstr(ap__driver_now()->why, "forked") == NULL);
    return 0;
}

static int real_then_fork(void)
{
    int rc = child_of(true, grandchild_too);

    return rc != 0 ? rc : real_one();
}

static int sim_then_fork(void)
{
    int rc = child_of(true, grandchild_too);

    return rc != 0 ? rc : simulator();
}

static int none_then_fork(void)
{
    return child_of(true, none_as_before);
}

static int fork_then_real(void)
{
    return child_of(false, real_one);
}

static void forked_children(void **state)
{
    (void)state;
    check(real_then_fork, good, nowhere, NULL);
    check(sim_then_fork, "sim", nowhere, NULL);
    check(none_then_fork, "none", nowhere, NULL);
    check(none_then_fork, NULL, nowhere, NULL);
    check(fork_then_real, good, nowhere, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic),
        cmocka_unit_test(half_present_warns_once),
        cmocka_unit_test(named),
        cmocka_unit_test(simulator_only_when_asked_for),
        cmocka_unit_test(finds_what_the_program_has_loaded),
        cmocka_unit_test(threads_choose_once),
        cmocka_unit_test(a_call_from_start_up_code_does_not_hang),
        cmocka_unit_test(forked_children),
    };

    return cmocka_run_group_tests(tests, build_all, scratch_teardown);
}
