/* SPDX-License-Identifier: Apache-2.0 */
/* Model subscriptions on the simulator, as a program uses them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "acl/acl_prof.h"
#include "aclprof_ext.h"
#include "aclprof_reporter.h"
#include "format/wire_op.h"
#include "sim_runtime.h"

#define MODEL 7u

/* ---- what every test needs ---- */

static aclprofSubscribeConfig *config_of(int *fd)
{
    aclprofSubscribeConfig *c = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, fd);

    assert_non_null(c);
    return c;
}

static void launch(uint32_t model, const char *name, int n)
{
    simrtKernel kernel = {.size = sizeof(kernel), .name = name, .core = SIMRT_CUBE, .blocks = 8,
                          .cost_us = 20};

    assert_int_equal(simrtSetModel(model), SIMRT_OK);
    for (int i = 0; i < n; i++) {
        assert_int_equal(simrtLaunchKernel(NULL, &kernel, NULL), SIMRT_OK);
    }
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(MsprofSetDeviceIdByGeModelIdx(MODEL, 0), 0);
    assert_int_equal(MsprofSetDeviceIdByGeModelIdx(MODEL + 1, 0), 0);
    return simrtSetDevice(0) == SIMRT_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    (void)aclprofModelUnSubscribe(MODEL);
    (void)aclprofModelUnSubscribe(MODEL + 1);
    return aclprofFinalize();
}

/* All that comes until the end of the file. */
typedef struct reading {
    int fd;
    size_t bytes;
    char data[1 << 20];
} reading;

static void *read_all(void *arg)
{
    reading *r = arg;
    ssize_t n = 0;

    while (r->bytes < sizeof(r->data) &&
           (n = read(r->fd, r->data + r->bytes, sizeof(r->data) - r->bytes)) > 0) {
        r->bytes += (size_t)n;
    }
    return NULL;
}

/* ---- tests ---- */

static void check_record(const reading *r, uint32_t i, uint32_t model, const char *name,
                         const char *type)
{
    char text[ACL_PROF_MAX_OP_NAME_LEN];
    size_t length = 0;

    memset(text, 'x', sizeof(text));
    assert_int_equal(aclprofGetModelId(r->data, r->bytes, i), model);
    assert_int_equal(aclprofGetGraphId(r->data, r->bytes, i), model);
    assert_int_equal(aclprofGetOpFlag(r->data, r->bytes, i), ACL_SUBSCRIBE_OP);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(aclprofGetOpNameLen(r->data, r->bytes, i, &length), 0);
        assert_int_equal(length, strlen(name) + 1);
        assert_int_equal(aclprofGetOpName(r->data, r->bytes, i, text, sizeof(text)), 0);
        assert_string_equal(text, name);
        assert_int_equal(aclprofGetOpTypeLen(r->data, r->bytes, i, &length), 0);
        assert_int_equal(length, strlen(type) + 1);
        assert_int_equal(aclprofGetOpType(r->data, r->bytes, i, text, length), 0);
        assert_string_equal(text, type);
    }
    assert_int_equal(aclprofGetOpType(r->data, r->bytes, i, text, length - 1), 100000);
    assert_true(aclprofGetOpEnd(r->data, r->bytes, i) > aclprofGetOpStart(r->data, r->bytes, i));
    assert_in_range(aclprofGetOpDuration(r->data, r->bytes, i), 10, 40);
    assert_int_equal(ProfGetOpExecutionTime(r->data, (uint32_t)r->bytes, i),
                     aclprofGetOpEnd(r->data, r->bytes, i) -
                         aclprofGetOpStart(r->data, r->bytes, i));
    assert_null(aclprofGetOpAttriValue(r->data, r->bytes, i, ACL_SUBSCRIBE_ATTRI_THREADID));
}

/* R43: two models on one descriptor; it is closed, and -1, only with the second. */
static void records_arrive_and_the_end_is_closed(void **state)
{
    int fds[2];
    int end = 0;
    uint32_t number = 0;
    pthread_t thread;
    reading *r = calloc(1, sizeof(*r));
    aclprofSubscribeConfig *config = NULL;

    (void)state;
    assert_non_null(r);
    assert_int_equal(pipe(fds), 0);
    end = fds[1];
    r->fd = fds[0];
    config = config_of(&end);
    assert_int_equal(pthread_create(&thread, NULL, read_all, r), 0);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 0);
    assert_int_equal(aclprofModelSubscribe(MODEL + 1, config), 0);
    launch(MODEL, "MatMul_12", 10);
    launch(MODEL + 1, "Relu", 5);
    launch(99, "Foreign", 5);
    launch(UINT32_MAX, "Nobody", 3); /* two models: nobody knows whose it is */
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 0);
    assert_int_equal(end, fds[1]);
    assert_true(fcntl(fds[1], F_GETFD) >= 0);
    assert_int_equal(aclprofModelUnSubscribe(MODEL + 1), 0);
    assert_int_equal(end, -1);
    assert_int_equal(fcntl(fds[1], F_GETFD), -1);
    pthread_join(thread, NULL); /* it has seen the end */
    assert_int_equal(aclprofGetOpNum(r->data, r->bytes, &number), 0);
    assert_int_equal(number, 15);
    for (uint32_t i = 0; i < number; i++) {
        check_record(r, i, i < 10 ? MODEL : MODEL + 1, i < 10 ? "MatMul_12" : "Relu",
                     i < 10 ? "MatMul" : "Relu");
    }
    assert_int_equal(aclprofDestroySubscribeConfig(config), 0);
    assert_int_equal(aclprofDestroySubscribeConfig(config), 100000);
    close(fds[0]);
    free(r);
}

static void codes_of_the_state_machine(void **state)
{
    int fds[2];
    int end = 0;
    aclprofSubscribeConfig *config = NULL;
    aclprofSubscribeConfig *other = NULL;
    aclprofSubscribeConfig *nothing = NULL;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    end = fds[1];
    config = config_of(&end);
    other = aclprofCreateSubscribeConfig(1, ACL_AICORE_PIPE_UTILIZATION, &end);
    nothing = aclprofCreateSubscribeConfig(0, ACL_AICORE_NONE, &end);
    assert_non_null(other);
    assert_non_null(nothing);
    assert_null(aclprofCreateSubscribeConfig(2, ACL_AICORE_NONE, &end));
    assert_null(aclprofCreateSubscribeConfig(1, (aclprofAicoreMetrics)77, &end));
    assert_null(aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, NULL));
    assert_int_equal(aclprofModelSubscribe(12345, NULL), 100000);
    assert_int_equal(aclprofModelSubscribe(12345, config), 100011);
    assert_int_equal(aclprofModelSubscribe(MODEL, nothing), 100000);
    assert_int_equal(aclprofModelSubscribe(MODEL, (const aclprofSubscribeConfig *)&end), 100000);
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 100011);
    assert_int_equal(MsprofSetDeviceIdByGeModelIdx(55, 60), 0);
    assert_int_equal(aclprofModelSubscribe(55, config), 500005); /* no such device */
    assert_int_equal(MsprofUnsetDeviceIdByGeModelIdx(55, 60), 0);
    assert_int_equal(aclprofModelSubscribe(55, config), 100011);

    assert_int_equal(aclprofModelSubscribe(MODEL, config), 0);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 148046);
    assert_int_equal(aclprofModelSubscribe(MODEL + 1, other), 100010);
    assert_int_equal(aclprofInit("/tmp", 4), 148047);
    assert_int_equal(aclprofStart(NULL), 148047);
    assert_int_equal(aclprofModelUnSubscribe(MODEL + 1), 100011);
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 0);
    assert_int_equal(end, -1);

    assert_int_equal(aclprofInit("/tmp", 4), 0);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 148047);
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 148047);
    assert_int_equal(aclprofFinalize(), 0);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 500005); /* the end is -1 now */
    assert_int_equal(aclprofDestroySubscribeConfig(other), 0);
    assert_int_equal(aclprofDestroySubscribeConfig(nothing), 0);
    assert_int_equal(aclprofDestroySubscribeConfig(config), 0);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 100000);
    assert_int_equal(aclprofDestroySubscribeConfig(NULL), 100000);
    close(fds[0]);
}

/* Nobody reads, and more comes than pipe and queue hold; then the reader is gone. */
static void full_and_broken_pipes_hold_up_nothing(void **state)
{
    (void)state;
    for (int broken = 0; broken < 2; broken++) {
        int fds[2];
        int end = 0;
        aclprofSubscribeConfig *config = NULL;

        assert_int_equal(pipe(fds), 0);
        end = fds[1];
        config = config_of(&end);
        assert_int_equal(aclprofModelSubscribe(MODEL, config), 0);
        if (broken != 0) {
            close(fds[0]);
        }
        launch(MODEL, "Add", 6000);
        /* the program's end has not become non-blocking behind its back */
        assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
        assert_int_equal(aclprofModelUnSubscribe(MODEL), 0);
        assert_int_equal(end, -1);
        assert_int_equal(aclprofDestroySubscribeConfig(config), 0);
        if (broken == 0) {
            char record[80];
            uint32_t n = 0;

            while (read(fds[0], record, sizeof(record)) == (ssize_t)sizeof(record)) {
                assert_int_equal(aclprofGetOpNum(record, sizeof(record), &n), 0); /* whole */
            }
            close(fds[0]);
        }
    }
}

static void a_reused_descriptor_is_left_alone(void **state)
{
    int fds[2];
    int end = 0;
    int file = -1;
    aclprofSubscribeConfig *config = NULL;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    end = fds[1];
    config = config_of(&end);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 0);
    file = open("/dev/null", O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(dup2(file, fds[1]), fds[1]); /* the program has closed it, and another came */
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 0);
    assert_true(fcntl(fds[1], F_GETFD) >= 0);
    assert_int_equal(aclprofDestroySubscribeConfig(config), 0);
    close(fds[0]);
    close(fds[1]);
    close(file);
}

static void sockets_are_pipes_too(void **state)
{
    int fds[2];
    int end = 0;
    uint32_t n = 0;
    reading *r = calloc(1, sizeof(*r));
    aclprofSubscribeConfig *config = NULL;

    (void)state;
    assert_non_null(r);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    end = fds[1];
    config = config_of(&end);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 0);
    launch(MODEL, "Mul_1", 30);
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 0);
    r->fd = fds[0];
    (void)read_all(r);
    assert_int_equal(aclprofGetOpNum(r->data, r->bytes, &n), 0);
    assert_int_equal(n, 30);
    assert_int_equal(aclprofDestroySubscribeConfig(config), 0);
    close(fds[0]);
    free(r);
}

static void a_forked_child_has_none(void **state)
{
    int fds[2];
    int end = 0;
    int status = 0;
    pid_t child = 0;
    aclprofSubscribeConfig *config = NULL;
    char byte = 0;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    end = fds[1];
    config = config_of(&end);
    assert_int_equal(aclprofModelSubscribe(MODEL, config), 0);
    child = fork();
    if (child == 0) {
        _exit(aclprofModelUnSubscribe(MODEL) == 100011 && aclprofInit("/tmp", 4) == 0 &&
                      aclprofFinalize() == 0 && end == fds[1]
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    launch(MODEL, "After", 1);
    assert_int_equal(aclprofModelUnSubscribe(MODEL), 0);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    assert_int_equal(aclprofDestroySubscribeConfig(config), 0);
    close(fds[0]);
}

static void damaged_records_are_refused(void **state)
{
    ap__wire_op ops[2] = {{.model = 3, .op = 1u << 30, .flag = AP_OP_FLAG_THREAD, .thread = 42},
                          {.model = 4, .flag = 9}};
    char *copy = malloc(sizeof(ops)); /* exact, for the sanitizer */
    uint32_t n = 77;
    size_t length = 0;

    (void)state;
    assert_non_null(copy);
    assert_int_equal(ap__crc32c("123456789", 9), 0xE3069283u ^ UINT32_MAX); /* the check value */
    for (int i = 0; i < 2; i++) {
        ops[i].signature = ap__op_signature(&ops[i]);
    }
    memcpy(copy, ops, sizeof(ops));
    assert_int_equal(aclprofGetOpNum(copy, sizeof(ops), &n), 0);
    assert_int_equal(n, 2);
    assert_string_equal(
        aclprofGetOpAttriValue(copy, sizeof(ops), 0, ACL_SUBSCRIBE_ATTRI_THREADID), "42");
    assert_null(aclprofGetOpAttriValue(copy, sizeof(ops), 0, ACL_SUBSCRIBE_ATTRI_NONE));
    assert_int_equal(aclprofGetOpFlag(copy, sizeof(ops), 1), ACL_SUBSCRIBE_NONE);
    assert_int_equal(aclprofGetOpFlag(copy, sizeof(ops), 2), ACL_SUBSCRIBE_NONE);
    assert_int_equal(aclprofGetModelId(copy, sizeof(ops), UINT32_MAX), 0);
    assert_int_equal(aclprofGetOpNameLen(copy, sizeof(ops), 0, &length), 100000); /* not ours */
    assert_int_equal(aclprofGetOpNum(copy, sizeof(ops) - 1, &n), 100000);
    assert_int_equal(aclprofGetOpNum(copy, 0, &n), 100000);
    assert_int_equal(aclprofGetOpNum(NULL, 80, &n), 100000);
    assert_int_equal(aclprofGetOpNum(copy, 80, NULL), 100000);
    assert_int_equal(aclprofGetOpDescSize(NULL), 100000);
    for (size_t i = 0; i < sizeof(ops); i++) {
        copy[i] ^= 1;
        assert_int_equal(aclprofGetOpNum(copy, sizeof(ops), &n), 100000);
        assert_int_equal(aclprofGetModelId(copy, sizeof(ops), 0), 0);
        copy[i] ^= 1;
    }
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_arrive_and_the_end_is_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(codes_of_the_state_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(full_and_broken_pipes_hold_up_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reused_descriptor_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(sockets_are_pipes_too, setup, teardown),
        cmocka_unit_test_setup_teardown(a_forked_child_has_none, setup, teardown),
        cmocka_unit_test(damaged_records_are_refused),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
