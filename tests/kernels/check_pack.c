/* steno: checks of packing weights. SPDX-License-Identifier: MIT
 *
 * Every level's panels are the twin's, bit for bit, and so is the loss that packing reports. The twin's panels are compared with
 * kern.h by the checks of products; its losses are compared with double here. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK = 64 }; /* bytes around a panel that must stay as they were */

/* Weights, and where `odd` numbers that no file would have: blocks and rows of nothing or nearly so, magnitudes whose scale is no f16, what
 * is not finite. */
static float number(int odd, size_t row, size_t k)
{
    static const float rare[] = { 0, -0.0f, 1e-40f, -3e-39f, 0x1p-24f, -0x1p-25f, 1e-7f, 3e-38f, 8.3e6f, -8.4e6f, 3e38f, NAN, INFINITY };
    const float v = rnd_normal() * (rnd() % 50 ? 0.1f : 3);
    if (!odd) return v;
    if (row == 7 || k / QBLOCK == row % 9) return row % 2 ? -0.0f : 0;
    if (row == 9) return v * 0x1p-118f;
    if (row % 3 == 1) return rnd() % 90 ? v * 1e-6f : rare[rnd() % (sizeof rare / sizeof *rare)];
    return rnd() % 30 ? v : rare[rnd() % 8];
}

static void put_number(uint8_t *p, enum dtype t, float v)
{
    const uint16_t h = t == DT_F16 ? f16_from_f32(v) : bf16_from_f32(v);
    if (t == DT_F32) memcpy(p, &v, 4);
    else memcpy(p, &h, 2);
}

static const void *make_row(enum dtype from, size_t k, size_t row, int odd)
{
    uint8_t *p = guarded(dtype_row_sz(from, k));
    if (dtype_block(from) > 1) rnd_rows(p, from, 1, k);
    for (size_t i = 0; i < k && dtype_block(from) == 1; i++) put_number(p + dtype_row_sz(from, i), from, number(odd, row, i));
    return p;
}

/* What a panel of PK_Q8_QUAD or PK_Q8_QUAD_A8 holds, taken from what it should. */
static struct q8_loss in_double(const uint8_t *panel, enum dtype from, const void *row, size_t k, size_t i)
{
    float *w = malloc(k * sizeof *w);
    struct q8_loss loss = { 0 };
    dtype_widen_row(w, from, row, k);
    for (size_t j = 0; j < k; j++) {
        const uint8_t *block = panel + j / QBLOCK * (2 + QBLOCK) * PANEL;
        uint16_t d;
        memcpy(&d, block + 2 * i, 2);
        const int q = block[2 * PANEL + ((i / 16 * 8 + j % QBLOCK / 4) * 16 + i % 16) * 4 + j % 4] - 128;
        const double near = (double)f16_to_f32(d) * q, off = (double)w[j] - near;
        loss.error += off * off;
        loss.norm += near * near;
    }
    free(w);
    return loss;
}

static int is_near(double got, double want) { return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-5 * want; }

static void check_loss(struct check *c, struct q8_loss got, const uint8_t *panel, enum dtype from, const void *const rows[PANEL], size_t k)
{
    struct q8_loss max = { 0 };
    for (size_t i = 0; i < PANEL; i++) {
        const struct q8_loss l = rows[i] ? in_double(panel, from, rows[i], k, i) : (struct q8_loss) { 0 };
        if (l.error > max.error || isnan(l.error)) max.error = l.error;
        if (l.norm > max.norm || isnan(l.norm)) max.norm = l.norm;
    }
    check(c, is_near(got.error, max.error) && is_near(got.norm, max.norm), "%s k %zu: loses %g of %g, want %g of %g", dtype_name(from), k,
          got.error, got.norm, max.error, max.norm);
}

static int same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static int all_finite(enum dtype from, const void *const rows[PANEL], size_t k)
{
    for (size_t i = 0; i < PANEL; i++)
        if (rows[i] && dtype_find_nonfinite(from, rows[i], k) < k) return 0;
    return 1;
}

/* gone: rows that are missing, as at a matrix's end. */
static void check_panel(struct check *c, enum packed_type t, enum dtype from, size_t k, int odd, size_t gone)
{
    const size_t sz = pack_panel_sz(t, k);
    const void *rows[PANEL] = { 0 };
    for (size_t i = 0; i < PANEL - gone; i++) rows[i] = make_row(from, k, i, odd);
    uint8_t *want = aligned_alloc_64(sz), *got = guarded(sz + SLACK);
    struct q8_loss want_loss = { -1, -1 }, loss = { -1, -1 };
    c->ref->pack(want, &want_loss, t, from, rows, k);
    for (int asked = 0; asked < 2; asked++) {
        memset(got, 0xa5, sz + SLACK);
        c->kern->pack(got + SLACK, asked ? &loss : NULL, t, from, rows, k);
        for (size_t i = 0; i < SLACK; i++) check(c, got[i] == 0xa5, "%s wrote before its panel", packed_name(t));
        size_t at = 0;
        while (at < sz && got[SLACK + at] == want[at]) at++;
        check(c, at == sz, "%s of %s k %zu odd %d without %zu: byte %zu of %zu is %02x, the twin's %02x", packed_name(t), dtype_name(from),
              k, odd, gone, at, sz, at < sz ? got[SLACK + at] : 0, at < sz ? want[at] : 0);
    }
    const int finite = c->ref->panel_finite(t, want, k);
    check(c, c->kern->panel_finite(t, want, k) == finite, "%s of %s k %zu: finite %d to the twin alone", packed_name(t), dtype_name(from),
          k, finite);
    check(c, all_finite(from, rows, k) ? finite || odd : !finite, "%s of %s k %zu odd %d: finite %d", packed_name(t), dtype_name(from), k,
          odd, finite);
    check(c, same_number(loss.error, want_loss.error) && same_number(loss.norm, want_loss.norm),
          "%s of %s k %zu odd %d: loses %.17g of %.17g, the twin %.17g of %.17g", packed_name(t), dtype_name(from), k, odd, loss.error,
          loss.norm, want_loss.error, want_loss.norm);
    if ((t == PK_Q8_QUAD || t == PK_Q8_QUAD_A8) && dtype_block(from) == 1) check_loss(c, loss, got + SLACK, from, rows, k);
    else check(c, loss.error == -1 && loss.norm == -1, "%s of %s reports a loss", packed_name(t), dtype_name(from));
    free(want);
    guarded_free_all();
}

static void check_types_of(struct check *c, enum packed_type t, enum dtype from)
{
    static const size_t k_of[] = { 1, 2, 7, 31, 32, 33, 48, 64, 96, 100, 288, 512, 544 };
    const int numbers = dtype_block(from) == 1;
    for (size_t i = 0; i < (numbers ? sizeof k_of / sizeof *k_of : 1); i++)
        for (size_t gone = 0; gone < PANEL; gone += 13)
            for (int odd = 0; odd <= numbers; odd++) check_panel(c, t, from, numbers ? k_of[i] : 2 * KBLOCK, odd, gone);
}

void check_pack(struct check *c)
{
    for (int t = 0; t < PK_COUNT; t++)
        for (int from = 0; from < DT_COUNT; from++)
            if (pack_takes((enum packed_type)t, (enum dtype)from)) check_types_of(c, (enum packed_type)t, (enum dtype)from);
}
