/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the library's own in the program's process. */
#ifndef AP_BASE_OWN_THREAD_H_
#define AP_BASE_OWN_THREAD_H_

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE before the first include"
#endif

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct ap__own_start {
    void *(*run)(void *);
    void *argument;
    char name[16];
} ap__own_start;

static inline void *ap__own_thread_main(void *argument)
{
    ap__own_start start = *(ap__own_start *)argument;

    free(argument);
    (void)pthread_setname_np(pthread_self(), start.name);
    return start.run(start.argument);
}

/* Starts a thread in which every signal is blocked from its first instruction on, so that the
 * program's signals never land in it. name: "aclprof-…", at most 15 bytes; debuggers show it, and
 * by it the sampling of the program's threads leaves ours out. id NULL: detached. 0 or errno. */
static inline int ap__own_thread(pthread_t *id, const char *name, void *(*run)(void *),
                                 void *argument)
{
    ap__own_start *start = calloc(1, sizeof(*start));
    pthread_attr_t attr;
    pthread_t unused;
    sigset_t all;
    sigset_t saved;
    int rc = 0;

    if (start == NULL) {
        return ENOMEM;
    }
    start->run = run;
    start->argument = argument;
    memcpy(start->name, name, strnlen(name, sizeof(start->name) - 1));
    rc = pthread_attr_init(&attr);
    if (rc != 0) {
        free(start);
        return rc;
    }
    if (id == NULL) {
        (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    rc = pthread_create(id != NULL ? id : &unused, &attr, ap__own_thread_main, start);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    pthread_attr_destroy(&attr);
    if (rc != 0) {
        free(start);
    }
    return rc;
}

#endif
