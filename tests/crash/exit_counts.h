/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of test_exit publish: for each thread, how many stamps' calls have returned. */
#ifndef AP_TESTS_EXIT_COUNTS_H_
#define AP_TESTS_EXIT_COUNTS_H_

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXIT_THREADS 5u

struct exit_counts {
    _Atomic uint32_t returned[EXIT_THREADS];
};

/* The file, made when it is missing; NULL when that fails. */
static inline struct exit_counts *exit_counts_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *map = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(struct exit_counts)) == 0) {
        map = mmap(NULL, sizeof(struct exit_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    return map == MAP_FAILED ? NULL : map;
}

#endif
