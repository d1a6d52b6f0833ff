/* SPDX-License-Identifier: Apache-2.0 */
/* What the process takes of the host, at its peak and with a quarter to spare: host_mem_usage,
 * host_network_usage, host_disk_usage. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/csv.h"
#include "tool/raw_files.h"

#define AP_SPARE 1.25
#define AP_PAGE_KB 4u /* as the vendor's parser takes it */

/* ---- memory ---- */

static int ap__take_pages(void *context, uint32_t device, char *line)
{
    uint64_t *peak = context;
    uint64_t resident = 0;

    (void)device;
    if (sscanf(line, "%*u %*u %" SCNu64, &resident) == 1 && resident > *peak) {
        *peak = resident;
    }
    return 0;
}

int ap__csv_host_mem_usage(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "host_mem_usage",
                               "Device_id,Total Memory(KB),Peak Used Memory(KB),Recommend "
                               "Memory(KB)",
                               0);
    uint64_t peak = 0;
    uint64_t total = ap__reader_meta(m->reader)->memory_kb;
    int rc = ap__each_line(m, AP_HOST, "host_mem.data", ap__take_pages, &peak);

    if (c != NULL && rc == 0 && peak != 0 && total != 0) {
        /* the parser keeps the percentage with six decimals */
        double share = 100.0 * (double)(peak * AP_PAGE_KB) / (double)total;
        double used = floor(share * 1e6 + 0.5) / 1e6 * (double)total / 100.0;

        ap__csv_row(c);
        ap__csv_raw(c, "host");
        ap__csv_u64(c, total);
        ap__csv_round(c, used);
        ap__csv_round(c, used * AP_SPARE);
    }
    return ap__csv_finish(c, rc);
}

/* ---- network ---- */

typedef struct ap__network {
    uint64_t ns;
    uint64_t bytes;
    uint64_t last_ns; /* of the sample before */
    uint64_t last_bytes;
    double peak; /* KB/s */
} ap__network;

static void ap__end_sample(ap__network *n)
{
    if (n->last_ns != 0 && n->ns > n->last_ns && n->bytes > n->last_bytes) {
        double rate =
            (double)(n->bytes - n->last_bytes) * 1e9 / (double)(n->ns - n->last_ns) / 1024.0;

        n->peak = rate > n->peak ? rate : n->peak;
    }
    n->last_ns = n->ns;
    n->last_bytes = n->bytes;
    n->bytes = 0;
}

static int ap__take_network(void *context, uint32_t device, char *line)
{
    ap__network *n = context;
    const char *colon = strchr(line, ':');
    uint64_t ns = 0;
    uint64_t in = 0;
    uint64_t out = 0;

    (void)device;
    if (sscanf(line, "time %" SCNu64, &ns) == 1) {
        ap__end_sample(n);
        n->ns = ns;
    } else if (colon != NULL &&
               sscanf(colon + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &in, &out) ==
                   2) {
        n->bytes += in + out;
    }
    return 0;
}

int ap__csv_host_network_usage(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "host_network_usage",
                               "Device_id,Netcard Speed(KB/s),Peak Used Speed(KB/s),Recommend "
                               "Speed(KB/s)",
                               0);
    ap__network n = {.ns = 0};
    int rc = ap__each_line(m, AP_HOST, "host_network.data", ap__take_network, &n);

    ap__end_sample(&n);
    if (c != NULL && rc == 0 && n.last_ns != 0) {
        ap__csv_row(c);
        ap__csv_raw(c, "host");
        ap__csv_round(c, (double)ap__reader_meta(m->reader)->net_mbit * 1e6 / 8.0 / 1024.0);
        ap__csv_six(c, n.peak);
        ap__csv_six(c, n.peak * AP_SPARE);
    }
    return ap__csv_finish(c, rc);
}

/* ---- disk ---- */

typedef struct ap__disk {
    uint64_t samples;
    double peak[2]; /* read, written */
} ap__disk;

static int ap__take_disk(void *context, uint32_t device, char *line)
{
    ap__disk *d = context;
    double rates[2] = {0, 0};

    (void)device;
    if (sscanf(line, "%*u:%*u:%*u %*u %*s %*s %lf K/s %lf K/s", &rates[0], &rates[1]) == 2) {
        for (int i = 0; i < 2; i++) {
            d->peak[i] = rates[i] > d->peak[i] ? rates[i] : d->peak[i];
        }
        d->samples++;
    }
    return 0;
}

int ap__csv_host_disk_usage(ap__export *e, const ap__model *m)
{
    ap__csv *c = ap__csv_begin(e, "host_disk_usage",
                               "Device_id,Peak Disk Read(KB/s),Recommend Disk Read(KB/s),Peak Disk "
                               "Write(KB/s),Recommend Disk Write(KB/s)",
                               0);
    ap__disk d = {.samples = 0};
    int rc = ap__each_line(m, AP_HOST, "host_disk.data", ap__take_disk, &d);

    if (c != NULL && rc == 0 && d.samples != 0) {
        ap__csv_row(c);
        ap__csv_raw(c, "host");
        for (int i = 0; i < 2; i++) {
            ap__csv_round(c, d.peak[i]);
            ap__csv_round(c, d.peak[i] * AP_SPARE);
        }
    }
    return ap__csv_finish(c, rc);
}
