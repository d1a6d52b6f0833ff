/* SPDX-License-Identifier: Apache-2.0 */
/* mstx as its library uses us: tables, marks, ranges, domains, the device's side, other tools. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the four above */
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "aclprof_reporter.h"
#include "analysis/model.h"
#include "format/wire_host.h"
#include "reader/reader.h"
#include "ring/ring.h"
#include "scratch.h"
#include "sim_runtime.h"

#ifdef AP_SANITIZED
#define EACH 300u
#else
#define EACH 3000u
#endif
#define THREADS 6u

/* ---- the library of mstx ---- */

static struct {
    void (*mark)(const char *, void *);
    uint64_t (*start)(const char *, void *);
    void (*end)(uint64_t);
    AclprofMstxFunction tool_id;
} core;

static struct {
    void *(*create)(const char *);
    void (*destroy)(void *);
    void (*mark)(void *, const char *, void *);
    uint64_t (*start)(void *, const char *, void *);
    void (*end)(void *, uint64_t);
} domain;

static struct {
    void *(*heap_register)(void *, const void *);
    void (*heap_unregister)(void *, const void *);
    void (*regions_register)(void *, const void *);
    void (*regions_unregister)(void *, const void *);
    void (*permissions)(void *, const void *);
} memory;

static AclprofMstxFunction beyond;
static uint32_t core_size = 5;
static int tables = 3;

#define SLOT(field) ((AclprofMstxFunction *)(void *)&(field))

static int get_table(int32_t module, AclprofMstxFunction ***table, uint32_t *size)
{
    static AclprofMstxFunction *of_core[] = {NULL, SLOT(core.mark), SLOT(core.start),
                                             SLOT(core.end), &core.tool_id, &beyond};
    static AclprofMstxFunction *of_domain[] = {
        NULL,         SLOT(domain.create), SLOT(domain.destroy), SLOT(domain.mark),
        SLOT(domain.start), SLOT(domain.end),  &beyond};
    static AclprofMstxFunction *of_memory[] = {NULL,
                                               SLOT(memory.heap_register),
                                               SLOT(memory.heap_unregister),
                                               SLOT(memory.regions_register),
                                               SLOT(memory.regions_unregister),
                                               SLOT(memory.permissions),
                                               &beyond};

    if (module > tables) {
        return 1;
    }
    *table = module == 1 ? of_core : module == 2 ? of_domain : of_memory;
    *size = module == 1 ? core_size : 6;
    return 0;
}

static void inject(void)
{
    memset(&core, 0, sizeof(core));
    memset(&domain, 0, sizeof(domain));
    memset(&memory, 0, sizeof(memory));
    assert_int_equal(InitInjectionMstx(get_table), 0);
}

static void injection(void **state)
{
    (void)state;
    assert_int_equal(InitInjectionMstx(NULL), 1);
    tables = 0;
    assert_int_equal(InitInjectionMstx(get_table), 1);
    tables = 1; /* an older one */
    core_size = 3;
    inject();
    assert_true(core.mark != NULL && core.start != NULL);
    assert_true(core.end == NULL && domain.create == NULL && memory.heap_register == NULL);
    tables = 3;
    core_size = 5;
    inject();
    assert_true(core.mark != NULL && core.end != NULL && core.tool_id == NULL);
    assert_true(domain.create != NULL && domain.end != NULL);
    assert_true(memory.heap_register != NULL && memory.permissions != NULL && beyond == NULL);
    assert_non_null(memory.heap_register(NULL, NULL));
    assert_true(memory.heap_register(NULL, NULL) != memory.heap_register(NULL, NULL));
    memory.heap_unregister(NULL, NULL);
    memory.regions_register(NULL, NULL);
    memory.regions_unregister(NULL, NULL);
    memory.permissions(NULL, NULL);
}

/* ---- captures ---- */

static aclprofConfig *begin(const char *dir)
{
    aclprofConfig *config =
        aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);

    assert_non_null(config);
    assert_int_equal(aclprofInit(dir, strlen(dir)), ACL_SUCCESS);
    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    return config;
}

static void end(aclprofConfig *config)
{
    assert_int_equal(aclprofStop(config), ACL_SUCCESS);
    assert_int_equal(aclprofDestroyConfig(config), ACL_SUCCESS);
    assert_int_equal(aclprofFinalize(), ACL_SUCCESS);
}

static ap__reader *open_result(const char *dir)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);

    assert_non_null(reader);
    return reader;
}

static void expect(ap__reader *reader, uint32_t event, const char *of, const char *message)
{
    ap__stamp_record s;

    assert_true(ap__reader_next_stamp(reader, &s));
    assert_int_equal(s.event, event);
    assert_int_equal(s.info_type, AP_TX_INFO_EX);
    assert_int_equal(s.pid, getpid());
    assert_string_equal(s.domain_name, of);
    assert_string_equal(s.message, message);
    assert_true(s.end_ns >= s.start_ns && (event == AP_TX_RANGE || s.end_ns == s.start_ns));
}

static void expect_end(ap__reader *reader)
{
    ap__stamp_record s;

    assert_false(ap__reader_next_stamp(reader, &s));
    ap__reader_close(reader);
}

/* Of characters of two bytes, and one of one in front when the length is odd. */
static char *text_of(size_t length)
{
    char *text = malloc(length + 1);
    size_t at = length % 2;

    assert_non_null(text);
    text[0] = 'x';
    for (; at < length; at += 2) {
        memcpy(text + at, "\xC3\xA4", 2);
    }
    text[length] = '\0';
    return text;
}

static void texts_of_any_length(void **state)
{
    static const size_t lengths[] = {1, 2, 154, 155, 156, 157, 310, 311, 5000, 100000};
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = NULL;
    ap__reader *reader = NULL;
    const uint32_t count = sizeof(lengths) / sizeof(lengths[0]);

    inject();
    core.mark("before", NULL); /* nobody wants it */
    assert_int_equal(core.start("before", NULL), 0);
    config = begin(dir);
    for (uint32_t i = 0; i < count; i++) {
        char *text = text_of(lengths[i]);
        uint64_t id = 0;

        core.mark(text, NULL);
        id = core.start(text, NULL);
        assert_true(id != 0);
        core.end(id);
        free(text);
        usleep(20000); /* the ring holds one of the longest */
    }
    core.mark("bad \xFF byte", NULL);
    end(config);
    core.mark("after", NULL);
    reader = open_result(dir);
    for (uint32_t i = 0; i < count; i++) {
        char *text = text_of(lengths[i]);

        expect(reader, AP_TX_MARK, "default", text);
        expect(reader, AP_TX_RANGE, "default", text);
        free(text);
    }
    expect(reader, AP_TX_MARK, "default", "bad \xEF\xBF\xBD byte");
    expect_end(reader);
}

static void domains_and_what_is_ignored(void **state)
{
    static const char *const bad[] = {NULL, "", "=1", "+1", "-1", "@1"};
    const char *dir = ((scratch *)*state)->path;
    char *longest = text_of(1023);
    char *longer = text_of(1024);
    void *comm = NULL;
    void *data = NULL;
    void *gone = NULL;
    aclprofConfig *config = NULL;
    uint64_t one = 0;
    uint64_t two = 0;
    uint32_t ours = 0;
    void *stamp = NULL;
    ap__reader *reader = NULL;

    inject();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_null(domain.create(bad[i]));
    }
    assert_null(domain.create(longer));
    assert_null(domain.create("default"));
    comm = domain.create("communication"); /* before the capture: kept */
    assert_non_null(comm);
    config = begin(dir);
    data = domain.create("dataloader");
    gone = domain.create(longest);
    assert_true(data != NULL && gone != NULL && data != comm);
    assert_ptr_equal(domain.create("communication"), comm);
    domain.destroy(comm); /* once of twice */
    domain.mark(comm, "allreduce", NULL);
    domain.mark(gone, "long", NULL);
    domain.destroy(gone);
    domain.mark(gone, "gone", NULL);
    assert_int_equal(domain.start(gone, "gone", NULL), 0);
    domain.mark(NULL, "none", NULL);
    domain.mark((void *)((uintptr_t)0x5AC4 << 48), "forged", NULL);
    domain.mark(&ours, "foreign", NULL);
    assert_true(domain.create(longest) != gone);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        core.mark(bad[i], NULL);
        assert_int_equal(domain.start(data, bad[i], NULL), 0);
    }

    one = core.start("one", NULL);
    two = domain.start(data, "two", NULL);
    assert_true(one != 0 && two != 0 && one != two);
    core.end(two); /* of another domain: stays open */
    domain.end(comm, two);
    domain.end(data, one);
    domain.end(data, two);
    domain.end(data, two); /* once */
    core.end(0);
    core.end(12345);

    stamp = aclprofCreateStamp(); /* neither kind can be taken for the other */
    assert_int_equal(aclprofSetStampTraceMessage(stamp, "stamp", 5), ACL_SUCCESS);
    assert_int_equal(aclprofRangeStart(stamp, &ours), ACL_SUCCESS);
    core.end(ours);
    domain.end(data, ours);
    assert_int_equal(aclprofRangeStop((uint32_t)one), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStop((uint32_t)(one >> 32) + 1000), ACL_ERROR_INVALID_PARAM);
    assert_int_equal(aclprofRangeStop(ours), ACL_SUCCESS);
    core.end(one);
    (void)core.start("open at the end", NULL);
    end(config);

    reader = open_result(dir);
    expect(reader, AP_TX_MARK, "communication", "allreduce");
    expect(reader, AP_TX_MARK, longest, "long");
    expect(reader, AP_TX_RANGE, "dataloader", "two");
    {
        ap__stamp_record s;

        assert_true(ap__reader_next_stamp(reader, &s));
        assert_string_equal(s.message, "stamp");
    }
    expect(reader, AP_TX_RANGE, "default", "one");
    assert_int_equal(ap__reader_account_of(reader)->total.openAtStop, 1);
    expect_end(reader);
    free(longest);
    free(longer);
}

static void a_range_belongs_to_its_capture(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    char first[600];
    aclprofConfig *config = NULL;
    uint64_t id = 0;

    inject();
    snprintf(first, sizeof(first), "%s/1", dir);
    config = begin(first);
    id = core.start("first", NULL);
    end(config);
    snprintf(first, sizeof(first), "%s/2", dir);
    config = begin(first);
    core.end(id);
    end(config);
    expect_end(open_result(first));
}

static void ids_are_those_of_mark_ex(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = NULL;
    ap__reader *reader = NULL;
    ap__stamp_record s;
    uint64_t last = 0;
    int n = 0;

    inject();
    config = begin(dir);
    for (int i = 0; i < 3; i++) {
        core.mark("mstx", NULL);
        assert_int_equal(aclprofMarkEx("ex", 2, &n), ACL_SUCCESS);
    }
    end(config);
    reader = open_result(dir);
    for (; ap__reader_next_stamp(reader, &s); n++) {
        assert_true(n == 0 || s.mark_id == last + 1);
        last = s.mark_id;
    }
    assert_int_equal(n, 6);
    ap__reader_close(reader);
}

/* ---- threads ---- */

static uint64_t handed[THREADS][EACH];

static void *starter(void *arg)
{
    uint32_t who = *(uint32_t *)arg;
    char text[400];

    memset(text, 'a' + (int)who, sizeof(text));
    for (uint32_t i = 0; i < EACH; i++) {
        text[i % 350 + 1] = '\0';
        __atomic_store_n(&handed[who][i], core.start(text, NULL), __ATOMIC_RELEASE);
        text[i % 350 + 1] = (char)('a' + who);
        core.mark("m", NULL);
        if (i % 32 == 0) {
            usleep(1000);
        }
    }
    return NULL;
}

/* Ends those of the next thread. */
static void *ender(void *arg)
{
    uint32_t who = (*(uint32_t *)arg + 1) % THREADS;

    for (uint32_t i = 0; i < EACH; i++) {
        uint64_t id = 0;

        while ((id = __atomic_load_n(&handed[who][i], __ATOMIC_ACQUIRE)) == 0) {
            usleep(200);
        }
        core.end(id);
    }
    return NULL;
}

static void ranges_across_threads(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    pthread_t threads[2 * THREADS];
    uint32_t who[THREADS];
    uint32_t tids[THREADS] = {0};
    uint32_t counts[THREADS] = {0};
    aclprofConfig *config = NULL;
    ap__reader *reader = NULL;
    ap__stamp_record s;
    uint32_t marks = 0;

    inject();
    memset(handed, 0, sizeof(handed));
    config = begin(dir);
    for (uint32_t i = 0; i < THREADS; i++) {
        who[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, starter, &who[i]), 0);
        assert_int_equal(pthread_create(&threads[THREADS + i], NULL, ender, &who[i]), 0);
    }
    for (uint32_t i = 0; i < 2 * THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    end(config);
    reader = open_result(dir);
    while (ap__reader_next_stamp(reader, &s)) {
        uint32_t of = (uint32_t)(s.message[0] - 'a');

        if (s.event == AP_TX_MARK) {
            marks++;
            continue;
        }
        assert_int_equal(s.event, AP_TX_RANGE);
        assert_true(of < THREADS);
        assert_true(tids[of] == 0 || tids[of] == s.tid); /* of the start */
        tids[of] = s.tid;
        assert_true(s.message_length >= 1 && s.message_length <= 350);
        counts[of]++;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(counts[i], EACH);
    }
    assert_int_equal(marks, THREADS * EACH);
    assert_int_equal(ap__reader_account_of(reader)->total.emitted,
                     ap__reader_account_of(reader)->total.written);
    ap__reader_close(reader);
}

static void a_forked_child(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    char of_child[600];
    aclprofConfig *config = NULL;
    uint64_t id = 0;
    void *d = NULL;
    int status = 0;
    pid_t child = 0;
    ap__reader *reader = NULL;

#ifdef AP_TSAN
    skip(); /* it does not allow for threads in a child */
#endif
    inject();
    snprintf(of_child, sizeof(of_child), "%s/child", dir);
    d = domain.create("inherited");
    config = begin(dir);
    id = domain.start(d, "parent", NULL);
    child = fork();
    if (child == 0) {
        domain.end(d, id);
        assert_int_equal(aclprofFinalize(), ACL_SUCCESS);
        config = begin(of_child);
        domain.end(d, id);
        domain.end(d, domain.start(d, "child", NULL));
        end(config);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    domain.end(d, id);
    end(config);
    reader = open_result(of_child);
    {
        ap__stamp_record s;

        assert_true(ap__reader_next_stamp(reader, &s));
        assert_int_equal(s.pid, child);
        assert_string_equal(s.message, "child");
        assert_string_equal(s.domain_name, "inherited");
    }
    expect_end(reader);
    scratch_remove_tree(AT_FDCWD, of_child);
    reader = open_result(dir);
    expect(reader, AP_TX_RANGE, "inherited", "parent");
    expect_end(reader);
}

/* ---- domains by name ---- */

static void marks_of(const char *dir, const char *include, const char *exclude,
                     const char *const *wanted)
{
    static const char *const names[] = {"one", "two", "one two", NULL};
    aclprofConfig *config = NULL;
    ap__reader *reader = NULL;

    inject();
    assert_int_equal(include != NULL ? setenv("ACLPROF_MSTX_DOMAIN_INCLUDE", include, 1)
                                     : unsetenv("ACLPROF_MSTX_DOMAIN_INCLUDE"),
                     0);
    assert_int_equal(exclude != NULL ? setenv("ACLPROF_MSTX_DOMAIN_EXCLUDE", exclude, 1)
                                     : unsetenv("ACLPROF_MSTX_DOMAIN_EXCLUDE"),
                     0);
    config = begin(dir);
    core.mark("mark", NULL);
    for (int i = 0; names[i] != NULL; i++) {
        void *d = domain.create(names[i]);
        uint64_t id = 0;

        domain.mark(d, "mark", NULL);
        id = domain.start(d, "range", NULL);
        domain.end(d, id);
    }
    end(config);
    reader = open_result(dir);
    for (; *wanted != NULL; wanted++) {
        expect(reader, AP_TX_MARK, *wanted, "mark");
        if (strcmp(*wanted, "default") != 0) {
            expect(reader, AP_TX_RANGE, *wanted, "range");
        }
    }
    expect_end(reader);
    scratch_remove_tree(AT_FDCWD, dir);
}

static void domains_are_chosen(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    char sub[600];

    snprintf(sub, sizeof(sub), "%s/out", dir);
#define WANTED(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(,) NULL})
    marks_of(sub, NULL, NULL, WANTED("default", "one", "two", "one two"));
    marks_of(sub, "one", NULL, WANTED("one"));
    marks_of(sub, " two , default,,three", NULL, WANTED("default", "two"));
    marks_of(sub, NULL, "one,default", WANTED("two", "one two"));
    marks_of(sub, "one,two", "two", WANTED("one"));
    marks_of(sub, "", "", WANTED("default", "one", "two", "one two"));
    marks_of(sub, "on", "o", WANTED());
    marks_of(sub, NULL, NULL, WANTED("default", "one", "two", "one two"));
}

/* Those of a configuration come before the environment's, and end with its capture. */
static void domains_of_a_configuration(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    char json[1400];
    void *one = NULL;
    void *two = NULL;
    ap__reader *reader = NULL;
    aclprofConfig *config = NULL;
    char sub[600];

    inject();
    one = domain.create("one");
    two = domain.create("two");
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(setenv("ACLPROF_MSTX_DOMAIN_INCLUDE", "default", 1), 0);
    memset(json, 'x', sizeof(json)); /* too long a list */
    memcpy(json, "{\"mstxDomainInclude\":\"", 22);
    memcpy(json + 1300, "\"}", 3);
    assert_int_equal(MsprofInit(MSPROF_INIT_ENV, json, 1303), 3);
    snprintf(json, sizeof(json),
             "{\"result_dir\":\"%s/1\",\"msproftx\":\"on\",\"taskTime\":\"on\","
             "\"mstxDomainInclude\":\"one,two\",\"mstxDomainExclude\":\"two\"}",
             dir);
    assert_int_equal(MsprofInit(MSPROF_INIT_ENV, json, (uint32_t)strlen(json) + 1), 0);
    core.mark("a", NULL);
    domain.mark(one, "b", NULL);
    domain.mark(two, "c", NULL);
    assert_int_equal(MsprofFinalize(), 0);
    snprintf(sub, sizeof(sub), "%s/1", dir);
    reader = open_result(sub);
    expect(reader, AP_TX_MARK, "one", "b");
    expect_end(reader);

    snprintf(sub, sizeof(sub), "%s/2", dir);
    config = begin(sub);
    core.mark("a", NULL);
    domain.mark(one, "b", NULL);
    end(config);
    assert_int_equal(unsetenv("ACLPROF_MSTX_DOMAIN_INCLUDE"), 0);
    reader = open_result(sub);
    expect(reader, AP_TX_MARK, "default", "a");
    expect_end(reader);
}

/* ---- another tool ---- */

static int tool_calls[8];

static void tool_mark(const char *text, void *stream)
{
    assert_string_equal(text, "for the tool");
    assert_null(stream);
    tool_calls[1]++;
}

static uint64_t tool_start(void *d, const char *text, void *stream)
{
    (void)d, (void)text, (void)stream;
    tool_calls[4]++;
    return 77;
}

static void *tool_heap(void *d, const void *description)
{
    (void)d;
    tool_calls[5]++;
    return (void *)(uintptr_t)description;
}

static int tool_init(AclprofMstxGetTable get)
{
    AclprofMstxFunction **table = NULL;
    uint32_t size = 0;

    assert_int_equal(get(4, &table, &size), 1);
    assert_int_equal(get(0, &table, &size), 1);
    assert_int_equal(get(1, NULL, &size), 1);
    assert_int_equal(get(1, &table, &size), 0);
    assert_int_equal(size, 5);
    *table[1] = (AclprofMstxFunction)tool_mark;
    assert_int_equal(get(2, &table, &size), 0);
    assert_int_equal(size, 6);
    *table[4] = (AclprofMstxFunction)tool_start;
    assert_int_equal(get(3, &table, &size), 0);
    assert_int_equal(size, 6);
    *table[1] = (AclprofMstxFunction)tool_heap;
    return 0;
}

static int tool_fails(AclprofMstxGetTable get)
{
    (void)get;
    return 3;
}

static void another_tool_has_the_calls(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    aclprofConfig *config = NULL;
    ap__reader *reader = NULL;

    inject();
    assert_int_equal(ProfRegisterMstxFunc(NULL, 2), -1);
    assert_int_equal(ProfRegisterMstxFunc(tool_fails, 2), -1);
    assert_int_equal(ProfRegisterMstxFunc(tool_fails, ACLPROF_MSTX_PROFILER), 0); /* not asked */
    config = begin(dir);
    assert_int_equal(ProfEnableMstxFunc(2), 0); /* nothing is there yet */
    core.mark("for the tool", NULL);
    assert_null(domain.create("tool"));
    assert_int_equal(ProfRegisterMstxFunc(tool_init, 2), 0);
    core.mark("for the tool", NULL);
    assert_int_equal(core.start("x", NULL), 0); /* the tool has none */
    core.end(1);
    assert_int_equal(domain.start(NULL, "x", NULL), 77);
    assert_ptr_equal(memory.heap_register(NULL, dir), dir);
    assert_int_equal(ProfEnableMstxFunc(ACLPROF_MSTX_PROFILER), 0);
    core.mark("for us", NULL);
    end(config);
    assert_int_equal(tool_calls[1], 1);
    assert_int_equal(tool_calls[4], 1);
    assert_int_equal(tool_calls[5], 1);
    reader = open_result(dir);
    expect(reader, AP_TX_MARK, "default", "for us");
    expect_end(reader);
}

/* ---- the device's side ---- */

static void at_the_device(const char *prof)
{
    ap__reader *reader = open_result(prof);
    ap__model *model = calloc(1, sizeof(*model));
    uint32_t count = 0;
    int seen = 0;
    ap__stamp_record s;

    assert_non_null(model);
    assert_int_equal(ap__model_load(model, reader), 0);
    ap__reader_rewind(reader);
    while (ap__reader_next_stamp(reader, &s)) {
        const ap__ts_mark *marks = ap__ts_marks_of(model, 11, s.mark_id, &count);

        assert_int_equal(count, s.event == AP_TX_RANGE || strcmp(s.message, "host") == 0 ? 0 : 1);
        if (count != 0) {
            assert_int_equal(marks->model, UINT32_MAX);
            assert_true(marks->ns + 1000000 > ap__reader_wall_ns(reader, s.start_ns));
        }
        marks = ap__ts_marks_of(model, 12, s.mark_id, &count);
        assert_int_equal(count, s.event == AP_TX_RANGE ? 2 : 0);
        if (count != 0) { /* around the kernel of 300 us */
            assert_true(marks[1].ns - marks[0].ns >= 300000);
            assert_int_equal(marks[0].stream, marks[1].stream);
        }
        seen++;
    }
    assert_int_equal(seen, 4);
    assert_non_null(ap__ts_marks_of(model, 0, 1, &count)); /* the step */
    assert_non_null(ap__ts_marks_of(model, 1, 1, &count));
    ap__model_free(model);
    free(model);
    ap__reader_close(reader);
}

/* Lines of a file of the export that have the text. */
static int lines_with(const char *dir, const char *pattern, const char *text)
{
    char command[1200];
    char line[4096];
    FILE *out = NULL;
    int n = 0;

    snprintf(command, sizeof(command), "cat '%s'/PROF_*/mindstudio_profiler_output/%s", dir,
             pattern);
    out = popen(command, "r");
    assert_non_null(out);
    while (fgets(line, sizeof(line), out) != NULL) {
        n += strstr(line, text) != NULL;
    }
    assert_int_equal(pclose(out), 0);
    return n;
}

static void marks_on_streams(void **state)
{
    const char *dir = ((scratch *)*state)->path;
    simrtKernel kernel = {.size = sizeof(kernel), .name = "Add", .blocks = 1, .cost_us = 300};
    uint32_t device = 0;
    aclprofConfig *config = NULL;
    simrtStream stream = NULL;
    aclprofStepInfo *step = aclprofCreateStepInfo();
    char command[1200];
    uint64_t number = 1;
    uint64_t id = 0;
    int foreign = 0;
    void *d = NULL;

    inject();
    assert_int_equal(simrtSetDevice(0), SIMRT_OK);
    assert_int_equal(simrtCreateStream(&stream), SIMRT_OK);
    config = aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, NULL,
                                 ACL_PROF_MSPROFTX | ACL_PROF_TASK_TIME);
    assert_non_null(config);
    assert_int_equal(aclprofInit(dir, strlen(dir)), ACL_SUCCESS);
    assert_int_equal(aclprofStart(config), ACL_SUCCESS);
    d = domain.create("layers");
    memcpy((char *)step + 8, &number, sizeof(number));
    assert_int_equal(aclprofGetStepTimestamp(step, ACL_STEP_START, stream), ACL_SUCCESS);
    core.mark("on a stream", stream);
    id = domain.start(d, "around a kernel", stream);
    assert_int_equal(simrtLaunchKernel(stream, &kernel, NULL), SIMRT_OK);
    domain.end(d, id);
    assert_int_equal(aclprofMarkEx("ex", 2, stream), ACL_SUCCESS);
    core.mark("host", &foreign); /* no stream of the simulator's */
    assert_int_equal(aclprofGetStepTimestamp(step, ACL_STEP_END, stream), ACL_SUCCESS);
    assert_int_equal(simrtRecordPoint((simrtStream)(void *)&foreign, 1, 1, 11), SIMRT_INVALID);
    assert_int_equal(simrtSynchronizeDevice(), SIMRT_OK);
    end(config);
    assert_int_equal(simrtDestroyStream(stream), SIMRT_OK);
    aclprofDestroyStepInfo(step);

    at_the_device(dir);
    snprintf(command, sizeof(command), "%s export '%s'/PROF_* >'%s'/log 2>&1", AP_TEST_TOOL, dir,
             dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(lines_with(dir, "msprof_tx_*.csv", ",around a kernel,layers,N/A,N/A"), 1);
    assert_int_equal(lines_with(dir, "msprof_tx_*.csv", "host,"), 2); /* the range, and that one */
    assert_int_equal(lines_with(dir, "msprof_tx_*.csv", ",on a stream,default,"), 1);
    assert_int_equal(lines_with(dir, "msprof_tx_*.csv", ",on a stream,default,N/A"), 0);
    assert_true(lines_with(dir, "msprof_2*.json", "\"domain\":\"layers\"") >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(injection),
        cmocka_unit_test_setup_teardown(texts_of_any_length, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(domains_and_what_is_ignored, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_range_belongs_to_its_capture, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(ids_are_those_of_mark_ex, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(ranges_across_threads, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_forked_child, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(domains_are_chosen, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(domains_of_a_configuration, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(another_tool_has_the_calls, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(marks_on_streams, scratch_setup, scratch_teardown),
    };

    setenv("ACLPROF_DRIVER", "sim", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
