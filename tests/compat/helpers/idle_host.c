/* SPDX-License-Identifier: Apache-2.0 */
/* A program that never profiles: prints everything of itself that a preloaded library could change.
 * To be run twice, without and with a preload, and compared. `idle_host mapped NAME` tells by its
 * exit code whether a library of that name is in the process. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void print_count(const char *title, const char *dir)
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, NULL, NULL);

    printf("%s: %d\n", title, n);
    while (n > 0) {
        free(list[--n]);
    }
    free(list);
}

static void print_entries(const char *title, const char *dir, int targets)
{
    struct dirent **list = NULL;
    int n = scandir(dir, &list, NULL, by_name);

    printf("%s:", title);
    for (int i = 0; i < n; i++) {
        char link[512];
        char target[512] = "";

        if (targets) {
            snprintf(link, sizeof(link), "%s/%.200s", dir, list[i]->d_name);
            if (readlink(link, target, sizeof(target) - 1) < 0) {
                target[0] = '\0';
            }
        }
        /* pipes have numbers; the descriptor of the listing itself is there in both runs */
        printf(" %s%s%.4s", list[i]->d_name, target[0] != '\0' ? "=" : "", target);
        free(list[i]);
    }
    free(list);
    printf("\n");
}

static void print_status(void)
{
    static const char *const fields[] = {"Threads:", "SigBlk:", "SigIgn:",     "SigCgt:",
                                         "Umask:",   "CapEff:", "NoNewPrivs:", "Seccomp:"};
    FILE *file = fopen("/proc/self/status", "re");
    char line[512];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
            if (strncmp(line, fields[i], strlen(fields[i])) == 0) {
                fputs(line, stdout);
            }
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void print_process(void)
{
    struct rlimit limit;
    char cwd[512];

    printf("errno at start: %d\n", errno);
    print_status();
    print_count("tasks", "/proc/self/task");
    print_entries("descriptors", "/proc/self/fd", 1);
    printf("cwd: %s\n", getcwd(cwd, sizeof(cwd)) != NULL ? cwd : "?");
    print_entries("files", ".", 0);
    printf("locale: %s, rounding: %d, exceptions: %d\n", setlocale(LC_ALL, NULL), fegetround(),
           fetestexcept(FE_ALL_EXCEPT));
    for (int what = 0; what < RLIM_NLIMITS; what++) {
        if (getrlimit((unsigned)what, &limit) == 0) {
            printf("limit %d: %lu %lu\n", what, (unsigned long)limit.rlim_cur,
                   (unsigned long)limit.rlim_max);
        }
    }
    for (int i = 0; i < 4; i++) {
        printf("random: %d\n", rand()); /* not seeded */
    }
}

static void *in_thread(void *arg)
{
    return arg;
}

/* What goes on in a program: threads, children, errors. */
static void print_life(void)
{
    pthread_t thread;
    void *result = NULL;
    int status = 0;
    pid_t pid = 0;

    if (pthread_create(&thread, NULL, in_thread, "thread") == 0) {
        pthread_join(thread, &result);
    }
    printf("%s\n", result != NULL ? (const char *)result : "no thread");
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        print_count("child's tasks", "/proc/self/task");
        print_entries("child's descriptors", "/proc/self/fd", 1);
        exit(41);
    }
    waitpid(pid, &status, 0);
    printf("child: %d\n", WEXITSTATUS(status));
    printf("system: %d\n", WEXITSTATUS(system("exit 42")));
    print_status();
}

static int is_mapped(const char *name)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[4400];
    int found = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        found = found || strstr(line, name) != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "mapped") == 0) {
        return is_mapped(argv[2]);
    }
    print_process();
    print_life();
    return 43;
}
