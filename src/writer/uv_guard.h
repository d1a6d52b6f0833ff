/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libuv gives up by abort() when a descriptor of its loop is gone, which a host may cause that
 * closes all descriptors. The bundled libuv calls ap__uv_abort instead (cmake/deps.cmake), and that
 * goes back to here.
 */
#ifndef AP_WRITER_UV_GUARD_H_
#define AP_WRITER_UV_GUARD_H_

#include <stdbool.h>
#include <uv.h>

/* uv_run; false: the loop is lost and must not be used again, nor its descriptors closed, which may
 * be somebody else's by now. */
bool ap__uv_run(uv_loop_t *loop);

/* uv_async_send. false: the descriptor is not the loop's any more, nobody is woken. Any thread. */
bool ap__uv_wake(uv_async_t *wake);

/* uv_loop_close of a loop that has ended, but for descriptors that are somebody else's now. */
void ap__uv_close(uv_loop_t *loop);

#endif
