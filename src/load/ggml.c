/* steno: reader of whisper.cpp .bin files. SPDX-License-Identifier: MIT
 *
 * Magic, eleven numbers, the mel filters, the vocabulary, then tensor records up to the end of the file; little-endian, no padding. No
 * count is trusted: each is checked against its range and against the remaining bytes before memory is allocated for it. A hostile file
 * therefore costs no more than a small multiple of its own size. A message names the field, string or tensor that is wrong. */
#include "load/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/ggml_records.h"
#include "load/ggml_type.h"
#include "load/vocab_list.h"

enum {
    N_BINS = 201, /* columns of the filters: bins of a 400-point FFT */
    N_HEADER = 10
};

static int read_type(struct ggml *g)
{
    const int32_t ftype = rd_i32(&g->r);
    if (g->r.err) return ggml_cut(g, "the header (ftype)");
    const int32_t kind = ftype < 0 ? -2 : ftype % 1000; /* thousands: version of the block layouts, informational */
    g->w->matrix_type = ggml_ftype_find(kind);
    if (g->w->matrix_type != DT_COUNT) return STENO_OK;
    return err_set(g->e, STENO_EFORMAT, "%s: header: ftype %d is unknown; f32, f16, q4_0, q4_1, q5_0, q5_1, q8_0 and q2_k to q6_k are read",
                   g->path, ftype);
}

/* The header's numbers become settings of the same names. Two of them count the sections that follow. */
static int read_header(struct ggml *g)
{
    static const char *const name[N_HEADER] = { "n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer",
                                                "n_text_ctx", "n_text_state", "n_text_head", "n_text_layer", "n_mels" };
    char where[1024];
    snprintf(where, sizeof where, "%s: header", g->path);
    const char *source = arena_strdup(&g->w->arena, where, strlen(where));
    if (!source) return err_nomem(g->e, strlen(where), "the header");
    rd_skip(&g->r, 4); /* magic: ggml_match has checked it */
    for (int i = 0; i < N_HEADER; i++) {
        const int32_t v = rd_i32(&g->r);
        const struct meta_entry it = { .key = name[i], .kind = META_INT, .i = v, .source = source };
        const int rc = meta_add(&g->w->meta, &it, g->e);
        if (rc) return rc;
        if (i == 0) g->n_vocab = v;
        else if (i == N_HEADER - 1) g->n_mels = v;
    }
    if (g->r.err) return ggml_cut(g, "the header");
    g->w->has_shape = 1;
    if (g->n_vocab < 1 || g->n_vocab > VOCAB_IDS)
        return err_set(g->e, STENO_EFORMAT, "%s: n_vocab is %d, want 1..%d", where, (int)g->n_vocab, VOCAB_IDS);
    if (g->n_mels != 80 && g->n_mels != 128)
        return err_set(g->e, STENO_EFORMAT, "%s: n_mels is %d, want 80 or 128", where, (int)g->n_mels);
    return read_type(g);
}

static int read_filters(struct ggml *g)
{
    const int32_t n_mel = rd_i32(&g->r), n_fft = rd_i32(&g->r);
    if (g->r.err) return ggml_cut(g, "the mel filters' shape");
    if (n_mel != g->n_mels || n_fft != N_BINS)
        return err_set(g->e, STENO_EFORMAT, "%s: mel filters are [%d, %d], want [%d, %d] (n_mel, n_fft)", g->path, n_mel, n_fft,
                       g->n_mels, N_BINS);
    const size_t n = (size_t)n_mel * N_BINS;
    float *f = arena_array(&g->w->arena, n, sizeof *f);
    if (!f) return err_nomem(g->e, n * sizeof *f, "mel filters");
    for (size_t i = 0; i < n; i++) {
        f[i] = rd_f32(&g->r);
        if (!isfinite(f[i]))
            return err_set(g->e, STENO_EFORMAT, "%s: mel filter [%zu, %zu] is not finite", g->path, i / N_BINS, i % N_BINS);
    }
    if (g->r.err) return ggml_cut(g, "the mel filters");
    g->w->mel_filters = f;
    return STENO_OK;
}

/* Read the lengths first, so that all strings share one block; then the bytes. */
static int read_vocab(struct ggml *g)
{
    struct weights *w = g->w;
    struct rd *r = &g->r;
    const int32_t n = rd_i32(r);
    if (r->err) return ggml_cut(g, "the vocabulary's size");
    if (n < 1 || n > g->n_vocab)
        return err_set(g->e, STENO_EFORMAT, "%s: vocabulary has %d strings, want 1..%d (n_vocab)", g->path, n, g->n_vocab);
    if ((uint64_t)n * 4 > rd_left(r))
        return err_set(g->e, STENO_EFORMAT, "%s: vocabulary has %d strings, but only %" PRIu64 " bytes are left", g->path, n, rd_left(r));
    w->vocab = arena_array(&w->arena, (size_t)n, sizeof *w->vocab);
    if (!w->vocab) return err_nomem(g->e, (size_t)n * sizeof *w->vocab, "the vocabulary");

    const uint64_t start = r->pos;
    size_t total = 0;
    for (int32_t i = 0; i < n; i++) {
        const uint32_t len = rd_u32(r);
        if (!r->err && len > VOCAB_STRING)
            return err_set(g->e, STENO_EFORMAT, "%s: vocabulary string %d before byte %" PRIu64 " has length %" PRIu32 ", want at most %d",
                           g->path, i, r->pos, len, VOCAB_STRING);
        rd_skip(r, len);
        if (r->err) return ggml_cut(g, "the vocabulary");
        w->vocab[i].n = len;
        total += len;
    }
    uint8_t *s = arena_alloc(&w->arena, total);
    if (!s) return err_nomem(g->e, total, "the vocabulary");
    const uint64_t end = r->end;
    rd_init(r, &w->source.file, start, end);
    for (int32_t i = 0; i < n; i++) {
        rd_skip(r, 4);
        rd_bytes(r, s, w->vocab[i].n);
        w->vocab[i].s = s;
        s += w->vocab[i].n;
    }
    if (r->err) return ggml_cut(g, "the vocabulary");
    w->n_vocab_entries = (uint32_t)n;
    return STENO_OK;
}

/* The type that a tensor must have: matrices as in the header, convolutions f16, vectors and positions f32. */
static enum dtype wanted_type(const struct weights *w, const struct tensor *t, enum dtype type)
{
    (void)type;
    static const char *const kept[] = { "encoder.conv1.bias", "encoder.conv2.bias", "encoder.positional_embedding",
                                        "decoder.positional_embedding" };
    if (t->n_dims == 3) return w->matrix_type == DT_F32 ? DT_F32 : DT_F16;
    if (t->n_dims != 2) return DT_F32;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strcmp(t->name, kept[i])) return DT_F32;
    return w->matrix_type;
}

static int ggml_match(const struct kind *k, const struct file *f)
{
    (void)f;
    return k->form == KIND_GGML;
}

static int ggml_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct ggml g = { .w = w, .path = w->name, .e = e, .least_dims = 1, .wanted = wanted_type,
                      .wanted_why = " by the header's ftype" };
    rd_init(&g.r, f, 0, f->size);
    int rc = read_header(&g);
    if (!rc) rc = read_filters(&g);
    if (!rc) rc = read_vocab(&g);
    if (!rc) rc = ggml_read_records(&g);
    return rc;
}

const struct format format_ggml = { "whisper.cpp .bin", ggml_match, ggml_read };
