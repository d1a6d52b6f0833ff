/* SPDX-License-Identifier: Apache-2.0 */
/* A library that calls the program while the loader holds its lock, as profiled libraries do. */
#include <stdint.h>
#include <stdlib.h>

__attribute__((constructor)) static void begin(void)
{
    const char *address = getenv("FAKE_CALLBACK");

    if (address != NULL) {
        ((void (*)(void))(uintptr_t)strtoull(address, NULL, 16))();
    }
}
