/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which real programs come by functions of the profiler. */
#ifndef AP_TESTS_COMPAT_LOOKUP_H_
#define AP_TESTS_COMPAT_LOOKUP_H_

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `way` leads to; a way with a '/' is a path. Ends the program when there is none. */
static inline void *lookup_open(const char *way)
{
    void *handle = NULL;

    if (strcmp(way, "default") == 0) {
        if (dlopen("libascendcl.so", RTLD_LAZY | RTLD_GLOBAL) != NULL) {
            return RTLD_DEFAULT;
        }
    } else if (strcmp(way, "ascendcl") == 0) {
        handle = dlopen("libascendcl.so", RTLD_LAZY);
    } else if (strcmp(way, "ascendcl-global") == 0) {
        handle = dlopen("libascendcl.so", RTLD_LAZY | RTLD_GLOBAL);
    } else if (strcmp(way, "ascendcl-local") == 0) {
        handle = dlopen("libascendcl.so", RTLD_NOW | RTLD_LOCAL);
    } else if (strcmp(way, "msprofiler") == 0) {
        handle = dlopen("libmsprofiler.so", RTLD_LAZY | RTLD_GLOBAL);
    } else if (strcmp(way, "acl_prof") == 0) {
        handle = dlopen("libacl_prof.so", RTLD_LAZY | RTLD_GLOBAL);
    } else if (strcmp(way, "profapi") == 0) {
        handle = dlopen("libprofapi.so", RTLD_NOW);
    } else {
        handle = dlopen(way, RTLD_LAZY);
    }
    if (handle == NULL) {
        fprintf(stderr, "lookup: %s\n", dlerror());
        exit(70);
    }
    return handle;
}

/* "none", "ours", or "vendor". */
static inline const char *lookup_whose(void *function)
{
    Dl_info info;

    if (function == NULL) {
        return "none";
    }
    if (dladdr(function, &info) == 0 || info.dli_fname == NULL) {
        return "nobody's";
    }
    return strstr(info.dli_fname, "libacl_prof.so") != NULL ? "ours" : "vendor";
}

#endif
