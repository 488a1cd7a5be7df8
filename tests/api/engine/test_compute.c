/* steno tests: arithmetic of fewer bits on networks that are hard for it. SPDX-License-Identifier: MIT
 *
 * Twelve encoder layers of random weights, as they come and with a few channels that tower over the others behind every norm, as trained
 * networks have them, with weights that make up for it (without that the networks themselves are chaotic: doc/performance.md). A row of
 * the encoder's output is compared with the same row in f32. */
#include "logits.h"

enum { SIDE = 128, FRAMES = 200, LAYERS = 12 };
static struct whisper_dims const deep_dims = { 80, FRAMES, SIDE, 4, LAYERS, SMALL_VOCAB, 70, SIDE, 4, 1 };

/* Where the data of a tensor of a whisper.cpp file begins: behind its name. */
static uint8_t *tensor_data(struct bytes b, const char *name)
{
    const size_t n = strlen(name);
    for (size_t at = 0; at + n < b.n; at++)
        if (!memcmp(b.p + at, name, n)) return b.p + at + n;
    fail_msg("no tensor %s", name);
    return NULL;
}

static void scale_f32(uint8_t *at, float by)
{
    float v;
    memcpy(&v, at, sizeof v);
    v *= by;
    memcpy(at, &v, sizeof v);
}

static void scale_f16(uint8_t *at, float by)
{
    uint16_t h;
    memcpy(&h, at, sizeof h);
    h = f16_from_f32(f16_to_f32(h) * by);
    memcpy(at, &h, sizeof h);
}

/* Column c of a matrix [n, SIDE] of f16. */
static void scale_column(struct bytes b, int layer, const char *part, size_t n, size_t c, float by)
{
    char name[64];
    snprintf(name, sizeof name, "encoder.blocks.%d.%s.weight", layer, part);
    uint8_t *data = tensor_data(b, name);
    for (size_t r = 0; r < n; r++) scale_f16(data + (r * SIDE + c) * 2, by);
}

/* Behind every norm of the encoder some channels become `times` what they were, and the weights that meet them a `times`-th: the network
 * is the same but for where its numbers are large. */
static void raise_channels(struct bytes b, int channels, float times)
{
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < channels; i++) {
            const size_t c = (size_t)(i * 37 + layer) % SIDE;
            char name[64];
            snprintf(name, sizeof name, "encoder.blocks.%d.attn_ln.weight", layer);
            scale_f32(tensor_data(b, name) + c * 4, times);
            snprintf(name, sizeof name, "encoder.blocks.%d.mlp_ln.weight", layer);
            scale_f32(tensor_data(b, name) + c * 4, times);
            scale_column(b, layer, "attn.query", SIDE, c, 1 / times);
            scale_column(b, layer, "attn.key", SIDE, c, 1 / times);
            scale_column(b, layer, "attn.value", SIDE, c, 1 / times);
            scale_column(b, layer, "mlp.0", 4 * (size_t)SIDE, c, 1 / times);
        }
}

static float features[2][FRAMES * SIDE];

/* The encoder's output for the same noise. */
static void encode(float *to, struct bytes b, enum steno_compute compute)
{
    static float pcm[FRAMES * 320];
    steno_model *m = bytes_open_as(b, NULL, compute);
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.keep_audio_features = 1;
    p.sample_len = 1;
    uint32_t seed = 7;
    for (size_t i = 0; i < FRAMES * 320; i++) pcm[i] = 0.1f * noise(&seed);
    if (steno_transcribe(s, pcm, FRAMES * 320, &p)) fail_msg("%s", steno_last_error(s));
    int32_t rows, width;
    const float *x = steno_audio_features(s, &rows, &width);
    assert_non_null(x);
    assert_int_equal(rows, FRAMES);
    assert_int_equal(width, SIDE);
    memcpy(to, x, FRAMES * SIDE * sizeof *to);
    steno_session_close(s);
    steno_model_close(m);
}

/* Largest relative error of a row. */
static double worst_row(const float *x, const float *want)
{
    double worst = 0;
    for (size_t r = 0; r < FRAMES; r++) {
        double error = 0, norm = 0;
        for (size_t i = r * SIDE; i < (r + 1) * SIDE; i++) {
            const double d = (double)x[i] - (double)want[i];
            error += d * d;
            norm += (double)want[i] * (double)want[i];
        }
        worst = fmax(worst, sqrt(error / norm));
    }
    return worst;
}

static void test_the_encoders_rows_stay_near_those_of_f32(void **state)
{
    (void)state;
    static const struct { enum steno_compute compute; const char *name; double most; } narrow[] = {
        { STENO_COMPUTE_BF16, "bf16", 1e-2 }, { STENO_COMPUTE_INT16, "int16", 2e-3 }, { STENO_COMPUTE_INT8, "int8", 5e-2 },
    };
    static const struct { int channels; float times; } outliers[] = { { 0, 1 }, { 1, 50 }, { 3, 50 }, { 8, 50 }, { 3, 8 } };
    for (size_t i = 0; i < sizeof outliers / sizeof *outliers; i++) {
        struct bytes b = random_bytes(&deep_dims, DT_F16, 11);
        raise_channels(b, outliers[i].channels, outliers[i].times);
        encode(features[0], b, STENO_COMPUTE_F32);
        for (size_t k = 0; k < 3; k++) {
            encode(features[1], b, narrow[k].compute);
            const double worst = worst_row(features[1], features[0]);
            print_message("%d channels x %g, %s: worst row %.2e\n", outliers[i].channels, (double)outliers[i].times, narrow[k].name, worst);
            assert_true(worst > 0 && worst < narrow[k].most);
        }
        free(b.p);
    }
}

/* ---- which matrices are multiplied in what ---- */

static void count_types(void *user, const char *line)
{
    int *n = user;
    n[0] += strstr(line, "encoder.blocks") && strstr(line, "int8x4");
    n[1] += strstr(line, "encoder.blocks") && strstr(line, "bf16x2");
    n[2] += strstr(line, "encoder.blocks") && strstr(line, "int16x2");
    n[3] += strstr(line, "encoder.blocks") && strstr(line, " f16 ");
}

static void test_matrices_behind_towering_channels_are_not_multiplied_in_int8(void **state)
{
    (void)state;
    for (int level = 0; steno_cpu_level_name(level); level++)
        for (int raised = 0; raised < 2 && steno_cpu_level_usable(level); raised++) {
            struct bytes b = random_bytes(&deep_dims, DT_F16, 11);
            int n[4] = { 0 };
            if (raised) raise_channels(b, 3, 50);
            steno_model *m = bytes_open_as(b, steno_cpu_level_name(level), STENO_COMPUTE_INT8);
            steno_plan_dump(m, count_types, n);
            const int bf16 = kern_gains(level, PK_BF16_PAIR), int16 = kern_gains(level, PK_I16_PAIR);
            const int normed = raised ? 2 * LAYERS : LAYERS; /* q, k, v, and mlp.0 if it is not in int8 */
            assert_int_equal(n[0], 3 * LAYERS - normed);     /* mlp.2 and, where nothing towers, mlp.0 */
            assert_int_equal(n[1], bf16 ? normed : 0);
            assert_int_equal(n[2], (int16 ? LAYERS : 0) + (int16 && !bf16 && !raised ? normed : 0)); /* out, and what bf16 would be */
            assert_int_equal(n[0] + n[1] + n[2] + n[3], 4 * LAYERS);
            steno_model_close(m);
            free(b.p);
        }
}

/* ---- logits in two stages ---- */

static void keep(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at, (void)logits, (void)tokens, (void)n;
    ++*(int *)user;
}

/* A filter makes all logits be computed from the stored weights, so what it sees chosen is what they give. */
static void test_approximate_logits_choose_the_same_tokens(void **state)
{
    (void)state;
    static float pcm[30 * 320];
    int tokens = 0, seen = 0;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        const struct bytes b = random_bytes(&small_multilingual, seed % 3 ? DT_F16 : DT_F32, seed);
        steno_model *m = bytes_open_as(b, NULL, seed % 2 ? STENO_COMPUTE_BF16 : STENO_COMPUTE_INT8);
        steno_session *s[2] = { session_new(m, NULL, 5), session_new(m, NULL, 5) };
        uint32_t drawn = seed;
        for (size_t i = 0; i < sizeof pcm / sizeof *pcm; i++) pcm[i] = 0.1f * noise(&drawn);
        for (int i = 0; i < 2; i++) {
            steno_transcribe_params p;
            steno_transcribe_params_init(&p);
            p.language = "en";
            p.guards = STENO_GUARDS_OFF; /* noise has no speech */
            p.temperature_increment_on_fallback = 0;
            p.without_timestamps = seed % 4 == 1;
            p.beam_size = seed % 5 ? 0 : 5;
            p.user = &seen;
            p.logits_filter = i ? keep : NULL;
            if (steno_transcribe(s[i], pcm, 30 * 320, &p)) fail_msg("%s", steno_last_error(s[i]));
        }
        assert_int_equal(steno_segment_count(s[0]), steno_segment_count(s[1]));
        for (int g = 0; g < steno_segment_count(s[0]); g++) {
            steno_segment a = { .size = sizeof a }, c = { .size = sizeof c };
            assert_int_equal(steno_segment_get(s[0], g, &a), STENO_OK);
            assert_int_equal(steno_segment_get(s[1], g, &c), STENO_OK);
            assert_int_equal(a.n_tokens, c.n_tokens);
            tokens += a.n_tokens;
            for (int t = 0; t < a.n_tokens; t++) {
                steno_token x = { .size = sizeof x }, y = { .size = sizeof y };
                assert_int_equal(steno_token_get(s[0], g, t, &x), STENO_OK);
                assert_int_equal(steno_token_get(s[1], g, t, &y), STENO_OK);
                assert_int_equal(x.id, y.id);
                assert_true(fabs((double)x.logprob - (double)y.logprob) < 1e-2);
            }
        }
        for (int i = 0; i < 2; i++) steno_session_close(s[i]);
        steno_model_close(m);
        free(b.p);
    }
    assert_true(tokens > 100 && seen > 100);
}

static void count_approx(void *user, const char *line)
{
    int *n = user;
    n[0] += strstr(line, "decoder.approx") && strstr(line, " q8_0x4 ");
    n[1] += strstr(line, "decoder.approx") && strstr(line, " q8_0x4a8 ");
}

static void test_approximate_logits_keep_8_bits_of_x_where_that_is_faster(void **state)
{
    (void)state;
    const struct bytes b = random_bytes(&small_dims, DT_F16, 3);
    for (int level = 1; steno_cpu_level_name(level); level++) {
        const int is_8 = kern_gains(level, PK_Q8_QUAD_A8);
        int n[2] = { 0 };
        if (!steno_cpu_level_usable(level)) continue;
        steno_model *m = bytes_open_as(b, steno_cpu_level_name(level), STENO_COMPUTE_INT8);
        steno_plan_dump(m, count_approx, n);
        assert_int_equal(n[is_8], 1);
        assert_int_equal(n[!is_8], 0);
        steno_model_close(m);
    }
    free(b.p);
}

/* The type is between the shape and the layout: "[200, 32] f16, head-major". */
static void look_for_cross(void *user, const char *line)
{
    if (!strncmp(line, "state ", 6) && strstr(line, ": replace, ")) sscanf(strchr(line, ']'), "] %31[^-]", (char *)user);
}

/* Keys of 12 bits where they are faster. */
static void test_cross_keys_have_12_bits_where_that_is_faster(void **state)
{
    (void)state;
    enum { F32, F16, INT };
    static const char *const type[] = { "f32, head", "f16, head", "int12, int8, head" };
    static const struct { const char *level; uint8_t type[2]; } table[] = { /* auto, int8 */
        { "c", { F32, F16 } },         { "sse41", { F16, F16 } },      { "avx2", { INT, INT } }, { "avxvnni", { INT, INT } },
        { "avx512", { F16, F16 } },    { "avx512vnni", { INT, INT } }, { "avx512bf16", { INT, INT } }, { "amx", { INT, INT } },
        { "neon", { F32, F16 } },      { "dotprod", { INT, INT } },    { "i8mm", { INT, INT } }, { "neonbf16", { INT, INT } },
    };
    static const enum steno_compute compute[] = { STENO_COMPUTE_AUTO, STENO_COMPUTE_INT8 };
    const struct bytes b = random_bytes(&deep_dims, DT_F16, 3);
    for (int level = 0; steno_cpu_level_name(level); level++) {
        const char *name = steno_cpu_level_name(level);
        size_t at = 0;
        while (at < sizeof table / sizeof *table && strcmp(table[at].level, name)) at++;
        if (at == sizeof table / sizeof *table) fail_msg("level %s is not in the table", name);
        for (int c = 0; c < 2 && steno_cpu_level_usable(level); c++) {
            char got[32] = "none";
            steno_model *m = bytes_open_as(b, name, compute[c]);
            assert_int_equal(steno_plan_dump(m, look_for_cross, got), STENO_OK);
            if (strcmp(got, type[table[at].type[c]])) fail_msg("%s, compute %d: %s", name, compute[c], got);
            steno_model_close(m);
        }
    }
    free(b.p);
}

/* ---- logits ---- */

static void test_logits_of_every_arithmetic_point_where_those_of_f32_do(void **state)
{
    (void)state;
    static const struct { enum steno_compute compute; const char *name; } narrow[] = {
        { STENO_COMPUTE_BF16, "bf16" }, { STENO_COMPUTE_INT16, "int16" }, { STENO_COMPUTE_INT8, "int8" }, { STENO_COMPUTE_AUTO, "auto" },
    };
    const struct audio a = demo_audio(0, 0, 1);
    const struct kept want = logits_of(shipped_open_as(STENO_COMPUTE_F32), &a);
    for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) {
        const struct kept got = logits_of(shipped_open_as(narrow[k].compute), &a);
        logits_are_near(narrow[k].name, &got, &want, 0.999);
        free(got.logits);
    }
    free(want.logits);
    free(a.pcm);
}

static void expect_decoder(struct bytes b, int level, enum steno_compute compute, const char *want)
{
    steno_model *m = bytes_open_as(b, steno_cpu_level_name(level), compute);
    steno_model_info i = { .size = sizeof i };
    assert_int_equal(steno_model_info_get(m, &i), STENO_OK);
    assert_string_equal(i.decoder_weights, want);
    steno_model_close(m);
}

/* Numbers of the decoder are rounded where int8 is asked for, and nowhere else; blocks of int8 are multiplied as they are. */
static void test_the_decoders_numbers_stay_as_they_are_unless_int8_is_asked_for(void **state)
{
    (void)state;
    const struct bytes numbers = random_bytes(&small_dims, DT_F16, 3), blocks = random_bytes(&deep_dims, DT_Q8_0, 3);
    for (int level = 0; steno_cpu_level_name(level); level++) {
        if (!steno_cpu_level_usable(level)) continue;
        for (int c = STENO_COMPUTE_AUTO; c <= STENO_COMPUTE_INT16; c++) {
            const int is_int8 = c == STENO_COMPUTE_INT8, is_wide = c == STENO_COMPUTE_F32 || (c == STENO_COMPUTE_AUTO && !level);
            expect_decoder(numbers, level, (enum steno_compute)c, is_int8 ? "int8" : "stored");
            expect_decoder(blocks, level, (enum steno_compute)c, is_wide ? "stored" : "int8");
        }
    }
    free(numbers.p);
    free(blocks.p);
}

/* A layer of the encoder whose attention is in integers packs its keys and values. */
static void look_for_pack(void *user, const char *line)
{
    int *packs = user;
    *packs |= strstr(line, " kv_pack ") && strstr(line, "encoder.");
}

/* auto resolves to the arithmetic that the model reports, level by level. */
static void test_auto_is_what_the_level_gains_from(void **state)
{
    (void)state;
    const struct bytes b = random_bytes(&small_dims, DT_F16, 3);
    for (int level = 0; steno_cpu_level_name(level); level++) {
        if (!steno_cpu_level_usable(level)) continue;
        steno_model *m = bytes_open(b, steno_cpu_level_name(level));
        steno_model_info i = { .size = sizeof i };
        assert_int_equal(steno_model_info_get(m, &i), STENO_OK);
        const int compute = steno_compute_auto(level);
        assert_string_equal(i.compute, compute == STENO_COMPUTE_INT16 ? "int16" : "f32");
        int packs = 0;
        assert_int_equal(steno_plan_dump(m, look_for_pack, &packs), STENO_OK);
        assert_string_equal(i.attention, packs ? "int16" : "f32");
        assert_string_equal(i.decoder_weights, "stored");
        steno_model_close(m);
    }
    assert_int_equal(steno_compute_auto(0), STENO_COMPUTE_F32);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_encoders_rows_stay_near_those_of_f32),
        cmocka_unit_test(test_matrices_behind_towering_channels_are_not_multiplied_in_int8),
        cmocka_unit_test(test_approximate_logits_choose_the_same_tokens),
        cmocka_unit_test(test_approximate_logits_keep_8_bits_of_x_where_that_is_faster),
        cmocka_unit_test(test_cross_keys_have_12_bits_where_that_is_faster),
        cmocka_unit_test(test_logits_of_every_arithmetic_point_where_those_of_f32_do),
        cmocka_unit_test(test_the_decoders_numbers_stay_as_they_are_unless_int8_is_asked_for),
        cmocka_unit_test(test_auto_is_what_the_level_gains_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
