/* steno: readers of whisper.cpp .bin files. SPDX-License-Identifier: MIT */
#include "load/ggml.h"
#include "base/rd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/formats.h"
#include "load/vocab.h"

/* ---- type numbers ----------------------------------------------------------------------------------------------------------------- */

/* ggml numbers the types of tensors and of files differently, and both differ from enum dtype. Only this table maps them. */

enum { IQ4_NL = 20 };

static const struct { int32_t file, tensor; } ggml_code[DT_COUNT] = {
    [DT_F32] = { 0, 0 },    [DT_F16] = { 1, 1 },    [DT_BF16] = { -1, 30 },
    [DT_Q4_0] = { 2, 2 },   [DT_Q4_1] = { 3, 3 },   [DT_Q5_0] = { 8, 6 },   [DT_Q5_1] = { 9, 7 },   [DT_Q8_0] = { 7, 8 },
    [DT_Q2_K] = { 10, 10 }, [DT_Q3_K] = { 11, 11 }, [DT_Q4_K] = { 12, 12 }, [DT_Q5_K] = { 13, 13 }, [DT_Q6_K] = { 14, 14 },
    [DT_IQ4_XS] = { 22, 23 }, [DT_Q4_1F] = { -1, -1 }, [DT_Q8_1F] = { -1, -1 },
};

static const char removed[] = "read by no program any more", unread[] = "not read by this version", inner[] = "no type of weights";
static const struct ggml_other others[] = {
    { 4, "Q4_2", 0, removed },        { 5, "Q4_3", 0, removed },        { 31, "Q4_0_4_4", 0, removed }, { 32, "Q4_0_4_8", 0, removed },
    { 33, "Q4_0_8_8", 0, removed },   { 36, "IQ4_NL_4_4", 0, removed }, { 37, "IQ4_NL_4_8", 0, removed }, { 38, "IQ4_NL_8_8", 0, removed },
    { 9, "Q8_1", 0, inner },          { 15, "Q8_K", 0, inner },         { 16, "IQ2_XXS", 0, unread },   { 17, "IQ2_XS", 0, unread },
    { 18, "IQ3_XXS", 0, unread },     { 19, "IQ1_S", 0, unread },       { 21, "IQ3_S", 0, unread },     { 22, "IQ2_S", 0, unread },
    { 24, "I8", 1, unread },          { 25, "I16", 2, unread },         { 26, "I32", 4, unread },       { 27, "I64", 8, unread },
    { 28, "F64", 0, unread },         { 29, "IQ1_M", 0, unread },       { 34, "TQ1_0", 0, unread },     { 35, "TQ2_0", 0, unread },
};

const struct ggml_other *ggml_other_find(int32_t number)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].code == number) return &others[i];
    return NULL;
}

enum tensor_form ggml_form_find(int32_t number)
{
    return number == IQ4_NL ? FORM_IQ4_NL : number == 39 ? FORM_MXFP4 : FORM_STORED;
}

int32_t ggml_type_code(enum dtype t)
{
    if (t == DT_IQ4_NL) return IQ4_NL;
    return ggml_code[t].tensor;
}

int32_t ggml_ftype_code(enum dtype t)
{
    return ggml_code[t].file;
}

enum dtype ggml_type_find(int32_t number)
{
    int t = 0;
    while (t < DT_COUNT && (number < 0 || ggml_code[t].tensor != number)) t++;
    return (enum dtype)t;
}

enum dtype ggml_ftype_find(int32_t number)
{
    int t = 0;
    while (t < DT_COUNT && (number < 0 || ggml_code[t].file != number)) t++;
    return (enum dtype)t;
}

/* ---- tensors ---------------------------------------------------------------------------------------------------------------------- */

/* After the header, a file has records up to its end: rank, length of the name, type, extents with the fastest first, name, data. The
 * header is read by the reader of the model. */

/* A file during reading. */
struct ggml {
    struct weights *w;
    const char *path;
    steno_error *e;
    struct rd r;
    int32_t n_vocab, n_mels; /* from the header of a speech recognition model */
    int32_t least_dims;      /* minimum rank of a record; 0: a tensor may be one number */
    /* The type that a tensor must have when its record gives `type`. */
    enum dtype (*required)(const struct weights *w, const struct tensor *t, enum dtype type);
    const char *required_why; /* ends the error message about any other type */
};

enum {
    MAX_NAME = 255,
    MAX_TENSORS = 1 << 16 /* the largest model has 1,259 */
};

/* Reports a failed read inside `where`. @return a status */
static int ggml_cut(struct ggml *g, const char *where)
{
    if (g->r.err != STENO_EFORMAT)
        return err_set(g->e, g->r.err, "%s: read failed at byte %" PRIu64 ", in %s", g->path, g->r.pos, where);
    return err_set(g->e, STENO_EFORMAT, "%s: the file ends at byte %" PRIu64 ", inside %s; is the copy complete?", g->path, g->r.end,
                   where);
}

static uint64_t row_of(const struct tensor *t) { return t->dim[t->n_dims - 1]; }

static int check_type(struct ggml *g, struct tensor *t, int32_t code)
{
    const enum dtype type = ggml_type_find(code);
    const enum dtype want = g->required(g->w, t, type);
    if (type == DT_COUNT)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has the unknown type %d, want %s", g->path, t->name, code, dtype_name(want));
    if (type != want)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has the type %s, want %s%s", g->path, t->name, dtype_name(type),
                       dtype_name(want), g->required_why);
    const uint64_t row = row_of(t);
    if (row % (uint64_t)dtype_block(want))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has rows of %" PRIu64 ", no multiple of the %d of a %s block", g->path, t->name,
                       row, dtype_block(want), dtype_name(want));
    t->type = want;
    return STENO_OK;
}

/* Read the name of a record. Its bytes must be printable, because they are used in messages. */
static int read_name(struct ggml *g, struct tensor *t, uint32_t index, size_t n)
{
    char name[MAX_NAME];
    rd_bytes(&g->r, name, n);
    if (g->r.err) return ggml_cut(g, "a tensor's name");
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
    if (r->err) return ggml_cut(g, "a tensor's record");
    if (n_dims < g->least_dims || n_dims > 4)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": n_dims is %d, want %d..4", g->path, index, at,
                       n_dims, g->least_dims);
    if (name_len < 1 || name_len > MAX_NAME)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %" PRIu32 " at byte %" PRIu64 ": name length is %d, want 1..%d", g->path, index, at,
                       name_len, MAX_NAME);
    t->n_dims = n_dims ? n_dims : 1;
    for (int i = 0; i < 4; i++) t->dim[i] = 1;
    uint64_t n = 1;
    for (int i = n_dims - 1; i >= 0; i--) { /* the file stores the fastest first */
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
    const uint64_t row = row_of(t);
    t->file = &g->w->source.file;
    t->offset = r->pos;
    t->size = n / row * dtype_row_sz(t->type, (size_t)row);
    if (t->size > rd_left(r))
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s needs bytes %" PRIu64 "+%" PRIu64 ", the file ends at %" PRIu64
                       "; is the copy complete?", g->path, t->name, t->offset, t->size, r->end);
    rd_skip(r, t->size);
    return STENO_OK;
}

/* Reads records from the current position to the end of the file. */
static int ggml_read_records(struct ggml *g)
{
    struct weights *w = g->w;
    while (rd_left(&g->r)) {
        if (w->n_tensors == MAX_TENSORS)
            return err_set(g->e, STENO_EFORMAT, "%s: more than %d tensors", g->path, MAX_TENSORS);
        struct tensor *t = weights_add(w, g->e);
        const int rc = t ? read_record(g, t, w->n_tensors - 1) : STENO_ENOMEM;
        if (rc) return rc;
    }
    return g->r.err ? ggml_cut(g, "the tensors") : STENO_OK;
}

/* ---- recognition models ----------------------------------------------------------------------------------------------------------- */

/* Magic, eleven numbers, the mel filters, the vocabulary, then tensor records up to the end of the file; little-endian, no padding. No
 * count is trusted: each is checked against its range and against the remaining bytes before memory is allocated for it. A hostile file
 * therefore costs no more than a small multiple of its own size. A message names the field, string or tensor that is wrong. */

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
static enum dtype required_type(const struct weights *w, const struct tensor *t, enum dtype type)
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

static int ggml_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_GGML;
}

static int ggml_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct ggml g = { .w = w, .path = w->name, .e = e, .least_dims = 1, .required = required_type,
                      .required_why = " by the header's ftype" };
    rd_init(&g.r, f, 0, f->size);
    int rc = read_header(&g);
    if (!rc) rc = read_filters(&g);
    if (!rc) rc = read_vocab(&g);
    if (!rc) rc = ggml_read_records(&g);
    return rc;
}

const struct format format_ggml = { "whisper.cpp .bin", ggml_match, ggml_read };

/* ---- models for voice activity ---------------------------------------------------------------------------------------------------- */

/* The magic is the same as a recognition model's. Then follow a name with its length, a version in three numbers, the frame and its
 * context in samples, the convolutions as triples of inputs, outputs and taps, four widths, and tensor records. The name becomes the
 * type of the model, and the numbers become settings of the same names. The code that builds the network compares the tensors with them. */

enum { NAME_SZ = 32, NAME_MAX = 64, CONVS_MAX = 16 };

static int vad_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_GGML_VAD;
}

/* A number of the header, as a setting. */
static int32_t take(struct ggml *g, const char *key, int32_t lo, int32_t hi)
{
    const int32_t v = rd_i32(&g->r);
    const struct meta_entry it = { .key = key, .kind = META_INT, .i = v, .source = g->path };
    if (g->r.err) return 0;
    if (v < lo || v > hi) {
        g->r.err = err_set(g->e, STENO_EUNSUPPORTED, "%s: header: %s is %d, want %d..%d", g->path, key, (int)v, (int)lo, (int)hi);
        return 0;
    }
    const int rc = meta_add(&g->w->meta, &it, g->e);
    if (rc) g->r.err = rc;
    return v;
}

static int vad_read_name(struct ggml *g)
{
    char name[NAME_MAX + 1] = "";
    const struct meta_entry type = { .key = "model_type", .kind = META_TEXT, .text = name, .source = g->path };
    rd_skip(&g->r, 4);
    const uint32_t n = rd_u32(&g->r);
    if (!g->r.err && n > NAME_MAX)
        return err_set(g->e, STENO_EFORMAT, "%s: header: the name has %u bytes, want at most %d", g->path, (unsigned)n, NAME_MAX);
    rd_bytes(&g->r, name, n);
    return g->r.err ? ggml_cut(g, "the header") : meta_add(&g->w->meta, &type, g->e);
}

static int vad_read_header(struct ggml *g)
{
    static const char *const of_conv[] = { "in", "out", "kernel" };
    char key[NAME_SZ];
    const int rc = vad_read_name(g);
    if (rc) return rc;
    take(g, "version.major", 0, 1000);
    take(g, "version.minor", 0, 1000);
    take(g, "version.patch", 0, 1000);
    take(g, "window", 1, 1 << 16);
    take(g, "context", 0, 1 << 16);
    const int32_t n = take(g, "n_encoder_layers", 1, CONVS_MAX);
    for (int32_t i = 0; i < n && !g->r.err; i++)
        for (int k = 0; k < 3; k++) {
            snprintf(key, sizeof key, "encoder.%d.%s", (int)i, of_conv[k]);
            take(g, key, 1, 1 << 16);
        }
    take(g, "lstm_in", 1, 1 << 16);
    take(g, "lstm_hidden", 1, 1 << 16);
    take(g, "final_in", 1, 1 << 16);
    take(g, "final_out", 1, 1 << 16);
    g->w->has_shape = 1;
    if (g->r.err == STENO_EFORMAT || g->r.err == STENO_EIO) return ggml_cut(g, "the header");
    return g->r.err;
}

static enum dtype vad_required_type(const struct weights *w, const struct tensor *t, enum dtype type)
{
    (void)w, (void)t;
    return type == DT_F16 ? DT_F16 : DT_F32;
}

static int vad_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct ggml g = { .w = w, .path = w->name, .e = e, .least_dims = 0, .required = vad_required_type, .required_why = " or f16" };
    w->matrix_type = DT_F16; /* of the convolutions */
    rd_init(&g.r, f, 0, f->size);
    const int rc = vad_read_header(&g);
    return rc ? rc : ggml_read_records(&g);
}

const struct format format_ggml_vad = { "whisper.cpp .bin VAD", vad_match, vad_read };
