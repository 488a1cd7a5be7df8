/* steno: names of a Whisper model's tensors. SPDX-License-Identifier: MIT */
#include "model/whisper_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/strided.h"
#include "model/whisper_ct2.h"

struct name_pair { const char *other, *openai; };

/* If two rows have the same openai/whisper name, the first is used for writing. */
static const struct name_pair part[] = {
    { "self_attn.q_proj.", "attn.query." }, { "self_attn.k_proj.", "attn.key." }, { "self_attn.v_proj.", "attn.value." },
    { "self_attn.out_proj.", "attn.out." }, { "self_attn_layer_norm.", "attn_ln." },
    { "encoder_attn.q_proj.", "cross_attn.query." }, { "encoder_attn.k_proj.", "cross_attn.key." },
    { "encoder_attn.v_proj.", "cross_attn.value." }, { "encoder_attn.out_proj.", "cross_attn.out." },
    { "encoder_attn_layer_norm.", "cross_attn_ln." }, { "fc1.", "mlp.0." }, { "fc2.", "mlp.2." }, { "final_layer_norm.", "mlp_ln." },
    { "mlp1.", "mlp.0." }, { "mlp2.", "mlp.2." }, /* MLX's */
};

static const struct name_pair whole[] = {
    { "encoder.embed_positions.weight", "encoder.positional_embedding" },
    { "decoder.embed_positions.weight", "decoder.positional_embedding" },
    { "decoder.embed_tokens.weight", "decoder.token_embedding.weight" },
    { "encoder.layer_norm.weight", "encoder.ln_post.weight" }, { "encoder.layer_norm.bias", "encoder.ln_post.bias" },
    { "decoder.layer_norm.weight", "decoder.ln.weight" },      { "decoder.layer_norm.bias", "decoder.ln.bias" },
};

enum way { FROM_OTHERS, TO_TRANSFORMERS };

static const char *side_of(const struct name_pair *p, enum way way, int is_result)
{
    return (way == FROM_OTHERS) == !is_result ? p->other : p->openai;
}

static int translate(const char *name, char *out, size_t n, enum way way)
{
    const char *prefix = way == TO_TRANSFORMERS ? "model." : "", *layers = way == TO_TRANSFORMERS ? "layers" : "blocks";
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strcmp(name, side_of(&whole[i], way, 0))) return snprintf(out, n, "%s%s", prefix, side_of(&whole[i], way, 1)) < (int)n;
    int layer = 0, at = 0;
    char side[8], word[8];
    if (sscanf(name, "%7[a-z].%7[a-z].%4d.%n", side, word, &layer, &at) == 3 && at)
        for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
            const char *from = side_of(&part[i], way, 0), *rest = name + at + strlen(from);
            if (!strncmp(name + at, from, strlen(from)))
                return snprintf(out, n, "%s%s.%s.%d.%s%s", prefix, side, layers, layer, side_of(&part[i], way, 1), rest) < (int)n;
        }
    return snprintf(out, n, "%s%s", prefix, name) < (int)n;
}

int whisper_name_from_others(const char *name, char *out, size_t n)
{
    return translate(strncmp(name, "model.", 6) ? name : name + 6, out, n, FROM_OTHERS);
}

int whisper_name_to_transformers(const char *name, char *out, size_t n)
{
    return translate(name, out, n, TO_TRANSFORMERS);
}

/* ---- the list ---------------------------------------------------------------------------------------------------------------- */

/* How the dimensions of a tensor follow from the ten numbers: D the width, F four times that. */
enum extent { NONE, D, F, MELS, TAPS, AUDIO, TEXT, VOCAB, EXTENTS };

struct tensor_row { const char *name; uint8_t extent[3]; };

static const struct tensor_row encoder_head[] = {
    { "encoder.positional_embedding", { AUDIO, D } }, { "encoder.conv1.weight", { D, MELS, TAPS } }, { "encoder.conv1.bias", { D } },
    { "encoder.conv2.weight", { D, D, TAPS } },       { "encoder.conv2.bias", { D } },               { NULL, { 0 } },
};
static const struct tensor_row encoder_tail[] = { { "encoder.ln_post.weight", { D } }, { "encoder.ln_post.bias", { D } }, { NULL, { 0 } } };
static const struct tensor_row decoder_head[] = {
    { "decoder.positional_embedding", { TEXT, D } }, { "decoder.token_embedding.weight", { VOCAB, D } }, { NULL, { 0 } },
};
static const struct tensor_row decoder_tail[] = { { "decoder.ln.weight", { D } }, { "decoder.ln.bias", { D } }, { NULL, { 0 } } };

#define ATTENTION(name)                                                                                                        \
    { name ".query.weight", { D, D } }, { name ".query.bias", { D } }, { name ".key.weight", { D, D } },                       \
    { name ".value.weight", { D, D } }, { name ".value.bias", { D } }, { name ".out.weight", { D, D } }, { name ".out.bias", { D } }, \
    { name "_ln.weight", { D } }, { name "_ln.bias", { D } }
#define MLP                                                                                                                    \
    { "mlp.0.weight", { F, D } }, { "mlp.0.bias", { F } }, { "mlp.2.weight", { D, F } }, { "mlp.2.bias", { D } },              \
    { "mlp_ln.weight", { D } }, { "mlp_ln.bias", { D } }
static const struct tensor_row encoder_block[] = { ATTENTION("attn"), MLP, { NULL, { 0 } } };
static const struct tensor_row decoder_block[] = { ATTENTION("attn"), ATTENTION("cross_attn"), MLP, { NULL, { 0 } } };

struct lister {
    struct weights *w;
    uint64_t extent[EXTENTS];
    steno_error *e;
};

/* Lists the rows of a table, with a prefix before each name, and marks the tensors as used. */
static int mark_rows(struct lister *l, const char *prefix, const struct tensor_row *row)
{
    for (; row->name; row++) {
        char name[96];
        const uint64_t dim[4] = { l->extent[row->extent[0]], l->extent[row->extent[1]], l->extent[row->extent[2]], 0 };
        snprintf(name, sizeof name, "%s%s", prefix, row->name);
        struct tensor *t;
        const int rc = weights_get(l->w, name, dim, &t, l->e);
        if (rc) return rc;
    }
    return STENO_OK;
}

static int mark_blocks(struct lister *l, const char *side, int32_t n, const struct tensor_row *row)
{
    int rc = STENO_OK;
    for (int32_t i = 0; i < n && !rc; i++) {
        char prefix[48];
        snprintf(prefix, sizeof prefix, "%s.blocks.%d.", side, (int)i);
        rc = mark_rows(l, prefix, row);
    }
    return rc;
}

static int mark_all(struct lister *l, const struct whisper_dims *d)
{
    int rc = mark_rows(l, "", encoder_head);
    if (!rc) rc = mark_blocks(l, "encoder", d->n_audio_layer, encoder_block);
    if (!rc) rc = mark_rows(l, "", encoder_tail);
    if (!rc) rc = mark_rows(l, "", decoder_head);
    if (!rc) rc = mark_blocks(l, "decoder", d->n_text_layer, decoder_block);
    return rc ? rc : mark_rows(l, "", decoder_tail);
}

int whisper_tensors_list(struct whisper_tensors *out, struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    const uint64_t width = (uint64_t)d->n_audio_state;
    struct lister l = { w, { [D] = width, [F] = 4 * width, [MELS] = (uint64_t)d->n_mels, [TAPS] = 3, [AUDIO] = (uint64_t)d->n_audio_ctx,
                             [TEXT] = (uint64_t)d->n_text_ctx, [VOCAB] = (uint64_t)d->n_vocab }, e };
    *out = (struct whisper_tensors){ .tensor = arena_array(&w->arena, w->n_tensors, sizeof *out->tensor) };
    if (!out->tensor) return err_nomem(e, w->n_tensors * sizeof *out->tensor, "the list of tensors");
    for (uint32_t i = 0; i < w->n_tensors; i++) w->tensor[i].used = 0;
    const int rc = mark_all(&l, d);
    for (uint32_t i = 0; i < w->n_tensors && !rc; i++)
        if (w->tensor[i].used) out->tensor[out->n++] = &w->tensor[i];
    return rc;
}

/* ---- other programs' forms -------------------------------------------------------------------------------------------------------- */

/* ---- positions ----------------------------------------------------------------------------------------------------------------- */

/* A table [ctx, 2 * half] that is computed when it is read: sines of the position times each frequency, then cosines. */
struct positions {
    struct file file;
    enum dtype type;
    uint64_t half;
    float *frequency; /* [half] */
};

/* Rounded to f32 in each step, as in openai/whisper. */
static float position_value(const struct positions *p, uint64_t i)
{
    const uint64_t column = i % (2 * p->half);
    const float angle = (float)(i / (2 * p->half)) * p->frequency[column % p->half];
    return (float)(column < p->half ? sin((double)angle) : cos((double)angle));
}

/* Only whole numbers are read. */
static int positions_read(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    const struct positions *p = user;
    const size_t elem = dtype_row_sz(p->type, 1);
    uint8_t *out = dst;
    if (off % elem || n % elem) return err_set(e, STENO_EARG, "%s: half a number of the positions was asked for", p->file.name);
    for (uint64_t i = off / elem, end = i + n / elem; i < end; i++, out += elem) {
        const float x = position_value(p, i);
        quantize_row(out, p->type, &x, 1);
    }
    return STENO_OK;
}

/* Uses the type of the decoder's positions: in f16 files both are f16. */
static int add_positions(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    static const char name[] = "encoder.positional_embedding";
    if (weights_find(w, name)) return STENO_OK;
    const struct tensor *other = weights_find(w, "decoder.positional_embedding");
    const uint64_t ctx = (uint64_t)d->n_audio_ctx, half = (uint64_t)d->n_audio_state / 2;
    struct positions *p = arena_alloc(&w->arena, sizeof *p);
    struct tensor *t = p ? weights_add(w, e) : NULL;
    float *frequency = t ? arena_array(&w->arena, half, sizeof *frequency) : NULL;
    if (!frequency) return err_nomem(e, half * sizeof *frequency, "positions");
    const float step = (float)(-log(10000.0) / (half > 1 ? (double)(half - 1) : 1));
    for (uint64_t i = 0; i < half; i++) frequency[i] = (float)exp((double)(step * (float)i));
    *p = (struct positions){ .type = other ? other->type : DT_F32, .half = half, .frequency = frequency };
    const uint64_t size = ctx * dtype_row_sz(p->type, (size_t)(2 * half));
    p->file = (struct file){ .name = w->name, .size = size, .fd = -1, .read = positions_read, .user = p };
    *t = (struct tensor){ .name = name, .type = p->type, .n_dims = 2, .dim = { ctx, 2 * half, 1, 1 }, .file = &p->file, .size = size };
    return STENO_OK;
}

/* ---- MLX ----------------------------------------------------------------------------------------------------------------------- */

static int is_mlx(struct weights *w)
{
    return weights_find(w, "encoder.blocks.0.mlp1.weight") != NULL;
}

/* Transposes filters that are stored tap by tap. */
static int turn_filter(struct weights *w, const char *name, int32_t channels, steno_error *e)
{
    enum { FILTER_TAPS = 3 };
    struct tensor *t = weights_find(w, name);
    const uint64_t c = (uint64_t)channels;
    if (!t || t->n_dims != 3 || t->dim[1] != FILTER_TAPS || t->dim[2] != c) return STENO_OK;
    return tensor_stride(t, w, (uint64_t[4]){ t->dim[0], c, FILTER_TAPS, 1 }, (uint64_t[4]){ FILTER_TAPS * c, 1, c, 1 }, e);
}

static int from_mlx(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    int rc = turn_filter(w, "encoder.conv1.weight", d->n_mels, e);
    if (!rc) rc = turn_filter(w, "encoder.conv2.weight", d->n_audio_state, e);
    return rc ? rc : add_positions(w, d, e);
}

int whisper_respell(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    if (w->has_shape) return STENO_OK; /* files with a stored shape have openai/whisper's names */
    if (whisper_spelling_of(w) == WHISPER_CT2) return whisper_from_ct2(w, d, e);
    const int rc = is_mlx(w) ? from_mlx(w, d, e) : STENO_OK;
    return rc ? rc : weights_rename(w, whisper_name_from_others, e);
}
