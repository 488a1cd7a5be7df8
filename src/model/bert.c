/* steno: BERT, as data. SPDX-License-Identifier: MIT
 *
 * Devlin et al. 2019: rows are sums of token, position and type embeddings, and attend to all rows of their text. Norms follow the
 * residual. A text becomes one row, pooled from the last layer (Reimers and Gurevych 2019). References: transformers 5.23, models/bert, and
 * llama.cpp's keys and names. */
#include <stdio.h>
#include <string.h>
#include "model/bert.h"
#include "load/tokenizer.h"
#include "model/lm.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/sub.h"

enum { ROWS_TOGETHER = 512, /* of several texts; a single text may have more */
       POSITIONS_MAX = 8192 };
const char bert_architecture[] = "bert";

int bert_is_gguf(const struct weights *w) { return meta_find(&w->meta, "general.architecture") != NULL; }

static int bert_match(const struct weights *w)
{
    return !strcmp(meta_text(&w->meta, bert_is_gguf(w) ? "general.architecture" : "model_type", ""), bert_architecture);
}

/* ---- names --------------------------------------------------------------------------------------------------------------------- */

struct bert_name { const char *from, *to; };

/* Replaces the first prefix in the list that `name` begins with. @return 0: there is none */
static int begins_with(const struct bert_name *n, size_t count, const char *name, const char *before, char *out, size_t room)
{
    for (size_t i = 0; i < count; i++) {
        const size_t len = strlen(n[i].from);
        if (!strncmp(name, n[i].from, len)) return snprintf(out, room, "%s%s%s", before, n[i].to, name + len) < (int)room;
    }
    return 0;
}

enum { WHOLES = 4, PARTS = 8 };
static const struct bert_name whole_names[WHOLES] = {
    { "token_embd_norm.", "embeddings.LayerNorm." },
    { "token_embd.", "embeddings.word_embeddings." },
    { "position_embd.", "embeddings.position_embeddings." },
    { "token_types.", "embeddings.token_type_embeddings." },
};
static const struct bert_name part_names[PARTS] = {
    { "attn_q.", "attention.self.query." },
    { "attn_k.", "attention.self.key." },
    { "attn_v.", "attention.self.value." },
    { "attn_output.", "attention.output.dense." },
    { "attn_output_norm.", "attention.output.LayerNorm." },
    { "ffn_up.", "intermediate.dense." },
    { "ffn_down.", "output.dense." },
    { "layer_output_norm.", "output.LayerNorm." },
};

static int gguf_name(const char *name, char *out, size_t n)
{
    int layer = 0, at = 0;
    char before[48];
    if (sscanf(name, "blk.%4d.%n", &layer, &at) != 1 || !at) return begins_with(whole_names, WHOLES, name, "", out, n);
    snprintf(before, sizeof before, "encoder.layer.%d.", layer);
    return begins_with(part_names, PARTS, name + at, before, out, n);
}

static void turned(struct bert_name *to, const struct bert_name *from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = (struct bert_name){ from[i].to, from[i].from };
}

int bert_gguf_name(const char *name, char *out, size_t n)
{
    struct bert_name whole[WHOLES], part[PARTS];
    int layer = 0, at = 0;
    char before[48];
    turned(whole, whole_names, WHOLES);
    turned(part, part_names, PARTS);
    if (sscanf(name, "encoder.layer.%4d.%n", &layer, &at) != 1 || !at) return begins_with(whole, WHOLES, name, "", out, n);
    snprintf(before, sizeof before, "blk.%d.", layer);
    return begins_with(part, PARTS, name + at, before, out, n);
}

/* Removes the prefix of networks with a head, and translates the gamma and beta of the oldest files. */
static int config_name(const char *name, char *out, size_t n)
{
    const char *rest = strncmp(name, "bert.", 5) ? name : name + 5;
    const size_t len = strlen(rest);
    static const struct bert_name end[] = { { ".LayerNorm.gamma", ".LayerNorm.weight" }, { ".LayerNorm.beta", ".LayerNorm.bias" } };
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
        const size_t n_end = strlen(end[i].from);
        if (len > n_end && !strcmp(rest + len - n_end, end[i].from))
            return snprintf(out, n, "%.*s%s", (int)(len - n_end), rest, end[i].to) < (int)n;
    }
    return rest != name && snprintf(out, n, "%s", rest) < (int)n;
}

/* ---- settings ------------------------------------------------------------------------------------------------------------------ */

#define AT(field) offsetof(struct bert_dims, field)
const struct bert_number bert_number[BERT_NUMBERS] = {
    { "num_hidden_layers", "bert.block_count", 1, 256, 0, AT(layers) },
    { "hidden_size", "bert.embedding_length", 4, 1 << 15, 0, AT(d) },
    { "intermediate_size", "bert.feed_forward_length", 4, 1 << 17, 0, AT(d_ff) },
    { "num_attention_heads", "bert.attention.head_count", 1, 1024, 0, AT(heads) },
};
#undef AT

/* Number of rows of an embedding table with d numbers per row. */
static int rows_of(int32_t *rows, struct weights *w, const char *name, const struct bert_dims *d, int32_t most, steno_error *e)
{
    const struct tensor *t = weights_find(w, name);
    if (!t || t->n_dims != 2 || t->dim[0] < 1 || t->dim[0] > (uint64_t)most || t->dim[1] != (uint64_t)d->d)
        return err_set(e, STENO_EFORMAT, "%s: tensor %s is missing or of no use: want 1..%d rows of %d", w->name, name, (int)most,
                       (int)d->d);
    *rows = (int32_t)t->dim[0];
    return STENO_OK;
}

static int read_act(struct bert_dims *d, const struct weights *w, steno_error *e)
{
    static const struct { const char *name; unsigned flag; } known[] = {
        { "gelu", SUB_ERF }, { "gelu_new", SUB_TANH }, { "gelu_pytorch_tanh", SUB_TANH }, { "relu", SUB_RELU },
    };
    const char *act = meta_text(&w->meta, "hidden_act", "gelu"), *position = meta_text(&w->meta, "position_embedding_type", "absolute");
    if (strcmp(position, "absolute") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: positions are \"%.40s\"; absolute ones are served", w->name, position);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(act, known[i].name)) {
            d->act = known[i].flag;
            return STENO_OK;
        }
    return err_set(e, STENO_EUNSUPPORTED, "%s: hidden_act is \"%.40s\"; gelu, gelu_new and relu are served", w->name, act);
}

int bert_read_dims(struct bert_dims *d, struct weights *w, steno_error *e)
{
    const int gguf = bert_is_gguf(w);
    const char *const causal_key = gguf ? "bert.attention.causal" : "is_decoder";
    const struct meta_entry *causal = meta_find(&w->meta, causal_key);
    *d = (struct bert_dims){ .eps = 1e-12 };
    int rc = weights_rename(w, gguf ? gguf_name : config_name, e);
    for (const struct bert_number *it = bert_number; it < bert_number + BERT_NUMBERS && !rc; it++)
        rc = meta_int(&w->meta, w->name, gguf ? it->gguf : it->config, it->lo, it->hi, it->optional,
                      (int32_t *)(void *)((char *)d + it->at), e);
    if (!rc) rc = meta_num(&w->meta, w->name, gguf ? "bert.attention.layer_norm_epsilon" : "layer_norm_eps", 1e-30, 1, 1, &d->eps, e);
    if (!rc && causal && causal->kind == META_BOOL && causal->i)
        rc = err_set(e, STENO_EUNSUPPORTED, "%s: %s is true; rows of BERT see all of their text", w->name, causal_key);
    if (!rc) rc = read_act(d, w, e);
    if (!rc) rc = rows_of(&d->n_vocab, w, "embeddings.word_embeddings.weight", d, 1 << 24, e);
    if (!rc) rc = rows_of(&d->positions, w, "embeddings.position_embeddings.weight", d, POSITIONS_MAX, e);
    if (!rc) rc = rows_of(&d->types, w, "embeddings.token_type_embeddings.weight", d, 1 << 10, e);
    if (rc) return rc;
    const int32_t d_head = d->d / d->heads;
    if (d->d % d->heads || d_head < 4 || d_head > HEAD_MAX || d_head % 4)
        return err_set(e, STENO_EUNSUPPORTED, "%s: %d heads of a width of %d; heads of multiples of 4 up to %d are served", w->name,
                       (int)d->heads, (int)d->d, HEAD_MAX);
    return STENO_OK;
}

/* ---- the network --------------------------------------------------------------------------------------------------------------- */

static void build_network(struct build *b, const struct bert_dims *d)
{
    const uint32_t width = (uint32_t)d->d;
    const struct sub layer[] = {
        { sub_attn_post, "attention.output.LayerNorm", "attention.self", "attention.output.dense", 0 },
        { sub_ffn_post, "output.LayerNorm", "intermediate.dense", "output.dense", d->act },
        { NULL, NULL, NULL, NULL, 0 },
    };
    const struct sub_dims dims = { .d = width, .n_heads = (uint32_t)d->heads, .n_kv_heads = (uint32_t)d->heads,
                                   .d_head = (uint32_t)(d->d / d->heads), .d_ff = (uint32_t)d->d_ff, .eps = (float)d->eps };
    const struct linear_part tokens = { "embeddings.word_embeddings.weight", NULL, (uint64_t)d->n_vocab };
    build_phase(b, "tokens");
    const uint16_t sum = build_slot(b, width), x = b->plan.output = build_slot(b, width);
    const uint16_t embed = bind_matrix(b, &tokens, width, LINEAR_LM_HEAD, NO_BIND);
    const float *places = bind_table_and_row(b, "embeddings.position_embeddings.weight", (uint64_t)d->positions,
                                             "embeddings.token_type_embeddings.weight", (uint64_t)d->types, width);
    if (b->status) return;
    bind_at(b, embed)->positions = places;
    emit(b, OP_EMBED, "embed", sum, NO_SLOT, embed);
    emit(b, OP_NORM, "embed.norm", x, sum, bind_norm(b, "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias", width, dims.eps));
    sub_stack(b, layer, &dims, "encoder.layer", (uint32_t)d->layers, x);
}

static int build_plan(steno_model *m, struct weights *w, const struct bert_dims *d, steno_error *e)
{
    struct build b;
    struct precision precision = model_rows_precision(m);
    if (m->matrix_type != DT_F32) precision.by_role[LINEAR_LM_HEAD] = 0; /* the token embedding is not multiplied */
    const uint32_t rows = d->positions > ROWS_TOGETHER ? (uint32_t)d->positions : ROWS_TOGETHER;
    const struct build_params p = { .name = "text", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = rows, .max_out = 1, .precision = precision,
                                    .unfused = m->opening->unfused };
    build_begin(&b, &p, e);
    build_network(&b, d);
    return build_end(&b, &m->plan[PLAN_ENCODER]);
}

static int bert_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct bert_dims d;
    m->name = bert_architecture;
    if (!w->n_tensors && m->index_only && tokenizer_is_there(w, e)) return lm_read_tokenizer(m, w, e); /* vocabulary only */
    int rc = bert_read_dims(&d, w, e);
    if (rc) return rc;
    m->n_vocab = m->tokens.n_vocab = d.n_vocab;
    m->tokens.eot = -1;
    m->text_ctx = d.positions;
    m->widths = (struct model_widths){ .text_state = d.d, .text_heads = d.heads, .text_layers = d.layers };
    m->n_plans = 1;
    rc = model_read_pooling(m, w, STENO_POOLING_MEAN, e);
    if (!rc) rc = build_plan(m, w, &d, e);
    if (!rc) rc = vocab_init(&m->vocab, &m->arena, m->n_vocab, m->n_vocab, e);
    return rc ? rc : lm_read_tokenizer(m, w, e);
}

static const char *const spare[] = { "pooler.*", "cls.*", "embeddings.position_ids", NULL };

const struct family family_bert = { .name = "bert", .front_end = FRONT_NONE, .task = "embed", .match = bert_match,
                                    .low_precision = LOW_PRECISION_ROWS, .settings = SETTINGS_POOLING, .describe = bert_describe,
                                    .spare = spare, .ids_to_bytes = lm_ids_to_bytes };
