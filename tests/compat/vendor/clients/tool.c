/* SPDX-License-Identifier: Apache-2.0 */
/* Another tool in the same LD_PRELOAD: takes reports and marks, counts them, passes them on to the
 * next. Its aclprofMark has the prototype of libmspti.so, which returns nothing of use. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned marks, compacts, calls;

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int aclprofMark(void *stamp);
int aclprofMarkEx(const char *text, size_t length, void *stream);
int32_t MsprofReportCompactInfo(uint32_t aging, const void *record, uint32_t len);
int32_t MsprofReportApi(uint32_t aging, const void *record);

int aclprofMark(void *stamp)
{
    int (*next)(void *) = NULL;

    *(void **)&next = next_of("aclprofMark");
    marks++;
    return next != NULL ? next(stamp) : 0;
}

int aclprofMarkEx(const char *text, size_t length, void *stream)
{
    int (*next)(const char *, size_t, void *) = NULL;

    *(void **)&next = next_of("aclprofMarkEx");
    marks++;
    return next != NULL ? next(text, length, stream) : 0;
}

int32_t MsprofReportCompactInfo(uint32_t aging, const void *record, uint32_t len)
{
    int32_t (*next)(uint32_t, const void *, uint32_t) = NULL;

    *(void **)&next = next_of("MsprofReportCompactInfo");
    compacts++;
    return next != NULL ? next(aging, record, len) : 0;
}

int32_t MsprofReportApi(uint32_t aging, const void *record)
{
    int32_t (*next)(uint32_t, const void *) = NULL;

    *(void **)&next = next_of("MsprofReportApi");
    calls++;
    return next != NULL ? next(aging, record) : 0;
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "tool: %u marks, %u compacts, %u calls\n", marks, compacts, calls);
}
