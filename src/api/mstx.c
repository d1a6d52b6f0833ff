/* SPDX-License-Identifier: Apache-2.0 */
/* mstx: what its library calls when a program marks and ranges, and the switch between us and a tool
 * that wants those calls itself. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "aclprof_reporter.h"
#include "format/wire_host.h"
#include "reporter/marks.h"
#include "reporter/mstx_domains.h"
#include "reporter/report.h"
#include "ring/gate.h"
#include "session/autostart.h"
#include "session/control_socket.h"
#include "session/runtime_calls.h"
#include "stamp/mstx_ranges.h"

#define AP_CORE_END 5u /* number of the last function of a table, and one */
#define AP_DOMAIN_END 6u
#define AP_MEMORY_END 6u

/* ---- a tool's own ---- */

/* Functions that another tool has given, by table and number. */
static AclprofMstxFunction ap__core[AP_CORE_END];
static AclprofMstxFunction ap__domain[AP_DOMAIN_END];
static AclprofMstxFunction ap__memory[AP_MEMORY_END];
static _Atomic uint32_t ap__enabled = ACLPROF_MSTX_PROFILER;

static AclprofMstxFunction *ap__core_table[] = {NULL,         &ap__core[1], &ap__core[2],
                                                &ap__core[3], &ap__core[4], NULL};
static AclprofMstxFunction *ap__domain_table[] = {NULL,           &ap__domain[1], &ap__domain[2],
                                                  &ap__domain[3], &ap__domain[4], &ap__domain[5],
                                                  NULL};
static AclprofMstxFunction *ap__memory_table[] = {NULL,           &ap__memory[1], &ap__memory[2],
                                                  &ap__memory[3], &ap__memory[4], &ap__memory[5],
                                                  NULL};

static int ap__tool_table(int32_t module, AclprofMstxFunction ***table, uint32_t *size)
{
    if (table == NULL || size == NULL) {
        return 1;
    }
    switch (module) {
    case ACLPROF_MSTX_CORE:
        *table = ap__core_table;
        *size = AP_CORE_END;
        return 0;
    case ACLPROF_MSTX_DOMAIN:
        *table = ap__domain_table;
        *size = AP_DOMAIN_END;
        return 0;
    case ACLPROF_MSTX_MEMORY:
        *table = ap__memory_table;
        *size = AP_MEMORY_END;
        return 0;
    default:
        return 1;
    }
}

static bool ap__is_ours(void)
{
    return atomic_load_explicit(&ap__enabled, memory_order_relaxed) == ACLPROF_MSTX_PROFILER;
}

static AclprofMstxFunction ap__of_tool(AclprofMstxFunction *slot)
{
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

REPORTER_API int32_t ProfRegisterMstxFunc(AclprofMstxInit init, uint32_t module)
{
    int saved = errno;
    int32_t rc = MSPROF_FAILED;

    if (init != NULL) { /* the profiler's own are these */
        rc = module == ACLPROF_MSTX_PROFILER || init(ap__tool_table) == 0 ? MSPROF_OK
                                                                          : MSPROF_FAILED;
    }
    errno = saved;
    return rc;
}

REPORTER_API int32_t ProfEnableMstxFunc(uint32_t module)
{
    atomic_store(&ap__enabled, module);
    return MSPROF_OK;
}

/* ---- marks ---- */

/* The gate's key. Where nothing is recorded a capture from outside may begin by this use. */
static uint64_t ap__key(void)
{
    uint64_t key = ap__gate_key();

    if (key != AP_GATE_CLOSED) {
        return key;
    }
    (void)ap__control_used();
    return ap__autostart_used() ? ap__gate_key() : AP_GATE_CLOSED;
}

static void ap__record_mark(void *domain, const char *text, void *stream)
{
    uint64_t key = ap__key();
    int saved = errno;
    ap__mark mark = {.event = AP_TX_MARK};

    if (key <= AP_GATE_WARM || !ap__mstx_text_ok(text) ||
        !ap__mstx_domain_wanted(domain, key, &mark.domain)) {
        errno = saved;
        return;
    }
    mark.id = ap__mark_id_next();
    mark.thread = ap__report_thread();
    mark.start = ap__report_time();
    mark.end = mark.start;
    if (stream != NULL) {
        (void)ap__runtime_trace(mark.id, AP_TRACE_MARK, stream);
    }
    (void)ap__mark_emit(&mark, text, strlen(text));
    errno = saved;
}

static uint64_t ap__open_range(void *domain, const char *text, void *stream)
{
    int saved = errno;
    ap__mstx_range range = {.key = ap__key(), .stream = stream};
    uint64_t id = 0;

    if (range.key > AP_GATE_WARM && ap__mstx_text_ok(text) &&
        ap__mstx_domain_wanted(domain, range.key, &range.domain)) {
        range.mark_id = ap__mark_id_next();
        range.thread = ap__report_thread();
        range.start_ns = ap__report_time();
        id = ap__mstx_range_open(&range, text, strlen(text));
    }
    if (id != 0 && stream != NULL) {
        (void)ap__runtime_trace(range.mark_id, AP_TRACE_RANGE, stream);
    }
    errno = saved;
    return id;
}

static void ap__end_range(void *domain, uint64_t id)
{
    uint64_t now = ap__report_time();
    int saved = errno;
    uint64_t of = 0;
    ap__mstx_range *range =
        ap__mstx_domain_id(domain, &of) ? ap__mstx_range_take(id, of) : NULL;

    if (range != NULL && range->key == ap__gate_key()) {
        ap__mark mark = {.event = AP_TX_RANGE,
                         .thread = range->thread,
                         .start = range->start_ns,
                         .end = now,
                         .id = range->mark_id,
                         .domain = range->domain};

        if (range->stream != NULL) {
            (void)ap__runtime_trace(mark.id, AP_TRACE_RANGE, range->stream);
        }
        (void)ap__mark_emit(&mark, range->text, range->length);
    }
    if (range != NULL) {
        ap__mstx_range_free(range);
    }
    errno = saved;
}

/* ---- what the library of mstx is given: ours, or the tool's that has been enabled ---- */

#define AP_TO_TOOL(slot, type, none, ...)                                                          \
    do {                                                                                           \
        type fn_ = (type)ap__of_tool(slot);                                                        \
                                                                                                   \
        return fn_ != NULL ? fn_(__VA_ARGS__) : none;                                              \
    } while (0)

typedef void (*ap__mark_fn)(const char *text, void *stream);
typedef uint64_t (*ap__start_fn)(const char *text, void *stream);
typedef void (*ap__end_fn)(uint64_t id);
typedef void *(*ap__create_fn)(const char *name);
typedef void (*ap__destroy_fn)(void *domain);
typedef void (*ap__domain_mark_fn)(void *domain, const char *text, void *stream);
typedef uint64_t (*ap__domain_start_fn)(void *domain, const char *text, void *stream);
typedef void (*ap__domain_end_fn)(void *domain, uint64_t id);
typedef void *(*ap__memory_get_fn)(void *domain, const void *description);
typedef void (*ap__memory_fn)(void *domain, const void *description);

static void ap__mark_a(const char *text, void *stream)
{
    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__core[1], ap__mark_fn, (void)0, text, stream);
    }
    ap__record_mark(AP_MSTX_DEFAULT, text, stream);
}

static uint64_t ap__range_start_a(const char *text, void *stream)
{
    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__core[2], ap__start_fn, 0, text, stream);
    }
    return ap__open_range(AP_MSTX_DEFAULT, text, stream);
}

static void ap__range_end(uint64_t id)
{
    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__core[3], ap__end_fn, (void)0, id);
    }
    ap__end_range(AP_MSTX_DEFAULT, id);
}

static void *ap__domain_create_a(const char *name)
{
    int saved = errno;
    void *domain = NULL;

    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__domain[1], ap__create_fn, NULL, name);
    }
    domain = ap__mstx_domain_create(name);
    errno = saved;
    return domain;
}

static void ap__domain_destroy(void *domain)
{
    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__domain[2], ap__destroy_fn, (void)0, domain);
    }
    ap__mstx_domain_destroy(domain);
}

static void ap__domain_mark_a(void *domain, const char *text, void *stream)
{
    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__domain[3], ap__domain_mark_fn, (void)0, domain, text, stream);
    }
    if (domain != AP_MSTX_DEFAULT) {
        ap__record_mark(domain, text, stream);
    }
}

static uint64_t ap__domain_range_start_a(void *domain, const char *text, void *stream)
{
    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__domain[4], ap__domain_start_fn, 0, domain, text, stream);
    }
    return domain != AP_MSTX_DEFAULT ? ap__open_range(domain, text, stream) : 0;
}

static void ap__domain_range_end(void *domain, uint64_t id)
{
    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__domain[5], ap__domain_end_fn, (void)0, domain, id);
    }
    if (domain != AP_MSTX_DEFAULT) {
        ap__end_range(domain, id);
    }
}

/* Memory is for tools that look after it: handles are given, nothing is recorded of it. */
static void *ap__heap_register(void *domain, const void *description)
{
    static _Atomic uintptr_t last;

    if (!ap__is_ours()) {
        AP_TO_TOOL(&ap__memory[1], ap__memory_get_fn, NULL, domain, description);
    }
    return (void *)(2 * atomic_fetch_add(&last, 1) + 1); /* no address */
}

#define AP_MEMORY(name, number)                                                                    \
    static void name(void *domain, const void *description)                                        \
    {                                                                                              \
        if (!ap__is_ours()) {                                                                      \
            AP_TO_TOOL(&ap__memory[number], ap__memory_fn, (void)0, domain, description);          \
        }                                                                                          \
    }

AP_MEMORY(ap__heap_unregister, 2)
AP_MEMORY(ap__regions_register, 3)
AP_MEMORY(ap__regions_unregister, 4)
AP_MEMORY(ap__permissions_assign, 5)

/* ---- injection ---- */

/* CORE 4, the tool's id, stays free: its values are not published. */
static const AclprofMstxFunction ap__our_core[] = {NULL, (AclprofMstxFunction)ap__mark_a,
                                                   (AclprofMstxFunction)ap__range_start_a,
                                                   (AclprofMstxFunction)ap__range_end};
static const AclprofMstxFunction ap__our_domain[] = {
    NULL,
    (AclprofMstxFunction)ap__domain_create_a,
    (AclprofMstxFunction)ap__domain_destroy,
    (AclprofMstxFunction)ap__domain_mark_a,
    (AclprofMstxFunction)ap__domain_range_start_a,
    (AclprofMstxFunction)ap__domain_range_end};
static const AclprofMstxFunction ap__our_memory[] = {NULL,
                                                     (AclprofMstxFunction)ap__heap_register,
                                                     (AclprofMstxFunction)ap__heap_unregister,
                                                     (AclprofMstxFunction)ap__regions_register,
                                                     (AclprofMstxFunction)ap__regions_unregister,
                                                     (AclprofMstxFunction)ap__permissions_assign};

static bool ap__give(AclprofMstxGetTable get, int32_t module, const AclprofMstxFunction *ours,
                     uint32_t count)
{
    AclprofMstxFunction **table = NULL;
    uint32_t size = 0;

    if (get(module, &table, &size) != 0 || table == NULL) {
        return false;
    }
    for (uint32_t i = 1; i < count && i < size; i++) {
        if (table[i] != NULL) {
            *table[i] = ours[i];
        }
    }
    return true;
}

REPORTER_API int32_t InitInjectionMstx(AclprofMstxGetTable getFuncTable)
{
    int saved = errno;
    bool ok = false;

    if (getFuncTable != NULL) { /* an older library has the first table alone */
        ok = ap__give(getFuncTable, ACLPROF_MSTX_CORE, ap__our_core,
                      sizeof(ap__our_core) / sizeof(ap__our_core[0]));
        (void)ap__give(getFuncTable, ACLPROF_MSTX_DOMAIN, ap__our_domain,
                       sizeof(ap__our_domain) / sizeof(ap__our_domain[0]));
        (void)ap__give(getFuncTable, ACLPROF_MSTX_MEMORY, ap__our_memory,
                       sizeof(ap__our_memory) / sizeof(ap__our_memory[0]));
    }
    errno = saved;
    return ok ? 0 : 1;
}
