/* SPDX-License-Identifier: Apache-2.0 */
/* Reads handwritten digits with a small network, over and over, and shows where the time goes.
 *
 * The main thread prepares batches, worker threads run the network on them. With profiling
 *   - preparing a batch is a range,
 *   - its wait in the queue is a range that begins in the main thread and ends in a worker,
 *   - the network is a span, and each of its layers a span within (push, pop),
 *   - reading the network's answers is a span,
 *   - and a finished batch is a mark with a text of its own.
 * With ACLPROF_DRIVER=sim in the environment the layers are also kernels of a simulated NPU, and
 * the profile has its times and counters. At the end the times are read back from the files that
 * the profiler has written. */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_work.h"
#include "digits_net.h"
#include "phase_table.h"
#include "profiling.h"

#define MAX_LOOPS 100000
#define MAX_THREADS 64
#define MAX_BATCH 1024
#define BATCHES_PER_WORKER 2 /* one in work, one ready */
#define WAITING "queue"
#define ROUNDS 20 /* with and without profiling, to measure its overhead */
#define ROUND_PASSES 6

typedef struct options {
    int loops;
    int threads;
    int batch;
    const char *output;
    bool profiling;
} options;

/* Some passes over all images. */
typedef struct run {
    bool profiled;
    long right;   /* answers, of those to held-out digits */
    long records; /* that the profile should hold */
    double pass;  /* median seconds of a pass */
    double cpu;   /* CPU seconds of the process in a pass, without the first pass of several */
    double start; /* seconds for aclprofInit to aclprofStart */
    double stop;  /* seconds for aclprofStop to aclprofFinalize */
} run;

/* A part of the images on its way from the main thread to a worker and back. */
typedef struct batch {
    struct batch *next;
    int number;
    int first; /* digit */
    int count;
    float *images;
    void *queue_stamp; /* its own, for the waits of several batches overlap */
    uint32_t queue_range;
    bool queue_begun;
} batch;

typedef struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    batch *head;
    batch **tail;
    int length;
    bool closed;
} queue;

static void queue_init(queue *q)
{
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->head = NULL;
    q->tail = &q->head;
    q->length = 0;
    q->closed = false;
}

static void queue_destroy(queue *q)
{
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
}

static void queue_put(queue *q, batch *b)
{
    b->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->tail = b;
    q->tail = &b->next;
    q->length++;
    pthread_cond_signal(&q->changed); /* a queue's waiters all wait for the same */
    pthread_mutex_unlock(&q->lock);
}

/* Waits for a batch; NULL when the queue is closed and empty. */
static batch *queue_take(queue *q)
{
    batch *b = NULL;

    pthread_mutex_lock(&q->lock);
    while (q->head == NULL && !q->closed) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
    b = q->head;
    if (b != NULL) {
        q->head = b->next;
        q->tail = q->head == NULL ? &q->head : q->tail;
        q->length--;
    }
    pthread_mutex_unlock(&q->lock);
    return b;
}

static void queue_wait_length(queue *q, int length)
{
    pthread_mutex_lock(&q->lock);
    while (q->length < length) {
        pthread_cond_wait(&q->changed, &q->lock);
    }
    pthread_mutex_unlock(&q->lock);
}

static void queue_close(queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

typedef struct pipeline {
    const options *opts;
    bool profiled;
    queue idle;  /* batches that the main thread may fill */
    queue ready; /* batches that wait for a worker */
    batch *batches;
    int batch_count;
} pipeline;

typedef struct worker {
    pthread_t thread;
    pipeline *line;
    float *values[2]; /* a layer reads one and writes the other */
    void *infer_stamp;
    void *layer_stamps[DIGITS_LAYERS];
    void *postprocess_stamp;
    simrtStream stream; /* NULL without a device */
    long right;         /* of the held-out digits */
    long records;
} worker;

static float *infer(worker *w, const batch *b)
{
    const float *in = b->images;
    float *out = NULL;
    bool whole = span_begin(w->infer_stamp);

    device_work_load(w->stream, b->count);
    for (int i = 0; i < DIGITS_LAYERS; i++) {
        bool layer = span_begin(w->layer_stamps[i]);

        out = w->values[i % 2];
        device_work_layer(w->stream, &digits_layers[i], b->count);
        digits_layers[i].run(in, out, b->count);
        span_end(layer, &w->records);
        in = out;
    }
    device_work_fetch(w->stream, b->count);
    span_end(whole, &w->records);
    return out;
}

static void postprocess(worker *w, const batch *b, float *values)
{
    bool begun = span_begin(w->postprocess_stamp);

    for (int i = 0; i < b->count; i++) {
        int answer = digits_classify(values + i * DIGITS_CLASSES);

        if (digits_held_out(b->first + i)) {
            w->right += answer == digits_label(b->first + i);
        }
    }
    span_end(begun, &w->records);
}

static void *worker_main(void *argument)
{
    worker *w = argument;
    batch *b = NULL;
    char text[64];

    if (w->line->profiled) {
        w->infer_stamp = stamp_create("infer");
        w->postprocess_stamp = stamp_create("postprocess");
        for (int i = 0; i < DIGITS_LAYERS; i++) {
            w->layer_stamps[i] = stamp_create(digits_layers[i].name);
        }
    }
    w->stream = device_work_begin();
    while ((b = queue_take(&w->line->ready)) != NULL) {
        range_end(b->queue_begun, b->queue_range, &w->records);
        postprocess(w, b, infer(w, b));
        if (w->line->profiled) {
            snprintf(text, sizeof(text), "batch %d done: %d images", b->number, b->count);
            mark(text, &w->records);
        }
        queue_put(&w->line->idle, b);
    }
    device_work_end(w->stream);
    stamp_destroy(w->infer_stamp);
    stamp_destroy(w->postprocess_stamp);
    for (int i = 0; i < DIGITS_LAYERS; i++) {
        stamp_destroy(w->layer_stamps[i]);
    }
    return NULL;
}

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void preprocess(batch *b, void *stamp, long *records)
{
    bool begun = false;
    uint32_t id = range_begin(stamp, &begun);

    for (int i = 0; i < b->count; i++) {
        digits_load(b->first + i, b->images + i * DIGITS_PIXELS);
    }
    range_end(begun, id, records);
}

/* Sends every digit through the pipeline once. */
static void feed_all(pipeline *line, void *preprocess_stamp, int *number, long *records)
{
    int count = digits_count();

    for (int first = 0; first < count; first += line->opts->batch) {
        batch *b = queue_take(&line->idle);

        b->number = ++*number;
        b->first = first;
        b->count = count - first < line->opts->batch ? count - first : line->opts->batch;
        preprocess(b, preprocess_stamp, records);
        b->queue_range = range_begin(b->queue_stamp, &b->queue_begun);
        queue_put(&line->ready, b);
    }
    queue_wait_length(&line->idle, line->batch_count);
}

static void free_all(pipeline *line, worker *workers)
{
    for (int i = 0; line->batches != NULL && i < line->batch_count; i++) {
        stamp_destroy(line->batches[i].queue_stamp);
        free(line->batches[i].images);
    }
    for (int i = 0; workers != NULL && i < line->opts->threads; i++) {
        free(workers[i].values[0]);
        free(workers[i].values[1]);
    }
    free(line->batches);
    free(workers);
}

static bool allocate_all(pipeline *line, worker **workers)
{
    size_t images = (size_t)line->opts->batch;

    line->batches = calloc((size_t)line->batch_count, sizeof(*line->batches));
    *workers = calloc((size_t)line->opts->threads, sizeof(**workers));
    if (line->batches == NULL || *workers == NULL) {
        return false;
    }
    for (int i = 0; i < line->batch_count; i++) {
        line->batches[i].images = malloc(images * DIGITS_PIXELS * sizeof(float));
        if (line->batches[i].images == NULL) {
            return false;
        }
    }
    for (int i = 0; i < line->opts->threads; i++) {
        worker *w = &(*workers)[i];

        w->line = line;
        w->values[0] = malloc(images * DIGITS_WIDEST * sizeof(float));
        w->values[1] = malloc(images * DIGITS_WIDEST * sizeof(float));
        if (w->values[0] == NULL || w->values[1] == NULL) {
            return false;
        }
    }
    return true;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* Sorts the values; returns the one below which `part` of them lie. */
static double quantile(double *values, int count, double part)
{
    qsort(values, (size_t)count, sizeof(*values), by_value);
    return values[(int)(part * (count - 1) + 0.5)];
}

/* Sends all digits through the network `passes` times; false when it cannot. */
static bool run_passes(const options *opts, bool profiled, int passes, run *r)
{
    pipeline line = {
        .opts = opts, .profiled = profiled, .batch_count = opts->threads * BATCHES_PER_WORKER};
    worker *workers = NULL;
    double *times = malloc((size_t)passes * sizeof(*times));
    void *preprocess_stamp = NULL;
    int started = 0;
    int number = 0;

    *r = (run){.profiled = profiled};
    queue_init(&line.idle);
    queue_init(&line.ready);
    if (!allocate_all(&line, &workers) || times == NULL) {
        fprintf(stderr, "no memory for %d loops, %d threads, batches of %d\n", passes,
                opts->threads, opts->batch);
        goto out;
    }
    preprocess_stamp = profiled ? stamp_create("preprocess") : NULL;
    for (int i = 0; i < line.batch_count; i++) {
        line.batches[i].queue_stamp = profiled ? stamp_create(WAITING) : NULL;
        queue_put(&line.idle, &line.batches[i]);
    }
    for (; started < opts->threads; started++) {
        int code = pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]);

        if (code != 0) {
            fprintf(stderr, "cannot start worker %d: %s\n", started + 1, strerror(code));
            break;
        }
    }
    if (started == opts->threads) {
        double cpu_begin = seconds(CLOCK_PROCESS_CPUTIME_ID);

        for (int pass = 0; pass < passes; pass++) {
            double begin = seconds(CLOCK_MONOTONIC);

            feed_all(&line, preprocess_stamp, &number, &r->records);
            times[pass] = seconds(CLOCK_MONOTONIC) - begin;
            cpu_begin = pass == 0 && passes > 1 ? seconds(CLOCK_PROCESS_CPUTIME_ID) : cpu_begin;
        }
        r->cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
        r->cpu /= passes > 1 ? passes - 1 : 1;
        r->pass = quantile(times, passes, 0.5);
    }
    queue_close(&line.ready);
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        r->right += workers[i].right;
        r->records += workers[i].records;
    }
    stamp_destroy(preprocess_stamp);
out:
    free_all(&line, workers);
    queue_destroy(&line.ready);
    queue_destroy(&line.idle);
    free(times);
    return started == opts->threads;
}

/* The same with a profile of its own; without, when profiling does not start. */
static bool run_profiled(const options *opts, const char *output, bool devices, int passes, run *r)
{
    double begin = seconds(CLOCK_MONOTONIC);
    aclprofConfig *config = profiling_start(output, devices);
    double start = seconds(CLOCK_MONOTONIC) - begin;
    bool ok = run_passes(opts, config != NULL, passes, r);

    if (config != NULL) {
        begin = seconds(CLOCK_MONOTONIC);
        profiling_stop(config);
        r->start = start;
        r->stop = seconds(CLOCK_MONOTONIC) - begin;
    }
    return ok;
}

static void print_run(const options *opts, const run *r)
{
    int images = digits_count();
    int held_out = 0;

    for (int i = 0; i < images; i++) {
        held_out += digits_held_out(i);
    }
    printf("input       %d images in batches of %d, %d passes, %d workers\n", images, opts->batch,
           opts->loops, opts->threads);
    printf("accuracy    %.2f %% of the %d digits that the network was not trained on\n",
           100.0 * (double)r->right / ((double)held_out * opts->loops), held_out);
    printf("throughput  %.0f images/s (median pass %.3f ms) %s profiling\n", images / r->pass,
           r->pass * 1e3, r->profiled ? "with" : "without");
}

/* Prints what the profiler has left on disk; false when that is not all. */
static bool print_profile(const char *output, const run *r)
{
    char *dir = phase_table_find(output);
    long found = 0;

    if (dir == NULL) {
        fprintf(stderr, "There is no PROF_* directory of this process in %s\n", output);
        return false;
    }
    printf("profile     %s\n", dir);
    if (device_work_there()) {
        printf("device      the layers as kernels of a simulated NPU, in device_0/ there\n");
    }
    printf("\n");
    found = phase_table_print(stdout, dir, WAITING);
    free(dir);
    if (found >= 0) {
        printf("\n%ld records made, %ld read back; %.1f ms to start profiling, %.1f ms to stop\n",
               r->records, found, r->start * 1e3, r->stop * 1e3);
    }
    return found == r->records;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

/* Alternates short rounds with and without stamps and prints what they cost: in CPU time of the
 * process (in which a simulated NPU would have to be left out), for that is not disturbed much by
 * what else the machine does, and has in it what the profiler does in threads of its own. The
 * profiles go into a directory that is removed again. */
static bool measure_overhead(const options *opts)
{
    int passes = opts->loops < ROUND_PASSES ? opts->loops : ROUND_PASSES;
    double costs[ROUNDS];
    char scratch[PATH_MAX];
    bool ok = true;

    if (snprintf(scratch, sizeof(scratch), "%s/overhead.XXXXXX", opts->output) >=
            (int)sizeof(scratch) ||
        mkdtemp(scratch) == NULL) {
        fprintf(stderr, "%s: cannot make a directory to measure in: %s\n", opts->output,
                strerror(errno));
        return false;
    }
    for (int i = 0; ok && i < ROUNDS; i++) {
        run with;
        run without;

        if (i % 2 == 0) { /* in turns, against what grows slower or faster meanwhile */
            ok = run_passes(opts, false, passes, &without) &&
                 run_profiled(opts, scratch, false, passes, &with);
        } else {
            ok = run_profiled(opts, scratch, false, passes, &with) &&
                 run_passes(opts, false, passes, &without);
        }
        ok = ok && with.profiled;
        costs[i] = ok ? 100.0 * (with.cpu / without.cpu - 1.0) : 0.0;
    }
    if (nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        fprintf(stderr, "%s: cannot be removed: %s\n", scratch, strerror(errno));
    }
    if (ok) {
        printf(
            "overhead of the stamps: %+.2f %% of CPU time (median of %d pairs of rounds with and "
            "without;\nhalf of the pairs lie between %+.2f and %+.2f %%)\n",
            quantile(costs, ROUNDS, 0.5), ROUNDS, quantile(costs, ROUNDS, 0.25),
            quantile(costs, ROUNDS, 0.75));
    }
    return ok;
}

static void usage(FILE *out, const char *program)
{
    fprintf(out,
            "Usage: %s [options]\n"
            "Reads handwritten digits with a small network and shows where the time goes.\n\n"
            "  -l, --loops N       passes over all images (1 to %d, default 100)\n"
            "  -t, --threads N     worker threads (1 to %d, default 2)\n"
            "  -b, --batch N       images in a batch (1 to %d, default 32)\n"
            "  -o, --output DIR    where the PROF_* directory is made (default ./prof_out)\n"
            "  -n, --no-profiling  run the network only, with no profiling call at all\n"
            "  -h, --help          print this\n\n"
            "Exit status: 0; 1 when the network or the profiling did not work; 2 for a wrong "
            "option.\n",
            program, MAX_LOOPS, MAX_THREADS, MAX_BATCH);
}

static bool parse_number(const char *name, const char *text, int max, int *value)
{
    char *end = NULL;
    long number = 0;

    errno = 0;
    number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < 1 || number > max) {
        fprintf(stderr, "--%s is '%s'; it can be 1 to %d\n", name, text, max);
        return false;
    }
    *value = (int)number;
    return true;
}

/* Returns -1 to go on, otherwise the exit status. */
static int parse_options(int argc, char **argv, options *opts)
{
    static const struct option names[] = {
        {"loops", required_argument, NULL, 'l'},
        {"threads", required_argument, NULL, 't'},
        {"batch", required_argument, NULL, 'b'},
        {"output", required_argument, NULL, 'o'},
        {"no-profiling", no_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    bool ok = true;
    int option = 0;

    while (ok && (option = getopt_long(argc, argv, "l:t:b:o:nh", names, NULL)) != -1) {
        switch (option) {
        case 'l':
            ok = parse_number("loops", optarg, MAX_LOOPS, &opts->loops);
            break;
        case 't':
            ok = parse_number("threads", optarg, MAX_THREADS, &opts->threads);
            break;
        case 'b':
            ok = parse_number("batch", optarg, MAX_BATCH, &opts->batch);
            break;
        case 'o':
            opts->output = optarg;
            break;
        case 'n':
            opts->profiling = false;
            break;
        case 'h':
            usage(stdout, argv[0]);
            return 0;
        default:
            ok = false;
        }
    }
    if (ok && optind < argc) {
        fprintf(stderr, "%s: there are no arguments but options\n", argv[optind]);
        ok = false;
    }
    if (!ok) {
        usage(stderr, argv[0]);
        return 2;
    }
    return -1;
}

int main(int argc, char **argv)
{
    options opts = {
        .loops = 100, .threads = 2, .batch = 32, .output = "./prof_out", .profiling = true};
    run r = {0};
    bool ok = false;
    int failures = 0;
    int status = 0;

    setlocale(LC_CTYPE, ""); /* for the bars: is this a UTF-8 terminal? */
    status = parse_options(argc, argv, &opts);
    if (status >= 0) {
        return status;
    }
    ok = opts.profiling ? run_profiled(&opts, opts.output, true, opts.loops, &r)
                        : run_passes(&opts, false, opts.loops, &r);
    if (!ok) {
        return 1;
    }
    print_run(&opts, &r);
    if (r.profiled) {
        ok = print_profile(opts.output, &r);
        fflush(stdout);
        ok = measure_overhead(&opts) && ok;
    }
    failures = profiling_failure_count();
    if (failures > 0) {
        fprintf(stderr, "%d profiling calls failed; the first is named above\n", failures);
    }
    return fflush(stdout) == 0 && ok && failures == 0 ? 0 : 1;
}
