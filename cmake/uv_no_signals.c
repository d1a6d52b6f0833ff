/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of libuv's unix/signal.c, whose pipes, fork handler and aborts a guest in somebody
 * else's process must not have. Our loop watches no signals and starts no processes. */
#include "uv.h"

#include "internal.h"

void uv__signal_global_once_init(void)
{
}

void uv__signal_cleanup(void)
{
}

int uv__signal_loop_fork(uv_loop_t *loop)
{
    (void)loop;
    return 0;
}

void uv__signal_loop_cleanup(uv_loop_t *loop)
{
    (void)loop;
}

int uv_signal_init(uv_loop_t *loop, uv_signal_t *handle)
{
    uv__handle_init(loop, (uv_handle_t *)handle, UV_SIGNAL);
    handle->signum = 0;
    handle->caught_signals = 0;
    handle->dispatched_signals = 0;
    return 0;
}

void uv__signal_close(uv_signal_t *handle)
{
    (void)handle;
}

int uv_signal_start(uv_signal_t *handle, uv_signal_cb signal_cb, int signum)
{
    (void)handle;
    (void)signal_cb;
    (void)signum;
    return UV_ENOSYS;
}

int uv_signal_start_oneshot(uv_signal_t *handle, uv_signal_cb signal_cb, int signum)
{
    return uv_signal_start(handle, signal_cb, signum);
}

int uv_signal_stop(uv_signal_t *handle)
{
    (void)handle;
    return 0;
}
