/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AP_MANIFEST ".aclprof-installed"
#define AP_MANIFEST_HEAD "aclprof-install 1\n"
#define AP_KEPT ".vendor"
#define AP_PART ".aclprof-part"

/* What makes a directory the vendor's, and what is replaced there. */
#define AP_FRONT "libmsprofiler.so"

typedef struct ap__place {
    const char *name;
    bool only_with_all;
    bool new_file; /* there may be none of the vendor's */
} ap__place;

static const ap__place ap__places[] = {
    {"libacl_prof.so", false, true}, /* the core first: the others need it beside them */
    {"libprofapi.so", true, false},
    {AP_FRONT, false, false},
};

#define AP_PLACES (sizeof(ap__places) / sizeof(ap__places[0]))

typedef struct ap__install {
    const char *prefix;
    char from[PATH_MAX];
    bool all;
    int dir; /* of the vendor's libraries */
    char dir_path[PATH_MAX];
    int source;
} ap__install;

/* ---- files ---- */

typedef struct ap__print {
    uint64_t bytes;
    uint64_t hash; /* FNV-1a: to know our own file again, no more */
} ap__print;

static bool ap__print_of(int dir, const char *name, ap__print *out)
{
    unsigned char buffer[65536];
    struct stat st;
    ssize_t n = 0;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    *out = (ap__print){0, 0xcbf29ce484222325ull};
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        n = -1;
    }
    while (n >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            out->hash = (out->hash ^ buffer[i]) * 0x100000001b3ull;
        }
        out->bytes += (uint64_t)n;
    }
    if (fd >= 0) {
        close(fd);
    }
    return n == 0;
}

static bool ap__exists(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* 0 or errno; the copy has the name and AP_PART. */
static int ap__copy(int source, int dir, const char *name)
{
    char part[NAME_MAX + 1];
    char buffer[65536];
    ssize_t n = 0;
    int err = 0;
    int in = openat(source, name, O_RDONLY | O_CLOEXEC);
    int out = -1;

    (void)snprintf(part, sizeof(part), "%s" AP_PART, name);
    if (in < 0) {
        return errno;
    }
    (void)unlinkat(dir, part, 0);
    out = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0755);
    if (out < 0) {
        err = errno;
    } else {
        (void)fchmod(out, 0755);
    }
    while (err == 0 && (n = read(in, buffer, sizeof(buffer))) > 0) {
        for (ssize_t at = 0; err == 0 && at < n;) {
            ssize_t w = write(out, buffer + at, (size_t)(n - at));

            at += w > 0 ? w : 0;
            err = w < 0 && errno != EINTR ? errno : 0;
        }
    }
    err = err == 0 && n < 0 ? errno : err;
    if (out >= 0 && (err == 0 ? fsync(out) : 0) != 0) {
        err = errno;
    }
    if (out >= 0 && close(out) != 0 && err == 0) {
        err = errno;
    }
    if (err != 0 && out >= 0) {
        (void)unlinkat(dir, part, 0);
    }
    close(in);
    return err;
}

/* ---- where ---- */

/* lib64, or where it is for an architecture; a symbolic link to another of them is the same place.
 */
static bool ap__find_vendor(ap__install *in, const char *verb)
{
    static const char *const below[] = {"lib64", "aarch64-linux/lib64", "x86_64-linux/lib64", ""};

    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/%s", in->prefix, below[i]) >= (int)sizeof(path) ||
            realpath(path, in->dir_path) == NULL) {
            continue;
        }
        in->dir = open(in->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (in->dir >= 0 && (ap__exists(in->dir, AP_FRONT) || ap__exists(in->dir, AP_MANIFEST))) {
            return true;
        }
        if (in->dir >= 0) {
            close(in->dir);
            in->dir = -1;
        }
    }
    fprintf(
        stderr,
        "aclprof %s: --prefix '%s' is no CANN tree: there is no %s in its lib64, "
        "aarch64-linux/lib64 or x86_64-linux/lib64; give the directory that has lib64 below it, "
        "such as a copy of $ASCEND_HOME_PATH\n",
        verb, in->prefix, AP_FRONT);
    return false;
}

/* Our libraries: --from, else beside the program or in a lib directory near it. */
static bool ap__find_ours(ap__install *in)
{
    static const char *const near[] = {"", "/../lib", "/../lib64", "/../lib/x86_64-linux-gnu",
                                       "/../lib/aarch64-linux-gnu"};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    char *slash = NULL;

    if (in->from[0] != '\0') {
        in->source = open(in->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return in->source >= 0 && ap__exists(in->source, ap__places[0].name);
    }
    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    for (size_t i = 0; slash != NULL && i < sizeof(near) / sizeof(near[0]); i++) {
        if (snprintf(in->from, sizeof(in->from), "%s%s", exe, near[i]) < (int)sizeof(in->from)) {
            in->source = open(in->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (in->source >= 0 && ap__exists(in->source, ap__places[0].name)) {
                return true;
            }
            if (in->source >= 0) {
                close(in->source);
            }
        }
    }
    in->source = -1;
    return false;
}

/* ---- manifest: "NAME BYTES HASH kept|new" a line ---- */

typedef struct ap__entry {
    char name[64];
    ap__print print;
    bool kept; /* the vendor's is NAME.vendor */
} ap__entry;

/* Number of entries, -1 when the file is not one of ours. 0: there is none. */
static int ap__manifest_read(int dir, ap__entry entries[AP_PLACES])
{
    int fd = openat(dir, AP_MANIFEST, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char line[256] = "";
    char kept[8];
    int count = 0;

    if (file == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return fd < 0 && errno == ENOENT ? 0 : -1;
    }
    if (fgets(line, sizeof(line), file) == NULL || strcmp(line, AP_MANIFEST_HEAD) != 0) {
        count = -1;
    }
    while (count >= 0 && fgets(line, sizeof(line), file) != NULL) {
        ap__entry *e = &entries[count];
        bool known = false;

        if (count == (int)AP_PLACES ||
            sscanf(line, "%63s %lu %lx %7s", e->name, &e->print.bytes, &e->print.hash, kept) != 4) {
            count = -1;
            break;
        }
        for (size_t i = 0; i < AP_PLACES; i++) {
            known = known || strcmp(ap__places[i].name, e->name) == 0;
        }
        e->kept = strcmp(kept, "kept") == 0;
        count = known ? count + 1 : -1;
    }
    fclose(file);
    return count;
}

static int ap__manifest_write(int dir, const ap__entry *entries, int count)
{
    int fd = openat(dir, AP_MANIFEST AP_PART, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                    0644);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool ok = file != NULL && fputs(AP_MANIFEST_HEAD, file) >= 0;

    for (int i = 0; ok && i < count; i++) {
        ok = fprintf(file, "%s %lu %lx %s\n", entries[i].name, entries[i].print.bytes,
                     entries[i].print.hash, entries[i].kept ? "kept" : "new") > 0;
    }
    if (file != NULL) {
        ok = fclose(file) == 0 && ok;
    } else if (fd >= 0) {
        close(fd);
    }
    if (!ok || renameat(dir, AP_MANIFEST AP_PART, dir, AP_MANIFEST) != 0) {
        int err = errno != 0 ? errno : EIO;

        (void)unlinkat(dir, AP_MANIFEST AP_PART, 0);
        return err;
    }
    return 0;
}

/* ---- the two verbs ---- */

/* Puts the vendor's file back in its place. 0 or errno. */
static int ap__restore(int dir, const ap__entry *e)
{
    char kept[NAME_MAX + 1];

    (void)snprintf(kept, sizeof(kept), "%s" AP_KEPT, e->name);
    if (e->kept) {
        return renameat(dir, kept, dir, e->name) == 0 || errno == ENOENT ? 0 : errno;
    }
    return unlinkat(dir, e->name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

/* 0 or errno; entries of what was replaced so far are in the manifest before each replacement. */
static int ap__replace(ap__install *in, const ap__place *place, ap__entry *entries, int *count)
{
    ap__entry *e = &entries[*count];
    char part[NAME_MAX + 1];
    char kept[NAME_MAX + 1];
    int err = 0;

    (void)snprintf(e->name, sizeof(e->name), "%s", place->name);
    (void)snprintf(part, sizeof(part), "%s" AP_PART, place->name);
    (void)snprintf(kept, sizeof(kept), "%s" AP_KEPT, place->name);
    e->kept = ap__exists(in->dir, place->name);
    if (ap__exists(in->dir, kept)) {
        fprintf(stderr, "aclprof install: %s/%s is there already, and not from aclprof\n",
                in->dir_path, kept);
        return EEXIST;
    }
    err = ap__copy(in->source, in->dir, place->name);
    if (err != 0 || !ap__print_of(in->dir, part, &e->print)) {
        fprintf(stderr, "aclprof install: %s/%s: %s\n", in->from, place->name,
                strerror(err != 0 ? err : EIO));
        return err != 0 ? err : EIO;
    }
    err = ap__manifest_write(in->dir, entries, *count + 1);
    if (err == 0 && e->kept && linkat(in->dir, place->name, in->dir, kept, 0) != 0) {
        err = renameat(in->dir, place->name, in->dir, kept) == 0 ? 0 : errno; /* no hard links */
    }
    if (err == 0) {
        (*count)++;
        err = renameat(in->dir, part, in->dir, place->name) == 0 ? 0 : errno;
    }
    if (err != 0) {
        (void)unlinkat(in->dir, part, 0);
        fprintf(stderr, "aclprof install: %s/%s: %s\n", in->dir_path, place->name, strerror(err));
    }
    return err;
}

static int ap__install_all(ap__install *in)
{
    ap__entry entries[AP_PLACES];
    int count = ap__manifest_read(in->dir, entries);
    int err = 0;

    if (count != 0) {
        fprintf(stderr,
                count > 0 ? "aclprof install: %s has it already; uninstall first to replace it\n"
                          : "aclprof install: %s/" AP_MANIFEST " is not readable as one of ours\n",
                in->dir_path);
        return 1;
    }
    for (size_t i = 0; err == 0 && i < AP_PLACES; i++) {
        const ap__place *p = &ap__places[i];

        if (p->only_with_all && (!in->all || !ap__exists(in->dir, p->name))) {
            continue;
        }
        err = ap__replace(in, p, entries, &count);
    }
    if (err != 0) {
        while (count > 0) {
            (void)ap__restore(in->dir, &entries[--count]);
        }
        (void)unlinkat(in->dir, AP_MANIFEST, 0);
        fprintf(stderr, "aclprof install: everything is as before\n");
        return 1;
    }
    for (int i = 0; i < count; i++) {
        printf("%s/%s%s\n", in->dir_path, entries[i].name,
               entries[i].kept ? " (the vendor's is " AP_KEPT ")" : "");
    }
    return 0;
}

static int ap__uninstall_all(ap__install *in)
{
    ap__entry entries[AP_PLACES];
    int count = ap__manifest_read(in->dir, entries);
    int failed = 0;

    if (count < 0) {
        fprintf(stderr, "aclprof uninstall: %s/" AP_MANIFEST " is not readable as one of ours\n",
                in->dir_path);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        ap__print now;

        if (ap__exists(in->dir, entries[i].name) &&
            (!ap__print_of(in->dir, entries[i].name, &now) || now.bytes != entries[i].print.bytes ||
             now.hash != entries[i].print.hash)) {
            fprintf(stderr,
                    "aclprof uninstall: %s/%s is not the file that was installed; nothing is "
                    "changed. Move it away if it is not wanted.\n",
                    in->dir_path, entries[i].name);
            return 1;
        }
    }
    while (count > 0) { /* the front before the core that it needs */
        int err = ap__restore(in->dir, &entries[--count]);

        if (err != 0) {
            fprintf(stderr, "aclprof uninstall: %s/%s: %s\n", in->dir_path, entries[count].name,
                    strerror(err));
            failed = 1;
        } else {
            printf("%s/%s %s\n", in->dir_path, entries[count].name,
                   entries[count].kept ? "is the vendor's again" : "is gone");
        }
    }
    if (failed == 0) {
        (void)unlinkat(in->dir, AP_MANIFEST, 0);
    }
    return failed;
}

static void ap__usage(FILE *out, const char *verb)
{
    fprintf(out,
            "Usage: aclprof %s --prefix DIR%s\n\n"
            "  --prefix DIR  a CANN tree (what $ASCEND_HOME_PATH is), or a copy of one\n"
            "  --help        print this\n",
            verb, strcmp(verb, "install") == 0 ? " [--from DIR] [--all]" : "");
    if (strcmp(verb, "install") == 0) {
        fprintf(out,
                "  --from DIR    where libacl_prof.so, libmsprofiler.so and libprofapi.so of this\n"
                "                project are (default: beside this program, or in its lib)\n"
                "  --all         libprofapi.so, too: then the records of all CANN libraries come "
                "here\n\n"
                "The vendor's files stay beside ours as NAME.vendor; `aclprof uninstall` puts them "
                "back.\n");
    }
}

static int ap__options(int argc, char **argv, ap__install *in)
{
    static const struct option names[] = {{"prefix", required_argument, NULL, 'p'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"all", no_argument, NULL, 'a'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option = 0;

    *in = (ap__install){.dir = -1, .source = -1};
    optind = 0;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option == 'h') {
            ap__usage(stdout, argv[0]);
            return 0;
        }
        if (option == 'p') {
            in->prefix = optarg;
        } else if (option == 'f') {
            if (snprintf(in->from, sizeof(in->from), "%s", optarg) >= (int)sizeof(in->from)) {
                fprintf(stderr, "aclprof %s: --from is too long\n", argv[0]);
                return 2;
            }
        } else if (option == 'a') {
            in->all = true;
        } else {
            ap__usage(stderr, argv[0]);
            return 2;
        }
    }
    if (in->prefix == NULL || optind < argc) {
        ap__usage(stderr, argv[0]);
        return 2;
    }
    return -1;
}

int ap__verb_install(int argc, char **argv)
{
    ap__install in;
    int code = ap__options(argc, argv, &in);

    if (code >= 0) {
        return code;
    }
    if (!ap__find_vendor(&in, argv[0])) {
        return 1;
    }
    if (!ap__find_ours(&in)) {
        fprintf(stderr, "aclprof install: libacl_prof.so was not found; tell with --from DIR\n");
        code = 1;
    } else {
        code = ap__install_all(&in);
        close(in.source);
    }
    close(in.dir);
    return code;
}

int ap__verb_uninstall(int argc, char **argv)
{
    ap__install in;
    int code = ap__options(argc, argv, &in);

    if (code >= 0) {
        return code;
    }
    if (!ap__find_vendor(&in, argv[0])) {
        return 1;
    }
    code = ap__uninstall_all(&in);
    close(in.dir);
    return code;
}
