/* steno: file forms of Whisper models for writing. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_WHISPER_FORMS_H
#define STENO_MODEL_WHISPER_FORMS_H
#include "model/family.h"

int whisper_to_bin(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);
int whisper_to_hf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);
int whisper_to_pt(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e);

extern const struct model_form whisper_forms[]; /* the last one has no name */
#endif
