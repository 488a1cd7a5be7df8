/* steno: one tensor of a model. SPDX-License-Identifier: MIT */
#include "load/tensor.h"

#include <inttypes.h>
#include <math.h>

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

/* Read weights [at, at + n), in whole blocks, of a tensor seen as one row. */
static int read_flat(const struct tensor *t, uint64_t at, size_t n, void *dst, steno_error *e)
{
    if (t->groups) return read_groups(t, at, n, dst, e);
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
    if (t->groups) return settle_groups(t, e);
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
