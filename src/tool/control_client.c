/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/control_client.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "reader/reader.h"

#define AP_PATIENCE_SECONDS 60 /* a Stop may have to wait for devices */

/* ---- which ---- */

static ap__peer *ap__add(ap__peers *peers)
{
    ap__peer *list = NULL;

    if (peers->count >= AP_CONTROL_PEERS) {
        return NULL;
    }
    list = realloc(peers->list, (peers->count + 1) * sizeof(*list));
    if (list == NULL) {
        return NULL;
    }
    peers->list = list;
    memset(&list[peers->count], 0, sizeof(*list));
    list[peers->count].fd = -1;
    return &list[peers->count++];
}

static bool ap__parse_pid(const char *text, const char *end, pid_t *pid)
{
    char *stop = NULL;
    long n = strtol(text, &stop, 10);

    *pid = (pid_t)n;
    return text[0] >= '1' && text[0] <= '9' && stop == end && n > 0 && n <= INT32_MAX;
}

static bool ap__set_path(ap__peer *peer, const char *dir, pid_t pid)
{
    peer->pid = pid;
    return snprintf(peer->path, sizeof(peer->path), "%s/%ld" AP_CONTROL_SUFFIX, dir, (long)pid) <
           (int)sizeof(peer->path);
}

int ap__peers_all(ap__peers *peers)
{
    char dir[AP_CONTROL_PATH_MAX];
    DIR *d = NULL;

    if (!ap__control_dir(dir)) {
        return ENAMETOOLONG;
    }
    if (!ap__control_dir_is_ours(dir)) {
        return access(dir, F_OK) == 0 ? EPERM : 0;
    }
    d = opendir(dir);
    for (struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d)) {
        const char *suffix = strstr(e->d_name, AP_CONTROL_SUFFIX);
        ap__peer *peer = NULL;
        pid_t pid = 0;

        if (suffix == NULL || strcmp(suffix, AP_CONTROL_SUFFIX) != 0 ||
            !ap__parse_pid(e->d_name, suffix, &pid)) {
            continue;
        }
        if (kill(pid, 0) != 0 && errno == ESRCH) {
            (void)unlinkat(dirfd(d), e->d_name, 0);
            continue;
        }
        peer = ap__add(peers);
        if (peer == NULL || !ap__set_path(peer, dir, pid)) {
            break;
        }
    }
    if (d != NULL) {
        closedir(d);
    }
    return 0;
}

/* The process that writes a directory. */
static bool ap__pid_of_result(const char *path, pid_t *pid, char *text, size_t size)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(path, &error);
    bool ok = false;

    if (reader == NULL) {
        (void)snprintf(text, size, "%s", error.text);
        return false;
    }
    ok = ap__reader_state_of(reader) == AP_READER_RUNNING && ap__reader_meta(reader)->pid != 0;
    *pid = (pid_t)ap__reader_meta(reader)->pid;
    ap__reader_close(reader);
    if (!ok) {
        (void)snprintf(text, size, "%s is not being written any more", path);
    }
    return ok;
}

bool ap__peers_add(ap__peers *peers, const char *target, char *text, size_t size)
{
    char dir[AP_CONTROL_PATH_MAX];
    struct stat st;
    ap__peer *peer = NULL;
    pid_t pid = 0;
    bool is_socket = stat(target, &st) == 0 && S_ISSOCK(st.st_mode);
    bool is_pid = !is_socket && ap__parse_pid(target, target + strlen(target), &pid);

    if (!is_socket && !is_pid && !ap__pid_of_result(target, &pid, text, size)) {
        return false;
    }
    peer = ap__add(peers);
    if (peer == NULL ||
        (is_socket ? snprintf(peer->path, sizeof(peer->path), "%s", target) >=
                         (int)sizeof(peer->path)
                   : !ap__control_dir(dir) || !ap__set_path(peer, dir, pid))) {
        (void)snprintf(text, size, "%s: too many, or too long a path", target);
        return false;
    }
    return true;
}

void ap__peers_free(ap__peers *peers)
{
    for (uint32_t i = 0; i < peers->count; i++) {
        if (peers->list[i].fd >= 0) {
            close(peers->list[i].fd);
        }
    }
    free(peers->list);
    *peers = (ap__peers){NULL, 0};
}

/* ---- asking ---- */

static void ap__fail(ap__peer *peer, const char *why, int error)
{
    (void)snprintf(peer->answer, sizeof(peer->answer), "error %s%s%s\n", why,
                   error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
    if (peer->fd >= 0) {
        close(peer->fd);
        peer->fd = -1;
    }
}

/* A directory that others may write could hold a socket of theirs. */
static bool ap__is_of(int fd)
{
    struct ucred server;
    socklen_t size = sizeof(server);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &size) == 0 &&
           (server.uid == geteuid() || geteuid() == 0);
}

static void ap__send(ap__peer *peer, const char *line, size_t length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = AP_PATIENCE_SECONDS};
    size_t path = strlen(peer->path);

    peer->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (peer->fd < 0 || path >= sizeof(address.sun_path)) {
        ap__fail(peer, "no socket", errno);
        return;
    }
    memcpy(address.sun_path, peer->path, path + 1);
    (void)setsockopt(peer->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    (void)setsockopt(peer->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(peer->fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        ap__fail(peer,
                 errno == ENOENT || errno == ECONNREFUSED
                     ? "it has no control socket (was it started with ACLPROF_CONTROL=1, and has "
                       "it used the profiler yet?)"
                     : "it cannot be reached",
                 errno);
    } else if (!ap__is_of(peer->fd)) {
        ap__fail(peer, "the socket belongs to somebody else", 0);
    } else if (send(peer->fd, line, length, MSG_NOSIGNAL) != (ssize_t)length) {
        ap__fail(peer, "it does not listen", errno);
    }
}

static void ap__receive(ap__peer *peer)
{
    size_t used = 0;
    ssize_t n = 0;

    while (used < sizeof(peer->answer) - 1 &&
           ((n = recv(peer->fd, peer->answer + used, sizeof(peer->answer) - 1 - used, 0)) > 0 ||
            (n < 0 && errno == EINTR))) {
        used += n > 0 ? (size_t)n : 0;
    }
    peer->answer[used] = '\0';
    peer->ok = strncmp(peer->answer, "ok\n", 3) == 0;
    for (size_t i = 0; i < used; i++) { /* it goes to a terminal */
        unsigned char c = (unsigned char)peer->answer[i];

        peer->answer[i] = (c < ' ' && c != '\n') || c == 0x7F ? '?' : peer->answer[i];
    }
    if (n < 0 || (!peer->ok && strncmp(peer->answer, "error ", 6) != 0)) {
        peer->ok = false;
        ap__fail(peer, "it does not answer", n < 0 ? errno : 0);
    }
    if (peer->fd >= 0) {
        close(peer->fd);
        peer->fd = -1;
    }
}

void ap__peers_ask(ap__peers *peers, const char *line)
{
    for (uint32_t i = 0; i < peers->count; i++) {
        ap__send(&peers->list[i], line, strlen(line));
    }
    for (uint32_t i = 0; i < peers->count; i++) {
        if (peers->list[i].fd >= 0) {
            ap__receive(&peers->list[i]);
        }
    }
}

const char *ap__peer_value(ap__peer *peer, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);

    for (const char *line = peer->answer; *line != '\0'; line += strcspn(line, "\n")) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            const char *value = line + length + 1;

            (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
            return out;
        }
    }
    return NULL;
}
