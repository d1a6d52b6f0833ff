/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that can be controlled (session/control_socket.h), and one exchange with several. */
#ifndef AP_TOOL_CONTROL_CLIENT_H_
#define AP_TOOL_CONTROL_CLIENT_H_

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/control_path.h"

#define AP_CONTROL_PEERS 512u
#define AP_CONTROL_ANSWER 16384u

typedef struct ap__peer {
    pid_t pid; /* 0: only the path is known */
    char path[AP_CONTROL_PATH_MAX + 32];
    int fd;
    bool ok; /* the answer begins with it */
    char answer[AP_CONTROL_ANSWER];
} ap__peer;

typedef struct ap__peers {
    ap__peer *list;
    uint32_t count;
} ap__peers;

/* Every process of this user. Sockets of dead ones are removed. 0 or errno. */
int ap__peers_all(ap__peers *peers);
/* The one of a number, of a socket, or of a running PROF_* directory. false: a sentence in text. */
bool ap__peers_add(ap__peers *peers, const char *target, char *text, size_t size);
void ap__peers_free(ap__peers *peers);

/* Sends the line to all, then waits for all answers. Whoever does not answer has an answer that
 * says so. */
void ap__peers_ask(ap__peers *peers, const char *line);

/* The value of a key in an answer; NULL: there is none. */
const char *ap__peer_value(ap__peer *peer, const char *key, char *out, size_t size);

#endif
