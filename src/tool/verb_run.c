/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof run -- program args…`: the program with this library preloaded. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/option_values.h"
#include "tool/run_entry.h"
#include "tool/run_results.h"
#include "tool/verbs.h"

#define AP_LIBRARY "libacl_prof.so"

typedef struct ap__run {
    char **program;
    char library[PATH_MAX];
    char preload[3 * PATH_MAX]; /* what goes in front of LD_PRELOAD */
    const char *stand_in;
    bool stamps;
    bool first_only;
    bool quiet;
    uint64_t devices;
    uint64_t delay_ms;
    uint64_t duration_ms;
    ap__run_results results;
} ap__run;

static pid_t ap__child;

/* The program decides what a signal means; this one only waits for it. What comes from the terminal
 * has come to the program, too. */
static void ap__pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (ap__child > 0 && info->si_code <= 0) {
        (void)kill(ap__child, number);
    }
}

/* ---- the environment ---- */

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

/* The library, and beside it those that stand in for the vendor's: a program that opens one by its
 * name gets the object which has been loaded under that name. */
static bool ap__make_preload(ap__run *run)
{
    int directory = (int)(strrchr(run->library, '/') - run->library);
    int used = snprintf(run->preload, sizeof(run->preload), "%s", run->library);
    bool ok = strpbrk(run->library, ": \t\n") == NULL;

    if (!ok) {
        fprintf(stderr, "aclprof run: LD_PRELOAD cannot name %s: it has a blank or a colon\n",
                run->library);
    }
    for (const char *name = run->stand_in; ok && *name != '\0';) {
        int length = (int)strcspn(name, ",");
        char path[PATH_MAX];

        ok = (length == 10 && strncmp(name, "msprofiler", 10) == 0) ||
             (length == 7 && strncmp(name, "profapi", 7) == 0);
        if (!ok && length == 4 && strncmp(name, "none", 4) == 0) {
            return true;
        }
        if (!ok) {
            fprintf(stderr, "aclprof run: --stand-in '%.*s': it can be msprofiler, profapi, both "
                            "with a comma, or none\n",
                    length, name);
            break;
        }
        if (snprintf(path, sizeof(path), "%.*s/lib%.*s.so", directory, run->library, length,
                     name) < (int)sizeof(path) &&
            access(path, R_OK) == 0) {
            used += snprintf(run->preload + used, sizeof(run->preload) - (size_t)used, ":%s", path);
        }
        name += length;
        name += *name == ',';
    }
    return ok;
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

/* In the child: `only` is the number that the program will have. */
static bool ap__set_environment(const ap__run *run)
{
    char text[256];
    int used = 0;
    bool ok = ap__prepend("LD_PRELOAD", run->preload);

    if (run->stamps || run->devices != 0) {
        used = snprintf(text, sizeof(text), "%s", run->stamps ? "stamps" : "");
        if (run->devices != 0) {
            used += snprintf(text + used, sizeof(text) - (size_t)used, "%sdevices=%" PRIx64,
                             used != 0 ? "," : "", run->devices);
        }
        used += snprintf(text + used, sizeof(text) - (size_t)used,
                         ",delay=%" PRIu64 ",duration=%" PRIu64, run->delay_ms, run->duration_ms);
        if (run->first_only) {
            (void)snprintf(text + used, sizeof(text) - (size_t)used, ",only=%ld", (long)getpid());
        }
        ok = ok && setenv("ACLPROF_AUTOSTART", text, 1) == 0;
    } else {
        (void)unsetenv("ACLPROF_AUTOSTART"); /* of an `aclprof run` around this one */
    }
    return ok && (run->results.fd < 0 || setenv("ACLPROF_RESULTS", run->results.path, 1) == 0);
}

/* ---- the program ---- */

static int ap__wait(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return 1 << 8;
        }
    }
    return status;
}

/* Ends as the program has ended. */
static int ap__end_as(int status)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t one;

    if (!WIFSIGNALED(status)) {
        return WEXITSTATUS(status);
    }
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    (void)sigaction(WTERMSIG(status), &usual, NULL);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static void ap__say_outside(const char *why)
{
    fprintf(stderr,
            "aclprof run: the library does not get into the program: %s; it is not profiled (but "
            "its children may be)\n",
            why);
}

static int ap__run_program(ap__run *run)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
    struct sigaction action = {.sa_sigaction = ap__pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
    const char *refusal = ap__run_refusal(run->program[0]);
    sigset_t all;
    sigset_t before;
    int failed[2];
    int error = 0;
    int status = 0;

    if (pipe2(failed, O_CLOEXEC) != 0) {
        perror("aclprof run");
        return 1;
    }
    sigfillset(&all); /* none is lost before it can be passed on */
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    ap__child = fork();
    if (ap__child == 0) {
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        error = ENOMEM;
        if (ap__set_environment(run)) {
            (void)execvp(run->program[0], run->program);
            error = errno;
        }
        (void)!write(failed[1], &error, sizeof(error));
        _exit(error == ENOENT ? 127 : 126);
    }
    close(failed[1]);
    if (ap__child < 0) {
        perror("aclprof run");
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        close(failed[0]);
        return 1;
    }
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        struct sigaction old;

        if (sigaction(passed[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) { /* nohup */
            (void)sigaction(passed[i], &action, NULL);
        }
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    while (read(failed[0], &error, sizeof(error)) < 0 && errno == EINTR) {
    }
    close(failed[0]);
    if (error != 0) {
        fprintf(stderr, "aclprof run: %s: %s\n", run->program[0], strerror(error));
    } else if (refusal != NULL) {
        ap__say_outside(refusal);
    } else if (ap__run_wait_entry(ap__child, run->library) == 0) {
        ap__say_outside("it clears LD_PRELOAD, or its loader does not heed it");
    }
    status = ap__wait(ap__child);
    if (error == 0 && !run->quiet && ap__run_results_print(&run->results) == 0 &&
        refusal == NULL && run->results.fd >= 0) {
        fprintf(stderr, "aclprof run: no result: the program has %s\n",
                run->stamps || run->devices != 0 ? "used nothing of what was asked for"
                                                 : "begun no capture");
    }
    ap__run_results_close(&run->results);
    return ap__end_as(status);
}

/* ---- options ---- */

static void ap__usage(FILE *out)
{
    fprintf(
        out,
        "Usage: aclprof run [options] [--] PROGRAM ARGS…\n\n"
        "Runs the program with " AP_LIBRARY " in front of its LD_PRELOAD, so that its aclprof\n"
        "calls come here. Exit code and death by a signal are the program's; signals are passed\n"
        "on to it. At the end the results are named on stderr, each with its account.\n\n"
        "For a program that does not call aclprofStart:\n"
        "  --stamps         record stamps\n"
        "  --device LIST    capture these devices (0,2 or all) when the program sets them\n"
        "  --delay SEC      record from then on, counted from the start of the process\n"
        "  --duration SEC   record for so long\n"
        "  --first-only     not the program's children\n"
        "The capture of a process begins with its first stamp or when it sets one of the devices:\n"
        "each process that does has a PROF_* of its own, launchers, shells and other children\n"
        "leave nothing. While it runs, the program's own aclprofInit gives 100042.\n\n"
        "  --output DIR     result path of a program that gives none (ASCEND_WORK_PATH)\n"
        "  --driver D       auto, sim, ascend, none or a path (ACLPROF_DRIVER)\n"
        "  --log LEVEL      error, warn, info or debug (ACLPROF_LOG)\n"
        "  --stand-in LIST  which of the vendor's libraries are taken over when they are opened\n"
        "                   by name: msprofiler (default), profapi, none\n"
        "  --quiet          do not name the results\n"
        "  -h, --help       print this\n"
        "Exit code 127: there is no such program; 126: it cannot be run.\n");
}

/* The program may change its directory before it begins. */
static bool ap__set_output(const char *dir)
{
    char *here = dir[0] != '/' ? getcwd(NULL, 0) : strdup("");
    char *path = NULL;
    bool ok = dir[0] != '\0' && here != NULL &&
              asprintf(&path, "%s%s%s", here, dir[0] != '/' ? "/" : "", dir) >= 0 &&
              setenv("ASCEND_WORK_PATH", path, 1) == 0;

    free(here);
    free(path);
    return ok;
}

enum { AP_OUTPUT = 256, AP_DRIVER, AP_LOG, AP_STAMPS, AP_DEVICE, AP_DELAY, AP_DURATION, AP_FIRST,
       AP_STAND_IN, AP_QUIET };

static bool ap__option(ap__run *run, int option, const char *value)
{
    switch (option) {
    case AP_OUTPUT:
        return ap__set_output(value);
    case AP_DRIVER:
        return setenv("ACLPROF_DRIVER", value, 1) == 0;
    case AP_LOG:
        return setenv("ACLPROF_LOG", value, 1) == 0;
    case AP_STAMPS:
        run->stamps = true;
        return true;
    case AP_DEVICE:
        return ap__option_devices(value, &run->devices);
    case AP_DELAY:
        return ap__option_ms(value, &run->delay_ms);
    case AP_DURATION:
        return ap__option_ms(value, &run->duration_ms) && run->duration_ms != 0;
    case AP_FIRST:
        run->first_only = true;
        return true;
    case AP_STAND_IN:
        run->stand_in = value;
        return true;
    case AP_QUIET:
        run->quiet = true;
        return true;
    default:
        return false;
    }
}

static const struct option ap__options[] = {{"output", required_argument, NULL, AP_OUTPUT},
                                            {"driver", required_argument, NULL, AP_DRIVER},
                                            {"log", required_argument, NULL, AP_LOG},
                                            {"stamps", no_argument, NULL, AP_STAMPS},
                                            {"device", required_argument, NULL, AP_DEVICE},
                                            {"delay", required_argument, NULL, AP_DELAY},
                                            {"duration", required_argument, NULL, AP_DURATION},
                                            {"first-only", no_argument, NULL, AP_FIRST},
                                            {"stand-in", required_argument, NULL, AP_STAND_IN},
                                            {"quiet", no_argument, NULL, AP_QUIET},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};

/* -1: go on; else the exit code. */
static int ap__parse(ap__run *run, int argc, char **argv)
{
    int option = 0;
    int index = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "+h", ap__options, &index)) != -1) {
        if (option == 'h') {
            ap__usage(stdout);
            return 0;
        }
        if (option == '?' || !ap__option(run, option, optarg)) {
            if (option != '?') {
                fprintf(stderr, "aclprof run: --%s '%s': not understood\n", ap__options[index].name,
                        optarg != NULL ? optarg : "");
            }
            ap__usage(stderr);
            return 2;
        }
    }
    if (optind >= argc) {
        ap__usage(stderr);
        return 2;
    }
    if (!run->stamps && run->devices == 0 &&
        (run->delay_ms != 0 || run->duration_ms != 0 || run->first_only)) {
        fprintf(stderr, "aclprof run: --delay, --duration and --first-only go with --stamps or "
                        "--device\n");
        return 2;
    }
    run->program = argv + optind;
    return -1;
}

int ap__verb_run(int argc, char **argv)
{
    static ap__run run = {.stand_in = "msprofiler", .results = {.fd = -1}};
    int code = ap__parse(&run, argc, argv);
    int error = 0;

    if (code >= 0) {
        return code;
    }
    if (!ap__find_library(run.library)) {
        fprintf(stderr, "aclprof run: " AP_LIBRARY " is not beside this program nor in its lib\n");
        return 1;
    }
    if (!ap__make_preload(&run)) {
        return 2;
    }
    error = ap__run_results_open(&run.results);
    if (error != 0) {
        fprintf(stderr, "aclprof run: the results will not be named: %s: %s\n", run.results.path,
                strerror(error));
    }
    return ap__run_program(&run);
}
