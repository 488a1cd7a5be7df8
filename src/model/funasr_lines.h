/* steno: lists of words beside FunASR's models. SPDX-License-Identifier: MIT
 *
 * A folder has a list as a file of lines, a GGUF file as an array of texts. */
#ifndef STENO_MODEL_FUNASR_LINES_H
#define STENO_MODEL_FUNASR_LINES_H
#include "load/gguf_write.h"
#include "load/weights.h"

/* The lines of a list from the arena, one behind the other; *text NULL: there is none. STENO_EFORMAT: they are too long */
int funasr_read_lines(struct weights *w, const char *file, const char *key, struct arena *a, const char **text, size_t *n, steno_error *e);
/* The lines of text[n] as an array. STENO_ENOMEM */
int funasr_put_lines(struct gguf_writer *g, const char *key, const char *text, size_t n, struct arena *a, steno_error *e);
#endif
