/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of the stamp calls of any library that exports the API: linked, preloaded or dlopened.
 *
 *   bench_stamp [--lib FILE] [--out DIR] [--threads N] [--rounds N]   ratios to the floor
 *   bench_stamp --flood N [--threads T]      N marks at full speed, then the account
 *   bench_stamp --cycle N                    time of Start and Stop, resident memory
 *   bench_stamp --count OP N                 N times OP and nothing else (for callgrind, strace)
 *
 * Floor: read the cycle counter, store 64 bytes into a per-thread ring, publish with release.
 * Every figure is a median over interleaved rounds of batches small enough to fit the ring.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "aclprof_ext.h"

#define BATCH 2000
#define MAX_THREADS 64
#define MAX_ROUNDS 1001

static struct {
    aclError (*init)(const char *, size_t);
    aclprofConfig *(*create)(uint32_t *, uint32_t, aclprofAicoreMetrics,
                             const aclprofAicoreEvents *, uint64_t);
    aclError (*start)(const aclprofConfig *);
    aclError (*stop)(const aclprofConfig *);
    aclError (*finalize)(void);
    void *(*create_stamp)(void);
    void (*destroy_stamp)(void *);
    aclError (*message)(void *, const char *, uint32_t);
    aclError (*mark)(void *);
    aclError (*push)(void *);
    aclError (*pop)(void);
    aclError (*range_start)(void *, uint32_t *);
    aclError (*range_stop)(uint32_t);
    aclError (*stats)(aclprofStats *); /* ours only */
} api;

static void load(const char *lib)
{
    void *h = lib == NULL ? RTLD_DEFAULT : dlopen(lib, RTLD_NOW | RTLD_GLOBAL);
    static const struct {
        const char *name;
        void *to;
        bool optional;
    } syms[] = {{"aclprofInit", &api.init, false},
                {"aclprofCreateConfig", &api.create, false},
                {"aclprofStart", &api.start, false},
                {"aclprofStop", &api.stop, false},
                {"aclprofFinalize", &api.finalize, false},
                {"aclprofCreateStamp", &api.create_stamp, false},
                {"aclprofDestroyStamp", &api.destroy_stamp, false},
                {"aclprofSetStampTraceMessage", &api.message, false},
                {"aclprofMark", &api.mark, false},
                {"aclprofPush", &api.push, false},
                {"aclprofPop", &api.pop, false},
                {"aclprofRangeStart", &api.range_start, false},
                {"aclprofRangeStop", &api.range_stop, false},
                {"aclprofGetStats", &api.stats, true}};

    if (lib != NULL && h == NULL) {
        fprintf(stderr, "bench_stamp: %s\n", dlerror());
        exit(2);
    }
    for (size_t i = 0; i < sizeof(syms) / sizeof(syms[0]); i++) {
        void *p = dlsym(h, syms[i].name);

        if (p == NULL && !syms[i].optional) {
            fprintf(stderr, "bench_stamp: no %s: link, preload or --lib a profiling library\n",
                    syms[i].name);
            exit(2);
        }
        memcpy(syms[i].to, &p, sizeof(p));
    }
}

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t cycles(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t v;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#else
    return now_ns();
#endif
}

/* ---- operations: each runs one batch ---- */

typedef struct floor_ring {
    _Alignas(64) uint64_t head;
    _Atomic uint64_t published;
    _Alignas(64) uint8_t data[1 << 20];
} floor_ring;

typedef struct worker {
    pthread_t thread;
    floor_ring *ring;
    void *stamp;
    int index;
    int failed;
} worker;

static void op_floor(worker *w, int n)
{
    floor_ring *r = w->ring;

    for (int i = 0; i < n; i++) {
        uint64_t *p = (uint64_t *)(void *)(r->data + (r->head & (sizeof(r->data) - 1)));
        uint64_t t = cycles();

        p[0] = t;
        for (int k = 1; k < 8; k++) {
            p[k] = r->head;
        }
        r->head += 64;
        atomic_store_explicit(&r->published, r->head, memory_order_release);
    }
}

static void op_mark(worker *w, int n)
{
    for (int i = 0; i < n; i++) {
        w->failed |= api.mark(w->stamp);
    }
}

static void op_push_pop(worker *w, int n)
{
    for (int i = 0; i < n; i++) {
        w->failed |= api.push(w->stamp);
        w->failed |= api.pop();
    }
}

static void op_range(worker *w, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t id = 0;

        w->failed |= api.range_start(w->stamp, &id);
        w->failed |= api.range_stop(id);
    }
}

static void op_full(worker *w, int n)
{
    for (int i = 0; i < n; i++) {
        void *s = api.create_stamp();

        w->failed |= api.message(s, "a message", 9);
        w->failed |= api.mark(s);
        api.destroy_stamp(s);
    }
}

/* outside a session; the code says so, that is no failure */
static void op_outside(worker *w, int n)
{
    for (int i = 0; i < n; i++) {
        (void)api.mark(w->stamp);
    }
}

static const struct {
    const char *name;
    void (*run)(worker *, int);
    double bar; /* highest ratio to the floor that the project allows itself */
} ops[] = {{"floor", op_floor, 1.0},      {"mark", op_mark, 1.7},   {"push+pop", op_push_pop, 3.2},
           {"range", op_range, 5.0},      {"full", op_full, 6.0},   {"outside", op_outside, 0.25}};
#define OPS (sizeof(ops) / sizeof(ops[0]))

/* ---- rounds ---- */

static pthread_barrier_t barrier;
static int rounds = 61;
static int threads = 1;
static double sample[OPS][MAX_ROUNDS];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), by_value);
    return v[n / 2];
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *work(void *arg)
{
    worker *w = arg;

    w->ring = aligned_alloc(64, sizeof(*w->ring));
    memset(w->ring, 0, sizeof(*w->ring));
    w->stamp = api.create_stamp();
    w->failed |= w->stamp == NULL || api.message(w->stamp, "a message", 9);
    for (int r = 0; r < rounds; r++) {
        for (size_t o = 0; o + 1 < OPS; o++) { /* the last one needs no session */
            uint64_t t = 0;

            pthread_barrier_wait(&barrier);
            t = threads > 2 ? thread_cpu_ns() : now_ns();
            ops[o].run(w, BATCH);
            t = (threads > 2 ? thread_cpu_ns() : now_ns()) - t;
            if (w->index == 0) {
                sample[o][r] = (double)t / BATCH;
            }
            usleep(o == 0 ? 0 : 4000); /* the writer empties the rings */
        }
    }
    return NULL;
}

static const char *out_dir = ".";

static const aclprofConfig *begin(void)
{
    aclprofConfig *config = NULL;
    aclError code = api.init(out_dir, strlen(out_dir));

    config = api.create(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);
    if (code != 0 || config == NULL || (code = api.start(config)) != 0) {
        fprintf(stderr, "bench_stamp: the capture does not start (%d)\n", code);
        exit(1);
    }
    return config;
}

static void say_account(void)
{
    aclprofStats s = {.size = sizeof(s)};

    if (api.stats == NULL) {
        printf("account: not offered by this library\n");
        return;
    }
    api.stats(&s);
    printf("account: emitted %" PRIu64 " = written %" PRIu64 " + lost %" PRIu64
           " (ring full %" PRIu64 ", disk %" PRIu64 ", other %" PRIu64 ")%s; %" PRIu64
           " bytes; calls about %" PRIu64 " ns, writer CPU %" PRIu64 " ns\n",
           s.emitted, s.written, s.lostTotal, s.lostRingFull, s.lostDisk,
           s.lostTotal - s.lostRingFull - s.lostDisk,
           s.emitted == s.written + s.lostTotal ? "" : " MISMATCH", s.bytesWritten, s.callNs,
           s.writerCpuNs);
}

static int bench_ratios(void)
{
    static worker workers[MAX_THREADS];
    const aclprofConfig *config = begin();
    double floor_ns = 0;
    int failed = 0;

    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        workers[i].index = i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        failed |= workers[i].failed;
    }
    api.stop(config);
    for (int r = 0; r < rounds; r++) {
        uint64_t t = now_ns();

        op_outside(&workers[0], BATCH);
        sample[OPS - 1][r] = (double)(now_ns() - t) / BATCH;
    }
    floor_ns = median(sample[0], rounds);
    printf("%-10s %9s %8s %6s  (%d threads, %d rounds of %d, medians)\n", "operation", "ns", "x floor",
           "bar", threads, rounds, BATCH);
    for (size_t o = 0; o < OPS; o++) {
        double ns = median(sample[o], rounds);

        printf("%-10s %9.2f %8.2f %6.2f%s\n", ops[o].name, ns, ns / floor_ns, ops[o].bar,
               ns / floor_ns > ops[o].bar ? "  over" : "");
    }
    say_account();
    api.finalize();
    if (failed != 0) {
        fprintf(stderr, "bench_stamp: a call failed\n");
    }
    return failed != 0;
}

/* ---- other modes ---- */

static uint64_t flood_each;

static void *flood(void *arg)
{
    worker *w = arg;

    w->stamp = api.create_stamp();
    api.message(w->stamp, "flood", 5);
    pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; i < flood_each; i++) {
        api.mark(w->stamp);
    }
    return NULL;
}

static int bench_flood(uint64_t n)
{
    static worker workers[MAX_THREADS];
    const aclprofConfig *config = begin();
    uint64_t t = 0;

    flood_each = n / (uint64_t)threads;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        pthread_create(&workers[i].thread, NULL, flood, &workers[i]);
    }
    pthread_barrier_wait(&barrier);
    t = now_ns();
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    t = now_ns() - t;
    printf("flood: %" PRIu64 " marks from %d threads in %.2f ms, %.1f ns each\n",
           flood_each * (uint64_t)threads, threads, (double)t / 1e6,
           (double)t / (double)(flood_each * (uint64_t)threads));
    t = now_ns();
    api.stop(config);
    printf("stop: %.2f ms\n", (double)(now_ns() - t) / 1e6);
    say_account();
    api.finalize();
    return 0;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1) {
        pages = 0;
    }
    if (f != NULL) {
        fclose(f);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int bench_cycle(int n)
{
    static double starts[MAX_ROUNDS];
    static double stops[MAX_ROUNDS];
    const aclprofConfig *config = NULL;
    long before = resident_kib();
    long during = 0;

    config = begin();
    api.stop(config);
    for (int i = 0; i < n; i++) {
        void *stamp = NULL;
        uint64_t t = now_ns();

        api.start(config);
        starts[i] = (double)(now_ns() - t) / 1e6;
        stamp = api.create_stamp();
        api.mark(stamp);
        api.destroy_stamp(stamp);
        during = resident_kib();
        t = now_ns();
        api.stop(config);
        stops[i] = (double)(now_ns() - t) / 1e6;
    }
    printf("start: median %.2f ms, stop: median %.2f ms (%d cycles); resident +%ld KiB while "
           "recording from 1 thread\n",
           median(starts, n), median(stops, n), n, during - before);
    api.finalize();
    return 0;
}

static int bench_count(const char *name, int n)
{
    static worker w;
    const aclprofConfig *config = begin();

    w.ring = aligned_alloc(64, sizeof(*w.ring));
    memset(w.ring, 0, sizeof(*w.ring));
    w.stamp = api.create_stamp();
    api.message(w.stamp, "a message", 9);
    api.mark(w.stamp); /* the thread's first event */
    for (size_t o = 0; o < OPS; o++) {
        if (strcmp(ops[o].name, name) == 0) {
            if (o == OPS - 1) {
                api.stop(config);
            }
            ops[o].run(&w, n);
            api.stop(config);
            api.finalize();
            return 0;
        }
    }
    fprintf(stderr, "bench_stamp: no operation %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    const char *lib = NULL;
    const char *op = NULL;
    uint64_t flood_n = 0;
    int cycle_n = 0;
    int count_n = 0;

    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "0";

        if (strcmp(argv[i], "--lib") == 0) {
            lib = argv[++i];
        } else if (strcmp(argv[i], "--out") == 0) {
            out_dir = argv[++i];
        } else if (strcmp(argv[i], "--threads") == 0) {
            threads = atoi(next), i++;
        } else if (strcmp(argv[i], "--rounds") == 0) {
            rounds = atoi(next), i++;
        } else if (strcmp(argv[i], "--flood") == 0) {
            flood_n = strtoull(next, NULL, 10), i++;
        } else if (strcmp(argv[i], "--cycle") == 0) {
            cycle_n = atoi(next), i++;
        } else if (strcmp(argv[i], "--count") == 0 && i + 2 < argc) {
            op = argv[++i];
            count_n = atoi(argv[++i]);
        } else {
            fprintf(stderr, "bench_stamp: unknown option %s (see the head of its source)\n", argv[i]);
            return 2;
        }
    }
    if (threads < 1 || threads > MAX_THREADS || rounds < 1 || rounds > MAX_ROUNDS ||
        cycle_n < 0 || cycle_n > MAX_ROUNDS) {
        fprintf(stderr, "bench_stamp: threads 1…%d, rounds and cycles 1…%d\n", MAX_THREADS, MAX_ROUNDS);
        return 2;
    }
    load(lib);
    if (flood_n != 0) {
        return bench_flood(flood_n);
    }
    if (cycle_n != 0) {
        return bench_cycle(cycle_n);
    }
    return op != NULL ? bench_count(op, count_n) : bench_ratios();
}
