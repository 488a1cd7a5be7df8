/* steno: settings of language models and of BERT in GGUF files. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/lm.h"
#include "model/bert.h"
#include "model/lm.h"
#include "plan/sub.h"

/* ---- folders of language models --------------------------------------------------------------------------------------------------- */

/* Names, keys and the order of rows are those of llama.cpp (convert_hf_to_gguf). In some families the rows of queries and keys are
 * permuted. Norms are stored with the one added, and LLaMA 3's position scaling is a tensor of factors. */

enum { KEY_SZ = 96 };

/* ---- settings ------------------------------------------------------------------------------------------------------------------ */

struct keys { struct gguf_writer *g; const char *before; };

static const char *key_of(char out[KEY_SZ], const struct keys *k, const char *what)
{
    snprintf(out, KEY_SZ, "%s.%s", k->before, what);
    return out;
}

static void put_whole(const struct keys *k, const char *what, int32_t v)
{
    char key[KEY_SZ];
    gguf_put_u32(k->g, key_of(key, k, what), (uint32_t)v);
}

static void put_number(const struct keys *k, const char *what, double v)
{
    char key[KEY_SZ];
    gguf_put_f32(k->g, key_of(key, k, what), (float)v);
}

static void put_scaling(const struct keys *k, const struct lm_rope_scaling *s)
{
    char key[KEY_SZ];
    if (s->kind != LM_ROPE_LINEAR && s->kind != LM_ROPE_YARN) return; /* LLaMA 3's scaling is a tensor */
    gguf_put_text(k->g, key_of(key, k, "rope.scaling.type"), s->kind == LM_ROPE_YARN ? "yarn" : "linear");
    put_number(k, "rope.scaling.factor", s->factor);
    if (s->kind != LM_ROPE_YARN) return;
    put_whole(k, "rope.scaling.original_context_length", s->context);
    put_number(k, "rope.scaling.yarn_beta_fast", s->fast);
    put_number(k, "rope.scaling.yarn_beta_slow", s->slow);
    if (s->gain > 0) put_number(k, "rope.scaling.attn_factor", s->gain / lm_rope_usual_gain(s->factor));
}

void lm_put_settings(struct gguf_writer *g, const struct lm_dims *d, const struct lm_arch *arch)
{
    const struct keys k = { g, arch->name };
    const struct { const char *key; int32_t v; } whole[] = {
        { "block_count", d->layers }, { "embedding_length", d->d }, { "feed_forward_length", d->d_ff }, { "context_length", d->ctx },
        { "attention.head_count", d->heads }, { "attention.head_count_kv", d->kv_heads }, { "attention.key_length", d->d_head },
        { "attention.value_length", d->d_head },
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) put_whole(&k, whole[i].key, whole[i].v);
    if (arch->flags & LM_GGUF_NEIGHBOURS) put_whole(&k, "vocab_size", d->n_vocab), put_whole(&k, "rope.dimension_count", d->d_head);
    put_number(&k, "attention.layer_norm_rms_epsilon", d->eps);
    put_number(&k, "rope.freq_base", d->rope_base);
    put_scaling(&k, &d->scaling);
    if (d->window) put_whole(&k, "attention.sliding_window", d->window), put_number(&k, "rope.freq_base_swa", d->rope_base_window);
    if (d->window && d->pattern != arch->pattern) put_whole(&k, "attention.sliding_window_pattern", d->pattern);
    if (d->logit_cap > 0) put_number(&k, "final_logit_softcapping", d->logit_cap);
    if (fabs(d->attn_scale * sqrt(d->d_head) - 1) > 1e-6) put_number(&k, "attention.scale", d->attn_scale);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------ */

/* Divisors of the frequencies for LLaMA 3's scaling. */
static int put_factors(struct tensor *t, struct file *f, struct weights *w, const struct lm_dims *d, steno_error *e)
{
    const uint32_t n = (uint32_t)d->d_head / 2;
    float *v = arena_array(&w->arena, n, sizeof *v);
    struct lm_dims plain = *d;
    if (!v) return err_nomem(e, n * sizeof *v, "factors of frequencies");
    plain.scaling.kind = LM_ROPE_PLAIN;
    for (uint32_t j = 0; j < n; j++) v[j] = (float)(lm_rope_frequency(&plain, j, 0) / lm_rope_frequency(d, j, 0));
    file_from_memory(f, w->name, v, n * sizeof *v);
    *t = (struct tensor){ .name = "rope_freqs.weight", .type = DT_F32, .n_dims = 1, .dim = { n, 1, 1, 1 }, .file = f, .size = f->size };
    return STENO_OK;
}

static int write_folder(struct weights *w, const struct lm_arch *arch, const struct convert_order *o, const struct model_sink *to,
                        steno_error *e)
{
    struct lm_dims d;
    struct gguf_writer g;
    struct tensor factors;
    struct file memory;
    int rc = lm_dims_read(&d, arch, w, e);
    if (rc) return rc;
    const int has_factors = d.scaling.kind == LM_ROPE_LLAMA3;
    const struct gguf_file f = { .name = lm_gguf_name, .left_out = d.is_tied ? "lm_head.weight" : NULL,
                               .turn = arch->flags & LM_GGUF_NEIGHBOURS ? (uint32_t)d.d_head : 0,
                               .norms_less_one = (arch->flags & LM_NORMS_LESS_ONE) != 0, .layers = d.layers,
                               .shares_values = d.layers == 80 && d.heads != d.kv_heads, .heads_share = d.heads / d.kv_heads >= 4,
                               .more = &factors, .n_more = has_factors };
    if (has_factors) rc = put_factors(&factors, &memory, w, &d, e);
    gguf_file_begin(&g, arch->name, w, to, e);
    lm_put_settings(&g, &d, arch);
    if (!rc) rc = lm_put_tokenizer(&g, w, (uint32_t)d.n_vocab, e);
    if (!rc) rc = gguf_file_write(&g, w, &f, o);
    gguf_end(&g);
    return rc;
}

/* ---- from a GGUF file ---------------------------------------------------------------------------------------------------------------- */

static int32_t number(const struct weights *w, const char *architecture, const char *what)
{
    char key[KEY_SZ];
    snprintf(key, sizeof key, "%.60s.%s", architecture, what);
    return (int32_t)meta_whole(&w->meta, key, 1, INT32_MAX, 0);
}

int lm_file_again(struct weights *w, const char *architecture, gguf_type_rule *rule, const struct convert_order *o,
                  const struct model_sink *to, steno_error *e)
{
    enum { OF_IMPORTANCE = 4 };
    static const char *const own[] = { "quantize.imatrix.file", "quantize.imatrix.dataset", "quantize.imatrix.entries_count",
                                       "quantize.imatrix.chunks_count", "general.file_type", "general.quantization_version",
                                       "general.alignment", "split.no", "split.count", "split.tensors.count", NULL };
    const int32_t heads = number(w, architecture, "attention.head_count"), kv = number(w, architecture, "attention.head_count_kv");
    const struct gguf_file f = { .type = rule, .layers = number(w, architecture, "block_count"),
                                 .shares_values = number(w, architecture, "block_count") == 80 && kv && kv != heads,
                                 .heads_share = kv && heads / kv >= 4 };
    struct gguf_writer g;
    gguf_begin(&g, NULL, to, e);
    int rc = gguf_copy_keys(&g, &w->source.file, own + (o->importance ? 0 : OF_IMPORTANCE));
    if (!rc) rc = gguf_file_write(&g, w, &f, o);
    gguf_end(&g);
    return rc;
}

static int lm_to_gguf(struct weights *w, const struct lm_arch *arch, const struct convert_order *o, const struct model_sink *to,
                      steno_error *e)
{
    const char *own = meta_text(&w->meta, "general.architecture", NULL);
    return own ? lm_file_again(w, own, NULL, o, to, e) : write_folder(w, arch, o, to, e);
}

#define LM_WRITER(id)                                                                                                                 \
    int id##_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)                   \
    {                                                                                                                                 \
        return lm_to_gguf(w, lm_##id, o, to, e);                                                                                      \
    }
LM_WRITER(llama)
LM_WRITER(qwen3)
LM_WRITER(gemma)
LM_WRITER(gemma3)

/* ---- BERT ------------------------------------------------------------------------------------------------------------------------- */

/* GGUF's numbers for pooling types. A folder without the setting uses the mean. */
static int put_pooling(struct gguf_writer *g, const struct weights *w)
{
    static int32_t const number[] = { [STENO_POOLING_MEAN] = 1, [STENO_POOLING_CLS] = 2, [STENO_POOLING_LAST] = 3 };
    steno_model m = { .text_ctx = INT32_MAX };
    const int rc = model_read_pooling(&m, w, STENO_POOLING_MEAN, g->e);
    if (!rc) gguf_put_u32(g, "bert.pooling_type", (uint32_t)number[m.lm.pooling]);
    return rc;
}

int bert_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    struct bert_dims d;
    struct gguf_writer g;
    if (bert_is_gguf(w)) return lm_file_again(w, bert_architecture, NULL, o, to, e);
    int rc = bert_read_dims(&d, w, e);
    if (!rc && d.act != SUB_ERF && d.act != SUB_TANH)
        rc = err_set(e, STENO_EUNSUPPORTED, "%s: its activation is no GELU, and GGUF files of BERT have no key for another", w->name);
    if (rc) return rc;
    const struct gguf_file f = { .name = bert_gguf_name, .layers = d.layers };
    gguf_file_begin(&g, bert_architecture, w, to, e);
    for (int i = 0; i < BERT_NUMBERS; i++) {
        int32_t v;
        memcpy(&v, (const char *)&d + bert_number[i].at, sizeof v);
        gguf_put_u32(&g, bert_number[i].gguf, (uint32_t)v);
    }
    gguf_put_u32(&g, "bert.context_length", (uint32_t)d.positions);
    gguf_put_f32(&g, "bert.attention.layer_norm_epsilon", (float)d.eps);
    gguf_put_bool(&g, "bert.attention.causal", 0);
    gguf_put_u32(&g, "tokenizer.ggml.token_type_count", (uint32_t)d.types);
    rc = put_pooling(&g, w);
    if (!rc) rc = lm_put_tokenizer(&g, w, (uint32_t)d.n_vocab, e);
    if (!rc) rc = gguf_file_write(&g, w, &f, o);
    gguf_end(&g);
    return rc;
}
