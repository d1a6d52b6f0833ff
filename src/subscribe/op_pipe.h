/* SPDX-License-Identifier: Apache-2.0 */
/* The program's pipe that records of a subscription go to: a queue and a thread that writes, so that
 * a pipe which nobody reads holds up nothing and one whose reader is gone kills nobody. */
#ifndef AP_SUBSCRIBE_OP_PIPE_H_
#define AP_SUBSCRIBE_OP_PIPE_H_

#include <stdint.h>

#include "format/wire_op.h"

typedef struct ap__op_pipe ap__op_pipe;

typedef struct ap__op_pipe_counts {
    uint64_t emitted; /* = written + lost, after the close */
    uint64_t written;
    uint64_t lost; /* the queue was full, or the reader is gone */
} ap__op_pipe_counts;

/* fd: write end of a pipe, a socket or a file; not changed, and closed by nobody here. 0 or errno. */
int ap__op_pipe_open(ap__op_pipe **out, int fd);

/* Any thread; never waits. A queue of 4096 records, then they are lost. */
void ap__op_pipe_put(ap__op_pipe *pipe, const ap__wire_op *record);

/* Waits for the queue to be written while that gets on: 250 ms without progress, 2 s in all. */
ap__op_pipe_counts ap__op_pipe_close(ap__op_pipe *pipe);

/* In a child of fork, where the thread is not: closes the own descriptor. */
void ap__op_pipe_abandon(ap__op_pipe *pipe);

#endif
