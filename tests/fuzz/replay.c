/* SPDX-License-Identifier: Apache-2.0 */
/* Tries files, or all files of directories, where there is no libFuzzer. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned tried;

static int try_file(const char *path)
{
    FILE *file = fopen(path, "re");
    struct stat st;
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (file == NULL || stat(path, &st) != 0) {
        perror(path);
        return 1;
    }
    bytes = malloc((size_t)st.st_size + 1);
    size = bytes != NULL ? fread(bytes, 1, (size_t)st.st_size, file) : 0;
    fclose(file);
    if (bytes == NULL || size != (size_t)st.st_size) {
        free(bytes);
        return 1;
    }
    printf("%s\n", path); /* the last one is the culprit */
    fflush(stdout);
    (void)LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    tried++;
    return 0;
}

static int try_all(const char *path)
{
    char name[PATH_MAX];
    DIR *list = opendir(path);
    struct dirent *entry = NULL;
    int failed = 0;

    if (list == NULL) {
        return try_file(path);
    }
    while ((entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' &&
            snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) < (int)sizeof(name)) {
            failed |= try_file(name);
        }
    }
    closedir(list);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;

    (void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        failed |= try_all(argv[i]);
    }
    printf("%u inputs\n", tried);
    return failed != 0 || tried == 0;
}
