/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the fake libraries with the system's compiler, which every machine that builds the tests
 * has. Include after cmocka.h and scratch.h; AP_TEST_SOURCE_DIR is tests/<label>. */
#ifndef AP_TESTS_FAKE_BUILD_H_
#define AP_TESTS_FAKE_BUILD_H_

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fake_hal/fake_hal.h"

extern char **environ;

#define FAKE_DIR AP_TEST_SOURCE_DIR "/../common/fake_hal"

static inline void fake_compile(const char *out, const char *source, const char *flag1,
                                const char *flag2)
{
    const char *cc = getenv("CC") != NULL ? getenv("CC") : "cc";
    char *argv[] = {(char *)cc, "-std=gnu11", "-shared", "-fPIC", "-s", "-o", (char *)out,
                    "-I" FAKE_DIR, (char *)source, (char *)flag1, (char *)flag2, NULL};
    pid_t pid = -1;
    int status = -1;

    assert_int_equal(posix_spawnp(&pid, cc, NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* flags: up to two, "-DFAKE_…" or for the linker; "" for none. */
static inline void fake_hal_build(char *path, size_t size, const char *directory, const char *name,
                                  const char *flag1, const char *flag2)
{
    assert_true((size_t)snprintf(path, size, "%s/%s", directory, name) < size);
    fake_compile(path, FAKE_DIR "/fake_hal.c", flag1[0] != '\0' ? flag1 : "-DFAKE_PLAIN",
                 flag2[0] != '\0' ? flag2 : "-DFAKE_PLAIN_2");
}

/* Of a library that has been loaded or is to be. */
static inline fake_hal_state *fake_hal_of(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fake_hal_state *state = library != NULL ? dlsym(library, "fake_hal") : NULL;

    assert_non_null(state);
    return state;
}

static inline int fake_hal_is_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

    if (library != NULL) {
        dlclose(library);
    }
    return library != NULL;
}

#endif
