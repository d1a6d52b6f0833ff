/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the collector gets data from a driver into files: reading, checking of magic and running
 * number, queue, slices.
 *
 *   bench_reader [--mib 1024] [--rounds 3] [--devices 1] [--read-kib 1024] [--mbps 0] [--out DIR]
 *
 * The driver is one of this program whose channels 50 and 53 have data, until each device has given so
 * many MiB: as fast as they are read, or mbps MB/s of all devices together. As fast as can be, memory
 * to memory is quicker than any disk, and what the queue (64 MiB) does not hold is dropped. Prints MB/s from the first read to the end of Stop, the same per second of CPU
 * time, and what was dropped because the queue was full. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/collector.h"
#include "writer/control_files.h"
#include "writer/dirs.h"

#define CHUNK (1u << 20)

static struct {
    uint8_t *records[2]; /* CHUNK of channel 50 and of channel 53 */
    uint32_t read_bytes;
    uint64_t each; /* bytes of a channel */
    _Atomic uint64_t given[AP_HAL_MAX_DEVICES][2];
    _Atomic bool running[AP_HAL_MAX_DEVICES][2];
    uint32_t devices;
    double channel_rate; /* bytes a second; 0: no limit */
    double begin;
} source;

static uint8_t *records_of(uint32_t bytes)
{
    uint8_t *data = calloc(1, CHUNK);

    for (uint32_t i = 0; data != NULL && i < CHUNK / bytes; i++) {
        uint32_t head = (i & 1) | (i & 15u) << 6;

        data[i * bytes] = (uint8_t)head;
        data[i * bytes + 1] = (uint8_t)(head >> 8);
        data[i * bytes + 2] = 0xD3;
        data[i * bytes + 3] = 0x6B;
    }
    return data;
}

/* ---- the driver ---- */

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t ns(void)
{
    return (uint64_t)(now(CLOCK_MONOTONIC_RAW) * 1e9);
}

static int which(uint32_t channel)
{
    return channel == 50 ? 0 : channel == 53 ? 1 : -1;
}

static int driver_devices(void *context, uint32_t *ids, uint32_t capacity)
{
    (void)context;
    for (uint32_t i = 0; i < source.devices && i < capacity; i++) {
        ids[i] = i;
    }
    return (int)source.devices;
}

static int driver_info(void *context, uint32_t device, ap__hal_info what, int64_t *value)
{
    (void)context;
    (void)device;
    *value = 5;
    return what == AP_HAL_CHIP ? AP_HAL_OK : AP_HAL_UNSUPPORTED;
}

static int driver_version(void *context)
{
    (void)context;
    return 0x072418;
}

static int driver_clock(void *context, uint32_t device, ap__hal_clock *clock)
{
    (void)context;
    (void)device;
    memset(clock, 0, sizeof(*clock));
    clock->host_ns[0] = ns();
    clock->device_ns = ns();
    clock->device_cycles = clock->device_ns / 20;
    clock->host_ns[1] = ns();
    return AP_HAL_OK;
}

static int driver_channels(void *context, uint32_t device, ap__hal_channels *channels)
{
    (void)context;
    (void)device;
    memset(channels, 0, sizeof(*channels));
    channels->bits[0] = 1ull << 50 | 1ull << 53;
    return AP_HAL_OK;
}

static int driver_start(void *context, uint32_t device, uint32_t channel,
                        const ap__hal_start *start)
{
    (void)context;
    (void)start;
    atomic_store(&source.running[device][which(channel)], true);
    return AP_HAL_OK;
}

static int driver_stop(void *context, uint32_t device, uint32_t channel)
{
    (void)context;
    atomic_store(&source.running[device][which(channel)], false);
    return AP_HAL_OK;
}

/* What the device has made by now. */
static uint64_t made(void)
{
    double bytes = source.channel_rate * (now(CLOCK_MONOTONIC) - source.begin);

    return source.channel_rate == 0 || bytes >= (double)source.each
               ? source.each
               : (uint64_t)bytes / 128 * 128;
}

static bool has_data(uint32_t device, int k)
{
    return atomic_load(&source.running[device][k]) &&
           atomic_load(&source.given[device][k]) < made();
}

static bool at_its_end(uint32_t device, int k)
{
    return atomic_load(&source.given[device][k]) == source.each;
}

static int driver_poll(void *context, ap__hal_event *events, int capacity, int timeout_ms)
{
    int count = 0;

    (void)context;
    for (uint32_t d = 0; d < source.devices; d++) {
        for (int k = 0; k < 2 && count < capacity; k++) {
            if (has_data(d, k)) {
                events[count++] = (ap__hal_event){d, k == 0 ? 50u : 53u};
            }
        }
    }
    (void)usleep(count != 0 ? 1000u : (unsigned)timeout_ms * 1000u / 10u);
    return count;
}

static int driver_read(void *context, uint32_t device, uint32_t channel, void *buffer,
                       uint32_t bytes)
{
    int k = which(channel);
    uint64_t given = atomic_load(&source.given[device][k]);
    uint64_t left = made() - given;
    uint64_t n = bytes < source.read_bytes ? bytes : source.read_bytes;
    uint64_t at = given % CHUNK;

    (void)context;
    n = n < left ? n : left;
    n = n < CHUNK - at ? n : CHUNK - at;
    memcpy(buffer, source.records[k] + at, n);
    atomic_store(&source.given[device][k], given + n);
    return (int)n;
}

static int driver_flush(void *context, uint32_t device, uint32_t channel, uint32_t *pending)
{
    (void)context;
    (void)device;
    (void)channel;
    *pending = 0;
    return AP_HAL_OK;
}

static int driver_status(void *context, uint32_t device)
{
    (void)context;
    (void)device;
    return AP_HAL_OK;
}

static const ap__hal_ops driver = {
    .abi = AP_HAL_ABI,
    .name = "bench",
    .simulated = 1,
    .devices = driver_devices,
    .info = driver_info,
    .api_version = driver_version,
    .clock = driver_clock,
    .channels = driver_channels,
    .start = driver_start,
    .stop = driver_stop,
    .poll = driver_poll,
    .read = driver_read,
    .flush = driver_flush,
    .status = driver_status,
};

/* ---- one round ---- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static bool all_given(void)
{
    for (uint32_t d = 0; d < source.devices; d++) {
        if (!at_its_end(d, 0) || !at_its_end(d, 1)) {
            return false;
        }
    }
    return true;
}

/* MB a second; *per_cpu: of CPU time. */
static double one_round(const char *out, double *per_cpu)
{
    static const ap__settings settings;
    ap__host_meta meta = {.data_types = ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS,
                          .metrics = ACL_AICORE_PIPE_UTILIZATION,
                          .settings = &settings,
                          .result_dir = out,
                          .chip = 5,
                          .devices = "0",
                          .simulated = true};
    ap__collector_params params = {.meta = &meta};
    ap__collector_totals sum;
    ap__clock_point start;
    ap__prof_dir dir;
    ap__collector *c = NULL;
    uint32_t ids[AP_HAL_MAX_DEVICES];
    double begin = 0;
    double cpu = 0;
    double mb = 0;

    memset(source.given, 0, sizeof(source.given));
    memset(source.running, 0, sizeof(source.running));
    ap__clock_init();
    ap__clock_read(&start);
    check(ap__prof_dir_create(out, 1, &dir) == 0, "no directory can be made");
    check(ap__control_write_start(dir.host_fd, &meta, &start) == 0, "the disk is full");
    params.prof_fd = dir.prof_fd;
    params.ext_fd = dir.ext_fd;
    check(ap__collector_open(&driver, NULL, &params, &c) == 0, "no collector");
    for (uint32_t i = 0; i < source.devices; i++) {
        ids[i] = i;
    }
    begin = now(CLOCK_MONOTONIC);
    source.begin = begin;
    cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    check(ap__collector_add_devices(c, ids, source.devices) == AP_HAL_OK, "no device starts");
    while (!all_given()) {
        usleep(1000);
    }
    check(ap__collector_stop(c) == 0, "a call hangs");
    begin = now(CLOCK_MONOTONIC) - begin;
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    ap__collector_sum(c, &sum);
    mb = (double)sum.bytes / 1e6;
    check(sum.bytes + sum.lost_bytes == 2 * source.each * source.devices, "the account is wrong");
    printf("%.0f MB in %.3f s: %.0f MB/s, %.1f M records/s; %.0f MB per CPU second; %" PRIu64
           " bytes dropped\n",
           mb, begin, mb / begin, (double)sum.records / begin / 1e6, mb / cpu, sum.lost_bytes);
    fflush(stdout);
    ap__collector_free(c);
    ap__prof_dir_close(&dir);
    (void)nftw(out, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    *per_cpu = mb / cpu;
    return mb / begin;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static uint32_t number(uint32_t most)
{
    long n = strtol(optarg, NULL, 10);

    return n < 1 ? 1 : n > (long)most ? most : (uint32_t)n;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"mib", required_argument, NULL, 'm'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"devices", required_argument, NULL, 'd'},
                                          {"read-kib", required_argument, NULL, 'k'},
                                          {"mbps", required_argument, NULL, 'b'},
                                          {"out", required_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
    double rates[64];
    double per_cpu[64];
    uint32_t mib = 1024;
    uint32_t rounds = 3;
    uint32_t kib = 1024;
    uint32_t mbps = 0;
    char out[2048] = "/tmp/bench_reader.XXXXXX";
    int option = 0;

    source.devices = 1;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 'm':
            mib = number(1u << 20);
            break;
        case 'r':
            rounds = number(64);
            break;
        case 'd':
            source.devices = number(AP_HAL_MAX_DEVICES);
            break;
        case 'k':
            kib = number(1024);
            break;
        case 'b':
            mbps = number(1000000);
            break;
        case 'o':
            snprintf(out, sizeof(out), "%s/bench_reader.XXXXXX", optarg);
            break;
        default:
            return 2;
        }
    }
    source.read_bytes = kib << 10;
    source.channel_rate = mbps * 1e6 / source.devices / 2;
    source.each = ((uint64_t)mib << 20) / 2 / CHUNK * CHUNK;
    source.records[0] = records_of(64);
    source.records[1] = records_of(128);
    check(mkdtemp(out) != NULL, out);
    for (uint32_t i = 0; i < rounds; i++) {
        char dir[2100];

        snprintf(dir, sizeof(dir), "%s/%" PRIu32, out, i);
        check(ap__dirs_make_root(dir) == 0, dir);
        rates[i] = one_round(dir, &per_cpu[i]);
    }
    (void)rmdir(out);
    qsort(rates, rounds, sizeof(rates[0]), by_value);
    qsort(per_cpu, rounds, sizeof(per_cpu[0]), by_value);
    printf("%" PRIu32 " devices, reads of %" PRIu32 " KiB: %.0f MB/s, %.0f MB per CPU second "
           "(medians of %" PRIu32 ")\n",
           source.devices, kib, rates[rounds / 2], per_cpu[rounds / 2], rounds);
    return 0;
}
