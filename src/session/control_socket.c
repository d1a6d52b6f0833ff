/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/control_socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/own_thread.h"
#include "ring/thread.h"
#include "session/control_path.h"
#include "session/control_window.h"
#include "session/errtext.h"
#include "session/fork.h"
#include "session/state.h"
#include "writer/loop.h"

#define AP_LOOK_MS 2000 /* whether the program's own threads have all ended */
#define AP_PEER_SECONDS 2
#define AP_BACKLOG 8

_Atomic int ap__control_state;
_Atomic uint64_t ap__steps_ended;

static struct {
    int fd; /* of the listening socket; its file, as the program may close what is not its own */
    dev_t device;
    ino_t inode;
    pid_t owner;
    char path[AP_CONTROL_PATH_MAX + 32];
    dev_t path_device;
    ino_t path_inode;
} ap__control = {.fd = -1};

static pthread_mutex_t ap__opening = PTHREAD_MUTEX_INITIALIZER;

/* ---- serving ---- */

static bool ap__fd_is_ours(void)
{
    struct stat st;

    return ap__control.fd >= 0 && fstat(ap__control.fd, &st) == 0 &&
           st.st_dev == ap__control.device && st.st_ino == ap__control.inode;
}

static bool ap__peer_may(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof(peer) &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* A line without its end; false: none has come in time. */
static bool ap__read_line(int fd, char line[AP_CONTROL_LINE_MAX])
{
    size_t used = 0;

    while (used < AP_CONTROL_LINE_MAX - 1) {
        ssize_t n = recv(fd, line + used, AP_CONTROL_LINE_MAX - 1 - used, 0);
        char *end = NULL;

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        end = memchr(line + used, '\n', (size_t)n);
        used += (size_t)n;
        if (end != NULL) {
            *end = '\0';
            return memchr(line, '\0', used) == end;
        }
    }
    return false;
}

static void ap__send_all(int fd, const char *text)
{
    size_t left = strlen(text);

    while (left != 0) {
        ssize_t n = send(fd, text, left, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        text += n;
        left -= (size_t)n;
    }
}

static void ap__serve(int fd)
{
    static char line[AP_CONTROL_LINE_MAX]; /* of this thread alone */
    static char answer[2 * AP_CONTROL_LINE_MAX];
    struct timeval patience = {.tv_sec = AP_PEER_SECONDS};

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (ap__peer_may(fd) && ap__read_line(fd, line)) {
        ap__control_answer(line, answer, sizeof(answer));
        ap__send_all(fd, answer);
    }
    close(fd);
}

static void *ap__control_main(void *arg)
{
    (void)arg;
    ap__thread_helps = true;
    while (ap__fd_is_ours()) {
        int due = ap__control_turn();
        struct pollfd p = {.fd = ap__control.fd, .events = POLLIN};
        int ready = poll(&p, 1, due >= 0 && due < AP_LOOK_MS ? due : AP_LOOK_MS);

        if (ready > 0 && (p.revents & POLLIN) != 0 && ap__fd_is_ours()) {
            int fd = accept4(ap__control.fd, NULL, NULL, SOCK_CLOEXEC);

            if (fd >= 0) {
                ap__serve(fd);
            }
        } else if (ready > 0 || (ready < 0 && errno != EINTR)) {
            break;
        }
        if (ready == 0 && ap__process_left(0)) {
            break; /* the C library calls exit() when its last thread ends */
        }
    }
    atomic_store(&ap__control_state, AP_CONTROL_OFF);
    atomic_fetch_sub(&ap__helper_threads, 1);
    return NULL;
}

/* ---- opening ---- */

static bool ap__start_thread(void)
{
    bool started = false;

    atomic_fetch_add(&ap__helper_threads, 1);
    started = ap__own_thread(NULL, "aclprof-control", ap__control_main, NULL) == 0;
    if (!started) {
        atomic_fetch_sub(&ap__helper_threads, 1);
    }
    return started;
}

/* Left by a process of this number that was killed: nobody listens. */
static bool ap__is_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool stale = fd >= 0 &&
                 connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
                 errno == ECONNREFUSED;

    if (fd >= 0) {
        close(fd);
    }
    return stale;
}

static bool ap__bind(int fd, const struct sockaddr_un *address)
{
    if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
        return true;
    }
    return errno == EADDRINUSE && ap__is_stale(address) && unlink(address->sun_path) == 0 &&
           bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
}

/* Nobody can connect before listen(), when its mode is right. */
static bool ap__listen(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char dir[AP_CONTROL_PATH_MAX];
    struct stat st;

    if (!ap__control_dir(dir) || (mkdir(dir, 0700) != 0 && errno != EEXIST) ||
        !ap__control_dir_is_ours(dir)) {
        return false;
    }
    (void)snprintf(ap__control.path, sizeof(ap__control.path), "%s/%ld" AP_CONTROL_SUFFIX, dir,
                   (long)getpid());
    memcpy(address.sun_path, ap__control.path, strlen(ap__control.path) + 1);
    ap__control.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (ap__control.fd < 0 || fstat(ap__control.fd, &st) != 0 ||
        !ap__bind(ap__control.fd, &address)) {
        return false;
    }
    ap__control.device = st.st_dev;
    ap__control.inode = st.st_ino;
    ap__control.owner = getpid();
    if (chmod(ap__control.path, 0600) != 0 || lstat(ap__control.path, &st) != 0 ||
        listen(ap__control.fd, AP_BACKLOG) != 0) {
        (void)unlink(ap__control.path);
        return false;
    }
    ap__control.path_device = st.st_dev;
    ap__control.path_inode = st.st_ino;
    return true;
}

static void ap__open_now(void)
{
    const char *wanted = ap__session_env("ACLPROF_CONTROL");
    char why[64] = "";

    if (wanted == NULL || strcmp(wanted, "1") != 0) {
        atomic_store(&ap__control_state, AP_CONTROL_OFF);
        return;
    }
    (void)ap__fork_install();
    errno = 0;
    if (ap__listen() && ap__start_thread()) {
        atomic_store(&ap__control_state, AP_CONTROL_ON);
        ap__log(AP_LOG_INFO, "captures can be begun by %s", ap__control.path);
        return;
    }
    ap__log(AP_LOG_WARN, "ACLPROF_CONTROL: there is no control socket: %s: %s", ap__control.path,
            errno != 0 ? strerror_r(errno, why, sizeof(why)) : "its directory is not this user's");
    ap__control_close();
    if (ap__control.fd >= 0) {
        close(ap__control.fd);
        ap__control.fd = -1;
    }
    atomic_store(&ap__control_state, AP_CONTROL_OFF);
}

bool ap__control_open(void)
{
    int saved = errno;

    pthread_mutex_lock(&ap__opening);
    if (atomic_load(&ap__control_state) == AP_CONTROL_UNASKED) {
        ap__open_now();
    }
    pthread_mutex_unlock(&ap__opening);
    errno = saved;
    return atomic_load(&ap__control_state) == AP_CONTROL_ON;
}

void ap__control_close(void)
{
    struct stat st;

    if (ap__control.path_inode != 0 && ap__control.owner == getpid() &&
        lstat(ap__control.path, &st) == 0 && st.st_dev == ap__control.path_device &&
        st.st_ino == ap__control.path_inode) {
        (void)unlink(ap__control.path);
    }
    ap__control.path_inode = 0;
}

void ap__control_child(void)
{
    if (ap__fd_is_ours()) {
        close(ap__control.fd);
    }
    ap__control.fd = -1;
    ap__control.path_inode = 0;
    atomic_store(&ap__helper_threads, 0);
    (void)pthread_mutex_init(&ap__opening, NULL); /* its holder may be in the parent */
    atomic_store(&ap__control_state, AP_CONTROL_UNASKED);
}
