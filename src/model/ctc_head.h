/* steno: a CTC head. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_CTC_HEAD_H
#define STENO_MODEL_CTC_HEAD_H
#include "plan/build.h"

/* Adds the phases "head" (logits of the rows that request them) and "best" (the most probable ids of all rows), PHASE_LM_HEAD and
 * PHASE_BEST. rows: the input slot, of width d. Weights: ctc.ctc_lo. */
void ctc_head_build(struct build *b, uint16_t rows, uint32_t d, uint32_t n_ids);
#endif
