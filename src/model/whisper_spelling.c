/* steno: Whisper models in other programs' forms. SPDX-License-Identifier: MIT */
#include "model/whisper_spelling.h"

#include <math.h>
#include <string.h>
#include "load/strided.h"
#include "model/whisper_names.h"

/* ---- positions ----------------------------------------------------------------------------------------------------------------- */

/* A table [ctx, 2 * half] that is computed when it is read: sines of the position times each frequency, then cosines. */
struct positions {
    struct file file;
    enum dtype type;
    uint64_t half;
    float *frequency; /* [half] */
};

/* Rounded to f32 in each step, as in openai/whisper. */
static float position_value(const struct positions *p, uint64_t i)
{
    const uint64_t column = i % (2 * p->half);
    const float angle = (float)(i / (2 * p->half)) * p->frequency[column % p->half];
    return (float)(column < p->half ? sin((double)angle) : cos((double)angle));
}

/* Only whole numbers are read. */
static int positions_read(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    const struct positions *p = user;
    const size_t elem = dtype_row_sz(p->type, 1);
    uint8_t *out = dst;
    if (off % elem || n % elem) return err_set(e, STENO_EARG, "%s: half a number of the positions was asked for", p->file.name);
    for (uint64_t i = off / elem, end = i + n / elem; i < end; i++, out += elem) {
        const float x = position_value(p, i);
        dtype_narrow_row(out, p->type, &x, 1);
    }
    return STENO_OK;
}

/* Uses the type of the decoder's positions: in f16 files both are f16. */
static int add_positions(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    static const char name[] = "encoder.positional_embedding";
    if (weights_find(w, name)) return STENO_OK;
    const struct tensor *other = weights_find(w, "decoder.positional_embedding");
    const uint64_t ctx = (uint64_t)d->n_audio_ctx, half = (uint64_t)d->n_audio_state / 2;
    struct positions *p = arena_alloc(&w->arena, sizeof *p);
    struct tensor *t = p ? weights_add(w, e) : NULL;
    float *frequency = t ? arena_array(&w->arena, half, sizeof *frequency) : NULL;
    if (!frequency) return err_nomem(e, half * sizeof *frequency, "positions");
    const float step = (float)(-log(10000.0) / (half > 1 ? (double)(half - 1) : 1));
    for (uint64_t i = 0; i < half; i++) frequency[i] = (float)exp((double)(step * (float)i));
    *p = (struct positions){ .type = other ? other->type : DT_F32, .half = half, .frequency = frequency };
    const uint64_t size = ctx * dtype_row_sz(p->type, (size_t)(2 * half));
    p->file = (struct file){ .name = w->name, .size = size, .fd = -1, .read = positions_read, .user = p };
    *t = (struct tensor){ .name = name, .type = p->type, .n_dims = 2, .dim = { ctx, 2 * half, 1, 1 }, .file = &p->file, .size = size };
    return STENO_OK;
}

/* ---- MLX ----------------------------------------------------------------------------------------------------------------------- */

static int is_mlx(struct weights *w)
{
    return weights_find(w, "encoder.blocks.0.mlp1.weight") != NULL;
}

/* Transposes filters that are stored tap by tap. */
static int turn_filter(struct weights *w, const char *name, int32_t channels, steno_error *e)
{
    enum { TAPS = 3 };
    struct tensor *t = weights_find(w, name);
    const uint64_t c = (uint64_t)channels;
    if (!t || t->n_dims != 3 || t->dim[1] != TAPS || t->dim[2] != c) return STENO_OK;
    return tensor_stride(t, w, (uint64_t[4]){ t->dim[0], c, TAPS, 1 }, (uint64_t[4]){ TAPS * c, 1, c, 1 }, e);
}

static int from_mlx(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    int rc = turn_filter(w, "encoder.conv1.weight", d->n_mels, e);
    if (!rc) rc = turn_filter(w, "encoder.conv2.weight", d->n_audio_state, e);
    return rc ? rc : add_positions(w, d, e);
}

int whisper_respell(struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    if (w->has_shape) return STENO_OK; /* files with a stored shape have openai/whisper's names */
    const int rc = is_mlx(w) ? from_mlx(w, d, e) : STENO_OK;
    return rc ? rc : weights_rename(w, whisper_name_from_others, e);
}
