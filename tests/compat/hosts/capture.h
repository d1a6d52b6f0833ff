/* SPDX-License-Identifier: Apache-2.0 */
/* One capture by functions that are found with dlsym: for hosts that are not linked with the
 * library. */
#ifndef AP_TESTS_COMPAT_CAPTURE_H_
#define AP_TESTS_COMPAT_CAPTURE_H_

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline void *capture_find(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (found == NULL) {
        fprintf(stderr, "capture: no %s\n", name);
    }
    return found;
}

#define CAPTURE_FIND(variable, name)                             \
    do {                                                         \
        void *found_ = capture_find(library, name);              \
                                                                 \
        if (found_ == NULL) {                                    \
            return 1;                                            \
        }                                                        \
        memcpy(&(variable), &found_, sizeof(found_));            \
    } while (0)

/* `marks` marks named `message` into `dir`. 0, or the number of the step that failed. */
static inline int capture(void *library, const char *dir, const char *message, unsigned marks)
{
    int (*init)(const char *, size_t) = NULL;
    void *(*create_config)(uint32_t *, uint32_t, int, void *, uint64_t) = NULL;
    int (*start)(const void *) = NULL;
    int (*stop)(const void *) = NULL;
    int (*finalize)(void) = NULL;
    int (*destroy_config)(const void *) = NULL;
    void *(*create_stamp)(void) = NULL;
    int (*set_message)(void *, const char *, uint32_t) = NULL;
    int (*mark)(void *) = NULL;
    void (*destroy_stamp)(void *) = NULL;
    void *config = NULL;
    void *stamp = NULL;

    CAPTURE_FIND(init, "aclprofInit");
    CAPTURE_FIND(create_config, "aclprofCreateConfig");
    CAPTURE_FIND(start, "aclprofStart");
    CAPTURE_FIND(stop, "aclprofStop");
    CAPTURE_FIND(finalize, "aclprofFinalize");
    CAPTURE_FIND(destroy_config, "aclprofDestroyConfig");
    CAPTURE_FIND(create_stamp, "aclprofCreateStamp");
    CAPTURE_FIND(set_message, "aclprofSetStampTraceMessage");
    CAPTURE_FIND(mark, "aclprofMark");
    CAPTURE_FIND(destroy_stamp, "aclprofDestroyStamp");
    config = create_config(NULL, 0, 0xFF, NULL, 0x80);
    if (config == NULL || init(dir, strlen(dir)) != 0) {
        return 2;
    }
    if (start(config) != 0) {
        return 3;
    }
    stamp = create_stamp();
    if (stamp == NULL || set_message(stamp, message, (uint32_t)strlen(message)) != 0) {
        return 4;
    }
    for (unsigned i = 0; i < marks; i++) {
        if (mark(stamp) != 0) {
            return 5;
        }
    }
    destroy_stamp(stamp);
    if (stop(config) != 0 || destroy_config(config) != 0 || finalize() != 0) {
        return 6;
    }
    return 0;
}

#endif
