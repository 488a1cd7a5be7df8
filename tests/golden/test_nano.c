/* steno tests: Fun-ASR-Nano against the reference. SPDX-License-Identifier: MIT
 *
 * The small model of the collection: rows of encoder and adaptor, ids of prompts, ids and texts of all results, from every form of its
 * files. In f32, as the reference computes. */
#include <unistd.h>
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
            const struct audio_lm_options o = { q->language, q->hotwords, !q->woitn };
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

static void test_two_files_beside_each_other_are_the_same_model(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    steno_model *m;
    steno_error e;
    put(&d, "funasr-encoder-mini.gguf");
    put(&d, "qwen3-mini-f32.gguf");
    if (model_open_f32(&m, folder_at(&d, "funasr-encoder-mini.gguf").path, &e)) fail_msg("%s", e.text);
    compare_all(m);
    steno_model_close(m);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_encoder_and_adaptor_are_the_references),
        cmocka_unit_test(test_prompts_have_the_references_ids),
        cmocka_unit_test(test_a_clip_is_an_eighth_of_its_rows_rounded_up_thrice),
        cmocka_unit_test(test_ids_and_texts_are_the_references),
        cmocka_unit_test(test_two_files_beside_each_other_are_the_same_model),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, group_begin, funasr_close);
}
