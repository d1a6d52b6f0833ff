/* SPDX-License-Identifier: Apache-2.0 */
/* shared DIRECTORY WAY…: opens every way at once and makes each step of a capture by another one of
 * them. Whatever the number of names, there is one state behind them. */
#define _GNU_SOURCE
#include "lookup.h"

#include <stdint.h>

static void *handles[16];
static int count;

/* The function by the next of the ways. */
static void *next_way(const char *name)
{
    static int turn;
    void *found = dlsym(handles[turn++ % count], name);

    if (found == NULL) {
        fprintf(stderr, "shared: no %s\n", name);
        exit(71);
    }
    return found;
}

int main(int argc, char **argv)
{
    int (*init)(const char *, size_t) = NULL;
    void *(*create)(uint32_t *, uint32_t, int, void *, uint64_t) = NULL;
    int (*start)(const void *) = NULL;
    int (*stop)(const void *) = NULL;
    int (*finalize)(void) = NULL;
    int (*destroy)(const void *) = NULL;
    void *(*create_stamp)(void) = NULL;
    int (*message)(void *, const char *, uint32_t) = NULL;
    int (*mark)(void *) = NULL;
    uint64_t (*id)(const char *) = NULL;
    uint64_t (*other_id)(const char *, size_t) = NULL;
    void *config = NULL;
    void *stamp = NULL;

    for (int i = 2; i < argc && count < 16; i++) {
        handles[count++] = lookup_open(argv[i]);
    }
    if (count == 0) {
        return 64;
    }
    *(void **)&init = next_way("aclprofInit");
    *(void **)&create = next_way("aclprofCreateConfig");
    *(void **)&start = next_way("aclprofStart");
    *(void **)&create_stamp = next_way("aclprofCreateStamp");
    *(void **)&message = next_way("aclprofSetStampTraceMessage");
    config = create(NULL, 0, 0xFF, NULL, 0x80);
    if (config == NULL || init(argv[1], strlen(argv[1])) != 0 || start(config) != 0) {
        return 1;
    }
    stamp = create_stamp();
    if (stamp == NULL || message(stamp, "shared", 6) != 0) {
        return 2;
    }
    for (int i = 0; i < 1000; i++) {
        *(void **)&mark = next_way("aclprofMark");
        if (mark(stamp) != 0) {
            return 3;
        }
    }
    *(void **)&id = next_way("aclprofStr2Id");
    *(void **)&other_id = next_way("MsprofGetHashId");
    if (id("shared") != other_id("shared", 6)) {
        return 4;
    }
    *(void **)&stop = next_way("aclprofStop");
    *(void **)&destroy = next_way("aclprofDestroyConfig");
    *(void **)&finalize = next_way("aclprofFinalize");
    return stop(config) != 0 || destroy(config) != 0 || finalize() != 0 ? 5 : 0;
}
