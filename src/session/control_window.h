/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the control socket, and the windows that they open. All in the control thread.
 *
 * A request is one line; an answer is `ok`, or `error` and a sentence, and further lines of a key
 * and a value.
 *   status
 *   start [stamps] [devices=HEX] [at=NS] [duration=MS] [steps=N] [output=PATH]
 *         at: CLOCK_REALTIME; duration and steps: of the recording; output comes last
 *   stop       ends the window
 *   snapshot   ends its directory and goes on in a new one */
#ifndef AP_SESSION_CONTROL_WINDOW_H_
#define AP_SESSION_CONTROL_WINDOW_H_

#include <stddef.h>

#define AP_CONTROL_LINE_MAX 8192u

/* Fills the answer, NUL-terminated; `request` is changed. */
void ap__control_answer(char *request, char *answer, size_t size);

/* Does what is due. Milliseconds until there is something to do again, -1: nothing is awaited. */
int ap__control_turn(void);

#endif
