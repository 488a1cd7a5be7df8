/* steno tests: a Whisper model in CTranslate2's form. SPDX-License-Identifier: MIT
 *
 * Writes the content of a whisper.cpp file as model.bin, config.json and a vocabulary. Names, stacks and the rounding to integers are
 * implemented a second time here, for the writer's side. */
#ifndef STENO_TESTS_CT2_FOLDER_H
#define STENO_TESTS_CT2_FOLDER_H
#include <math.h>
#include "api/random_model.h"
#include "spell.h"

enum ct2_integers { CT2_PLAIN, CT2_INT8, CT2_INT16 };
enum ct2_vocab { CT2_JSON, CT2_LINES, CT2_LINES_CRLF, CT2_NO_VOCAB };

struct ct2_how {
    int type;                    /* DT_F32, DT_F16 or DT_BF16: of everything that is not an integer */
    enum ct2_integers integers;
    int dequantised;             /* 1: matrices are rounded to integers, and stored as the rounded numbers in f32 */
    int activation;              /* 0: GELU, else its number */
    uint32_t revision;           /* of the specification; 0: that of Whisper, 3 */
    int swapped;                 /* 1: keys come before queries, which is wrong */
    int untied;                  /* 1: the matrix of the logits is stored by itself; 2: and is another one */
    enum ct2_vocab vocab;
    uint32_t words_left_out;     /* of the vocabulary */
    const char *heads;           /* alignment_heads of config.json; NULL: there is no config.json */
};

/* ---- records ------------------------------------------------------------------------------------------------------------------- */

static inline void ct2_le(struct buf *b, uint64_t v, int n)
{
    for (int i = 0; i < n; i++) buf_add(b, &(uint8_t){ (uint8_t)(v >> 8 * i) }, 1);
}

static inline void ct2_text(struct buf *b, const char *s)
{
    ct2_le(b, strlen(s) + 1, 2);
    buf_add(b, s, strlen(s) + 1);
}

struct ct2_file { struct buf records; uint32_t n; uint64_t width; };

static inline void ct2_variable(struct ct2_file *f, const char *name, const uint64_t *dim, int rank, int type, const struct buf *data)
{
    ct2_text(&f->records, name);
    ct2_le(&f->records, (uint64_t)rank, 1);
    for (int i = 0; i < rank; i++) ct2_le(&f->records, dim[i], 4);
    ct2_le(&f->records, (uint64_t)type, 1);
    ct2_le(&f->records, data->len, 4);
    buf_add(&f->records, data->p, data->len);
    f->n++;
}

static inline void ct2_scalar(struct ct2_file *f, const char *name, int type, int64_t v)
{
    struct buf b = { 0 };
    ct2_le(&b, (uint64_t)v, type == 1 ? 1 : 2);
    ct2_variable(f, name, NULL, 0, type, &b);
    buf_free(&b);
}

static inline void ct2_floats(struct ct2_file *f, const char *name, const float *x, const uint64_t *dim, int rank, int type)
{
    struct buf b = { 0 };
    uint64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dim[i];
    for (uint64_t i = 0; i < n; i++) {
        const uint16_t h = type == DT_BF16 ? bf16_from_f32(x[i]) : f16_from_f32(x[i]);
        buf_add(&b, type == DT_F32 ? (const void *)&x[i] : (const void *)&h, type == DT_F32 ? 4 : 2);
    }
    ct2_variable(f, name, dim, rank, type == DT_F32 ? 0 : type == DT_F16 ? 4 : 5, &b);
    buf_free(&b);
}

/* Rounds x to integers of one scale; x receives the values that they represent. */
static inline float ct2_round(struct buf *to, float *x, uint64_t n, enum ct2_integers as)
{
    float max = 0;
    for (uint64_t i = 0; i < n; i++) max = fmaxf(max, fabsf(x[i]));
    const float scale = (as == CT2_INT8 ? 127 : 1024) / (max > 0 ? max : 127);
    for (uint64_t i = 0; i < n; i++) {
        const float q = nearbyintf(x[i] * scale);
        ct2_le(to, (uint64_t)(int64_t)q, as == CT2_INT8 ? 1 : 2);
        x[i] = q / scale;
    }
    return scale;
}

static inline void ct2_matrix(struct ct2_file *f, const char *name, float *x, const uint64_t *dim, int rank, const struct ct2_how *h)
{
    struct buf q = { 0 };
    char of_scales[128];
    uint64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dim[i];
    if (h->integers == CT2_PLAIN) {
        ct2_floats(f, name, x, dim, rank, h->type);
        return;
    }
    float *scale = malloc((size_t)dim[0] * sizeof *scale);
    assert_non_null(scale);
    const uint64_t rows = h->integers == CT2_INT8 ? dim[0] : 1;
    for (uint64_t r = 0; r < rows; r++) scale[r] = ct2_round(&q, x + r * (n / rows), n / rows, h->integers);
    snprintf(of_scales, sizeof of_scales, "%s_scale", name);
    if (h->dequantised) ct2_floats(f, name, x, dim, rank, DT_F32);
    else {
        ct2_variable(f, name, dim, rank, h->integers == CT2_INT8 ? 1 : 2, &q);
        ct2_floats(f, of_scales, scale, &rows, h->integers == CT2_INT8, DT_F32);
    }
    buf_free(&q);
    free(scale);
}

/* ---- tensors ------------------------------------------------------------------------------------------------------------------- */

static inline const struct tensor *ct2_tensor(const struct weights *w, const char *name)
{
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!strcmp(w->tensor[i].name, name)) return &w->tensor[i];
    return NULL;
}

/* A stack of tensors PREFIX + part[i] + END. A missing one, the bias of keys, is zeros. */
static inline void ct2_stack(struct ct2_file *f, const struct weights *w, const char *to, const char *prefix, const char *const *part,
                             const char *end, const struct ct2_how *h)
{
    float *x = NULL;
    uint64_t n = 0, dim[3] = { 0 };
    int rank = 1;
    for (int i = 0; i < 3 && part[i]; i++) {
        char name[128];
        steno_error e;
        snprintf(name, sizeof name, "%s%s%s", prefix, part[i], end);
        const struct tensor *t = ct2_tensor(w, name);
        const uint64_t rows = t ? t->dim[0] : f->width, count = t ? rows * t->dim[1] * t->dim[2] : rows;
        assert_true(t || !strcmp(end, "bias"));
        if (t && !strstr(end, "bias")) rank = t->n_dims;
        for (int k = 1; k < rank; k++) dim[k] = t->dim[k];
        dim[0] += rows;
        x = realloc(x, (size_t)(n + count) * sizeof *x);
        assert_non_null(x);
        if (t && tensor_read_f32(t, x + n, &e)) fail_msg("%s", e.text);
        for (uint64_t k = 0; !t && k < count; k++) x[n + k] = 0;
        n += count;
    }
    if (strstr(end, "weight") && rank > 1) ct2_matrix(f, to, x, dim, rank, h);
    else ct2_floats(f, to, x, dim, rank, h->type);
    free(x);
}

static inline void ct2_both(struct ct2_file *f, const struct weights *w, const char *to, const char *prefix, const char *const *part,
                            const struct ct2_how *h)
{
    const int is_norm = strstr(to, "layer_norm") != NULL;
    for (int i = 0; i < 2; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/%s", to, is_norm ? (i ? "beta" : "gamma") : i ? "bias" : "weight");
        ct2_stack(f, w, name, prefix, part, i ? "bias" : "weight", h);
    }
}

static inline void ct2_layer(struct ct2_file *f, const struct weights *w, const char *side, int i, const struct ct2_how *h)
{
    static const struct { const char *to, *part[4]; } row[] = {
        { "self_attention/layer_norm", { "attn_ln." } }, { "self_attention/linear_0", { "attn.query.", "attn.key.", "attn.value." } },
        { "self_attention/linear_1", { "attn.out." } },  { "ffn/layer_norm", { "mlp_ln." } },
        { "ffn/linear_0", { "mlp.0." } },                { "ffn/linear_1", { "mlp.2." } },
        { "attention/layer_norm", { "cross_attn_ln." } }, { "attention/linear_0", { "cross_attn.query." } },
        { "attention/linear_1", { "cross_attn.key.", "cross_attn.value." } }, { "attention/linear_2", { "cross_attn.out." } },
    };
    char prefix[64], to[96];
    snprintf(prefix, sizeof prefix, "%s.blocks.%d.", side, i);
    for (size_t k = 0; k < (strcmp(side, "decoder") ? 6 : sizeof row / sizeof *row); k++) {
        const char *const *part = row[k].part, *const swapped[] = { part[1], part[0], part[2], NULL };
        snprintf(to, sizeof to, "%s/layer_%d/%s", side, i, row[k].to);
        ct2_both(f, w, to, prefix, h->swapped && k == 1 ? swapped : part, h);
    }
}

static inline void ct2_projection(struct ct2_file *f, const struct weights *w, const struct ct2_how *h)
{
    const struct tensor *t = ct2_tensor(w, "decoder.token_embedding.weight");
    const uint64_t n = t->dim[0] * t->dim[1];
    float *x = malloc((size_t)n * sizeof *x);
    steno_error e;
    assert_non_null(x);
    if (tensor_read_f32(t, x, &e)) fail_msg("%s", e.text);
    if (h->untied == 2) x[n - 1] += 1;
    ct2_matrix(f, "decoder/projection/weight", x, t->dim, 2, h);
    free(x);
}

/* ---- the folder ---------------------------------------------------------------------------------------------------------------- */

static inline void ct2_words(const struct folder *d, const struct weights *w, const struct ct2_how *h)
{
    const struct whisper_dims m = stored_dims(w);
    struct token_roles roles;
    struct arena a;
    struct buf b = { 0 };
    steno_error e;
    if (h->vocab == CT2_NO_VOCAB) return;
    arena_init(&a);
    if (whisper_tokens_init(&roles, m.n_vocab, &e)) fail_msg("%s", e.text);
    for (int32_t i = 0; i < m.n_vocab - (int32_t)h->words_left_out; i++) {
        struct buf word = { 0 };
        uint32_t n = 0;
        if (i >= roles.eot) {
            const char *text = whisper_token_text(&roles, i, &a, &n);
            buf_add(&word, text, n);
        } else spell_string(&word, w->vocab[i].s, w->vocab[i].n);
        if (h->vocab == CT2_JSON) buf_str(&b, i ? ", \"" : "[\"");
        for (size_t k = 0; k < word.len; k++) { /* spell_string writes for JSON */
            static const char escape[] = "\\u00";
            if (h->vocab != CT2_JSON && word.p[k] == '\\' && k + 5 < word.len && !memcmp(word.p + k, escape, 4)) {
                const uint32_t c = (uint32_t)strtoul((const char[]){ (char)word.p[k + 4], (char)word.p[k + 5], 0 }, NULL, 16);
                buf_add(&b, (const char[]){ (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) }, 2);
                k += 5;
            } else if (h->vocab != CT2_JSON && word.p[k] == '\\') buf_add(&b, &word.p[++k], 1);
            else buf_add(&b, &word.p[k], 1);
        }
        buf_str(&b, h->vocab == CT2_JSON ? "\"" : h->vocab == CT2_LINES ? "\n" : "\r\n");
        buf_free(&word);
    }
    if (h->vocab == CT2_JSON) buf_str(&b, "]");
    folder_put(d, h->vocab == CT2_JSON ? "vocabulary.json" : "vocabulary.txt", b.p, b.len);
    buf_free(&b);
    arena_free(&a);
}

static inline void ct2_model(const struct folder *d, const struct weights *w, const struct ct2_how *h)
{
    static const struct { const char *to, *part[4]; } outside[] = {
        { "encoder/conv1", { "encoder.conv1." } }, { "encoder/conv2", { "encoder.conv2." } },
        { "encoder/layer_norm", { "encoder.ln_post." } }, { "decoder/layer_norm", { "decoder.ln." } },
    };
    static const char *const token[] = { "decoder.token_embedding.", NULL }, *const of[][2] = { { "encoder." }, { "decoder." } };
    const struct whisper_dims m = stored_dims(w);
    struct ct2_file f = { .width = (uint64_t)m.n_audio_state };
    struct buf file = { 0 };
    ct2_stack(&f, w, "decoder/embeddings/weight", "", token, "weight", h);
    if (h->untied) ct2_projection(&f, w, h);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) ct2_both(&f, w, outside[i].to, "", outside[i].part, h);
    ct2_stack(&f, w, "encoder/position_encodings/encodings", "", of[0], "positional_embedding", h);
    ct2_stack(&f, w, "decoder/position_encodings/encodings", "", of[1], "positional_embedding", h);
    for (int i = 0; i < m.n_audio_layer; i++) ct2_layer(&f, w, "encoder", i, h);
    for (int i = 0; i < m.n_text_layer; i++) ct2_layer(&f, w, "decoder", i, h);
    ct2_scalar(&f, "encoder/num_heads", 2, m.n_audio_head);
    ct2_scalar(&f, "decoder/num_heads", 2, m.n_text_head);
    ct2_scalar(&f, "decoder/activation", 1, h->activation ? h->activation : 3);
    ct2_scalar(&f, "decoder/pre_norm", 1, 1);
    ct2_scalar(&f, "decoder/alignment_layer", 2, -1);
    ct2_scalar(&f, "decoder/some_new_option", 1, 7);
    ct2_le(&file, 6, 4);
    ct2_text(&file, "WhisperSpec");
    ct2_le(&file, h->revision ? h->revision : 3, 4);
    ct2_le(&file, f.n, 4);
    buf_add(&file, f.records.p, f.records.len);
    ct2_le(&file, !h->untied, 4);
    if (!h->untied) {
        ct2_text(&file, "decoder/projection/weight");
        ct2_text(&file, "decoder/embeddings/weight");
    }
    assert_false(file.err || f.records.err);
    folder_put(d, "model.bin", file.p, file.len);
    ct2_words(d, w, h);
    buf_free(&file);
    buf_free(&f.records);
    if (!h->heads) return;
    buf_fmt(&file, "{\"alignment_heads\": %s, \"lang_ids\": [50259, 50260], \"suppress_ids_begin\": [220, 50257]}", h->heads);
    folder_put(d, "config.json", file.p, file.len);
    buf_free(&file);
}

/* A model with random weights. */
static inline void ct2_random(const struct folder *d, const struct whisper_dims *dims, const struct ct2_how *h)
{
    const struct bytes b = random_bytes(dims, DT_F32, 5);
    struct weights w;
    struct file f;
    steno_error e;
    file_from_memory(&f, "random", b.p, b.n);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    ct2_model(d, &w, h);
    weights_close(&w);
    free(b.p);
}
#endif
