/* steno: a CTC head. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_CTC_HEAD_H
#define STENO_MODEL_CTC_HEAD_H
#include "plan/build.h"

/* The phases "head", logits of the rows that want them, and "best", the most probable ids of all rows (PHASE_LM_HEAD, PHASE_BEST); rows:
 * the slot that is read, of width d. Weights: ctc.ctc_lo. */
void ctc_head_build(struct build *b, uint16_t rows, uint32_t d, uint32_t n_ids);
#endif
