/* SPDX-License-Identifier: Apache-2.0 */
/* plain DIRECTORY [LIBRARY]: profiles, with a library that is linked or preloaded, or with one that
 * it opens. Needs nothing but the C library. */
#include "capture.h"

int main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[2], RTLD_NOW) : RTLD_DEFAULT;
    int step = 0;

    if (argc == 3 && library == NULL) {
        fprintf(stderr, "plain: %s\n", dlerror());
        return 70;
    }
    step = argc >= 2 ? capture(library, argv[1], "plain", 1000) : 77;
    if (step != 0) {
        fprintf(stderr, "plain: step %d\n", step);
    }
    return step;
}
