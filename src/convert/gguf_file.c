/* steno: the tensors of a GGUF file. SPDX-License-Identifier: MIT */
#include "convert/gguf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/utf8.h"
#include "convert/imatrix.h"
#include "convert/type_mix.h"
#include "load/gguf.h"

enum { NAME_SZ = 320 };

/* A tensor to write. */
struct gguf_item {
    const struct tensor *t;
    const char *name;
    uint64_t dim[4];
    int n_dims;
    int32_t layer; /* -1: not of a layer */
    struct tensor_change change;
    enum dtype requested;
};

struct list {
    struct gguf_writer *g;
    struct weights *w;
    const struct gguf_file *f;
    const struct convert_order *o;
    struct gguf_item *item; /* [n] from the arena of w */
    uint32_t n;
};

/* ---- selection ------------------------------------------------------------------------------------------------------------------- */

static int add(struct list *l, const struct tensor *t, const char *name)
{
    int layer;
    if (strlen(name) > GGUF_NAME_MAX)
        return err_set(l->g->e, STENO_EUNSUPPORTED, "%s: the name of tensor %.80s has more than the %d letters that fit into a GGUF file",
                       l->w->name, name, GGUF_NAME_MAX);
    struct gguf_item *it = &l->item[l->n++];
    *it = (struct gguf_item){ .t = t, .name = name, .n_dims = t->n_dims, .layer = sscanf(name, "blk.%4d.", &layer) == 1 ? layer : -1 };
    memcpy(it->dim, t->dim, sizeof it->dim);
    if (l->f->extents) it->n_dims = l->f->extents(name, it->dim, it->n_dims);
    if (l->f->turn && (strstr(name, ".attn_q.") || strstr(name, ".attn_k."))) it->change.turn = l->f->turn;
    if (l->f->norms_less_one && text_ends(name, "norm.weight")) it->change.add = 1;
    return STENO_OK;
}

static int by_layer(const void *a, const void *b)
{
    const struct gguf_item *x = a, *y = b;
    return x->layer != y->layer ? (x->layer > y->layer) - (x->layer < y->layer) : strcmp(x->name, y->name);
}

static int collect(struct list *l)
{
    char name[NAME_SZ];
    int rc = STENO_OK;
    l->item = arena_array(&l->w->arena, (size_t)l->w->n_tensors + l->f->n_more + 1, sizeof *l->item);
    if (!l->item) return err_nomem(l->g->e, l->w->n_tensors * sizeof *l->item, "the list of tensors");
    for (uint32_t i = 0; i < l->f->n_more && !rc; i++) rc = add(l, &l->f->more[i], l->f->more[i].name);
    for (uint32_t i = 0; i < l->w->n_tensors && !rc; i++) {
        const struct tensor *t = &l->w->tensor[i];
        const char *is = t->name;
        if (l->f->left_out && !strcmp(is, l->f->left_out)) continue;
        if (l->f->name && !l->f->name(t->name, name, sizeof name)) continue;
        if (l->f->name) is = arena_strdup(&l->w->arena, name, strlen(name));
        rc = is ? add(l, t, is) : err_nomem(l->g->e, sizeof name, "the names of tensors");
    }
    if (!rc) qsort(l->item, l->n, sizeof *l->item, by_layer);
    return rc;
}

/* ---- types ----------------------------------------------------------------------------------------------------------------------- */

static int is_head(const struct list *l, const struct gguf_item *it)
{
    if (!strcmp(it->name, "output.weight")) return 1;
    if (strcmp(it->name, "token_embd.weight") != 0) return 0;
    for (uint32_t i = 0; i < l->n; i++)
        if (!strcmp(l->item[i].name, "output.weight")) return 0;
    return 1;
}

static int check_again(const struct list *l, const struct gguf_item *it)
{
    if (l->o->rounds_again || it->change.type == it->t->type || dtype_block(it->change.type) == 1 || dtype_block(it->t->type) == 1)
        return STENO_OK;
    return err_set(l->g->e, STENO_EARG,
                   "%s: tensor %s is %s already, and would be rounded again, to %s: make the file from the model in f32, f16 or bf16",
                   l->w->name, it->name, form_name(it->t->form, it->t->type), dtype_name(it->change.type));
}

/* Finds the importance of a tensor that is rounded. The token embedding is only looked up, so no importance file has it. */
static int take_importance(const struct list *l, struct gguf_item *it)
{
    uint64_t n = 0;
    const float *v = imatrix_find(l->o->importance, it->name, &n);
    const uint64_t k = it->t->dim[1] * it->t->dim[2] * it->t->dim[3];
    if (!v || dtype_block(it->change.type) == 1) return STENO_OK;
    if (n == k) it->change.importance = v;
    else if (strcmp(it->name, "token_embd.weight") != 0)
        return err_set(l->g->e, STENO_EARG, "%s: imatrix has %llu numbers for %s, whose rows have %llu: it was measured on another model",
                       l->w->name, (unsigned long long)n, it->name, (unsigned long long)k);
    return STENO_OK;
}

static int choose(const struct list *l, struct gguf_item *it)
{
    const struct mix_tensor t = { .name = it->name, .rows = it->dim[0], .k = it->dim[it->n_dims - 1], .layer = it->layer,
                                  .layers = l->f->layers, .is_head = is_head(l, it), .has_importance = l->o->importance != NULL,
                                  .shares_values = l->f->shares_values, .heads_share = l->f->heads_share, .is_pure = l->o->is_pure };
    if (it->n_dims < 2) it->change.type = it->requested = l->f->name ? DT_F32 : it->t->type;
    else if (l->f->type) it->change.type = l->f->type(l->o->mix, &t, &it->requested);
    else if (!mix_may_round(&t)) it->change.type = it->requested = l->f->name ? DT_F32 : it->t->type;
    else it->change.type = mix_type(l->o->mix, &t, &it->requested);
    if (!l->o->rounds_again && dtype_block(it->t->type) > 1 && it->t->type == (enum dtype)l->o->mix->base)
        it->change.type = it->requested = it->t->type; /* more bits would not restore what rounding lost */
    const int rc = check_again(l, it);
    return rc || !l->o->importance ? rc : take_importance(l, it);
}

/* ---- the file ---------------------------------------------------------------------------------------------------------------------- */

static uint64_t size_of(const struct tensor *t, enum dtype type)
{
    return t->dim[0] * dtype_row_sz(type, (size_t)(t->dim[1] * t->dim[2] * t->dim[3]));
}

static int write_item(const struct list *l, uint32_t i)
{
    const struct gguf_item *it = &l->item[i];
    const struct tensor_note note = { it->name, form_name(it->t->form, it->t->type), dtype_name(it->change.type),
                                      it->requested != it->change.type ? dtype_name(it->requested) : NULL, i, l->n, it->t->size,
                                      size_of(it->t, it->change.type) };
    const int rc = bytes_report_tensor(&l->g->out, &note);
    return rc ? rc : gguf_write_tensor(l->g, it->t, &it->change);
}

/* Writes the source of the importance weights under llama.cpp's keys. */
static void put_importance(struct gguf_writer *g, const struct imatrix *m)
{
    if (!m) return;
    gguf_put_text(g, "quantize.imatrix.file", m->name);
    if (m->dataset) gguf_put_text(g, "quantize.imatrix.dataset", m->dataset);
    gguf_put_u32(g, "quantize.imatrix.entries_count", m->n);
    if (m->chunks) gguf_put_u32(g, "quantize.imatrix.chunks_count", m->chunks);
}

int gguf_file_write(struct gguf_writer *g, struct weights *w, const struct gguf_file *f, const struct convert_order *o)
{
    struct list l = { .g = g, .w = w, .f = f, .o = o };
    int rc = weights_settle(w, g->e);
    if (!rc) rc = collect(&l);
    for (uint32_t i = 0; i < l.n && !rc; i++) rc = choose(&l, &l.item[i]);
    if (rc) return rc;
    gguf_put_u32(g, "general.quantization_version", 2);
    gguf_put_u32(g, "general.file_type", o->mix->file);
    put_importance(g, o->importance);
    for (uint32_t i = 0; i < l.n; i++) gguf_put_tensor(g, l.item[i].name, l.item[i].change.type, l.item[i].dim, l.item[i].n_dims);
    rc = gguf_write_header(g);
    for (uint32_t i = 0; i < l.n && !rc; i++) rc = write_item(&l, i);
    return rc;
}

/* The last part of a path. */
static void put_name(struct gguf_writer *g, const char *path)
{
    size_t n = strlen(path), at;
    char name[128];
    while (n && (path[n - 1] == '/' || path[n - 1] == '\\')) n--;
    for (at = n; at && path[at - 1] != '/' && path[at - 1] != '\\';) at--;
    snprintf(name, sizeof name, "%.*s", (int)(n - at < 127 ? n - at : 127), path + at);
    gguf_put_text(g, "general.name", name);
}

void gguf_file_begin(struct gguf_writer *g, const char *architecture, const struct weights *w, const struct model_sink *to,
                     steno_error *e)
{
    const int has_name = *meta_text(&w->meta, "general.name", "") != 0;
    gguf_begin(g, architecture, to, e);
    gguf_put_text(g, "general.type", "model");
    if (!has_name) put_name(g, w->name);
    for (uint32_t i = 0; i < w->meta.n; i++) {
        const struct meta_entry *it = &w->meta.entry[i];
        if (it->kind == META_TEXT && !strncmp(it->key, "general.", 8) && strcmp(it->key, "general.architecture") != 0 &&
            strcmp(it->key, "general.type") != 0)
            gguf_put_text(g, it->key, it->text);
    }
}
