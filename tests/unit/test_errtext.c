/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/errtext.h"

static const ap__fail_site a_site = {ACL_ERROR_PROF_NOT_RUN, AP_EK_CALL_ORDER, "aclprofMark",
                                     "Nothing runs."};

/* ---- the vendor's manager, a stand-in ---- */

static struct {
    unsigned calls;
    char code[16];
    char text[1200];
    char symbol[128];
} vendor;

static int vendor_report(const char *code, const char *format, ...)
{
    va_list args;

    vendor.calls++;
    snprintf(vendor.code, sizeof(vendor.code), "%s", code);
    va_start(args, format);
    vsnprintf(vendor.text, sizeof(vendor.text), format, args);
    va_end(args);
    return 0;
}

static void *vendor_found(const char *symbol)
{
    union {
        int (*function)(const char *, const char *, ...);
        void *object;
    } u = {.function = vendor_report};

    snprintf(vendor.symbol, sizeof(vendor.symbol), "%s", symbol);
    return u.object;
}

static void *(*real_lookup)(const char *symbol);

static int setup(void **state)
{
    (void)state;
    memset(&vendor, 0, sizeof(vendor));
    real_lookup = ap__vendor_lookup;
    atomic_store(&ap__log_level_now, AP_LOG_OFF);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ap__vendor_lookup = real_lookup;
    atomic_store(&ap__log_level_now, AP_LOG_OFF);
    return 0;
}

/* ---- text ---- */

static void *ask(void *out)
{
    snprintf(out, 1200, "%s", ap__last_error());
    return NULL;
}

static void test_no_failure_is_the_empty_text(void **state)
{
    char text[1200] = "?";
    pthread_t thread;

    (void)state;
    (void)ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, "aclprofInit", "of this thread");
    assert_int_equal(pthread_create(&thread, NULL, ask, text), 0);
    pthread_join(thread, NULL);
    assert_string_equal(text, "");
    assert_non_null(strstr(ap__last_error(), "of this thread"));
}

static void test_form(void **state)
{
    (void)state;
    errno = 77;
    assert_int_equal(ap__fail_value(ACL_ERROR_INVALID_PARAM, "aclprofInit", "length", "4096", 4,
                                    "it must be 1 to %d; pass strlen(path)", 4095),
                     ACL_ERROR_INVALID_PARAM);
    assert_string_equal(ap__last_error(),
                        "EK0001: Value [4096] for parameter length is invalid. Reason: it must be "
                        "1 to 4095; pass strlen(path). (aclprofInit, 100000)");
    assert_int_equal(ap__fail_null("aclprofInit", "path"), ACL_ERROR_INVALID_PARAM);
    assert_string_equal(ap__last_error(),
                        "EK0006: aclprofInit failed because parameter path cannot be a null "
                        "pointer. (aclprofInit, 100000)");
    assert_int_equal(ap__fail_order(ACL_ERROR_PROF_NOT_RUN, "aclprofWarmup", "aclprofInit", "why"),
                     ACL_ERROR_PROF_NOT_RUN);
    assert_string_equal(ap__last_error(),
                        "EK0002: Please call the APIs in the following order: call aclprofInit "
                        "first, then aclprofWarmup. Reason: why. (aclprofWarmup, 100043)");
    assert_int_equal(ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_DISK, "aclprofStart", "Full."),
                     ACL_ERROR_PROFILING_FAILURE);
    assert_string_equal(ap__last_error(), "EK0204: Full. (aclprofStart, 500005)");
    assert_int_equal(errno, 77);
}

static void test_quick_replaces_and_is_replaced(void **state)
{
    (void)state;
    (void)ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, "aclprofInit", "first");
    errno = 77;
    assert_int_equal(ap__fail_quick(&a_site), ACL_ERROR_PROF_NOT_RUN);
    assert_string_equal(ap__last_error(), "EK0002: Nothing runs. (aclprofMark, 100043)");
    assert_string_equal(ap__last_error(), "EK0002: Nothing runs. (aclprofMark, 100043)");
    (void)ap__fail_quick(&a_site);
    (void)ap__fail(ACL_ERROR_INVALID_PARAM, AP_EK_BAD_VALUE, "aclprofInit", "last");
    assert_non_null(strstr(ap__last_error(), "last"));
    assert_int_equal(errno, 77);
}

static void test_long_text_is_cut_between_characters(void **state)
{
    char text[4096];

    (void)state;
    for (unsigned shift = 0; shift < 3; shift++) {
        const char *last = NULL;

        memset(text, 'x', shift);
        for (size_t i = shift; i + 3 < sizeof(text); i += 3) {
            memcpy(text + i, "\xE4\xB8\xAD", 4);
        }
        (void)ap__fail(1, AP_EK_INNER, "aclprofStart", "%s", text);
        last = strstr(ap__last_error(), " (aclprofStart, 1)");
        assert_non_null(last);
        assert_memory_equal(last - 3, "\xE4\xB8\xAD", 3);
        assert_true(strlen(ap__last_error()) > 900);
    }
}

static void test_control_characters_never_pass(void **state)
{
    (void)state;
    (void)ap__fail(1, AP_EK_INNER, "aclprofStart", "a\nb\033[31mc\177");
    assert_string_equal(ap__last_error(), "EK9999: a?b?[31mc? (aclprofStart, 1)");
}

static void check_quote(const char *bytes, size_t length, size_t size, const char *expected)
{
    char *out = malloc(size); /* of just this size: for the sanitizer */

    assert_non_null(out);
    assert_int_equal(ap__quote(out, size, bytes, length), strlen(expected));
    assert_string_equal(out, expected);
    free(out);
}

static void test_quote(void **state)
{
    (void)state;
    check_quote("", 0, 8, "");
    check_quote("abc", 3, 4, "abc");
    check_quote("abcd", 4, 5, "abcd");
    check_quote("abcde", 5, 5, "a...");
    check_quote("a\nb", 3, 16, "a\\x0ab");
    check_quote("\x7F\x00\x1B", 3, 16, "\\x7f\\x00\\x1b");
    check_quote("\xE4\xB8\xAD!", 4, 16, "\xE4\xB8\xAD!");
    check_quote("\xE4\xB8", 2, 16, "\\xe4\\xb8"); /* never looks behind its end */
    check_quote("\xC2\x9B", 2, 16, "\\xc2\\x9b"); /* a terminal's CSI */
    check_quote("\xC2\xA9", 2, 16, "\xC2\xA9");
    check_quote("\xFF\xC0\x80", 3, 16, "\\xff\\xc0\\x80");
    check_quote("\xF0\x9F\x98\x80\xF0\x9F\x98\x80", 8, 8, "\xF0\x9F\x98\x80...");
}

static void test_long_values_are_shortened(void **state)
{
    char value[5000];

    (void)state;
    memset(value, 'v', sizeof(value));
    (void)ap__fail_value(1, "aclprofInit", "path", value, sizeof(value), "the end is told");
    assert_non_null(strstr(ap__last_error(), "vvv...] for parameter path"));
    assert_non_null(strstr(ap__last_error(), "the end is told. (aclprofInit, 1)"));
    assert_true(strlen(ap__last_error()) < 300);
}

/* ---- threads ---- */

typedef struct threaded {
    unsigned number;
    int wrong;
} threaded;

static void *fail_often(void *arg)
{
    threaded *t = arg;
    char expected[64];

    for (unsigned i = 0; i < 500; i++) {
        snprintf(expected, sizeof(expected), "EK9999: %u.%u (aclprofX, 7)", t->number, i);
        (void)ap__fail(7, AP_EK_INNER, "aclprofX", "%u.%u", t->number, i);
        t->wrong += strcmp(ap__last_error(), expected) != 0;
    }
    return NULL;
}

static void test_each_thread_has_its_own(void **state)
{
    pthread_t threads[4];
    threaded args[4];

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        args[i] = (threaded){i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, fail_often, &args[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(args[i].wrong, 0);
    }
}

static pthread_key_t host_key;
static char in_destructor[1200];

static void host_destructor(void *rounds)
{
    unsigned *left = rounds;

    (void)ap__fail_quick(&a_site);
    snprintf(in_destructor, sizeof(in_destructor), "%s", ap__last_error());
    (void)ap__fail(1, AP_EK_INNER, "aclprofX", "in a destructor");
    if (--*left > 0) {
        pthread_setspecific(host_key, left);
    }
}

static void *end_with_destructor(void *rounds)
{
    (void)ap__fail(1, AP_EK_INNER, "aclprofX", "before");
    pthread_setspecific(host_key, rounds);
    return NULL;
}

/* Other keys' destructors may run before and after ours; the leak checker looks on. */
static void test_failing_in_thread_destructors(void **state)
{
    unsigned rounds = 2; /* TSan itself does not survive more */
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_key_create(&host_key, host_destructor), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_with_destructor, &rounds), 0);
    pthread_join(thread, NULL);
    assert_string_equal(in_destructor, "EK0002: Nothing runs. (aclprofMark, 100043)");
    assert_int_equal(rounds, 0);
    pthread_key_delete(host_key);
}

/* ---- stderr ---- */

static int saved_stderr = -1;

static int stderr_to_pipe(void)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    saved_stderr = dup(STDERR_FILENO);
    assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    close(fds[1]);
    return fds[0];
}

static void stderr_back(void)
{
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
}

static void test_stderr_only_when_asked(void **state)
{
    int fd = stderr_to_pipe();
    char text[512] = "";
    ssize_t quiet = 0;
    ssize_t loud = 0;

    (void)state;
    (void)ap__fail(1, AP_EK_INNER, "aclprofX", "quiet");
    ap__log(AP_LOG_ERROR, "quiet");
    ap__log(AP_LOG_OFF, "quiet");
    quiet = read(fd, text, sizeof(text));
    atomic_store(&ap__log_level_now, AP_LOG_WARN);
    errno = 77;
    (void)ap__fail(1, AP_EK_INNER, "aclprofX", "loud");
    (void)ap__fail_quick(&a_site);
    ap__log(AP_LOG_WARN, "lost %d", 3);
    ap__log(AP_LOG_INFO, "not this");
    loud = read(fd, text, sizeof(text) - 1);
    stderr_back();
    close(fd);
    assert_int_equal(quiet, -1);
    assert_true(loud > 0);
    text[loud] = '\0';
    assert_string_equal(text, "aclprof: error: EK9999: loud (aclprofX, 1)\n"
                              "aclprof: warn: lost 3\n");
}

static void test_long_lines_end_in_one_newline(void **state)
{
    int fd = stderr_to_pipe();
    char big[4000];
    char text[4096];
    ssize_t n = 0;

    (void)state;
    memset(big, 'b', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    atomic_store(&ap__log_level_now, AP_LOG_INFO);
    ap__log(AP_LOG_INFO, "%s", big);
    n = read(fd, text, sizeof(text));
    stderr_back();
    close(fd);
    assert_true(n > 1000 && n < 1500);
    assert_int_equal(text[n - 1], '\n');
    assert_int_equal(text[n - 2], 'b');
}

static void test_a_stderr_without_reader_does_not_kill(void **state)
{
    int fd = stderr_to_pipe();
    sigset_t pending;

    (void)state;
    close(fd);
    signal(SIGPIPE, SIG_DFL);
    atomic_store(&ap__log_level_now, AP_LOG_ERROR);
    ap__log(AP_LOG_ERROR, "nobody reads");
    sigpending(&pending);
    stderr_back();
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
}

/* The level is read from the environment, once. */
static void test_level_names(void **state)
{
    static const struct {
        const char *value;
        ap__log_level level;
    } cases[] = {{"error", AP_LOG_ERROR}, {"warn", AP_LOG_WARN}, {"info", AP_LOG_INFO},
                 {"debug", AP_LOG_DEBUG}, {"off", AP_LOG_OFF},   {"", AP_LOG_OFF},
                 {"loud", AP_LOG_OFF}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("ACLPROF_LOG", cases[i].value, 1);
        atomic_store(&ap__log_level_now, -1);
        for (int level = AP_LOG_ERROR; level <= AP_LOG_DEBUG; level++) {
            assert_int_equal(ap__log_enabled((ap__log_level)level), level <= (int)cases[i].level);
        }
    }
    setenv("ACLPROF_LOG", "debug", 1);
    assert_false(ap__log_enabled(AP_LOG_ERROR));
    unsetenv("ACLPROF_LOG");
}

/* ---- the vendor's error manager ---- */

static void test_vendor_is_told_when_loaded(void **state)
{
    (void)state;
    ap__vendor_lookup = vendor_found;
    (void)ap__fail(1, AP_EK_MEMORY, "aclprofX", "100 %% of it");
    assert_int_equal(vendor.calls, 1);
    assert_string_equal(vendor.symbol, "_ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z");
    assert_string_equal(vendor.code, "EK0201");
    assert_string_equal(vendor.text, "100 % of it (aclprofX, 1)");
    (void)ap__fail_quick(&a_site);
    assert_int_equal(vendor.calls, 1);
}

static void test_absent_vendor(void **state)
{
    (void)state;
    (void)ap__fail(1, AP_EK_INNER, "aclprofX", "as usual");
    assert_string_equal(ap__last_error(), "EK9999: as usual (aclprofX, 1)");
    assert_null(ap__vendor_lookup("aclprof_there_is_no_such_symbol"));
}

static void test_reports_wait_for_the_outermost_release(void **state)
{
    (void)state;
    ap__vendor_lookup = vendor_found;
    ap__fail_hold();
    ap__fail_hold();
    (void)ap__fail(1, AP_EK_INNER, "aclprofX", "first");
    (void)ap__fail(1, AP_EK_INNER, "aclprofX", "second");
    assert_string_equal(ap__last_error(), "EK9999: second (aclprofX, 1)");
    ap__fail_release();
    assert_int_equal(vendor.calls, 0);
    ap__fail_release();
    assert_int_equal(vendor.calls, 1);
    assert_string_equal(vendor.text, "second (aclprofX, 1)");
    ap__fail_hold();
    ap__fail_release();
    assert_int_equal(vendor.calls, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_failure_is_the_empty_text),
        TEST(test_form),
        TEST(test_quick_replaces_and_is_replaced),
        TEST(test_long_text_is_cut_between_characters),
        TEST(test_control_characters_never_pass),
        TEST(test_quote),
        TEST(test_long_values_are_shortened),
        TEST(test_each_thread_has_its_own),
        TEST(test_failing_in_thread_destructors),
        TEST(test_stderr_only_when_asked),
        TEST(test_long_lines_end_in_one_newline),
        TEST(test_a_stderr_without_reader_does_not_kill),
        TEST(test_level_names),
        TEST(test_vendor_is_told_when_loaded),
        TEST(test_absent_vendor),
        TEST(test_reports_wait_for_the_outermost_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
