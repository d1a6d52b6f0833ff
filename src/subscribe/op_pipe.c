/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "subscribe/op_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "clock/cycles.h"

#define AP_QUEUE 4096u
#define AP_CHUNK (PIPE_BUF / sizeof(ap__wire_op)) /* a pipe takes as much whole or not at all */
#define AP_POLL_MS 50
#define AP_STILL_MS 250u
#define AP_CLOSE_MS 2000u

struct ap__op_pipe {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int fd; /* our own */
    bool socket;
    bool ending;
    bool broken;
    uint32_t head; /* of the queue, oldest */
    uint32_t count;
    ap__op_pipe_counts counts;
    ap__wire_op queue[AP_QUEUE];
};

/* ---- writing ---- */

typedef struct ap__chunk {
    ap__wire_op records[AP_CHUNK];
    size_t bytes; /* 0: none */
    size_t at;    /* written of them */
} ap__chunk;

/* Whether something was written; -1: it never will be. */
static int ap__write_some(ap__op_pipe *pipe, ap__chunk *chunk)
{
    struct pollfd wait = {.fd = pipe->fd, .events = POLLOUT};
    const char *from = (const char *)chunk->records + chunk->at;
    size_t left = chunk->bytes - chunk->at;
    ssize_t n = 0;

    if (poll(&wait, 1, AP_POLL_MS) <= 0) {
        return 0;
    }
    if ((wait.revents & (POLLERR | POLLNVAL)) != 0) {
        return -1;
    }
    n = pipe->socket ? send(pipe->fd, from, left, MSG_DONTWAIT | MSG_NOSIGNAL)
                     : write(pipe->fd, from, left);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    chunk->at += (size_t)n;
    return n > 0;
}

/* Under the lock. */
static void ap__take(ap__op_pipe *pipe, ap__chunk *chunk)
{
    uint32_t n = pipe->count < AP_CHUNK ? pipe->count : (uint32_t)AP_CHUNK;

    for (uint32_t i = 0; i < n; i++) {
        chunk->records[i] = pipe->queue[(pipe->head + i) % AP_QUEUE];
    }
    pipe->head = (pipe->head + n) % AP_QUEUE;
    pipe->count -= n;
    chunk->bytes = n * sizeof(ap__wire_op);
    chunk->at = 0;
}

static void *ap__writer(void *arg)
{
    ap__op_pipe *pipe = arg;
    ap__chunk chunk = {.bytes = 0};
    uint64_t last = 0; /* of progress since the end began */
    uint64_t end = 0;

    pthread_mutex_lock(&pipe->lock);
    while (!pipe->broken) {
        int n = 0;

        while (chunk.bytes == 0 && pipe->count == 0 && !pipe->ending) {
            pthread_cond_wait(&pipe->changed, &pipe->lock);
        }
        if (chunk.bytes == 0 && pipe->count == 0) {
            break;
        }
        if (pipe->ending && end == 0) {
            last = ap__now_ms();
            end = last + AP_CLOSE_MS;
        }
        if (chunk.bytes == 0) {
            ap__take(pipe, &chunk);
        }
        pthread_mutex_unlock(&pipe->lock);
        n = ap__write_some(pipe, &chunk);
        pthread_mutex_lock(&pipe->lock);
        pipe->broken = n < 0;
        if (chunk.at == chunk.bytes) {
            pipe->counts.written += chunk.bytes / sizeof(ap__wire_op);
            chunk.bytes = 0;
        }
        if (end != 0) {
            uint64_t now = ap__now_ms();

            last = n > 0 ? now : last;
            pipe->broken = pipe->broken || now >= last + AP_STILL_MS || now >= end;
        }
    }
    /* whole records of a chunk that was begun have arrived */
    pipe->counts.written += chunk.bytes != 0 ? chunk.at / sizeof(ap__wire_op) : 0;
    pipe->counts.lost = pipe->counts.emitted - pipe->counts.written;
    pipe->count = 0;
    pthread_mutex_unlock(&pipe->lock);
    return NULL;
}

/* ---- interface ---- */

/* A pipe is opened anew, so that not blocking is ours alone; the program's end stays as it is. */
static int ap__own_fd(int fd, bool *socket)
{
    struct stat st;
    char path[40];
    int own = -1;

    if (fstat(fd, &st) != 0) {
        return -1;
    }
    *socket = S_ISSOCK(st.st_mode);
    if (S_ISFIFO(st.st_mode)) {
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    }
    return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int ap__op_pipe_open(ap__op_pipe **out, int fd)
{
    int mode = fcntl(fd, F_GETFL);
    ap__op_pipe *pipe = NULL;
    int rc = 0;

    if (mode == -1 || (mode & O_ACCMODE) == O_RDONLY) {
        return EBADF;
    }
    pipe = calloc(1, sizeof(*pipe));
    if (pipe == NULL) {
        return ENOMEM;
    }
    pipe->fd = ap__own_fd(fd, &pipe->socket);
    if (pipe->fd < 0) {
        rc = errno;
        free(pipe);
        return rc;
    }
    pthread_mutex_init(&pipe->lock, NULL);
    pthread_cond_init(&pipe->changed, NULL);
    /* SIGPIPE, too, stays with the thread and dies with it */
    rc = ap__own_thread(&pipe->thread, "aclprof-pipe", ap__writer, pipe);
    if (rc != 0) {
        (void)close(pipe->fd);
        free(pipe);
        return rc;
    }
    *out = pipe;
    return 0;
}

void ap__op_pipe_put(ap__op_pipe *pipe, const ap__wire_op *record)
{
    pthread_mutex_lock(&pipe->lock);
    pipe->counts.emitted++;
    if (pipe->count == AP_QUEUE || pipe->broken) {
        pipe->counts.lost++;
    } else {
        pipe->queue[(pipe->head + pipe->count++) % AP_QUEUE] = *record;
        pthread_cond_signal(&pipe->changed);
    }
    pthread_mutex_unlock(&pipe->lock);
}

ap__op_pipe_counts ap__op_pipe_close(ap__op_pipe *pipe)
{
    ap__op_pipe_counts counts;

    pthread_mutex_lock(&pipe->lock);
    pipe->ending = true;
    pthread_cond_signal(&pipe->changed);
    pthread_mutex_unlock(&pipe->lock);
    (void)pthread_join(pipe->thread, NULL);
    counts = pipe->counts;
    counts.lost = counts.emitted - counts.written;
    (void)close(pipe->fd);
    pthread_cond_destroy(&pipe->changed);
    pthread_mutex_destroy(&pipe->lock);
    free(pipe);
    return counts;
}

void ap__op_pipe_abandon(ap__op_pipe *pipe)
{
    (void)close(pipe->fd); /* the rest leaks: its lock may be held by a thread that is not here */
}
