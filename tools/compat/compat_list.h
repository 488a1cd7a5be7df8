/* steno: list of the dialects. SPDX-License-Identifier: MIT
 *
 * A program's file defines its dialects, one for each name of the program. A new program needs a line here and one in dialects.c. */
#ifndef STENO_TOOLS_DIALECTS_H
#define STENO_TOOLS_DIALECTS_H
#include "compat/compat.h"

extern const struct dialect dialects_whisper[], dialects_funasr[], dialects_whisper_cli[]; /* each ends with a NULL name */

/* @return NULL if there is no dialect of that name */
const struct dialect *dialect_find(const char *name);

/* Dialect `i` of all dialects; NULL past the last one. */
const struct dialect *dialect_at(int i);

/* Find a dialect by the program's name, which may have a folder and an ending. */
const struct dialect *dialect_of_program(const char *called);

/* Names of all available dialects, separated by commas. */
void dialect_names(char *out, size_t n);
#endif
