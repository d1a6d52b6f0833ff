/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "format/hash.h"
#include "ring/ring.h"
#include "ring/shield.h"
#include "session/capability.h"
#include "session/errtext.h"
#include "session/fork.h"
#include "stamp/intern.h"
#include "stamp/mstx_ranges.h"
#include "stamp/range.h"
#include "writer/control_files.h"
#include "writer/dirs.h"
#include "writer/loop.h"
#include "writer/texts.h"

#define AP_DISK_FLOOR (20u << 20)     /* less free space than this: no capture */
#define AP_RESERVE_BYTES (256u << 10) /* given back when the disk is full, to finish files */
#define AP_MIB (1024u * 1024u)
#define AP_DEVICES_TEXT 192u /* "0,1,…,63" */

struct ap__capture {
    const char *api;
    ap__prof_dir dir;
    char *root;
    unsigned root_made;
    uint64_t data_types;
    ap__settings settings;
    ap__host_meta meta;
    char devices[AP_DEVICES_TEXT];
    bool tx;      /* records stamps */
    bool reports; /* takes records of CANN's libraries */
    bool running; /* the loop has a thread */
    uint64_t key;
    uint64_t open_at_stop;
    ap__arena arena;
    ap__drain drain;
    ap__dict hashes;
    ap__dict types;
    ap__dict formats;
    ap__ext_file names;
    ap__loop loop;
    aclprofStats final; /* once it has stopped */
};

static pthread_mutex_t ap__last_lock = PTHREAD_MUTEX_INITIALIZER;
static aclprofStats ap__last_stats;
static ap__capture *ap__current; /* the one that records stamps; under the session's lock */

/* ---- opening ---- */

static aclError ap__path_failed(const ap__capture *c, const char *path, int rc)
{
    char text[64] = "";

    return ap__fail(ACL_ERROR_INVALID_FILE, AP_EK_BAD_VALUE, c->api,
                    "Value [%s] for the result path is invalid. Reason: %s; give a directory that "
                    "this process may create and write.",
                    path, strerror_r(rc, text, sizeof(text)));
}

static aclError ap__check_space(const ap__capture *c)
{
    struct statvfs fs;

    if (fstatvfs(c->dir.root_fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < AP_DISK_FLOOR) {
        return ap__fail(ACL_ERROR_INVALID_FILE, AP_EK_DISK, c->api,
                        "Insufficient disk space. Reason: %" PRIu64
                        " bytes are free below [%s], at "
                        "least %u are needed; free space or choose another result path.",
                        (uint64_t)fs.f_bavail * fs.f_frsize, c->root, AP_DISK_FLOOR);
    }
    return ACL_SUCCESS;
}

static aclError ap__open_dirs(ap__capture *c, const ap__capture_params *p)
{
    aclError code = ACL_SUCCESS;
    int rc = 0;

    c->root = strdup(p->root);
    if (c->root == NULL) {
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_MEMORY, p->api,
                        "Failed to allocate host memory for the result path.");
    }
    rc = ap__dirs_make_root_counted(c->root, &c->root_made);
    if (rc != 0) {
        return ap__path_failed(c, c->root, rc);
    }
    rc = ap__prof_dir_create(c->root, p->start_number, &c->dir);
    if (rc == ENOENT && ap__dirs_make_root_counted(c->root, &c->root_made) == 0) {
        /* another process that failed took its, then empty, root back */
        rc = ap__prof_dir_create(c->root, p->start_number, &c->dir);
    }
    if (rc != 0) {
        code = ap__path_failed(c, c->root, rc);
    } else {
        code = ap__check_space(c);
        if (code != ACL_SUCCESS) {
            ap__prof_dir_remove(&c->dir);
        }
    }
    if (code != ACL_SUCCESS) {
        ap__dirs_unmake_root(c->root, c->root_made);
    }
    return code;
}

static void ap__list_devices(const ap__capture_params *p, char text[AP_DEVICES_TEXT])
{
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < p->device_count && at < AP_DEVICES_TEXT; i++) {
        at += (size_t)snprintf(text + at, AP_DEVICES_TEXT - at, "%s%" PRIu32, i != 0 ? "," : "",
                               p->devices[i]);
    }
}

static int ap__write_control(ap__capture *c, const ap__capture_params *p,
                             const ap__clock_point *start)
{
    int rc = 0;

    ap__list_devices(p, c->devices);
    c->meta = (ap__host_meta){
        .data_types = p->data_types,
        .metrics = p->metrics,
        .settings = &c->settings,
        .result_dir = c->root,
        .host_mhz_x1000000 = 0, /* records hold CLOCK_MONOTONIC_RAW ns */
        .chip = p->chip,
        .devices = c->devices,
        .simulated = p->simulated,
    };
    rc = ap__control_write_start(c->dir.host_fd, &c->meta, start);

    /* both dictionaries exist from the beginning: readers expect them */
    rc = rc != 0 ? rc : ap__texts_types_into(&c->types);
    rc = rc != 0 ? rc : ap__dict_add_default_types(&c->types);
    rc = rc != 0 ? rc : ap__dict_flush(&c->types);
    rc = rc != 0 ? rc : ap__dict_add_hash(&c->hashes, ap__hash_id("default", 7), "default", 7);
    return rc != 0 ? rc : ap__dict_flush(&c->hashes);
}

static void ap__reserve_make(ap__capture *c)
{
    (void)ap__file_reserve(c->dir.ext_fd, AP_EXT_RESERVE_NAME, AP_RESERVE_BYTES);
}

/* Bytes that the host directory may hold: the API's limit is for the whole PROF directory, which
 * without devices is the host's alone. */
static uint64_t ap__host_limit(const ap__capture_params *p)
{
    uint64_t mb = p->settings->storage_limit_mb;

    return p->device_count == 0 ? mb * AP_MIB : ap__ageing_share(mb);
}

static int ap__open_rings(ap__capture *c, const ap__capture_params *p, const ap__clock_point *start)
{
    int rc = ap__arena_open(&c->arena, c->dir.ext_fd, start);

    if (rc != 0) {
        return rc;
    }
    rc = ap__ext_open(&c->names, c->dir.ext_fd, AP_EXT_NAMES_NAME);
    if (rc != 0) {
        goto fail_names;
    }
    ap__clock_read(&c->arena.head->ready);
    rc = ap__drain_init(&c->drain, &c->arena, c->dir.data_fd, c->dir.ext_fd, start,
                        &c->arena.head->ready, ap__host_limit(p));
    if (rc != 0) {
        goto fail_drain;
    }
    rc = ap__ageing_watch(&c->drain.ageing, &c->hashes.stream);
    rc = rc != 0 ? rc : ap__ageing_watch(&c->drain.ageing, &c->types.stream);
    rc = rc != 0 ? rc : ap__ageing_watch(&c->drain.ageing, &c->formats.stream);
    rc = rc != 0 ? rc : ap__loop_start(&c->loop, &c->drain);
    if (rc != 0) {
        goto fail_loop;
    }
    c->running = true;
    ap__texts_begin(&c->hashes, &c->types, &c->formats, &c->names, &c->loop.wake);
    c->key = ap__gate_new_key();
    (void)ap__thread_self(); /* so that this thread's end is noticed */
    ap__threads_begin(&c->arena, c->key);
    ap__current = c;
    return 0;

fail_loop:
    ap__drain_abandon(&c->drain);
fail_drain:
    ap__ext_abandon(&c->names);
fail_names:
    ap__arena_close(&c->arena, false, false);
    return rc;
}

static aclError ap__open_shielded(const ap__capture_params *params, ap__capture **out)
{
    ap__capture *c = calloc(1, sizeof(*c));
    aclError code = ACL_SUCCESS;
    ap__clock_point start;
    int rc = 0;
    char text[64] = "";

    *out = NULL;
    if (c == NULL) {
        return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_MEMORY, params->api,
                        "Failed to allocate host memory for the capture.");
    }
    ap__clock_init();
    ap__clock_read(&start);
    c->api = params->api;
    c->data_types = params->data_types;
    c->settings = *params->settings;
    c->tx = (params->data_types & ACL_PROF_MSPROFTX) != 0;
    c->reports = (params->data_types & ~(uint64_t)(ACL_PROF_MSPROFTX | AP_AICPU_MODEL)) != 0;
    c->dir = (ap__prof_dir)AP_PROF_DIR_CLOSED;
    code = ap__open_dirs(c, params);
    if (code != ACL_SUCCESS) {
        goto fail;
    }
    ap__dict_init(&c->hashes, c->dir.data_fd, AP_DICT_HASH_NAME);
    ap__dict_init(&c->types, c->dir.data_fd, AP_DICT_TYPE_NAME);
    ap__dict_init(&c->formats, c->dir.data_fd, AP_DICT_FORMAT_NAME);
    rc = ap__fork_install();
    rc = rc != 0 ? rc : ap__write_control(c, params, &start);
    if (rc == 0) {
        ap__reserve_make(c);
        rc = ap__open_rings(c, params, &start);
    }
    if (rc == 0) {
        c->api = "aclprofStop"; /* who is told from now on */
        *out = c;
        return ACL_SUCCESS;
    }
    code = ap__fail(rc == ENOSPC || rc == EDQUOT ? ACL_ERROR_INVALID_FILE
                                                 : ACL_ERROR_PROFILING_FAILURE,
                    rc == ENOSPC || rc == EDQUOT ? AP_EK_DISK
                    : rc == EAGAIN               ? AP_EK_THREAD
                                                 : AP_EK_INNER,
                    c->api, "The capture could not begin below [%s]. Reason: %s.", c->root,
                    strerror_r(rc, text, sizeof(text)));
    ap__dict_abandon(&c->hashes);
    ap__dict_abandon(&c->types);
    ap__dict_abandon(&c->formats);
    ap__prof_dir_remove(&c->dir);
    ap__dirs_unmake_root(c->root, c->root_made);
fail:
    free(c->root);
    free(c);
    return code;
}

aclError ap__capture_open(const ap__capture_params *params, ap__capture **out)
{
    ap__shield shield;
    aclError code = ACL_SUCCESS;

    ap__shield_raise(&shield);
    code = ap__open_shielded(params, out);
    ap__shield_drop(&shield);
    return code;
}

void ap__capture_record(ap__capture *capture, bool on)
{
    if (!on) {
        ap__gate_close(capture->tx ? AP_GATE_WARM : AP_GATE_CLOSED);
        return;
    }
    if (capture->tx) {
        ap__gate_open(capture->key);
    }
    if (capture->reports) {
        ap__gate_open_reports(capture->key);
    }
}

/* ---- account ---- */

/* Cost of all calls, from the sampled ones; a push or range event took two calls, which the
 * sample (of the second) counts as one: an estimate, and said to be one. */
static uint64_t ap__call_ns(const ap__capture *c, uint64_t cycles, uint64_t calls, uint64_t events)
{
    ap__clock_line line;
    ap__clock_point now;

    if (calls == 0) {
        return 0;
    }
    ap__clock_read(&now);
    /* a line of our own: the drain's changes while it runs */
    ap__clock_line_make(&line, &c->drain.convert.start, &now, ap__clock_is_ns);
    return (uint64_t)(((unsigned __int128)cycles * line.mult >> 48) * events / calls);
}

static void ap__stats_rings(const ap__capture *c, aclprofStats *s)
{
    uint32_t n = atomic_load_explicit(&c->arena.head->slot_count, memory_order_acquire);
    uint64_t cycles = 0;
    uint64_t calls = 0;
    uint64_t no_ring = atomic_load(&ap__no_ring.emitted);
    uint64_t no_ring_reentrant = atomic_load(&ap__no_ring.reentrant);

    for (uint32_t i = 0; i < n; i++) {
        ap__ring_head *rh = c->arena.slots[i];
        uint64_t reentrant = atomic_load_explicit(&rh->lost_reentrant, memory_order_relaxed);

        s->emitted += atomic_load_explicit(&rh->emitted, memory_order_relaxed) + reentrant;
        s->lostRingFull += atomic_load_explicit(&rh->lost_full, memory_order_relaxed);
        s->lostReentrant += reentrant;
        cycles += atomic_load_explicit(&rh->sampled_cycles, memory_order_relaxed);
        calls += atomic_load_explicit(&rh->sampled_calls, memory_order_relaxed);
    }
    s->emitted += no_ring + no_ring_reentrant;
    s->lostNoRing = no_ring;
    s->lostReentrant += no_ring_reentrant;
    s->callNs = ap__call_ns(c, cycles, calls, s->emitted);
}

/* Before what the rings say, so that `pending` is never short while events flow. */
static void ap__stats_drain(ap__capture *c, aclprofStats *s, uint64_t *taken)
{
    pthread_mutex_lock(&c->drain.lock);
    *taken = c->drain.taken;
    s->written = c->drain.written - c->drain.aged.records;
    s->lostDisk = c->drain.lost_disk;
    s->cutMessages = c->drain.cut_messages;
    s->lostAged = c->drain.aged.records;
    s->slicesRemoved = c->drain.aged.slices;
    s->bytesWritten = ap__stream_stored(&c->drain.tx) + c->drain.raw_stored + c->drain.ext.size + ap__texts_stored();
    s->threads = c->drain.account_count;
    pthread_mutex_unlock(&c->drain.lock);
    s->writerCpuNs = atomic_load_explicit(&c->loop.cpu_ns, memory_order_relaxed);
}

static void ap__stats_collect(ap__capture *c, aclprofStats *s, bool stopped)
{
    uint64_t taken = 0;
    uint64_t known = 0;

    memset(s, 0, sizeof(*s));
    s->size = sizeof(*s);
    ap__stats_drain(c, s, &taken);
    ap__stats_rings(c, s);
    known = s->lostRingFull + s->lostNoRing + s->lostReentrant + taken;
    if (stopped) {
        s->lostDamaged = s->emitted > known ? s->emitted - known : 0;
    } else {
        s->pending = s->emitted > known ? s->emitted - known : 0;
        s->running = c->tx;
    }
    s->lostTotal = s->lostRingFull + s->lostNoRing + s->lostReentrant + s->lostDisk + s->lostAged +
                   s->lostDamaged;
    s->openAtStop = c->open_at_stop;
}

void ap__capture_stats(const ap__capture *capture, aclprofStats *out)
{
    size_t size = out->size;

    if (capture != NULL) {
        ap__stats_collect((ap__capture *)(uintptr_t)capture, out, false);
    } else {
        pthread_mutex_lock(&ap__last_lock);
        *out = ap__last_stats;
        pthread_mutex_unlock(&ap__last_lock);
    }
    out->size = size;
}

static void ap__say_account(const ap__capture *c)
{
    const aclprofStats *s = &c->final;

    ap__log(s->lostTotal != 0 ? AP_LOG_WARN : AP_LOG_INFO,
            "capture finished: %s: emitted %" PRIu64 " = written %" PRIu64 " + lost %" PRIu64
            " (ring full %" PRIu64 ", no ring %" PRIu64 ", in signal handler %" PRIu64
            ", disk %" PRIu64 ", storage limit %" PRIu64 ", damaged %" PRIu64
            "); open at stop %" PRIu64 ", cut messages %" PRIu64 "; %" PRIu64 " bytes, %" PRIu64
            " threads; cost: calls about %" PRIu64 " ns, writer %" PRIu64 " ns",
            c->dir.path, s->emitted, s->written, s->lostTotal, s->lostRingFull, s->lostNoRing,
            s->lostReentrant, s->lostDisk, s->lostAged, s->lostDamaged, s->openAtStop,
            s->cutMessages, s->bytesWritten, s->threads, s->callNs, s->writerCpuNs);
}

static int ap__account_finish(ap__capture *c)
{
    static const char *const kinds[] = {"file", "shm", "anonymous"};
    ap__account a = {
        .total = c->final,
        .threads = c->drain.accounts,
        .thread_count = c->drain.account_count,
        .clock_is_ns = ap__clock_is_ns,
        .state = "finished",
        .arena = kinds[c->arena.kind],
        .data_types = c->data_types,
        .points = c->drain.convert.points,
        .point_count = c->drain.convert.point_count,
        .disk_errno = c->drain.disk_errno,
    };

    if (c->drain.convert.point_count < AP_CONVERT_POINTS) {
        c->drain.convert.points[a.point_count++] = c->drain.convert.last;
    }
    return ap__account_write(c->dir.ext_fd, &a);
}

/* ---- closing ---- */

static void ap__keep_first(int *rc, int next)
{
    if (*rc == 0) {
        *rc = next;
    }
}

static int ap__close_rings(ap__capture *c)
{
    uint64_t open_pushes = 0;
    uint32_t stuck = 0;
    int rc = 0;

    stuck = ap__threads_quiesce(&open_pushes);
    c->open_at_stop = open_pushes + ap__range_void(c->key) + ap__mstx_ranges_void(c->key);
    ap__texts_flush(); /* texts that only failed calls have introduced, or a full disk kept back */
    ap__texts_let_writer_go();
    ap__loop_stop(&c->loop);
    c->running = false;
    ap__current = NULL;
    ap__threads_end();
    ap__drain_settle(&c->drain);
    ap__stats_collect(c, &c->final, true);
    if (unlinkat(c->dir.ext_fd, AP_EXT_RESERVE_NAME, 0) != 0 && errno != ENOENT) {
        ap__keep_first(&rc, errno);
    }
    ap__texts_end(); /* with what a full disk kept back */
    ap__keep_first(&rc, ap__account_finish(c));
    ap__keep_first(&rc, ap__ext_close(&c->names));
    ap__keep_first(&rc, ap__drain_finish(&c->drain));
    ap__arena_close(&c->arena, false, stuck != 0);
    return rc;
}

/* The program has closed our descriptors. What is on disk stays as after a kill, the rings included:
 * nothing is written that might land in a file of the program's. */
static aclError ap__leave_unfinished(ap__capture *c)
{
    uint64_t open_pushes = 0;
    uint32_t stuck = 0;

    stuck = ap__threads_quiesce(&open_pushes);
    c->open_at_stop = open_pushes + ap__range_void(c->key) + ap__mstx_ranges_void(c->key);
    ap__texts_let_writer_go();
    ap__loop_stop(&c->loop);
    ap__current = NULL;
    ap__threads_end();
    ap__texts_end();
    ap__stats_collect(c, &c->final, false);
    c->final.running = 0;
    ap__drain_abandon(&c->drain);
    ap__ext_abandon(&c->names);
    ap__arena_close(&c->arena, true, stuck != 0);
    ap__dict_abandon(&c->hashes);
    ap__dict_abandon(&c->types);
    ap__dict_abandon(&c->formats);
    return ap__fail(ACL_ERROR_PROFILING_FAILURE, AP_EK_INNER, c->api,
                    "The files of [%s] could not be finished. Reason: the program has closed "
                    "descriptors that it had not opened; close only your own. What was written "
                    "before can be recovered (aclprof recover).",
                    c->dir.path);
}

static aclError ap__finish(ap__capture *c)
{
    aclError code = ACL_SUCCESS;
    ap__clock_point end;
    char text[64] = "";
    int rc = ap__close_rings(c);

    ap__keep_first(&rc, ap__dict_finish(&c->hashes));
    ap__keep_first(&rc, ap__dict_finish(&c->types));
    ap__keep_first(&rc, ap__dict_finish(&c->formats));
    ap__clock_read(&end);
    ap__keep_first(&rc, ap__control_write_end(c->dir.host_fd, &end));
    if (rc != 0) {
        code = ap__fail(ACL_ERROR_PROFILING_FAILURE,
                        rc == ENOSPC || rc == EDQUOT ? AP_EK_DISK : AP_EK_INNER, c->api,
                        "Some files of [%s] could not be finished. Reason: %s; what was written is "
                        "readable.",
                        c->dir.path, strerror_r(rc, text, sizeof(text)));
    }
    return code;
}

aclError ap__capture_close(ap__capture *c)
{
    aclError code = ACL_SUCCESS;
    ap__shield shield;

    ap__shield_raise(&shield);
    code = ap__prof_dir_intact(&c->dir) ? ap__finish(c) : ap__leave_unfinished(c);
    pthread_mutex_lock(&ap__last_lock);
    ap__last_stats = c->final;
    pthread_mutex_unlock(&ap__last_lock);
    ap__say_account(c);
    ap__prof_dir_close(&c->dir);
    if (!c->loop.stuck) { /* else its thread sleeps in it */
        free(c->root);
        free(c);
    }
    ap__shield_drop(&shield);
    return code;
}

void ap__capture_discard(ap__capture *c)
{
    ap__shield shield;
    uint64_t open = 0;

    ap__shield_raise(&shield);
    (void)ap__threads_quiesce(&open); /* nothing was recorded yet */
    ap__texts_let_writer_go();
    ap__loop_stop(&c->loop);
    ap__current = NULL;
    ap__threads_end();
    ap__texts_end();
    ap__drain_abandon(&c->drain);
    ap__ext_abandon(&c->names);
    ap__arena_close(&c->arena, false, false);
    ap__dict_abandon(&c->hashes);
    ap__dict_abandon(&c->types);
    ap__dict_abandon(&c->formats);
    ap__prof_dir_remove(&c->dir);
    ap__dirs_unmake_root(c->root, c->root_made);
    free(c->root);
    free(c);
    ap__shield_drop(&shield);
}

void ap__capture_prefork(void)
{
    if (ap__current != NULL) {
        pthread_mutex_lock(&ap__current->drain.lock);
    }
}

void ap__capture_parent(void)
{
    if (ap__current != NULL) {
        pthread_mutex_unlock(&ap__current->drain.lock);
    }
}

void ap__capture_abandon(ap__capture *c)
{
    ap__current = NULL;
    pthread_mutex_init(&c->drain.lock, NULL);
    ap__loop_abandon(&c->loop);
    ap__drain_abandon(&c->drain);
    ap__ext_abandon(&c->names);
    if (c->arena.fd >= 0) {
        close(c->arena.fd); /* else the child would hold the parent's flock; it maps nothing */
    }
    ap__dict_abandon(&c->hashes);
    ap__dict_abandon(&c->types);
    ap__dict_abandon(&c->formats);
    ap__prof_dir_close(&c->dir);
    free(c->root);
    free(c);
}

const char *ap__capture_dir(const ap__capture *capture)
{
    return capture->dir.path;
}

void ap__capture_place_of(const ap__capture *capture, ap__capture_place *out)
{
    *out = (ap__capture_place){
        .prof_fd = capture->dir.prof_fd,
        .ext_fd = capture->dir.ext_fd,
        .data_fd = capture->dir.data_fd,
        .meta = &capture->meta,
        .start_ns = capture->drain.convert.start.mono_raw_ns,
    };
}

void ap__capture_add_name(ap__capture *capture, const char *text, size_t length)
{
    uint64_t id = 0;

    (void)capture; /* the dictionary is the process's */
    (void)ap__intern(AP_INTERN_HASH, text, length, &id);
}

void ap__capture_set_stored(ap__capture *capture, uint64_t (*stored)(void *), void *context)
{
    pthread_mutex_lock(&capture->drain.lock);
    capture->drain.others_stored = stored;
    capture->drain.others_context = context;
    pthread_mutex_unlock(&capture->drain.lock);
}
