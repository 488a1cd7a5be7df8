/* steno: parts of GGUF files of FunASR's models. SPDX-License-Identifier: MIT */
#ifndef STENO_CONVERT_FUNASR_H
#define STENO_CONVERT_FUNASR_H
#include "convert/export.h"
#include "convert/gguf_write.h"
#include "model/funasr.h"

/* Writes the settings of a GGUF file. An optional setting is written only if it differs from the usual one. */
void funasr_put_settings(struct gguf_writer *g, const void *shape, const struct funasr_settings *s);
/* Writes the header and all weights, matrices in the requested type. width: size of a feature row, 0: no audio. STENO_EARG: weights would
 * be rounded twice. */
int funasr_write_weights(struct gguf_writer *g, struct weights *w, int width, const struct convert_order *o);
#endif
