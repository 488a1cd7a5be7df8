/* steno: what a search for speech goes by. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_VAD_VAD_RULES_H
#define STENO_TASK_VAD_VAD_RULES_H
#include "model/family.h"

/* The model's own rules, as far as the parameters do not say others. */
void vad_rules_fill(struct vad_params *q, const steno_model *m, const steno_vad_params *p);
#endif
