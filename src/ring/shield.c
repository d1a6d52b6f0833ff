/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "ring/shield.h"

#include <errno.h>
#include <time.h>

static bool ap__pending(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigpending(&set);
    return sigismember(&set, SIGXFSZ) == 1;
}

void ap__shield_raise(ap__shield *shield)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, &shield->saved);
    shield->was_pending = ap__pending();
}

void ap__shield_drop(const ap__shield *shield)
{
    int saved_errno = errno;

    if (!shield->was_pending && ap__pending()) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGXFSZ);
        (void)sigtimedwait(&set, NULL, &(struct timespec){0, 0});
    }
    pthread_sigmask(SIG_SETMASK, &shield->saved, NULL);
    errno = saved_errno;
}
