/* steno: a CTC head. SPDX-License-Identifier: MIT */
#include "model/ctc_head.h"
#include "plan/emit.h"
#include "plan/linear.h"
#include "plan/sub.h"

void ctc_head_build(struct build *b, uint16_t rows, uint32_t d, uint32_t n_ids)
{
    const uint16_t some = build_slot_out(b, d), logits = b->plan.logits = build_slot_out(b, n_ids);
    const struct linear_part ctc_lo = { "ctc.ctc_lo.weight", "ctc.ctc_lo.bias", n_ids };
    const uint16_t ctc = bind_matrix(b, &ctc_lo, d, LINEAR_LM_HEAD, NO_BIND);
    build_phase(b, "head");
    const uint16_t first = b->plan.n_ops;
    emit(b, OP_SCALE, "ctc.rows", some, rows, bind_scale(b, 1, NULL, d));
    struct op *op = emit(b, OP_LINEAR, "ctc.logits", logits, some, ctc);
    if (op) op->flags = OPF_SOME;
    emit(b, OP_LOGITS_REDUCE, "ctc.scan", NO_SLOT, logits, ctc);
    emit(b, OP_SAMPLE, "ctc.pick", NO_SLOT, logits, ctc);
    emit_rows(b, first, ROWS_OUT);
    build_phase(b, "best");
    sub_best(b, &(struct best_head){ "ctc", ctc, bind_screen(b, ctc_lo.weight, n_ids, d), ROWS_RUN }, rows);
}
