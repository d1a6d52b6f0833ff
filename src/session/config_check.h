/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a config that are made when it is used, not when it is made. */
#ifndef AP_SESSION_CONFIG_CHECK_H_
#define AP_SESSION_CONFIG_CHECK_H_

#include "session/registry.h"

/* Copies the config of a handle. ACL_ERROR_INVALID_PARAM when it is not live. */
aclError ap__config_load(const char *api, const aclprofConfig *handle, ap__config *out);

/* What aclprofStart(NULL) captures. ACL_ERROR_INVALID_PARAM when no device is set. */
aclError ap__config_default(const char *api, ap__config *out);

/* Copies the list, then looks at it: each a device of the driver's, and once; none is good for stamps
 * alone. ACL_ERROR_INVALID_PARAM. */
aclError ap__config_set_devices(const char *api, ap__config *config, const uint32_t *devices,
                                uint32_t nums);

/* The mask as such, as requested by the caller. */
aclError ap__config_check_bits(const char *api, const ap__config *config);

/* Metrics as such, even where they do not count. */
aclError ap__config_check_metrics(const char *api, const ap__config *config);

/* Whether the chips of its devices have its bits (else ACL_ERROR_PROFILING_FAILURE) and metrics
 * (else ACL_ERROR_INVALID_PARAM). */
aclError ap__config_check_chips(const char *api, const ap__config *config);

#endif
