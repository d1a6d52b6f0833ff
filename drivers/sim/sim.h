/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated NPUs, at the level of the vendor's driver: the result codes are the vendor's numbers
 * (drivers/ascend/vendor_abi.h), hal_sim.c and vendor_abi.c put the two interfaces on top.
 *
 * Options are "key=value,key=value…"; "" means the environment's ACLPROF_SIM. An unknown key or a
 * bad value is an error. A scenario file may set any of them too (drivers/sim/scenario.h).
 *
 *  chip=910B          910B, 910_93, 910, 310P, 310, 310B, 950, or the collector's chip number
 *  devices=1          1..64
 *  aic= aiv=          numbers of cores; the chip's when not given
 *  mhz=               AI core frequency; the chip's when not given
 *  api=0x07241a       driver interface version
 *  seed=1             of everything random
 *  mode=driver        what happens in a full ring: driver (overwritten), drop (whole records are
 *                     lost and still counted), block (nothing is lost)
 *  speed=1            long waits (slow answers, a lost device) are so many times shorter
 *  step=0             1: no thread, time is virtual and moves by ap__sim_step
 *  ppm=5              the device counter's rate error; nsppm= that of its nanoseconds
 *  latency_us=20-200  of reading a device clock
 *  wrap=0             ms after opening at which the counter's low 32 bits wrap; 0: no matter
 *  batch_kib=64 batch_ms=20   when the device hands records over
 *  tick_ms=2          of the generator thread
 *  strict=1           refuse configurations of a size or content that the specification lacks
 *  late=3             channel 143 is offered from the n-th call of channels on; 0: never
 *  disorder=1         records of channel 50 change places by at most so many (0..3)
 *  packing=0          1, 2, 3: ids in the packed forms (bit 12, bit 13, expanded)
 *  throttle_ms=0      after so long the cores run at 3/4 of their frequency for as long, and so on
 *  pattern=none       drivers/sim/pattern.h; delay_ms=20 before it begins, streams=, tasks= (per
 *                     stream), rate= (tasks per second and stream), dur_us=, gap_us=, blocks=
 *  scenario=FILE      scripted tasks, clock steps and faults
 *  truth=FILE         one line per task that ended; "%p" in it is the process id
 *  fault=SPEC         drivers/sim/fault.h; several are joined by ';'
 */
#ifndef AP_SIM_SIM_H_
#define AP_SIM_SIM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/hal.h"

typedef struct ap__sim ap__sim;

/* ap__hal_rc; on failure one sentence in error. */
int ap__sim_create(ap__sim **out, const char *options, char *error, size_t size);
/* No call may be in progress, but those hung by a fault are let go. */
void ap__sim_destroy(ap__sim *sim);

/* The process's simulator, which programs' work and a driver's open with options "" share: made
 * from the environment on first use. Each acquire wants a release. NULL with a reason when
 * it cannot be made. */
ap__sim *ap__sim_acquire(int *rc, char *error, size_t size);
/* False, and nothing done, when it is not the shared one. */
bool ap__sim_release(ap__sim *sim);

/* As ap__hal_sim.open, with one sentence on failure. With "" the shared simulator, and so the
 * work that the program gives by sim_runtime.h. Contexts of ap__hal_sim are ap__sim. */
int ap__sim_open(void **context, const char *options, char *error, size_t size);

/* ---- the driver's calls; vendor numbers ---- */
uint32_t ap__sim_devices(const ap__sim *sim);
int ap__sim_api_version(const ap__sim *sim);
int ap__sim_info(ap__sim *sim, uint32_t device, int32_t module, int32_t info, int64_t *value);
int ap__sim_channels(ap__sim *sim, uint32_t device, ap__hal_channels *out);
int ap__sim_start(ap__sim *sim, uint32_t device, uint32_t channel, const ap__hal_start *start);
int ap__sim_stop(ap__sim *sim, uint32_t device, uint32_t channel);
int ap__sim_read(ap__sim *sim, uint32_t device, uint32_t channel, void *buffer, uint32_t bytes);
int ap__sim_poll(ap__sim *sim, ap__hal_event *events, int capacity, int seconds);
int ap__sim_flush(ap__sim *sim, uint32_t device, uint32_t channel, uint32_t *pending);
/* The vendor's state of a device: 0, or 4 when it is lost. */
int ap__sim_state(ap__sim *sim, uint32_t device);

/* ---- for tests ---- */
/* What a device reports, straight into the ring of a channel: 0, 58, or -4. */
int ap__sim_report(ap__sim *sim, uint32_t device, uint32_t channel, const void *data, size_t bytes);
/* Moves virtual time on and generates what falls into it. */
void ap__sim_step(ap__sim *sim, uint64_t ns);
/* Host CLOCK_MONOTONIC_RAW, or the virtual time. */
uint64_t ap__sim_now(ap__sim *sim);
/* The device counter at a time of the host's, exact. */
uint64_t ap__sim_cycles_at(ap__sim *sim, uint32_t device, uint64_t ns);
/* Why a start was refused, of the last such on the device. */
const char *ap__sim_config_error(ap__sim *sim, uint32_t device);

typedef struct ap__sim_counts {
    uint64_t tasks;   /* ended and recorded */
    uint64_t records; /* put into the channel, those of the device's that were dropped included */
    uint64_t dropped; /* whole records lost by mode=drop */
    uint64_t overrun; /* bytes in the ring that no read gives any more, with mode=driver */
    uint64_t bytes;   /* handed to the ring */
} ap__sim_counts;
void ap__sim_count(ap__sim *sim, uint32_t device, uint32_t channel, ap__sim_counts *out);

#endif
