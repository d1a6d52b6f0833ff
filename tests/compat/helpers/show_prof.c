/* SPDX-License-Identifier: Apache-2.0 */
/* show_prof DIRECTORY: what lies in a result directory, for shell tests: state, number of events,
 * whether the account balances, messages with their numbers, notes. Exit code 0 when it is
 * finished, balances and has no notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "read_back.h"

static void print_messages(const read_back *back)
{
    for (size_t i = 0; i < back->count; i++) {
        const char *message = back->stamps[i].message;
        size_t k = 0;

        while (k < i && strcmp(back->stamps[k].message, message) != 0) {
            k++;
        }
        if (k == i) {
            printf("%zu %s\n", read_back_count(back, message), message);
        }
    }
}

int main(int argc, char **argv)
{
    read_back *back = argc == 2 ? read_back_open(argv[1]) : NULL;
    bool finished = false;
    bool balances = false;
    bool notes = false;

    if (back == NULL) {
        return 2;
    }
    finished = ap__reader_state_of(back->reader) == AP_READER_FINISHED;
    balances = read_back_account_balances(back);
    notes = ap__reader_note(back->reader, 0) != NULL;
    printf("%s, %zu events, %s\n", finished ? "finished" : "not finished", back->count,
           balances ? "balanced" : "not balanced");
    print_messages(back);
    read_back_print_notes(back);
    read_back_close(back);
    return finished && balances && !notes ? 0 : 1;
}
