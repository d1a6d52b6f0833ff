/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults: "name:key=value:key=value", joined by ';'. Keys that narrow a fault: dev, chan, p
 * (probability), at (only from the n-th occasion on, first 1), n (at most so many times),
 * from_ms and for_ms (time since opening). v and ms mean what the list says; ms=-1 is for ever.
 *
 *  short_read      a read gives 1..size bytes
 *  empty_read      a read gives 0 though there are data
 *  read_error      a read gives v (-1)
 *  early_stop      a read gives -4 while the channel runs
 *  poll_error      a poll gives v (-1)
 *  poll_storm      a poll gives 0 at once
 *  stale_poll      a poll also names a channel that is not started (chan, default 51)
 *  hang            poll never names the channel, its data are there
 *  start_rc        start gives v: 30, -10, -11, 115, …
 *  start_slow      start takes ms
 *  flush_rc        flush gives v (0xfffe)
 *  flush_len       the length that flush tells is off by v
 *  stop_slow       stop takes ms more
 *  stop_rc         stop gives v (0x916) after it has stopped
 *  list_miss       channels leaves out chan
 *  info_rc         an info call gives v (0xfffe); chan is the info number then
 *  torn            a record loses its last v bytes (1..), as at a ring's end
 *  cnt_gap         v (1) numbers are left out before a record
 *  bad_magic  bad_func  duplicate     of one record
 *  clock_step      the device counter jumps by v cycles, once, at from_ms
 *  lost            from from_ms on every call fails with 16 after 10 s / speed, state is 4
 */
#ifndef AP_SIM_FAULT_H_
#define AP_SIM_FAULT_H_

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ap__sim_fault_kind {
    AP_FAULT_SHORT_READ,
    AP_FAULT_EMPTY_READ,
    AP_FAULT_READ_ERROR,
    AP_FAULT_EARLY_STOP,
    AP_FAULT_POLL_ERROR,
    AP_FAULT_POLL_STORM,
    AP_FAULT_STALE_POLL,
    AP_FAULT_HANG,
    AP_FAULT_START_RC,
    AP_FAULT_START_SLOW,
    AP_FAULT_FLUSH_RC,
    AP_FAULT_FLUSH_LEN,
    AP_FAULT_STOP_SLOW,
    AP_FAULT_STOP_RC,
    AP_FAULT_LIST_MISS,
    AP_FAULT_INFO_RC,
    AP_FAULT_TORN,
    AP_FAULT_CNT_GAP,
    AP_FAULT_BAD_MAGIC,
    AP_FAULT_BAD_FUNC,
    AP_FAULT_DUPLICATE,
    AP_FAULT_CLOCK_STEP,
    AP_FAULT_LOST,
    AP_FAULT_KINDS
} ap__sim_fault_kind;

#define AP_SIM_FAULTS_MAX 32u
#define AP_FAULT_ANY UINT32_MAX

typedef struct ap__sim_fault {
    uint8_t kind;
    bool for_ever;   /* ms=-1 */
    uint32_t device; /* or AP_FAULT_ANY */
    uint32_t channel;
    double p;
    uint64_t at;
    uint64_t n;
    uint64_t from_ns;
    uint64_t until_ns;
    int64_t v;
    uint64_t ms;
    uint64_t seen;
    uint64_t fired;
} ap__sim_fault;

typedef struct ap__sim_faults {
    pthread_mutex_t lock;
    uint32_t kinds; /* bits; constant after opening */
    uint32_t count;
    uint64_t random;
    ap__sim_fault fault[AP_SIM_FAULTS_MAX];
} ap__sim_faults;

/* 0, or -1 with one sentence. The lock must be made by the caller. */
int ap__sim_faults_parse(ap__sim_faults *faults, const char *text, char *error, size_t size);

/* One occasion: whether a fault of the kind happens; *hit is a copy of it. age_ns is counted from
 * the opening. */
bool ap__sim_fault_happens(ap__sim_faults *faults, ap__sim_fault_kind kind, uint32_t device,
                           uint32_t channel, uint64_t age_ns, ap__sim_fault *hit);

/* Faults that are states and not occasions (clock steps, a lost device): walks them. */
static inline bool ap__sim_fault_listed(const ap__sim_faults *faults, ap__sim_fault_kind kind)
{
    return (faults->kinds >> kind & 1) != 0;
}

#endif
