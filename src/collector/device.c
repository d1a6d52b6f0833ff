/* SPDX-License-Identifier: Apache-2.0 */
/* One device: its start sequence, then once a second its clock, its health and late channels. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/collector_internal.h"
#include "collector/platform.h"
#include "session/errtext.h"
#include "writer/file_io.h"

#define AP_TICK_ROUNDS 3u
#define AP_STREAM_LINE (AP_STREAM_NAME_MAX + 16u)

/* ---- facts ---- */

static int64_t ap__info_or(ap__device *d, ap__hal_info what, int64_t otherwise)
{
    int64_t value = 0;

    return d->c->ops->info(d->c->driver, d->id, what, &value) == AP_HAL_OK ? value : otherwise;
}

/* What info.json says; the platform's values where the driver has none. */
static int ap__read_info(ap__device *d)
{
    ap__device_meta *m = &d->info;
    ap__platform p;
    int64_t chip = 0;
    int rc = d->c->ops->info(d->c->driver, d->id, AP_HAL_CHIP, &chip);

    if (rc != AP_HAL_OK) {
        return rc;
    }
    p = ap__platform_of((uint32_t)chip);
    m->device = d->id;
    m->chip = (uint32_t)chip;
    m->simulated = d->c->ops->simulated != 0;
    m->env = ap__info_or(d, AP_HAL_ENV, 3); /* a real chip */
    m->ctrl_cpu_num = ap__info_or(d, AP_HAL_CTRL_CPU_NUM, 1);
    m->ctrl_cpu_id = ap__info_or(d, AP_HAL_CTRL_CPU_ID, 0);
    m->ctrl_cpu_endian_little = ap__info_or(d, AP_HAL_CTRL_CPU_ENDIAN, 1);
    m->ts_cpu_num = ap__info_or(d, AP_HAL_TS_CPU_NUM, 1);
    m->aicpu_num = ap__info_or(d, AP_HAL_AICPU_NUM, 0);
    m->aicpu_id = ap__info_or(d, AP_HAL_AICPU_ID, 0);
    m->aicpu_occupy = ap__info_or(d, AP_HAL_AICPU_OCCUPY, 0);
    m->aic_num = ap__info_or(d, AP_HAL_AIC_NUM, p.aic_num);
    m->aic_id = ap__info_or(d, AP_HAL_AIC_ID, 0);
    m->aic_mhz = ap__info_or(d, AP_HAL_AIC_MHZ, p.aic_mhz);
    m->aiv_num = ap__info_or(d, AP_HAL_AIV_NUM, p.aiv_num);
    m->aiv_mhz = ap__info_or(d, AP_HAL_AIV_MHZ, m->aic_mhz);
    if (m->chip == 1 || m->chip == 4) {
        m->aiv_num = 0; /* as the vendor reports it */
    }
    m->counter_khz = p.counter_khz;
    if (!p.counter_fixed) {
        int64_t khz = ap__info_or(d, AP_HAL_DEVICE_KHZ, 0);

        m->counter_khz = khz > 0 ? (uint64_t)khz : p.counter_khz;
    }
    m->aic_mhz = m->aic_mhz > 0 ? m->aic_mhz : (int64_t)p.aic_mhz;
    m->aiv_mhz = m->aiv_mhz > 0 ? m->aiv_mhz : m->aic_mhz;
    return AP_HAL_OK;
}

/* ---- clock ---- */

static void ap__keep_point(ap__device *d, const ap__device_point *point)
{
    d->point_skip = 0;
    if (d->point_count == AP_POINTS_MAX) { /* every other one makes room */
        for (uint32_t i = 1; i < AP_POINTS_MAX / 2; i++) {
            d->points[i] = d->points[2 * i];
        }
        d->point_count = AP_POINTS_MAX / 2;
        d->point_stride *= 2;
    }
    d->points[d->point_count++] = *point;
}

void ap__device_add_point(ap__device *d, const ap__device_point *point, bool keep)
{
    char line[160];
    bool write_it = false;
    int n = snprintf(line, sizeof(line),
                     "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                     point->host_ns, point->host_cycles, point->device_ns, point->device_cycles,
                     point->error_ns);

    pthread_mutex_lock(&d->c->lock);
    if (keep || ++d->point_skip >= d->point_stride) {
        ap__keep_point(d, point);
    }
    write_it = d->clock_fd >= 0 && !d->c->stopped;
    pthread_mutex_unlock(&d->c->lock);
    if (write_it) {
        (void)!write(d->clock_fd, line, (size_t)n); /* for a reader after a crash */
    }
}

/* ---- start sequence ---- */

static bool ap__quit_asked(ap__device *d)
{
    bool quit = false;

    pthread_mutex_lock(&d->c->lock);
    quit = d->quit;
    pthread_mutex_unlock(&d->c->lock);
    return quit;
}

static int ap__make_plan(ap__device *d, const ap__hal_channels *offered)
{
    ap__collector *c = d->c;
    ap__channel_request request = {
        .chip = d->info.chip,
        .api_version = c->api_version,
        .data_types = c->meta.data_types,
        .metrics = c->meta.metrics,
        .settings = &c->settings,
        .host_counter = c->meta.host_mhz_x1000000 != 0,
    };
    ap__channel_plan *plan = calloc(AP_HAL_MAX_CHANNELS, sizeof(*plan));
    bool task = false;
    bool counters = false;
    int rc = ENOMEM;

    if (plan == NULL) {
        return rc;
    }
    d->channel_count = (uint32_t)ap__channel_plan_make(&request, offered, plan);
    d->channels = calloc(d->channel_count != 0 ? d->channel_count : 1, sizeof(*d->channels));
    if (d->channels == NULL) {
        goto out;
    }
    for (uint32_t i = 0; i < d->channel_count; i++) {
        task = task || plan[i].order == AP_ORDER_TASK;
        counters = counters || plan[i].order == AP_ORDER_COUNTERS;
    }
    d->reader_count = task && counters ? 2 : 1;
    for (uint32_t i = 0; i < d->channel_count; i++) {
        ap__channel *ch = &d->channels[i];

        ch->plan = plan[i];
        ch->reader = d->reader_count == 2 && ch->plan.order != AP_ORDER_TASK;
        d->index_of[ch->plan.channel] = (uint8_t)i;
        ap__record_check_init(&ch->check, (ap__record_kind)ch->plan.check, ch->plan.record_bytes);
        ch->seen = ch->check;
    }
    if (c->settings.mem_serviceflow[0] != '\0' && d->index_of[133] == AP_NO_CHANNEL &&
        ap__hal_has(offered, 133)) {
        ap__log(AP_LOG_WARN,
                "device %" PRIu32 ": no memory service flow is recorded: only numbers can be given "
                "as names of ACL_PROF_SYS_MEM_SERVICEFLOW, and ACL_PROF_SYS_HARDWARE_MEM_FREQ must "
                "be set",
                d->id);
    }
    rc = 0;
out:
    free(plan);
    return rc;
}

/* The slices of an earlier time in the same directory keep their numbers. */
static void ap__go_on_after(const ap__device *before, ap__stream *s)
{
    for (uint32_t i = 0; before != NULL && i < before->stream_count; i++) {
        if (strcmp(before->streams[i].name, s->name) == 0) {
            s->slice = before->streams[i].slice;
            s->owed_from = s->slice;
        }
    }
}

/* A stream per file: channels of one file share it. */
static void ap__make_streams(ap__device *d)
{
    char name[64];

    ap__ageing_init(&d->ageing, d->dir.data_fd,
                    ap__ageing_share(d->c->settings.storage_limit_mb), AP_AGEING_RESERVE);
    for (uint32_t i = 0; i < d->channel_count; i++) {
        ap__channel *ch = &d->channels[i];
        uint32_t k = 0;

        while (k < i && strcmp(d->channels[k].plan.file, ch->plan.file) != 0) {
            k++;
        }
        if (k < i) {
            ch->stream = d->channels[k].stream;
            continue;
        }
        (void)snprintf(name, sizeof(name), "%s.%" PRIu32, ch->plan.file, d->id);
        ch->stream = (uint16_t)d->stream_count;
        ap__stream_init(&d->streams[d->stream_count], d->dir.data_fd, name,
                        ch->plan.record_bytes);
        /* there are more instruction channels than can be aged: those beyond stay */
        (void)ap__ageing_watch(&d->ageing, &d->streams[d->stream_count]);
        ap__go_on_after(d->before, &d->streams[d->stream_count]);
        d->stream_count++;
    }
}

/* For a recovery, which without it goes by the vendor's usual sizes: no reason not to capture. */
static void ap__note_record_sizes(const ap__device *d)
{
    char *text = malloc(d->stream_count * (size_t)AP_STREAM_LINE + 1);
    char name[48];
    size_t used = 0;

    if (text == NULL) {
        return;
    }
    for (uint32_t i = 0; i < d->stream_count; i++) {
        used += (size_t)snprintf(text + used, AP_STREAM_LINE, "%s %" PRIu32 "\n",
                                 d->streams[i].name, d->streams[i].record_bytes);
    }
    (void)snprintf(name, sizeof(name), AP_DEVICE_FILES_NAME ".%" PRIu32, d->id);
    (void)unlinkat(d->c->ext_fd, name, 0); /* of an earlier time of the device */
    (void)ap__file_put(d->c->ext_fd, name, text, used);
    free(text);
}

static int ap__make_files(ap__device *d, const ap__device_point *point)
{
    ap__collector *c = d->c;
    ap__clock_point start;
    ap__device_start clocks = {
        .host_ns = point->host_ns,
        .host_count = c->meta.host_mhz_x1000000 != 0 ? point->host_cycles : point->host_ns,
        .device_ns = point->device_ns,
        .device_cycles = point->device_cycles,
    };
    char name[48];
    int err = 0;

    pthread_mutex_lock(&c->lock);
    if (d->quit || c->stopped) {
        pthread_mutex_unlock(&c->lock);
        return ECANCELED;
    }
    d->writing = true;
    pthread_mutex_unlock(&c->lock);

    ap__clock_read(&start);
    err = d->before != NULL ? ap__device_dir_reopen(c->prof_fd, d->id, &d->dir)
                            : ap__device_dir_create(c->prof_fd, c->ext_fd, &c->meta, &d->info,
                                                    &start, &clocks, &d->dir);
    if (err == 0) {
        ap__make_streams(d);
        ap__note_record_sizes(d);
        ap__reserve_device(d);
        (void)snprintf(name, sizeof(name), "device_clock.%" PRIu32, d->id);
        d->clock_fd = d->before != NULL
                          ? openat(c->ext_fd, name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
                          : ap__file_create(c->ext_fd, name);
    }
    pthread_mutex_lock(&c->lock);
    d->writing = false;
    d->ready = err == 0;
    pthread_mutex_lock(&c->sink.lock);
    d->disk_errno = err;
    pthread_mutex_unlock(&c->sink.lock);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return err;
}

static void ap__say_failed(ap__device *d, ap__channel *ch, int rc)
{
    const char *hint = "";

    if (ch->said || rc == AP_HAL_OK) {
        return;
    }
    ch->said = true;
    if (rc == AP_HAL_BUSY) {
        hint = "; another profiler in this process has it (mspti or msprof loaded?)";
    } else if (rc == AP_HAL_TAKEN) {
        hint = "; another process profiles this device";
    } else if (rc == AP_HAL_NO_CONTEXT) {
        hint = "; it begins when the program has set the device";
    }
    ap__log(AP_LOG_WARN, "device %" PRIu32 ": channel %u (%s) does not start: %s%s", d->id,
            (unsigned)ch->plan.channel, ch->plan.file, ap__hal_rc_text(rc), hint);
}

static void ap__answered(ap__device *d)
{
    pthread_mutex_lock(&d->c->lock);
    d->answered_ms = ap__now_ms();
    pthread_cond_broadcast(&d->c->changed);
    pthread_mutex_unlock(&d->c->lock);
}

static void ap__start_channel(ap__device *d, ap__channel *ch)
{
    ap__collector *c = d->c;
    ap__hal_start start = {
        .period_ms = ch->plan.period_ms,
        .flags = ch->plan.flags,
        .config = ch->plan.config_bytes != 0 ? ch->plan.config : NULL,
        .config_bytes = ch->plan.config_bytes,
    };
    int state = AP_CHANNEL_FAILED;
    bool undo = false;
    int rc = 0;

    /* readers look at it from now on: data may come before start returns */
    atomic_store_explicit(&ch->state, AP_CHANNEL_STARTING, memory_order_release);
    rc = c->ops->start(c->driver, d->id, ch->plan.channel, &start);
    if (rc == AP_HAL_OK) {
        state = AP_CHANNEL_RUNNING;
    } else if (rc == AP_HAL_NO_CONTEXT) {
        state = AP_CHANNEL_WAITING;
    } else if (rc == AP_HAL_UNSUPPORTED && ch->plan.late) {
        state = AP_CHANNEL_IDLE;
    } else if (rc == AP_HAL_DEVICE_LOST) {
        atomic_store(&d->lost, true);
    }
    pthread_mutex_lock(&c->lock);
    ch->start_rc = rc;
    d->answered_ms = ap__now_ms();
    undo = rc == AP_HAL_OK && d->quit;
    c->running += rc == AP_HAL_OK && !undo;
    pthread_cond_broadcast(&c->changed);
    atomic_store_explicit(&ch->state, undo ? AP_CHANNEL_STOPPED : state, memory_order_release);
    pthread_mutex_unlock(&c->lock);
    if (undo) { /* the answer came after the stop */
        (void)c->ops->stop(c->driver, d->id, ch->plan.channel);
    } else if (!(rc == AP_HAL_UNSUPPORTED && ch->plan.late)) {
        ap__say_failed(d, ch, rc);
    }
}

/* In the plan's order; refused for ever: not again. */
static void ap__start_channels(ap__device *d, const ap__hal_channels *offered)
{
    for (uint32_t i = 0; i < d->channel_count; i++) {
        ap__channel *ch = &d->channels[i];
        int state = atomic_load(&ch->state);

        if (ap__quit_asked(d) || atomic_load(&d->lost)) {
            return;
        }
        if (state == AP_CHANNEL_WAITING ||
            (state == AP_CHANNEL_IDLE && ap__hal_has(offered, ch->plan.channel))) {
            ap__start_channel(d, ch);
        }
    }
}

static int ap__errno_rc(int err)
{
    return err == 0 ? AP_HAL_OK : AP_HAL_IO;
}

static int ap__start_sequence(ap__device *d)
{
    ap__collector *c = d->c;
    ap__hal_channels offered = {{0}};
    ap__device_point point;
    int err = 0;
    int rc = c->ops->status(c->driver, d->id);

    rc = rc == AP_HAL_UNSUPPORTED ? AP_HAL_OK : rc;
    ap__answered(d);
    rc = rc != AP_HAL_OK ? rc : ap__read_info(d);
    ap__answered(d);
    rc = rc != AP_HAL_OK ? rc : c->ops->channels(c->driver, d->id, &offered);
    rc = rc != AP_HAL_OK
             ? rc
             : ap__device_point_read(c->ops, c->driver, d->id, AP_START_WARM_UPS, AP_START_ROUNDS,
                                     &point);
    ap__answered(d);
    if (rc != AP_HAL_OK) {
        return rc;
    }
    err = ap__make_plan(d, &offered);
    err = err != 0 ? err : ap__make_files(d, &point);
    if (err != 0) {
        return ap__errno_rc(err);
    }
    ap__device_add_point(d, &point, true);
    for (uint32_t i = 0; i < d->reader_count; i++) {
        err = ap__reader_begin(d, i);
        if (err != 0) {
            return ap__errno_rc(err);
        }
    }
    ap__start_channels(d, &offered);
    return atomic_load(&d->lost) ? AP_HAL_DEVICE_LOST : AP_HAL_OK;
}

/* ---- once a second ---- */

static bool ap__wants_channels(ap__device *d)
{
    for (uint32_t i = 0; i < d->channel_count; i++) {
        int state = atomic_load(&d->channels[i].state);

        if (state == AP_CHANNEL_WAITING ||
            (state == AP_CHANNEL_IDLE && d->channels[i].plan.late)) {
            return true;
        }
    }
    return false;
}

static void ap__tick(ap__device *d)
{
    ap__collector *c = d->c;
    ap__hal_channels offered = {{0}};
    ap__device_point point;

    if (c->ops->status(c->driver, d->id) == AP_HAL_DEVICE_LOST) {
        atomic_store(&d->lost, true);
        ap__log(AP_LOG_WARN, "device %" PRIu32 " is lost; nothing more is collected from it",
                d->id);
        return;
    }
    if (ap__wants_channels(d) && c->ops->channels(c->driver, d->id, &offered) == AP_HAL_OK) {
        ap__start_channels(d, &offered);
    }
    if (!ap__quit_asked(d) && ap__device_point_read(c->ops, c->driver, d->id, 0, AP_TICK_ROUNDS,
                                                    &point) == AP_HAL_OK) {
        ap__device_add_point(d, &point, false);
    }
}

/* Until the next tick, a poke or the end. true: go on. */
static bool ap__keeper_wait(ap__device *d)
{
    ap__collector *c = d->c;
    uint64_t until = ap__now_ms() + c->limits.tick_ms;
    bool go_on = false;

    pthread_mutex_lock(&c->lock);
    while (!d->quit && !d->poked && ap__now_ms() < until) {
        ap__cond_until(&c->changed, &c->lock, until);
    }
    d->poked = false;
    go_on = !d->quit;
    pthread_mutex_unlock(&c->lock);
    return go_on;
}

static void ap__keeper_main(void *arg)
{
    ap__device *d = arg;
    ap__collector *c = d->c;
    int rc = ap__start_sequence(d);

    pthread_mutex_lock(&c->lock);
    d->start_rc = rc;
    d->started = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (rc != AP_HAL_OK) {
        ap__log(AP_LOG_WARN, "device %" PRIu32 " is not collected: %s", d->id, ap__hal_rc_text(rc));
    }
    while (rc == AP_HAL_OK && !atomic_load(&d->lost) && ap__keeper_wait(d)) {
        ap__tick(d);
    }
    pthread_mutex_lock(&c->lock);
    d->keeper_gone = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* ---- life ---- */

ap__device *ap__device_new(ap__collector *c, uint32_t id)
{
    ap__device *d = calloc(1, sizeof(*d));

    if (d != NULL) {
        d->c = c;
        d->id = id;
        d->dir = (ap__device_dir)AP_DEVICE_DIR_CLOSED;
        d->clock_fd = -1;
        d->point_stride = 1;
        memset(d->index_of, AP_NO_CHANNEL, sizeof(d->index_of));
    }
    return d;
}

int ap__device_begin(ap__device *d)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "aclprof-dev%" PRIu32, d->id % 100);
    return ap__thread_start(d->c, name, ap__keeper_main, d);
}

void ap__device_free(ap__device *d)
{
    for (uint32_t i = 0; i < AP_READERS_MAX; i++) {
        if (d->readers[i].begun) {
            pthread_cond_destroy(&d->readers[i].wake);
            pthread_mutex_destroy(&d->readers[i].lock);
        }
        free(d->readers[i].scratch);
    }
    for (uint32_t i = 0; i < d->stream_count; i++) {
        ap__stream_abandon(&d->streams[i]);
    }
    if (d->clock_fd >= 0) {
        (void)close(d->clock_fd);
    }
    if (d->stream_count != 0) {
        ap__ageing_free(&d->ageing);
    }
    ap__device_dir_close(&d->dir);
    for (uint32_t i = 0; i < d->channel_count; i++) {
        free(d->channels[i].names);
    }
    free(d->channels);
    free(d);
}
