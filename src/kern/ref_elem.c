/* steno: element-wise kernels in plain C, the definition. SPDX-License-Identifier: MIT
 *
 * Sums and special functions are double, so that the faster bodies are compared with something more exact. */
#include "kern/ref.h"

#include <float.h>
#include <math.h>

static void norm_layer_c(float *y, const float *x, const float *g, const float *b, float eps, size_t n)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    const double scale = 1 / sqrt(square / (double)n + (double)eps);
    for (size_t i = 0; i < n; i++) y[i] = (float)((x[i] - mean) * scale * g[i] + (b ? b[i] : 0));
}

static void norm_rms_c(float *y, const float *x, const float *g, float eps, size_t n)
{
    double square = 0;
    for (size_t i = 0; i < n; i++) square += (double)x[i] * x[i];
    const double scale = 1 / sqrt(square / (double)n + (double)eps);
    for (size_t i = 0; i < n; i++) y[i] = (float)(x[i] * scale * g[i]);
}

static void softmax_c(float *y, const float *x, size_t n)
{
    float max = -INFINITY;
    double sum = 0;
    for (size_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
    for (size_t i = 0; i < n; i++) sum += max == -INFINITY ? 0 : exp((double)x[i] - max);
    for (size_t i = 0; i < n; i++) y[i] = sum > 0 ? (float)(exp((double)x[i] - max) / sum) : 0;
}

static void add_c(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = a[i] + b[i];
}

static void mul_c(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = a[i] * b[i];
}

/* Products are rounded before they are added. */
static void rope_c(float *x, const float *turn, size_t n, int neighbours)
{
    const float *cosine = turn, *sine = turn + n / 2;
    for (size_t j = 0; j < n / 2; j++) {
        float *a = x + (neighbours ? 2 * j : j), *b = neighbours ? a + 1 : a + n / 2;
        const float ac = *a * cosine[j], as = *a * sine[j], bc = *b * cosine[j], bs = *b * sine[j];
        *a = ac - bs;
        *b = as + bc;
    }
}

static void scale_c(float *y, const float *x, float scale, const float *add, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = x[i] * scale + (add ? add[i] : 0);
}

static void fsmn_c(const struct fsmn *f)
{
    for (size_t r = 0; r < f->rows; r++)
        for (size_t i = 0; i < f->n; i++) {
            const float *const *x = f->x + r;
            float acc = f->start ? f->start[i] : x[f->left][i];
            for (size_t j = 0; j < f->taps; j++)
                if (x[j]) acc += f->w[j * f->n + i] * x[j][i];
            f->y[r * f->ld_y + i] = (f->add ? f->add[r * f->ld_add + i] : 0) + acc;
        }
}

static void unpair_c(float *even, float *odd, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t low = words[i] << 16, high = words[i] & 0xffff0000u;
        even[i] = load_f32(&low);
        odd[i] = load_f32(&high);
    }
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void lstm_c(float *h, float *c, const float *gates, const float *c_before, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double kept = c_before ? sigmoid((double)gates[n + i]) * (double)c_before[i] : 0;
        const double out = sigmoid((double)gates[3 * n + i]);
        c[i] = (float)(kept + sigmoid((double)gates[i]) * tanh((double)gates[2 * n + i]));
        h[i] = (float)(out * tanh((double)c[i]));
    }
}

static void magnitude_c(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = sqrtf(x[i] * x[i] + x[n + i] * x[n + i]);
}

static void zscore_c(float *x, size_t ld, size_t rows, size_t n)
{
    for (float *column = x; column < x + n; column++) {
        double sum = 0, squares = 0;
        int is_level = 1;
        for (size_t r = 0; r < rows; r++) sum += (double)column[r * ld];
        const double mean = sum / (double)rows;
        for (size_t r = 0; r < rows; r++) {
            const double off = (double)column[r * ld] - mean, from_first = (double)column[r * ld] - (double)column[0];
            squares += off * off;
            if (fabs(from_first) >= (double)FLT_MIN) is_level = 0;
        }
        const double deviation = sqrt(squares / (double)rows);
        for (size_t r = 0; r < rows; r++) column[r * ld] = is_level ? 0 : (float)(((double)column[r * ld] - mean) / deviation);
    }
}

static float median_at(const float *x, size_t i, size_t n)
{
    float v[MEDIAN_WIDTH];
    for (size_t j = 0; j < MEDIAN_WIDTH; j++) { /* insertion sort */
        const float new = x[mirrored(i + j, MEDIAN_WIDTH / 2, n)];
        size_t at = j;
        for (; at && v[at - 1] > new; at--) v[at] = v[at - 1];
        v[at] = new;
    }
    return v[MEDIAN_WIDTH / 2];
}

static void median_c(float *y, const float *x, const float *add, float scale, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = (n > MEDIAN_WIDTH / 2 ? median_at(x, i, n) : x[i]) * scale + (add ? add[i] : 0);
}

static int is_absent(float x, const uint32_t *mask, size_t id)
{
    return !(x > -INFINITY) || (mask && (mask[id / 32] >> id % 32 & 1u));
}

static void logits_reduce_c(struct logit_partial *partial, const float *x, const uint32_t *mask, int32_t first, size_t n)
{
    float max = -INFINITY;
    int32_t arg = -1;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t id = (size_t)first + i;
        if (is_absent(x[i], mask, id) || x[i] <= max) continue;
        max = x[i];
        arg = (int32_t)id;
    }
    for (size_t i = 0; i < n; i++)
        if (!is_absent(x[i], mask, (size_t)first + i)) sum += exp((double)x[i] - max);
    *partial = (struct logit_partial) { max, (float)sum, arg };
}

static void panel_max_c(float *max, const float *y, size_t panels)
{
    for (size_t p = 0; p < panels; p++) {
        max[p] = -INFINITY;
        for (size_t i = 0; i < PANEL; i++) max[p] = y[p * PANEL + i] > max[p] ? y[p * PANEL + i] : max[p];
    }
}

void kern_init_c(struct kern *k)
{
    k->level = CPU_C;
    k->quad_steps = 1;
    k->ints_panel_sz = 0;
    k->i16_is_cut = 0;
    k->pack = pack_lossy;
    k->panel_finite = panel_finite_c;
    kern_init_linear_c(k);
    kern_init_lowp_c(k);
    kern_init_attn_c(k);
    kern_init_attn_run_c(k);
    kern_init_attn_rel_c(k);
    kern_init_spectra_c(k);
    k->norm_layer = norm_layer_c;
    k->norm_rms = norm_rms_c;
    k->softmax = softmax_c;
    k->add = add_c;
    k->mul = mul_c;
    k->rope = rope_c;
    k->act[ACT_NONE] = act_none_c;
    k->act[ACT_GELU_ERF] = act_gelu_erf_c;
    k->act[ACT_GELU_TANH] = act_gelu_tanh_c;
    k->act[ACT_RELU] = act_relu_c;
    k->act[ACT_SILU] = act_silu_c;
    k->act[ACT_TANH] = act_tanh_c;
    k->act[ACT_SIGMOID] = act_sigmoid_c;
    k->scale = scale_c;
    k->fsmn = fsmn_c;
    k->unpair = unpair_c;
    k->lstm = lstm_c;
    k->magnitude = magnitude_c;
    k->zscore = zscore_c;
    k->median = median_c;
    k->logits_reduce = logits_reduce_c;
    k->panel_max = panel_max_c;
}
