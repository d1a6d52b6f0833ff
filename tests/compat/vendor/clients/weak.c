/* SPDX-License-Identifier: Apache-2.0 */
/* weak: prints whose the five functions are that a library may do without, as weak references tell. */
#define _GNU_SOURCE
#include "lookup.h"

#include <stdint.h>

__attribute__((weak)) void *aclprofCreateStamp(void);
__attribute__((weak)) void aclprofDestroyStamp(void *stamp);
__attribute__((weak)) int aclprofSetStampTraceMessage(void *stamp, const char *text, uint32_t length);
__attribute__((weak)) int aclprofRangeStart(void *stamp, uint32_t *id);
__attribute__((weak)) int aclprofRangeStop(uint32_t id);

int main(void)
{
    void *found[] = {(void *)(uintptr_t)aclprofCreateStamp, (void *)(uintptr_t)aclprofDestroyStamp,
                     (void *)(uintptr_t)aclprofSetStampTraceMessage,
                     (void *)(uintptr_t)aclprofRangeStart, (void *)(uintptr_t)aclprofRangeStop};

    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        printf("%s\n", lookup_whose(found[i]));
    }
    return 0;
}
