/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/fork.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "reporter/modules.h"
#include "reporter/mstx_domains.h"
#include "ring/gate.h"
#include "ring/thread.h"
#include "session/now.h"
#include "session/session.h"
#include "stamp/intern.h"
#include "stamp/mstx_ranges.h"
#include "stamp/pool.h"
#include "stamp/range.h"
#include "stamp/type_names.h"
#include "subscribe/op_names.h"
#include "subscribe/subscribe.h"
#include "writer/capture.h"
#include "writer/json_parse.h"
#include "writer/texts.h"

static pthread_once_t ap__install_once = PTHREAD_ONCE_INIT;
static int ap__install_rc;
static sigset_t ap__saved; /* both under all the locks */
static bool ap__held;      /* the session's lock and what is below it */

/* In the order in which the library nests them. Signals stay blocked meanwhile: a handler that
 * stamps must not want a lock that its own thread holds. */
static void ap__prepare(void)
{
    sigset_t all;
    sigset_t saved;
    sigset_t inner;
    bool held = false;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    held = ap__session_prefork();
    if (held) {
        ap__capture_prefork();
    }
    ap__texts_lock();
    ap__threads_lock(&inner);
    ap__stamp_pool_lock();
    ap__range_lock();
    ap__intern_lock();
    ap__types_lock();
    ap__modules_lock();
    ap__now_lock();
    ap__subscribe_lock();
    ap__op_names_lock();
    ap__json_lock();
    ap__saved = saved;
    ap__held = held;
}

static void ap__parent(void)
{
    sigset_t saved = ap__saved;

    ap__json_unlock();
    ap__op_names_unlock();
    ap__subscribe_unlock();
    ap__now_unlock();
    ap__modules_unlock();
    ap__types_unlock();
    ap__intern_unlock();
    ap__range_unlock();
    ap__stamp_pool_unlock();
    ap__texts_unlock();
    if (ap__held) {
        ap__capture_parent();
        ap__session_parent();
    }
    ap__threads_unlock(&saved); /* restores the signal mask, too */
}

static void ap__child(void)
{
    sigset_t saved = ap__saved;

    atomic_store_explicit(&ap__the_gate.key, 0, memory_order_relaxed);
    atomic_store_explicit(&ap__the_gate.reports, 0, memory_order_relaxed);
    ap__json_unlock();
    ap__op_names_unlock();
    ap__subscribe_child();
    ap__now_unlock();
    ap__modules_child();
    ap__texts_child();
    ap__types_child();
    ap__intern_child();
    ap__range_child();
    ap__mstx_ranges_child();
    ap__mstx_domains_child();
    ap__stamp_pool_child();
    ap__threads_child();
    if (ap__held) {
        ap__session_child();
    }
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

static void ap__install(void)
{
    ap__install_rc = pthread_atfork(ap__prepare, ap__parent, ap__child);
}

int ap__fork_install(void)
{
    (void)pthread_once(&ap__install_once, ap__install);
    return ap__install_rc;
}
