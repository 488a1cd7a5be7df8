/* steno: language models: their networks, tokenizers and families. SPDX-License-Identifier: MIT */
#include "model/lm.h"
#include "model/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/tokenizer.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/sub.h"
#include "text/wordpiece.h"

enum { PREFILL_ROWS = 512, /* rows of a prompt that run together */
       CTX_USUAL = 4096,   /* default number of positions of a session, if the model was trained for more */
       ROPE_PAIRS = HEAD_MAX / 2 };

/* ---- rotary positions ---------------------------------------------------------------------------------------------------------- */

static double llama3_frequency(const struct lm_rope_scaling *s, double f)
{
    const double pi = 3.14159265358979323846, length = 2 * pi / f, longest = s->context / s->low, shortest = s->context / s->high;
    if (length < shortest) return f;
    if (length > longest) return f / s->factor;
    const double smooth = (s->context / length - s->low) / (s->high - s->low);
    return (1 - smooth) * f / s->factor + smooth * f;
}

/* Pairs that rotate often within the original context stay as they are; pairs that rotate seldom are slowed down (Peng et al. 2023). */
static double yarn_frequency(const struct lm_dims *d, uint32_t j, double f)
{
    const struct lm_rope_scaling *s = &d->scaling;
    const double pi = 3.14159265358979323846, n = d->d_head, spread = 2 * log(d->rope_base);
    double lo = floor(n * log(s->context / (s->fast * 2 * pi)) / spread), hi = ceil(n * log(s->context / (s->slow * 2 * pi)) / spread);
    lo = lo > 0 ? lo : 0;
    hi = hi < n - 1 ? hi : n - 1;
    double ramp = (j - lo) / (hi - lo > 0.001 ? hi - lo : 0.001);
    ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    return f / s->factor * ramp + f * (1 - ramp);
}

static double gain_of(const struct lm_rope_scaling *s)
{
    return s->kind != LM_ROPE_YARN ? 1 : s->gain > 0 ? s->gain : lm_rope_usual_gain(s->factor);
}

double lm_rope_frequency(const struct lm_dims *d, uint32_t j, int windowed)
{
    const double f = pow(windowed ? d->rope_base_window : d->rope_base, -2.0 * j / d->d_head);
    if (windowed || d->scaling.kind == LM_ROPE_PLAIN) return f;
    if (d->scaling.kind == LM_ROPE_LINEAR) return f / d->scaling.factor;
    return d->scaling.kind == LM_ROPE_LLAMA3 ? llama3_frequency(&d->scaling, f) : yarn_frequency(d, j, f);
}

/* Rotary angles of one kind of layer, for queries and keys of all heads. factors: [d_head / 2] divisors of the frequencies, may be NULL. */
static uint16_t bind_angles(struct build *b, const struct lm_dims *d, const struct lm_arch *arch, const float *factors, int windowed,
                            int32_t ctx)
{
    double frequency[ROPE_PAIRS];
    for (uint32_t j = 0; j < (uint32_t)d->d_head / 2; j++)
        frequency[j] = lm_rope_frequency(d, j, windowed) / (factors && !windowed ? (double)factors[j] : 1);
    const struct rope rope = { .frequency = frequency, .gain = windowed ? 1 : gain_of(&d->scaling), .n = (uint32_t)d->d_head,
                               .positions = (uint32_t)ctx, .neighbours = d->is_gguf && arch->flags & LM_GGUF_NEIGHBOURS };
    return bind_rope(b, &rope, (uint32_t)(d->heads + d->kv_heads), (uint32_t)d->d_head);
}

/* GGUF files store the factors of llama3's scaling as a tensor. */
static const float *rope_factors(struct build *b, const struct lm_dims *d)
{
    const struct tensor *t = d->is_gguf ? weights_find(b->p.weights, "rope_freqs.weight") : NULL;
    const float *factors = t ? bind_vector(b, "rope_freqs.weight", (uint64_t)d->d_head / 2) : NULL;
    for (int32_t j = 0; factors && !b->status && !b->p.store->dry && j < d->d_head / 2; j++)
        if (!(factors[j] > 0))
            b->status = err_set(b->e, STENO_EFORMAT, "%s: rope_freqs.weight: factor %d is %g, want more than 0", b->p.weights->name, (int)j,
                                (double)factors[j]);
    return b->p.store->dry ? NULL : factors;
}

/* ---- layers ------------------------------------------------------------------------------------------------------------------- */

static uint32_t local_layers(const struct lm_dims *d)
{
    uint32_t n = 0;
    for (int32_t i = 0; i < d->layers; i++) n += (uint32_t)lm_is_local(d, i);
    return n;
}

/* State with the keys and values of sliding-window layers. It is separate, because other layers keep those of the whole text. */
static uint16_t state_of_windows(const struct lm_dims *d)
{
    return local_layers(d) < (uint32_t)d->layers ? STATE_WINDOWS : STATE_SELF;
}

static void add_states(steno_model *m, const struct lm_dims *d)
{
    const uint32_t local = local_layers(d), all = (uint32_t)d->layers - local;
    struct state_desc s = { "self-attention keys and values", STATE_APPEND, all, (uint32_t)d->kv_heads, (uint32_t)d->d_head,
                            (uint32_t)m->text_ctx, 0, 0, 0 };
    if (all) m->state[m->n_states++] = s;
    s.name = "keys and values of windows";
    s.layers = local;
    s.window = (uint32_t)d->window;
    s.ahead = PREFILL_ROWS;
    if (local) m->state[m->n_states++] = s;
}

static void build_layers(struct build *b, const struct lm_dims *d, const struct lm_arch *arch, int32_t ctx, uint16_t x)
{
    const unsigned glu = arch->flags & LM_GELU ? SUB_TANH : 0;
    const int post = (arch->flags & LM_POST_NORMS) != 0;
    const struct sub layer[] = {
        { sub_attn_rope, "input_layernorm", "self_attn", post ? "post_attention_layernorm" : NULL, 0 },
        { sub_ffn_glu, "pre_feedforward_layernorm", "mlp", post ? "post_feedforward_layernorm" : NULL, glu },
        { NULL, NULL, NULL, NULL, 0 },
    };
    struct sub_dims dims = { .d = (uint32_t)d->d, .n_heads = (uint32_t)d->heads, .n_kv_heads = (uint32_t)d->kv_heads,
                             .d_head = (uint32_t)d->d_head, .d_ff = (uint32_t)d->d_ff, .norm = NORM_RMS,
                             .has_qk_norm = (arch->flags & LM_QK_NORM) != 0, .has_qkv_bias = d->has_qkv_bias, .eps = (float)d->eps,
                             .norms_less_one = !d->is_gguf && arch->flags & LM_NORMS_LESS_ONE, .attn_scale = (float)d->attn_scale };
    const uint16_t all = bind_angles(b, d, arch, rope_factors(b, d), 0, ctx);
    const uint16_t windowed = d->window ? bind_angles(b, d, arch, NULL, 1, ctx) : all;
    const uint16_t state[2] = { STATE_SELF, state_of_windows(d) };
    uint16_t n[MODEL_STATES] = { 0 };
    for (int32_t i = 0; i < d->layers && !b->status; i++) {
        const int local = lm_is_local(d, i);
        dims.rope = local ? windowed : all;
        dims.window = local ? (uint32_t)d->window : 0;
        dims.kv_state = 1 + state[local];
        dims.kv_layer = n[state[local]]++;
        sub_layer(b, layer, &dims, "model.layers", (uint32_t)i, x);
    }
}

/* classes: as in struct lm_part. */
static void build_network(struct build *b, steno_model *m, const struct lm_dims *d, const struct lm_arch *arch, int32_t classes)
{
    const uint32_t width = (uint32_t)d->d, n_vocab = (uint32_t)d->n_vocab, n_out = classes ? (uint32_t)classes : n_vocab;
    const int is_tied = d->is_tied && !classes;
    static const char embedding[] = "model.embed_tokens.weight", head_matrix[] = "lm_head.weight";
    build_phase(b, "decode");
    b->plan.self_state = STATE_SELF;
    const uint16_t x = build_slot(b, width);
    const uint16_t tokens = bind_matrix(b, &(struct linear_part){ embedding, NULL, n_vocab }, width, LINEAR_LM_HEAD, NO_BIND);
    const uint16_t embed = b->status ? NO_BIND : bind_copy(b, tokens);
    if (b->status) return;
    if (arch->flags & LM_SCALED_EMBEDDING) bind_at(b, embed)->scale = (float)sqrt(d->d);
    emit(b, OP_EMBED, "embed", x, b->plan.input, embed);
    build_layers(b, d, arch, m->text_ctx, x);
    b->plan.output = x;
    build_phase(b, "head");
    const int less_one = !d->is_gguf && arch->flags & LM_NORMS_LESS_ONE;
    const uint16_t norm = bind_norm_rms(b, "model.norm.weight", width, (float)d->eps, less_one);
    m->lm.rows_norm = norm;
    const char *const matrix = is_tied ? embedding : head_matrix;
    const struct linear_part part = { matrix, NULL, n_out };
    const uint16_t last = is_tied ? tokens : bind_matrix(b, &part, width, LINEAR_LM_HEAD, NO_BIND);
    const int is_stored = b->status || !packed_is_lowp((enum packed_type)bind_at(b, last)->type);
    sub_lm_head(b, &(struct lm_head){ .prefix = "head", .matrix = matrix, .tokens = last, .norm = norm, .n_vocab = n_out, .d = width,
                                      .two_stages = m->blocks && is_stored && !classes && !(d->logit_cap > 0),
                                      .cap = (float)d->logit_cap }, x);
}

/* Are the embedding and the head stored in blocks? Stored numbers are not rounded to blocks. */
static int has_block_tokens(struct weights *w)
{
    const struct tensor *tokens = weights_find(w, "model.embed_tokens.weight"), *head = weights_find(w, "lm_head.weight");
    return tokens && dtype_block(tokens->type) > 1 && (!head || dtype_block(head->type) > 1);
}

/* int8 and int4 blocks are multiplied as stored, with the activations in int8 blocks, as in llama.cpp. Other types are not rounded. A head
 * in blocks is also the embedding, and needs no second stage. */
static struct precision text_precision(steno_model *m, struct weights *w, enum dtype stored)
{
    const enum packed_type blocks = executor_gains(m->executor, PK_Q8_QUAD_A8) ? PK_Q8_QUAD_A8 : PK_Q8_QUAD;
    m->decoder_int8 = m->blocks && dtype_block(stored) > 1;
    const enum packed_type t = m->decoder_int8 ? blocks : 0;
    return (struct precision){ .by_role = { [LINEAR_QKV] = t, [LINEAR_OUT] = t, [LINEAR_UP] = t, [LINEAR_DOWN] = t,
                                             [LINEAR_LM_HEAD] = has_block_tokens(w) ? t : 0 } };
}

/* End-of-text id from the file; the first one if there are several. */
static int32_t end_of_text(const struct weights *w, int32_t n_vocab)
{
    static const char *const key[] = { "tokenizer.ggml.eos_token_id", "eos_token_id", "eos_token_id.0", "text_config.eos_token_id",
                                       "generation.eos_token_id", "generation.eos_token_id.0" };
    int32_t id = -1;
    for (size_t i = 0; i < sizeof key / sizeof *key && id < 0; i++) id = (int32_t)meta_whole(&w->meta, key[i], 0, n_vocab - 1, -1);
    return id;
}

int lm_add(steno_model *m, const struct lm_arch *arch, struct weights *w, const struct lm_part *part, steno_error *e)
{
    struct lm_dims d;
    struct build b;
    int rc = lm_dims_read(&d, arch, w, e);
    if (rc) return rc;
    m->n_vocab = d.n_vocab;
    if (m->opening->text_ctx > d.ctx)
        return err_set(e, STENO_EARG, "%s: text_ctx is %d, and the model was trained for contexts of %d", w->name,
                       (int)m->opening->text_ctx, (int)d.ctx);
    m->text_ctx = m->opening->text_ctx ? m->opening->text_ctx : d.ctx < part->ctx_most ? d.ctx : part->ctx_most;
    m->lm.ctx_most = d.ctx;
    m->widths.text_state = d.d;
    m->widths.text_heads = d.heads;
    m->widths.text_layers = d.layers;
    m->tokens.n_vocab = d.n_vocab;
    m->tokens.eot = end_of_text(w, d.n_vocab);
    add_states(m, &d);
    struct build_params p = { .name = "decoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                              .team = m->opening->team, .max_rows = PREFILL_ROWS, .max_out = RUN_LANES,
                              .precision = text_precision(m, w, part->stored), .unfused = m->opening->unfused };
    build_begin(&b, &p, e);
    if (part->takes_rows) b.plan.input = build_slot(&b, (uint32_t)d.d);
    build_network(&b, m, &d, arch, part->classes);
    rc = build_end(&b, &m->plan[part->plan]);
    m->n_plans = part->plan + 1;
    if (!rc) rc = vocab_init(&m->vocab, &m->arena, m->n_vocab, m->n_vocab, e);
    return rc ? rc : lm_read_tokenizer(m, w, e);
}

int lm_describe(steno_model *m, const struct lm_arch *arch, struct weights *w, steno_error *e)
{
    m->name = arch->name;
    if (!w->n_tensors && m->index_only && tokenizer_is_there(w, e)) return lm_read_tokenizer(m, w, e); /* vocabulary only */
    m->low_precision = 0; /* only prompts have many rows */
    const int rc = model_read_pooling(m, w, STENO_POOLING_LAST, e);
    return rc ? rc : lm_add(m, arch, w, &(struct lm_part){ .plan = 0, .ctx_most = CTX_USUAL, .stored = m->matrix_type }, e);
}

/* ---- tokenizers ------------------------------------------------------------------------------------------------------------------- */

/* Maps the names that GGUF files and Hugging Face folders have for tokenizer types to the tokenizer's options: Llama, Qwen, Gemma and
 * models with the same types. */

#define REGEX(digits) "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
                      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
static const struct tokenizer_cut cuts[] = {
    { "gpt-2", NULL, "gpt2", 0, 0, NULL, 0 },
    { "smollm", TOKENIZER_DIGITS, "gpt2-digits-1", 0, 0, NULL, 0 },
    { "starcoder", NULL, "gpt2-digits-1", 0, 0, NULL, 0 },
    { "refact", NULL, "gpt2-digits-1", 0, 0, NULL, 0 },
    { "command-r", NULL, "gpt2-digits-1", 0, 0, NULL, 0 },
    { "llama-bpe", REGEX("{1,3}"), "digits-3", 1, 1, NULL, 0 },
    { "llama3", NULL, "digits-3", 1, 1, NULL, 0 },
    { "llama-v3", NULL, "digits-3", 1, 1, NULL, 0 },
    { "falcon3", NULL, "digits-3", 1, 1, NULL, 0 },
    { "dbrx", NULL, "digits-3", 0, 0, NULL, 0 },
    { "smaug-bpe", NULL, "digits-3", 0, 0, NULL, 0 },
    { "qwen2", REGEX(""), "digits-1", 0, 0, "Qwen2Tokenizer", 1 },
    { "megrez", NULL, "digits-1", 0, 0, NULL, 0 },
    { "deepseek-r1-qwen", NULL, "digits-1", 0, 0, NULL, 0 },
    { 0 },
};
const struct tokenizer_names lm_tokenizer_names = { "gpt2", "llama", "bert", cuts, "gpt-2, smollm, llama-bpe, qwen2 and what is the same" };

/* Converts the token definitions of the file. */
static int tokens_make(struct token_def **out, struct token_pair **pairs, steno_model *m, const struct tokenizer_file *f, steno_error *e)
{
    static enum token_role const role[] = { [VOCAB_NORMAL] = TOKEN_TEXT, [VOCAB_BYTE] = TOKEN_BYTE, [VOCAB_CONTROL] = TOKEN_CONTROL,
                                            [VOCAB_USER_DEFINED] = TOKEN_USER, [VOCAB_UNUSED] = TOKEN_UNUSED,
                                            [VOCAB_UNKNOWN] = TOKEN_UNKNOWN };
    struct token_def *t = *out = arena_array(&m->arena, f->n, sizeof *t);
    struct token_pair *p = *pairs = arena_array(&m->arena, (size_t)f->n_pairs + 1, sizeof *p);
    size_t n = 1;
    for (uint32_t i = 0; i < f->n; i++) n += f->entry[i].n;
    for (uint32_t i = 0; i < f->n_pairs; i++) n += (size_t)f->pair[i].left + f->pair[i].right;
    uint8_t *bytes = arena_alloc(&m->arena, n);
    if (!t || !p || !bytes) return err_nomem(e, n, "a tokenizer");
    for (uint32_t i = 0; i < f->n; i++) {
        const struct vocab_entry *it = &f->entry[i];
        if (it->n) memcpy(bytes, it->s, it->n);
        t[i] = (struct token_def){ bytes, it->n, it->score, role[it->type] };
        bytes += it->n;
    }
    for (uint32_t i = 0; i < f->n_pairs; i++) {
        const struct tokenizer_pair *it = &f->pair[i];
        memcpy(bytes, it->s, (size_t)it->left + it->right);
        p[i] = (struct token_pair){ bytes, it->left, it->right };
        bytes += (size_t)it->left + it->right;
    }
    return STENO_OK;
}

/* Converts the options for splitting words. */
static unsigned word_flags(const struct tokenizer_words *w)
{
    const int strips = w->strips < 0 ? w->lowers : w->strips;
    return (w->cleans ? WORDPIECE_CLEAN : 0u) | (w->splits_han ? WORDPIECE_HAN : 0u) | (strips ? WORDPIECE_STRIP : 0u) |
           (w->lowers ? WORDPIECE_LOWER : 0u);
}

static int tokenizer_make(steno_model *m, struct weights *w, steno_error *e)
{
    struct tokenizer_file f;
    struct token_def *token;
    struct token_pair *pair;
    int rc = tokenizer_read(&f, w, &lm_tokenizer_names, e);
    if (!rc) rc = tokens_make(&token, &pair, m, &f, e);
    if (rc) return rc;
    struct tokenizer_desc d = { .token = token, .n = (int32_t)f.n, .by_chars = f.form == TOKENIZER_PIECES, .pattern = f.pattern,
                                .pair = pair, .n_pairs = (int32_t)f.n_pairs, .whole_first = f.whole_first, .space_first = f.space_first,
                                .adds_bos = f.adds_bos, .adds_eos = f.adds_eos, .bos = f.bos, .eos = f.eos, .composes = f.composes,
                                .by_words = f.form == TOKENIZER_WORDS, .word_flags = word_flags(&f.words),
                                .word_chars = (uint32_t)f.words.most_chars };
    const int32_t more[] = { f.eot, f.eom };
    for (int i = 0; i < 2; i++)
        if (more[i] >= 0) d.end[d.n_ends++] = more[i];
    for (int i = 0; i < f.n_ends && d.n_ends < TOKENIZER_ENDS; i++) d.end[d.n_ends++] = f.end[i];
    for (const char *const *end = m->lm.ends; end && *end && d.n_ends < TOKENIZER_MORE_ENDS; end++)
        d.end[d.n_ends++] = tokenizer_id_of(w, *end);
    if (!m->n_vocab) m->n_vocab = (int32_t)f.n; /* otherwise the network gives it */
    rc = chat_recognise(&m->lm.chat, f.chat_template, &m->arena, e);
    return rc ? rc : tokenizer_open(&m->lm.tokenizer, &m->arena, &d, e);
}

const char *model_chat_name(const steno_model *m)
{
    static const char *const names[] = { "", "unknown", "chatml", "llama3", "llama3", "gemma", "gemma", "mistral" };
    return m->lm.chat.format == CHAT_INST && m->lm.chat.inst.system == CHAT_SYSTEM_SYS ? "llama2" : names[m->lm.chat.format];
}

/* Fills the vocabulary with the text of each id. Control tokens have no text. */
static void pieces_fill(steno_model *m)
{
    const uint8_t *s;
    for (int32_t id = 0; id < m->vocab.n; id++) {
        const size_t n = tokenizer_piece(m->lm.tokenizer, id, 0, &s);
        if (n) vocab_set(&m->vocab, id, s, (uint32_t)n);
    }
}

int lm_read_tokenizer(steno_model *m, struct weights *w, steno_error *e)
{
    const int there = m->is_exact ? 0 : tokenizer_is_there(w, e);
    if (there <= 0) return there;
    const int rc = tokenizer_make(m, w, e);
    if (!rc) pieces_fill(m);
    return rc;
}

void lm_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    if (m->lm.tokenizer) tokenizer_decode(m->lm.tokenizer, ids, n, 1, bytes);
}

/* ---- the families ----------------------------------------------------------------------------------------------------------------- */

/* References: transformers 5.23 (models/llama, qwen3, gemma, gemma3), and llama.cpp's keys and order of rows for GGUF files. */

/* A family consists of its row. */
#define LM_FAMILY(id, ...)                                                                                                            \
    static const struct lm_arch arch_##id = { __VA_ARGS__ };                                                                          \
    static int match_##id(const struct weights *w) { return lm_match(w, &arch_##id); }                                                \
    static int describe_##id(steno_model *m, struct weights *w, steno_error *e) { return lm_describe(m, &arch_##id, w, e); }          \
    const struct family family_##id = { .name = #id, .front_end = FRONT_NONE, .task = "lm", .match = match_##id,                      \
                                        .low_precision = LOW_PRECISION_ROWS | LOW_PRECISION_STEPS,                                    \
                                        .settings = SETTINGS_GENERATION | SETTINGS_POOLING,                                           \
                                        .describe = describe_##id, .spare = lm_spare, .ids_to_bytes = lm_ids_to_bytes }

static const char *const lm_spare[] = { "*rotary_emb.inv_freq", "vision_tower.*", "model.vision_tower.*", "multi_modal_projector.*",
                                        "model.multi_modal_projector.*", "v.*", "mm.*", "lm_head.weight", NULL };

static const struct lm_type llama_types[] = { { .name = "llama", .heads = 32, .ctx = 2048 },
                                              { .name = "mistral", .heads = 32, .kv_heads = 8, .ctx = 131072, .window = 4096 }, { 0 } };
static const struct lm_type qwen3_types[] = {
    { .name = "qwen3", .heads = 32, .kv_heads = 32, .d_head = 128, .ctx = 32768, .window = 4096 }, { 0 },
};
static const struct lm_type gemma_types[] = { { .name = "gemma", .heads = 16, .kv_heads = 16, .d_head = 256, .ctx = 8192 }, { 0 } };
#define GEMMA3 .heads = 8, .kv_heads = 4, .d_head = 256, .ctx = 131072, .window = 4096, .pre_attn = 256
static const struct lm_type gemma3_types[] = { { .name = "gemma3_text", GEMMA3 }, { .name = "gemma3", GEMMA3 }, { 0 } };

/* LLaMA 2 and 3, and models of that type (Touvron et al. 2023; Dubey et al. 2024), including Mistral's (Jiang et al. 2023), whose first
 * versions have a sliding window in all layers. */
LM_FAMILY(llama, .name = "llama", .types = llama_types, .flags = LM_GGUF_NEIGHBOURS | LM_WINDOWS | LM_ONE_BASE, .rope_base = 1e4,
          .pattern = INT32_MAX);
/* Yang et al. 2025. */
LM_FAMILY(qwen3, .name = "qwen3", .types = qwen3_types, .flags = LM_QK_NORM, .rope_base = 1e4);
/* Gemma Team 2024. */
LM_FAMILY(gemma, .name = "gemma", .types = gemma_types, .flags = LM_NORMS_LESS_ONE | LM_SCALED_EMBEDDING | LM_GELU | LM_TIED,
          .rope_base = 1e4);
/* Gemma Team 2025: five of six layers have a sliding window. */
LM_FAMILY(gemma3, .name = "gemma3", .types = gemma3_types,
          .flags = LM_QK_NORM | LM_POST_NORMS | LM_NORMS_LESS_ONE | LM_SCALED_EMBEDDING | LM_GELU | LM_TIED | LM_WINDOWS,
          .rope_base = 1e6, .pattern = 6);

const struct lm_arch *const lm_llama = &arch_llama, *const lm_qwen3 = &arch_qwen3, *const lm_gemma = &arch_gemma,
                            *const lm_gemma3 = &arch_gemma3;
