/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "reporter/mstx_domains.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stamp/intern.h"

#define AP_TAG 0x5AC4u
#define AP_SLOT_BITS 12u
#define AP_DOMAINS (1u << AP_SLOT_BITS) /* different names of a process; the first is "default" */
#define AP_NAME_MAX 1023u
#define AP_LIST_MAX 1024u

/* id and name do not change once there is a handle. */
typedef struct ap__domain {
    _Atomic uint64_t handle; /* 0: destroyed */
    _Atomic uint64_t wanted; /* key << 1 of the capture that it was found out for, and the answer */
    uint64_t id;
    const char *name;
    uint32_t uses;
    uint32_t generation;
} ap__domain;

/* Of creation and destruction, and of the lists. */
static pthread_mutex_t ap__lock = PTHREAD_MUTEX_INITIALIZER;
static char ap__include[AP_LIST_MAX + 1];
static char ap__exclude[AP_LIST_MAX + 1];
static ap__domain ap__domains[AP_DOMAINS];
static uint32_t ap__count;
static __thread bool ap__inside __attribute__((tls_model("initial-exec")));

static uint64_t ap__handle(uint32_t slot, uint32_t generation)
{
    return (uint64_t)AP_TAG << 48 | (uint64_t)generation << AP_SLOT_BITS | slot;
}

bool ap__mstx_text_ok(const char *text)
{
    return text != NULL && text[0] != '\0' && strchr("=+-@", text[0]) == NULL;
}

/* false: a signal handler has interrupted this thread in it. */
static bool ap__enter(void)
{
    if (ap__inside) {
        return false;
    }
    ap__inside = true;
    atomic_signal_fence(memory_order_seq_cst);
    pthread_mutex_lock(&ap__lock);
    return true;
}

static void ap__leave(void)
{
    pthread_mutex_unlock(&ap__lock);
    atomic_signal_fence(memory_order_seq_cst);
    ap__inside = false;
}

/* With the lock. NULL: no room or no memory. */
static ap__domain *ap__add(const char *name, size_t length)
{
    ap__domain *domain = &ap__domains[ap__count];

    if (ap__count == AP_DOMAINS || !ap__intern(AP_INTERN_HASH, name, length, &domain->id)) {
        return NULL;
    }
    domain->name = ap__intern_text(domain->id);
    if (domain->name == NULL) {
        return NULL;
    }
    ap__count++;
    return domain;
}

/* The default domain, which is always there, is the first to be added. */
static bool ap__with_default(void)
{
    ap__domain *domain = NULL;

    if (ap__count != 0) {
        return true;
    }
    domain = ap__add("default", 7);
    if (domain != NULL) {
        atomic_store_explicit(&domain->handle, (uintptr_t)AP_MSTX_DEFAULT, memory_order_release);
    }
    return domain != NULL;
}

void *ap__mstx_domain_create(const char *name)
{
    size_t length = ap__mstx_text_ok(name) ? strnlen(name, AP_NAME_MAX + 1) : 0;
    ap__domain *domain = NULL;
    uint64_t handle = 0;

    if (length == 0 || length > AP_NAME_MAX || strcmp(name, "default") == 0 || !ap__enter()) {
        return NULL;
    }
    if (ap__with_default()) {
        for (uint32_t i = 1; i < ap__count && domain == NULL; i++) {
            domain = strcmp(ap__domains[i].name, name) == 0 ? &ap__domains[i] : NULL;
        }
        domain = domain != NULL ? domain : ap__add(name, length);
    }
    if (domain != NULL) {
        if (domain->uses++ == 0) {
            domain->generation++;
        }
        handle = ap__handle((uint32_t)(domain - ap__domains), domain->generation);
        atomic_store_explicit(&domain->handle, handle, memory_order_release);
    }
    ap__leave();
    return (void *)(uintptr_t)handle;
}

static ap__domain *ap__live(void *handle)
{
    uint64_t bits = (uintptr_t)handle;
    ap__domain *domain = &ap__domains[bits & (AP_DOMAINS - 1u)];

    return bits >> 48 == AP_TAG &&
                   atomic_load_explicit(&domain->handle, memory_order_acquire) == bits
               ? domain
               : NULL;
}

void ap__mstx_domain_destroy(void *handle)
{
    ap__domain *domain = NULL;

    if (handle == AP_MSTX_DEFAULT || !ap__enter()) {
        return;
    }
    domain = ap__live(handle);
    if (domain != NULL && --domain->uses == 0) {
        atomic_store_explicit(&domain->handle, 0, memory_order_release);
    }
    ap__leave();
}

bool ap__mstx_domain_id(void *handle, uint64_t *id)
{
    const ap__domain *domain = ap__live(handle);

    if (domain == NULL && handle == AP_MSTX_DEFAULT && ap__enter()) {
        domain = ap__with_default() ? &ap__domains[0] : NULL;
        ap__leave();
    }
    if (domain != NULL) {
        *id = domain->id;
    }
    return domain != NULL;
}

/* ---- which are wanted ---- */

static bool ap__listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    while (*list != '\0') {
        size_t n = strcspn(list, ",");
        size_t from = 0;
        size_t to = n;

        while (from < to && list[from] == ' ') {
            from++;
        }
        while (to > from && list[to - 1] == ' ') {
            to--;
        }
        if (to - from == length && memcmp(list + from, name, length) == 0) {
            return true;
        }
        list += list[n] == ',' ? n + 1 : n;
    }
    return false;
}

/* With the lock. */
static bool ap__is_wanted(const char *name)
{
    const char *include = ap__include;
    const char *exclude = ap__exclude;

    if (include[0] == '\0' && exclude[0] == '\0') {
        include = secure_getenv("ACLPROF_MSTX_DOMAIN_INCLUDE");
        exclude = secure_getenv("ACLPROF_MSTX_DOMAIN_EXCLUDE");
    }
    return (include == NULL || include[0] == '\0' || ap__listed(include, name)) &&
           (exclude == NULL || !ap__listed(exclude, name));
}

void ap__mstx_choose(const char *include, const char *exclude)
{
    if (ap__enter()) {
        (void)snprintf(ap__include, sizeof(ap__include), "%s", include);
        (void)snprintf(ap__exclude, sizeof(ap__exclude), "%s", exclude);
        ap__leave();
    }
}

bool ap__mstx_domain_wanted(void *handle, uint64_t key, uint64_t *id)
{
    ap__domain *domain = NULL;
    uint64_t wanted = 0;

    if (!ap__mstx_domain_id(handle, id)) {
        return false;
    }
    domain = &ap__domains[(uintptr_t)handle & (AP_DOMAINS - 1u)];
    wanted = atomic_load_explicit(&domain->wanted, memory_order_relaxed);
    if (wanted >> 1 != (key & UINT64_MAX >> 1)) { /* once a capture */
        if (!ap__enter()) {
            return false;
        }
        wanted = key << 1 | (ap__is_wanted(domain->name) ? 1 : 0);
        atomic_store_explicit(&domain->wanted, wanted, memory_order_relaxed);
        ap__leave();
    }
    return (wanted & 1) != 0;
}

void ap__mstx_domains_child(void)
{
    if (!ap__inside) { /* else the thread that goes on in the child has it */
        (void)pthread_mutex_init(&ap__lock, NULL);
    }
    ap__include[0] = '\0'; /* no configuration profiles the child */
    ap__exclude[0] = '\0';
}
