/* SPDX-License-Identifier: Apache-2.0 */
/* stamper WHAT…: a program that stamps and uses the simulated NPU, and never begins a capture. Each
 * argument in turn:
 *   stamps N     N marks "mark" with one stamp; says how many calls failed
 *   device D     sets the simulated device, 20 kernels on it
 *   sleep MS, print TEXT, exit CODE, kill SIGNAL
 *   fork         goes on in a child, and waits for it
 *   exec         the rest in this same program, anew
 *   api DIR      a capture of its own; says what aclprofInit gives
 *   open NAME    dlopen and says whose aclprofInit is found by it
 *   trap         a handler of SIGTERM that exits with 44
 *   name TEXT    marks have this text from now on
 *   create       makes the stamp that later marks use, and says whether there is one
 *   marks N      N marks with it
 *   steps N      N steps of the API, a mark in each
 *   touch FILE, until FILE   tells, and waits for, another process
 *   leave        the first thread ends, and with it all of the program
 *   wait         until something comes on stdin */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aclprof_ext.h"
#include "sim_runtime.h"

static void nap(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&t, &t) != 0) {
    }
}

static const char *text = "mark";

static void stamps(long count)
{
    void *stamp = aclprofCreateStamp();
    long failed = 0;

    (void)aclprofSetStampTraceMessage(stamp, text, (uint32_t)strlen(text));
    for (long i = 0; i < count; i++) {
        failed += aclprofMark(stamp) != ACL_SUCCESS;
    }
    aclprofDestroyStamp(stamp);
    printf("%ld failed\n", failed);
}

static void *kept;

static void marks(long count)
{
    long failed = 0;

    for (long i = 0; i < count; i++) {
        failed += aclprofMark(kept) != ACL_SUCCESS;
    }
    printf("%ld failed\n", failed);
}

static void create(void)
{
    kept = aclprofCreateStamp();
    (void)aclprofSetStampTraceMessage(kept, "kept", 4);
    printf("%s\n", kept != NULL ? "created" : "no stamp");
}

static void steps(long count)
{
    int stream = 0;

    for (long i = 0; i < count; i++) {
        aclprofStepInfo *step = aclprofCreateStepInfo();

        (void)aclprofGetStepTimestamp(step, ACL_STEP_START, &stream);
        (void)aclprofMark(kept);
        (void)aclprofGetStepTimestamp(step, ACL_STEP_END, &stream);
        aclprofDestroyStepInfo(step);
    }
}

static int device(uint32_t number)
{
    simrtKernel kernel = {
        .size = sizeof(kernel), .name = "matmul", .core = SIMRT_CUBE, .blocks = 4, .cost_us = 50};
    simrtStream stream = NULL;

    if (simrtSetDevice(number) != SIMRT_OK || simrtCreateStream(&stream) != SIMRT_OK) {
        return 1;
    }
    for (int i = 0; i < 20; i++) {
        (void)simrtLaunchKernel(stream, &kernel, NULL);
    }
    (void)simrtSynchronizeStream(stream);
    return simrtDestroyStream(stream) != SIMRT_OK;
}

static void api(const char *dir)
{
    aclprofConfig *config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, NULL, ACL_PROF_MSPROFTX);

    printf("init %d\n", aclprofInit(dir, strlen(dir)));
    printf("start %d\n", aclprofStart(config));
    stamps(10);
    printf("stop %d\n", aclprofStop(config));
    (void)aclprofDestroyConfig(config);
    printf("finalize %d\n", aclprofFinalize());
}

static void whose(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    void *fn = library != NULL ? dlsym(library, "aclprofInit") : NULL;
    Dl_info info;
    const char *slash = NULL;

    if (fn == NULL || dladdr(fn, &info) == 0) {
        printf("%s: none\n", name);
        return;
    }
    slash = strrchr(info.dli_fname, '/');
    printf("%s: %s\n", name, slash != NULL ? slash + 1 : info.dli_fname);
}

static void on_term(int number)
{
    (void)number;
    _exit(44);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i];
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char byte = 0;

        if (strcmp(what, "fork") == 0) {
            pid_t child = fork();

            if (child != 0) {
                int status = 0;

                (void)waitpid(child, &status, 0);
                return WEXITSTATUS(status);
            }
            continue;
        }
        if (strcmp(what, "exec") == 0) {
            argv[i] = argv[0];
            (void)execv("/proc/self/exe", argv + i);
            return 99;
        }
        if (strcmp(what, "wait") == 0) {
            (void)!read(0, &byte, 1);
            continue;
        }
        if (strcmp(what, "create") == 0) {
            create();
            (void)fflush(stdout);
            continue;
        }
        if (strcmp(what, "leave") == 0) {
            pthread_exit(NULL);
        }
        if (strcmp(what, "trap") == 0) {
            (void)signal(SIGTERM, on_term);
            continue;
        }
        i++;
        if (strcmp(what, "stamps") == 0) {
            stamps(atol(value));
        } else if (strcmp(what, "name") == 0) {
            text = value;
        } else if (strcmp(what, "marks") == 0) {
            marks(atol(value));
        } else if (strcmp(what, "steps") == 0) {
            steps(atol(value));
        } else if (strcmp(what, "touch") == 0) {
            int fd = open(value, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

            (void)close(fd);
        } else if (strcmp(what, "until") == 0) {
            while (access(value, F_OK) != 0) {
                nap(5);
            }
        } else if (strcmp(what, "device") == 0) {
            if (device((uint32_t)atol(value)) != 0) {
                return 98;
            }
        } else if (strcmp(what, "sleep") == 0) {
            nap(atol(value));
        } else if (strcmp(what, "print") == 0) {
            printf("%s\n", value);
        } else if (strcmp(what, "exit") == 0) {
            return atoi(value);
        } else if (strcmp(what, "kill") == 0) {
            (void)fflush(stdout);
            (void)raise(atoi(value));
        } else if (strcmp(what, "api") == 0) {
            api(value);
        } else if (strcmp(what, "open") == 0) {
            whose(value);
        } else {
            return 97;
        }
        (void)fflush(stdout);
    }
    return 0;
}
