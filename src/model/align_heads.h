/* steno: which cross-attention heads follow the words. SPDX-License-Identifier: MIT
 *
 * Some heads of a Whisper decoder look at the audio of the token they predict; word times are read from their weights. Which ones they
 * are was measured for the official models, and others come with a list of their own or do with the upper half of the layers. */
#ifndef STENO_MODEL_ALIGN_HEADS_H
#define STENO_MODEL_ALIGN_HEADS_H
#include "load/meta.h"
#include "model/whisper_dims.h"
#include "plan/build.h"

struct align_heads {
    struct head *head; /* [n] in rising order, none twice; at least one */
    uint32_t n;
    const char *text;  /* "3,1 4,2" */
};

/* Choose heads of the model that has dimensions d.
 *
 * @param a       holds the list and its text
 * @param shape   name of the model's shape, one of the official list's or another
 * @param wanted  the parameter alignment_heads: a name from the official list, "half", "top:N" or "LAYER,HEAD ..."; NULL: what the
 *                settings say (generation.alignment_heads), else the official list of the shape, else all heads of the upper half of the
 *                layers. Lists that do not fit the model are passed over: fine-tuned and distilled models often carry those of what they
 *                came from
 * @return STENO_OK; STENO_EARG naming what was wanted and what may be; STENO_ENOMEM */
int align_heads_find(struct align_heads *out, struct arena *a, const struct whisper_dims *d, const char *shape, const char *wanted,
                     const struct meta *settings, steno_error *e);
#endif
