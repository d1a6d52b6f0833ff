/* SPDX-License-Identifier: Apache-2.0 */
/* Every export of a whole result directory: what is written is well-formed. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "fuzz.h"
#include "tool/export.h"

static void check_json(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *text = NULL;
    cJSON *json = NULL;

    assert(fd >= 0 && fstat(fd, &st) == 0);
    text = malloc((size_t)st.st_size + 1);
    assert(text != NULL && read(fd, text, (size_t)st.st_size) == st.st_size);
    json = cJSON_ParseWithLength(text, (size_t)st.st_size);
    assert(cJSON_IsArray(json));
    cJSON_Delete(json);
    free(text);
    close(fd);
}

static void check(const ap__export *e)
{
    DIR *list = fdopendir(openat(e->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct dirent *entry = NULL;

    assert(list != NULL);
    while ((entry = readdir(list)) != NULL) {
        assert(strstr(entry->d_name, ".part") == NULL);
        if (strstr(entry->d_name, ".json") != NULL) {
            check_json(e->dir_fd, entry->d_name);
        }
    }
    closedir(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ap__reader_error error;
    ap__reader *reader = ap__reader_open(fuzz_tree(data, size), &error);
    ap__model model;
    ap__export e;

    if (reader == NULL) {
        return 0;
    }
    assert(ap__model_load(&model, reader) == 0);
    assert(ap__export_open(&e, ap__reader_path(reader), NULL) == 0);
    e.guard = size % 2 != 0;
    assert(ap__export_tables(&e, &model) == 0);
    assert(ap__json_timeline(&e, &model) == 0);
    assert(ap__pftrace(&e, &model) == 0);
    if (size % 8 == 0) { /* it takes longer than all others */
        assert(ap__db_export(&e, &model) == 0);
    }
    check(&e);
    ap__export_close(&e);
    ap__model_free(&model);
    ap__reader_close(reader);
    return 0;
}
