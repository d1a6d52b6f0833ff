/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured from time to time, decoded: the source of counters in the timeline, and of
 * tables. Each function calls `take` with every sample of a device (index in the model) or of the
 * host, in the order of the file; one that returns nonzero ends it. That, 0 or ENOMEM.
 */
#ifndef AP_TOOL_SAMPLES_H_
#define AP_TOOL_SAMPLES_H_

#include "analysis/model.h"

#define AP_SAMPLE_VALUES 22u

typedef struct ap__sample {
    uint64_t ns;       /* wall clock */
    uint64_t end_ns;   /* of what lasts */
    uint32_t device;   /* index in the model; AP_HOST */
    uint32_t id;       /* of a port, link, die, core or thread */
    uint32_t kind;     /* which of several things it is */
    const char *name;  /* of a call; valid in `take` */
    double values[AP_SAMPLE_VALUES];
} ap__sample;

typedef int (*ap__sample_take)(void *context, const ap__sample *sample);

/* ---- devices ---- */

/* id: the memory's; kind: 0 read, 1 written; bytes a second since the sample before */
int ap__samples_hbm(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* least, most, average of 7 rates (sent: posted, nonposted, completion, latency; received: three),
 * in 10^6 bytes a second, latency in ns */
int ap__samples_pcie(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* sent, received: MB a second since the sample before, three decimals */
int ap__samples_hccs(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* id: port. bandwidth (MB/s); received packets/s, bytes/s, packets, bytes, errors, dropped; the
 * same six sent. */
int ap__samples_nic(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
int ap__samples_roce(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* kind: 0 of the application, 1 of the device; bytes of DDR and HBM */
int ap__samples_npu_mem(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* id: accelerator. bandwidth written, read; outstanding written, read */
int ap__samples_acc(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* levels of the L2 buffer's and the MATA's bandwidth */
int ap__samples_soc_levels(const ap__model *m, uint32_t device, ap__sample_take take,
                           void *context);
/* id: link or die; kind: 0 between chips (received, sent), 1 PCIe (written, read) */
int ap__samples_chip_links(const ap__model *m, uint32_t device, ap__sample_take take,
                           void *context);
/* id: die. Bytes a second since the sample before: request, response, snoop, data received; sent */
int ap__samples_sio(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* id: die. MHz, on chips that sample it (950) */
int ap__samples_die_mhz(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* ten values in MB/s; their names are in the device view */
int ap__samples_qos(const ap__model *m, uint32_t device, ap__sample_take take, void *context);
/* id: port; received, sent, MB/s */
int ap__samples_ub(const ap__model *m, uint32_t device, ap__sample_take take, void *context);

/* ---- host ---- */

/* id: core; percent in the time up to the next sample. UINT32_MAX: of all cores of the machine */
int ap__samples_host_cpu(const ap__model *m, ap__sample_take take, void *context);
/* percent of the machine's memory */
int ap__samples_host_memory(const ap__model *m, ap__sample_take take, void *context);
/* percent of what the cards can carry; bytes a second */
int ap__samples_host_network(const ap__model *m, ap__sample_take take, void *context);
/* percent; KB a second read, written */
int ap__samples_host_disk(const ap__model *m, ap__sample_take take, void *context);
/* kind: pid, id: thread; a call of the operating system's */
int ap__samples_os_calls(const ap__model *m, ap__sample_take take, void *context);

#endif
