/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program's calls come to this project's library. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/doctor/doctor.h"

#define AP_USE_RUN "start the program with `aclprof run -- PROGRAM`"

static const char *const ap__fronts[] = {"libacl_prof.so", "libmsprofiler.so", "libprofapi.so"};

#define AP_FRONTS (sizeof(ap__fronts) / sizeof(ap__fronts[0]))

/* Whether LD_PRELOAD brings our library in; says what is wrong with it. */
static bool ap__preload(ap__doctor *d)
{
    const char *at = ap__doctor_env("LD_PRELOAD");
    bool ours = false;
    bool first = true;

    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, ": ");
        ap__doctor_library_file file = {.by = "LD_PRELOAD"};
        char name[PATH_MAX];
        bool found = false;

        if (length != 0 && length < sizeof(file.path)) {
            (void)snprintf(name, sizeof(name), "%.*s", (int)length, at);
            if (strchr(name, '/') == NULL) {
                found = ap__doctor_find(d, name, &file);
            } else {
                memcpy(file.path, name, sizeof(name));
                found = ap__doctor_kind_of(d, name) != AP_LIBRARY_NONE;
            }
            if (!found) {
                ap__found(d, "library.preload-missing", AP_DOCTOR_WARNING,
                          "correct LD_PRELOAD; the loader skips what it does not find",
                          "LD_PRELOAD names %s, which is not there", name);
            } else if (ap__doctor_kind_of(d, file.path) == AP_LIBRARY_OURS) {
                ap__found(d, "library.preload", AP_DOCTOR_OK, NULL,
                          "LD_PRELOAD has this library: %s%s", file.path,
                          first ? "" : ", behind others");
                ours = true;
            }
            first = false;
        }
        at += length;
        at += *at != '\0';
    }
    return ours;
}

static void ap__front(ap__doctor *d, const char *name, bool preloaded)
{
    ap__doctor_library_file file;
    bool core = strcmp(name, ap__fronts[0]) == 0;

    if (!ap__doctor_find(d, name, &file)) {
        if (core && !preloaded) {
            ap__found(d, "library.absent", AP_DOCTOR_WARNING,
                      AP_USE_RUN ", or put the directory of libacl_prof.so into LD_LIBRARY_PATH, "
                                 "or install it and run ldconfig",
                      "%s is not found by the loader", name);
        }
        return;
    }
    if (ap__doctor_kind_of(d, file.path) == AP_LIBRARY_OURS) {
        ap__found(d, "library.first", AP_DOCTOR_OK, NULL, "%s is this project's: %s (by %s)", name,
                  file.path, file.by);
    } else if (strstr(file.path, "/devlib/") != NULL || strstr(file.path, "/stub") != NULL) {
        ap__found(d, "library.stub", preloaded ? AP_DOCTOR_NOTE : AP_DOCTOR_PROBLEM,
                  "take that directory out of LD_LIBRARY_PATH: its files are there to link with",
                  "%s is a stub that does nothing: %s (by %s)", name, file.path, file.by);
    } else if (strcmp(name, "libprofapi.so") == 0) {
        ap__found(d, "library.profapi", AP_DOCTOR_NOTE,
                  "`aclprof install --all --prefix DIR` brings the records of all CANN libraries "
                  "here",
                  "%s is not this project's: %s (by %s)", name, file.path, file.by);
    } else {
        ap__found(d, "library.foreign", preloaded ? AP_DOCTOR_NOTE : AP_DOCTOR_WARNING,
                  AP_USE_RUN ", or put our directory in front in LD_LIBRARY_PATH, or use `aclprof "
                             "install`",
                  "%s is not this project's: %s (by %s)%s", name, file.path, file.by,
                  preloaded ? "; the preload comes before it" : "");
    }
}

/* Some frameworks open the toolkit's own file by its path, whatever the loader's order. */
static void ap__toolkit(ap__doctor *d)
{
    static const char *const below[] = {"lib64", "x86_64-linux/lib64", "aarch64-linux/lib64"};
    const char *home = ap__doctor_env("ASCEND_HOME_PATH");
    char path[PATH_MAX];
    char root_path[PATH_MAX];

    home = home != NULL ? home : ap__doctor_env("ASCEND_TOOLKIT_HOME");
    if (home == NULL) {
        ap__found(d, "toolkit.none", AP_DOCTOR_NOTE,
                  "on a machine with CANN: source its set_env.sh first",
                  "ASCEND_HOME_PATH is not set: no CANN toolkit in this environment");
        return;
    }
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        ap__doctor_kind kind = AP_LIBRARY_NONE;

        if (snprintf(path, sizeof(path), "%s/%s/libmsprofiler.so", home, below[i]) <
            (int)sizeof(path)) {
            kind = ap__doctor_kind_of(d, path);
        }
        if (kind == AP_LIBRARY_OURS) {
            ap__found(d, "toolkit.installed", AP_DOCTOR_OK, NULL,
                      "the toolkit has this project's library: %s", path);
            return;
        }
        if (kind == AP_LIBRARY_FOREIGN) {
            ap__found(d, "toolkit.vendor", AP_DOCTOR_NOTE,
                      "`aclprof install --prefix DIR` for frameworks that open this file by its "
                      "path (MindSpore)",
                      "the toolkit has the vendor's library: %s", path);
            return;
        }
    }
    if (!ap__doctor_path(d, home, root_path) || access(root_path, F_OK) != 0) {
        ap__found(d, "toolkit.missing", AP_DOCTOR_WARNING,
                  "source the set_env.sh of the CANN "
                  "version that is installed",
                  "the toolkit %s is not there", home);
    } else {
        ap__found(d, "toolkit.bare", AP_DOCTOR_NOTE, NULL, "the toolkit %s has no libmsprofiler.so",
                  home);
    }
}

void ap__doctor_libraries(ap__doctor *d)
{
    bool preloaded = ap__preload(d);

    for (size_t i = 0; i < AP_FRONTS; i++) {
        ap__front(d, ap__fronts[i], preloaded);
    }
    ap__toolkit(d);
}
