/* steno: which programs' command lines are known. SPDX-License-Identifier: MIT
 *
 * A program's file has its dialects, one for each name that it goes by, and a line here and in dialects.c. */
#ifndef STENO_TOOLS_DIALECTS_H
#define STENO_TOOLS_DIALECTS_H
#include "dialect.h"

extern const struct dialect dialects_whisper[], dialects_funasr[], dialects_whisper_cli[]; /* each ends with a NULL name */

/* @return NULL: there is no dialect of that name */
const struct dialect *dialect_find(const char *name);

/* All of them, one after the other; NULL past the last one. */
const struct dialect *dialect_at(int i);

/* By the name that the program is called by, with folders and ending. */
const struct dialect *dialect_of_program(const char *called);

/* The names of all that are served, separated by commas. */
void dialect_names(char *out, size_t n);
#endif
