/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated NPU is told: scenario, options, faults, the bytes of a channel's start. The
 * first byte says which. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/sim/config.h"
#include "drivers/sim/fault.h"
#include "drivers/sim/options.h"
#include "drivers/sim/scenario.h"
#include "fuzz.h"

static void load_scenario(const uint8_t *data, size_t size)
{
    ap__sim_options options;
    ap__sim_scenario *scenario = NULL;
    char path[400];
    char error[256] = "";
    uint64_t random = 1;
    uint64_t ns = 0;

    fuzz_file("scenario", data, size);
    snprintf(path, sizeof(path), "%s/scenario", fuzz_scratch());
    ap__sim_options_default(&options);
    scenario = ap__sim_scenario_load(path, &options, error, sizeof(error));
    assert(scenario != NULL || error[0] != '\0');
    for (size_t i = 1; scenario != NULL && i < scenario->count; i++) {
        assert(scenario->line[i - 1].at_ns <= scenario->line[i].at_ns);
    }
    (void)ap__sim_scenario_kernel(scenario, "k", &random, &ns);
    ap__sim_scenario_free(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ap__sim_faults faults;
    ap__sim_options options;
    ap__sim_config config;
    char error[256] = "";
    char *text = NULL;

    if (size < 3) {
        return 0;
    }
    text = malloc(size);
    assert(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 4) {
    case 0:
        load_scenario(data + 1, size - 1);
        break;
    case 1:
        ap__sim_options_default(&options);
        assert(ap__sim_options_parse(&options, text, error, sizeof(error)) == 0 ||
               error[0] != '\0');
        break;
    case 2:
        memset(&faults, 0, sizeof(faults));
        assert(ap__sim_faults_parse(&faults, text, error, sizeof(error)) == 0 || error[0] != '\0');
        assert(faults.count <= AP_SIM_FAULTS_MAX);
        break;
    default:
        for (int strict = 0; strict < 2; strict++) {
            static const char *const chips[] = {"910B", "910", "310P", "950"};
            const ap__sim_chip *chip = ap__sim_chip_find(chips[data[1] >> 6]);
            char *exact = malloc(size); /* so that reading beyond it is seen */

            assert(exact != NULL);
            memcpy(exact, data + 3, size - 3);
            assert(chip == NULL ||
                   ap__sim_config_read(&config, chip, data[2], data[1] & 0x3F, exact,
                                       (uint32_t)size - 3, strict != 0, error,
                                       sizeof(error)) == 0 ||
                   error[0] != '\0');
            free(exact);
        }
    }
    free(text);
    return 0;
}
