/* SPDX-License-Identifier: Apache-2.0 */
/* What collecting from simulated devices costs the host and loses.
 *
 *   bench_collector [--seconds 5] [--rounds 3] [--devices 8] [--rate 7800] [--out DIR] [--lib FILE]
 *
 * In turns, with and without a capture, one thread does a fixed work over and over for so many
 * seconds. `rate`: tasks per second of each of the 8 streams of a device; a task makes two records.
 * Prints records per second, losses, and how much slower the work was (median of the rounds). */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <ftw.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl_prof.h"

static struct {
    aclError (*init)(const char *, size_t);
    aclprofConfig *(*create)(uint32_t *, uint32_t, aclprofAicoreMetrics,
                             const aclprofAicoreEvents *, uint64_t);
    aclError (*start)(const aclprofConfig *);
    aclError (*stop)(const aclprofConfig *);
    aclError (*destroy)(const aclprofConfig *);
    aclError (*finalize)(void);
} lib;

typedef struct outcome {
    double work;   /* per second */
    double cpu;    /* CPU seconds of the process a second */
    double stop_s; /* of aclprofStop */
    uint64_t records;
    uint64_t lost;
} outcome;

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);

    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&lib.init = dlsym(handle, "aclprofInit");
    *(void **)&lib.create = dlsym(handle, "aclprofCreateConfig");
    *(void **)&lib.start = dlsym(handle, "aclprofStart");
    *(void **)&lib.stop = dlsym(handle, "aclprofStop");
    *(void **)&lib.destroy = dlsym(handle, "aclprofDestroyConfig");
    *(void **)&lib.finalize = dlsym(handle, "aclprofFinalize");
}

static double work_for(double seconds)
{
    static volatile uint64_t sink;
    double begin = now(CLOCK_MONOTONIC);
    double end = begin;
    uint64_t units = 0;

    while (end - begin < seconds) {
        for (uint64_t i = 0; i < 200000; i++) {
            sink = sink * 6364136223846793005u + i;
        }
        units++;
        end = now(CLOCK_MONOTONIC);
    }
    return (double)units / (end - begin);
}

static uint64_t sum_of(const char *text, const char *key)
{
    uint64_t sum = 0;

    for (const char *p = strstr(text, key); p != NULL; p = strstr(p + 1, key)) {
        sum += strtoull(p + strlen(key), NULL, 10);
    }
    return sum;
}

static void read_report(const char *out, outcome *o)
{
    DIR *list = opendir(out);
    struct dirent *entry = NULL;
    char path[4096] = "";
    char *text = calloc(1, 8 << 20);
    FILE *file = NULL;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strncmp(entry->d_name, "PROF_", 5) == 0) {
            snprintf(path, sizeof(path), "%s/%s/host/.aclprof/devices.json", out, entry->d_name);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    file = fopen(path, "r");
    if (file == NULL || text == NULL) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    (void)!fread(text, 1, (8 << 20) - 1, file);
    fclose(file);
    o->records = sum_of(text, "\"records\":");
    o->lost = sum_of(text, "\"droppedRecords\":") + sum_of(text, "\"missingRecords\":");
    free(text);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static void one_round(const char *out, uint32_t devices, double seconds, bool capture, outcome *o)
{
    uint32_t ids[64];
    aclprofConfig *config = NULL;
    double cpu = 0;
    double begin = 0;

    memset(o, 0, sizeof(*o));
    if (capture) {
        for (uint32_t i = 0; i < devices; i++) {
            ids[i] = i;
        }
        config = lib.create(ids, devices, ACL_AICORE_NONE, NULL, ACL_PROF_TASK_TIME_L0);
        if (lib.init(out, strlen(out)) != 0 || config == NULL || lib.start(config) != 0) {
            fprintf(stderr, "the capture does not start\n");
            exit(1);
        }
    }
    cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    o->work = work_for(seconds);
    o->cpu = (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / seconds;
    if (capture) {
        begin = now(CLOCK_MONOTONIC);
        (void)lib.stop(config);
        o->stop_s = now(CLOCK_MONOTONIC) - begin;
        (void)lib.destroy(config);
        (void)lib.finalize();
        read_report(out, o);
        (void)nftw(out, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"seconds", required_argument, NULL, 's'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"devices", required_argument, NULL, 'd'},
                                          {"rate", required_argument, NULL, 'f'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"lib", required_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    double seconds = 5;
    int rounds = 3;
    uint32_t devices = 8;
    unsigned rate = 7800;
    char out[2048] = "/tmp/bench_collector.XXXXXX";
    const char *path = AP_TEST_LIB_PATH;
    char options[256];
    double slower[64];
    uint64_t records = 0;
    uint64_t lost = 0;
    double collected = 0;
    int option = 0;

    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 's':
            seconds = atof(optarg);
            break;
        case 'r':
            rounds = atoi(optarg) < 64 ? atoi(optarg) : 64;
            break;
        case 'd':
            devices = (uint32_t)atoi(optarg) < 64 ? (uint32_t)atoi(optarg) : 64;
            break;
        case 'f':
            rate = (unsigned)atoi(optarg);
            break;
        case 'o':
            snprintf(out, sizeof(out), "%s/bench_collector.XXXXXX", optarg);
            break;
        case 'l':
            path = optarg;
            break;
        default:
            return 2;
        }
    }
    snprintf(options, sizeof(options), "devices=%u,pattern=flood,rate=%u,delay_ms=1", devices,
             rate);
    setenv("ACLPROF_DRIVER", "sim", 1);
    setenv("ACLPROF_SIM", options, 1);
    load(path);
    if (mkdtemp(out) == NULL) {
        perror(out);
        return 1;
    }
    for (int i = 0; i < rounds; i++) {
        char dir[2100];
        outcome with;
        outcome without;

        snprintf(dir, sizeof(dir), "%s/%d", out, i);
        if (i % 2 == 0) {
            one_round(dir, devices, seconds, false, &without);
            one_round(dir, devices, seconds, true, &with);
        } else {
            one_round(dir, devices, seconds, true, &with);
            one_round(dir, devices, seconds, false, &without);
        }
        slower[i] = 100.0 * (1.0 - with.work / without.work);
        records += with.records;
        lost += with.lost;
        collected += seconds;
        printf("round %d: %" PRIu64 " records (%.3f M/s), %" PRIu64
               " lost; work %.2f %% slower; CPU of the process %.2f s/s with, %.2f without; stop "
               "%.0f ms\n",
               i + 1, with.records, (double)with.records / seconds / 1e6, with.lost, slower[i],
               with.cpu, without.cpu, with.stop_s * 1e3);
        fflush(stdout);
    }
    (void)rmdir(out);
    qsort(slower, (size_t)rounds, sizeof(slower[0]), by_value);
    printf("%u devices, %.0f s: %" PRIu64 " records, %.3f M/s, %" PRIu64
           " lost; work %.2f %% slower (median of %d)\n",
           devices, collected, records, (double)records / collected / 1e6, lost, slower[rounds / 2],
           rounds);
    return 0;
}
