/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/links.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/bulk.h"
#include "format/wire_host.h"

#define AP_DEPTH 64u
#define AP_SLOTS 1024u

/* Calls of one thread that are open at the sweep's time, outermost first. */
typedef struct ap__open_calls {
    uint32_t tid;
    uint32_t next; /* of the same slot + 1 */
    uint32_t depth;
    uint32_t calls[AP_DEPTH];
} ap__open_calls;

typedef struct ap__sweep {
    const ap__model *m;
    ap__open_calls *threads;
    uint32_t thread_count;
    uint32_t slots[AP_SLOTS];
} ap__sweep;

static ap__open_calls *ap__of_thread(ap__sweep *s, uint32_t tid)
{
    uint32_t *slot = &s->slots[(tid * 0x9E3779B1u) >> 22];
    ap__open_calls *t = NULL;

    for (uint32_t at = *slot; at != 0; at = s->threads[at - 1].next) {
        if (s->threads[at - 1].tid == tid) {
            return &s->threads[at - 1];
        }
    }
    t = ap__bulk_push((void **)&s->threads, &s->thread_count, sizeof(*t));
    if (t != NULL) {
        t->tid = tid;
        t->depth = 0;
        t->next = *slot;
        *slot = s->thread_count;
    }
    return t;
}

/* Calls that are over leave; those of one thread need not nest. */
static void ap__leave(const ap__sweep *s, ap__open_calls *t, uint64_t now)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->depth; i++) {
        if (s->m->calls[t->calls[i]].end_ns >= now) {
            t->calls[kept++] = t->calls[i];
        }
    }
    t->depth = kept;
}

static int ap__enter(ap__sweep *s, uint32_t call)
{
    const ap__api_call *c = &s->m->calls[call];
    ap__open_calls *t = ap__of_thread(s, c->tid);

    if (t == NULL) {
        return -1;
    }
    ap__leave(s, t, c->start_ns);
    if (t->depth == AP_DEPTH) { /* deeper than anything real: the outermost is forgotten */
        memmove(t->calls, t->calls + 1, (AP_DEPTH - 1) * sizeof(t->calls[0]));
        t->depth--;
    }
    t->calls[t->depth++] = call;
    return 0;
}

static uint32_t ap__choose(ap__sweep *s, ap__open_calls *t, uint64_t now)
{
    uint32_t acl = AP_NONE;

    ap__leave(s, t, now);
    for (uint32_t i = t->depth; i-- > 0;) {
        uint16_t level = s->m->calls[t->calls[i]].level;

        if (level == AP_LEVEL_NODE) {
            return t->calls[i];
        }
        if (level == AP_LEVEL_ACL && acl == AP_NONE) {
            acl = t->calls[i];
        }
    }
    return acl != AP_NONE || t->depth == 0 ? acl : t->calls[t->depth - 1];
}

uint32_t *ap__links_make(const ap__model *model)
{
    uint32_t *links = ap__bulk_make(model->track_count, sizeof(*links));
    ap__sweep *s = calloc(1, sizeof(*s));
    uint32_t call = 0;
    int rc = links != NULL && s != NULL ? 0 : -1;

    if (s != NULL) {
        s->m = model;
    }
    for (uint32_t i = 0; rc == 0 && i < model->track_count; i++) {
        const ap__track *track = &model->tracks[i];
        ap__open_calls *t = NULL;

        ap__bulk_step();
        while (rc == 0 && call < model->call_count &&
               model->calls[call].start_ns <= track->time_ns) {
            rc = ap__enter(s, call++);
        }
        t = rc == 0 ? ap__of_thread(s, track->tid) : NULL;
        rc = t != NULL ? 0 : -1;
        links[i] = t != NULL ? ap__choose(s, t, track->time_ns) : AP_NONE;
    }
    if (s != NULL) {
        ap__bulk_free(s->threads);
    }
    free(s);
    if (rc != 0) {
        ap__bulk_free(links);
        links = NULL;
    }
    return links;
}
