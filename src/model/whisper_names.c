/* steno: names of a Whisper model's tensors. SPDX-License-Identifier: MIT */
#include "model/whisper_names.h"

#include <stdio.h>
#include <string.h>

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

struct row { const char *name; uint8_t extent[3]; };

static const struct row encoder_head[] = {
    { "encoder.positional_embedding", { AUDIO, D } }, { "encoder.conv1.weight", { D, MELS, TAPS } }, { "encoder.conv1.bias", { D } },
    { "encoder.conv2.weight", { D, D, TAPS } },       { "encoder.conv2.bias", { D } },               { NULL, { 0 } },
};
static const struct row encoder_tail[] = { { "encoder.ln_post.weight", { D } }, { "encoder.ln_post.bias", { D } }, { NULL, { 0 } } };
static const struct row decoder_head[] = {
    { "decoder.positional_embedding", { TEXT, D } }, { "decoder.token_embedding.weight", { VOCAB, D } }, { NULL, { 0 } },
};
static const struct row decoder_tail[] = { { "decoder.ln.weight", { D } }, { "decoder.ln.bias", { D } }, { NULL, { 0 } } };

#define ATTENTION(name)                                                                                                        \
    { name ".query.weight", { D, D } }, { name ".query.bias", { D } }, { name ".key.weight", { D, D } },                       \
    { name ".value.weight", { D, D } }, { name ".value.bias", { D } }, { name ".out.weight", { D, D } }, { name ".out.bias", { D } }, \
    { name "_ln.weight", { D } }, { name "_ln.bias", { D } }
#define MLP                                                                                                                    \
    { "mlp.0.weight", { F, D } }, { "mlp.0.bias", { F } }, { "mlp.2.weight", { D, F } }, { "mlp.2.bias", { D } },              \
    { "mlp_ln.weight", { D } }, { "mlp_ln.bias", { D } }
static const struct row encoder_block[] = { ATTENTION("attn"), MLP, { NULL, { 0 } } };
static const struct row decoder_block[] = { ATTENTION("attn"), ATTENTION("cross_attn"), MLP, { NULL, { 0 } } };

struct lister {
    struct weights *w;
    uint64_t extent[EXTENTS];
    steno_error *e;
};

/* Lists the rows of a table, with a prefix before each name, and marks the tensors as used. */
static int mark_rows(struct lister *l, const char *prefix, const struct row *row)
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

static int mark_blocks(struct lister *l, const char *side, int32_t n, const struct row *row)
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
