/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "session/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/errtext.h"

#define AP_NAME_MAX 255u

static bool ap__because(char reason[AP_PATH_REASON_SIZE], const char *level, const char *what,
                        int err)
{
    char quoted[AP_QUOTE_SIZE];
    char text[64] = "";

    (void)ap__quote(quoted, sizeof(quoted), level, strlen(level));
    (void)snprintf(reason, AP_PATH_REASON_SIZE,
                   "[%s] %s%s%s%s; give a directory that this process may write, or one that it "
                   "may create",
                   quoted, what, err != 0 ? " (" : "",
                   err != 0 ? strerror_r(err, text, sizeof(text)) : "", err != 0 ? ")" : "");
    return false;
}

static bool ap__too_long(char reason[AP_PATH_REASON_SIZE], size_t length)
{
    (void)snprintf(reason, AP_PATH_REASON_SIZE,
                   "its absolute form has %zu bytes, at most %u are possible; choose a shorter "
                   "path",
                   length, AP_PATH_MAX - 1);
    return false;
}

/* ---- absolute form ---- */

/* Appends the components; `used` is the length of what is in out. */
static bool ap__append(char out[AP_PATH_MAX], size_t *used, const char *path, size_t length)
{
    size_t at = 0;

    while (at < length) {
        const char *slash = memchr(path + at, '/', length - at);
        size_t n = slash != NULL ? (size_t)(slash - (path + at)) : length - at;

        if (n != 0 && !(n == 1 && path[at] == '.')) {
            if (*used + 1 + n >= AP_PATH_MAX) {
                return false;
            }
            out[(*used)++] = '/';
            memcpy(out + *used, path + at, n);
            *used += n;
        }
        at += n + 1;
    }
    out[*used] = '\0';
    return true;
}

static bool ap__absolute(const char *path, size_t length, char out[AP_PATH_MAX],
                         char reason[AP_PATH_REASON_SIZE])
{
    char cwd[AP_PATH_MAX];
    char text[64] = "";
    size_t used = 0;
    size_t before = 0;

    if (path[0] != '/') {
        if (getcwd(cwd, sizeof(cwd)) == NULL) {
            (void)snprintf(reason, AP_PATH_REASON_SIZE,
                           "it is relative and the current directory cannot be told (%s); give an "
                           "absolute path",
                           strerror_r(errno, text, sizeof(text)));
            return false;
        }
        before = strlen(cwd);
        (void)ap__append(out, &used, cwd, before);
    }
    if (!ap__append(out, &used, path, length)) {
        return ap__too_long(reason, before + (before != 0 ? 1 : 0) + length);
    }
    if (used == 0) {
        out[used++] = '/';
        out[used] = '\0';
    }
    return true;
}

/* ---- characters ---- */

static const char *ap__control_name(unsigned char c)
{
    switch (c) {
    case '\n':
        return "newline";
    case '\r':
        return "carriage return";
    case '\t':
        return "tab";
    case '\f':
        return "form feed";
    case '\v':
        return "vertical tab";
    case '\b':
        return "backspace";
    case 0x7F:
        return "delete";
    default:
        return "control character";
    }
}

static bool ap__characters(const char *path, char reason[AP_PATH_REASON_SIZE])
{
    static const char allowed[] = "control characters and \" ' \\ % > < | & $ ; ` are not possible "
                                  "in the absolute path; choose another one";

    for (const char *p = path; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        if (c < 0x20 || c == 0x7F) {
            (void)snprintf(reason, AP_PATH_REASON_SIZE, "it has the %s 0x%02x at byte %zu: %s",
                           ap__control_name(c), c, (size_t)(p - path), allowed);
            return false;
        }
        if (strchr("\"'\\%><|&$;`", c) != NULL) {
            (void)snprintf(reason, AP_PATH_REASON_SIZE, "it has the character %c at byte %zu: %s",
                           c, (size_t)(p - path), allowed);
            return false;
        }
    }
    return true;
}

static bool ap__components(const char *path, char reason[AP_PATH_REASON_SIZE])
{
    for (const char *p = path; *p != '\0';) {
        size_t n = strcspn(p, "/");

        if (n > AP_NAME_MAX) {
            (void)snprintf(reason, AP_PATH_REASON_SIZE,
                           "one of its components has %zu bytes, at most %u are possible; choose "
                           "a shorter name",
                           n, AP_NAME_MAX);
            return false;
        }
        p += n;
        p += *p == '/' ? 1 : 0;
    }
    return true;
}

/* ---- reachability ---- */

typedef enum ap__level { AP_LEVEL_DIR, AP_LEVEL_MISSING, AP_LEVEL_BAD } ap__level;

static ap__level ap__look(const char *level, char reason[AP_PATH_REASON_SIZE])
{
    struct stat st;
    int err = 0;

    if (stat(level, &st) == 0) {
        if (S_ISDIR(st.st_mode)) {
            return AP_LEVEL_DIR;
        }
        (void)ap__because(reason, level, "is not a directory", 0);
        return AP_LEVEL_BAD;
    }
    err = errno;
    if (err != ENOENT) {
        (void)ap__because(reason, level, "cannot be reached", err);
        return AP_LEVEL_BAD;
    }
    /* anything else that is there now has come since: from another process with the same path */
    if (lstat(level, &st) == 0 && S_ISLNK(st.st_mode)) {
        (void)ap__because(reason, level, "is a symbolic link to nothing", 0);
        return AP_LEVEL_BAD;
    }
    return AP_LEVEL_MISSING;
}

/* The deepest directory that exists is the one that must be writable. */
static bool ap__reachable(const char *path, char reason[AP_PATH_REASON_SIZE])
{
    char level[AP_PATH_MAX] = "/";
    size_t there = 1;
    size_t end = 0;

    while (path[end] != '\0') {
        ap__level found = AP_LEVEL_MISSING;

        end += 1 + strcspn(path + end + 1, "/");
        memcpy(level, path, end);
        level[end] = '\0';
        found = ap__look(level, reason);
        if (found == AP_LEVEL_BAD) {
            return false;
        }
        if (found == AP_LEVEL_MISSING) {
            break;
        }
        there = end;
    }
    level[there] = '\0';
    if (faccessat(AT_FDCWD, level, W_OK | X_OK, AT_EACCESS) != 0) {
        return ap__because(reason, level, "cannot be written by this process", errno);
    }
    return true;
}

bool ap__path_resolve(const char *path, size_t length, char out[AP_PATH_MAX],
                      char reason[AP_PATH_REASON_SIZE])
{
    return ap__absolute(path, length, out, reason) && ap__characters(out, reason) &&
           ap__components(out, reason) && ap__reachable(out, reason);
}
