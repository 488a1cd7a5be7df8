/* steno: reader of whisper.cpp's files for voice activity. SPDX-License-Identifier: MIT
 *
 * The magic is the same as a recognition model's. Then follow a name with its length, a version in three numbers, the frame and its context
 * in samples, the convolutions as triples of inputs, outputs and taps, four widths, and tensor records. The name becomes the type of the
 * model, and the numbers become settings of the same names. The code that builds the network compares the tensors with them. */
#include "load/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include "load/ggml_records.h"

enum { NAME_SZ = 32, NAME_MOST = 64, CONVS_MAX = 16 };

static int vad_match(const struct kind *k, const struct file *f)
{
    (void)f;
    return k->form == KIND_GGML_VAD;
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

static int read_name(struct ggml *g)
{
    char name[NAME_MOST + 1] = "";
    const struct meta_entry type = { .key = "model_type", .kind = META_TEXT, .text = name, .source = g->path };
    rd_skip(&g->r, 4);
    const uint32_t n = rd_u32(&g->r);
    if (!g->r.err && n > NAME_MOST)
        return err_set(g->e, STENO_EFORMAT, "%s: header: the name has %u bytes, want at most %d", g->path, (unsigned)n, NAME_MOST);
    rd_bytes(&g->r, name, n);
    return g->r.err ? ggml_cut(g, "the header") : meta_add(&g->w->meta, &type, g->e);
}

static int read_header(struct ggml *g)
{
    static const char *const of_conv[] = { "in", "out", "kernel" };
    char key[NAME_SZ];
    const int rc = read_name(g);
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

static enum dtype wanted_type(const struct weights *w, const struct tensor *t, enum dtype type)
{
    (void)w, (void)t;
    return type == DT_F16 ? DT_F16 : DT_F32;
}

static int vad_read(struct weights *w, const struct file *f, steno_error *e)
{
    struct ggml g = { .w = w, .path = w->name, .e = e, .least_dims = 0, .wanted = wanted_type, .wanted_why = " or f16" };
    w->matrix_type = DT_F16; /* of the convolutions */
    rd_init(&g.r, f, 0, f->size);
    const int rc = read_header(&g);
    return rc ? rc : ggml_read_records(&g);
}

const struct format format_ggml_vad = { "whisper.cpp .bin VAD", vad_match, vad_read };
