/* steno tests: punctuation against the reference. SPDX-License-Identifier: MIT
 *
 * The small CT-Transformer of the collection, from every form of its files, over its own texts and over random ones of up to 500 words in
 * mixed scripts (make_punctuation.py); and tiny ones with random weights: one that marks text as it comes, over several calls; one whose
 * heads are of no multiple of four numbers. */
#include "api/convert.h"
#include "funasr.h"
#include "internal.h"

static double const margin_least = 1e-3; /* of the head's outputs: where a choice is closer, either result is right */

static json_t *more; /* of make_punctuation.py */

static const char *value_of(const json_t *o, const char *key) { return json_string_value(json_object_get(o, key)); }

static void compare(steno_session *s, const json_t *want)
{
    const json_t *ids = json_object_get(want, "punc");
    const char *text = value_of(want, "text"), *out = value_of(want, "out");
    if (steno_punctuate(s, text, NULL)) fail_msg("%s", steno_last_error(s));
    if (strcmp(steno_text(s), out) != 0) fail_msg("\"%s\": \"%s\", want \"%s\"", text, steno_text(s), out);
    assert_int_equal(steno_mark_count(s), json_array_size(ids));
    int64_t last = 0;
    for (int i = 0; i < steno_mark_count(s); i++) {
        steno_mark m = { .size = sizeof m };
        assert_int_equal(steno_mark_get(s, i, &m), STENO_OK);
        if (m.id != json_integer_value(json_array_get(ids, (size_t)i))) fail_msg("\"%s\": mark %d is %d", text, i, (int)m.id);
        assert_true(m.at >= last && m.end > m.at && m.end <= (int64_t)strlen(text));
        last = m.end;
    }
}

/* Random texts that are no closer than that. @return their number */
static int compare_more(steno_session *s, const char *set, double margin)
{
    const json_t *all = json_object_get(more, set), *want;
    size_t i;
    int n = 0;
    json_array_foreach(all, i, want) {
        if (json_number_value(json_object_get(want, "margin")) < margin) continue;
        compare(s, want);
        n++;
    }
    return n;
}

static int compare_model(const steno_model *m, const char *set, double margin)
{
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    const int n = compare_more(s, set, margin);
    steno_session_close(s);
    return n;
}

static void test_outputs_and_marks_are_the_references(void **state)
{
    (void)state;
    steno_session *s;
    const json_t *want;
    size_t i;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    const struct plan *plan = inside_plan(model, PLAN_ENCODER);
    const struct slot *slot = &plan->slot[plan->output];
    double worst = 0;
    json_array_foreach(golden, i, want) {
        compare(s, want);
        const json_t *rows = json_object_get(want, "first_block_logits");
        if (json_array_size(json_object_get(want, "ids")) > 20) continue; /* what is left is of the last block */
        const float *ours = inside_slot(s, plan, plan->output);
        for (size_t r = 0; r < json_array_size(rows); r++)
            for (size_t k = 0; k < slot->width; k++)
                worst = fmax(worst, fabs(ours[r * slot->ld + k] - json_number_value(json_array_get(json_array_get(rows, r), k))));
    }
    steno_session_close(s);
    print_message("%zu texts, outputs within %.2g\n", i, worst);
    assert_true(i >= 16 && worst < 1e-3);
}

static void test_random_texts_are_the_references(void **state)
{
    (void)state;
    const int n = compare_model(model, "offline", margin_least);
    print_message("%d texts compared\n", n);
    assert_true(n >= 50);
}

static void test_every_form_gives_the_same_marks(void **state)
{
    (void)state;
    static const struct { const char *type; double margin; int least; } form[] = {
        { "f32", 1e-3, 50 }, { "f16", 2e-2, 40 }, { "bf16", 0.1, 20 }, { "q8_0", 0.1, 20 }, { "q4_0", 3, 0 } };
    steno_model *m;
    steno_error e;
    struct golden_path dir = funasr_safetensors("punc");
    if (steno_model_open(&m, dir.s, NULL, &e)) fail_msg("%s", e.text);
    assert_true(compare_model(m, "offline", margin_least) >= 50);
    steno_model_close(m);
    funasr_safetensors_remove(dir);
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct buf file = { 0 };
        if (convert_to(&file, funasr_file("%s", "models/punc/pt").s, form[i].type, &e)) fail_msg("%s: %s", form[i].type, e.text);
        if (steno_model_open_memory(&m, file.p, file.len, NULL, &e)) fail_msg("%s: %s", form[i].type, e.text);
        const int n = compare_model(m, "offline", form[i].margin);
        print_message("%s: %zu bytes, %d texts compared\n", form[i].type, file.len, n);
        assert_true(n >= form[i].least);
        steno_model_close(m);
        buf_free(&file);
    }
}

/* Kernels take heads of multiples of four numbers; these have 43, as those of the large model that is published. */
static void test_heads_of_any_width_give_the_references_marks(void **state)
{
    (void)state;
    static const struct { const char *type; double margin; int least; } form[] = {
        { "f32", 1e-3, 34 }, { "f16", 1e-3, 34 }, { "bf16", 0.1, 20 } };
    steno_model *m;
    steno_error e;
    if (steno_model_open(&m, "tests/data/punctuation_heads", NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(compare_model(m, "heads", margin_least), 34);
    steno_model_close(m);
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct buf file = { 0 };
        if (convert_to(&file, "tests/data/punctuation_heads", form[i].type, &e)) fail_msg("%s: %s", form[i].type, e.text);
        if (steno_model_open_memory(&m, file.p, file.len, NULL, &e)) fail_msg("%s: %s", form[i].type, e.text);
        const int n = compare_model(m, "heads", form[i].margin);
        print_message("%s: %zu bytes, %d texts compared\n", form[i].type, file.len, n);
        assert_true(n >= form[i].least);
        steno_model_close(m);
        buf_free(&file);
    }
}

/* ---- words of Chinese ---------------------------------------------------------------------------------------------------------- */

static const char words_folder[] = "tests/data/punctuation_words";

/* As FunASR has it: a mark for each character of a word that begins with one that is not Latin. */
static void compare_words(steno_session *s, const json_t *want)
{
    const json_t *ids = json_object_get(want, "punc"), *words = json_object_get(want, "words");
    const char *text = value_of(want, "text"), *out = value_of(want, "out");
    size_t at = 0;
    if (steno_punctuate(s, text, NULL)) fail_msg("%s", steno_last_error(s));
    if (strcmp(steno_text(s), out) != 0) fail_msg("\"%s\": \"%s\", want \"%s\"", text, steno_text(s), out);
    assert_int_equal(steno_mark_count(s), json_array_size(words));
    for (int i = 0; i < steno_mark_count(s); i++) {
        steno_mark m = { .size = sizeof m };
        const char *word = json_string_value(json_array_get(words, (size_t)i));
        uint32_t cp;
        assert_int_equal(steno_mark_get(s, i, &m), STENO_OK);
        const size_t first = utf8_next(word, strlen(word), &cp);
        for (size_t k = first; cp >= 0xe00 && cp <= 0x9fa5 && k < strlen(word); k += utf8_next(word + k, 4, &(uint32_t){ 0 }))
            assert_int_equal(json_integer_value(json_array_get(ids, at++)), 1);
        if (m.id != json_integer_value(json_array_get(ids, at++))) fail_msg("\"%s\": mark %d is %d", text, i, (int)m.id);
        assert_true(m.end - m.at >= (int64_t)strlen(word) && !memcmp(text + m.at, word, first)); /* spaces may lie within */
    }
    assert_int_equal(at, json_array_size(ids));
}

static int compare_words_of(const steno_model *m)
{
    json_t *all = json_open("tests/data/punctuation_words.json");
    const json_t *want;
    steno_session *s;
    size_t i;
    int n = 0;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_array_foreach(all, i, want) {
        if (json_number_value(json_object_get(want, "margin")) < margin_least) continue;
        compare_words(s, want);
        n++;
    }
    steno_session_close(s);
    json_decref(all);
    return n;
}

/* From a folder with its dictionary, and from a GGUF file that has the model's own words, with one that the caller names. */
static void test_words_of_chinese_are_jiebas(void **state)
{
    (void)state;
    steno_model *m;
    steno_error e;
    steno_model_params p;
    struct buf file = { 0 };
    if (steno_model_open(&m, words_folder, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(compare_words_of(m), 50);
    steno_model_close(m);
    if (convert_to(&file, words_folder, "f32", &e)) fail_msg("%s", e.text);
    steno_model_params_init(&p);
    p.jieba_dict = "tests/data/punctuation_words/jieba.c.dict";
    if (steno_model_open_memory(&m, file.p, file.len, &p, &e)) fail_msg("%s", e.text);
    assert_int_equal(compare_words_of(m), 50);
    steno_model_close(m);
    p.jieba_dict = "tests/data/punctuation_words/none";
    assert_int_equal(steno_model_open_memory(&m, file.p, file.len, &p, &e), STENO_EIO);
    assert_non_null(strstr(e.text, "tests/data/punctuation_words/none"));
    buf_free(&file);
}

static void test_without_jiebas_dictionary_characters_are_words(void **state)
{
    (void)state;
    steno_model *m;
    steno_session *s;
    steno_error e;
    struct buf file = { 0 };
    steno_model_info i = { .size = sizeof i };
    if (convert_to(&file, words_folder, "f32", &e)) fail_msg("%s", e.text);
    if (steno_model_open_memory(&m, file.p, file.len, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_model_info_get(m, &i), STENO_OK);
    assert_int_equal(i.jieba, 2);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    assert_int_equal(steno_punctuate(s, "天气很好", NULL), STENO_OK);
    assert_int_equal(steno_mark_count(s), 4);
    steno_session_close(s);
    steno_model_close(m);
    if (steno_model_open(&m, words_folder, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_model_info_get(m, &i), STENO_OK);
    assert_int_equal(i.jieba, 1);
    steno_model_close(m);
    buf_free(&file);
}

/* ---- as it comes --------------------------------------------------------------------------------------------------------------- */

static int compare_streams(const steno_model *m)
{
    const json_t *all = json_object_get(more, "streams"), *calls, *want;
    steno_session *s;
    size_t i, k;
    int n = 0;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_array_foreach(all, i, calls) {
        steno_punctuate_params p;
        steno_punctuate_params_init(&p);
        json_array_foreach(calls, k, want) {
            p.go_on = k > 0;
            if (json_number_value(json_object_get(want, "margin")) < margin_least) break; /* what follows goes on from it */
            if (steno_punctuate(s, value_of(want, "text"), &p)) fail_msg("%s", steno_last_error(s));
            if (strcmp(steno_text(s), value_of(want, "out")) != 0)
                fail_msg("stream %zu, call %zu, \"%s\":\n\"%s\", want\n\"%s\"", i, k, value_of(want, "text"), steno_text(s),
                         value_of(want, "out"));
            n++;
        }
    }
    steno_session_close(s);
    return n;
}

static void test_text_as_it_comes_is_the_references(void **state)
{
    (void)state;
    steno_model *m;
    steno_error e;
    if (steno_model_open(&m, "tests/data/punctuation_streaming", NULL, &e)) fail_msg("%s", e.text);
    const int n = compare_streams(m);
    steno_model_close(m);
    struct buf file = { 0 };
    if (convert_to(&file, "tests/data/punctuation_streaming", "f32", &e)) fail_msg("%s", e.text);
    if (steno_model_open_memory(&m, file.p, file.len, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(compare_streams(m), n);
    steno_model_close(m);
    buf_free(&file);
    print_message("%d calls compared\n", n);
    assert_true(n >= 100);
}

static int group_begin(void **state)
{
    (void)state;
    more = json_open("tests/data/punctuation.json");
    if (!funasr_missing()) funasr_open("models/punc/golden/golden.json", "models/punc/pt");
    return 0;
}

static int group_end(void **state)
{
    json_decref(more);
    return funasr_close(state);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_outputs_and_marks_are_the_references),
        cmocka_unit_test(test_random_texts_are_the_references),
        cmocka_unit_test(test_every_form_gives_the_same_marks),
        cmocka_unit_test(test_heads_of_any_width_give_the_references_marks),
        cmocka_unit_test(test_words_of_chinese_are_jiebas),
        cmocka_unit_test(test_without_jiebas_dictionary_characters_are_words),
        cmocka_unit_test(test_text_as_it_comes_is_the_references),
    };
    const struct CMUnitTest alone[] = { cmocka_unit_test(test_heads_of_any_width_give_the_references_marks),
                                        cmocka_unit_test(test_words_of_chinese_are_jiebas),
                                        cmocka_unit_test(test_without_jiebas_dictionary_characters_are_words),
                                        cmocka_unit_test(test_text_as_it_comes_is_the_references) };
    if (funasr_missing()) return cmocka_run_group_tests(alone, group_begin, group_end);
    return cmocka_run_group_tests(all, group_begin, group_end);
}
