/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets have in common. */
#ifndef AP_TESTS_FUZZ_H_
#define AP_TESTS_FUZZ_H_

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A scratch directory, in memory where that is possible; the same in each call, gone at exit. */
const char *fuzz_scratch(void);
/* The file of that name in the scratch directory holds the bytes now; returns its directory's
 * descriptor. */
int fuzz_file(const char *name, const uint8_t *data, size_t size);

/* An arena is mostly zeros: { 2 bytes: how many words of them, 1 byte: how many words follow,
 * these words }, repeatedly. Valid until the next call. */
const uint8_t *fuzz_sparse(const uint8_t *data, size_t size, size_t *out_size);

/* A result directory: the input is a sequence of { number of a file, 3 bytes of length, bytes },
 * where a length beyond the end is cut
 * and the arena is as for fuzz_sparse; whatever was there before is gone. Path of the PROF_*
 * directory. */
const char *fuzz_tree(const uint8_t *data, size_t size);
/* Hash over names, modes and bytes of all files of that directory. */
uint64_t fuzz_tree_print(void);

#endif
