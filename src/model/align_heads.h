/* steno: selects the cross-attention heads for word times. SPDX-License-Identifier: MIT
 *
 * Some heads of a Whisper decoder attend to the audio of the token that they predict. Word times are read from their weights. For the
 * official models these heads were measured. Other models have a list of their own, or use the upper half of the layers. */
#ifndef STENO_MODEL_ALIGN_HEADS_H
#define STENO_MODEL_ALIGN_HEADS_H
#include "load/meta.h"
#include "model/whisper_dims.h"
#include "plan/build.h"

struct align_heads {
    struct head *head; /* [n] in ascending order, without duplicates; at least one */
    uint32_t n;
    const char *text;  /* "3,1 4,2" */
    int unsure;        /* 1: published lists fit the dimensions, but which one applies is not known, so the upper half was selected */
};

/** Selects heads for a model of dimensions d.
 *
 * @param a          holds the list and its text
 * @param shape      name of the model's shape, in the official list or not
 * @param requested  the parameter alignment_heads: a name of the official list, "half", "top:N" or "LAYER,HEAD ..."; may be NULL. NULL
 *                   selects the settings (generation.alignment_heads, CTranslate2's alignment_heads), else the official list of the shape,
 *                   else all heads of the upper half of the layers. Lists that do not fit are ignored: fine-tuned and distilled models
 *                   often keep those of their base
 * @return STENO_OK; STENO_EARG, and the message names the request and the possible values; STENO_ENOMEM */
int align_heads_find(struct align_heads *out, struct arena *a, const struct whisper_dims *d, const char *shape, const char *requested,
                     const struct meta *settings, steno_error *e);
#endif
