/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of `aclprof`. Each gets its own argv, argv[0] being the verb. Exit codes of all: 0 done,
 * 1 failed, 2 wrong options; further ones in the verb's help. */
#ifndef AP_TOOL_VERBS_H_
#define AP_TOOL_VERBS_H_

#include <stdbool.h>

#include "reader/reader.h"

int ap__verb_summary(int argc, char **argv);
int ap__verb_export(int argc, char **argv);
int ap__verb_report(int argc, char **argv);
int ap__verb_check(int argc, char **argv);
int ap__verb_recover(int argc, char **argv);
int ap__verb_doctor(int argc, char **argv);
int ap__verb_merge(int argc, char **argv);
int ap__verb_run(int argc, char **argv);
/* start, stop, snapshot, status: by argv[0]. */
int ap__verb_control(int argc, char **argv);
int ap__verb_watch(int argc, char **argv);
int ap__verb_install(int argc, char **argv);
int ap__verb_uninstall(int argc, char **argv);

/* The directory's reader, or NULL with a sentence on stderr. */
ap__reader *ap__verb_open(const char *verb, const char *path);

#endif
