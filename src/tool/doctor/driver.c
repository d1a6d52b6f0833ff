/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's library, as the library would look for it (drivers/choose.h), and its devices. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/doctor/doctor.h"

#define AP_HAL "libascend_hal.so"
#define AP_PROBE_MS 15000
#define AP_DRIVER_ENVIRONMENT                                                                      \
    "LD_LIBRARY_PATH needs /usr/local/Ascend/driver/lib64, its common/ and its driver/"

#if defined(__aarch64__)
#define AP_ARCH_DIR "aarch64-linux"
#else
#define AP_ARCH_DIR "x86_64-linux"
#endif

/* ---- loading it, in a child that may hang or die ---- */

static const char *const ap__needed[] = {
    "prof_drv_get_channels", "prof_drv_start",    "prof_stop",
    "prof_channel_read",     "prof_channel_poll", "drvGetDevNum",
    "drvGetDevIDs",          "halGetDeviceInfo",  "halGetAPIVersion"};

/* One line on `out`: "=N" devices, or what is wrong. */
static void ap__probe_child(const char *path, int out)
{
    char line[900];
    int (*count)(uint32_t *) = NULL;
    uint32_t devices = UINT32_MAX;
    void *address = NULL;
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    int n = 0;
    int code = 0;

    if (library == NULL) {
        n = snprintf(line, sizeof(line), "does not load: %s", dlerror());
    }
    for (size_t i = 0; library != NULL && n == 0 && i < sizeof(ap__needed) / sizeof(*ap__needed);
         i++) {
        if (dlsym(library, ap__needed[i]) == NULL) {
            n = snprintf(line, sizeof(line), "has no function %s", ap__needed[i]);
        }
    }
    if (n == 0) {
        address = dlsym(library, "drvGetDevNum");
        memcpy(&count, &address, sizeof(count));
        code = count(&devices);
        if (code != 0) {
            n = snprintf(line, sizeof(line), "cannot count the devices: drvGetDevNum gives %d",
                         code);
        } else if (devices == UINT32_MAX) {
            n = snprintf(line, sizeof(line), "is a stub: its functions do nothing");
        } else {
            n = snprintf(line, sizeof(line), "=%u", devices);
        }
    }
    n = n < (int)sizeof(line) ? n : (int)sizeof(line) - 1;
    (void)!write(out, line, (size_t)n);
    _exit(0);
}

/* The child's line; false when there is none. */
static bool ap__probe(const char *path, char *line, size_t size)
{
    struct pollfd wait = {.events = POLLIN};
    int ends[2];
    ssize_t n = -1;
    pid_t child = -1;

    if (pipe(ends) != 0) {
        return false;
    }
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        ap__probe_child(path, ends[1]);
    }
    close(ends[1]);
    wait.fd = ends[0];
    if (child > 0 && poll(&wait, 1, AP_PROBE_MS) > 0) {
        n = read(ends[0], line, size - 1);
    }
    close(ends[0]);
    if (child > 0) {
        (void)kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    line[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static void ap__examine(ap__doctor *d, const char *path, const char *by)
{
    char line[1024];

    d->has_driver = true;
    if (ap__doctor_kind_of(d, path) == AP_LIBRARY_OTHER) {
        ap__found(d, "driver.broken", AP_DOCTOR_PROBLEM, "reinstall the driver",
                  "%s (by %s) is no library of this machine", path, by);
        return;
    }
    if (d->root[0] != '\0') {
        ap__found(d, "driver.library", AP_DOCTOR_OK, NULL, "the driver's library is %s (by %s)",
                  path, by);
        return;
    }
    if (!ap__probe(path, line, sizeof(line))) {
        ap__found(d, "driver.broken", AP_DOCTOR_PROBLEM,
                  "see whether `npu-smi info` answers; restart the driver if it does not",
                  "%s (by %s) dies or hangs when it is loaded", path, by);
    } else if (line[0] == '=') {
        d->devices = (uint32_t)strtoul(line + 1, NULL, 10);
        ap__found(d, "driver.library", AP_DOCTOR_OK, NULL,
                  "the driver's library is %s (by %s); it counts %u devices", path, by, d->devices);
    } else {
        ap__found(d, "driver.broken", AP_DOCTOR_PROBLEM, AP_DRIVER_ENVIRONMENT, "%s (by %s) %s",
                  path, by, line);
    }
}

/* In the order of drivers/ascend/load.c. */
static void ap__search(ap__doctor *d, bool asked_for)
{
    static const char *const homes[] = {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"};
    static const char usual[] = "/usr/local/Ascend/driver/lib64/driver/" AP_HAL;
    ap__doctor_library_file file;

    if (ap__doctor_find(d, AP_HAL, &file)) {
        if (strstr(file.path, "/devlib/") != NULL || strstr(file.path, "/lib64/device/") != NULL) {
            ap__found(d, "driver.stub", AP_DOCTOR_WARNING,
                      "put the driver's directories in front: " AP_DRIVER_ENVIRONMENT,
                      "the first " AP_HAL " of the loader is a stub to link with: %s (by %s)",
                      file.path, file.by);
        } else {
            ap__examine(d, file.path, file.by);
            return;
        }
    }
    if (ap__doctor_kind_of(d, usual) != AP_LIBRARY_NONE) {
        ap__examine(d, usual, "its usual place");
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        const char *home = ap__doctor_env(homes[i]);

        if (home != NULL && home[0] == '/' &&
            snprintf(file.path, sizeof(file.path), "%s/" AP_ARCH_DIR "/lib64/" AP_HAL, home) <
                (int)sizeof(file.path) &&
            ap__doctor_kind_of(d, file.path) != AP_LIBRARY_NONE) {
            ap__examine(d, file.path, homes[i]);
            return;
        }
    }
    ap__found(d, "driver.absent", asked_for ? AP_DOCTOR_PROBLEM : AP_DOCTOR_NOTE,
              "in a container: mount /usr/local/Ascend/driver of the host",
              "there is no " AP_HAL ": programs are captured without devices");
}

void ap__doctor_driver(ap__doctor *d)
{
    const char *name = ap__doctor_env("ACLPROF_DRIVER");

    if (name == NULL || strcmp(name, "auto") == 0 || strcmp(name, "ascend") == 0) {
        ap__search(d, name != NULL && strcmp(name, "ascend") == 0);
    } else if (strcmp(name, "none") == 0) {
        ap__found(d, "driver.none", AP_DOCTOR_WARNING, "unset ACLPROF_DRIVER to capture devices",
                  "ACLPROF_DRIVER is none: programs are captured without devices");
    } else if (strcmp(name, "sim") == 0) {
        ap__found(d, "driver.simulated", AP_DOCTOR_NOTE, "unset ACLPROF_DRIVER to use the real one",
                  "ACLPROF_DRIVER is sim: device data are invented");
    } else if (strchr(name, '/') == NULL && strstr(name, ".so") == NULL) {
        ap__found(d, "driver.name", AP_DOCTOR_PROBLEM,
                  "it can be auto, ascend, sim, none or the path of a " AP_HAL,
                  "ACLPROF_DRIVER is '%s'", name);
    } else if (strchr(name, '/') != NULL && ap__doctor_kind_of(d, name) == AP_LIBRARY_NONE) {
        ap__found(d, "driver.absent", AP_DOCTOR_PROBLEM, "correct ACLPROF_DRIVER or unset it",
                  "ACLPROF_DRIVER is %s, which is not there", name);
    } else {
        ap__examine(d, name, "ACLPROF_DRIVER");
    }
}

/* ---- /dev/davinci* ---- */

/* Whether this user may use it. */
static bool ap__device_node(ap__doctor *d, const char *name)
{
    char path[64];
    char below[PATH_MAX];
    char advice[256];
    struct stat st;
    struct group *group = NULL;

    (void)snprintf(path, sizeof(path), "/dev/%.48s", name);
    if (!ap__doctor_path(d, path, below) || stat(below, &st) != 0) {
        return false;
    }
    if (d->root[0] == '\0' && !S_ISCHR(st.st_mode)) {
        ap__found(d, "devices.kind", AP_DOCTOR_PROBLEM,
                  "start the container with --device=/dev/davinci0 …, not with a mount",
                  "%s is no device", path);
        return false;
    }
    if (faccessat(AT_FDCWD, below, R_OK | W_OK, AT_EACCESS) != 0) {
        group = getgrgid(st.st_gid);
        (void)snprintf(advice, sizeof(advice),
                       "make the user a member of the group %s (%u), or ask root",
                       group != NULL ? group->gr_name : "that owns it", (unsigned)st.st_gid);
        ap__found(d, "devices.permission", AP_DOCTOR_PROBLEM, advice,
                  "%s may not be read and written by user %u (mode %03o)", path,
                  (unsigned)geteuid(), (unsigned)(st.st_mode & 0777));
        return false;
    }
    return true;
}

void ap__doctor_devices(ap__doctor *d)
{
    static const char *const managers[] = {"davinci_manager", "devmm_svm", "hisi_hdc"};
    char below[PATH_MAX];
    DIR *list = ap__doctor_path(d, "/dev", below) ? opendir(below) : NULL;
    struct dirent *entry = NULL;
    uint32_t nodes = 0;
    uint32_t usable = 0;

    while (list != NULL && (entry = readdir(list)) != NULL && nodes < 64) {
        if (strncmp(entry->d_name, "davinci", 7) == 0 && entry->d_name[7] >= '0' &&
            entry->d_name[7] <= '9') {
            nodes++;
            usable += ap__device_node(d, entry->d_name);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    if (nodes == 0) {
        if (d->has_driver) {
            ap__found(
                d, "devices.none", d->devices != 0 ? AP_DOCTOR_NOTE : AP_DOCTOR_PROBLEM,
                "start the container with --device=/dev/davinci0 --device=/dev/davinci_manager "
                "--device=/dev/devmm_svm --device=/dev/hisi_hdc",
                "there is a driver and no /dev/davinci0 …");
        } else {
            ap__found(d, "devices.none", AP_DOCTOR_NOTE, NULL, "there is no NPU here");
        }
        return;
    }
    if (usable != 0) {
        ap__found(d, "devices", AP_DOCTOR_OK, NULL, "%u of %u devices may be used by user %u",
                  usable, nodes, (unsigned)geteuid());
    }
    for (size_t i = 0; i < sizeof(managers) / sizeof(managers[0]); i++) {
        char path[64];

        (void)snprintf(path, sizeof(path), "/dev/%s", managers[i]);
        if (ap__doctor_path(d, path, below) && access(below, F_OK) != 0) {
            ap__found(d, "devices.manager", AP_DOCTOR_PROBLEM,
                      "start the container with --device for it, too", "there is no %s", path);
        } else {
            (void)ap__device_node(d, managers[i]);
        }
    }
}
