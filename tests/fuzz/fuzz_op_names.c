/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operators: what goes in comes out, cut where it is too long. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "subscribe/op_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    char out[AP_OP_NAME_BYTES + 8];
    size_t length = 0;
    size_t type = 0;
    uint64_t number = 0;

    assert(name != NULL);
    memcpy(name, data, size);
    name[size] = '\0';
    length = strlen(name);
    type = ap__op_type_length(name, length);
    assert(type <= length && (length == 0 || type != 0));
    number = ap__op_number(name, NULL);
    assert(number != 0 && ap__op_number(name, NULL) == number);
    assert(ap__op_name(number, out, sizeof(out)) <= length);
    assert(strncmp(out, name, strlen(out)) == 0);
    assert(strlen(out) == length || strlen(out) < AP_OP_NAME_BYTES);
    (void)ap__op_type(number, out, sizeof(out));
    assert(strncmp(out, name, strlen(out)) == 0);
    (void)ap__op_name(number, out, size % 4 + 1); /* a short buffer is filled and ended */
    assert(strlen(out) <= size % 4);
    assert(ap__op_name(number + ((uint64_t)1 << 40), out, sizeof(out)) == 0);
    free(name);
    return 0;
}
