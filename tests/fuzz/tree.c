/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define PROF "PROF_000001_20250101000000000_00004242CPNEIILO"
#define FILE_MOST ((rlim_t)64 << 20) /* of what is written for an input */

/* The order is that of the corpus: new ones go to the end (make_corpus.py reads them here). */
static const char *const files[] = {
    "host/info.json",
    "host/sample.json",
    "host/start_info",
    "host/end_info",
    "host/host_start.log",
    "host/end_info.done",
    "host/data/aging.additional.msproftx.slice_0",
    "host/data/aging.additional.msproftx.slice_1",
    "host/data/unaging.additional.hash_dic.slice_0",
    "host/data/unaging.additional.type_info_dic.slice_0",
    "host/data/aging.api_event.data.slice_0",
    "host/data/unaging.api_event.data.slice_0",
    "host/data/aging.compact.node_basic_info.slice_0",
    "host/data/aging.compact.node_attr_info.slice_0",
    "host/data/aging.compact.task_track.slice_0",
    "host/data/aging.compact.memcpy_info.slice_0",
    "host/data/aging.compact.hccl_op_info.slice_0",
    "host/data/aging.additional.hccl_info.slice_0",
    "host/data/aging.additional.tensor_info.slice_0",
    "host/data/aging.additional.task_memory_info.slice_0",
    "host/data/unaging.additional.fusion_op_info.slice_0",
    "host/data/unaging.additional.graph_id_map.slice_0",
    "host/data/unaging.additional.static_op_mem.slice_0",
    "host/data/host_mem.data.slice_0",
    "host/data/host_disk.data.slice_0",
    "host/data/host_network.data.slice_0",
    "host/data/host_sys_cpu.data.slice_0",
    "host/data/host_sys_mem.data.slice_0",
    "host/data/4242-CpuUsage.data.slice_0",
    "host/data/4242-Memory.data.slice_0",
    "host/.aclprof/account.json",
    "host/.aclprof/names.dic",
    "host/.aclprof/stamp_ext",
    "host/.aclprof/devices.json",
    "host/.aclprof/arena",
    "host/.aclprof/arena.path",
    "host/.aclprof/device_clock.0",
    "device_0/info.json.0",
    "device_0/sample.json",
    "device_0/start_info.0",
    "device_0/end_info.0",
    "device_0/host_start.log.0",
    "device_0/dev_start.log.0",
    "device_0/data/stars_soc.data.0.slice_0",
    "device_0/data/stars_soc.data.0.slice_1",
    "device_0/data/ffts_profile.data.0.slice_0",
    "device_0/data/ts_track.data.0.slice_0",
    "device_0/data/hwts.data.0.slice_0",
    "device_0/data/aicore.data.0.slice_0",
    "device_0/data/stars_soc_profile.data.0.slice_0",
    "device_0/data/lpmFreqConv.data.0.slice_0",
    "device_0/data/lpmInfoConv.data.0.slice_0",
    "device_0/data/npu_mem.data.0.slice_0",
    "device_0/data/npu_mem.app.0.slice_0",
    "device_0/data/npu_module_mem.data.0.slice_0",
    "device_0/data/l2_cache.data.0.slice_0",
    "device_0/data/socpmu.data.0.slice_0",
    "device_0/data/aicpu.data.0.slice_0",
    "device_0/data/hbm.data.0.slice_0",
    "device_0/data/ddr.data.0.slice_0",
    "device_0/data/llc.data.0.slice_0",
    "device_0/data/hccs.data.0.slice_0",
    "device_0/data/pcie.data.0.slice_0",
    "device_0/data/nic.data.0.slice_0",
    "device_0/data/roce.data.0.slice_0",
    "device_0/data/ub.data.0.slice_0",
    "device_0/data/qos.data.0.slice_0",
    "device_0/data/dvpp.data.0.slice_0",
    "device_0/data/tscpu.data.0.slice_0",
    "device_0/data/ai_ctrl_cpu.data.0.slice_0",
    "device_0/data/Memory.data.0.slice_0",
    "device_0/data/SystemCpuUsage.data.0.slice_0",
    "device_0/data/4242-Memory.data.0.slice_0",
    "device_0/data/4242-CpuUsage.data.0.slice_0",
};

#define FILES (sizeof(files) / sizeof(files[0]))

#define SPARSE_MOST ((size_t)256 << 10)

static char scratch[256];
static char tree[400];

static void remove_below(int parent, const char *name)
{
    int fd = -1;
    DIR *list = NULL;
    struct dirent *entry = NULL;

    if (unlinkat(parent, name, 0) == 0) {
        return;
    }
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    list = fd >= 0 ? fdopendir(fd) : NULL;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            remove_below(fd, entry->d_name);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_scratch(void)
{
    remove_below(AT_FDCWD, scratch);
}

const char *fuzz_scratch(void)
{
    struct rlimit limit = {FILE_MOST, FILE_MOST};
    const char *base = getenv("TMPDIR");

    if (scratch[0] == '\0') {
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : base != NULL ? base : "/tmp";
        (void)snprintf(scratch, sizeof(scratch), "%.200s/ap_fuzz_XXXXXX", base);
        if (mkdtemp(scratch) == NULL) {
            perror(scratch);
            abort();
        }
        (void)atexit(remove_scratch);
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
    return scratch;
}

static void write_file(int dir, const char *name, const uint8_t *data, size_t size)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    assert(fd >= 0);
    while (size != 0) {
        ssize_t n = write(fd, data, size);

        assert(n > 0);
        data += n;
        size -= (size_t)n;
    }
    close(fd);
}

int fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    static int dir = -1;

    if (dir < 0) {
        dir = open(fuzz_scratch(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert(dir >= 0);
    }
    write_file(dir, name, data, size);
    return dir;
}

const uint8_t *fuzz_sparse(const uint8_t *data, size_t size, size_t *out_size)
{
    static uint8_t out[SPARSE_MOST];
    size_t to = 0;

    memset(out, 0, sizeof(out));
    for (size_t at = 0; at + 3 <= size;) {
        size_t gap = (data[at] | (size_t)data[at + 1] << 8) * 8;
        size_t bytes = data[at + 2] * 8u;

        at += 3;
        bytes = bytes < size - at ? bytes : size - at;
        if (gap > sizeof(out) - to || bytes > sizeof(out) - to - gap) {
            break;
        }
        memcpy(out + to + gap, data + at, bytes);
        to += gap + bytes;
        at += bytes;
    }
    *out_size = to;
    return out;
}

const char *fuzz_tree(const uint8_t *data, size_t size)
{
    static const char *const directories[] = {"host", "host/data", "host/.aclprof", "device_0",
                                              "device_0/data"};
    bool device = false;
    int fd = -1;

    (void)snprintf(tree, sizeof(tree), "%s/" PROF, fuzz_scratch());
    remove_below(AT_FDCWD, tree);
    for (size_t at = 0; at + 4 <= size;
         at += 4 + (data[at + 1] | (size_t)data[at + 2] << 8 | (size_t)data[at + 3] << 16)) {
        device = device || strncmp(files[data[at] % FILES], "device_0", 8) == 0;
    }
    assert(mkdir(tree, 0750) == 0);
    fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert(fd >= 0);
    for (size_t i = 0; i < (device ? 5u : 3u); i++) {
        assert(mkdirat(fd, directories[i], 0750) == 0);
    }
    for (size_t at = 0; at + 4 <= size;) {
        size_t length = data[at + 1] | (size_t)data[at + 2] << 8 | (size_t)data[at + 3] << 16;
        const char *name = files[data[at] % FILES];

        at += 4;
        length = length < size - at ? length : size - at;
        if (strcmp(name, "host/.aclprof/arena") == 0) {
            size_t bytes = 0;
            const uint8_t *arena = fuzz_sparse(data + at, length, &bytes);

            write_file(fd, name, arena, bytes);
        } else {
            write_file(fd, name, data + at, length);
        }
        at += length;
    }
    close(fd);
    return tree;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3ull;
    }
    return hash;
}

/* Order of entries does not count. */
static uint64_t print_below(int parent, const char *name, uint64_t above)
{
    char buffer[4096];
    struct stat st;
    uint64_t sum = 0;
    uint64_t hash = mix(above, name, strlen(name));
    int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = 0;

    assert(fd >= 0 && fstat(fd, &st) == 0);
    hash = mix(hash, &st.st_mode, sizeof(st.st_mode));
    if (S_ISDIR(st.st_mode)) {
        DIR *list = fdopendir(fd);
        struct dirent *entry = NULL;

        while ((entry = readdir(list)) != NULL) {
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
                sum += print_below(fd, entry->d_name, hash);
            }
        }
        closedir(list);
        return sum + hash;
    }
    while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
        hash = mix(hash, buffer, (size_t)n);
    }
    close(fd);
    return hash;
}

uint64_t fuzz_tree_print(void)
{
    return print_below(AT_FDCWD, tree, 0xcbf29ce484222325ull);
}
