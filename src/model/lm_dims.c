/* steno: settings of language models. SPDX-License-Identifier: MIT
 *
 * Reads config.json of transformers (of multimodal models, its text_config) and the keys of GGUF files after the architecture's name. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "model/lm.h"

enum { YARN_FAST = 32, YARN_SLOW = 1 }; /* by default */
enum { WORD_SZ = 160, LAYERS_MAX = 256, LM_HEADS_MAX = 1024, LM_HEAD_MAX = 1 << 12, WIDTH_MAX = 1 << 17, CTX_MAX = 1 << 24 };

/* Where settings are looked up. */
struct lm_words {
    const struct weights *w;
    const struct lm_arch *arch;
    const struct lm_type *type;
    int is_gguf;
    const char *nested; /* "text_config." or "" */
    steno_error *e;
};

static int is_nested(const struct weights *w) { return meta_find(&w->meta, "text_config.hidden_size") != NULL; }

/* @return the type of config.json; NULL: another architecture's */
static const struct lm_type *find_type(const struct weights *w, const struct lm_arch *arch)
{
    const char *name = meta_text(&w->meta, is_nested(w) ? "text_config.model_type" : "model_type", NULL);
    if (!name) name = meta_text(&w->meta, "model_type", "");
    for (const struct lm_type *t = arch->types; t->name; t++)
        if (!strcmp(name, t->name)) return t;
    return NULL;
}

int lm_match(const struct weights *w, const struct lm_arch *arch)
{
    const char *gguf = meta_text(&w->meta, "general.architecture", NULL);
    return gguf ? !strcmp(gguf, arch->name) : find_type(w, arch) != NULL;
}

/* The key in the spelling of the current file. NULL: that spelling has none, or its value there is null. */
static const char *word(char out[WORD_SZ], const struct lm_words *q, const char *config, const char *gguf)
{
    if (q->is_gguf ? !gguf : !config) return NULL;
    if (q->is_gguf) snprintf(out, WORD_SZ, "%.60s.%s", q->arch->name, gguf);
    else snprintf(out, WORD_SZ, "%s%s", q->nested, config);
    const struct meta_entry *it = meta_find(&q->w->meta, out);
    return it && it->kind == META_NULL ? NULL : out;
}

#define AT(field) offsetof(struct lm_dims, field)
struct whole { const char *config, *gguf; int32_t lo, hi; int is_optional; size_t at; };

/* Reads which layers have a sliding window: all but every pattern-th; anything else is unsupported. @return 1: there is no list */
static int read_pattern(int32_t *pattern, const struct lm_words *q, const char *key)
{
    const struct meta_list *l = meta_find_list(&q->w->meta, key);
    int32_t p = 0;
    if (!l) return 1;
    for (uint64_t i = 0; i < l->n; i++) {
        double x = 0;
        const int rc = l->n > LAYERS_MAX ? err_set(q->e, STENO_EFORMAT, "%s: %s is too long", q->w->name, key)
                                         : meta_list_numbers(l, i, 1, &x, q->e);
        if (rc) return rc;
        const int whole = !(x > 0);
        if (whole && !p) p = (int32_t)i + 1;
        if (whole != (p && (i + 1) % (uint64_t)p == 0))
            return err_set(q->e, STENO_EUNSUPPORTED, "%s: %s: layer %d is out of turn; every n-th layer that sees all positions is served",
                           q->w->name, key, (int)i);
    }
    *pattern = p ? p : INT32_MAX;
    return STENO_OK;
}

static int read_whole(void *to, const struct lm_words *q, const struct whole *r)
{
    char key[WORD_SZ];
    const char *at = word(key, q, r->config, r->gguf);
    if (!at && r->is_optional) return STENO_OK;
    int32_t *number = (int32_t *)(void *)((char *)to + r->at);
    if (at && q->is_gguf && r->at == AT(pattern)) {
        const int rc = read_pattern(number, q, at);
        if (rc != 1) return rc;
    }
    return meta_int(&q->w->meta, q->w->name, at ? at : key, r->lo, r->hi, r->is_optional || *number, number, q->e);
}

static int read_number(double *to, const struct lm_words *q, const char *config, const char *gguf, double lo, double hi)
{
    char key[WORD_SZ];
    const char *at = word(key, q, config, gguf);
    return at ? meta_num(&q->w->meta, q->w->name, at, lo, hi, 1, to, q->e) : STENO_OK;
}

static const struct whole shape_rows[] = {
    { "num_hidden_layers", "block_count", 1, LAYERS_MAX, 0, AT(layers) },
    { "hidden_size", "embedding_length", 4, WIDTH_MAX, 0, AT(d) },
    { "intermediate_size", "feed_forward_length", 4, WIDTH_MAX, 0, AT(d_ff) },
    { "num_attention_heads", "attention.head_count", 1, LM_HEADS_MAX, 0, AT(heads) },
    { "num_key_value_heads", "attention.head_count_kv", 1, LM_HEADS_MAX, 1, AT(kv_heads) },
    { "head_dim", "attention.key_length", 4, LM_HEAD_MAX, 1, AT(d_head) },
    { "max_position_embeddings", "context_length", 1, CTX_MAX, 1, AT(ctx) },
    { "sliding_window", "attention.sliding_window", 0, CTX_MAX, 1, AT(window) },
    { "sliding_window_pattern", "attention.sliding_window_pattern", 0, LAYERS_MAX, 1, AT(pattern) },
};

/* Checks that the sizes fit together. */
static int check_shape(const struct lm_dims *d, const struct lm_words *q)
{
    const char *name = q->w->name;
    if (d->heads % d->kv_heads)
        return err_set(q->e, STENO_EFORMAT, "%s: %d heads of queries do not share %d heads of keys and values evenly", name, (int)d->heads,
                       (int)d->kv_heads);
    if (d->d_head < 4 || d->d_head > HEAD_MAX || d->d_head % 4)
        return err_set(q->e, STENO_EUNSUPPORTED, "%s: heads of %d numbers; multiples of 4 up to %d are served", name, (int)d->d_head,
                       HEAD_MAX);
    if (q->is_gguf) {
        char key[WORD_SZ];
        int32_t turned = d->d_head;
        snprintf(key, sizeof key, "%.60s.rope.dimension_count", q->arch->name);
        const int rc = meta_int(&q->w->meta, name, key, 1, LM_HEAD_MAX, 1, &turned, q->e);
        if (rc) return rc;
        if (turned != d->d_head)
            return err_set(q->e, STENO_EUNSUPPORTED, "%s: %s is %d, but a head has %d: heads that turn in part are not served", name, key,
                           (int)turned, (int)d->d_head);
    }
    return STENO_OK;
}

/* Mixtures of experts have tensors of other names and shapes. */
static int check_experts(const struct lm_words *q)
{
    static const char *const config[] = { "num_local_experts", "num_experts", "n_routed_experts" };
    int rc = STENO_OK;
    for (size_t i = 0; i < (q->is_gguf ? 1 : sizeof config / sizeof *config) && !rc; i++) {
        char key[WORD_SZ];
        int32_t n = 0;
        const char *at = word(key, q, config[i], "expert_count");
        if (at) rc = meta_int(&q->w->meta, q->w->name, at, 0, INT32_MAX, 1, &n, q->e);
        if (n) rc = err_set(q->e, STENO_EUNSUPPORTED, "%s: %s is %d: a mixture of %d experts (MoE), which is not served", q->w->name, at,
                            (int)n, (int)n);
    }
    return rc;
}

/* Folders may leave out sizes that their type has by default. A null is no default: it means what the others give. */
static void take_usual(struct lm_dims *d, const struct lm_words *q)
{
    char key[WORD_SZ];
    if (q->is_gguf) return;
    d->heads = q->type->heads;
    if (word(key, q, "num_key_value_heads", NULL)) d->kv_heads = q->type->kv_heads;
    if (word(key, q, "head_dim", NULL)) d->d_head = q->type->d_head;
    if (word(key, q, "sliding_window", NULL)) d->window = q->type->window;
    d->ctx = q->type->ctx;
}

static int read_shape(struct lm_dims *d, const struct lm_words *q)
{
    const int may_have_window = q->is_gguf || q->type->window;
    int rc = check_experts(q);
    take_usual(d, q);
    for (size_t i = 0; i < sizeof shape_rows / sizeof *shape_rows && !rc; i++)
        if (may_have_window || shape_rows[i].at != AT(window)) rc = read_whole(d, q, &shape_rows[i]);
    if (rc) return rc;
    if (!d->kv_heads) d->kv_heads = d->heads;
    if (!d->d_head) d->d_head = d->d / d->heads;
    return check_shape(d, q);
}

static int refuse(const struct lm_words *q, const char *key, const char *is, const char *want)
{
    return err_set(q->e, STENO_EUNSUPPORTED, "%s: %s is %.40s, this version supports %s", q->w->name, key, is, want);
}

static int check_flag(const struct lm_words *q, const char *config, const char *gguf, int want)
{
    char key[WORD_SZ];
    const char *at = word(key, q, config, gguf);
    const struct meta_entry *it = at ? meta_find(&q->w->meta, at) : NULL;
    if (!it || it->kind != META_BOOL || (it->i != 0) == want) return STENO_OK;
    return refuse(q, at, it->i ? "true" : "false", want ? "true" : "false");
}

/* ---- rotary positions ---------------------------------------------------------------------------------------------------------- */

/* YaRN's gain, as a number or as a quotient of two, and its ramp. Without a factor the contexts give one. */
static int read_yarn(struct lm_rope_scaling *s, const struct lm_words *q, const char *group, int32_t ctx)
{
    static const char *const part[] = { "attention_factor", "mscale", "mscale_all_dim", "factor" };
    double number[4] = { 0 };
    char key[WORD_SZ];
    int rc = STENO_OK;
    for (int i = 0; i < 4 && !rc; i++) {
        snprintf(key, sizeof key, "%s.%s", group, part[i]);
        rc = read_number(&number[i], q, key, NULL, i ? 0 : 1e-6, 1e6); /* a gain of 0 would leave no positions */
    }
    if (!rc && !(number[3] > 0)) s->factor = (double)ctx / s->context;
    const double grown = s->factor > 1 ? 0.1 * log(s->factor) : 0;
    if (number[1] > 0 && number[2] > 0) s->gain = (number[1] * grown + 1) / (number[2] * grown + 1);
    if (number[0] > 0) s->gain = number[0];
    snprintf(key, sizeof key, "%s.truncate", group);
    return rc ? rc : check_flag(q, key, NULL, 1);
}

static int read_scaling(struct lm_rope_scaling *s, const struct lm_words *q, const char *group, int32_t ctx)
{
    static const char context[] = "original_max_position_embeddings"; /* that of the model comes before that of the group */
    char key[5][WORD_SZ], word_of[WORD_SZ];
    static const char *const part[] = { "factor", "low_freq_factor", "high_freq_factor", "beta_fast", "beta_slow" };
    for (int i = 0; i < 5; i++) snprintf(key[i], WORD_SZ, "%s.%s", group, part[i]);
    snprintf(word_of, sizeof word_of, "%s%s.rope_type", q->nested, group);
    const char *kind = meta_text(&q->w->meta, word_of, NULL);
    if (!kind) snprintf(word_of, sizeof word_of, "%s%s.type", q->nested, group);
    if (!kind) kind = meta_text(&q->w->meta, word_of, "default");
    if (!strcmp(kind, "default")) return STENO_OK;
    s->kind = !strcmp(kind, "linear")   ? LM_ROPE_LINEAR
              : !strcmp(kind, "llama3") ? LM_ROPE_LLAMA3
              : !strcmp(kind, "yarn")   ? LM_ROPE_YARN
                                        : LM_ROPE_PLAIN;
    if (s->kind == LM_ROPE_PLAIN)
        return err_set(q->e, STENO_EUNSUPPORTED, "%s: rotary positions are scaled by \"%.40s\"; linear, llama3 and yarn are served",
                       q->w->name, kind);
    int rc = read_number(&s->factor, q, key[0], NULL, 1e-6, 1e6);
    if (!rc) rc = read_number(&s->low, q, key[1], NULL, 1e-6, 1e6);
    if (!rc) rc = read_number(&s->high, q, key[2], NULL, 1e-6, 1e6);
    if (!rc) rc = read_number(&s->fast, q, key[3], NULL, 0, 1e6);
    if (!rc) rc = read_number(&s->slow, q, key[4], NULL, 0, 1e6);
    if (!(s->fast > 0)) s->fast = YARN_FAST; /* for transformers, 0 is no value */
    if (!(s->slow > 0)) s->slow = YARN_SLOW;
    snprintf(word_of, sizeof word_of, "%s.%s", group, context);
    if (!rc) rc = read_whole(s, q, &(struct whole){ word_of, NULL, 1, CTX_MAX, 1, offsetof(struct lm_rope_scaling, context) });
    if (!rc) rc = read_whole(s, q, &(struct whole){ context, NULL, 1, CTX_MAX, 1, offsetof(struct lm_rope_scaling, context) });
    if (!rc && s->kind == LM_ROPE_YARN) rc = read_yarn(s, q, group, ctx);
    if (!rc && s->kind == LM_ROPE_LLAMA3 && !(s->high > s->low))
        rc = err_set(q->e, STENO_EFORMAT, "%s: %s.high_freq_factor is %g, want more than low_freq_factor, %g", q->w->name, group,
                     s->high, s->low);
    return rc;
}

static int read_gguf_scaling(struct lm_rope_scaling *s, const struct lm_words *q)
{
    char key[WORD_SZ];
    snprintf(key, sizeof key, "%.60s.rope.scaling.type", q->arch->name);
    const char *kind = meta_text(&q->w->meta, key, "none");
    double linear = 0, gain = 1;
    int rc = read_number(&linear, q, NULL, "rope.scale_linear", 1e-6, 1e6); /* in old files */
    if (!rc) rc = read_number(&gain, q, NULL, "rope.scaling.attn_factor", 1e-6, 1e6);
    if (!rc) rc = read_number(&s->factor, q, NULL, "rope.scaling.factor", 1e-6, 1e6);
    if (!rc) rc = read_number(&s->fast, q, NULL, "rope.scaling.yarn_beta_fast", 1e-6, 1e6);
    if (!rc) rc = read_number(&s->slow, q, NULL, "rope.scaling.yarn_beta_slow", 1e-6, 1e6);
    if (!rc) rc = read_whole(s, q, &(struct whole){ NULL, "rope.scaling.original_context_length", 1, CTX_MAX, 1,
                                                    offsetof(struct lm_rope_scaling, context) });
    if (rc) return rc;
    if (!strcmp(kind, "yarn")) s->kind = LM_ROPE_YARN, s->gain = gain * lm_rope_usual_gain(s->factor);
    else if (!strcmp(kind, "linear")) s->kind = LM_ROPE_LINEAR;
    else if (strcmp(kind, "none") != 0)
        return err_set(q->e, STENO_EUNSUPPORTED, "%s: %s is \"%.40s\"; none, linear and yarn are served", q->w->name, key, kind);
    else if (linear > 0) s->kind = LM_ROPE_LINEAR, s->factor = linear;
    if (s->kind != LM_ROPE_YARN && fabs(gain - 1) > 0)
        return err_set(q->e, STENO_EUNSUPPORTED, "%s: %.60s.rope.scaling.attn_factor is %g, this version supports 1 without yarn",
                       q->w->name, q->arch->name, gain);
    return STENO_OK;
}

/* Newer files have one group of rotary settings, or one per kind of layer. */
static int read_rope(struct lm_dims *d, const struct lm_words *q)
{
    d->rope_base = q->arch->rope_base;
    d->rope_base_window = 10000;
    d->scaling = (struct lm_rope_scaling){ LM_ROPE_PLAIN, 1, 1, 4, YARN_FAST, YARN_SLOW, d->ctx, 0 };
    static const char *const base[] = { "rope_theta", "rope_parameters.rope_theta", "rope_parameters.full_attention.rope_theta" };
    static const char *const windowed[] = { "rope_local_base_freq", "rope_parameters.sliding_attention.rope_theta" };
    int rc = read_number(&d->rope_base, q, NULL, "rope.freq_base", 1, 1e12);
    for (int i = 0; i < 3 && !rc; i++) rc = read_number(&d->rope_base, q, base[i], NULL, 1, 1e12);
    if (q->arch->flags & LM_ONE_BASE) d->rope_base_window = d->rope_base;
    for (int i = 0; i < 2 && !rc; i++) rc = read_number(&d->rope_base_window, q, windowed[i], NULL, 1, 1e12);
    if (!rc) rc = read_number(&d->rope_base_window, q, NULL, "rope.local.freq_base", 1, 1e12);
    if (!rc) rc = read_number(&d->rope_base_window, q, NULL, "rope.freq_base_swa", 1, 1e12);
    if (rc || q->is_gguf) return rc ? rc : read_gguf_scaling(&d->scaling, q);
    static const char *const group[] = { "rope_scaling", "rope_parameters", "rope_parameters.full_attention" };
    for (int i = 0; i < 3 && !rc && d->scaling.kind == LM_ROPE_PLAIN; i++) rc = read_scaling(&d->scaling, q, group[i], d->ctx);
    return rc;
}

/* ---- names --------------------------------------------------------------------------------------------------------------------- */

/* Names after "blk.N." in GGUF files, and after "model.layers.N." here. */
static const struct { const char *from, *to; } part_names[] = {
    { "attn_norm.", "input_layernorm." },
    { "attn_q.", "self_attn.q_proj." },
    { "attn_k.", "self_attn.k_proj." },
    { "attn_v.", "self_attn.v_proj." },
    { "attn_output.", "self_attn.o_proj." },
    { "attn_q_norm.", "self_attn.q_norm." },
    { "attn_k_norm.", "self_attn.k_norm." },
    { "post_attention_norm.", "post_attention_layernorm." },
    { "ffn_norm.", "pre_feedforward_layernorm." },
    { "ffn_gate.", "mlp.gate_proj." },
    { "ffn_up.", "mlp.up_proj." },
    { "ffn_down.", "mlp.down_proj." },
    { "post_ffw_norm.", "post_feedforward_layernorm." },
};

static const struct { const char *from, *to; } whole_names[] = {
    { "token_embd.weight", "model.embed_tokens.weight" },
    { "output_norm.weight", "model.norm.weight" },
    { "output.weight", "lm_head.weight" },
};
enum { N_PARTS = sizeof part_names / sizeof *part_names, N_WHOLES = sizeof whole_names / sizeof *whole_names };

static int gguf_name(const char *name, char *out, size_t n)
{
    int layer = 0, at = 0;
    for (int i = 0; i < N_WHOLES; i++)
        if (!strcmp(name, whole_names[i].from)) return snprintf(out, n, "%s", whole_names[i].to) > 0;
    if (sscanf(name, "blk.%4d.%n", &layer, &at) != 1 || !at) return 0;
    for (int i = 0; i < N_PARTS; i++) {
        const size_t len = strlen(part_names[i].from);
        if (!strncmp(name + at, part_names[i].from, len))
            return snprintf(out, n, "model.layers.%d.%s%s", layer, part_names[i].to, name + at + len) < (int)n;
    }
    return 0;
}

int lm_gguf_name(const char *name, char *out, size_t n)
{
    int layer = 0, at = 0;
    for (int i = 0; i < N_WHOLES; i++)
        if (!strcmp(name, whole_names[i].to)) return snprintf(out, n, "%s", whole_names[i].from) > 0;
    if (sscanf(name, "model.layers.%4d.%n", &layer, &at) != 1 || !at) return 0;
    for (int i = 0; i < N_PARTS; i++) {
        const size_t len = strlen(part_names[i].to);
        if (!strncmp(name + at, part_names[i].to, len))
            return snprintf(out, n, "blk.%d.%s%s", layer, part_names[i].from, name + at + len) < (int)n;
    }
    return 0;
}

/* Strips the prefix of a multimodal model's text part. Models without a head have no prefix. */
static const char *bare(const char *name)
{
    static const char *const before[] = { "language_model.model.", "model.language_model." };
    for (int i = 0; i < 2; i++)
        if (!strncmp(name, before[i], strlen(before[i]))) return name + strlen(before[i]);
    return NULL;
}

static int nested_name(const char *name, char *out, size_t n)
{
    const char *rest = bare(name);
    if (rest) return snprintf(out, n, "model.%s", rest) < (int)n;
    static const char *const first[] = { "embed_tokens.", "layers.", "norm." };
    for (int i = 0; i < 3; i++)
        if (!strncmp(name, first[i], strlen(first[i]))) return snprintf(out, n, "model.%s", name) < (int)n;
    if (!strcmp(name, "language_model.lm_head.weight")) return snprintf(out, n, "lm_head.weight") < (int)n;
    return 0;
}

/* A single norm after attention is the one before the feed-forward network. */
static int single_norm_name(const char *name, char *out, size_t n)
{
    int layer = 0, at = 0;
    if (sscanf(name, "model.layers.%4d.post_attention_layernorm.weight%n", &layer, &at) != 1 || !at || name[at]) return 0;
    return snprintf(out, n, "model.layers.%d.pre_feedforward_layernorm.weight", layer) < (int)n;
}

static int rename_tensors(const struct lm_words *q, struct weights *w)
{
    int rc = weights_rename(w, q->is_gguf ? gguf_name : nested_name, q->e);
    if (!rc && !q->is_gguf && !(q->arch->flags & LM_POST_NORMS)) rc = weights_rename(w, single_norm_name, q->e);
    return rc;
}

/* ---- settings that change the network, with one served value -------------------------------------------------------------------- */

/* The first Gemma's files say gelu, and mean GELU by tanh. */
static int check_act(const struct lm_words *q)
{
    static const char *const named[] = { "hidden_act", "hidden_activation" };
    const int is_gelu = (q->arch->flags & LM_GELU) != 0;
    for (int i = 0; i < 2; i++) {
        char key[WORD_SZ];
        const char *at = word(key, q, named[i], NULL), *act = at ? meta_text(&q->w->meta, at, NULL) : NULL;
        if (!act) continue;
        const int tanh_or_old = !strcmp(act, "gelu_pytorch_tanh") || !strcmp(act, "gelu_new") || (!i && !strcmp(act, "gelu"));
        const int served = is_gelu ? tanh_or_old : !strcmp(act, "silu") || !strcmp(act, "swish");
        if (!served) return refuse(q, at, act, is_gelu ? "gelu_pytorch_tanh" : "silu");
    }
    return STENO_OK;
}

int lm_is_local(const struct lm_dims *d, int32_t layer)
{
    return d->window && d->pattern && layer % d->pattern != d->pattern - 1;
}

/* Is there a window in layers without a list? Qwen3 has one by default. */
static int is_windowed(const struct lm_dims *d, const struct lm_words *q, int *yes)
{
    static const struct whole from = { "max_window_layers", NULL, 0, INT32_MAX, 1, 0 };
    enum { USUAL_FIRST = 28 };
    int32_t first = USUAL_FIRST;
    char window[WORD_SZ];
    const int rc = read_whole(&first, q, &from);
    *yes = q->type->window && word(window, q, "sliding_window", NULL) && first < d->layers;
    return rc;
}

/* Which layers have a window: by a list, or from one layer on. */
static int check_windows(const struct lm_dims *d, const struct lm_words *q)
{
    int has_list = 0, yes = 0;
    for (int32_t i = 0; i < d->layers; i++) {
        char key[WORD_SZ], type[32];
        const char *const want = lm_is_local(d, i) ? "sliding_attention" : "full_attention";
        snprintf(type, sizeof type, "layer_types.%d", (int)i);
        const char *at = word(key, q, type, NULL), *is = at ? meta_text(&q->w->meta, at, want) : want;
        has_list |= at && meta_find(&q->w->meta, at);
        if (strcmp(is, want) != 0) return refuse(q, at, is, want);
    }
    if (q->is_gguf || has_list || q->arch->flags & LM_WINDOWS) return STENO_OK;
    const int rc = is_windowed(d, q, &yes);
    return rc || !yes ? rc : check_flag(q, "use_sliding_window", NULL, 0);
}

static int check_network(const struct lm_dims *d, const struct lm_words *q)
{
    static const char *const turned[] = { "partial_rotary_factor", "rope_parameters.partial_rotary_factor" };
    int rc = check_act(q);
    if (!rc) rc = check_windows(d, q);
    if (!rc) rc = check_flag(q, "use_bidirectional_attention", NULL, 0);
    if (!rc) rc = check_flag(q, NULL, "attention.causal", 1);
    for (int i = 0; i < 2 && !rc; i++) {
        double part = 1;
        rc = read_number(&part, q, turned[i], NULL, 0, 1);
        if (!rc && part < 1)
            rc = err_set(q->e, STENO_EUNSUPPORTED, "%s: %s%s is %g: heads that turn in part are not served", q->w->name, q->nested,
                         turned[i], part);
    }
    return rc;
}

/* ---- all settings -------------------------------------------------------------------------------------------------------------- */

/* GGUF files omit the factor of the scores and the logit cap if they are the default. */
static int read_scores(struct lm_dims *d, const struct lm_words *q)
{
    double before = !q->is_gguf && q->type->pre_attn > 0 ? q->type->pre_attn : d->d_head, scale = 0, cap = 0;
    int rc = read_number(&before, q, "query_pre_attn_scalar", NULL, 1e-6, 1e6);
    if (!rc) rc = read_number(&scale, q, NULL, "attention.scale", 0, 1e6);
    if (!rc) rc = read_number(&d->logit_cap, q, "final_logit_softcapping", "final_logit_softcapping", 0, 1e6);
    if (!rc) rc = read_number(&cap, q, "attn_logit_softcapping", "attn_logit_softcapping", 0, 1e6);
    if (!rc && cap > 0)
        rc = err_set(q->e, STENO_EUNSUPPORTED, "%s: scores of attention are capped at %g, which is not served", q->w->name, cap);
    d->attn_scale = scale > 0 ? scale : 1 / sqrt(before);
    return rc;
}

static int read_sizes(struct lm_dims *d, const struct lm_words *q, struct weights *w)
{
    const struct tensor *tokens = weights_find(w, "model.embed_tokens.weight");
    if (!tokens)
        return err_set(q->e, STENO_EFORMAT, "%s: the embedding of tokens, %s, is missing", w->name,
                       q->is_gguf ? "token_embd.weight" : "model.embed_tokens.weight");
    if (tokens->dim[0] < 1 || tokens->dim[0] > INT32_MAX / 2)
        return err_set(q->e, STENO_EFORMAT, "%s: an embedding of %llu tokens", w->name, (unsigned long long)tokens->dim[0]);
    d->n_vocab = (int32_t)tokens->dim[0];
    d->has_qkv_bias = weights_find(w, "model.layers.0.self_attn.q_proj.bias") != NULL;
    const struct meta_entry *tied = meta_find(&w->meta, q->nested[0] ? "text_config.tie_word_embeddings" : "tie_word_embeddings");
    const int has_head = weights_find(w, "lm_head.weight") != NULL;
    d->is_tied = q->is_gguf || !tied || tied->kind != META_BOOL ? !has_head || (!q->is_gguf && q->arch->flags & LM_TIED) : tied->i != 0;
    return STENO_OK;
}

int lm_dims_read(struct lm_dims *d, const struct lm_arch *arch, struct weights *w, steno_error *e)
{
    const int is_gguf = meta_find(&w->meta, "general.architecture") != NULL;
    const struct lm_type *type = find_type(w, arch);
    const struct lm_words q = { w, arch, type ? type : arch->types, is_gguf, !is_gguf && is_nested(w) ? "text_config." : "", e };
    *d = (struct lm_dims){ .is_gguf = is_gguf, .eps = 1e-6, .pattern = arch->pattern, .ctx = 2048 };
    int rc = read_shape(d, &q);
    if (!rc) rc = read_number(&d->eps, &q, "rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-30, 1);
    if (!rc) rc = read_rope(d, &q);
    if (!rc) rc = read_scores(d, &q);
    if (!rc) rc = rename_tensors(&q, w);
    if (!(arch->flags & LM_WINDOWS) || !d->window) d->window = d->pattern = 0;
    if (!rc) rc = check_network(d, &q);
    return rc ? rc : read_sizes(d, &q, w);
}
