/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "writer/host_info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "format/utf8.h"

/* Copies text up to a line break, blanks around it left out, as valid UTF-8. */
static void ap__take(char *dst, size_t size, const char *src, size_t length)
{
    size_t end = 0;

    while (length > 0 && (*src == ' ' || *src == '\t')) {
        src++;
        length--;
    }
    while (end < length && src[end] != '\n' && src[end] != '\0') {
        end++;
    }
    while (end > 0 && (src[end - 1] == ' ' || src[end - 1] == '\t' || src[end - 1] == '\r')) {
        end--;
    }
    dst[ap__utf8_clean(dst, size - 1, src, end)] = '\0';
}

/* Bytes read, at most size - 1; buf gets a NUL. */
static size_t ap__slurp(int dir_fd, const char *path, char *buf, size_t size)
{
    int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n = 0;

    if (fd >= 0) {
        do {
            n = read(fd, buf + used, size - 1 - used);
            used += n > 0 ? (size_t)n : 0;
        } while (n > 0 || (n < 0 && errno == EINTR));
        (void)close(fd);
    }
    buf[used] = '\0';
    return used;
}

/* Value of the first line "<key> : value" of /proc text. */
static const char *ap__proc_value(const char *text, const char *key)
{
    size_t length = strlen(key);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        const char *p = line + (*line == '\n');

        line = p;
        if (strncmp(p, key, length) == 0) {
            p += length;
            p += strspn(p, " \t");
            if (*p == ':') {
                return p + 1;
            }
        }
    }
    return NULL;
}

static uint64_t ap__number(const char *text)
{
    uint64_t v = 0;

    text += strspn(text, " \t");
    for (; *text >= '0' && *text <= '9'; text++) {
        if (v > UINT64_MAX / 10u - 1u) {
            return 0;
        }
        v = v * 10u + (uint64_t)(*text - '0');
    }
    return v;
}

static const char *ap__arm_maker(const char *code)
{
    static const struct {
        unsigned long id;
        const char *name;
    } makers[] = {{0x41, "ARM"},      {0x42, "Broadcom"}, {0x43, "Cavium"},  {0x46, "Fujitsu"},
                  {0x48, "HiSilicon"}, {0x4e, "NVIDIA"},  {0x50, "APM"},     {0x51, "Qualcomm"},
                  {0x61, "Apple"},    {0x70, "Phytium"},  {0xc0, "Ampere"}};
    unsigned long id = strtoul(code, NULL, 16);

    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        if (makers[i].id == id) {
            return makers[i].name;
        }
    }
    return code;
}

static void ap__read_cpu(ap__host_info *out)
{
    char text[4096]; /* the first processor's lines; the whole file is slow on big machines */
    const char *value = NULL;

    (void)ap__slurp(AT_FDCWD, "/proc/cpuinfo", text, sizeof(text));
    value = ap__proc_value(text, "vendor_id");
    if (value == NULL) {
        value = ap__proc_value(text, "CPU implementer");
        value = value != NULL ? ap__arm_maker(value) : "";
    }
    ap__take(out->cpu_name, sizeof(out->cpu_name), value, strlen(value));
    value = ap__proc_value(text, "model name");
    if (value == NULL) {
        value = ap__proc_value(text, "CPU part");
    }
    value = value != NULL ? value : "";
    ap__take(out->cpu_type, sizeof(out->cpu_type), value, strlen(value));
}

static void ap__read_memory(ap__host_info *out)
{
    char text[256];
    const char *value = NULL;

    (void)ap__slurp(AT_FDCWD, "/proc/meminfo", text, sizeof(text));
    value = ap__proc_value(text, "MemTotal");
    out->memory_kb = value != NULL ? ap__number(value) : 0;
}

static void ap__read_net_cards(ap__host_info *out)
{
    DIR *list = opendir("/sys/class/net");
    struct dirent *entry = NULL;

    while (list != NULL && out->net_card_count < AP_NET_CARDS_MAX &&
           (entry = readdir(list)) != NULL) {
        ap__net_card *card = &out->net_cards[out->net_card_count];
        char path[300];
        char speed[32];

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "lo") == 0 ||
            snprintf(path, sizeof(path), "%s/speed", entry->d_name) >= (int)sizeof(path)) {
            continue;
        }
        ap__take(card->name, sizeof(card->name), entry->d_name, strlen(entry->d_name));
        (void)ap__slurp(dirfd(list), path, speed, sizeof(speed));
        card->speed = ap__number(speed) <= UINT32_MAX ? (uint32_t)ap__number(speed) : 0;
        out->net_card_count++;
    }
    if (list != NULL) {
        (void)closedir(list);
    }
}

/* The kernel keeps 15 bytes of the name; the command line may have all of it. */
static void ap__read_pid_name(ap__host_info *out)
{
    char comm[32];
    char line[512];
    size_t comm_length = ap__slurp(AT_FDCWD, "/proc/self/comm", comm, sizeof(comm));
    const char *base = NULL;

    while (comm_length > 0 && comm[comm_length - 1] == '\n') {
        comm[--comm_length] = '\0';
    }
    (void)ap__slurp(AT_FDCWD, "/proc/self/cmdline", line, sizeof(line));
    base = strrchr(line, '/');
    base = base != NULL ? base + 1 : line;
    if (comm_length == 0 || (comm_length == 15 && strncmp(base, comm, comm_length) == 0)) {
        ap__take(out->pid_name, sizeof(out->pid_name), base, strlen(base));
    } else {
        ap__take(out->pid_name, sizeof(out->pid_name), comm, comm_length);
    }
}

static int32_t ap__rank(void)
{
    static const char *const names[] = {"RANK_ID",   "RANK",     "OMPI_COMM_WORLD_RANK",
                                        "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = secure_getenv(names[i]);
        uint64_t v = 0;

        if (text == NULL || *text == '\0' || text[strspn(text, "0123456789")] != '\0') {
            continue;
        }
        v = ap__number(text);
        if (strlen(text) <= 10 && v <= INT32_MAX) {
            return (int32_t)v;
        }
    }
    return -1;
}

/* From a line "…=[build:version]" or "…version=version" of CANN's version.cfg. */
static void ap__read_cann_version(ap__host_info *out)
{
    const char *home = secure_getenv("ASCEND_HOME_PATH");
    char path[4096];
    char text[4096];

    if (home == NULL || *home != '/' ||
        snprintf(path, sizeof(path), "%s/version.cfg", home) >= (int)sizeof(path)) {
        return;
    }
    (void)ap__slurp(AT_FDCWD, path, text, sizeof(text));
    for (const char *line = text; *line != '\0'; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *value = memmem(line, length, "version=", 8);
        size_t n = 0;

        if (*line != '#' && value != NULL) {
            const char *end = line + length;
            const char *colon = NULL;

            value += 8;
            if (*value == '[') {
                colon = memchr(value, ':', (size_t)(end - value));
                value = colon != NULL ? colon + 1 : value + 1;
            }
            n = strspn(value, "0123456789.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-");
            if (n > 0 && n < sizeof(out->cann_version)) {
                ap__take(out->cann_version, sizeof(out->cann_version), value, n);
                return;
            }
        }
        line += length;
    }
}

void ap__host_info_read(ap__host_info *out)
{
    struct utsname names;
    char text[128];
    long n = 0;

    memset(out, 0, sizeof(*out));
    if (uname(&names) == 0) {
        (void)snprintf(text, sizeof(text), "%.40s-%.80s", names.sysname, names.release);
        ap__take(out->os, sizeof(out->os), text, strlen(text));
        ap__take(out->host_name, sizeof(out->host_name), names.nodename, strlen(names.nodename));
        ap__take(out->hardware, sizeof(out->hardware), names.machine, strlen(names.machine));
    }
    (void)ap__slurp(AT_FDCWD, "/proc/uptime", text, sizeof(text));
    ap__take(out->up_time, sizeof(out->up_time), text, strlen(text));
    n = sysconf(_SC_NPROCESSORS_ONLN);
    out->cpu_count = n > 0 ? (uint32_t)n : 1;
    n = sysconf(_SC_CLK_TCK);
    out->clock_ticks = n > 0 ? (uint32_t)n : 100;
    out->pid = (uint32_t)getpid();
    out->rank = ap__rank();
    ap__read_cpu(out);
    ap__read_memory(out);
    ap__read_net_cards(out);
    ap__read_pid_name(out);
    ap__read_cann_version(out);
}
