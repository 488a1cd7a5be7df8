/* steno tests: the shapes of the models there are. SPDX-License-Identifier: MIT
 *
 * Each known shape as a file that exists only as a rule, opened without its weights: what the ten numbers say, the layout of the vocabulary
 * and its languages, heads, the list of commands and the number of weights. Shapes are those of openai-whisper 20250625 and of the
 * distilled models; numbers of weights are the published ones. */
#include "api/shipped.h"

struct shape {
    const char *name;
    int32_t d, heads, enc, dec, mels, vocab;
    double millions;    /* of weights */
    int32_t n_heads;    /* that word times are read from */
    const char *first, *last;
};

static const struct shape shapes[] = {
    { "tiny", 384, 6, 4, 4, 80, MULTILINGUAL, 37.8, 6, "2,2", "3,5" },
    { "tiny.en", 384, 6, 4, 4, 80, ENGLISH, 37.8, 8, "1,0", "3,4" },
    { "base", 512, 8, 6, 6, 80, MULTILINGUAL, 72.6, 8, "3,1", "5,6" },
    { "base.en", 512, 8, 6, 6, 80, ENGLISH, 72.6, 5, "3,3", "5,7" },
    { "small", 768, 12, 12, 12, 80, MULTILINGUAL, 241.7, 10, "5,3", "10,5" },
    { "small.en", 768, 12, 12, 12, 80, ENGLISH, 241.7, 19, "6,6", "11,4" },
    { "medium", 1024, 16, 24, 24, 80, MULTILINGUAL, 763.9, 6, "13,15", "23,4" },
    { "medium.en", 1024, 16, 24, 24, 80, ENGLISH, 763.9, 18, "11,4", "21,12" },
    { "large-v2", 1280, 20, 32, 32, 80, MULTILINGUAL, 1543.3, 23, "10,12", "27,15" },
    { "large-v3", 1280, 20, 32, 32, 128, LANGUAGES_100, 1543.5, 10, "7,0", "25,6" },
    { "turbo", 1280, 20, 32, 4, 128, LANGUAGES_100, 808.9, 6, "2,4", "3,14" },
    { "distil-small.en", 768, 12, 12, 4, 80, ENGLISH, 166.1, 24, "2,0", "3,11" }, /* the upper half of the layers */
    { "distil-medium.en", 1024, 16, 24, 2, 80, ENGLISH, 394.4, 16, "1,0", "1,15" },
    { "distil-large-v2", 1280, 20, 32, 2, 80, MULTILINGUAL, 756.2, 20, "1,0", "1,19" },
    { "distil-large-v3", 1280, 20, 32, 2, 128, LANGUAGES_100, 756.4, 20, "1,0", "1,19" },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static steno_model *shape_open(const char *name, const char *type, enum steno_compute compute)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.index_only = 1;
    p.compute = (int32_t)compute;
    if (steno_model_open_random(&m, name, type, 1, &p, &e)) fail_msg("%s: %s", name, e.text);
    return m;
}

static void check_dims(const steno_model *m, const struct shape *s)
{
    steno_model_info i = { .size = sizeof i };
    assert_int_equal(steno_model_info_get(m, &i), STENO_OK);
    assert_string_equal(i.family, "whisper");
    assert_string_equal(i.name, s->name);
    const int32_t got[] = { i.n_mels, i.n_audio_ctx, i.n_audio_state, i.n_audio_head, i.n_audio_layer,
                            i.n_vocab, i.n_text_ctx, i.n_text_state, i.n_text_head, i.n_text_layer };
    const int32_t want[] = { s->mels, 1500, s->d, s->heads, s->enc, s->vocab, 448, s->d, s->heads, s->dec };
    assert_memory_equal(got, want, sizeof want);
    if (fabs((double)i.parameters / 1e6 - s->millions) > 0.005 * s->millions)
        fail_msg("%s: %lld weights, want some %g million", s->name, (long long)i.parameters, s->millions);
    int32_t n = 0;
    for (const char *c = i.alignment_heads; *c; c++) n += *c == ',';
    assert_int_equal(n, s->n_heads);
    assert_memory_equal(i.alignment_heads, s->first, strlen(s->first));
    assert_string_equal(i.alignment_heads + strlen(i.alignment_heads) - strlen(s->last), s->last);
}

/* Text, end, start, languages, tasks, then 1501 times. */
static void check_vocabulary(const steno_model *m, const struct shape *s)
{
    const int32_t languages = s->vocab == ENGLISH ? 0 : s->vocab - MULTILINGUAL + 99, eot = s->vocab == ENGLISH ? 50256 : 50257;
    const int32_t lang = eot + 2, tasks = lang + (languages ? languages : 99);
    static const int task[] = { STENO_TOKEN_TRANSLATE, STENO_TOKEN_TRANSCRIBE, STENO_TOKEN_START_LM, STENO_TOKEN_PREVIOUS,
                                STENO_TOKEN_NO_SPEECH, STENO_TOKEN_NO_TIMESTAMPS, STENO_TOKEN_TIMESTAMP };
    assert_int_equal(steno_token_id(m, STENO_TOKEN_END), eot);
    assert_int_equal(steno_token_id(m, STENO_TOKEN_START), eot + 1);
    for (int32_t i = 0; i < 7; i++) assert_int_equal(steno_token_id(m, task[i]), tasks + i);
    assert_int_equal(tasks + 6 + 1501, s->vocab);
    int32_t n = 0;
    while (steno_model_language(m, n)) n++;
    assert_int_equal(n, languages);
    if (!languages) return;
    assert_int_equal(steno_token_id(m, STENO_TOKEN_LANGUAGE), lang);
    assert_int_equal(steno_language_id(m, "en"), 0);
    assert_int_equal(steno_language_id(m, "su"), 98);
    assert_int_equal(steno_language_id(m, "yue"), languages > 99 ? 99 : -1);
}

struct lists { int32_t commands[3]; int n, states, packs; };

static void read_line(void *user, const char *line)
{
    struct lists *l = user;
    const char *at = strncmp(line, "plan ", 5) ? NULL : strchr(line, ':');
    if (at && l->n < 3) l->commands[l->n++] = (int32_t)strtol(at + 1, NULL, 10);
    l->states += !strncmp(line, "state ", 6);
    l->packs += strstr(line, " kv_pack ") != NULL;
}

/* Seven commands a layer of the encoder, eight where attention is in integers, one for each layer's cross keys, eleven a layer of the
 * decoder; three a head that aligns. */
static void check_plans(const steno_model *m, const struct shape *s, int stages, enum steno_compute compute)
{
    struct lists l = { { 0 }, 0, 0, 0 };
    assert_int_equal(steno_plan_dump(m, read_line, &l), STENO_OK);
    assert_true(!l.packs || (l.packs == s->enc && compute != STENO_COMPUTE_F32 && compute != STENO_COMPUTE_BF16));
    const int32_t want[] = { 3 + 7 * s->enc + l.packs + s->dec,
                             1 + 11 * s->dec + 4 + 2 * (stages - 1), 1 + 11 * s->dec + 3 * s->n_heads + 4 };
    assert_int_equal(l.n, 3);
    assert_memory_equal(l.commands, want, sizeof want);
    assert_int_equal(l.states, 2);
}

static void test_every_known_shape_is_what_it_is_published_to_be(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        steno_model *m = shape_open(shapes[i].name, "f16", STENO_COMPUTE_F32);
        check_dims(m, &shapes[i]);
        check_vocabulary(m, &shapes[i]);
        check_plans(m, &shapes[i], 1, STENO_COMPUTE_F32);
        steno_model_close(m);
    }
}

static void test_narrow_and_quantised_ones_have_plans_and_no_sessions_without_weights(void **state)
{
    (void)state;
    static const struct { const char *name, *type; enum steno_compute compute; int stages; } c[] = {
        { "base.en", "q8_0", STENO_COMPUTE_AUTO, 1 },          { "large-v3", "q5_0", STENO_COMPUTE_INT8, 1 },
        { "distil-large-v3", "q4_k", STENO_COMPUTE_INT16, 1 }, { "large-v2", "f32", STENO_COMPUTE_INT8, 2 },
        { "turbo", "f16", STENO_COMPUTE_BF16, 2 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        int k = 0;
        while (strcmp(shapes[k].name, c[i].name) != 0) k++;
        steno_model *m = shape_open(c[i].name, c[i].type, c[i].compute);
        check_dims(m, &shapes[k]);
        check_plans(m, &shapes[k], c[i].stages, c[i].compute);
        steno_session *s = NULL;
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), STENO_EARG);
        assert_null(s);
        steno_model_close(m);
    }
}

static void test_recognisers_of_clips_are_as_large_as_the_published_ones(void **state)
{
    (void)state;
    static const struct { const char *name; double millions; int32_t layers, text_layers, n_vocab; } c[] = {
        { "sensevoice", 234, 70, 0, 25055 }, { "paraformer", 216, 50, 17, 8404 },
    };
    static const char *const type[] = { "f16", "q8_0", "q4_k" }; /* rows of 560 are not whole blocks */
    for (int i = 0; i < 6; i++) {
        steno_model *m = shape_open(c[i / 3].name, type[i % 3], STENO_COMPUTE_AUTO);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_string_equal(info.family, c[i / 3].name);
        assert_int_equal(info.n_audio_layer, c[i / 3].layers);
        assert_int_equal(info.n_text_layer, c[i / 3].text_layers);
        assert_int_equal(info.n_vocab, c[i / 3].n_vocab);
        assert_true(fabs((double)info.parameters / 1e6 - c[i / 3].millions) < 0.02 * c[i / 3].millions);
        steno_model_close(m);
    }
}

static void test_parakeets_are_as_large_as_the_published_ones(void **state)
{
    (void)state;
    static const struct { const char *shape, *name; double millions; int32_t layers, n_mels, n_vocab; } c[] = {
        { "parakeet-tdt-0.6b-v3", "tdt", 627, 24, 128, 8193 }, { "parakeet-tdt-0.6b-v2", "tdt", 618, 24, 128, 1025 },
        { "parakeet-tdt-1.1b", "tdt", 1070, 42, 80, 1025 },    { "parakeet-tdt_ctc-110m", "tdt", 114, 17, 80, 1025 },
        { "parakeet-rnnt-0.6b", "rnnt", 618, 24, 80, 1025 },   { "parakeet-rnnt-1.1b", "rnnt", 1070, 42, 80, 1025 },
        { "parakeet-ctc-0.6b", "ctc", 609, 24, 80, 1025 },     { "parakeet-ctc-1.1b", "ctc", 1062, 42, 80, 1025 },
        { "nemotron-speech-streaming-en-0.6b", "rnnt", 618, 24, 128, 1025 },
        { "nemotron-3.5-asr-streaming-0.6b", "rnnt", 638, 24, 128, 13088 },
    };
    static const char *const type[] = { "f16", "q8_0", "q4_k" };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_model *m = shape_open(c[i].shape, type[i % 3], STENO_COMPUTE_AUTO);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_string_equal(info.name, c[i].name);
        assert_int_equal(info.n_audio_layer, c[i].layers);
        assert_int_equal(info.n_mels, c[i].n_mels);
        assert_int_equal(info.n_vocab, c[i].n_vocab);
        if (fabs((double)info.parameters / 1e6 - c[i].millions) > 0.02 * c[i].millions)
            fail_msg("%s: %g million parameters", c[i].shape, (double)info.parameters / 1e6);
        steno_model_close(m);
    }
}

static void test_audio_language_models_are_as_large_as_the_published_ones(void **state)
{
    (void)state;
    static const struct { const char *shape, *name; double millions; int32_t d, layers, text_d; } c[] = {
        { "qwen3-asr-0.6b", "0.6b", 782, 896, 18, 1024 }, { "qwen3-asr-1.7b", "1.7b", 2038, 1024, 24, 2048 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_model *m = shape_open(c[i].shape, i ? "q8_0" : "f16", STENO_COMPUTE_AUTO);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_string_equal(info.name, c[i].name);
        const int32_t got[] = { info.n_audio_state, info.n_audio_layer, info.n_mels, info.n_text_state, info.n_text_layer, info.n_vocab };
        const int32_t want[] = { c[i].d, c[i].layers, 128, c[i].text_d, 28, 151936 };
        assert_memory_equal(got, want, sizeof want);
        if (fabs((double)info.parameters / 1e6 - c[i].millions) > 0.01 * c[i].millions)
            fail_msg("%s: %g million parameters", c[i].shape, (double)info.parameters / 1e6);
        steno_model_close(m);
    }
}

static void test_every_language_has_its_token_and_its_name(void **state)
{
    (void)state;
    steno_model *m = shape_open("turbo", "q8_0", STENO_COMPUTE_AUTO);
    const char *code;
    for (int i = 0; (code = steno_model_language(m, i)); i++) {
        assert_int_equal(steno_language_id(m, code), i);
        const char *name = steno_language_name(code);
        assert_non_null(name);
        assert_int_equal(steno_language_id(m, name), i);
        for (int k = 0; k < i; k++) assert_string_not_equal(code, steno_model_language(m, k));
    }
    steno_model_close(m);
}

/* Two layers as wide as large's, with the languages of v3, decode and align; what the widths of the other shapes give is compared with the
 * slow network in unit tests. */
static void test_layers_as_wide_as_large_transcribe(void **state)
{
    (void)state;
    const struct whisper_dims d = { 128, 50, 1280, 20, 1, LANGUAGES_100, 64, 1280, 20, 1 };
    steno_model *m = random_model_as(&d, DT_Q4_0, 1, NULL, STENO_COMPUTE_AUTO);
    steno_session *s = session_new(m, NULL, 2);
    struct audio a = demo_audio(0, 0, 1);
    steno_transcribe_params p = params_new();
    p.language = "auto";
    p.word_timestamps = 1;
    p.beam_size = 2;
    p.sample_len = 4;
    p.temperature_increment_on_fallback = 0;
    if (steno_transcribe(s, a.pcm, RATE, &p)) fail_msg("%s", steno_last_error(s));
    assert_true(steno_language_id(m, steno_language(s)) >= 0);
    double sum = 0;
    for (int i = 0; i < 100; i++) sum += (double)steno_language_prob(s, i);
    assert_true(fabs(sum - 1) < 1e-4);
    assert_true(steno_segment_count(s) > 0);
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
}

/* Weights of transformers' safetensors files; keys and values are f16 beside blocks of int8, as here, else f32. */
static void test_language_models_are_as_large_as_the_published_ones(void **state)
{
    (void)state;
    static const struct { const char *name, *family; int32_t d, heads, layers, vocab; double millions; int64_t kv; } c[] = {
        { "qwen3-0.6b", "qwen3", 1024, 16, 28, 151936, 596.0, 28 * 8 * 128 * 2 },
        { "qwen3-1.7b", "qwen3", 2048, 16, 28, 151936, 1720.6, 28 * 8 * 128 * 2 },
        { "llama-3.2-1b", "llama", 2048, 32, 16, 128256, 1235.8, 16 * 8 * 64 * 2 },
        { "gemma-3-1b", "gemma3", 1152, 4, 26, 262144, 999.9, 26 * 256 * 2 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_model *m = shape_open(c[i].name, "q8_0", STENO_COMPUTE_F32);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_string_equal(info.family, c[i].family);
        const int32_t got[] = { info.n_text_state, info.n_text_head, info.n_text_layer, info.n_vocab };
        const int32_t want[] = { c[i].d, c[i].heads, c[i].layers, c[i].vocab };
        assert_memory_equal(got, want, sizeof want);
        if (fabs((double)info.parameters / 1e6 - c[i].millions) > 0.001 * c[i].millions)
            fail_msg("%s: %lld weights, want some %g million", c[i].name, (long long)info.parameters, c[i].millions);
        assert_int_equal(info.token_bytes, c[i].kv * (int64_t)sizeof(float));
        steno_model_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_known_shape_is_what_it_is_published_to_be),
        cmocka_unit_test(test_narrow_and_quantised_ones_have_plans_and_no_sessions_without_weights),
        cmocka_unit_test(test_recognisers_of_clips_are_as_large_as_the_published_ones),
        cmocka_unit_test(test_language_models_are_as_large_as_the_published_ones),
        cmocka_unit_test(test_parakeets_are_as_large_as_the_published_ones),
        cmocka_unit_test(test_audio_language_models_are_as_large_as_the_published_ones),
        cmocka_unit_test(test_every_language_has_its_token_and_its_name),
        cmocka_unit_test(test_layers_as_wide_as_large_transcribe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
