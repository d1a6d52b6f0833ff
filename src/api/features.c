/* SPDX-License-Identifier: Apache-2.0 */
/* What frameworks ask before they use something newer; set-device callback. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "aclprof_ext.h"
#include "session/devices.h"
#include "session/errtext.h"
#include "session/set_device.h"

/* Clients read the texts through a class with two virtual destructors: what those point to is never
 * looked at. */
typedef struct ap__feature {
    void *table;
    char name[64];
    void *info_table;
    char compatibility[16];
    char version[16];
    char component[16];
    char component_version[16];
    char log[128];
} ap__feature;

_Static_assert(sizeof(ap__feature) == 272, "feature");
_Static_assert(offsetof(ap__feature, name) == 8, "feature");
_Static_assert(offsetof(ap__feature, compatibility) == 80, "feature");
_Static_assert(offsetof(ap__feature, version) == 96, "feature");
_Static_assert(offsetof(ap__feature, component) == 112, "feature");
_Static_assert(offsetof(ap__feature, component_version) == 128, "feature");
_Static_assert(offsetof(ap__feature, log) == 144, "feature");

#define AP_ATTR                                                                                    \
    {                                                                                              \
        NULL, "ATTR", NULL, "1", "2", "all", "all", "Operator attributes are collected."           \
    }
#define AP_SHAPE                                                                                   \
    {                                                                                              \
        NULL, "AICORE_SHAPE", NULL, "1", "1", "all", "all",                                        \
            "Shapes of AI core operators are collected."                                           \
    }
#define AP_ACCESS                                                                                  \
    {                                                                                              \
        NULL, "MemoryAccess", NULL, "1", "2", "all", "all",                                        \
            "The MemoryAccess counters can be had."                                                \
    }

static ap__feature ap__list[] = {AP_ATTR, AP_SHAPE};
static ap__feature ap__list_910b[] = {AP_ATTR, AP_ACCESS, AP_SHAPE};

static aclError ap__give(const char *api, size_t *count, void **data, ap__feature *list, size_t n)
{
    if (count == NULL) {
        return ap__fail_null(api, "featuresSize");
    }
    if (data == NULL) {
        return ap__fail_null(api, "featuresData");
    }
    if (*data != NULL) {
        return ap__fail_value(ACL_ERROR_INVALID_PARAM, api, "*featuresData", "not NULL", 8,
                              "it receives a pointer and must be NULL before");
    }
    *count = n;
    *data = list;
    return ACL_SUCCESS;
}

ACL_FUNC_VISIBILITY aclError aclprofGetSupportedFeatures(size_t *featuresSize, void **featuresData)
{
    return ap__give("aclprofGetSupportedFeatures", featuresSize, featuresData, ap__list,
                    sizeof(ap__list) / sizeof(ap__list[0]));
}

ACL_FUNC_VISIBILITY aclError aclprofGetSupportedFeaturesV2(size_t *featuresSize,
                                                           void **featuresData)
{
    int saved = errno;
    bool access = false;
    aclError code = ACL_SUCCESS;

    ap__devices_load();
    access = ap__device_count() > 0 && ap__device_chip(0) == 5;
    code = access ? ap__give("aclprofGetSupportedFeaturesV2", featuresSize, featuresData,
                             ap__list_910b, sizeof(ap__list_910b) / sizeof(ap__list_910b[0]))
                  : ap__give("aclprofGetSupportedFeaturesV2", featuresSize, featuresData, ap__list,
                             sizeof(ap__list) / sizeof(ap__list[0]));
    errno = saved;
    return code;
}

ACL_FUNC_VISIBILITY aclError aclprofRegisterDeviceCallback(void)
{
    ap__session_want_late_devices();
    return ACL_SUCCESS;
}
