/* steno: word lists of FunASR's models. SPDX-License-Identifier: MIT
 *
 * In a folder a list is a text file, in a GGUF file an array of texts. */
#ifndef STENO_MODEL_FUNASR_LINES_H
#define STENO_MODEL_FUNASR_LINES_H
#include "load/gguf_write.h"
#include "load/weights.h"

/* Reads the lines of a list, concatenated in the arena. *text NULL: there is none. STENO_EFORMAT: they are too long */
int funasr_read_lines(struct weights *w, const char *file, const char *key, struct arena *a, const char **text, size_t *n, steno_error *e);
/* Writes the lines of text[n] as an array. STENO_ENOMEM */
int funasr_put_lines(struct gguf_writer *g, const char *key, const char *text, size_t n, struct arena *a, steno_error *e);
#endif
