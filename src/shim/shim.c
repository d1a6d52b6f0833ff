/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmsprofiler.so and libprofapi.so: the names under which programs look for the vendor's libraries.
 * They filter libacl_prof.so (DT_FILTER): the loader looks there first, for dlsym too, so that all
 * state is in one place whichever name a caller came by. The functions here are for the linker, and
 * for a tool behind us that goes on to the next definition of a name; they lead to the same place.
 *
 * Code, marker, and where to ask for the next definition behind this object: the library recognises
 * a stub by its marker when it looks for the vendor's functions itself (reporter/vendor.c).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "shim_names.h" /* AP_SHIM_NAMES(X): X(index, name) for each export */

#define AP_CORE "libacl_prof.so"

__attribute__((visibility("hidden"), used)) void *ap__shim_slots[AP_SHIM_COUNT];

/* The one function of its own: the library asks it what is behind this object. */
__attribute__((visibility("default"), used)) void *ap__shim_next(const char *name);

void *ap__shim_next(const char *name)
{
    /* no tail call: the loader goes by the address that it returns to */
    void *volatile fn = dlsym(RTLD_NEXT, name);

    return fn;
}

#if defined(__x86_64__)
#define AP_JUMP(index) "jmp *(ap__shim_slots + 8 * " #index ")(%rip)\n"
#elif defined(__aarch64__)
#define AP_JUMP(index)                                                                             \
    "adrp x16, ap__shim_slots + 8 * " #index "\n"                                                  \
    "ldr x16, [x16, #:lo12:ap__shim_slots + 8 * " #index "]\n"                                     \
    "br x16\n"
#else
#error "no stub for this architecture"
#endif

#define AP_STUB(index, name)                                                                       \
    ".balign 32\n"                                                                                 \
    ".globl " #name "\n"                                                                           \
    ".type " #name ", %function\n" #name ":\n" AP_JUMP(index) ".balign 16\n"                       \
    ".ascii \"APSHIM01\"\n"                                                                        \
    ".quad ap__shim_next - .\n"                                                                    \
    ".size " #name ", . - " #name "\n"

__asm__(".text\n" AP_SHIM_NAMES(AP_STUB));

#define AP_NAME(index, name) #name,

__attribute__((constructor(101))) static void ap__shim_load(void)
{
    static const char *const names[] = {AP_SHIM_NAMES(AP_NAME)};
    void *core = dlopen(AP_CORE, RTLD_LAZY | RTLD_NOLOAD);

    for (size_t i = 0; core != NULL && i < AP_SHIM_COUNT; i++) {
        ap__shim_slots[i] = dlsym(core, names[i]);
    }
}
