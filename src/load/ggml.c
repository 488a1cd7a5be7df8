/* steno: reader of whisper.cpp .bin files. SPDX-License-Identifier: MIT
 *
 * Magic, eleven numbers, the mel filters, the vocabulary, then tensor records up to the end of the file; little-endian, no padding
 * anywhere. Nothing is believed: a count is checked against its range and against the bytes left before memory is taken for it, so a
 * hostile file costs no more than a small multiple of its own size. A message says which field, string or tensor is wrong. */
#include "load/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/rd.h"
#include "load/ggml_type.h"
#include "load/vocab_list.h"

enum {
    N_BINS = 201,              /* columns of the filters: bins of a 400-point FFT */
    MAX_NAME = 255,
    MAX_TENSORS = 1 << 16,     /* the largest model has 1,259 */
    N_HEADER = 10
};

struct ggml {
    struct weights *w;
    const char *path;
    steno_error *e;
    struct rd r;
    int32_t n_vocab, n_mels; /* of the header */
};

/* The reader's failure in words. */
static int cut(struct ggml *g, const char *where)
{
    if (g->r.err != STENO_EFORMAT)
        return err_set(g->e, g->r.err, "%s: read failed at byte %" PRIu64 ", in %s", g->path, g->r.pos, where);
    return err_set(g->e, STENO_EFORMAT, "%s: the file ends at byte %" PRIu64 ", inside %s; is the copy complete?", g->path, g->r.end,
                   where);
}

static int read_type(struct ggml *g)
{
    const int32_t ftype = rd_i32(&g->r);
    if (g->r.err) return cut(g, "the header (ftype)");
    const int32_t kind = ftype < 0 ? -2 : ftype % 1000; /* thousands: version of the block layouts, informational */
    g->w->matrix_type = ggml_ftype_find(kind);
    if (g->w->matrix_type != DT_COUNT) return STENO_OK;
    return err_set(g->e, STENO_EFORMAT, "%s: header: ftype %d is unknown; f32, f16, q4_0, q4_1, q5_0, q5_1, q8_0 and q2_k to q6_k are read",
                   g->path, ftype);
}

/* Its numbers become settings of their names. Two of them count what follows here. */
static int read_header(struct ggml *g)
{
    static const char *const name[N_HEADER] = { "n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer",
                                                "n_text_ctx", "n_text_state", "n_text_head", "n_text_layer", "n_mels" };
    char where[1024];
    snprintf(where, sizeof where, "%s: header", g->path);
    const char *source = arena_strdup(&g->w->arena, where, strlen(where));
    if (!source) return err_nomem(g->e, strlen(where), "the header");
    rd_skip(&g->r, 4); /* magic: ggml_match has seen it */
    for (int i = 0; i < N_HEADER; i++) {
        const int32_t v = rd_i32(&g->r);
        const struct meta_entry it = { .key = name[i], .kind = META_INT, .i = v, .source = source };
        const int rc = meta_add(&g->w->meta, &it, g->e);
        if (rc) return rc;
        if (i == 0) g->n_vocab = v;
        else if (i == N_HEADER - 1) g->n_mels = v;
    }
    if (g->r.err) return cut(g, "the header");
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
    if (g->r.err) return cut(g, "the mel filters' shape");
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
    if (g->r.err) return cut(g, "the mel filters");
    g->w->mel_filters = f;
    return STENO_OK;
}

/* Lengths first, so that all strings share one block; then the bytes. */
static int read_vocab(struct ggml *g)
{
    struct weights *w = g->w;
    struct rd *r = &g->r;
    const int32_t n = rd_i32(r);
    if (r->err) return cut(g, "the vocabulary's size");
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
        if (r->err) return cut(g, "the vocabulary");
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
    if (r->err) return cut(g, "the vocabulary");
    w->n_vocab_entries = (uint32_t)n;
    return STENO_OK;
}

/* The type a tensor must have: matrices the header's, convolutions f16, vectors and positions f32. */
static enum dtype wanted_type(const struct weights *w, const struct tensor *t)
{
    static const char *const kept[] = { "encoder.conv1.bias", "encoder.conv2.bias", "encoder.positional_embedding",
                                        "decoder.positional_embedding" };
    if (t->n_dims == 3) return w->matrix_type == DT_F32 ? DT_F32 : DT_F16;
    if (t->n_dims != 2) return DT_F32;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strcmp(t->name, kept[i])) return DT_F32;
    return w->matrix_type;
}

static int check_type(struct ggml *g, struct tensor *t, int32_t code)
{
    const enum dtype type = ggml_type_find(code);
    const enum dtype want = wanted_type(g->w, t);
    if (type == DT_COUNT)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has the unknown type %d, want %s", g->path, t->name, code, dtype_name(want));
    if (type != want)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has the type %s, want %s by the header's ftype", g->path, t->name,
                       dtype_name(type), dtype_name(want));
    const uint64_t row = t->dim[t->n_dims - 1];
    if (row % (uint64_t)dtype_block(want))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has rows of %" PRIu64 ", no multiple of the %d of a %s block", g->path, t->name,
                       row, dtype_block(want), dtype_name(want));
    t->type = want;
    return STENO_OK;
}

/* Name of a record: its bytes must be printable, because they go into messages. */
static int read_name(struct ggml *g, struct tensor *t, uint32_t index, size_t n)
{
    char name[MAX_NAME];
    rd_bytes(&g->r, name, n);
    if (g->r.err) return cut(g, "a tensor's name");
    for (size_t i = 0; i < n; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 ": its name has byte 0x%02x at %zu, want printable characters",
                           g->path, index, (unsigned)(uint8_t)name[i], i);
    t->name = arena_strdup(&g->w->arena, name, n);
    return t->name ? STENO_OK : err_nomem(g->e, n, "the name of a tensor");
}

static int read_record(struct ggml *g, struct tensor *t, uint32_t index)
{
    struct rd *r = &g->r;
    const uint64_t at = r->pos;
    const int32_t n_dims = rd_i32(r), name_len = rd_i32(r), code = rd_i32(r);
    if (r->err) return cut(g, "a tensor's record");
    if (n_dims < 1 || n_dims > 4)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": n_dims is %d, want 1..4", g->path, index, at,
                       n_dims);
    if (name_len < 1 || name_len > MAX_NAME)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": name length is %d, want 1..%d", g->path, index, at,
                       name_len, MAX_NAME);
    t->n_dims = n_dims;
    for (int i = 0; i < 4; i++) t->dim[i] = 1;
    uint64_t n = 1;
    for (int i = n_dims - 1; i >= 0; i--) { /* the file begins with the fastest */
        const int32_t extent = rd_i32(r);
        if (!r->err && (extent < 1 || (uint64_t)extent > TENSOR_MAX / n))
            return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": extent %d is out of range", g->path, index, at,
                           extent);
        t->dim[i] = r->err ? 1 : (uint64_t)extent;
        n *= t->dim[i];
    }
    int rc = read_name(g, t, index, (size_t)name_len);
    if (!rc) rc = check_type(g, t, code);
    if (rc) return rc;
    const uint64_t row = t->dim[n_dims - 1];
    t->file = &g->w->source.file;
    t->offset = r->pos;
    t->size = n / row * dtype_row_sz(t->type, (size_t)row);
    if (t->size > rd_left(r))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s needs bytes %" PRIu64 "+%" PRIu64 ", the file ends at %" PRIu64
                       "; is the copy complete?", g->path, t->name, t->offset, t->size, r->end);
    rd_skip(r, t->size);
    return STENO_OK;
}

static int read_tensors(struct ggml *g)
{
    struct weights *w = g->w;
    while (rd_left(&g->r)) {
        if (w->n_tensors == MAX_TENSORS)
            return err_set(g->e, STENO_EFORMAT, "%s: more than %d tensors", g->path, MAX_TENSORS);
        struct tensor *t = weights_add(w, g->e);
        const int rc = t ? read_record(g, t, w->n_tensors - 1) : STENO_ENOMEM;
        if (rc) return rc;
    }
    return g->r.err ? cut(g, "the tensors") : STENO_OK;
}

static int ggml_match(const struct kind *k, const struct file *f)
{
    (void)f;
    return k->form == KIND_GGML;
}

static int ggml_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct ggml g = { .w = w, .path = w->name, .e = e };
    rd_init(&g.r, f, 0, f->size);
    int rc = read_header(&g);
    if (!rc) rc = read_filters(&g);
    if (!rc) rc = read_vocab(&g);
    if (!rc) rc = read_tensors(&g);
    return rc;
}

const struct format format_ggml = { "whisper.cpp .bin", ggml_match, ggml_read };
