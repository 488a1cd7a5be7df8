/* steno: word lists of FunASR's models. SPDX-License-Identifier: MIT
 *
 * In a folder a list is a text file, in a GGUF file an array of texts. */
#ifndef STENO_MODEL_FUNASR_LINES_H
#define STENO_MODEL_FUNASR_LINES_H
#include "load/weights.h"

/* Reads the lines of a list, concatenated in the arena. *text NULL: there is none. STENO_EFORMAT: they are too long */
int funasr_read_lines(struct weights *w, const char *file, const char *key, struct arena *a, const char **text, size_t *n, steno_error *e);
#endif
