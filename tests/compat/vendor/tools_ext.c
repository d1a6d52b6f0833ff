/* SPDX-License-Identifier: Apache-2.0 */
/* libms_tools_ext.so: mstx, which asks a profiler for its functions at the first call: the library
 * that MSTX_INJECTION_PATH names, else whoever has the name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*function)(void);

void mstxMarkA(const char *text, void *stream);
uint64_t mstxRangeStartA(const char *text, void *stream);
void mstxRangeEnd(uint64_t id);
void *mstxDomainCreateA(const char *name);
void mstxDomainMarkA(void *domain, const char *text, void *stream);

static struct {
    void (*mark)(const char *, void *);
    uint64_t (*start)(const char *, void *);
    void (*end)(uint64_t);
    function tool_id;
    void *(*create)(const char *);
    function destroy;
    void (*domain_mark)(void *, const char *, void *);
    function domain_start, domain_end;
} call;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static int get_table(int module, function ***table, unsigned *size)
{
    static function *core[] = {NULL, (function *)&call.mark, (function *)&call.start,
                               (function *)&call.end, &call.tool_id, NULL};
    static function *domain[] = {NULL, (function *)&call.create, &call.destroy,
                                 (function *)&call.domain_mark, &call.domain_start,
                                 &call.domain_end, NULL};

    if (module != 1 && module != 2) {
        return 1;
    }
    *table = module == 1 ? core : domain;
    *size = (module == 1 ? sizeof(core) : sizeof(domain)) / sizeof(core[0]) - 1;
    return 0;
}

static void inject(void)
{
    const char *path = getenv("MSTX_INJECTION_PATH");
    void *handle = path != NULL ? dlopen(path, RTLD_LAZY) : RTLD_DEFAULT;
    int (*init)(int (*)(int, function ***, unsigned *)) = NULL;

    *(void **)&init = path == NULL || handle != NULL ? dlsym(handle, "InitInjectionMstx") : NULL;
    if (init != NULL) {
        (void)init(get_table);
    }
}

void mstxMarkA(const char *text, void *stream)
{
    (void)pthread_once(&once, inject);
    if (call.mark != NULL) {
        call.mark(text, stream);
    }
}

uint64_t mstxRangeStartA(const char *text, void *stream)
{
    (void)pthread_once(&once, inject);
    return call.start != NULL ? call.start(text, stream) : 0;
}

void mstxRangeEnd(uint64_t id)
{
    (void)pthread_once(&once, inject);
    if (call.end != NULL) {
        call.end(id);
    }
}

void *mstxDomainCreateA(const char *name)
{
    (void)pthread_once(&once, inject);
    return call.create != NULL ? call.create(name) : NULL;
}

void mstxDomainMarkA(void *domain, const char *text, void *stream)
{
    (void)pthread_once(&once, inject);
    if (call.domain_mark != NULL) {
        call.domain_mark(domain, text, stream);
    }
}
