/* steno: FSMN-VAD: what its reader and its writer share. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_VAD_H
#define STENO_MODEL_VAD_H
#include "model/funasr.h"
#include "search/vad.h"

struct vad_shape { int32_t in, affine, linear, proj, layers, taps, out_affine, out, n_mels, lfr_m, lfr_n; };
extern const char vad_architecture[], vad_threshold_key[]; /* of its GGUF files, and there the key of fixed_threshold */
extern const struct funasr_settings vad_settings;
extern const struct funasr_settings vad_rule_settings; /* of struct vad_params; its usual values are those of vad_params_init */
int vad_read_shape(struct vad_shape *s, struct weights *w, steno_error *e);
int vad_read_rules(struct vad_params *p, struct weights *w, steno_error *e);
#endif
