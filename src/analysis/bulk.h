/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that may become larger than memory: beyond a budget for all of them together they lie in
 * unlinked files, mapped, of which little is kept resident: when the process grows beyond
 * AP_BULK_RESIDENT pages are let go, by a thread now and then, and by who fills, sorts or walks the
 * arrays every AP_BULK_STEPS elements (on a busy machine the thread alone would come too late). Not
 * for the recording library: that thread and the files belong to the aclprof command.
 *
 * Every array has room for the next power of two of its elements. Thread-safe, but for one array.
 */
#ifndef AP_ANALYSIS_BULK_H_
#define AP_ANALYSIS_BULK_H_

#include <stddef.h>
#include <stdint.h>

#define AP_BULK_MEMORY ((size_t)128 << 20)   /* of all arrays, before one goes to a file */
#define AP_BULK_RESIDENT ((size_t)256 << 20) /* of the process, before pages are let go */

#define AP_BULK_STEPS 16384u

/* Lets go of pages if there are too many of them. */
void ap__bulk_let_go(void);
/* For loops over arrays: the same every AP_BULK_STEPS calls. */
static inline void ap__bulk_step(void)
{
    static _Thread_local uint32_t steps;

    if (++steps % AP_BULK_STEPS == 0) {
        ap__bulk_let_go();
    }
}

/* Room for one more element; NULL without memory or disk. *array NULL and *count 0: a new one. */
void *ap__bulk_push(void **array, uint32_t *count, size_t element);
/* An array of `count` zeroed elements; NULL without memory or disk. */
void *ap__bulk_make(uint32_t count, size_t element);
void ap__bulk_free(void *array); /* NULL is fine */
/* 0, or ENOMEM with the elements in some order. An array that is sorted already costs one pass. */
int ap__bulk_sort(void **array, uint32_t count, size_t element,
                  int (*compare)(const void *, const void *));

/* For tests: another budget; 0: the one above. */
void ap__bulk_set_memory(size_t bytes);
/* Bytes that lie in files now. */
size_t ap__bulk_in_files(void);

#endif
