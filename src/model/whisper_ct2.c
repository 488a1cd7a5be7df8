/* steno: Whisper models as CTranslate2 stores them. SPDX-License-Identifier: MIT
 *
 * A table maps its names. Where several matrices are stacked, rows of the stack become tensors of their own: they lie one after the other
 * in the file, as do their scales. */
#include "model/whisper_ct2.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PARTS_MAX = 3, NAME_SZ = 96, COMPARED = 1 << 12 };

/* The names of a variable's parts in openai/whisper, from the first row on. */
struct ct2_name { const char *ct2, *openai[PARTS_MAX]; };

static const struct ct2_name in_layer[] = {
    { "self_attention/layer_norm/", { "attn_ln." } },
    { "self_attention/linear_0/", { "attn.query.", "attn.key.", "attn.value." } },
    { "self_attention/linear_1/", { "attn.out." } },
    { "attention/layer_norm/", { "cross_attn_ln." } },
    { "attention/linear_0/", { "cross_attn.query." } },
    { "attention/linear_1/", { "cross_attn.key.", "cross_attn.value." } },
    { "attention/linear_2/", { "cross_attn.out." } },
    { "ffn/layer_norm/", { "mlp_ln." } },
    { "ffn/linear_0/", { "mlp.0." } },
    { "ffn/linear_1/", { "mlp.2." } },
};

static const struct ct2_name outside[] = {
    { "encoder/conv1/", { "encoder.conv1." } },        { "encoder/conv2/", { "encoder.conv2." } },
    { "encoder/layer_norm/", { "encoder.ln_post." } }, { "decoder/layer_norm/", { "decoder.ln." } },
    { "decoder/embeddings/", { "decoder.token_embedding." } },
};

static const char *const positions[] = { "encoder/position_encodings/encodings", "decoder/position_encodings/encodings" };
static const char projection[] = "decoder/projection/weight", embedding[] = "decoder/embeddings/weight";

/* The row of a table whose name begins `name`. *rest: what follows. NULL: none */
static const struct ct2_name *row_find(const struct ct2_name *row, size_t n, const char *name, const char **rest)
{
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(row[i].ct2);
        *rest = name + len;
        if (!strncmp(name, row[i].ct2, len)) return &row[i];
    }
    return NULL;
}

static const char *parameter(const char *name)
{
    return !strcmp(name, "gamma") ? "weight" : !strcmp(name, "beta") ? "bias" : name;
}

/* ---- the new table ------------------------------------------------------------------------------------------------------------- */

struct respelling {
    struct weights *w;
    struct tensor *to; /* [n] */
    uint32_t n;
    steno_error *e;
};

static int add(struct respelling *r, const struct tensor *t, const char *name)
{
    struct tensor *to = &r->to[r->n++];
    *to = *t;
    to->name = arena_strdup(&r->w->arena, name, strlen(name));
    return to->name ? STENO_OK : err_nomem(r->e, strlen(name), "the names of tensors");
}

/* Add part i of n: its rows, and their scales. */
static int add_part(struct respelling *r, const struct tensor *t, int i, int n, const char *name)
{
    struct tensor part = *t;
    part.dim[0] /= (uint64_t)n;
    part.size /= (uint64_t)n;
    part.offset += (uint64_t)i * part.size;
    const uint64_t row = t->dim[1] * t->dim[2] * t->dim[3];
    if (t->groups && t->groups->len == row) {
        struct tensor_groups *g = arena_alloc(&r->w->arena, sizeof *g);
        if (!g) return err_nomem(r->e, sizeof *g, "the index of tensors");
        *g = *t->groups;
        g->offset[0] += (uint64_t)i * part.dim[0] * dtype_row_sz(g->type, 1);
        part.groups = g;
    }
    return add(r, &part, name);
}

/* Keys have no bias in Whisper. Theirs would add the same number to all scores of a query, which softmax does not see. */
static int add_parts(struct respelling *r, const struct tensor *t, const struct ct2_name *row, const char *prefix, const char *rest)
{
    int n = 0, rc = STENO_OK;
    while (n < PARTS_MAX && row->openai[n]) n++;
    if (t->dim[0] % (uint64_t)n)
        return err_set(r->e, STENO_EFORMAT, "%s: variable %s has %" PRIu64 " rows, want a multiple of %d: it is a stack of matrices",
                       r->w->name, t->name, t->dim[0], n);
    for (int i = 0; i < n && !rc; i++) {
        char name[NAME_SZ];
        snprintf(name, sizeof name, "%s%s%s", prefix, row->openai[i], parameter(rest));
        if (strstr(row->openai[i], ".key.") && !strcmp(rest, "bias")) continue;
        rc = add_part(r, t, i, n, name);
    }
    return rc;
}

static int add_tensor(struct respelling *r, const struct tensor *t)
{
    char side[8], prefix[32] = "", name[NAME_SZ];
    const char *rest;
    int layer = 0, at = 0;
    if (!strcmp(t->name, projection)) return STENO_OK;
    for (int i = 0; i < 2; i++)
        if (!strcmp(t->name, positions[i])) {
            snprintf(name, sizeof name, "%.7s.positional_embedding", t->name);
            return add(r, t, name);
        }
    const struct ct2_name *row = row_find(outside, sizeof outside / sizeof *outside, t->name, &rest);
    if (!row && sscanf(t->name, "%7[a-z]/layer_%4d/%n", side, &layer, &at) == 2 && at) {
        row = row_find(in_layer, sizeof in_layer / sizeof *in_layer, t->name + at, &rest);
        snprintf(prefix, sizeof prefix, "%s.blocks.%d.", side, layer);
    }
    return row ? add_parts(r, t, row, prefix, rest) : add(r, t, t->name); /* an unknown name is refused later as unused */
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------------- */

static int same_numbers(const struct tensor *a, const struct tensor *b, int *same, steno_error *e)
{
    uint8_t x[COMPARED], y[COMPARED];
    *same = a->type == b->type && a->form == b->form && a->size == b->size && a->n_dims == b->n_dims;
    if (a->file == b->file && a->offset == b->offset) return STENO_OK;
    for (uint64_t at = 0, n; at < a->size && *same; at += n) {
        n = a->size - at < COMPARED ? a->size - at : COMPARED;
        int rc = file_read(a->file, a->offset + at, x, (size_t)n, e);
        if (!rc) rc = file_read(b->file, b->offset + at, y, (size_t)n, e);
        if (rc) return rc;
        *same = !memcmp(x, y, (size_t)n);
    }
    return STENO_OK;
}

/* Logits are products with the token embedding. */
static int check_tied(struct weights *w, steno_error *e)
{
    const struct tensor *logits = weights_find(w, projection), *tokens = weights_find(w, embedding);
    int same = 0;
    if (!logits || !tokens)
        return err_set(e, STENO_EFORMAT, "%s: variable %s is missing", w->name, tokens ? projection : embedding);
    const int rc = same_numbers(logits, tokens, &same, e);
    if (rc || same) return rc;
    return err_set(e, STENO_EUNSUPPORTED, "%s: %s differs from %s; Whisper models use one matrix for both", w->name, projection, embedding);
}

/* The numbers become settings, as those in the header of a whisper.cpp file. */
static int add_dims(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    int rc = STENO_OK;
    for (int i = 0; i < WHISPER_DIMS && !rc; i++) {
        int32_t v;
        memcpy(&v, (const char *)d + whisper_dim[i].at, sizeof v);
        const struct meta_entry it = { .key = whisper_dim[i].name, .kind = META_INT, .i = v, .source = w->name };
        rc = meta_add(&w->meta, &it, e);
    }
    return rc;
}

int whisper_from_ct2(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    int rc = check_tied(w, e);
    if (rc) return rc;
    struct respelling r = { .w = w, .to = arena_array(&w->arena, (size_t)w->n_tensors * PARTS_MAX, sizeof *r.to), .e = e };
    if (!r.to) return err_nomem(e, (size_t)w->n_tensors * PARTS_MAX * sizeof *r.to, "the index of tensors");
    for (uint32_t i = 0; i < w->n_tensors && !rc; i++) rc = add_tensor(&r, &w->tensor[i]);
    if (rc) return rc;
    w->tensor = r.to;
    w->cap_tensors = w->n_tensors * PARTS_MAX;
    w->n_tensors = r.n;
    rc = add_dims(w, d, e);
    return rc ? rc : weights_index(w, e);
}
