/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof start|stop|snapshot|status`: windows of running processes, from outside. */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool/control_client.h"
#include "tool/option_values.h"
#include "tool/verbs.h"

#define AP_TOGETHER_NS 500000000u /* until several processes begin at once */
#define AP_NS 1000000000.0

typedef struct ap__control_options {
    const char *verb;
    bool stamps;
    bool all;
    uint64_t devices;
    uint64_t at_ns;
    uint64_t duration_ms;
    uint64_t steps;
    char output[PATH_MAX];
    ap__peers peers;
} ap__control_options;

static void ap__usage(FILE *out, const char *verb)
{
    static const struct {
        const char *verb;
        const char *what;
    } texts[] = {
        {"start", "Begins a capture in a running process, as if it had called aclprofStart.\n\n"
                  "  --stamps         record stamps (so, too, without --device)\n"
                  "  --device LIST    capture these devices (0,2 or all) when the program sets "
                  "them\n"
                  "  --at TIME        begin at an agreed time: +SEC from now, HH:MM:SS, or seconds "
                  "since 1970;\n"
                  "                   several processes begin together in any case\n"
                  "  --duration SEC   end after so long\n"
                  "  --steps N        end after so many steps (aclprofGetStepTimestamp)\n"
                  "  --output DIR     result path\n"},
        {"stop", "Ends such a capture and prints its directory.\n\n"},
        {"snapshot", "Ends the directory of such a capture, which can be looked at then, and goes "
                     "on\nin a new one; what happens in between is not recorded.\n\n"},
        {"status", "Says what processes are doing; without a target all that there are.\n\n"},
    };

    fprintf(out, "Usage: aclprof %s [options] [PID | SOCKET | PROF_DIR]…\n\n", verb);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i].verb, verb) == 0) {
            fputs(texts[i].what, out);
        }
    }
    fprintf(out, "  --all            every process of this user\n"
                 "  -h, --help       print this\n"
                 "Without a target: the only process that there is. A process listens when it was\n"
                 "started with ACLPROF_CONTROL=1, from its first use of the profiler on, and only "
                 "to\nits own user and root.\n");
}

/* ---- options ---- */

/* "+0.5", "14:30:00" (the next one), "1767225600.25" */
static bool ap__time(const char *text, uint64_t *ns)
{
    struct timespec now;
    char *end = NULL;
    double seconds = 0;
    struct tm day;
    int used = 0;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (strchr(text, ':') != NULL) {
        time_t then = now.tv_sec;

        (void)localtime_r(&now.tv_sec, &day);
        if (sscanf(text, "%2d:%2d:%2d%n", &day.tm_hour, &day.tm_min, &day.tm_sec, &used) != 3 ||
            text[used] != '\0' || day.tm_hour > 23 || day.tm_min > 59 || day.tm_sec > 60 ||
            day.tm_hour < 0 || day.tm_min < 0 || day.tm_sec < 0) {
            return false;
        }
        day.tm_isdst = -1;
        then = mktime(&day);
        *ns = (uint64_t)(then >= now.tv_sec ? then : then + 86400) * 1000000000u;
        return true;
    }
    seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= 0 && seconds < 1e11)) {
        return false;
    }
    *ns = text[0] == '+'
              ? (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
                    (uint64_t)llround(seconds * AP_NS)
              : (uint64_t)(floor(seconds)) * 1000000000u +
                    (uint64_t)llround((seconds - floor(seconds)) * AP_NS);
    return true;
}

static bool ap__count(const char *text, uint64_t *out)
{
    char *end = NULL;
    unsigned long long n = strtoull(text, &end, 10);

    *out = n;
    return text[0] >= '1' && text[0] <= '9' && *end == '\0' && n <= UINT32_MAX;
}

static bool ap__output(const char *text, char out[PATH_MAX])
{
    char here[PATH_MAX] = "";

    return text[0] != '\0' && strchr(text, '\n') == NULL &&
           (text[0] == '/' || getcwd(here, sizeof(here)) != NULL) &&
           snprintf(out, PATH_MAX, "%s%s%s", here, text[0] == '/' ? "" : "/", text) < PATH_MAX;
}

static bool ap__option(ap__control_options *o, int option, const char *value)
{
    switch (option) {
    case 's':
        o->stamps = true;
        return true;
    case 'a':
        o->all = true;
        return true;
    case 'd':
        return ap__option_devices(value, &o->devices);
    case 't':
        return ap__time(value, &o->at_ns);
    case 'n':
        return ap__option_ms(value, &o->duration_ms) && o->duration_ms != 0;
    case 'k':
        return ap__count(value, &o->steps);
    case 'o':
        return ap__output(value, o->output);
    default:
        return false;
    }
}

static int ap__parse(ap__control_options *o, int argc, char **argv)
{
    static const struct option for_start[] = {{"stamps", no_argument, NULL, 's'},
                                              {"device", required_argument, NULL, 'd'},
                                              {"at", required_argument, NULL, 't'},
                                              {"duration", required_argument, NULL, 'n'},
                                              {"steps", required_argument, NULL, 'k'},
                                              {"output", required_argument, NULL, 'o'},
                                              {"all", no_argument, NULL, 'a'},
                                              {"help", no_argument, NULL, 'h'},
                                              {NULL, 0, NULL, 0}};
    const struct option *names = strcmp(o->verb, "start") == 0 ? for_start : for_start + 6;
    int option = 0;
    int index = 0;

    optind = 0;
    while ((option = getopt_long(argc, argv, "h", names, &index)) != -1) {
        if (option == 'h') {
            ap__usage(stdout, o->verb);
            return 0;
        }
        if (option == '?' || !ap__option(o, option, optarg)) {
            if (option != '?') {
                fprintf(stderr, "aclprof %s: --%s '%s': not understood\n", o->verb,
                        names[index].name, optarg != NULL ? optarg : "");
            }
            ap__usage(stderr, o->verb);
            return 2;
        }
    }
    return -1;
}

/* ---- targets ---- */

/* -1: there are some; else the exit code. */
static int ap__find(ap__control_options *o, int argc, char **argv)
{
    char text[1200];
    bool is_status = strcmp(o->verb, "status") == 0;
    int error = 0;

    for (int i = optind; i < argc; i++) {
        if (!ap__peers_add(&o->peers, argv[i], text, sizeof(text))) {
            fprintf(stderr, "aclprof %s: %s\n", o->verb, text);
            return 1;
        }
    }
    if (optind < argc) {
        return -1;
    }
    error = ap__peers_all(&o->peers);
    if (error != 0) {
        fprintf(stderr, "aclprof %s: the directory of control sockets: %s\n", o->verb,
                strerror(error));
        return 1;
    }
    if (o->peers.count == 0) {
        fprintf(stderr, "aclprof %s: no process of this user listens: start it with "
                        "ACLPROF_CONTROL=1\n",
                o->verb);
        return 1;
    }
    if (o->peers.count > 1 && !o->all && !is_status) {
        fprintf(stderr, "aclprof %s: %u processes listen: name one or more, or --all; `aclprof "
                        "status` lists them\n",
                o->verb, o->peers.count);
        return 2;
    }
    return -1;
}

/* ---- asking and telling ---- */

static void ap__line(const ap__control_options *o, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", o->verb);

    if (strcmp(o->verb, "start") == 0) {
        n += snprintf(out + n, size - (size_t)n, "%s devices=%" PRIx64 " at=%" PRIu64
                                                 " duration=%" PRIu64 " steps=%" PRIu64,
                      o->stamps || o->devices == 0 ? " stamps" : "", o->devices, o->at_ns,
                      o->duration_ms, o->steps);
        if (o->output[0] != '\0') {
            n += snprintf(out + n, size - (size_t)n, " output=%s", o->output);
        }
    }
    (void)snprintf(out + n, size - (size_t)n, "\n");
}

static void ap__print_status(ap__peer *peer)
{
    static const char *const keys[] = {"emitted", "written", "pending",   "lost",
                                       "threads", "left_ms", "left_steps"};
    char program[64] = "";
    char state[64] = "";
    char pid[32] = "";
    char value[AP_CONTROL_ANSWER];

    (void)ap__peer_value(peer, "program", program, sizeof(program));
    (void)ap__peer_value(peer, "state", state, sizeof(state));
    (void)ap__peer_value(peer, "pid", pid, sizeof(pid));
    printf("%s %s: %s", pid, program,
           strcmp(state, "own") == 0 ? "captures by itself" : state);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (ap__peer_value(peer, keys[i], value, sizeof(value)) != NULL) {
            printf(", %s %s", keys[i], value);
        }
    }
    printf("\n");
    if (ap__peer_value(peer, "directory", value, sizeof(value)) != NULL) {
        printf("  %s\n", value);
    }
}

static bool ap__print(const ap__control_options *o, ap__peer *peer)
{
    char value[AP_CONTROL_ANSWER];

    if (!peer->ok) {
        fprintf(stderr, "aclprof %s: %s: %s", o->verb, peer->path, peer->answer + 6);
        return false;
    }
    if (strcmp(o->verb, "status") == 0) {
        ap__print_status(peer);
    } else if (ap__peer_value(peer, strcmp(o->verb, "start") == 0 ? "directory" : "ended", value,
                              sizeof(value)) != NULL) {
        printf("%s\n", value);
    }
    if (ap__peer_value(peer, "stopped", value, sizeof(value)) != NULL) {
        fprintf(stderr, "aclprof %s: %s: it does not go on: %s\n", o->verb, peer->path, value);
        return false;
    }
    return true;
}

int ap__verb_control(int argc, char **argv)
{
    ap__control_options o = {.verb = argv[0]};
    char line[PATH_MAX + 256];
    struct timespec now;
    int code = ap__parse(&o, argc, argv);

    code = code >= 0 ? code : ap__find(&o, argc, argv);
    if (code < 0) {
        code = 0;
        if (o.peers.count > 1 && o.at_ns == 0) {
            (void)clock_gettime(CLOCK_REALTIME, &now);
            o.at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + AP_TOGETHER_NS;
        }
        ap__line(&o, line, sizeof(line));
        ap__peers_ask(&o.peers, line);
        for (uint32_t i = 0; i < o.peers.count; i++) {
            code = ap__print(&o, &o.peers.list[i]) ? code : 1;
        }
    }
    ap__peers_free(&o.peers);
    return code;
}
