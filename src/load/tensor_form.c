/* steno: forms in which tensors lie in files, and no kernel reads them. SPDX-License-Identifier: MIT */
#include "load/tensor_form.h"

#include <math.h>
#include <string.h>

enum { Q8_SZ = 2 + QBLOCK, IQ4_NL_SZ = 2 + QBLOCK / 2, MXFP4_SZ = 1 + QBLOCK / 2 };

/* Twice the numbers of e2m1 (OCP Microscaling Formats, 2023). */
static int8_t const e2m1[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

const char *form_name(enum tensor_form f, enum dtype t)
{
    return f == FORM_IQ4_NL ? "iq4_nl" : f == FORM_MXFP4 ? "mxfp4" : dtype_name(t);
}

size_t form_block_sz(enum tensor_form f)
{
    return f == FORM_IQ4_NL ? IQ4_NL_SZ : MXFP4_SZ;
}

/* Stored, k and k + 16 share a byte. */
static void look_up(int8_t q[QBLOCK], const int8_t table[16], const uint8_t *two)
{
    for (size_t i = 0; i < QBLOCK / 2; i++) q[i] = table[two[i] & 15], q[i + QBLOCK / 2] = table[two[i] >> 4];
}

/* The scale is e8m0: a power of two, or NaN; half of it goes with whole numbers. */
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
