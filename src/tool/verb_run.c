/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof run -- program args…`: the program with this library preloaded. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/verbs.h"

#define AP_LIBRARY "libacl_prof.so"

static pid_t ap__child;

/* The program decides what a signal means; this one only waits for it. */
static void ap__pass_on(int number)
{
    if (ap__child > 0) {
        (void)kill(ap__child, number);
    }
}

static bool ap__find_library(char path[PATH_MAX])
{
    static const char *const near[] = {"", "/../lib", "/../lib64", "/../lib/x86_64-linux-gnu",
                                       "/../lib/aarch64-linux-gnu"};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    char *slash = NULL;

    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    for (size_t i = 0; slash != NULL && i < sizeof(near) / sizeof(near[0]); i++) {
        char candidate[PATH_MAX];

        if (snprintf(candidate, sizeof(candidate), "%s%s/" AP_LIBRARY, exe, near[i]) <
                (int)sizeof(candidate) &&
            realpath(candidate, path) != NULL) {
            return true;
        }
    }
    return false;
}

/* Ours in front of what is there already. */
static bool ap__prepend(const char *variable, const char *value)
{
    const char *there = getenv(variable);
    size_t room = strlen(value) + (there != NULL ? strlen(there) : 0) + 2;
    char *joined = malloc(room);
    bool ok = joined != NULL;

    if (ok) {
        (void)snprintf(joined, room, there != NULL && there[0] != '\0' ? "%s:%s" : "%s", value,
                       there);
        ok = setenv(variable, joined, 1) == 0;
    }
    free(joined);
    return ok;
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

/* A program that is static or runs with more rights than ours does not take a preload. */
static void ap__watch_entry(pid_t pid, const char *library)
{
    for (int i = 0; i < 40; i++) {
        int in = ap__is_in(pid, library);

        if (in != 0) {
            return;
        }
        usleep(25000);
    }
    fprintf(stderr,
            "aclprof run: the library has not got into the program: it is static, or setuid, or "
            "clears LD_PRELOAD; nothing will be recorded\n");
}

static int ap__wait(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return 1;
        }
    }
    if (WIFSIGNALED(status)) { /* end as it has ended */
        struct sigaction usual = {.sa_handler = SIG_DFL};

        (void)sigaction(WTERMSIG(status), &usual, NULL);
        (void)raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

static int ap__run(char **program, const char *library)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = ap__pass_on, .sa_flags = SA_RESTART};
    int failed[2];
    int error = 0;

    if (pipe2(failed, O_CLOEXEC) != 0) {
        perror("aclprof run");
        return 1;
    }
    ap__child = fork();
    if (ap__child == 0) {
        if (!ap__prepend("LD_PRELOAD", library)) {
            error = ENOMEM;
        } else {
            (void)execvp(program[0], program);
            error = errno;
        }
        (void)!write(failed[1], &error, sizeof(error));
        _exit(error == ENOENT ? 127 : 126);
    }
    close(failed[1]);
    if (ap__child < 0) {
        perror("aclprof run");
        return 1;
    }
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        (void)sigaction(passed[i], &action, NULL);
    }
    if (read(failed[0], &error, sizeof(error)) == (ssize_t)sizeof(error)) {
        fprintf(stderr, "aclprof run: %s: %s\n", program[0], strerror(error));
    } else {
        ap__watch_entry(ap__child, library);
    }
    close(failed[0]);
    return ap__wait(ap__child);
}

static void ap__usage(FILE *out)
{
    fprintf(
        out,
        "Usage: aclprof run [options] [--] PROGRAM ARGS…\n\n"
        "Runs the program with " AP_LIBRARY " in front of its LD_PRELOAD, so that its aclprof\n"
        "calls come here. Exit code and death by a signal are the program's; signals are passed\n"
        "on to it.\n\n"
        "  --output DIR     result path of a program that gives none (ASCEND_WORK_PATH)\n"
        "  --driver D       auto, sim, ascend, none or a path (ACLPROF_DRIVER)\n"
        "  --log LEVEL      error, warn, info or debug (ACLPROF_LOG); info prints the account\n"
        "  -h, --help       print this\n"
        "Exit code 127: there is no such program; 126: it cannot be run.\n");
}

int ap__verb_run(int argc, char **argv)
{
    static const struct option names[] = {{"output", required_argument, NULL, 'o'},
                                          {"driver", required_argument, NULL, 'd'},
                                          {"log", required_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    char library[PATH_MAX];
    const char *variable = NULL;
    int option = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "+h", names, NULL)) != -1) {
        if (option == 'h') {
            ap__usage(stdout);
            return 0;
        }
        variable = option == 'o'   ? "ASCEND_WORK_PATH"
                   : option == 'd' ? "ACLPROF_DRIVER"
                   : option == 'l' ? "ACLPROF_LOG"
                                   : NULL;
        if (variable == NULL || setenv(variable, optarg, 1) != 0) {
            ap__usage(stderr);
            return 2;
        }
    }
    if (optind >= argc) {
        ap__usage(stderr);
        return 2;
    }
    if (!ap__find_library(library)) {
        fprintf(stderr, "aclprof run: " AP_LIBRARY " is not beside this program nor in its lib\n");
        return 1;
    }
    return ap__run(argv + optind, library);
}
