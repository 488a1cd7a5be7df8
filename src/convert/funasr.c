/* steno: FunASR's models as GGUF files. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "convert/funasr.h"
#include "load/gguf.h"

void funasr_put_settings(struct gguf_writer *g, const void *shape, const struct funasr_settings *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct funasr_setting *row = &s->row[i];
        int32_t v, u;
        memcpy(&v, (const char *)shape + row->at, sizeof v);
        memcpy(&u, (const char *)s->usual + row->at, sizeof u);
        if (row->gguf && (!(row->optional & FUNASR_GGUF) || v != u)) gguf_put_u32(g, row->gguf, (uint32_t)v);
    }
}

static int is_filter(const struct tensor *t)
{
    return strstr(t->name, "fsmn_block.") != NULL;
}

enum { QUERIES = 16 /* an embedding with at most this number of rows holds queries; a larger one holds words */ };

static int is_matrix(const struct tensor *t)
{
    static const char *const other[] = { "norm", "fsmn", "predictor" };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strstr(t->name, other[i])) return 0;
    if (!strncmp(t->name, "embed.", 6) && t->dim[0] <= QUERIES) return 0;
    return t->n_dims == 2 && t->dim[0] > 1 && t->dim[1] > 1;
}

/* Mean and variance come before all other tensors. A decoder's embedding is only for training, unless hot words use it. */
static int is_apart(const struct tensor *t)
{
    return !strcmp(t->name, funasr_spare[0]) || !strcmp(t->name, funasr_spare[1]) || (!t->used && !strncmp(t->name, "decoder.embed.", 14));
}

static enum dtype type_of(const struct tensor *t, enum dtype type)
{
    return is_matrix(t) && t->dim[1] % (uint64_t)dtype_block(type) == 0 ? type : DT_F32;
}

/* ---- the list ------------------------------------------------------------------------------------------------------------------ */

static int check_tensor(const struct tensor *t, const struct convert_order *o, const struct weights *w, steno_error *e)
{
    if (strlen(t->name) > GGUF_NAME_MAX)
        return err_set(e, STENO_EUNSUPPORTED, "%s: the name of tensor %.80s has more than the %d letters that fit into a GGUF file",
                       w->name, t->name, GGUF_NAME_MAX);
    const enum dtype type = (enum dtype)o->mix->base;
    const int rounds_again = dtype_block(type) > 1 && dtype_block(t->type) > 1 && (t->type != type || t->form != FORM_STORED);
    if (rounds_again && !o->rounds_again && is_matrix(t))
        return err_set(e, STENO_EARG,
                       "%s: tensor %s is %s already, and would be rounded again: make the %s file from the model in f32 or f16", w->name,
                       t->name, form_name(t->form, t->type), dtype_name(type));
    return STENO_OK;
}

/* Dimensions of 1 are only how a convolution is stored. */
static void list_filter(struct gguf_writer *g, const struct tensor *t, int taps_first)
{
    const uint64_t n = t->dim[0], taps = t->dim[1] * t->dim[2] * t->dim[3];
    gguf_put_tensor(g, t->name, DT_F32, taps_first ? (const uint64_t[2]){ n, taps } : (const uint64_t[2]){ taps, n }, 2);
}

static int list_tensors(struct gguf_writer *g, const struct weights *w, int width, const struct convert_order *o)
{
    const uint64_t n_features = (uint64_t)width;
    for (int i = 0; i < 2 && width; i++) gguf_put_tensor(g, funasr_spare[i], DT_F32, &n_features, 1);
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const struct tensor *t = &w->tensor[i];
        const int rc = check_tensor(t, o, w, g->e);
        if (rc) return rc;
        if (is_apart(t)) continue;
        if (is_filter(t)) list_filter(g, t, w->taps_first);
        else gguf_put_tensor(g, t->name, type_of(t, (enum dtype)o->mix->base), t->dim, t->n_dims);
    }
    return STENO_OK;
}

/* ---- the bytes ----------------------------------------------------------------------------------------------------------------- */

static int write_filter(struct gguf_writer *g, const struct tensor *t, int taps_first)
{
    const size_t n = (size_t)t->dim[0], taps = (size_t)(t->dim[1] * t->dim[2] * t->dim[3]);
    if (taps_first) return gguf_write_tensor(g, t, &(struct tensor_change){ .type = DT_F32 });
    float *v = malloc(2 * n * taps * sizeof *v), *turned = v ? v + n * taps : NULL;
    int rc = v ? tensor_read_f32(t, v, g->e) : err_nomem(g->e, 2 * n * taps * sizeof *v, "a filter");
    for (size_t i = 0; i < n * taps && !rc; i++) turned[i % taps * n + i / taps] = v[i];
    if (!rc) rc = gguf_write_data(g, turned, n * taps * sizeof *v);
    free(v);
    return rc ? rc : gguf_write_pad(g);
}

static int write_cmvn(struct gguf_writer *g, struct weights *w, int width)
{
    if (!width) return gguf_write_header(g);
    struct arena scratch;
    float *list[2];
    arena_init(&scratch);
    int rc = funasr_read_cmvn(w, width, &scratch, &list[0], &list[1], g->e);
    if (!rc) rc = gguf_write_header(g); /* written as late as possible, after all checks */
    for (int i = 0; i < 2 && !rc; i++) {
        rc = gguf_write_data(g, list[i], (size_t)width * sizeof *list[i]);
        if (!rc) rc = gguf_write_pad(g);
    }
    arena_free(&scratch);
    return rc;
}

/* Copies author and licence of the model. */
static void put_origin(struct gguf_writer *g, const struct meta *m)
{
    static const char prefix[] = "general.";
    for (uint32_t i = 0; i < m->n; i++) {
        const struct meta_entry *it = &m->entry[i];
        if (it->kind == META_TEXT && !strncmp(it->key, prefix, sizeof prefix - 1) && strcmp(it->key, "general.architecture") != 0)
            gguf_put_text(g, it->key, it->text);
    }
}

int funasr_write_weights(struct gguf_writer *g, struct weights *w, int width, const struct convert_order *o)
{
    const enum dtype type = (enum dtype)o->mix->base;
    put_origin(g, &w->meta);
    int rc = list_tensors(g, w, width, o);
    if (!rc) rc = write_cmvn(g, w, width);
    for (uint32_t i = 0; i < w->n_tensors && !rc; i++) {
        const struct tensor *t = &w->tensor[i];
        if (is_apart(t)) continue;
        rc = is_filter(t) ? write_filter(g, t, w->taps_first)
                          : gguf_write_tensor(g, t, &(struct tensor_change){ .type = type_of(t, type) });
    }
    return rc;
}
