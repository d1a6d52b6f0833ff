/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what was left in rings to the msproftx stream, from the last checkpoint on. */
#ifndef AP_READER_REPLAY_H_
#define AP_READER_REPLAY_H_

#include <stdint.h>

#include "reader/arena_view.h"
#include "reader/dictionaries.h"
#include "reader/notes.h"
#include "reader/sources.h"
#include "reader/tally.h"

typedef struct ap__replay_in {
    int data_fd;
    int ext_fd;
    const ap__arena_view *view;
    bool keep_cycles;
    const ap__source *source; /* of the stamps, as listed before; NULL: none */
    const ap__sources *sources;
    const ap__dictionaries *dictionaries; /* for the names of types */
    ap__notes *notes;
} ap__replay_in;

/* Cuts the stream and stamp_ext to the checkpoint, appends the rings' events, finishes and syncs
 * the stream. *missing: records that should have been on disk and were not; *kept: those that
 * were. Running it again gives the same. 0 or errno. */
int ap__replay(const ap__replay_in *in, ap__tally *tally, uint64_t *kept, uint64_t *missing);

#endif
