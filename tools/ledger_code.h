/* steno: messages about a file that is read and written in one run. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_LEDGER_CODE_H
#define STENO_TOOLS_LEDGER_CODE_H
#include "ledger.h"

/* Exit code for what a call of the ledger returned, after a message. */
int ledger_code(const struct ledger *l, int status);

/* `path` is read in this run, and standard output may not be that file. @param l  NULL: no other file is written in this run */
int ledger_code_read(struct ledger *l, const char *what, const char *path);
int ledger_code_stdout(struct ledger *l); /* results go there */
#endif
