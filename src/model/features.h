/* steno: settings of a Hugging Face folder's feature extractor. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_FEATURES_H
#define STENO_MODEL_FEATURES_H
#include "model/family.h"

/* What a family's front end computes: samples of a transform and of a window, bands, pre-emphasis. */
struct features_served { int32_t n_fft, win_length, n_mels; double preemphasis; };

/* STENO_EUNSUPPORTED names a setting of preprocessor_config.json or of processor_config.json that asks for other features. A missing
 * setting, or file, passes. */
int features_check(const struct weights *w, const struct features_served *s, steno_error *e);
#endif
