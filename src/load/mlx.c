/* steno: folders quantised by MLX. SPDX-License-Identifier: MIT
 *
 * A matrix [n, k] is stored as 32-bit words [n, k * bits / 32] that hold weights of 2 to 8 bits in sequence. Each group of 32, 64 or 128
 * weights has a scale and an offset: weight = scale * q + offset. config.json gives the bits and the group length, for all matrices or for
 * one by the name of its module. Matrices that are not quantised are stored as in other folders. */
#include "load/mlx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SZ = 320 };

struct join {
    struct weights *w;
    const struct tensor *t; /* the words */
    char module[NAME_SZ];   /* NAME */
    steno_error *e;
};

/* A setting of the module, or else of all modules. */
static const struct meta_entry *setting(const struct join *j, const char *what)
{
    char key[2 * NAME_SZ];
    snprintf(key, sizeof key, "quantization.%s.%s", j->module, what);
    const struct meta_entry *it = meta_find(&j->w->meta, key);
    snprintf(key, sizeof key, "quantization.%s", what);
    return it ? it : meta_find(&j->w->meta, key);
}

static int read_number(const struct join *j, const char *what, int64_t usual, int64_t *out)
{
    const struct meta_entry *it = setting(j, what);
    *out = it ? it->i : usual;
    if (!it || it->kind == META_INT) return STENO_OK;
    return err_set(j->e, STENO_EFORMAT, "%s: quantization of %s: %s is not a whole number", it->source, j->module, what);
}

static int read_settings(const struct join *j, enum tensor_form *form, int64_t *len)
{
    char key[2 * NAME_SZ];
    int64_t bits = 0;
    const struct meta_entry *mode = setting(j, "mode");
    if (mode && (mode->kind != META_TEXT || strcmp(mode->text, "affine") != 0))
        return err_set(j->e, STENO_EUNSUPPORTED, "%s: weights of %s are quantised in the mode %.40s; affine is read:"
                                                 " quantise the model again",
                       mode->source, j->module, mode->kind == META_TEXT ? mode->text : "?");
    snprintf(key, sizeof key, "quantization.%s", j->module);
    const struct meta_entry *off = meta_find(&j->w->meta, key);
    if (off && off->kind == META_BOOL && !off->i)
        return err_set(j->e, STENO_EFORMAT, "%s: %s is not quantised, but %s is of words", off->source, j->module, j->t->name);
    int rc = read_number(j, "bits", 4, &bits);
    if (!rc) rc = read_number(j, "group_size", 64, len);
    *form = form_with_bits(bits);
    if (!rc && *form == FORM_STORED)
        rc = err_set(j->e, STENO_EFORMAT, "%s: quantization of %s: bits is %" PRId64 ", want 2, 3, 4, 5, 6 or 8", j->w->name, j->module,
                     bits);
    if (!rc && *len != 32 && *len != 64 && *len != 128)
        rc = err_set(j->e, STENO_EFORMAT, "%s: quantization of %s: group_size is %" PRId64 ", want 32, 64 or 128", j->w->name, j->module,
                     *len);
    return rc;
}

static int check_scales(const struct join *j, const struct tensor *s, uint64_t groups)
{
    if (s->type != DT_F32 && s->type != DT_F16 && s->type != DT_BF16)
        return err_set(j->e, STENO_EFORMAT, "%s: tensor %s is %s, want f16, bf16 or f32", j->w->name, s->name, dtype_name(s->type));
    if (s->n_dims != 2)
        return err_set(j->e, STENO_EFORMAT, "%s: tensor %s has %d dimensions, want [%" PRIu64 ", %" PRIu64 "]", j->w->name, s->name,
                       s->n_dims, j->t->dim[0], groups);
    if (s->dim[0] == j->t->dim[0] && s->dim[1] == groups) return STENO_OK;
    return err_set(j->e, STENO_EFORMAT, "%s: tensor %s is [%" PRIu64 ", %" PRIu64 "], but the words of %s want [%" PRIu64 ", %" PRIu64 "]",
                   j->w->name, s->name, s->dim[0], s->dim[1], j->t->name, j->t->dim[0], groups);
}

/* The tensor of the module named by `what`. */
static struct tensor *beside(const struct join *j, const char *what)
{
    char name[NAME_SZ + 16];
    snprintf(name, sizeof name, "%s.%s", j->module, what);
    struct tensor *t = weights_find(j->w, name);
    return t && t->form == FORM_STORED ? t : NULL;
}

static int join_words(const struct join *j, struct tensor *t, struct tensor *scale, struct tensor *offset)
{
    enum tensor_form form = FORM_STORED;
    int64_t len = 0;
    int rc = read_settings(j, &form, &len);
    if (rc) return rc;
    const uint64_t bits = t->dim[1] * 32, k = bits / (uint64_t)form_bits(form);
    if (k * (uint64_t)form_bits(form) != bits || k % (uint64_t)len)
        return err_set(j->e, STENO_EFORMAT, "%s: tensor %s has rows of %" PRIu64 " words, no whole groups of %" PRId64
                       " weights of %d bits", j->w->name, t->name, t->dim[1], len, form_bits(form));
    rc = check_scales(j, scale, k / (uint64_t)len);
    if (!rc) rc = check_scales(j, offset, k / (uint64_t)len);
    if (!rc && scale->type != offset->type)
        rc = err_set(j->e, STENO_EFORMAT, "%s: tensor %s is %s, but %s is %s", j->w->name, scale->name, dtype_name(scale->type),
                     offset->name, dtype_name(offset->type));
    struct tensor_groups *g = rc ? NULL : arena_alloc(&j->w->arena, sizeof *g);
    if (!rc && !g) return err_nomem(j->e, sizeof *g, "the index of tensors");
    if (rc) return rc;
    *g = (struct tensor_groups){ scale->type, (uint32_t)len, { scale->file, offset->file }, { scale->offset, offset->offset } };
    t->form = form;
    t->type = form_of_groups(form, 1);
    t->dim[1] = k;
    t->groups = g;
    scale->form = offset->form = FORM_WORDS; /* both leave the index */
    return STENO_OK;
}

static int join_tensor(struct weights *w, struct tensor *t, steno_error *e)
{
    struct join j = { .w = w, .t = t, .e = e };
    const size_t n = strlen(t->name) - strlen(".weight");
    if (n >= NAME_SZ) return err_set(e, STENO_EFORMAT, "%s: tensor %.80s has too long a name", w->name, t->name);
    memcpy(j.module, t->name, n);
    struct tensor *scale = beside(&j, "scales"), *offset = beside(&j, "biases");
    if (scale && offset) return join_words(&j, t, scale, offset);
    enum tensor_form form;
    int64_t len;
    const int rc = setting(&j, "bits") || setting(&j, "mode") ? read_settings(&j, &form, &len) : STENO_OK;
    if (rc || (!scale && !offset && !setting(&j, "bits"))) return rc; /* words that are not MLX weights */
    return err_set(e, STENO_EFORMAT, "%s: tensor %s.%s is missing, which the words of %s need", w->name, j.module,
                   scale ? "biases" : "scales", t->name);
}

int mlx_join(struct weights *w, steno_error *e)
{
    uint32_t n = 0, any = 0;
    for (uint32_t i = 0; i < w->n_tensors; i++) any |= w->tensor[i].form == FORM_WORDS;
    int rc = any ? weights_index(w, e) : STENO_OK;
    for (uint32_t i = 0; i < w->n_tensors && any && !rc; i++)
        if (w->tensor[i].form == FORM_WORDS && w->tensor[i].n_dims == 2 && !w->tensor[i].used) rc = join_tensor(w, &w->tensor[i], e);
    for (uint32_t i = 0; i < w->n_tensors && any; i++)
        if (w->tensor[i].form != FORM_WORDS) w->tensor[n++] = w->tensor[i];
    if (any) w->n_tensors = n;
    return rc;
}
