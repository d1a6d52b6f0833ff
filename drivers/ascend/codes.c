/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/ascend/ascend.h"
#include "drivers/ascend/vendor_abi.h"

int ap__ascend_rc(int code)
{
    switch (code) {
    case 0:
        return AP_HAL_OK;
    case AP_VENDOR_RESTART:
    case AP_VENDOR_NOT_READABLE:
        return AP_HAL_AGAIN;
    case AP_VENDOR_STOPPED_ALREADY:
        return AP_HAL_STOPPED;
    case AP_VENDOR_STARTED_ALREADY:
    case AP_VENDOR_BUSY:
    case AP_VENDOR_STATUS:
        return AP_HAL_BUSY;
    case AP_VENDOR_NO_SUB_CHANNEL:
    case AP_VENDOR_VF_FULL:
        return AP_HAL_TAKEN;
    case AP_VENDOR_NOT_OFFERED:
    case AP_VENDOR_CONTAINER:
    case AP_VENDOR_PHYSICAL:
    case AP_VENDOR_NOT_SUPPORTED:
        return AP_HAL_UNSUPPORTED;
    case AP_VENDOR_NO_CONTROL_PROCESS:
        return AP_HAL_NO_CONTEXT;
    case AP_VENDOR_TIMEOUT:
    case AP_VENDOR_WAIT_TIMEOUT:
        return AP_HAL_TIMEOUT;
    case AP_VENDOR_DATA_LOST:
        return AP_HAL_LOSS;
    case AP_VENDOR_INVALID:
    case AP_VENDOR_SHORT_BUFFER:
        return AP_HAL_INVALID;
    case AP_VENDOR_ERROR:
    default:
        return AP_HAL_IO;
    }
}
