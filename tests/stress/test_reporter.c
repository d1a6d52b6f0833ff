/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of 32 threads at once, of every kind and of variable sizes: each found once, whole, or
 * counted as lost; also after a kill. ACLPROF_STRESS_MS: for how long (default 500). */
#define _GNU_SOURCE
#include "harness.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "aclprof_reporter.h"
#include "reader/recover.h"

#define THREADS 32u
#define LEVEL 5500u
#define TYPE 0x7123u
#define BATCH 3u
#define VARIABLE_MAX 3000u

/* What a thread has had accepted; shared with the process that reads. */
typedef struct producer {
    _Atomic uint32_t accepted; /* numbers below this */
    uint32_t refused;
} producer;

typedef struct shared {
    _Atomic bool end;
    _Atomic bool up;
    producer threads[THREADS];
} shared;

static shared *made;

static uint32_t body_size(uint32_t number)
{
    return 233 + number * 37 % (VARIABLE_MAX - 233);
}

/* Every byte follows from who made it and its number. */
static void fill(uint8_t *data, uint32_t bytes, uint32_t who, uint32_t number)
{
    memcpy(data, &who, 4);
    memcpy(data + 4, &number, 4);
    for (uint32_t i = 8; i < bytes; i++) {
        data[i] = (uint8_t)(who * 31 + number * 7 + i);
    }
}

static void additional(MsprofAdditionalInfo *r, uint32_t who, uint32_t number)
{
    *r = (MsprofAdditionalInfo){.magicNumber = MSPROF_RECORD_MAGIC,
                                .level = LEVEL,
                                .type = TYPE,
                                .threadId = who,
                                .dataLen = 232,
                                .timeStamp = number};
    fill(r->data, 232, who, number);
}

/* Numbers that the call used up; 0: refused. */
static uint32_t report(uint32_t who, uint32_t number)
{
    MsprofAdditionalInfo more[BATCH];
    MsprofCompactInfo compact = {MSPROF_RECORD_MAGIC, LEVEL, TYPE, who, 40, number, {0}};
    MsprofApi call = {MSPROF_RECORD_MAGIC,          LEVEL,        TYPE, who, 0, number,
                      (uint64_t)who << 32 | number, number * 3ull};
    MsprofEvent event = {
        MSPROF_RECORD_MAGIC,         LEVEL, TYPE, who, 9, number, MSPROF_EVENT_MARK,
        (uint64_t)who << 32 | number};
    uint8_t variable[24 + VARIABLE_MAX];
    uint32_t size = body_size(number);

    switch (number % 8) {
    case 0:
        return MsprofReportApi(number % 16 == 0, &call) == 0;
    case 1:
        return MsprofReportEvent(1, &event) == 0;
    case 2:
        fill(compact.data, 40, who, number);
        return MsprofReportCompactInfo(1, &compact, sizeof(compact)) == 0;
    case 3:
        additional(&more[0], who, number);
        return MsprofReportAdditionalInfo(1, &more[0], sizeof(more[0])) == 0;
    case 4:
        for (uint32_t i = 0; i < BATCH; i++) {
            additional(&more[i], who, number + i);
        }
        return MsprofReportBatchAdditionalInfo(1, more, sizeof(more)) == 0 ? BATCH : 0;
    default:
        additional((MsprofAdditionalInfo *)(void *)more, who, number);
        more[0].dataLen = size;
        memcpy(variable, more, 24);
        fill(variable + 24, size, who, number);
        return MsprofReportAdditionalInfo(0, variable, 24 + size) == 0;
    }
}

static void *produce(void *argument)
{
    uint32_t who = (uint32_t)(uintptr_t)argument;
    producer *p = &made->threads[who];
    uint32_t number = 0;

    while (!atomic_load_explicit(&made->end, memory_order_relaxed)) {
        uint32_t used = report(who, number);

        p->refused += used == 0;
        number += used != 0 ? used : 1;
        atomic_store_explicit(&p->accepted, number, memory_order_release);
    }
    return NULL;
}

static void run_threads(const char *dir, bool stop)
{
    const char *text = getenv("ACLPROF_STRESS_MS");
    long ms = text != NULL ? atol(text) : 500;
    aclprofConfig *config =
        aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX | ACL_PROF_ACL_API);
    pthread_t threads[THREADS];

    if (MsprofRegTypeInfo(LEVEL, TYPE, "stress_type") != 0 || aclprofInit(dir, strlen(dir)) != 0 ||
        aclprofStart(config) != 0) {
        abort();
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, produce, (void *)(uintptr_t)i) != 0) {
            abort();
        }
    }
    atomic_store(&made->up, true);
    if (!stop) {
        pause();
    }
    usleep((useconds_t)ms * 1000);
    atomic_store(&made->end, true);
    for (uint32_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (aclprofStop(config) != 0 || aclprofDestroyConfig(config) != 0) {
        abort();
    }
}

/* ---- reading back ---- */

typedef struct found {
    uint8_t *seen[THREADS]; /* by number */
    uint64_t records;
} found;

static void note(found *f, uint32_t who, uint32_t number)
{
    assert_in_range(who, 0, THREADS - 1);
    assert_true(number < made->threads[who].accepted + BATCH + 1); /* one may be in the call */
    assert_int_equal(f->seen[who][number], 0);
    f->seen[who][number] = 1;
    f->records++;
}

static void check_body(const uint8_t *data, uint32_t bytes, uint32_t *who, uint32_t *number)
{
    uint8_t expected[VARIABLE_MAX];

    memcpy(who, data, 4);
    memcpy(number, data + 4, 4);
    fill(expected, bytes, *who, *number);
    assert_memory_equal(data, expected, bytes);
}

static void check_fixed(found *f, const char *dir)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(dir, &error);
    ap__records *records = NULL;
    ap__raw_record r;
    uint32_t who = 0;
    uint32_t number = 0;

    assert_non_null(reader);
    records =
        ap__records_open(reader, AP_RECORD_API | AP_RECORD_COMPACT | AP_RECORD_ADDITIONAL, NULL);
    while (ap__records_next(records, &r)) {
        assert_int_equal(r.level, LEVEL);
        assert_int_equal(r.type, TYPE);
        assert_string_equal(r.type_name, "stress_type");
        if (r.kind == AP_RECORD_API) {
            number = (uint32_t)(r.is_event ? r.item : r.item / 3);
            who = r.tid;
            assert_int_equal(number % 8, r.is_event ? 1 : 0);
            assert_int_equal(r.aging, r.is_event || number % 16 == 0);
        } else {
            check_body(r.payload.data, r.kind == AP_RECORD_COMPACT ? 40 : 232, &who, &number);
        }
        note(f, who, number);
    }
    ap__records_close(records);
    ap__reader_close(reader);
}

static void check_variable(found *f, const char *dir)
{
    static uint8_t record[24 + VARIABLE_MAX];

    for (uint32_t slice = 0;; slice++) {
        char path[1200];
        FILE *file = NULL;

        snprintf(path, sizeof(path), "%s/host/data/unaging.variable.capture_op_info.slice_%u", dir,
                 slice);
        file = fopen(path, "re");
        if (file == NULL) {
            assert_true(slice != 0);
            return;
        }
        while (fread(record, 24, 1, file) == 1) {
            uint32_t size = 0;
            uint32_t who = 0;
            uint32_t number = 0;

            memcpy(&size, record + 12, 4);
            assert_in_range(size, 233, VARIABLE_MAX);
            assert_int_equal(fread(record + 24, size, 1, file), 1);
            check_body(record + 24, size, &who, &number);
            assert_int_equal(size, body_size(number));
            note(f, who, number);
        }
        fclose(file);
    }
}

static uint64_t read_all(const char *root, uint64_t *expected)
{
    paths dirs = prof_paths(root);
    found f = {{NULL}, 0};

    assert_int_equal(dirs.count, 1);
    *expected = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        f.seen[i] = calloc(made->threads[i].accepted + BATCH + 1, 1);
        assert_non_null(f.seen[i]);
        assert_int_equal(made->threads[i].refused, 0);
        *expected += made->threads[i].accepted;
    }
    check_fixed(&f, dirs.list[0]);
    check_variable(&f, dirs.list[0]);
    for (uint32_t i = 0; i < THREADS; i++) {
        free(f.seen[i]);
    }
    paths_free(&dirs);
    return f.records;
}

static void every_report_is_accounted_for(void **state)
{
    aclprofStats stats = {.size = sizeof(stats)};
    uint64_t expected = 0;
    uint64_t records = 0;

    run_threads(*state, true);
    assert_int_equal(aclprofGetStats(&stats), 0);
    records = read_all(*state, &expected);
    print_message("%llu reports, %llu lost\n", (unsigned long long)stats.emitted,
                  (unsigned long long)stats.lostTotal);
    assert_int_equal(stats.emitted, expected);
    assert_int_equal(stats.written, records);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(stats.written + stats.lostTotal, expected);
    assert_int_equal(stats.lostTotal, stats.lostRingFull);
    assert_int_equal(aclprofFinalize(), 0);
}

/* Nothing that a returned call reported is missing, but what a full ring has lost. */
static void a_kill_loses_nothing(void **state)
{
    static ap__recover_report report;
    const aclprofStats *account = &report.account;
    uint64_t expected = 0;
    uint64_t records = 0;
    pid_t pid = fork();
    paths dirs;
    int status = 0;

    if (pid == 0) {
        run_threads(*state, false);
        _exit(0);
    }
    assert_true(pid > 0);
    for (int i = 0; i < 4000 && !atomic_load(&made->up); i++) {
        usleep(5000);
    }
    assert_true(made->up);
    usleep(200000);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    dirs = prof_paths(*state);
    assert_int_equal(dirs.count, 1);
    assert_int_equal(ap__recover(dirs.list[0], &report), AP_RECOVER_DONE);
    paths_free(&dirs);
    records = read_all(*state, &expected);
    print_message("%llu reports, %llu lost\n", (unsigned long long)account->emitted,
                  (unsigned long long)account->lostTotal);
    /* a thread may have been between its record and its own count */
    assert_in_range(account->emitted, expected, expected + THREADS * BATCH);
    assert_int_equal(account->written, records);
    assert_int_equal(account->lostDamaged, 0);
    assert_int_equal(account->written + account->lostTotal, account->emitted);
    assert_int_equal(account->lostTotal, account->lostRingFull);
    ap__recover_report_free(&report);
}

static int setup(void **state)
{
    made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? -1 : scratch_setup(state);
}

static int teardown(void **state)
{
    (void)munmap(made, sizeof(*made));
    return scratch_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_report_is_accounted_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_kill_loses_nothing, setup, teardown),
    };

    return cmocka_run_group_tests_name("reporter", tests, NULL, NULL);
}
