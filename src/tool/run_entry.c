/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/run_entry.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define AP_LOOKS 40
#define AP_LOOK_US 25000
#define AP_SCRIPTS 4 /* interpreters of interpreters that the kernel follows */

#if defined(__x86_64__)
#define AP_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define AP_MACHINE EM_AARCH64
#endif

/* The file that execvp takes. */
static bool ap__locate(const char *program, char path[PATH_MAX])
{
    const char *dirs = getenv("PATH");

    if (strchr(program, '/') != NULL) {
        return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX;
    }
    for (const char *dir = dirs != NULL ? dirs : "/bin:/usr/bin"; dir != NULL;) {
        const char *end = strchrnul(dir, ':');
        int length = (int)(end - dir);
        struct stat st;

        if (snprintf(path, PATH_MAX, "%.*s%s%s", length, dir, length != 0 ? "/" : "./", program) <
                PATH_MAX &&
            access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            return true;
        }
        dir = *end == ':' ? end + 1 : NULL;
    }
    return false;
}

static bool ap__more_rights(int fd, const struct stat *st)
{
    char capability[64];

    return ((st->st_mode & S_ISUID) != 0 && st->st_uid != getuid()) ||
           ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getgid()) ||
           (getuid() != 0 &&
            fgetxattr(fd, "security.capability", capability, sizeof(capability)) > 0);
}

static bool ap__has_interpreter(int fd, const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;

    for (uint32_t i = 0; i < head->e_phnum; i++) {
        off_t at = (off_t)(head->e_phoff + (uint64_t)i * sizeof(segment));

        if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment)) {
            return true; /* the kernel will say what is wrong */
        }
        if (segment.p_type == PT_INTERP) {
            return true;
        }
    }
    return false;
}

static const char *ap__elf_refusal(int fd, const Elf64_Ehdr *head)
{
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != AP_MACHINE) {
        return "it is of another architecture than the library";
    }
    if (head->e_phentsize != sizeof(Elf64_Phdr) || ap__has_interpreter(fd, head)) {
        return NULL;
    }
    return "it is static";
}

/* A script's first line: its interpreter into `path`. */
static bool ap__interpreter(const char *line, size_t n, char path[PATH_MAX])
{
    size_t begin = 2;
    size_t end = 0;

    while (begin < n && (line[begin] == ' ' || line[begin] == '\t')) {
        begin++;
    }
    end = begin;
    while (end < n && line[end] > ' ') {
        end++;
    }
    return end > begin && end < n &&
           snprintf(path, PATH_MAX, "%.*s", (int)(end - begin), line + begin) < PATH_MAX;
}

const char *ap__run_refusal(const char *program)
{
    char path[PATH_MAX];
    const char *why = NULL;
    bool script = ap__locate(program, path);

    for (int depth = 0; script && depth <= AP_SCRIPTS; depth++) {
        union {
            Elf64_Ehdr elf;
            char line[256];
        } head = {.line = ""};
        struct stat st;
        ssize_t n = 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        script = false;
        if (fd < 0) {
            return NULL;
        }
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
            n = pread(fd, head.line, sizeof(head.line), 0);
        }
        if (n >= (ssize_t)sizeof(head.elf) && memcmp(head.line, ELFMAG, SELFMAG) == 0) {
            why = ap__more_rights(fd, &st) ? "it runs with more rights than its caller has"
                                           : ap__elf_refusal(fd, &head.elf);
        } else if (n > 2 && memcmp(head.line, "#!", 2) == 0) {
            script = ap__interpreter(head.line, (size_t)n, path);
        }
        close(fd);
    }
    return why;
}

/* 1: the library is in the program, 0: it is not (yet), -1: the process has gone. */
static int ap__is_in(pid_t pid, const char *library)
{
    char name[64];
    char line[PATH_MAX + 128];
    FILE *maps = NULL;
    bool any = false;
    int found = 0;

    (void)snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
    maps = fopen(name, "re");
    while (maps != NULL && found == 0 && fgets(line, sizeof(line), maps) != NULL) {
        any = true;
        found = strstr(line, library) != NULL;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found != 0 ? 1 : any ? 0 : -1;
}

int ap__run_wait_entry(pid_t pid, const char *library)
{
    int in = 0;

    for (int i = 0; i < AP_LOOKS && (in = ap__is_in(pid, library)) == 0; i++) {
        usleep(AP_LOOK_US);
    }
    return in;
}
