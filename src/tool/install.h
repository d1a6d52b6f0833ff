/* SPDX-License-Identifier: Apache-2.0 */
/* `aclprof install` and `uninstall`: our libraries where programs look that open Huawei's by an
 * absolute path. */
#ifndef AP_TOOL_INSTALL_H_
#define AP_TOOL_INSTALL_H_

/* argv[0] is the verb. Exit codes: 0 done (also when there was nothing to do), 1 refused or failed,
 * with everything as before; 2 wrong options. */
int ap__verb_install(int argc, char **argv);
int ap__verb_uninstall(int argc, char **argv);

#endif
