/* steno: Fun-ASR-Nano: the CTC branch for word times. SPDX-License-Identifier: MIT
 *
 * Some files have a CTC head with an adaptor of its own, beside the language model. Its ids belong to another tokenizer with ranked byte
 * pairs (multilingual.tiktoken). The branch is used only if it is complete. Reference: FunASR 1.4, funasr/models/fun_asr_nano/model.py and
 * checkpoint_utils.py. */
#include <stdio.h>
#include <string.h>
#include "load/vocab.h"
#include "model/funasr.h"
#include "model/nano.h"
#include "model/parts.h"
#include "model/sanm_encoder.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/sub.h"

enum { LAYERS_MAX = 64, HEADS_USUAL = 8, WIDTH_MAX = 8192, WIDE_MAX = 65536 };

const char nano_key_tokens[] = "funasr.ctc.tokens";
const char nano_key_heads[] = "funasr.ctc.attention_heads", nano_key_blank[] = "funasr.ctc.blank_id";
static const struct nano_adaptor_names names = { "ctc_decoder.linear1.weight", "ctc_decoder.linear1.bias", "ctc_decoder.linear2.weight",
                                                 "ctc_decoder.linear2.bias", "ctc.linear1", "ctc.linear2", "ctc_decoder.blocks" };

/* ---- weights --------------------------------------------------------------------------------------------------------------------- */

static int has_block(struct weights *w, int32_t i)
{
    static const char *const part[] = { "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias",
                                        "self_attn.linear_q.weight", "self_attn.linear_q.bias", "self_attn.linear_k.weight",
                                        "self_attn.linear_k.bias", "self_attn.linear_v.weight", "self_attn.linear_v.bias",
                                        "self_attn.linear_out.weight", "self_attn.linear_out.bias", "feed_forward.w_1.weight",
                                        "feed_forward.w_1.bias", "feed_forward.w_2.weight", "feed_forward.w_2.bias" };
    char name[NAME_MAX_LEN];
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        snprintf(name, sizeof name, "ctc_decoder.blocks.%d.%s", (int)i, part[k]);
        if (!weights_find(w, name)) return 0;
    }
    return 1;
}

/* Counts the blocks, and checks that all blocks up to the last are complete. */
static int count_blocks(struct weights *w, int32_t *n)
{
    int32_t n_named = 0;
    for (*n = 0; *n < LAYERS_MAX && has_block(w, *n);) ++*n;
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        int k;
        if (sscanf(w->tensor[i].name, "ctc_decoder.blocks.%d.", &k) == 1 && k >= n_named) n_named = k < LAYERS_MAX ? k + 1 : LAYERS_MAX;
    }
    return n_named == *n;
}

static int is_whole(struct weights *w, struct nano_ctc *c)
{
    static const char head_bias[] = "ctc.ctc_lo.bias";
    const struct tensor *up = weights_find(w, names.up), *down = weights_find(w, names.down), *head = weights_find(w, "ctc.ctc_lo.weight");
    if (!up || !down || !head || !weights_find(w, names.up_bias) || !weights_find(w, names.down_bias) || !weights_find(w, head_bias))
        return 0;
    if (up->n_dims != 2 || down->n_dims != 2 || head->n_dims != 2 || up->dim[0] > WIDE_MAX || down->dim[0] > WIDTH_MAX ||
        head->dim[0] > INT32_MAX) return 0;
    c->adp.d_ff = (int32_t)up->dim[0];
    c->adp.d = (int32_t)down->dim[0];
    c->n_ids = (int32_t)head->dim[0];
    return count_blocks(w, &c->adp.layers);
}

int nano_ctc_find(struct nano_ctc *c, struct weights *w, int32_t d, steno_error *e)
{
    *c = (struct nano_ctc){ .adp = { .d_in = d, .heads = HEADS_USUAL, .downsample = 1 } };
    const int gguf = funasr_is_gguf(w);
    if (!is_whole(w, c)) return 0;
    c->blank = c->n_ids - 1;
    int rc = meta_int(&w->meta, w->name, gguf ? nano_key_heads : "ctc_decoder_conf.attention_heads", 1, 256, 1, &c->adp.heads, e);
    if (!rc) rc = meta_int(&w->meta, w->name, gguf ? nano_key_blank : "ctc_conf.blank_id", 0, c->n_ids - 1, 1, &c->blank, e);
    if (!rc) rc = meta_int(&w->meta, w->name, "ctc_decoder_conf.downsample_rate", 1, 1, 1, &c->adp.downsample, e);
    if (rc) return rc;
    if (c->adp.d % c->adp.heads || c->adp.d / c->adp.heads % 4 || c->adp.d / c->adp.heads > HEAD_MAX)
        return err_set(e, STENO_EFORMAT, "%s: the CTC branch's %d heads do not divide a width of %d into multiples of 4 up to %d", w->name,
                       (int)c->adp.heads, (int)c->adp.d, HEAD_MAX);
    return 1;
}

/* ---- vocabulary -------------------------------------------------------------------------------------------------------------------- */

/* The path in the settings may be one of the training machine. */
int nano_ctc_find_vocab(struct weights *w, steno_error *e)
{
    const char *path = meta_text(&w->meta, "dataset_conf.ctc_tokenizer_conf.vocab_path", NULL);
    if (!path) path = meta_text(&w->meta, "ctc_tokenizer_conf.vocab_path", "multilingual.tiktoken");
    const char *slash = strrchr(path, '/');
    return weights_read_pieces(w, slash && slash[1] ? slash + 1 : path, nano_key_tokens, e);
}

static int read_vocab(steno_model *m, struct audio_lm_ctc *c, const struct weights *w, steno_error *e)
{
    const int32_t n = (int32_t)w->n_vocab_entries;
    if (n > c->n_ids || c->blank < n)
        return err_set(e, STENO_EFORMAT, "%s: the vocabulary of the CTC branch has %d entries, its head %d, and nothing is %d", w->name,
                       (int)n, (int)c->n_ids, (int)c->blank);
    int rc = vocab_init(&c->vocab, &m->arena, n, n, e);
    for (int32_t i = 0; i < n && !rc; i++) {
        const char *copy = arena_strdup(&m->arena, (const char *)w->vocab[i].s, w->vocab[i].n);
        if (!copy) return err_nomem(e, w->vocab[i].n, "vocabulary");
        vocab_set(&c->vocab, i, (const uint8_t *)copy, w->vocab[i].n);
    }
    if (!rc) rc = vocab_index(&c->vocab, &m->arena, e);
    return rc ? rc : bpe_open(&m->bpe, &c->vocab, e);
}

/* ---- the network ------------------------------------------------------------------------------------------------------------------- */

static int build(steno_model *m, struct weights *w, const struct nano_ctc *c, int32_t max_rows, steno_error *e)
{
    struct build b;
    const struct build_params p = { .name = "ctc", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = (uint32_t)max_rows, .max_out = ROWS_OUT_MIN,
                                    .precision = model_rows_precision(m), .unfused = m->opening->unfused };
    build_begin(&b, &p, e);
    b.plan.input = build_slot(&b, (uint32_t)c->adp.d_in);
    build_phase(&b, "encode");
    const uint16_t rows = b.plan.output = nano_adaptor_build(&b, &c->adp, &names, b.plan.input);
    ctc_head_build(&b, "ctc.ctc_lo", rows, (uint32_t)c->adp.d, (uint32_t)c->n_ids);
    m->n_plans = PLAN_ALIGN + 1;
    return build_end(&b, &m->plan[PLAN_ALIGN]);
}

int nano_ctc_describe(steno_model *m, struct weights *w, int32_t d, int32_t max_rows, steno_error *e)
{
    struct nano_ctc c;
    const int found = nano_ctc_find(&c, w, d, e);
    if (found <= 0) return found;
    int rc = nano_ctc_find_vocab(w, e);
    if (rc == STENO_ENOVOCAB) return STENO_OK; /* ids without text cannot be aligned */
    struct audio_lm_ctc *own = arena_array(&m->arena, 1, sizeof *own);
    if (!rc && !own) return err_nomem(e, sizeof *own, "a vocabulary");
    if (rc) return rc;
    own->n_ids = c.n_ids;
    own->blank = c.blank;
    rc = read_vocab(m, own, w, e);
    if (rc) return rc;
    m->part = own;
    return build(m, w, &c, max_rows, e);
}

/* ---- the adaptor between two row widths ------------------------------------------------------------------------------------------- */

/* Reference: FunASR 1.4, funasr/models/llm_asr/adaptor.py, Transformer. */

static float const block_eps = 1e-12f;

static void build_linear(struct build *b, const char *name, const struct linear_part *part, uint64_t k, uint16_t out, uint16_t in,
                         enum act act)
{
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ part, 1, k, LINEAR_OTHER, NO_BIND, NULL, 0, 0 });
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
