/* steno: one tensor of a model. SPDX-License-Identifier: MIT */
#include "load/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 2048, /* weights widened at once, a multiple of QBLOCK and of every group size of MLX */
       GROUPS = CHUNK / QBLOCK };

static int refuse_value(const struct tensor *t, uint64_t i, steno_error *e)
{
    return err_set(e, STENO_EFORMAT, "%s: tensor %s: value %" PRIu64 " is not finite; the file is damaged, take another copy",
                   t->file->name, t->name, i);
}

/* Scales and offsets of n groups from group `at` on, as f32. */
static int read_scales(float out[2][GROUPS], const struct tensor *t, uint64_t at, size_t n, steno_error *e)
{
    const struct tensor_groups *g = t->groups;
    uint8_t stored[GROUPS * sizeof(float)];
    for (int i = 0; i < 2; i++) {
        const int rc = file_read(g->file[i], g->offset[i] + dtype_row_sz(g->type, (size_t)at), stored, dtype_row_sz(g->type, n), e);
        if (rc) return rc;
        dtype_widen_row(out[i], g->type, stored, n);
    }
    return STENO_OK;
}

/* Read weights [at, at + n) of an MLX form, seen as one row; `at` begins a group. */
static int read_groups(const struct tensor *t, uint64_t at, size_t n, void *dst, steno_error *e)
{
    const size_t len = t->groups->len, bits = (size_t)form_bits(t->form);
    uint8_t words[CHUNK], *out = dst;
    float scale[2][GROUPS];
    for (size_t left = n, now; left; left -= now, at += now, out += dtype_row_sz(t->type, now)) {
        now = left < CHUNK ? left : CHUNK;
        int rc = file_read(t->file, t->offset + at / QBLOCK * (bits * QBLOCK / 8), words, now / QBLOCK * (bits * QBLOCK / 8), e);
        if (!rc) rc = read_scales(scale, t, at / len, now / len, e);
        if (rc) return rc;
        form_groups(out, t->type, t->form, words, scale[0], scale[1], len, now);
    }
    return STENO_OK;
}

/* If f16 can represent all scales and offsets in use, the form becomes a type with f16 scales, else one with f32 scales. */
static int settle_groups(struct tensor *t, steno_error *e)
{
    const size_t len = t->groups->len, bytes = len * (size_t)form_bits(t->form) / 8;
    const uint64_t groups = t->dim[0] * t->dim[1] / len;
    float scale[2][GROUPS];
    uint8_t words[CHUNK];
    t->type = form_of_groups(t->form, 1);
    if (t->type == form_of_groups(t->form, 0) || t->groups->type == DT_F16) return STENO_OK;
    for (uint64_t at = 0; at < groups; at += GROUPS) {
        const size_t n = groups - at < GROUPS ? (size_t)(groups - at) : GROUPS;
        int rc = read_scales(scale, t, at, n, e);
        for (size_t i = 0; i < n && !rc; i++) {
            if (form_fits_f16(scale[0][i]) && form_fits_f16(scale[1][i])) continue;
            rc = file_read(t->file, t->offset + (at + i) * bytes, words, bytes, e);
            if (!rc && form_fits_f16(scale[1][i]) && form_is_zero(words, bytes)) continue;
            t->type = form_of_groups(t->form, 0);
            return rc;
        }
        if (rc) return rc;
    }
    return STENO_OK;
}

/* Integers divided by the scale of their group, as numbers of f32. at: of the first integer */
static void divide(uint8_t *out, enum tensor_form f, const uint8_t *stored, const float *scale, uint64_t at, uint64_t len, size_t n)
{
    uint64_t left = len - at % len; /* of the group */
    for (size_t i = 0; i < n; i++, out += sizeof(float)) {
        int16_t q = (int8_t)stored[i];
        if (f == FORM_I16) memcpy(&q, stored + 2 * i, sizeof q);
        const float x = (float)q / *scale;
        memcpy(out, &x, sizeof x);
        if (!--left) left = len, scale++;
    }
}

/* The same as blocks of q8_1f: scale, offset, and integers from 0 on. at begins a block, and groups have whole ones. */
static void make_blocks(uint8_t *out, const uint8_t *stored, const float *scale, uint64_t at, uint64_t len, size_t n)
{
    for (size_t i = 0; i < n; i += QBLOCK, out += dtype_row_sz(DT_Q8_1F, QBLOCK)) {
        const float step = 1 / scale[(at % len + i) / len], offset = -128 * step;
        memcpy(out, &step, sizeof step);
        memcpy(out + sizeof step, &offset, sizeof offset);
        for (size_t k = 0; k < QBLOCK; k++) out[2 * sizeof step + k] = stored[i + k] ^ 0x80;
    }
}

/* Read weights [at, at + n) of integers with scales, seen as one row. */
static int read_integers(const struct tensor *t, uint64_t at, size_t n, void *dst, steno_error *e)
{
    const struct tensor_groups *g = t->groups;
    const size_t elem = form_integer_sz(t->form);
    uint8_t stored[CHUNK], *out = dst;
    float scale[GROUPS];
    for (size_t left = n, now; left; left -= now, at += now, out += dtype_row_sz(t->type, now)) {
        const uint64_t first = at / g->len, room = (first + GROUPS) * g->len - at;
        now = left < CHUNK / elem ? left : CHUNK / elem;
        if (now > room) now = (size_t)room;
        int rc = file_read(t->file, t->offset + at * elem, stored, now * elem, e);
        const uint64_t n_scales = (at + now - 1) / g->len + 1 - first;
        if (!rc) rc = file_read(g->file[0], g->offset[0] + first * sizeof *scale, scale, (size_t)n_scales * sizeof *scale, e);
        if (rc) return rc;
        if (t->type == DT_Q8_1F) make_blocks(out, stored, scale, at, g->len, now);
        else divide(out, t->form, stored, scale, at, g->len, now);
    }
    return STENO_OK;
}

/* Read weights [at, at + n), in whole blocks, of a tensor seen as one row. */
static int read_flat(const struct tensor *t, uint64_t at, size_t n, void *dst, steno_error *e)
{
    if (form_bits(t->form)) return read_groups(t, at, n, dst, e);
    if (form_integer_sz(t->form)) return read_integers(t, at, n, dst, e);
    if (t->form == FORM_STORED) return file_read(t->file, t->offset + dtype_row_sz(t->type, (size_t)at), dst, dtype_row_sz(t->type, n), e);
    uint8_t stored[CHUNK], *out = dst;
    const size_t block = form_block_sz(t->form), most = sizeof stored / block;
    uint64_t off = t->offset + at / QBLOCK * block;
    for (size_t left = n / QBLOCK, now; left; left -= now, off += now * block, out += dtype_row_sz(t->type, now * QBLOCK)) {
        now = left < most ? left : most;
        const int rc = file_read(t->file, off, stored, now * block, e);
        if (rc) return rc;
        form_rows(out, t->type, t->form, stored, now);
    }
    return STENO_OK;
}

int tensor_settle(struct tensor *t, steno_error *e)
{
    if (form_bits(t->form)) return settle_groups(t, e);
    if (t->form != FORM_MXFP4) return STENO_OK;
    uint8_t stored[CHUNK];
    const size_t block = form_block_sz(t->form), most = sizeof stored / block;
    const uint64_t end = t->offset + t->size;
    t->type = form_as(t->form, NULL, 0);
    for (uint64_t off = t->offset; off < end; off += most * block) {
        const size_t sz = end - off < most * block ? (size_t)(end - off) : most * block;
        const int rc = file_read(t->file, off, stored, sz, e);
        if (rc) return rc;
        if (form_as(t->form, stored, sz / block) == t->type) continue;
        t->type = form_as(t->form, stored, sz / block);
        return STENO_OK;
    }
    return STENO_OK;
}

void tensor_pack_blocks(struct tensor *t)
{
    if (t->form == FORM_I8_ROWS && t->n_dims == 2 && t->dim[1] % QBLOCK == 0) t->type = DT_Q8_1F;
}

int tensor_read_f32(const struct tensor *t, float *dst, steno_error *e)
{
    uint8_t stored[CHUNK * sizeof(float)];
    const uint64_t n = t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]; /* the reader has checked that this does not wrap */
    for (uint64_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? (size_t)(n - i) : CHUNK;
        const int rc = read_flat(t, i, m, stored, e);
        if (rc) return rc;
        dtype_widen_row(dst + i, t->type, stored, m);
        for (size_t j = 0; j < m; j++)
            if (!isfinite(dst[i + j]))
                return refuse_value(t, i + j, e);
    }
    return STENO_OK;
}

int tensor_read_rows(const struct tensor *t, uint64_t row, uint64_t n, void *dst, steno_error *e)
{
    if (row > t->dim[0] || n > t->dim[0] - row)
        return err_set(e, STENO_EARG, "%s: tensor %s has %" PRIu64 " rows, asked for %" PRIu64 "+%" PRIu64, t->file->name,
                       t->name, t->dim[0], row, n);
    const uint64_t k = t->dim[1] * t->dim[2] * t->dim[3];
    return read_flat(t, row * k, (size_t)(n * k), dst, e);
}

int tensor_check_rows(const struct tensor *t, uint64_t row, uint64_t n, const void *rows, steno_error *e)
{
    const uint64_t k = t->dim[1] * t->dim[2] * t->dim[3], at = dtype_find_nonfinite(t->type, rows, (size_t)(n * k));
    return at == n * k ? STENO_OK : refuse_value(t, row * k + at, e);
}

/* ---- stored forms that no kernel reads -------------------------------------------------------------------------------------------- */

enum { Q8_SZ = 2 + QBLOCK, IQ4_NL_SZ = 2 + QBLOCK / 2, MXFP4_SZ = 1 + QBLOCK / 2 };

/* Twice the numbers of e2m1 (OCP Microscaling Formats, 2023). */
static int8_t const e2m1[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

const char *form_name(enum tensor_form f, enum dtype t)
{
    static const char name[TENSOR_FORMS][8] = { [FORM_IQ4_NL] = "iq4_nl", [FORM_MXFP4] = "mxfp4", [FORM_MLX2] = "mlx2",
                                                [FORM_MLX3] = "mlx3",     [FORM_MLX4] = "mlx4",   [FORM_MLX5] = "mlx5",
                                                [FORM_MLX6] = "mlx6",     [FORM_MLX8] = "mlx8",
                                                [FORM_I8_ROWS] = "int8",  [FORM_I16] = "int16" };
    return f < TENSOR_FORMS && name[f][0] ? name[f] : dtype_name(t);
}

size_t form_block_sz(enum tensor_form f)
{
    return f == FORM_IQ4_NL ? IQ4_NL_SZ : MXFP4_SZ;
}

/* In the file, k and k + 16 share a byte. */
static void look_up(int8_t q[QBLOCK], const int8_t table[16], const uint8_t *two)
{
    for (size_t i = 0; i < QBLOCK / 2; i++) q[i] = table[two[i] & 15], q[i + QBLOCK / 2] = table[two[i] >> 4];
}

/* The scale is e8m0: a power of two, or NaN. It is halved because the table holds twice the numbers. */
static float mxfp4_scale(const uint8_t *block)
{
    return block[0] == 255 ? NAN : ldexpf(1, block[0] - 128);
}

static int mxfp4_is_zero(const uint8_t *block)
{
    int any = 0;
    for (size_t i = 1; i < MXFP4_SZ; i++) any |= block[i] & 0x77;
    return !any;
}

enum dtype form_as(enum tensor_form f, const uint8_t *blocks, size_t n)
{
    enum { LEAST = 128 - 24, MOST = 128 + 15 }; /* f16's powers of two */
    for (size_t i = 0; i < n && f == FORM_MXFP4; i++, blocks += MXFP4_SZ)
        if ((blocks[0] < LEAST || blocks[0] > MOST) && blocks[0] != 255 && !mxfp4_is_zero(blocks)) return DT_BF16;
    return DT_Q8_0;
}

static void put_u16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, sizeof v);
}

void form_rows(void *rows, enum dtype t, enum tensor_form f, const uint8_t *blocks, size_t n)
{
    uint8_t *out = rows;
    for (size_t b = 0; b < n; b++, blocks += form_block_sz(f)) {
        int8_t q[QBLOCK];
        if (f == FORM_IQ4_NL) look_up(q, iq4_value, blocks + 2);
        else look_up(q, e2m1, blocks + 1);
        const float d = f == FORM_MXFP4 ? mxfp4_scale(blocks) : 0;
        if (t == DT_BF16) {
            for (size_t i = 0; i < QBLOCK; i++, out += 2) put_u16(out, bf16_from_f32(d * (float)q[i]));
            continue;
        }
        if (f == FORM_IQ4_NL) memcpy(out, blocks, 2);
        else put_u16(out, mxfp4_is_zero(blocks) && blocks[0] != 255 ? 0 : f16_from_f32(d));
        memcpy(out + 2, q, QBLOCK);
        out += Q8_SZ;
    }
}

size_t form_integer_sz(enum tensor_form f)
{
    return f == FORM_I8_ROWS ? 1 : f == FORM_I16 ? 2 : 0;
}

/* ---- MLX */

int form_bits(enum tensor_form f)
{
    static const uint8_t bits[TENSOR_FORMS] = { [FORM_MLX2] = 2, [FORM_MLX3] = 3, [FORM_MLX4] = 4, [FORM_MLX5] = 5, [FORM_MLX6] = 6,
                                                [FORM_MLX8] = 8 };
    return bits[f];
}

enum tensor_form form_with_bits(int64_t bits)
{
    for (int f = FORM_MLX2; f <= FORM_MLX8; f++)
        if (form_bits((enum tensor_form)f) == bits) return (enum tensor_form)f;
    return FORM_STORED;
}

enum dtype form_of_groups(enum tensor_form f, int fits_f16)
{
    const int bits = form_bits(f);
    if (bits > 5) return DT_Q8_1F;
    if (bits == 5) return fits_f16 ? DT_Q5_1 : DT_Q8_1F;
    return fits_f16 ? DT_Q4_1 : DT_Q4_1F;
}

int form_fits_f16(float x)
{
    const float y = f16_to_f32(f16_from_f32(x));
    return y == x || !isfinite(x);
}

int form_is_zero(const uint8_t *words, size_t n)
{
    int any = 0;
    for (size_t i = 0; i < n; i++) any |= words[i];
    return !any;
}

/* Unpack QBLOCK numbers of `bits` bits each, lowest bits first. @return the rest of the words */
static const uint8_t *take_bits(uint8_t q[QBLOCK], const uint8_t *words, int bits)
{
    uint32_t held = 0;
    int n = 0;
    for (int i = 0; i < QBLOCK; i++, held >>= bits, n -= bits) {
        if (n < bits) held |= (uint32_t)*words++ << n, n += 8;
        q[i] = (uint8_t)(held & ((1u << bits) - 1));
    }
    return words;
}

/* Numbers k and k + 16 share a byte. */
static void put_nibbles(uint8_t *out, const uint8_t q[QBLOCK])
{
    for (int i = 0; i < QBLOCK / 2; i++) out[i] = (uint8_t)((q[i] & 15) | (q[i + QBLOCK / 2] & 15) << 4);
}

static uint8_t *put_block(uint8_t *out, enum dtype t, const uint8_t q[QBLOCK], float d, float m)
{
    if (t == DT_Q4_1F || t == DT_Q8_1F) {
        memcpy(out, &d, 4);
        memcpy(out + 4, &m, 4);
        if (t == DT_Q8_1F) memcpy(out + 8, q, QBLOCK);
        else put_nibbles(out + 8, q);
        return out + dtype_row_sz(t, QBLOCK);
    }
    uint32_t fifth = 0;
    for (int i = 0; i < QBLOCK; i++) fifth |= (uint32_t)(q[i] >> 4) << i;
    put_u16(out, form_fits_f16(d) ? f16_from_f32(d) : 0); /* a scale that f16 cannot represent has only zeros here: see form_of_groups */
    put_u16(out + 2, f16_from_f32(m));
    if (t == DT_Q5_1) memcpy(out + 4, &fifth, 4);
    put_nibbles(out + (t == DT_Q5_1 ? 8 : 4), q);
    return out + dtype_row_sz(t, QBLOCK);
}

void form_groups(void *rows, enum dtype t, enum tensor_form f, const uint8_t *words, const float *scale, const float *offset, size_t len,
                 size_t n)
{
    uint8_t *out = rows, q[QBLOCK];
    for (size_t i = 0; i < n; i += QBLOCK) {
        words = take_bits(q, words, form_bits(f));
        out = put_block(out, t, q, scale[i / len], offset[i / len]);
    }
}
