/* steno tests: Fun-ASR-Nano against the reference. SPDX-License-Identifier: MIT
 *
 * The small model of the collection: rows of encoder and adaptor, ids of prompts, ids and texts of all results, from every form of its
 * files. In f32, as the reference computes. */
#include <unistd.h>
#include "../api/convert.h"
#include "batch.h"
#include "folder.h"
#include "funasr.h"
#include "internal.h"

/* How the reference was asked, by names of the goldens. */
static const struct asked { const char *name, *language, *hotwords; int woitn; double penalty; } asked[] = {
    { "default", NULL, NULL, 0, 1 }, { "woitn", NULL, NULL, 1, 1 }, { "en", "en", NULL, 0, 1 },
    { "zh", "Chinese", NULL, 0, 1 }, { "hotwords", NULL, "seven\n 三四 \n", 0, 1 }, { "rep1.3", NULL, NULL, 0, 1.3 },
};
enum { N_ASKED = sizeof asked / sizeof *asked };

static int group_begin(void **state)
{
    (void)state;
    funasr_open_f32("golden/nano/golden.json", "models/nano/pt");
    return 0;
}

static steno_transcribe_params params_of(const struct asked *q)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = q->language;
    p.hotwords = q->hotwords;
    p.itn = !q->woitn;
    p.repetition_penalty = q->penalty;
    return p;
}

static void run_file(steno_session *s, const char *name, const steno_transcribe_params *p)
{
    struct sound a = { 0 };
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", name).s), 0);
    if (steno_transcribe(s, a.pcm, a.n, p)) fail_msg("%s: %s", name, steno_last_error(s));
    sound_free(&a);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------------- */

struct rows_told { const char *stem; int n; };

static void on_rows(void *user, const steno_rows *r)
{
    struct rows_told *t = user;
    char name[96];
    if (!strcmp(r->name, "features")) return;
    snprintf(name, sizeof name, "golden/nano/%%s.%s.npy", r->name);
    const double d = funasr_distance(r->rows, (size_t)r->stride, (size_t)r->width, name, t->stem);
    print_message("%s, %s: %d rows, distance %.2g\n", t->stem, r->name, (int)r->n_rows, d);
    assert_true(d <= 1e-4);
    t->n++;
}

static void test_rows_of_encoder_and_adaptor_are_the_references(void **state)
{
    (void)state;
    static const char *const stems[] = { "en_george", "zh_synth" };
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    for (int i = 0; i < 2; i++) {
        struct rows_told told = { stems[i], 0 };
        steno_transcribe_params p = params_of(&asked[0]);
        p.on_rows = on_rows;
        p.user = &told;
        run_file(s, stems[i], &p);
        assert_int_equal(told.n, 2);
    }
    steno_session_close(s);
}

/* ---- prompts ------------------------------------------------------------------------------------------------------------------- */

static void test_prompts_have_the_references_ids(void **state)
{
    (void)state;
    const char *name;
    json_t *file;
    int n = 0;
    json_object_foreach(json_object_get(golden, "files"), name, file) {
        for (const struct asked *q = asked; q < asked + N_ASKED; q++) {
            json_t *want = json_object_get(json_object_get(file, "results"), q->name), *ids = json_object_get(want, "source_ids");
            if (!want) continue;
            const struct audio_lm_options o = { .language = q->language, .hotwords = q->hotwords, .itn = !q->woitn };
            struct buf before = { 0 }, behind = { 0 };
            assert_int_equal(inside_family(model)->audio_lm->prompt(model, &o, &before, &behind, NULL), 0);
            const size_t rows = (size_t)json_integer_value(json_object_get(want, "audio_tokens"));
            const size_t n1 = before.len / 4, n2 = behind.len / 4;
            assert_int_equal(json_array_size(ids), n1 + rows + n2);
            for (size_t i = 0; i < n1 + rows + n2; i++) {
                const json_int_t id = json_integer_value(json_array_get(ids, i));
                if (i < n1) assert_int_equal(((int32_t *)(void *)before.p)[i], id);
                else if (i < n1 + rows) assert_int_equal(id, 0);
                else assert_int_equal(((int32_t *)(void *)behind.p)[i - n1 - rows], id);
            }
            buf_free(&before);
            buf_free(&behind);
            n++;
        }
    }
    assert_true(n >= 50);
}

static void test_a_clip_is_an_eighth_of_its_rows_rounded_up_thrice(void **state)
{
    (void)state;
    int32_t (*const rows)(int32_t) = inside_family(model)->audio_lm->rows;
    assert_int_equal(rows(500), 63);
    assert_int_equal(rows(742), 93);
    for (int32_t n = 1; n < 1000; n++) assert_int_equal(rows(n), (n + 7) / 8);
}

/* ---- texts --------------------------------------------------------------------------------------------------------------------- */

static void compare(steno_session *s, const char *file, const struct asked *q, json_t *want)
{
    const steno_transcribe_params p = params_of(q);
    json_t *ids = json_object_get(want, "generated_ids");
    const char *text = json_string_value(json_object_get(want, "text"));
    steno_segment g = { .size = sizeof g };
    run_file(s, file, &p);
    while (*text == ' ') text++;
    if (strcmp(steno_text(s), text) != 0) fail_msg("%s, %s: \"%s\", want \"%s\"", file, q->name, steno_text(s), text);
    if (!*text) return;
    assert_int_equal(steno_segment_count(s), 1);
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    assert_int_equal(g.n_words, 0);
    assert_int_equal(g.n_tokens + 1, json_array_size(ids)); /* and the end */
    for (int i = 0; i < g.n_tokens; i++)
        if (g.tokens[i] != json_integer_value(json_array_get(ids, (size_t)i)))
            fail_msg("%s, %s: id %d is %d", file, q->name, i, (int)g.tokens[i]);
}

static int compare_all(steno_model *m)
{
    steno_session *s;
    const char *name;
    json_t *file;
    int n = 0;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(golden, "files"), name, file) {
        for (const struct asked *q = asked; q < asked + N_ASKED; q++) {
            json_t *want = json_object_get(json_object_get(file, "results"), q->name);
            if (!want) continue;
            compare(s, name, q, want);
            n++;
        }
    }
    steno_session_close(s);
    return n;
}

static void test_ids_and_texts_are_the_references(void **state)
{
    (void)state;
    const int n = compare_all(model);
    print_message("%d results\n", n);
    assert_true(n >= 50);
}

/* The collection's file `name`, in the folder. */
static void put(const struct folder *d, const char *name)
{
    const struct golden_path from = funasr_file("models/nano/gguf/%s", name);
    assert_int_equal(symlink(from.s, folder_at(d, name).path), 0);
}

static int open_with(steno_model **m, const char *path, const char *llm, steno_error *e)
{
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = STENO_COMPUTE_F32;
    p.llm = llm;
    return steno_model_open(m, path, &p, e);
}

static void test_two_files_are_the_same_model_beside_each_other_or_apart(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct golden_path llm = funasr_file("%s", "models/nano/gguf/qwen3-mini-f32.gguf");
    steno_model *m;
    steno_error e;
    put(&d, "funasr-encoder-mini.gguf");
    for (int beside = 0; beside < 2; beside++) {
        if (open_with(&m, folder_at(&d, "funasr-encoder-mini.gguf").path, beside ? NULL : llm.s, &e)) fail_msg("%s", e.text);
        compare_all(m);
        steno_model_close(m);
        if (!beside) put(&d, "qwen3-mini-f32.gguf");
    }
    folder_remove(&d);
}

/* One file, of the folder, of two files, and of one. */
static void test_one_file_is_the_same_model(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct folder_file enc = folder_at(&d, "funasr-encoder-mini.gguf"), one = folder_at(&d, "one.gguf");
    const struct golden_path dir = funasr_file("%s", "models/nano/pt");
    put(&d, "funasr-encoder-mini.gguf");
    put(&d, "qwen3-mini-f32.gguf");
    const char *const from[] = { dir.s, enc.path, one.path };
    for (int i = 0; i < 3; i++) {
        struct buf b = { 0 };
        steno_model *m;
        steno_error e;
        if (convert_to(&b, from[i], "f32", &e)) fail_msg("%s: %s", from[i], e.text);
        folder_put(&d, "one.gguf", b.p, b.len);
        buf_free(&b);
        if (open_with(&m, one.path, NULL, &e)) fail_msg("%s", e.text);
        assert_true(compare_all(m) >= 50);
        steno_model_close(m);
    }
    folder_remove(&d);
}

/* Types round: the number of texts that changes is printed, not asserted. */
static void test_narrow_files_give_texts(void **state)
{
    (void)state;
    static const char *const pair[][2] = { { "funasr-encoder-mini-f16.gguf", "qwen3-mini-f16.gguf" },
                                           { "funasr-encoder-mini-f16.gguf", "qwen3-mini-f16-tied.gguf" },
                                           { "funasr-encoder-mini-q8.gguf", "qwen3-mini-q8_0.gguf" } };
    for (int i = 0; i < 3; i++)
        for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_INT16; compute++) {
            const struct golden_path enc = funasr_file("models/nano/gguf/%s", pair[i][0]);
            const struct golden_path llm = funasr_file("models/nano/gguf/%s", pair[i][1]);
            steno_model_params p;
            steno_model *m;
            steno_session *s;
            steno_error e;
            const char *name;
            json_t *file;
            int n = 0, same = 0;
            steno_model_params_init(&p);
            p.compute = compute;
            p.llm = llm.s;
            if (steno_model_open(&m, enc.s, &p, &e)) fail_msg("%s", e.text);
            assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
            json_object_foreach(json_object_get(golden, "files"), name, file) {
                const steno_transcribe_params q = params_of(&asked[0]);
                const char *text = json_string_value(json_object_get(json_object_get(json_object_get(file, "results"), "default"), "text"));
                run_file(s, name, &q);
                same += strcmp(steno_text(s), text + strspn(text, " ")) == 0;
                n++;
            }
            print_message("%s, %s, compute %d: %d of %d texts are the reference's\n", pair[i][0], pair[i][1], compute, same, n);
            assert_true(same >= n - 2);
            steno_session_close(s);
            steno_model_close(m);
        }
}

/* ---- what is wrong with a model ------------------------------------------------------------------------------------------------ */

static void refused(const char *path, const char *llm, const char *why)
{
    steno_model *m;
    steno_error e;
    const int rc = open_with(&m, path, llm, &e);
    if (!rc || !strstr(e.text, why)) fail_msg("%s: \"%s\", want \"%s\"", path, rc ? e.text : "it opens", why);
    assert_true(rc == STENO_EFORMAT || rc == STENO_EIO);
}

static void test_a_language_model_that_is_missing_or_another_is_refused(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct folder_file enc = folder_at(&d, "funasr-encoder-mini.gguf");
    put(&d, "funasr-encoder-mini.gguf");
    refused(enc.path, NULL, "its language model is missing");
    refused(enc.path, "/no/such.gguf", "/no/such.gguf");
    refused(enc.path, enc.path, "want a GGUF file of the architecture qwen3");
    put(&d, "qwen3-mini-f32.gguf");
    put(&d, "qwen3-mini-f16.gguf");
    refused(enc.path, NULL, "two GGUF files of the architecture qwen3");
    const struct golden_path alone = funasr_file("%s", "models/nano/safetensors");
    refused(alone.s, NULL, "there is no Qwen3-0.6B/config.json");
    folder_remove(&d);
}

/* ---- windows ------------------------------------------------------------------------------------------------------------------- */

static int count_window(void *user, int64_t at_ms)
{
    int64_t *at = user;
    at[1 + at[0]++] = at_ms;
    return at[0] < 8;
}

/* 44 s of other files, one behind the other. */
static float *long_audio(int64_t n)
{
    float *pcm = calloc((size_t)n, sizeof *pcm);
    const char *name;
    json_t *file;
    int64_t at = 0;
    while (at < n)
        json_object_foreach(json_object_get(golden, "files"), name, file) {
            struct sound a = { 0 };
            assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", name).s), 0);
            for (int64_t i = 0; i < a.n && at < n; i++) pcm[at++] = a.pcm[i];
            sound_free(&a);
        }
    return pcm;
}

enum { LONG_S = 44, RATE_HZ = 16000 };

static void test_windows_of_15_s_are_three_of_44_s(void **state)
{
    (void)state;
    int64_t at[10] = { 0 };
    steno_transcribe_params p = params_of(&asked[0]);
    steno_session *s;
    float *pcm = long_audio(LONG_S * RATE_HZ);
    p.chunk_ms = 15000;
    p.on_window = count_window;
    p.user = at;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    assert_int_equal(steno_transcribe(s, pcm, LONG_S * RATE_HZ, &p), 0);
    assert_int_equal(at[0], 3);
    for (int i = 0; i < 3; i++) assert_int_equal(at[1 + i], 15000 * i);
    steno_session_close(s);
    free(pcm);
}

/* Windows side by side, and requests, have the texts of each alone. */
static void test_windows_in_a_batch_have_the_texts_of_each_alone(void **state)
{
    (void)state;
    steno_transcribe_params p = params_of(&asked[0]);
    steno_session *alone, *s[2];
    steno_batch *b = batch_with(model, 8);
    float *pcm = long_audio(LONG_S * RATE_HZ);
    p.chunk_ms = 3000;
    assert_int_equal(steno_session_open(&alone, model, NULL, NULL, NULL), 0);
    assert_int_equal(steno_transcribe(alone, pcm, LONG_S * RATE_HZ, &p), 0);
    struct pcm memory[2];
    steno_source src[2];
    for (int i = 0; i < 2; i++) {
        s[i] = member_new(model, b);
        memory[i] = (struct pcm){ pcm, LONG_S * RATE_HZ, 0, 0 };
        src[i] = pcm_source(&memory[i]);
        assert_int_equal(steno_batch_add(b, s[i], &src[i], &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(steno_text(s[i]), steno_text(alone));
        assert_int_equal(steno_segment_count(s[i]), steno_segment_count(alone));
        for (int k = 0; k < steno_segment_count(alone); k++) {
            steno_segment x = { .size = sizeof x }, y = { .size = sizeof y };
            steno_segment_get(s[i], k, &x);
            steno_segment_get(alone, k, &y);
            assert_true(x.avg_logprob == y.avg_logprob && x.t0_ms == y.t0_ms && x.n_tokens == y.n_tokens);
        }
        steno_session_close(s[i]);
    }
    steno_session_close(alone);
    steno_batch_close(b);
    free(pcm);
}

/* Wherever it is asked to stop it does, and what it has is whole. */
static void test_a_callback_stops_a_call_anywhere(void **state)
{
    (void)state;
    steno_transcribe_params p = params_of(&asked[0]);
    struct stopping t = { 0, 1 << 30 };
    steno_session *s;
    p.should_abort = stop_at;
    p.user = &t;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    run_file(s, "zh_synth", &p);
    const int all = t.calls;
    for (int at = 1; at < all; at += 1 + at / 3) {
        struct sound a = { 0 };
        t = (struct stopping){ 0, at };
        assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", "zh_synth").s), 0);
        const int rc = steno_transcribe(s, a.pcm, a.n, &p);
        assert_int_equal(rc, STENO_ECANCELED);
        sound_free(&a);
    }
    t = (struct stopping){ 0, 1 << 30 };
    run_file(s, "zh_synth", &p);
    assert_string_equal(steno_text(s), json_string_value(json_object_get(json_object_get(json_object_get(json_object_get(
        json_object_get(golden, "files"), "zh_synth"), "results"), "default"), "text")));
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_encoder_and_adaptor_are_the_references),
        cmocka_unit_test(test_prompts_have_the_references_ids),
        cmocka_unit_test(test_a_clip_is_an_eighth_of_its_rows_rounded_up_thrice),
        cmocka_unit_test(test_ids_and_texts_are_the_references),
        cmocka_unit_test(test_two_files_are_the_same_model_beside_each_other_or_apart),
        cmocka_unit_test(test_one_file_is_the_same_model),
        cmocka_unit_test(test_narrow_files_give_texts),
        cmocka_unit_test(test_a_language_model_that_is_missing_or_another_is_refused),
        cmocka_unit_test(test_windows_of_15_s_are_three_of_44_s),
        cmocka_unit_test(test_windows_in_a_batch_have_the_texts_of_each_alone),
        cmocka_unit_test(test_a_callback_stops_a_call_anywhere),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, group_begin, funasr_close);
}
