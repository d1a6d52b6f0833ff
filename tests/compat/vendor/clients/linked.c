/* SPDX-License-Identifier: Apache-2.0 */
/* linked DIRECTORY: calls through the PLT what it was linked with; prints whose aclprofMark it is. */
#define _GNU_SOURCE
#include "lookup.h"

#include <stdint.h>

int aclprofInit(const char *path, size_t length);
int aclprofFinalize(void);
void *aclprofCreateConfig(uint32_t *devices, uint32_t count, int metrics, const void *events,
                          uint64_t types);
int aclprofDestroyConfig(const void *config);
int aclprofStart(const void *config);
int aclprofStop(const void *config);
void *aclprofCreateStamp(void);
void aclprofDestroyStamp(void *stamp);
int aclprofSetStampTraceMessage(void *stamp, const char *text, uint32_t length);
int aclprofMark(void *stamp);
uint64_t aclprofStr2Id(const char *text);
#ifdef WITH_ACL
int aclInit(const char *config);
int aclFinalize(void);
int32_t rtKernelLaunch(void);
#endif

int main(int argc, char **argv)
{
    void *config = aclprofCreateConfig(NULL, 0, 0xFF, NULL, 0x80);
    void *stamp = NULL;
    int (*mark)(void *) = aclprofMark;

    if (argc != 2 || config == NULL) {
        return 1;
    }
#ifdef WITH_ACL
    if (aclInit(NULL) != 0) {
        return 2;
    }
#endif
    if (aclprofInit(argv[1], strlen(argv[1])) != 0 || aclprofStart(config) != 0) {
        return 3;
    }
    stamp = aclprofCreateStamp();
    if (stamp == NULL || aclprofSetStampTraceMessage(stamp, "linked", 6) != 0) {
        return 4;
    }
    for (int i = 0; i < 1000; i++) {
        if (aclprofMark(stamp) != 0) {
            return 5;
        }
    }
    aclprofDestroyStamp(stamp);
    if (aclprofStr2Id("linked") == UINT64_MAX || aclprofStop(config) != 0 ||
        aclprofDestroyConfig(config) != 0 || aclprofFinalize() != 0) {
        return 6;
    }
#ifdef WITH_ACL
    (void)rtKernelLaunch(); /* nothing records it: what it returns is the reporter's business */
    if (aclFinalize() != 0) {
        return 7;
    }
#endif
    printf("%s\n", lookup_whose(*(void **)&mark));
    return 0;
}
