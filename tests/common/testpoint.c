/* SPDX-License-Identifier: Apache-2.0 */
/* Only in builds with ACLPROF_TESTPOINTS: the process dies when it passes a point for the n-th
 * time, as ACLPROF_TESTPOINT=name:n in its environment asks for. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring/ring.h"

static char ap__point[64];
static _Atomic long ap__passes_left;
static pthread_once_t ap__once = PTHREAD_ONCE_INIT;

static void ap__read(void)
{
    const char *text = getenv("ACLPROF_TESTPOINT");
    const char *colon = text != NULL ? strrchr(text, ':') : NULL;

    if (colon != NULL && (size_t)(colon - text) < sizeof(ap__point)) {
        memcpy(ap__point, text, (size_t)(colon - text));
        atomic_store(&ap__passes_left, strtol(colon + 1, NULL, 10));
    }
}

void ap__testpoint(const char *name)
{
    (void)pthread_once(&ap__once, ap__read);
    if (strcmp(name, ap__point) == 0 &&
        atomic_fetch_sub_explicit(&ap__passes_left, 1, memory_order_relaxed) == 1) {
        (void)kill(getpid(), SIGKILL);
    }
}
