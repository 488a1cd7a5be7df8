/* steno: Fun-ASR-Nano: the adaptor between two row widths. SPDX-License-Identifier: MIT
 *
 * Reference: FunASR 1.4, funasr/models/llm_asr/adaptor.py, Transformer. */
#include "model/nano.h"
#include "plan/emit.h"
#include "plan/linear.h"
#include "plan/sub.h"

static float const block_eps = 1e-12f;

static void build_linear(struct build *b, const char *name, const struct linear_part *part, uint64_t k, uint16_t out, uint16_t in,
                         enum act act)
{
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ part, 1, k, LINEAR_OTHER, NO_BIND, 0, 0 });
    emit_linear(b, &(struct linear_use){ .label = name, .out = out, .in = in, .aux = NO_SLOT, .act = act, .kv_slot = NO_SLOT,
                                         .state = NO_STATE }, &l);
}

uint16_t nano_adaptor_build(struct build *b, const struct nano_adaptor *a, const struct nano_adaptor_names *n, uint16_t in)
{
    static const struct sub block[] = { { sub_attn_linear, "norm1", "self_attn", NULL, 0 },
                                        { sub_ffn, "norm2", "feed_forward.w_1", "feed_forward.w_2", SUB_RELU }, { 0 } };
    const uint32_t d = (uint32_t)a->d, wide = (uint32_t)a->d_ff, heads = (uint32_t)a->heads;
    const struct sub_dims dims = { .d = d, .n_heads = heads, .n_kv_heads = heads, .d_head = d / heads, .d_ff = d / 4, .eps = block_eps };
    const uint16_t mid = build_slot(b, wide), x = build_slot(b, d);
    build_linear(b, n->up_label, &(struct linear_part){ n->up, n->up_bias, wide }, (uint64_t)a->d_in, mid, in, ACT_RELU);
    build_linear(b, n->down_label, &(struct linear_part){ n->down, n->down_bias, d }, wide, x, mid, ACT_NONE);
    sub_stack(b, block, &dims, n->blocks, (uint32_t)a->layers, x);
    return x;
}
