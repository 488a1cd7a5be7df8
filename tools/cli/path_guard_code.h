/* steno: messages about files that are both read and written. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_LEDGER_CODE_H
#define STENO_TOOLS_LEDGER_CODE_H
#include "ledger.h"

/* Report the status of a ledger call. @return its exit code */
int ledger_code(const struct ledger *l, int status);

/* Register `path` as read in this run; standard output must not be the same file. @param l  NULL: the run writes no other file */
int ledger_code_read(struct ledger *l, const char *what, const char *path);
int ledger_code_stdout(struct ledger *l); /* register standard output as written */
#endif
