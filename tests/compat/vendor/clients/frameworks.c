/* SPDX-License-Identifier: Apache-2.0 */
/* frameworks NAME DIRECTORY [PATH]: the sequences of calls that public frameworks make, and what they
 * insist on. torch: nine functions through the handle of libascendcl.so, six through that of
 * libmsprofiler.so, windows with new paths, dlclose at exit. mindspore: PATH of libmsprofiler.so,
 * numbers steps itself, features must not be empty. dipu: old names of stamps, opened by name.
 * paddle: Stop and no Finalize, then another one. Exit code: number of the call that failed. */
#define _GNU_SOURCE
#include "lookup.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct step {
    bool start, end;
    uint64_t index;
} step;

static struct {
    int (*init)(const char *, size_t);
    int (*finalize)(void);
    void *(*create_config)(uint32_t *, uint32_t, int, const void *, uint64_t);
    int (*destroy_config)(const void *);
    int (*start)(const void *);
    int (*stop)(const void *);
    step *(*create_step)(void);
    int (*step_time)(step *, int, void *);
    void (*destroy_step)(step *);
    int (*warmup)(const void *);
    int (*set_config)(int, const char *, size_t);
    int (*features)(size_t *, void **);
    int (*features_v2)(size_t *, void **);
    int (*device_callback)(void);
    int (*mark_ex)(const char *, size_t, void *);
    void *(*create_stamp)(void);
    void (*destroy_stamp)(void *);
    int (*message)(void *, const char *, uint32_t);
    int (*tag_name)(void *, const char *, uint16_t);
    int (*call_stack)(void *, const char *, uint32_t);
    int (*range_start)(void *, uint32_t *);
    int (*range_stop)(uint32_t);
} call;

typedef struct named {
    const char *name;
    void *pointer;
} named;

static const named main_nine[] = {{"aclprofInit", &call.init},
                                  {"aclprofStart", &call.start},
                                  {"aclprofStop", &call.stop},
                                  {"aclprofFinalize", &call.finalize},
                                  {"aclprofCreateConfig", &call.create_config},
                                  {"aclprofDestroyConfig", &call.destroy_config},
                                  {"aclprofCreateStepInfo", &call.create_step},
                                  {"aclprofGetStepTimestamp", &call.step_time},
                                  {"aclprofDestroyStepInfo", &call.destroy_step}};
static const named more_six[] = {{"aclprofWarmup", &call.warmup},
                                 {"aclprofSetConfig", &call.set_config},
                                 {"aclprofGetSupportedFeatures", &call.features},
                                 {"aclprofGetSupportedFeaturesV2", &call.features_v2},
                                 {"aclprofRegisterDeviceCallback", &call.device_callback},
                                 {"aclprofMarkEx", &call.mark_ex}};
static const named stamps[] = {{"aclprofCreateStamp", &call.create_stamp},
                               {"aclprofDestroyStamp", &call.destroy_stamp},
                               {"aclprofSetStampTraceMessage", &call.message},
                               {"aclprofSetStampTagName", &call.tag_name},
                               {"aclprofSetStampCallStack", &call.call_stack},
                               {"aclprofRangeStart", &call.range_start},
                               {"aclprofRangeStop", &call.range_stop}};

#define FIND(handle, list) find_all(handle, list, sizeof(list) / sizeof((list)[0]))
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "frameworks: line %d: %s\n", __LINE__, #condition);                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static char a_stream; /* an address is all that these libraries look at */

static void find_all(void *handle, const named *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(handle, list[i].name);

        if (found == NULL) {
            fprintf(stderr, "frameworks: no %s\n", list[i].name);
            exit(2);
        }
        memcpy(list[i].pointer, &found, sizeof(found));
    }
}

static void set(int type, const char *value)
{
    CHECK(call.set_config(type, value, strlen(value)) == 0);
}

/* Features as the C++ clients read them: 272 bytes each, the text at 144 not empty. */
static void look_at_features(int (*get)(size_t *, void **))
{
    size_t count = 0;
    void *data = NULL;
    bool attr = false;

    CHECK(get(&count, &data) == 0 && count != 0 && data != NULL);
    for (size_t i = 0; i < count; i++) {
        const char *f = (const char *)data + 272 * i;

        CHECK(f[8] != '\0' && strcmp(f + 80, "1") == 0 && strcmp(f + 112, "all") == 0 &&
              strcmp(f + 128, "all") == 0 && f[144] != '\0');
        attr = attr || (strcmp(f + 8, "ATTR") == 0 && strcmp(f + 96, "2") == 0);
    }
    CHECK(attr);
}

/* ---- torch_npu ---- */

static void *torch_handles[2];

static void torch_at_exit(void)
{
    CHECK(dlclose(torch_handles[1]) == 0);
    CHECK(dlclose(torch_handles[0]) == 0);
}

static void torch_steps(int count)
{
    for (int i = 0; i < count; i++) {
        step *s = call.create_step();

        CHECK(s != NULL);
        CHECK(call.step_time(s, 0, &a_stream) == 0);
        CHECK(call.mark_ex("torch step", 10, &a_stream) == 0);
        CHECK(call.step_time(s, 1, &a_stream) == 0);
        call.destroy_step(s);
    }
}

static void torch(const char *dir)
{
    uint32_t device = 0;

    torch_handles[0] = lookup_open("ascendcl-global");
    FIND(torch_handles[0], main_nine);
    torch_handles[1] = lookup_open("msprofiler");
    FIND(torch_handles[1], more_six);
    CHECK(atexit(torch_at_exit) == 0);
    for (int window = 0; window < 3; window++) {
        char path[4096];
        void *config = NULL;

        (void)snprintf(path, sizeof(path), "%s/window%d", dir, window);
        look_at_features(call.features_v2);
        CHECK(call.init(path, strlen(path)) == 0);
        set(8, "cpu,mem"); /* ACL_PROF_HOST_SYS */
        config = call.create_config(&device, 1, 1, NULL, 0x1 | 0x2 | 0x4 | 0x20 | 0x40 | 0x80);
        CHECK(config != NULL);
        CHECK(call.device_callback() == 0);
        if (window == 1) {
            CHECK(call.warmup(config) == 0);
        }
        CHECK(call.start(config) == 0);
        torch_steps(10);
        CHECK(call.stop(config) == 0);
        CHECK(call.destroy_config(config) == 0);
        CHECK(call.finalize() == 0);
    }
}

/* ---- MindSpore ---- */

static void mindspore(const char *dir, const char *path)
{
    void *runtime = dlopen("libascendcl.so", RTLD_LAZY); /* for everything else */
    void *handle = dlopen(path, RTLD_LAZY);
    uint32_t device = 0;
    void *config = NULL;

    CHECK(runtime != NULL);
    if (handle == NULL) {
        fprintf(stderr, "frameworks: %s\n", dlerror());
        exit(2);
    }
    FIND(handle, main_nine);
    FIND(handle, more_six);
    look_at_features(call.features);
    CHECK(call.init(dir, strlen(dir)) == 0);
    config = call.create_config(&device, 1, 1, NULL, 0x1 | 0x2 | 0x4 | 0x40);
    CHECK(config != NULL && call.start(config) == 0);
    for (uint64_t i = 0; i < 3; i++) {
        step *s = call.create_step();

        CHECK(s != NULL);
        s->index = 700 + i; /* behind the library's back */
        CHECK(call.step_time(s, 0, &a_stream) == 0 && call.step_time(s, 1, &a_stream) == 0);
        CHECK(s->start && s->end && s->index == 700 + i);
        call.destroy_step(s);
    }
    CHECK(call.stop(config) == 0 && call.destroy_config(config) == 0 && call.finalize() == 0);
}

/* ---- DIPU ---- */

static void dipu(const char *dir)
{
    static char name[400];
    void *config = NULL;
    void *handle = lookup_open("msprofiler");

    FIND(handle, main_nine);
    FIND(handle, stamps);
    config = call.create_config(NULL, 0, 0xFF, NULL, 0x80); /* before Init */
    CHECK(config != NULL && call.init(dir, strlen(dir)) == 0 && call.start(config) == 0);
    memset(name, 'n', sizeof(name) - 1); /* operators' names are long */
    for (int i = 0; i < 200; i++) {
        void *stamp = call.create_stamp();
        uint32_t id = 0;

        CHECK(stamp != NULL);
        CHECK(call.message(stamp, name, sizeof(name) - 1) == 0);
        CHECK(call.tag_name(stamp, "dipu", 4) == 0);
        CHECK(call.call_stack(stamp, "a\nb", 3) == 0);
        CHECK(call.range_start(stamp, &id) == 0 && call.range_stop(id) == 0);
        call.destroy_stamp(stamp);
    }
    CHECK(call.stop(config) == 0 && call.finalize() == 0); /* no Destroy */
}

/* ---- Paddle ---- */

static void paddle(const char *dir)
{
    uint32_t device = 0;
    void *handle = lookup_open("ascendcl");
    void *config = NULL;

    FIND(handle, main_nine);
    CHECK(call.init(dir, strlen(dir)) == 0);
    config = call.create_config(&device, 1, 1, NULL, 0x1 | 0x2 | 0x4);
    CHECK(config != NULL);
    for (int i = 0; i < 2; i++) {
        CHECK(call.start(config) == 0 && call.stop(config) == 0);
    }
    CHECK(call.destroy_config(config) == 0); /* and no Finalize: what Stop has closed is whole */
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "torch") == 0) {
        torch(argv[2]);
    } else if (argc == 4 && strcmp(argv[1], "mindspore") == 0) {
        mindspore(argv[2], argv[3]);
    } else if (argc == 3 && strcmp(argv[1], "dipu") == 0) {
        dipu(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "paddle") == 0) {
        paddle(argv[2]);
    } else {
        return 64;
    }
    return 0;
}
