/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a collector. Locks nest in the order collector, reader, sink. */
#ifndef AP_COLLECTOR_COLLECTOR_INTERNAL_H_
#define AP_COLLECTOR_COLLECTOR_INTERNAL_H_

#include <pthread.h>
#include <stdatomic.h>

#include "clock/cycles.h"
#include "collector/channels.h"
#include "collector/collector.h"
#include "collector/record_check.h"
#include "writer/ageing.h"
#include "writer/device_files.h"
#include "writer/slice.h"

#define AP_READ_BYTES (1024u * 1024u)
#define AP_TURN_BYTES (8u * 1024u * 1024u) /* then another channel has its turn */
#define AP_TAIL_MAX 4096u
#define AP_NAMES_MARK "###drv_hashdata###"
#define AP_NAMES_MAX (16u << 20)
#define AP_READERS_MAX 2u
#define AP_POINTS_MAX 2048u
#define AP_STOP_WORKERS 32u
#define AP_NO_CHANNEL 0xFFu
#define AP_MAX_STREAMS AP_HAL_MAX_CHANNELS

typedef struct ap__device ap__device;

typedef struct ap__channel {
    ap__channel_plan plan;
    uint16_t stream;
    uint8_t reader;
    _Atomic int state; /* ap__channel_state */
    int start_rc;      /* under the collector's lock, as the next */
    int stop_rc;
    bool said;         /* its failure has been reported */
    /* the reader's */
    ap__record_check check;
    uint8_t tail[AP_TAIL_MAX];
    bool in_names; /* records are over */
    char *names;
    size_t names_room;
    /* under the reader's lock */
    uint32_t tail_bytes;
    uint64_t read_bytes;
    uint64_t empty_reads;
    uint64_t flush_until; /* read_bytes at which a flush has come through */
    uint64_t dropped_bytes;
    uint64_t dropped_records;
    uint64_t near_full;
    uint64_t read_errors;
    uint64_t unannounced;
    uint64_t names_bytes;
    size_t names_used; /* of names */
    ap__record_check seen; /* copy of check's counters */
    /* under the sink's lock */
    uint64_t stored_bytes;
    uint64_t lost_disk_bytes;
} ap__channel;

typedef struct ap__reader {
    ap__device *device;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint64_t pending[3]; /* channels by index in the device */
    bool quit;
    bool begun;
    bool gone;         /* under the collector's lock */
    uint32_t sweep_ms;
    uint8_t *scratch;  /* AP_TAIL_MAX + AP_READ_BYTES */
} ap__reader;

typedef enum ap__job_kind { AP_JOB_FLUSH, AP_JOB_STOP, AP_JOB_CLOCK } ap__job_kind;

/* Driver calls of one phase of a stop, spread over threads that may be left behind. */
typedef struct ap__jobs {
    ap__device *device;
    ap__job_kind kind;
    uint32_t count;
    uint32_t next;
    uint32_t done;
    uint8_t list[AP_HAL_MAX_CHANNELS];
} ap__jobs;

typedef enum ap__phase {
    AP_PHASE_NONE, /* runs */
    AP_PHASE_KEEPER,
    AP_PHASE_FLUSH,
    AP_PHASE_FLUSHED,
    AP_PHASE_STOP_OTHER,
    AP_PHASE_STOP_COUNTERS,
    AP_PHASE_STOP_TASK,
    AP_PHASE_STOP_TRACK,
    AP_PHASE_CLOCK,
    AP_PHASE_LINGER,
    AP_PHASE_READERS,
    AP_PHASE_FILES,
    AP_PHASE_END,
    AP_PHASES
} ap__phase;

struct ap__device {
    ap__collector *c;
    uint32_t id;
    const ap__device *before; /* it has been here and left: goes on in those files; NULL: it is new */
    /* under the collector's lock */
    bool ready;   /* everything from `channels` on may be read */
    bool started; /* the start sequence is over */
    bool poked;   /* try refused channels again */
    bool quit;
    bool writing; /* the directory is being made */
    bool keeper_gone;
    bool files_done;
    int start_rc;
    uint32_t busy; /* driver calls of ours under way */
    uint64_t answered_ms; /* when the last that matters to a start or stop has come back */
    ap__phase phase;
    uint64_t phase_until;
    uint64_t linger_until; /* the same without the end of all patience */
    ap__jobs jobs[AP_PHASES];
    ap__device_point points[AP_POINTS_MAX];
    uint32_t point_count;
    uint32_t point_stride; /* of the ticks one is kept */
    uint32_t point_skip;
    _Atomic bool lost;
    _Atomic bool stopping; /* readers look at all channels all the time */
    ap__device_meta info;
    ap__device_dir dir;
    int clock_fd; /* host/.aclprof/device_clock.<n> */
    ap__channel *channels;
    uint32_t channel_count;
    uint8_t index_of[AP_HAL_MAX_CHANNELS]; /* in channels, or AP_NO_CHANNEL */
    ap__reader readers[AP_READERS_MAX];
    uint32_t reader_count;
    /* the sink's */
    ap__stream streams[AP_MAX_STREAMS];
    uint32_t stream_count;
    ap__ageing ageing;
    ap__aged aged;
    uint64_t since_ageing;
    /* under the sink's lock */
    int disk_errno;
    bool shut; /* takes no more blocks */
};

typedef struct ap__block {
    struct ap__block *next;
    ap__device *device;
    ap__channel *channel; /* NULL: finish the device's files */
    size_t bytes;
    uint8_t data[];
} ap__block;

typedef struct ap__sink {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_cond_t room;
    ap__block *first;
    ap__block **last;
    size_t bytes;
    size_t limit;
    bool begun;
    bool quit;
    bool full_said; /* that a write has failed */
    bool gone; /* under the collector's lock */
} ap__sink;

struct ap__collector {
    const ap__hal_ops *ops;
    void *driver;
    int prof_fd;
    int ext_fd;
    ap__host_meta meta;
    ap__settings settings;
    char *result_dir;
    ap__collector_limits limits;
    uint32_t api_version;
    void (*on_names)(void *context, uint32_t device, const char *text, size_t bytes);
    void *on_names_context;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t threads; /* alive */
    uint32_t running; /* channels started and not stopped: what there is to poll for */
    bool owner_gone;
    bool stopped;
    bool reserve_said;
    bool poller_begun;
    bool poller_quit;
    uint64_t poller_quit_ms; /* when it was told */
    bool poller_gone;
    uint32_t device_count;
    ap__device *devices[AP_HAL_MAX_DEVICES];
    _Atomic uint8_t slot_of[AP_HAL_MAX_DEVICES]; /* by device id: index in devices + 1 */
    ap__sink sink;
};

/* thread.c: own threads (base/own_thread.h), detached, counted in c->threads */
typedef void (*ap__thread_fn)(void *arg);
int ap__thread_start(ap__collector *c, const char *name, ap__thread_fn fn, void *arg);
void ap__collector_release(ap__collector *c); /* when the last thread and the owner are gone */
void ap__cond_init(pthread_cond_t *cond);
/* Waits at most until `until` of ap__now_ms. */
void ap__cond_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until);

/* sink.c */
int ap__sink_begin(ap__collector *c);
/* Copies whole records; false: no room, nothing taken. */
bool ap__sink_push(ap__collector *c, ap__device *d, ap__channel *ch, const void *data,
                   size_t bytes);
bool ap__sink_finish_device(ap__collector *c, ap__device *d);
void ap__sink_end(ap__collector *c); /* writes what is queued; waits */

/* reader.c */
int ap__reader_begin(ap__device *d, uint32_t index);
void ap__reader_notice(ap__reader *r, uint32_t channel_index);
void ap__reader_quit(ap__reader *r);
void ap__reader_wake(ap__reader *r);

/* poller.c */
int ap__poller_begin(ap__collector *c);
void ap__poller_child(void);

/* device.c */
ap__device *ap__device_new(ap__collector *c, uint32_t id);
int ap__device_begin(ap__device *d);
void ap__device_free(ap__device *d);
void ap__device_add_point(ap__device *d, const ap__device_point *point, bool keep);

/* stop.c: of the devices whose bit is set, by index */
void ap__stop_devices(ap__collector *c, uint64_t which, bool for_good);

/* reserve.c: space for the end, given back right before it is needed */
void ap__reserve_device(ap__device *d);
void ap__reserve_release_device(ap__device *d);
void ap__reserve_release_report(ap__collector *c);

/* report.c */
void ap__report_write(ap__collector *c);
void ap__report_say(ap__collector *c);

#endif
