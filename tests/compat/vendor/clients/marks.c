/* SPDX-License-Identifier: Apache-2.0 */
/* marks WAY DIRECTORY: a capture by functions found that way (lookup.h), marks by mstx: 100 in all. */
#define _GNU_SOURCE
#include "lookup.h"

#include <stdint.h>

void mstxMarkA(const char *text, void *stream);
uint64_t mstxRangeStartA(const char *text, void *stream);
void mstxRangeEnd(uint64_t id);
void *mstxDomainCreateA(const char *name);
void mstxDomainMarkA(void *domain, const char *text, void *stream);

int main(int argc, char **argv)
{
    void *domain = mstxDomainCreateA("layers"); /* before there is a profiler */
    void *handle = argc == 3 ? lookup_open(argv[1]) : NULL;
    int (*init)(const char *, size_t) = NULL;
    void *(*create)(uint32_t *, uint32_t, int, void *, uint64_t) = NULL;
    int (*start)(const void *) = NULL;
    int (*stop)(const void *) = NULL;
    int (*finalize)(void) = NULL;
    void *config = NULL;
    int bad = 0;

    *(void **)&init = dlsym(handle, "aclprofInit");
    *(void **)&create = dlsym(handle, "aclprofCreateConfig");
    *(void **)&start = dlsym(handle, "aclprofStart");
    *(void **)&stop = dlsym(handle, "aclprofStop");
    *(void **)&finalize = dlsym(handle, "aclprofFinalize");
    mstxMarkA("before", NULL);
    config = create(NULL, 0, 0xFF, NULL, 0x80);
    bad = config == NULL || init(argv[2], strlen(argv[2])) != 0 || start(config) != 0;
    for (int i = 0; i < 25 && bad == 0; i++) {
        mstxMarkA("mstx", NULL);
        mstxMarkA("mstx", NULL);
        mstxDomainMarkA(domain, "mstx", NULL);
        mstxRangeEnd(mstxRangeStartA("mstx", NULL));
    }
    bad |= stop(config) != 0 || finalize() != 0;
    mstxMarkA("after", NULL);
    return bad;
}
