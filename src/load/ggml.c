/* steno: readers of whisper.cpp .bin files. SPDX-License-Identifier: MIT
 *
 * Three kinds of models have the same magic and the same records of tensors, after headers of their own. */
#include "load/ggml.h"
#include "base/rd.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/formats.h"
#include "load/vocab.h"

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

/* ---- headers of numbers ------------------------------------------------------------------------------------------------------------ */

enum { NAME_SZ = 32 };

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

/* Reports a header that could not be read; `take` has reported a number out of range. */
static int header_failed(struct ggml *g)
{
    return g->r.err == STENO_EFORMAT || g->r.err == STENO_EIO ? ggml_cut(g, "the header") : g->r.err;
}

/* ---- transducers ------------------------------------------------------------------------------------------------------------------ */

/* Magic, fifteen numbers, the mel filters, the window, the durations, the pieces, then tensor records. Numbers become settings with "tdt."
 * in front. The filters and the window become tensors of NeMo's names. */

static int tdt_read_header(struct ggml *g, int32_t *n_fft, int32_t *n_durations)
{
    enum { FTYPE = 6, WIDTH_MAX = 1 << 16 };
    static const struct { const char *key; int32_t lo, hi; } field[] = {
        { "tdt.n_vocab", 1, VOCAB_IDS - 1 }, { "tdt.n_audio_ctx", 1, 1 << 24 }, { "tdt.n_audio_state", 1, WIDTH_MAX },
        { "tdt.n_audio_head", 1, WIDTH_MAX }, { "tdt.n_audio_layer", 1, 1024 }, { "tdt.n_mels", 1, 1024 }, { NULL, 0, 0 },
        { "tdt.n_fft", 64, WIDTH_MAX }, { "tdt.subsampling_factor", 1, 1024 }, { "tdt.n_subsampling_channels", 1, WIDTH_MAX },
        { "tdt.n_conv_kernel", 1, 1024 }, { "tdt.n_pred_dim", 1, WIDTH_MAX }, { "tdt.n_pred_layers", 1, 64 },
        { "tdt.n_tdt_durations", 1, 64 }, { "tdt.n_max_tokens", 1, 1024 },
    };
    int32_t v[sizeof field / sizeof *field] = { 0 };
    int rc = STENO_OK;
    rd_skip(&g->r, 4);
    for (int i = 0; i < (int)(sizeof field / sizeof *field) && !g->r.err && !rc; i++) {
        if (i == FTYPE) rc = read_type(g);
        else v[i] = take(g, field[i].key, field[i].lo, field[i].hi);
    }
    g->n_vocab = v[0], g->n_mels = v[5], *n_fft = v[7], *n_durations = v[13];
    g->w->has_shape = 1;
    return rc || !g->r.err ? rc : header_failed(g);
}

/* Numbers of f32 in front of the records, as a tensor. */
static int add_numbers(struct ggml *g, const char *name, int32_t rows, int32_t cols)
{
    struct tensor *t = weights_add(g->w, g->e);
    if (!t) return STENO_ENOMEM;
    *t = (struct tensor){ .name = name, .type = DT_F32, .n_dims = 2, .dim = { (uint64_t)rows, (uint64_t)cols, 1, 1 },
                          .file = &g->w->source.file, .offset = g->r.pos, .size = 4 * (uint64_t)rows * (uint64_t)cols };
    rd_skip(&g->r, t->size);
    return g->r.err ? ggml_cut(g, name) : STENO_OK;
}

static int tdt_read_front(struct ggml *g, int32_t n_fft)
{
    const int32_t n_mel = rd_i32(&g->r), n_bins = rd_i32(&g->r);
    if (g->r.err) return ggml_cut(g, "the mel filters' shape");
    if (n_mel != g->n_mels || n_bins != n_fft / 2 + 1)
        return err_set(g->e, STENO_EFORMAT, "%s: mel filters are [%d, %d], want [%d, %d] (n_mels, n_fft / 2 + 1)", g->path, (int)n_mel,
                       (int)n_bins, (int)g->n_mels, (int)n_fft / 2 + 1);
    int rc = add_numbers(g, "preprocessor.featurizer.fb", n_mel, n_bins);
    const int32_t n_window = rc ? 0 : rd_i32(&g->r);
    if (rc) return rc;
    if (g->r.err) return ggml_cut(g, "the window's length");
    if (n_window < 1 || n_window > n_fft)
        return err_set(g->e, STENO_EFORMAT, "%s: the window has %d numbers, want 1..%d (n_fft)", g->path, (int)n_window, (int)n_fft);
    return add_numbers(g, "preprocessor.featurizer.window", 1, n_window);
}

static int tdt_read_pieces(struct ggml *g)
{
    const int rc = read_vocab(g);
    const uint32_t n = g->w->n_vocab_entries;
    if (rc || n == (uint32_t)g->n_vocab) return rc;
    return err_set(g->e, STENO_EFORMAT, "%s: the vocabulary has %u pieces, n_vocab is %d: the conversion lost pieces that are white space; "
                   "take the .nemo file", g->path, (unsigned)n, (int)g->n_vocab);
}

static enum dtype tdt_required_type(const struct weights *w, const struct tensor *t, enum dtype type)
{
    (void)w, (void)t;
    return type == DT_COUNT ? DT_F32 : type; /* each tensor has a type of its own */
}

static int tdt_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_GGML_TDT;
}

static int tdt_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct ggml g = { .w = w, .path = w->name, .e = e, .least_dims = 0, .required = tdt_required_type, .required_why = "" };
    int32_t n_fft, n_durations;
    char key[NAME_SZ];
    rd_init(&g.r, f, 0, f->size);
    int rc = tdt_read_header(&g, &n_fft, &n_durations);
    if (!rc) rc = tdt_read_front(&g, n_fft);
    for (int32_t i = 0; i < n_durations && !rc; i++) {
        snprintf(key, sizeof key, "durations.%d", (int)i);
        take(&g, key, 0, 64);
        if (g.r.err) rc = header_failed(&g);
    }
    if (!rc) rc = tdt_read_pieces(&g);
    return rc ? rc : ggml_read_records(&g);
}

const struct format format_ggml_tdt = { "whisper.cpp .bin TDT", tdt_match, tdt_read };

/* ---- models for voice activity ---------------------------------------------------------------------------------------------------- */

/* The magic is the same as a recognition model's. Then follow a name with its length, a version in three numbers, the frame and its
 * context in samples, the convolutions as triples of inputs, outputs and taps, four widths, and tensor records. The name becomes the
 * type of the model, and the numbers become settings of the same names. The code that builds the network compares the tensors with them. */

enum { NAME_MAX = 64, CONVS_MAX = 16 };

static int vad_match(const struct file_probe *k, const struct file *f)
{
    (void)f;
    return k->form == PROBE_GGML_VAD;
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
    return header_failed(g);
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
