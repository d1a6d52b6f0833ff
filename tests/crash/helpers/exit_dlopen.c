/* SPDX-License-Identifier: Apache-2.0 */
/* exit_dlopen WAY DIRECTORY COUNTS: opens the library at run time, captures, closes it, and lives
 * on for a while. This program is not linked with the library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"
#include "exit_counts.h"

static struct exit_counts *counts;

static struct {
    void *handle;
    aclError (*init)(const char *, size_t);
    aclprofConfig *(*create_config)(uint32_t *, uint32_t, aclprofAicoreMetrics,
                                    const aclprofAicoreEvents *, uint64_t);
    aclError (*start)(const aclprofConfig *);
    aclError (*stop)(const aclprofConfig *);
    aclError (*finalize)(void);
    void *(*create_stamp)(void);
    aclError (*message)(void *, const char *, uint32_t);
    aclError (*mark)(void *);
    aclError (*push)(void *);
} lib;

static void need(bool condition, const char *what)
{
    if (!condition) {
        const char *error = dlerror();

        fprintf(stderr, "exit_dlopen: %s: %s\n", what, error != NULL ? error : "");
        _exit(99);
    }
}

static void find(const char *name, void *function)
{
    void *symbol = dlsym(lib.handle, name);

    need(symbol != NULL, name);
    memcpy(function, &symbol, sizeof(symbol));
}

static void load(void)
{
    lib.handle = dlopen(AP_TEST_LIB_PATH, RTLD_NOW | RTLD_LOCAL);
    need(lib.handle != NULL, "dlopen");
    find("aclprofInit", &lib.init);
    find("aclprofCreateConfig", &lib.create_config);
    find("aclprofStart", &lib.start);
    find("aclprofStop", &lib.stop);
    find("aclprofFinalize", &lib.finalize);
    find("aclprofCreateStamp", &lib.create_stamp);
    find("aclprofSetStampTraceMessage", &lib.message);
    find("aclprofMark", &lib.mark);
    find("aclprofPush", &lib.push);
}

/* Marks whose messages are the numbers of their events. */
static void stamp_some(uint32_t index, uint32_t events)
{
    void *stamp = lib.create_stamp();
    uint32_t seq = atomic_load(&counts->returned[index]);
    char text[32];

    for (uint32_t end = seq + events; seq < end; seq++) {
        int n = snprintf(text, sizeof(text), "%u %u", index, seq);

        need(lib.message(stamp, text, (uint32_t)n) == ACL_SUCCESS, "message");
        need(lib.mark(stamp) == ACL_SUCCESS, "mark");
        atomic_store(&counts->returned[index], seq + 1);
    }
}

static pthread_barrier_t barrier;

/* Has state of the library's when that is closed; ends, and runs its destructors, afterwards. */
static void *stamp_and_wait(void *arg)
{
    stamp_some((uint32_t)(uintptr_t)arg, 50);
    (void)lib.mark(NULL); /* state of a failure, too */
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    aclprofConfig *config = NULL;

    if (argc != 4) {
        return 98;
    }
    counts = exit_counts_map(argv[3]);
    need(counts != NULL, "counts");
    need(dlsym(RTLD_DEFAULT, "aclprofInit") == NULL, "linked with the library");
    need(pthread_barrier_init(&barrier, NULL, 2) == 0, "barrier");
    load();
    need(lib.init(argv[2], strlen(argv[2])) == ACL_SUCCESS, "init");
    config = lib.create_config(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    need(config != NULL && lib.start(config) == ACL_SUCCESS, "start");
    stamp_some(0, 100);
    need(pthread_create(&thread, NULL, stamp_and_wait, (void *)1) == 0, "pthread_create");
    pthread_barrier_wait(&barrier);
    if (strcmp(argv[1], "stopped") == 0) {
        need(lib.stop(config) == ACL_SUCCESS && lib.finalize() == ACL_SUCCESS, "stop");
    }
    need(dlclose(lib.handle) == 0, "dlclose");
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    if (strcmp(argv[1], "again") == 0) { /* whether it was unloaded or not, it works */
        load();
        (void)lib.finalize();
        need(lib.init(argv[2], strlen(argv[2])) == ACL_SUCCESS, "init again");
        config = lib.create_config(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
        need(config != NULL && lib.start(config) == ACL_SUCCESS, "start again");
        stamp_some(2, 30);
        need(dlclose(lib.handle) == 0, "dlclose again");
    }
    return 0;
}
