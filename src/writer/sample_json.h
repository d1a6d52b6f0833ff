/* SPDX-License-Identifier: Apache-2.0 */
/* The text of sample.json: every setting that the vendor's reader may look up. */
#ifndef AP_WRITER_SAMPLE_JSON_H_
#define AP_WRITER_SAMPLE_JSON_H_

#include "writer/control_files.h"

/* One line, to be freed with cJSON_free; NULL: no memory. `id`: "64" is the host, else a device. */
char *ap__sample_json(const ap__host_meta *meta, const char *id);

#endif
