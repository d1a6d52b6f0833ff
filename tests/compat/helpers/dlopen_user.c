/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen_user LIBRARY DIRECTORY finalize|stop|leave: uses the library as a plug-in does, found by
 * dlopen and dlsym, and closes it again; stamps once more through pointers it has kept, since other
 * threads of a program do that. What it leaves out at the end is the third argument. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct calls {
    int (*init)(const char *, size_t);
    void *(*create_config)(uint32_t *, uint32_t, int, void *, uint64_t);
    int (*start)(const void *);
    int (*stop)(const void *);
    int (*finalize)(void);
    int (*destroy_config)(const void *);
    void *(*create_stamp)(void);
    int (*set_message)(void *, const char *, uint32_t);
    int (*mark)(void *);
    void (*destroy_stamp)(void *);
} calls;

static void *library;

static void find(const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);

    memcpy(pointer, &symbol, sizeof(symbol));
}

static int find_all(calls *c)
{
    memset(c, 0, sizeof(*c));
    find("aclprofInit", &c->init);
    find("aclprofCreateConfig", &c->create_config);
    find("aclprofStart", &c->start);
    find("aclprofStop", &c->stop);
    find("aclprofFinalize", &c->finalize);
    find("aclprofDestroyConfig", &c->destroy_config);
    find("aclprofCreateStamp", &c->create_stamp);
    find("aclprofSetStampTraceMessage", &c->set_message);
    find("aclprofMark", &c->mark);
    find("aclprofDestroyStamp", &c->destroy_stamp);
    return c->init != NULL && c->create_config != NULL && c->start != NULL && c->stop != NULL &&
           c->finalize != NULL && c->destroy_config != NULL && c->create_stamp != NULL &&
           c->set_message != NULL && c->mark != NULL && c->destroy_stamp != NULL;
}

static int mark_twice(const calls *c)
{
    static const char text[] = "from dlopen";
    void *stamp = c->create_stamp();
    int bad = stamp == NULL || c->set_message(stamp, text, sizeof(text) - 1) != 0 ||
              c->mark(stamp) != 0 || c->mark(stamp) != 0;

    c->destroy_stamp(stamp);
    return bad;
}

int main(int argc, char **argv)
{
    void *config = NULL;
    calls c;

    if (argc != 4) {
        return 2;
    }
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || !find_all(&c)) {
        fprintf(stderr, "dlopen_user: %s\n", dlerror());
        return 3;
    }
    config = c.create_config(NULL, 0, 0xFF, NULL, 0x80);
    if (c.init(argv[2], strlen(argv[2])) != 0 || config == NULL || c.start(config) != 0 ||
        mark_twice(&c) != 0) {
        return 4;
    }
    if (dlclose(library) != 0 || mark_twice(&c) != 0) {
        return 5;
    }
    if (strcmp(argv[3], "leave") == 0) {
        return 0;
    }
    if (c.stop(config) != 0 || c.destroy_config(config) != 0) {
        return 6;
    }
    return strcmp(argv[3], "stop") == 0 || c.finalize() == 0 ? 0 : 7;
}
