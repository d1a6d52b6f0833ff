/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/sim/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sim/random.h"

#define AP_LINES_MAX 4000000u
#define AP_LOOPS_MAX 16u
#define AP_WORDS_MAX 24u

static const char *const ap__kind_names[AP_SIM_KINDS] = {
    "aic",          "aiv",        "mix",           "aicpu",       "memcpy",
    "event_record", "event_wait", "notify_record", "notify_wait", "step"};

typedef struct ap__loop {
    size_t first; /* line that it begins with */
    uint32_t times;
    uint64_t period_ns;
} ap__loop;

typedef struct ap__parser {
    ap__sim_scenario *scenario;
    ap__sim_options *options;
    ap__loop loop[AP_LOOPS_MAX];
    uint32_t loops;
    char *error;
    size_t size;
} ap__parser;

static int ap__u64(const char *text, uint64_t *out)
{
    char *end = NULL;

    *out = strtoull(text, &end, 0);
    return end == text || *end != '\0' || text[0] == '-' ? -1 : 0;
}

static int ap__u32(const char *text, uint64_t max, uint32_t *out)
{
    uint64_t v = 0;

    if (ap__u64(text, &v) != 0 || v > max) {
        return -1;
    }
    *out = (uint32_t)v;
    return 0;
}

/* Microseconds, with decimals. */
static int ap__ns(const char *text, uint64_t *out)
{
    char *end = NULL;
    double us = strtod(text, &end);

    if (end == text || *end != '\0' || !(us >= 0 && us < 1e15)) {
        return -1;
    }
    *out = (uint64_t)(us * 1000 + 0.5);
    return 0;
}

static ap__sim_line *ap__line_new(ap__sim_scenario *scenario)
{
    if (scenario->count == scenario->capacity) {
        size_t capacity = scenario->capacity == 0 ? 256 : 2 * scenario->capacity;
        void *line = capacity > AP_LINES_MAX
                         ? NULL
                         : realloc(scenario->line, capacity * sizeof(scenario->line[0]));

        if (line == NULL) {
            return NULL;
        }
        scenario->line = line;
        scenario->capacity = capacity;
    }
    memset(&scenario->line[scenario->count], 0, sizeof(scenario->line[0]));
    return &scenario->line[scenario->count++];
}

static int ap__counters(ap__sim_task *task, const char *list)
{
    while (*list != '\0') {
        char *end = NULL;

        if (task->counters == 10) {
            return -1;
        }
        task->counter[task->counters++] = strtoull(list, &end, 0);
        if (end == list || (*end != ',' && *end != '\0')) {
            return -1;
        }
        list = end + (*end == ',');
    }
    return 0;
}

static int ap__extra(ap__sim_line *line, char *word)
{
    char *value = strchr(word, '=');
    ap__sim_task *task = &line->task;
    uint32_t number = 0;

    if (value == NULL) {
        return -1;
    }
    *value++ = '\0';
    if (strcmp(word, "name") == 0) {
        return snprintf(task->name, sizeof(task->name), "%s", value) < (int)sizeof(task->name) ? 0
                                                                                               : -1;
    }
    if (strcmp(word, "pmu") == 0) {
        return ap__counters(task, value);
    }
    if (strcmp(word, "index") == 0) {
        return ap__u64(value, &task->index);
    }
    if (strcmp(word, "model") == 0) {
        return ap__u64(value, &task->model);
    }
    if (strcmp(word, "bytes") == 0) {
        return ap__u64(value, &task->bytes);
    }
    if (strcmp(word, "dev") == 0) {
        return ap__u32(value, 63, &line->device);
    }
    if (strcmp(word, "ctx") == 0 && ap__u32(value, AP_SIM_CONTEXTS_MAX, &number) == 0) {
        task->contexts = (uint8_t)number;
        return 0;
    }
    if (strcmp(word, "tag") == 0 && ap__u32(value, UINT16_MAX, &number) == 0) {
        task->step_tag = (uint16_t)number;
        return 0;
    }
    return -1;
}

static int ap__task(ap__parser *parser, char **word, unsigned words)
{
    ap__sim_line *line = words < 6 ? NULL : ap__line_new(parser->scenario);
    ap__sim_task *task = NULL;

    if (line == NULL) {
        return -1;
    }
    task = &line->task;
    line->device = UINT32_MAX;
    line->next_id = strcmp(word[2], "-") == 0;
    task->kind = AP_SIM_KINDS;
    for (uint8_t i = 0; i < AP_SIM_KINDS; i++) {
        if (strcmp(word[3], ap__kind_names[i]) == 0) {
            task->kind = i;
        }
    }
    (void)snprintf(task->name, sizeof(task->name), "%s", word[3]);
    if (task->kind == AP_SIM_KINDS || ap__ns(word[0], &line->at_ns) != 0 ||
        ap__u32(word[1], AP_SIM_STREAMS - 1, &task->stream) != 0 ||
        (!line->next_id && ap__u32(word[2], UINT32_MAX, &task->task) != 0) ||
        ap__ns(word[4], &line->length_ns) != 0 ||
        ap__u32(word[5], UINT16_MAX, &task->blocks) != 0) {
        return -1;
    }
    for (unsigned i = 6; i < words; i++) {
        if (ap__extra(line, word[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int ap__loop_begin(ap__parser *parser, char **word, unsigned words)
{
    ap__loop *loop = &parser->loop[parser->loops];

    if (words != 3 || parser->loops == AP_LOOPS_MAX ||
        ap__u32(word[1], 1000000, &loop->times) != 0 || loop->times == 0 ||
        ap__ns(word[2], &loop->period_ns) != 0) {
        return -1;
    }
    loop->first = parser->scenario->count;
    parser->loops++;
    return 0;
}

static int ap__loop_end(ap__parser *parser)
{
    ap__sim_scenario *scenario = parser->scenario;
    const ap__loop *loop = NULL;
    size_t last = scenario->count;

    if (parser->loops == 0) {
        return -1;
    }
    loop = &parser->loop[--parser->loops];
    for (uint32_t i = 1; i < loop->times; i++) {
        for (size_t k = loop->first; k < last; k++) {
            ap__sim_line *line = ap__line_new(scenario);

            if (line == NULL) {
                return -1;
            }
            *line = scenario->line[k];
            line->at_ns += i * loop->period_ns;
        }
    }
    return 0;
}

static int ap__clock(ap__parser *parser, char **word, unsigned words)
{
    char text[160];
    const char *device = words == 4 && strncmp(word[3], "dev=", 4) == 0 ? word[3] : "";

    if (words < 3 || (words == 4) != (device[0] != '\0') || words > 4) {
        return -1;
    }
    (void)snprintf(text, sizeof(text), "fault=clock_step:from_ms=%.30s:v=%.30s%s%.20s", word[1],
                   word[2], device[0] != '\0' ? ":" : "", device);
    return ap__sim_options_parse(parser->options, text, parser->error, parser->size);
}

static int ap__kernel(ap__parser *parser, char **word, unsigned words)
{
    ap__sim_scenario *scenario = parser->scenario;
    size_t i = scenario->kernels;
    char *end = NULL;

    if ((words != 3 && words != 4) || i == AP_SIM_KERNELS_MAX ||
        strlen(word[1]) >= sizeof(scenario->kernel[i].name) ||
        ap__ns(word[2], &scenario->kernel[i].ns) != 0) {
        return -1;
    }
    strcpy(scenario->kernel[i].name, word[1]);
    if (words == 4) {
        double sigma = strtod(word[3], &end);

        if (end == word[3] || *end != '\0' || !(sigma >= 0 && sigma <= 3)) {
            return -1;
        }
        scenario->kernel[i].sigma = sigma;
    }
    scenario->kernels++;
    return 0;
}

static int ap__item(ap__parser *parser, char *text)
{
    char *word[AP_WORDS_MAX];
    char *rest = NULL;
    unsigned words = 0;
    char pair[1100];

    text[strcspn(text, "#\r\n")] = '\0';
    for (char *w = strtok_r(text, " \t", &rest); w != NULL; w = strtok_r(NULL, " \t", &rest)) {
        if (words == AP_WORDS_MAX) {
            return -1;
        }
        word[words++] = w;
    }
    if (words == 0) {
        return 0;
    }
    if (strcmp(word[0], "option") == 0 && words == 2) {
        return ap__sim_options_parse(parser->options, word[1], parser->error, parser->size);
    }
    if (strcmp(word[0], "fault") == 0 && words == 2) {
        (void)snprintf(pair, sizeof(pair), "fault=%s", word[1]);
        return ap__sim_options_parse(parser->options, pair, parser->error, parser->size);
    }
    if (strcmp(word[0], "clock") == 0) {
        return ap__clock(parser, word, words);
    }
    if (strcmp(word[0], "kernel") == 0) {
        return ap__kernel(parser, word, words);
    }
    if (strcmp(word[0], "loop") == 0) {
        return ap__loop_begin(parser, word, words);
    }
    if (strcmp(word[0], "end") == 0 && words == 1) {
        return ap__loop_end(parser);
    }
    return ap__task(parser, word, words);
}

static int ap__by_time(const void *a, const void *b)
{
    const ap__sim_line *x = a;
    const ap__sim_line *y = b;

    if (x->at_ns != y->at_ns) {
        return x->at_ns < y->at_ns ? -1 : 1;
    }
    return x->task.index < y->task.index ? -1 : x->task.index > y->task.index;
}

ap__sim_scenario *ap__sim_scenario_load(const char *path, ap__sim_options *options, char *error,
                                        size_t size)
{
    ap__parser parser = {.options = options, .error = error, .size = size};
    FILE *file = fopen(path, "re");
    char text[2048];
    unsigned number = 0;
    int rc = 0;

    if (file == NULL) {
        (void)snprintf(error, size, "the simulator cannot read %.160s", path);
        return NULL;
    }
    error[0] = '\0';
    parser.scenario = calloc(1, sizeof(*parser.scenario));
    while (parser.scenario != NULL && rc == 0 && fgets(text, sizeof(text), file) != NULL) {
        number++;
        rc = ap__item(&parser, text);
    }
    (void)fclose(file);
    if (parser.scenario == NULL || rc != 0 || parser.loops != 0) {
        if (error[0] == '\0') {
            (void)snprintf(error, size, "%.160s: line %u is not understood", path, number);
        }
        ap__sim_scenario_free(parser.scenario);
        return NULL;
    }
    if (parser.scenario->count > 0) {
        qsort(parser.scenario->line, parser.scenario->count, sizeof(parser.scenario->line[0]),
              ap__by_time);
    }
    return parser.scenario;
}

bool ap__sim_scenario_kernel(const ap__sim_scenario *scenario, const char *name, uint64_t *random,
                             uint64_t *ns)
{
    for (size_t i = 0; scenario != NULL && i < scenario->kernels; i++) {
        if (strcmp(scenario->kernel[i].name, name) == 0) {
            double a = 1 - ap__sim_random_unit(random);
            double b = ap__sim_random_unit(random);
            double normal = sqrt(-2 * log(a)) * cos(2 * 3.14159265358979 * b);

            *ns = (uint64_t)((double)scenario->kernel[i].ns *
                             exp(scenario->kernel[i].sigma * normal));
            return true;
        }
    }
    return false;
}

void ap__sim_scenario_free(ap__sim_scenario *scenario)
{
    if (scenario != NULL) {
        free(scenario->line);
        free(scenario);
    }
}
