/* SPDX-License-Identifier: Apache-2.0 */
/* program DIRECTORY: every function of the API, called as programs do, with the header that -include has
 * chosen. C and C++. Exit code: 0, or the line of the first wrong result. */
#include <stdio.h>
#include <string.h>

#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                     \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int stamps(void)
{
    static const char text[] = "program";
    uint32_t range = 0;
    void *stamp = aclprofCreateStamp();

    MUST(stamp != NULL);
    MUST(aclprofSetStampTraceMessage(stamp, text, (uint32_t)strlen(text)) == ACL_SUCCESS);
    MUST(aclprofMark(stamp) == ACL_SUCCESS);
    MUST(aclprofPush(stamp) == ACL_SUCCESS);
    MUST(aclprofPop() == ACL_SUCCESS);
    MUST(aclprofRangeStart(stamp, &range) == ACL_SUCCESS && range != 0);
    MUST(aclprofRangeStop(range) == ACL_SUCCESS);
    MUST(aclprofRangeStop(range) != ACL_SUCCESS);
    aclprofDestroyStamp(stamp);
    return 0;
}

static int steps(void)
{
    aclprofStepInfo *step = aclprofCreateStepInfo();

    MUST(step != NULL);
    MUST(aclprofGetStepTimestamp(step, ACL_STEP_START, NULL) != ACL_SUCCESS);
    MUST(aclprofGetStepTimestamp(NULL, ACL_STEP_END, NULL) != ACL_SUCCESS);
    aclprofDestroyStepInfo(step);
    return 0;
}

static int subscription(void)
{
    int fd = -1;
    char record[80] = "";
    char name[65];
    size_t size = 0;
    uint32_t number = 7;
    aclprofSubscribeConfig *config = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &fd);

    MUST(config != NULL);
    MUST(aclprofModelSubscribe(0, config) != ACL_SUCCESS); /* the profiler is open */
    MUST(aclprofModelUnSubscribe(0) != ACL_SUCCESS);
    MUST(aclprofDestroySubscribeConfig(config) == ACL_SUCCESS);
    MUST(aclprofGetOpDescSize(&size) == ACL_SUCCESS && size == sizeof(record));
    MUST(aclprofGetOpNum(record, sizeof(record), &number) != ACL_SUCCESS);
    MUST(aclprofGetOpTypeLen(record, sizeof(record), 0, &size) != ACL_SUCCESS);
    MUST(aclprofGetOpType(record, sizeof(record), 0, name, sizeof(name)) != ACL_SUCCESS);
    MUST(aclprofGetOpNameLen(record, sizeof(record), 0, &size) != ACL_SUCCESS);
    MUST(aclprofGetOpName(record, sizeof(record), 0, name, sizeof(name)) != ACL_SUCCESS);
    MUST(aclprofGetOpStart(record, sizeof(record), 0) == 0);
    MUST(aclprofGetOpEnd(record, sizeof(record), 0) == 0);
    MUST(aclprofGetOpDuration(record, sizeof(record), 0) == 0);
    MUST(aclprofGetModelId(record, sizeof(record), 0) == 0);
    return 0;
}

static int later_calls(void)
{
#ifdef HAVE_LATER_CALLS
    aclprofEventAttributes attributes;
    char record[80] = "";

    memset(&attributes, 0, sizeof(attributes));
    MUST(sizeof(attributes) == 16);
    MUST(aclprofMarkEx("x", 1, NULL) != ACL_SUCCESS);
    MUST(aclprofStr2Id("text") != 0 && aclprofStr2Id("text") == aclprofStr2Id("text"));
    MUST(aclprofRangePushEx(&attributes) != ACL_SUCCESS);
    MUST(aclprofRangePop() != ACL_SUCCESS);
    MUST(aclprofGetOpFlag(record, sizeof(record), 0) == ACL_SUBSCRIBE_NONE);
    MUST(aclprofGetOpAttriValue(record, sizeof(record), 0, ACL_SUBSCRIBE_ATTRI_THREADID) == NULL);
#endif
    return 0;
}

int main(int argc, char **argv)
{
    aclprofAicoreEvents *events = NULL; /* neither this nor the config is const in real programs */
    aclprofConfig *config = NULL;

    MUST(argc == 2);
    MUST(aclprofInit(argv[1], strlen(argv[1])) == ACL_SUCCESS);
    MUST(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 5) == ACL_SUCCESS);
    MUST(aclprofSetConfig(ACL_PROF_HOST_SYS, "nonsense", 8) != ACL_SUCCESS);
    config = aclprofCreateConfig(NULL, 0, ACL_AICORE_NONE, events, ACL_PROF_MSPROFTX);
    MUST(config != NULL);
    MUST(aclprofStart(config) == ACL_SUCCESS);
    MUST(stamps() == 0 && steps() == 0 && subscription() == 0 && later_calls() == 0);
    MUST(aclprofStop(config) == ACL_SUCCESS);
    MUST(aclprofDestroyConfig(config) == ACL_SUCCESS);
    MUST(aclprofFinalize() == ACL_SUCCESS);
    return 0;
}
