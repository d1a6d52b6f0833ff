/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes without space and writes that fail: the program goes on, one message tells, what was
 * written is readable, what was lost is counted. */
#define _GNU_SOURCE
#include "journey.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "reader/recover.h"

#define PART 10000u

/* ---- faults: this program's pwrite is the one that the library finds ---- */

static _Atomic int fault_errno; /* 0: none */
static _Atomic bool fault_everywhere; /* else in files of records only */
static _Atomic uint32_t faults;

static bool of_records(int fd)
{
    char link[64];
    char path[4200];
    ssize_t n = 0;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    return strstr(path, "additional.msproftx.slice") != NULL;
}

static ssize_t faulty(int fd, const void *data, size_t bytes, off_t offset)
{
    int code = atomic_load(&fault_errno);

    if (code != 0 && (atomic_load(&fault_everywhere) || of_records(fd))) {
        atomic_fetch_add(&faults, 1);
        errno = code;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, bytes, offset);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    return faulty(fd, data, bytes, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
    return faulty(fd, data, bytes, offset);
}

/* ---- parts of the programs ---- */

/* A volume of its own size that nobody else sees. Ends the role where mounts are not permitted. */
static char *volume(const char *dir, const char *options)
{
    char *path = below(dir, "volume");

    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mkdir(path, 0755) != 0 || mount("none", path, "tmpfs", 0, options) != 0) {
        exit(77);
    }
    return path;
}

static char *messages_file;

/* What comes on stderr from now on is kept. */
static int keep_messages(const char *dir)
{
    int saved = dup(STDERR_FILENO);
    int fd = -1;

    messages_file = below(dir, "messages");
    fd = open(messages_file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(saved >= 0 && fd >= 0);
    dup2(fd, STDERR_FILENO);
    close(fd);
    return saved;
}

/* They are this many lines, all with this text. */
static void check_messages(int saved, size_t count, const char *part)
{
    char *text = NULL;
    size_t lines = 0;

    dup2(saved, STDERR_FILENO);
    close(saved);
    text = file_text(messages_file);
    assert_non_null(text);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strstr(line, part) == NULL) {
            fail_msg("unexpected message: %s", line);
        }
        lines++;
    }
    if (lines != count) {
        fail_msg("%zu messages instead of %zu", lines, count);
    }
    free(text);
}

/* PART numbered marks of a kind; returns when they are written or lost. */
static void part(uint32_t number, uint32_t count)
{
    void *stamp = aclprofCreateStamp();

    assert_non_null(stamp);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(message_set(stamp, 'm', number, i), ACL_SUCCESS);
        assert_int_equal(aclprofMark(stamp), ACL_SUCCESS);
        while (i % 1024 == 1023 && stats_now().pending > 2048) {
            usleep(200);
        }
    }
    aclprofDestroyStamp(stamp);
    while (stats_now().pending != 0) {
        usleep(200);
    }
}

static void *part_of_a_new_thread(void *arg)
{
    part(*(uint32_t *)arg, 100);
    return NULL;
}

/* All marks of a part are there, in order; or, of one that was lost, only a beginning. */
static size_t check_part(const read_back *back, uint32_t number, bool whole)
{
    uint32_t next = 0;

    for (size_t i = 0; i < back->count; i++) {
        char kind = 0;
        uint32_t thread = 0;
        uint32_t seq = 0;

        assert_true(message_read(back->stamps[i].message, back->stamps[i].message_length, &kind,
                                 &thread, &seq));
        if (thread == number) {
            assert_int_equal(seq, next++);
        }
    }
    if (whole) {
        assert_int_equal(next, PART);
    }
    return next;
}

static void check_identity(const aclprofStats *s)
{
    assert_int_equal(s->lostTotal, lost_of(s));
    assert_int_equal(s->emitted, s->written + s->lostTotal);
    assert_int_equal(s->lostDamaged, 0);
    assert_int_equal(s->lostRingFull, 0);
}

/* To the last byte. */
static char *fill(const char *dir)
{
    static const char zeros[1 << 16];
    char *path = below(dir, "filler");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    size_t step = sizeof(zeros);

    assert_true(fd >= 0);
    while (step != 0) {
        if (syscall(SYS_write, fd, zeros, step) != (ssize_t)step) {
            step /= 2;
        }
    }
    close(fd);
    return path;
}

/* ---- volumes ---- */

static void too_small(void **state)
{
    char *path = volume(*state, "size=16m");
    char *dir = below(path, "new/results");
    char *top = below(path, "new");
    aclprofConfig *config = tx_config();
    int saved = keep_messages(*state);

    assert_ok(init_at(dir));
    for (unsigned i = 0; i < 3; i++) {
        assert_refused(aclprofStart(config), ACL_ERROR_INVALID_FILE, "EK0204");
        assert_refused(aclprofStart(config), ACL_ERROR_INVALID_FILE, "Insufficient disk space");
        assert_non_null(strstr(aclprofGetLastError(), "20971520"));
        assert_false(there_is(top));
    }
    check_messages(saved, 6, "EK0204"); /* one a call */
    assert_int_equal(mount("none", path, "tmpfs", MS_REMOUNT, "size=64m"), 0);
    window(config, "then"); /* the same Init */
    assert_ok(aclprofFinalize());
    check_work(dir, "then", 0);
    free(path);
    free(dir);
    free(top);
}

static void fills_up_then_has_space(void **state)
{
    char *path = volume(*state, "size=64m");
    char *filler = NULL;
    aclprofConfig *config = tx_config();
    uint32_t other = 9;
    int saved = keep_messages(*state);
    read_back *back = NULL;
    pthread_t thread;
    aclprofStats s;

    assert_ok(init_at(path));
    assert_ok(aclprofStart(config));
    part(1, PART);
    filler = fill(path);
    part(2, PART);
    s = stats_now();
    assert_true(s.lostDisk > 0 && s.written >= PART);
    assert_int_equal(pthread_create(&thread, NULL, part_of_a_new_thread, &other), 0);
    assert_int_equal(pthread_join(thread, NULL), 0); /* nor is there space for its ring */
    assert_int_equal(stats_now().lostNoRing, 100);
    assert_int_equal(unlink(filler), 0);
    part(3, PART);
    assert_ok(aclprofStop(config));
    s = stats_now();
    assert_ok(aclprofFinalize());
    check_messages(saved, 1, "EK0204");
    check_identity(&s);
    assert_int_equal(s.emitted, 3 * PART + 100);
    back = open_finished(path);
    assert_int_equal(back->count, s.written);
    (void)check_part(back, 1, true);
    assert_int_equal(check_part(back, 2, false), PART - s.lostDisk);
    (void)check_part(back, 3, true);
    assert_int_equal(ap__reader_account_of(back->reader)->disk_errno, ENOSPC);
    assert_int_equal(ap__reader_account_of(back->reader)->total.lostDisk, s.lostDisk);
    read_back_close(back);
    free(filler);
    free(path);
}

static void stays_full(void **state)
{
    char *path = volume(*state, "size=64m");
    aclprofConfig *config = tx_config();
    int saved = keep_messages(*state);
    read_back *back = NULL;
    char *filler = NULL;
    aclprofStats s;

    assert_ok(init_at(path));
    assert_ok(aclprofStart(config));
    part(1, PART);
    filler = fill(path);
    part(2, PART);
    assert_ok(aclprofStop(config)); /* the reserve is enough to finish the files */
    s = stats_now();
    check_identity(&s);
    assert_int_equal(s.emitted, 2 * PART);
    assert_true(s.lostDisk > 0);
    back = open_finished(path);
    (void)check_part(back, 1, true);
    assert_int_equal(check_part(back, 2, false), PART - s.lostDisk);
    assert_int_equal(ap__reader_account_of(back->reader)->total.lostDisk, s.lostDisk);
    read_back_close(back);
    /* the arena has gone, but more than the floor is not free: no capture, and no harm */
    assert_refused(aclprofStart(config), ACL_ERROR_INVALID_FILE, "EK0204");
    check_messages(saved, 2, "EK0204");
    assert_int_equal(unlink(filler), 0);
    assert_ok(aclprofStart(config));
    work("after");
    assert_ok(aclprofStop(config));
    assert_ok(aclprofFinalize());
    {
        paths found = prof_paths_exactly(path, 2);

        check_work(found.list[1], "after", 0);
        paths_free(&found);
    }
    free(filler);
    free(path);
}

/* Under a storage limit the oldest go and the newest stay, and 20 MB remain free. */
static void ages_instead(void **state)
{
    char *path = volume(*state, "size=64m");
    aclprofConfig *config = tx_config();
    int saved = keep_messages(*state);
    read_back *back = NULL;
    aclprofStats s;
    const uint32_t parts = 40; /* about 100 MB */

    assert_ok(set_text(ACL_PROF_STORAGE_LIMIT, "4294967295MB"));
    assert_ok(init_at(path));
    assert_ok(aclprofStart(config));
    for (uint32_t i = 1; i <= parts; i++) {
        part(i, PART);
    }
    assert_ok(aclprofStop(config));
    s = stats_now();
    assert_ok(aclprofFinalize());
    check_messages(saved, 0, "none");
    check_identity(&s);
    assert_int_equal(s.emitted, parts * PART);
    assert_int_equal(s.lostDisk, 0);
    assert_true(s.lostAged > 0 && s.lostAged == s.slicesRemoved * 8192);
    back = open_finished(path);
    assert_int_equal(back->count, s.written);
    assert_true(back->count > 100 * 1024);
    for (size_t i = 0; i < back->count; i++) { /* the last ones, none missing */
        char text[MESSAGE_MAX];
        size_t at = parts * PART - back->count + i;
        size_t length = message_make(text, 'm', (uint32_t)(1 + at / PART), at % PART);

        assert_int_equal(back->stamps[i].message_length, length);
        assert_memory_equal(back->stamps[i].message, text, length);
    }
    read_back_close(back);
    free(path);
}

/* Every slice of a device has its .done, and the device its end. */
static void check_device_ended(const char *prof, unsigned device)
{
    char text[64];
    char *path = NULL;
    char *data = NULL;
    DIR *dir = NULL;
    struct dirent *entry = NULL;
    size_t slices = 0;

    snprintf(text, sizeof(text), "device_%u", device);
    path = below(prof, text);
    for (int i = 0; i < 2; i++) {
        char *end = NULL;

        snprintf(text, sizeof(text), i == 0 ? "end_info.%u" : "end_info.%u.done", device);
        end = below(path, text);
        if (!there_is(end)) {
            fail_msg("no %s", end);
        }
        free(end);
    }
    data = below(path, "data");
    dir = opendir(data);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char *done = NULL;

        if (strstr(entry->d_name, ".slice_") == NULL || strstr(entry->d_name, ".done") != NULL) {
            continue;
        }
        assert_true(asprintf(&done, "%s/%s.done", data, entry->d_name) > 0);
        if (!there_is(done)) {
            fail_msg("no %s", done);
        }
        free(done);
        slices++;
    }
    closedir(dir);
    assert_true(slices >= 2);
    free(data);
    free(path);
}

/* The disk is full before the devices end: their files are finished all the same. */
static void devices_end(void **state)
{
    char *path = volume(*state, "size=64m");
    uint32_t devices[] = {0, 1};
    int saved = keep_messages(*state);
    ap__recover_report *report = malloc(sizeof(*report));
    char *text = NULL;
    const char *said = NULL;
    paths found = {NULL, 0};
    cJSON *json = NULL;
    uint64_t lost = 0;

    assert_ok(init_at(path));
    assert_ok(aclprofStart(aclprofCreateConfig(devices, 2, ACL_AICORE_PIPE_UTILIZATION, NULL,
                                               ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS |
                                                   ACL_PROF_MSPROFTX)));
    work("before");
    usleep(300000);
    free(fill(path));
    usleep(300000);
    assert_ok(aclprofFinalize());
    dup2(saved, STDERR_FILENO);
    close(saved);
    text = file_text(messages_file);
    said = strstr(text, "cannot be written");
    assert_non_null(said);
    assert_non_null(strstr(text, "No space left on device"));
    assert_null(strstr(said + 1, "cannot be written")); /* once, whatever fails */
    free(text);
    found = prof_paths(path);
    assert_int_equal(found.count, 1);
    check_device_ended(found.list[0], 0);
    check_device_ended(found.list[0], 1);
    check_work(path, "before", 0);
    text = file_below(found.list[0], "host/.aclprof/devices.json");
    json = cJSON_Parse(text);
    assert_non_null(json);
    for (const char *p = text; (p = strstr(p, "\"lostDiskBytes\":")) != NULL; p += 16) {
        lost += strtoull(p + 16, NULL, 10);
    }
    assert_true(lost > 0);
    cJSON_Delete(json);
    free(text);
    assert_int_equal(ap__recover(found.list[0], report), 0);
    assert_int_equal(report->code, AP_RECOVER_NOTHING);
    ap__recover_report_free(report);
    free(report);
    paths_free(&found);
    free(path);
}

static void on_a_volume(const char *name, const char *dir)
{
    int code = 0;

    setenv("ACLPROF_LOG", "error", 1);
    code = process_end(role_start(name, dir));
    unsetenv("ACLPROF_LOG");
    if (code == 77) {
        skip(); /* may not mount */
    }
    assert_int_equal(code, 0);
}

static void start_on_a_small_volume(void **state)
{
    on_a_volume("too_small", *state);
}

static void full_for_a_while(void **state)
{
    on_a_volume("fills_up_then_has_space", *state);
}

static void full_until_the_end(void **state)
{
    on_a_volume("stays_full", *state);
}

static void full_under_a_storage_limit(void **state)
{
    on_a_volume("ages_instead", *state);
}

/* ---- writes that fail ---- */

static void failing_writes(void **state)
{
    const int code = atoi(getenv("JOURNEY_ERRNO"));
    char *dir = below(*state, "results");
    aclprofConfig *config = tx_config();
    int saved = keep_messages(*state);
    read_back *back = NULL;
    aclprofStats s;

    assert_ok(init_at(dir));
    assert_ok(aclprofStart(config));
    part(1, PART);
    atomic_store(&fault_errno, code);
    part(2, PART);
    assert_true(atomic_load(&faults) > 0);
    atomic_store(&fault_errno, 0);
    part(3, PART);
    assert_ok(aclprofStop(config));
    s = stats_now();
    assert_ok(aclprofFinalize());
    check_messages(saved, 1, "EK0204");
    check_identity(&s);
    assert_int_equal(s.emitted, 3 * PART);
    assert_int_equal(s.lostDisk, PART);
    assert_int_equal(s.written, 2 * PART);
    back = open_finished(dir);
    (void)check_part(back, 1, true);
    assert_int_equal(check_part(back, 2, false), 0);
    (void)check_part(back, 3, true);
    assert_int_equal(ap__reader_account_of(back->reader)->disk_errno, code);
    assert_int_equal(ap__reader_account_of(back->reader)->total.lostDisk, PART);
    read_back_close(back);
    free(dir);
}

static void io_errors(void **state)
{
    static const int codes[] = {EIO, EDQUOT, EFBIG};

    for (size_t i = 0; i < 3; i++) {
        char number[16];
        char *dir = NULL;

        snprintf(number, sizeof(number), "%d", codes[i]);
        dir = below(*state, number);
        assert_int_equal(mkdir(dir, 0755), 0);
        setenv("JOURNEY_ERRNO", number, 1);
        setenv("ACLPROF_LOG", "error", 1);
        role_run("failing_writes", dir);
        unsetenv("ACLPROF_LOG");
        unsetenv("JOURNEY_ERRNO");
        free(dir);
    }
}

/* A volume that takes nothing any more: neither records nor what finishes the directory. */
static void failing_volume(void **state)
{
    char *dir = below(*state, "results");
    char *later = below(*state, "later");
    char *bad = below(*state, "bad");
    aclprofConfig *config = tx_config();
    read_back *back = NULL;
    aclprofStats s;

    atomic_store(&fault_everywhere, true);
    atomic_store(&fault_errno, EIO);
    assert_ok(init_at(bad));
    assert_refused(aclprofStart(config), ACL_ERROR_PROFILING_FAILURE, "Input/output error");
    assert_false(there_is(bad));
    assert_ok(aclprofFinalize());
    atomic_store(&fault_errno, 0);

    assert_ok(init_at(dir));
    assert_ok(aclprofStart(config));
    part(1, PART);
    atomic_store(&fault_errno, EIO);
    part(2, PART);
    assert_refused(aclprofStop(config), ACL_ERROR_PROFILING_FAILURE, "Input/output error");
    s = stats_now();
    check_identity(&s);
    assert_int_equal(s.written, PART);
    assert_int_equal(s.lostDisk, PART);
    assert_ok(aclprofFinalize());
    atomic_store(&fault_errno, 0);
    back = read_back_open(dir);
    assert_non_null(back);
    (void)check_part(back, 1, true);
    assert_int_equal(back->count, PART);
    read_back_close(back);

    assert_ok(init_at(later));
    window(config, "later");
    assert_ok(aclprofFinalize());
    check_work(later, "later", 0);
    free(dir);
    free(later);
    free(bad);
}

static void full_under_devices(void **state)
{
    int code = 0;

    setenv("ACLPROF_DRIVER", "sim", 1);
    setenv("ACLPROF_SIM", "devices=2,pattern=flood,rate=100000,delay_ms=1", 1);
    setenv("ACLPROF_LOG", "warn", 1);
    code = process_end(role_start("devices_end", *state));
    unsetenv("ACLPROF_DRIVER");
    unsetenv("ACLPROF_LOG");
    if (code == 77) {
        skip(); /* may not mount */
    }
    assert_int_equal(code, 0);
}

static void errors_everywhere(void **state)
{
    role_run("failing_volume", *state);
}

static const role roles[] = {
    ROLE(too_small),    ROLE(fills_up_then_has_space), ROLE(stays_full),
    ROLE(ages_instead), ROLE(failing_writes),          ROLE(failing_volume),
    ROLE(devices_end),
};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(start_on_a_small_volume),
        SCRATCH_TEST(full_for_a_while),
        SCRATCH_TEST(full_until_the_end),
        SCRATCH_TEST(full_under_a_storage_limit),
        SCRATCH_TEST(full_under_devices),
        SCRATCH_TEST(io_errors),
        SCRATCH_TEST(errors_everywhere),
    };

    if (argc == 3) {
        return role_main(roles, sizeof(roles) / sizeof(roles[0]), argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
