/* SPDX-License-Identifier: Apache-2.0 */
/* Our files in `host/.aclprof/` beside the vendor's: what its records have no place for. */
#ifndef AP_FORMAT_EXT_WIRE_H_
#define AP_FORMAT_EXT_WIRE_H_

#include <stdint.h>

#define AP_EXT_DIR ".aclprof"
#define AP_EXT_STAMP_NAME "stamp_ext"     /* array of ap__ext_stamp */
#define AP_EXT_NAMES_NAME "names.dic"     /* sequence of ap__ext_name + text */
#define AP_EXT_ACCOUNT_NAME "account.json"
#define AP_EXT_RESERVE_NAME "reserve"     /* released when the disk is full, to finish files */
#define AP_EXT_DEVICES_RESERVE_NAME "reserve.devices" /* likewise, for devices.json */
#define AP_EXT_DEVICE_RESERVE_NAME "reserve.device"   /* .<n>: for device_<n>/ */

enum ap__ext_kind {
    AP_EXT_NAME = 1,    /* whole text of a message that was cut */
    AP_EXT_TAG = 2,     /* tag name */
    AP_EXT_STACK = 3,   /* call stack */
    AP_EXT_CATEGORY = 4 /* name of a category; id is the category number */
};

/* Says which text belongs to one msproftx record: slice number and record index in that slice. */
typedef struct __attribute__((packed)) ap__ext_stamp {
    uint32_t slice;
    uint32_t index;
    uint32_t kind;
    uint32_t reserved;
    uint64_t id; /* of an ap__ext_name with the same id, kind AP_EXT_NAME */
} ap__ext_stamp;

/* Texts of names, tags and stacks all have kind AP_EXT_NAME (one id space). */
typedef struct __attribute__((packed)) ap__ext_name {
    uint64_t id;
    uint32_t kind;   /* AP_EXT_NAME or AP_EXT_CATEGORY */
    uint32_t length; /* bytes of text that follow, padded with zeros to a multiple of 8 */
} ap__ext_name;

_Static_assert(sizeof(ap__ext_stamp) == 24, "ext stamp");
_Static_assert(sizeof(ap__ext_name) == 16, "ext name");

#endif
