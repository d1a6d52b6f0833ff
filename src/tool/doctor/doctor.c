/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tool/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void ap__found(ap__doctor *d, const char *id, ap__doctor_grade grade, const char *advice,
               const char *format, ...)
{
    ap__finding *f = NULL;
    va_list args;

    if (d->count == AP_DOCTOR_MOST) {
        return;
    }
    f = &d->list[d->count++];
    f->id = id;
    f->grade = grade;
    va_start(args, format);
    (void)vsnprintf(f->text, sizeof(f->text), format, args);
    va_end(args);
    (void)snprintf(f->advice, sizeof(f->advice), "%s", advice != NULL ? advice : "");
}

const char *ap__doctor_grade_name(ap__doctor_grade grade)
{
    static const char *const names[] = {"ok", "note", "warning", "problem"};

    return names[grade];
}

ap__doctor_grade ap__doctor_worst(const ap__doctor *d)
{
    ap__doctor_grade worst = AP_DOCTOR_OK;

    for (uint32_t i = 0; i < d->count; i++) {
        worst = d->list[i].grade > worst ? d->list[i].grade : worst;
    }
    return worst;
}

bool ap__doctor_path(const ap__doctor *d, const char *path, char out[PATH_MAX])
{
    int n = snprintf(out, PATH_MAX, "%s%s", path[0] == '/' ? d->root : "", path);

    return n > 0 && n < PATH_MAX;
}

long ap__doctor_read(const ap__doctor *d, const char *path, char *buffer, size_t size)
{
    char below[PATH_MAX];
    struct stat st;
    size_t used = 0;
    ssize_t n = 1;
    int fd = -1;

    buffer[0] = '\0';
    if (ap__doctor_path(d, path, below)) {
        fd = open(below, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        n = -1;
    }
    while (n > 0 && used < size - 1) {
        n = read(fd, buffer + used, size - 1 - used);
        used += n > 0 ? (size_t)n : 0;
    }
    buffer[used] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return n < 0 ? -1 : (long)used;
}

const char *ap__doctor_env(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

void ap__doctor_run(ap__doctor *d)
{
    d->count = 0;
    d->devices = 0;
    d->has_driver = false;
    ap__doctor_libraries(d);
    ap__doctor_driver(d);
    ap__doctor_devices(d);
    ap__doctor_place(d);
    ap__doctor_limits(d);
    ap__doctor_container(d);
    ap__doctor_others(d);
    ap__doctor_clock(d);
    ap__doctor_settings(d);
}
