/* SPDX-License-Identifier: Apache-2.0 */
#include "writer/uv_guard.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>

static __thread jmp_buf *ap__escape __attribute__((tls_model("initial-exec")));

_Noreturn void ap__uv_abort(void);
_Noreturn void ap__uv_abort(void)
{
    if (ap__escape != NULL) {
        longjmp(*ap__escape, 1);
    }
    abort();
}

bool ap__uv_run(uv_loop_t *loop)
{
    jmp_buf escape;
    volatile bool whole = false;

    ap__escape = &escape;
    if (setjmp(escape) == 0) {
        (void)uv_run(loop, UV_RUN_DEFAULT);
        whole = true;
    }
    ap__escape = NULL;
    return whole;
}

/* Our kind of descriptor (eventfd, epoll) is no file, pipe, socket or terminal: it has no type. */
static bool ap__kind_is_ours(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == 0;
}

bool ap__uv_wake(uv_async_t *wake)
{
    jmp_buf escape;
    volatile bool woken = false;

    if (!ap__kind_is_ours(wake->loop->async_io_watcher.fd)) {
        return false;
    }
    ap__escape = &escape;
    if (setjmp(escape) == 0) {
        woken = uv_async_send(wake) == 0;
    }
    ap__escape = NULL;
    return woken;
}

void ap__uv_close(uv_loop_t *loop)
{
    jmp_buf escape;

    if (!ap__kind_is_ours(loop->async_io_watcher.fd)) {
        loop->async_io_watcher.fd = -1;
        loop->async_wfd = -1;
    }
    if (!ap__kind_is_ours(loop->backend_fd)) {
        loop->backend_fd = -1;
    }
    ap__escape = &escape;
    if (setjmp(escape) == 0) {
        (void)uv_loop_close(loop);
    }
    ap__escape = NULL;
}
