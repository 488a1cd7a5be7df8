/* steno tests: a FastConformer whose activations have outliers. SPDX-License-Identifier: MIT
 *
 * Some rows of the matrices before SiLU, or channels of the norm before it, become much larger than the rest. int8 would then lose the
 * other channels, so the matrices behind them are multiplied with more bits, and the encoder's rows stay near those of f32. */
#include "golden.h"
#include "api/model_bytes.h"
#include "folder.h"

enum { LAYERS = 3, D = 128, D_FF = 512, RAISED = 3, ROWS_MAX = 64 };
#define SOURCE "models/parakeet-digits/"

/* The f16 numbers of a tensor of a safetensors file. */
static uint8_t *numbers_of(const struct model_bytes *b, const char *name)
{
    static const char offsets[] = "\"data_offsets\":[";
    char key[128];
    uint64_t head = 0;
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr((const char *)model_bytes_find(b, key), offsets);
    for (int i = 8; i-- > 0;) head = head << 8 | b->p[i];
    return b->p + 8 + head + strtoull(at + strlen(offsets), NULL, 10);
}

static void times_32(uint8_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int exponent = x[2 * i + 1] >> 2 & 31;
        if (exponent && exponent < 25) x[2 * i + 1] = (uint8_t)(x[2 * i + 1] + (5 << 2));
    }
}

enum raised { NOTHING, WIDE_ROWS, NORM_CHANNELS, RAISES };

static void raise_weights(const struct model_bytes *b, enum raised what)
{
    char name[96];
    for (int i = 0; i < LAYERS && what == WIDE_ROWS; i++)
        for (int ff = 1; ff <= 2; ff++) {
            snprintf(name, sizeof name, "encoder.layers.%d.feed_forward%d.linear1.weight", i, ff);
            for (size_t r = 0; r < RAISED; r++) times_32(numbers_of(b, name) + 2 * D * (r * 131 + 17), D);
        }
    for (int i = 0; i < LAYERS && what == NORM_CHANNELS; i++) {
        snprintf(name, sizeof name, "encoder.layers.%d.conv.norm.weight", i);
        for (size_t c = 0; c < RAISED; c++) times_32(numbers_of(b, name) + 2 * (c * 37 + 5), 1);
    }
}

static struct folder model_with(enum raised what)
{
    static const char *const other[] = { "config.json", "tokenizer.json" };
    struct folder d = folder_new();
    struct model_bytes b = model_bytes_read(SOURCE "model.safetensors", 0);
    raise_weights(&b, what);
    folder_put(&d, "model.safetensors", b.p, b.n);
    free(b.p);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char path[64];
        snprintf(path, sizeof path, SOURCE "%s", other[i]);
        b = model_bytes_read(path, 0);
        folder_put(&d, other[i], b.p, b.n);
        free(b.p);
    }
    return d;
}

static steno_model *open_as(const struct folder *d, const char *level, enum steno_compute compute)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.cpu_level = level;
    p.compute = (int32_t)compute;
    if (steno_model_open(&m, d->path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

/* ---- which matrices are multiplied in int8 ---- */

static void count_int8(void *user, const char *line)
{
    int *n = user;
    if (!strstr(line, "int8x4")) return;
    n[0] += strstr(line, "linear2") != NULL;
    n[1] += strstr(line, "pointwise_conv2") != NULL;
}

static void test_matrices_behind_large_activations_are_not_multiplied_in_int8(void **state)
{
    static const int want[RAISES][2] = { { 2 * LAYERS, LAYERS }, { 0, LAYERS }, { 2 * LAYERS, 0 } };
    const char *level[LEVELS_MAX];
    (void)state;
    levels_for_models(level);
    for (int what = NOTHING; what < RAISES; what++) {
        const struct folder d = model_with((enum raised)what);
        for (int l = 0; level[l]; l++) {
            int n[2] = { 0 };
            steno_model *m = open_as(&d, level[l], STENO_COMPUTE_INT8);
            steno_plan_dump(m, count_int8, n);
            steno_model_close(m);
            for (int i = 0; i < 2; i++)
                if (n[i] != want[what][i]) fail_msg("%s, model %d: %d matrices in int8, want %d", level[l], what, n[i], want[what][i]);
        }
        folder_remove(&d);
    }
}

/* ---- the encoder's rows ---- */

struct rows { float x[ROWS_MAX * D]; int n; };

static void take_rows(void *user, const steno_rows *r)
{
    struct rows *to = user;
    if (strcmp(r->name, "encoder") != 0) return;
    assert_int_equal(r->width, D);
    assert_in_range(r->n_rows, 1, ROWS_MAX);
    for (int i = 0; i < r->n_rows; i++) memcpy(to->x + i * D, r->rows + i * r->stride, D * sizeof *to->x);
    to->n = r->n_rows;
}

static void encode(struct rows *to, const struct folder *d, enum steno_compute compute)
{
    steno_model *m = open_as(d, NULL, compute);
    steno_session *s;
    steno_transcribe_params p;
    struct sound a = { 0 };
    steno_transcribe_params_init(&p);
    p.on_rows = take_rows;
    p.user = to;
    assert_int_equal(sound_read(&a, SOURCE "phrases.wav"), 0);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s", steno_last_error(s));
    sound_free(&a);
    steno_session_close(s);
    steno_model_close(m);
}

static double worst_row(const struct rows *a, const struct rows *want)
{
    double worst = 0;
    for (int r = 0; r < want->n; r++) {
        double error = 0, norm = 0;
        for (int i = r * D; i < (r + 1) * D; i++) {
            const double d = (double)a->x[i] - (double)want->x[i];
            error += d * d;
            norm += (double)want->x[i] * (double)want->x[i];
        }
        worst = fmax(worst, sqrt(error / norm));
    }
    return worst;
}

static void test_rows_in_int8_stay_near_those_of_f32(void **state)
{
    static struct rows exact, low;
    (void)state;
    for (int what = NOTHING; what < RAISES; what++) {
        const struct folder d = model_with((enum raised)what);
        encode(&exact, &d, STENO_COMPUTE_F32);
        encode(&low, &d, STENO_COMPUTE_INT8);
        const double worst = worst_row(&low, &exact);
        print_message("model %d: worst row %.2e\n", what, worst);
        assert_int_equal(low.n, exact.n);
        assert_true(worst > 0 && worst < 0.05);
        folder_remove(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices_behind_large_activations_are_not_multiplied_in_int8),
        cmocka_unit_test(test_rows_in_int8_stay_near_those_of_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
