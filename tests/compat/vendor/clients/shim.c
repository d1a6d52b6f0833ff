/* SPDX-License-Identifier: Apache-2.0 */
/* libprofapi.so that was put in the place of the vendor's, which is libprofapi.so.real beside it: it
 * passes everything on and counts what comes. */
#define _GNU_SOURCE
#include "../mock.h"

static unsigned reports;

static void *real(const char *name)
{
    static void *handle;

    if (handle == NULL) {
        Dl_info info;
        char path[4096];

        (void)dladdr((void *)(uintptr_t)real, &info);
        (void)snprintf(path, sizeof(path), "%s.real", info.dli_fname);
        handle = dlopen(path, RTLD_NOW);
    }
    return dlsym(handle, name);
}

#define PASS(type, name, parameters, arguments)                                                    \
    type name parameters                                                                           \
    {                                                                                              \
        type(*next) parameters = NULL;                                                             \
                                                                                                   \
        *(void **)&next = real(#name);                                                             \
        reports += strncmp(#name, "MsprofReport", 12) == 0;                                        \
        return next arguments;                                                                     \
    }

PASS(int32_t, MsprofInit, (uint32_t t, void *d, uint32_t n), (t, d, n))
PASS(int32_t, MsprofFinalize, (void), ())
PASS(int32_t, MsprofRegisterCallback, (uint32_t m, mock_module c), (m, c))
PASS(int32_t, MsprofReportApi, (uint32_t a, const mock_api *r), (a, r))
PASS(int32_t, MsprofReportCompactInfo, (uint32_t a, const void *r, uint32_t n), (a, r, n))
PASS(int32_t, MsprofReportAdditionalInfo, (uint32_t a, const void *r, uint32_t n), (a, r, n))
PASS(int32_t, MsprofRegTypeInfo, (uint16_t l, uint32_t t, const char *n), (l, t, n))
PASS(uint64_t, MsprofGetHashId, (const char *t, size_t n), (t, n))
PASS(uint64_t, ProfStr2Id, (const char *t, size_t n), (t, n))
PASS(uint64_t, MsprofSysCycleTime, (void), ())
PASS(int32_t, MsprofNotifySetDevice, (uint32_t c, uint32_t d, bool o), (c, d, o))
PASS(int32_t, MsprofRegisterProfileCallback, (int32_t t, void *c, uint32_t n), (t, c, n))
PASS(int32_t, profSetProfCommand, (void *c, uint32_t n), (c, n))
PASS(int32_t, profSetStepInfo, (uint64_t i, uint16_t t, void *s), (i, t, s))
PASS(int32_t, ProfAclInit, (uint32_t t, const char *p, uint32_t n), (t, p, n))
PASS(int32_t, ProfAclWarmup, (uint32_t t, const void *c), (t, c))
PASS(int32_t, ProfAclStart, (uint32_t t, const void *c), (t, c))
PASS(int32_t, ProfAclStop, (uint32_t t, const void *c), (t, c))
PASS(int32_t, ProfAclFinalize, (uint32_t t), (t))
PASS(int32_t, ProfAclSetConfig, (uint32_t t, const char *v, size_t n), (t, v, n))
PASS(int32_t, ProfAclRegisterDeviceCallback, (void), ())
PASS(int32_t, ProfAclDrvGetDevNum, (void), ())
PASS(int32_t, ProfAclSubscribe, (uint32_t t, uint32_t m, const void *c), (t, m, c))
PASS(int32_t, ProfAclUnSubscribe, (uint32_t t, uint32_t m), (t, m))
PASS(uint64_t, ProfAclGetOpTime, (uint32_t t, const void *i, size_t n, uint32_t x), (t, i, n, x))
PASS(size_t, ProfAclGetId, (uint32_t t, const void *i, size_t n, uint32_t x), (t, i, n, x))
PASS(int32_t, ProfAclGetOpVal,
     (uint32_t t, const void *i, size_t n, uint32_t x, void *d, size_t s), (t, i, n, x, d, s))
PASS(const char *, ProfAclGetOpAttriVal,
     (uint32_t t, const void *i, size_t n, uint32_t x, uint32_t a), (t, i, n, x, a))
PASS(int32_t, ProfAclPush, (void *s), (s))
PASS(int32_t, ProfAclPop, (void), ())
PASS(int32_t, ProfAclSetCategoryName, (uint32_t c, const char *n), (c, n))
PASS(int32_t, ProfAclSetStampCategory, (void *s, uint32_t c), (s, c))
PASS(int32_t, ProfAclSetStampPayload, (void *s, int32_t t, void *v), (s, t, v))
PASS(int32_t, ProfAclRangePushEx, (void *a), (a))
PASS(int32_t, ProfAclRangePop, (void), ())
PASS(int32_t, ProfAclGetCompatibleFeaturesV2, (size_t *n, void **d), (n, d))
PASS(int32_t, ProfAclGetCompatibleFeatures, (size_t *n, void **d), (n, d))
PASS(void *, ProfAclCreateStamp, (void), ())
PASS(int32_t, ProfAclSetStampTraceMessage, (void *s, const char *t, uint32_t n), (s, t, n))
PASS(int32_t, ProfAclMark, (void *s), (s))
PASS(int32_t, ProfAclMarkEx, (const char *t, size_t n, void *s), (t, n, s))
PASS(int32_t, ProfAclRangeStart, (void *s, uint32_t *i), (s, i))
PASS(int32_t, ProfAclRangeStop, (uint32_t i), (i))

void ProfAclDestroyStamp(void *stamp)
{
    void (*next)(void *) = NULL;

    *(void **)&next = real("ProfAclDestroyStamp");
    next(stamp);
}

__attribute__((destructor)) static void tell(void)
{
    fprintf(stderr, "shim: %u reports\n", reports);
}
