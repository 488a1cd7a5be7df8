/* steno: GGUF models with random weights. SPDX-License-Identifier: MIT */
#include "convert/gguf_random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/gguf.h"

enum { TENSORS_MAX = 2048, NAME_SZ = 96 };

struct random_tensor { uint64_t n; enum dtype type; struct random_fill fill; };

static int take_header(void *user, const void *data, size_t n)
{
    uint8_t *p = random_file_bytes(user, n);
    if (p) memcpy(p, data, n);
    return p == NULL;
}

void funasr_random_begin(struct funasr_random *f, struct random_file *r, struct arena *a, const char *architecture, enum dtype type,
                         uint64_t seed, steno_error *e)
{
    *f = (struct funasr_random){ .r = r, .to = { .write = take_header, .user = r }, .type = type };
    f->tensor = arena_array(a, TENSORS_MAX, sizeof *f->tensor);
    random_file_init(r, a, 2 * TENSORS_MAX, seed);
    gguf_begin(&f->g, architecture, &f->to, e);
}

void funasr_random_vocab(struct funasr_random *f, const char *key, uint32_t n)
{
    static const char *const first[] = { "<unk>", "<s>", "</s>" };
    struct vocab_entry *v = arena_array(f->r->arena, n, sizeof *v);
    for (uint32_t i = 0; v && i < n; i++) {
        char word[16];
        const int len = snprintf(word, sizeof word, "w%u", (unsigned)i);
        v[i] = (struct vocab_entry){ .s = (const uint8_t *)arena_strdup(f->r->arena, i < 3 ? first[i] : word,
                                                                        i < 3 ? strlen(first[i]) : (size_t)len) };
        if (!v[i].s) v = NULL;
        else v[i].n = (uint32_t)strlen((const char *)v[i].s);
    }
    if (v) gguf_put_vocab(&f->g, key, v, n);
    else f->tensor = NULL;
}

static void add(struct funasr_random *f, const char *name, enum dtype type, const uint64_t *dim, int n_dims, struct random_fill fill)
{
    uint64_t n = 1;
    for (int i = 0; i < n_dims; i++) n *= dim[i];
    if (!f->tensor || f->n == TENSORS_MAX) return;
    f->tensor[f->n++] = (struct random_tensor){ n, type, fill };
    gguf_put_tensor(&f->g, name, type, dim, n_dims);
}

void random_tensor(struct funasr_random *f, const char *name, const uint64_t *dim, int n_dims, struct random_fill fill)
{
    add(f, name, DT_F32, dim, n_dims, fill);
}

struct full_name { char s[NAME_SZ]; };
static struct full_name name_of(const char *prefix, const char *name, const char *suffix)
{
    struct full_name x;
    snprintf(x.s, sizeof x.s, "%s%s%s.%s", prefix, *prefix ? "." : "", name, suffix);
    return x;
}

void random_scale(struct funasr_random *f, const char *prefix, const char *name, uint64_t n)
{
    random_tensor(f, name_of(prefix, name, "weight").s, &n, 1, (struct random_fill){ 1, 0.1f });
}

static void add_bias(struct funasr_random *f, const char *prefix, const char *name, uint64_t n, float spread)
{
    random_tensor(f, name_of(prefix, name, "bias").s, &n, 1, (struct random_fill){ 0, spread });
}

void random_norm(struct funasr_random *f, const char *prefix, const char *name, uint64_t d)
{
    random_scale(f, prefix, name, d);
    add_bias(f, prefix, name, d, 0.1f);
}

/* This spread keeps the size of activations through the layers. */
void random_plain(struct funasr_random *f, const char *prefix, const char *name, uint64_t n, uint64_t k)
{
    const enum dtype type = k % (uint64_t)dtype_block(f->type) ? DT_F32 : f->type;
    add(f, name_of(prefix, name, "weight").s, type, (const uint64_t[]){ n, k }, 2, (struct random_fill){ 0, 1 / sqrtf((float)k) });
}

void random_matrix(struct funasr_random *f, const char *prefix, const char *name, uint64_t n, uint64_t k)
{
    random_plain(f, prefix, name, n, k);
    add_bias(f, prefix, name, n, 0.02f);
}

void random_filter(struct funasr_random *f, const char *prefix, const char *name, uint64_t n, uint64_t taps)
{
    random_tensor(f, name_of(prefix, name, "weight").s, (const uint64_t[]){ taps, n }, 2, (struct random_fill){ 0, 0.1f });
}

void random_cmvn(struct funasr_random *f, uint64_t width)
{
    random_tensor(f, "cmvn.shift", &width, 1, (struct random_fill){ -12, 1 });
    random_tensor(f, "cmvn.scale", &width, 1, (struct random_fill){ 0.15f, 0.01f });
}

void random_sanm_layer(struct funasr_random *f, const char *prefix, const struct random_sanm *s, uint64_t d_in)
{
    random_norm(f, prefix, "norm1", d_in);
    random_matrix(f, prefix, "self_attn.linear_q_k_v", 3 * s->d, d_in);
    random_filter(f, prefix, "self_attn.fsmn_block", s->d, s->taps);
    random_matrix(f, prefix, "self_attn.linear_out", s->d, s->d);
    random_norm(f, prefix, "norm2", s->d);
    random_matrix(f, prefix, "feed_forward.w_1", s->d_ff, s->d);
    random_matrix(f, prefix, "feed_forward.w_2", s->d, s->d_ff);
}

static void random_sanm_layers(struct funasr_random *f, const struct random_sanm *s, const char *list, int32_t layers, const char *norm)
{
    char prefix[NAME_SZ];
    for (int32_t i = 0; i < layers; i++) {
        snprintf(prefix, sizeof prefix, "encoder.%s.%d", list, (int)i);
        random_sanm_layer(f, prefix, s, s->d);
    }
    random_norm(f, "encoder", norm, s->d);
}

void random_sanm_encoder(struct funasr_random *f, const struct random_sanm *s, uint64_t width, int32_t layers, int32_t more_layers)
{
    random_sanm_layer(f, "encoder.encoders0.0", s, width);
    random_sanm_layers(f, s, "encoders", layers - 1, "after_norm");
    if (more_layers) random_sanm_layers(f, s, "tp_encoders", more_layers, "tp_norm");
}

int funasr_random_end(struct funasr_random *f, struct file *file, steno_error *e)
{
    int rc = f->tensor ? gguf_write_header(&f->g) : err_nomem(e, TENSORS_MAX * sizeof *f->tensor, "a random model");
    for (uint32_t i = 0; !rc && i < f->n; i++) {
        const struct random_tensor *t = &f->tensor[i];
        random_file_weights(f->r, t->type, t->fill.mean, t->fill.spread, t->n);
        f->g.out.at += dtype_row_sz(t->type, (size_t)t->n);
        rc = gguf_write_pad(&f->g);
    }
    gguf_end(&f->g);
    if (rc == STENO_ECANCELED) rc = err_nomem(e, 0, "a random model"); /* the sink had no memory */
    return rc ? rc : random_file_end(f->r, file, "random model", e);
}
