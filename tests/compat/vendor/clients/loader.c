/* SPDX-License-Identifier: Apache-2.0 */
/* Knows no library when it is linked.
 * loader whose WAY NAME…             prints whose each function is
 * loader capture WAY DIRECTORY       a capture of 1000 marks, by functions found that way
 * loader closed WAY DIRECTORY        the same, then dlclose until nothing holds the handle, twice
 * loader records WAY DIRECTORY       on device 0, with libraries that report by PLT and by dlsym
 */
#define _GNU_SOURCE
#include "../../hosts/capture.h"
#include "lookup.h"

static int whose(void *handle, char **names)
{
    for (; *names != NULL; names++) {
        printf("%s\n", lookup_whose(dlsym(handle, *names)));
    }
    return 0;
}

static int closed(const char *way, const char *dir)
{
    char again[4096];
    void *handle = lookup_open(way);
    int step = capture(handle, dir, "closed", 500);

    if (step == 0 && handle != RTLD_DEFAULT && dlclose(handle) != 0) {
        return 8;
    }
    handle = lookup_open(way);
    (void)snprintf(again, sizeof(again), "%s-again", dir);
    step = step == 0 ? capture(handle, again, "again", 500) : step;
    return step == 0 && handle != RTLD_DEFAULT && dlclose(handle) != 0 ? 9 : step;
}

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (found == NULL) {
        fprintf(stderr, "loader: no %s\n", name);
        exit(71);
    }
    return found;
}

static int records(void *handle, const char *dir)
{
    int (*init)(const char *, size_t) = NULL;
    void *(*create)(uint32_t *, uint32_t, int, void *, uint64_t) = NULL;
    int (*start)(const void *) = NULL;
    int (*stop)(const void *) = NULL;
    int (*finalize)(void) = NULL;
    int (*acl_init)(const char *) = NULL;
    int (*set_device)(int32_t) = NULL;
    int (*launch)(void) = NULL;
    int (*reduce)(void) = NULL;
    int (*acl_finalize)(void) = NULL;
    uint32_t (*told)(void) = NULL;
    void *acl = dlopen("libascendcl.so", RTLD_NOW | RTLD_GLOBAL);
    void *runtime = dlopen("libruntime.so", RTLD_NOW);
    void *hccl = dlopen("libhccl.so", RTLD_NOW);
    uint32_t device = 0;
    void *config = NULL;

    if (acl == NULL || runtime == NULL || hccl == NULL) {
        fprintf(stderr, "loader: %s\n", dlerror());
        return 72;
    }
    *(void **)&init = function(handle, "aclprofInit");
    *(void **)&create = function(handle, "aclprofCreateConfig");
    *(void **)&start = function(handle, "aclprofStart");
    *(void **)&stop = function(handle, "aclprofStop");
    *(void **)&finalize = function(handle, "aclprofFinalize");
    *(void **)&acl_init = function(acl, "aclInit");
    *(void **)&set_device = function(acl, "aclrtSetDevice");
    *(void **)&launch = function(acl, "aclopExecuteV2");
    *(void **)&acl_finalize = function(acl, "aclFinalize");
    *(void **)&told = function(runtime, "rtProfilingTold");
    *(void **)&reduce = function(hccl, "HcclAllReduce");
    if (acl_init(NULL) != 0 || set_device(0) != 0) {
        return 2;
    }
    config = create(&device, 1, 0xFF, NULL, 0x3 | 0x80);
    if (config == NULL || init(dir, strlen(dir)) != 0) {
        return 3;
    }
    if (start(config) != 0) {
        return 4;
    }
    for (int i = 0; i < 100; i++) {
        if (launch() != 0 || reduce() != 0) {
            return 5;
        }
    }
    if (stop(config) != 0 || finalize() != 0 || acl_finalize() != 0) {
        return 6;
    }
    printf("told 0x%x\n", told());
    return 0;
}

int main(int argc, char **argv)
{
    int step = 64;

    if (argc >= 4 && strcmp(argv[1], "whose") == 0) {
        return whose(lookup_open(argv[2]), argv + 3);
    }
    if (argc == 4 && strcmp(argv[1], "capture") == 0) {
        step = capture(lookup_open(argv[2]), argv[3], "loader", 1000);
    } else if (argc == 4 && strcmp(argv[1], "closed") == 0) {
        step = closed(argv[2], argv[3]);
    } else if (argc == 4 && strcmp(argv[1], "records") == 0) {
        step = records(lookup_open(argv[2]), argv[3]);
    }
    if (step != 0) {
        fprintf(stderr, "loader: step %d\n", step);
    }
    return step;
}
