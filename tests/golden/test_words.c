/* steno tests: from the reference's alignment matrix to the words it made of it. SPDX-License-Identifier: MIT
 *
 * golden/layers holds the matrix and the probabilities that openai-whisper found for two files, golden.json the segments before and the
 * words after: texts, times and probabilities must be the same. Needs the collection named by STENO_SHARED. */
#include "golden.h"
#include "task/words/words.h"
#include "npy.h"
#include "internal.h"

enum { TOKENS = 448,
       DRAFTS = 16 };

/* A window as the loop hands it to words_place. */
struct window {
    int32_t ids[TOKENS], text[TOKENS];
    float prob[TOKENS];
    struct draft drafts[DRAFTS];
    int n_drafts;
    struct words_window at;
    struct word_attention heard;
    struct npy matrix;
};

static void drafts_read(struct window *w, const json_t *plain)
{
    size_t i;
    json_t *segment, *id;
    json_array_foreach(json_object_get(plain, "segments"), i, segment)
    {
        struct draft *d = &w->drafts[w->n_drafts++];
        *d = (struct draft){ .start = field(segment, "start"), .end = field(segment, "end"), .first = w->at.n };
        size_t k;
        json_array_foreach(json_object_get(segment, "tokens"), k, id) w->ids[w->at.n++] = (int32_t)json_integer_value(id);
        d->n = w->at.n - d->first;
        assert_true(w->n_drafts < DRAFTS && w->at.n < TOKENS);
    }
}

static void window_read(struct window *w, const char *stem, json_t *file, int32_t eot)
{
    json_t *layers = json_object_get(file, "layers"), *ids = json_object_get(layers, "align_tokens");
    json_t *prob = json_object_get(layers, "token_probabilities");
    const size_t before = json_array_size(json_object_get(layers, "sot_sequence")) + 1;
    char name[160];
    memset(w, 0, sizeof *w);
    w->at.frames = (int32_t)json_integer_value(json_object_get(layers, "content_frames"));
    w->at.content_frames = w->at.frames;
    w->at.full = 3000;
    w->at.ids = w->ids;
    w->at.single_end = 1;
    drafts_read(w, json_object_get(json_object_get(file, "results"), "greedy"));
    for (size_t i = before; i < json_array_size(ids); i++)
        w->text[i - before] = (int32_t)json_integer_value(json_array_get(ids, i));
    for (size_t i = 0; i < json_array_size(prob); i++) w->prob[i] = (float)json_number_value(json_array_get(prob, i));
    snprintf(name, sizeof name, "whisper-digits/golden/layers/%s.align_matrix.npy", stem);
    w->matrix = npy_read(name);
    w->heard = (struct word_attention){ w->text, (int32_t)json_array_size(prob), w->prob, w->matrix.v, w->matrix.dim[1],
                                        (int32_t)w->matrix.dim[1] };
    assert_int_equal(w->matrix.dim[0], w->heard.n + 1);
    assert_int_equal(w->matrix.dim[1], w->at.frames / 2);
    assert_int_equal(w->text[w->heard.n], eot);
}

static int word_differs(const char *stem, const struct word *got, const char *text, const json_t *want)
{
    const char *want_text = json_string_value(json_object_get(want, "word"));
    const double start = field(want, "start"), end = field(want, "end"), p = field(want, "probability");
    if (!strcmp(text, want_text) && got->start == start && got->end == end && fabs(got->probability - p) <= 1e-7) return 0;
    print_error("golden.json, %s, words: '%s' %.17g..%.17g (%.9g), want '%s' %g..%g (%.9g)\n", stem, text, got->start, got->end,
                got->probability, want_text, start, end, p);
    return 1;
}

static int draft_differs(const char *stem, const struct words *w, const struct draft *d, const json_t *segment)
{
    const json_t *words = json_object_get(segment, "words");
    const struct word *word = (const struct word *)(const void *)w->word.p + d->first_word;
    int bad = 0;
    assert_int_equal(d->n_words, json_array_size(words));
    assert_true(d->n_words > 0);
    for (int32_t i = 0; i < d->n_words; i++)
        bad += word_differs(stem, &word[i], w->text.p + word[i].text, json_array_get(words, (size_t)i));
    if (d->start == field(segment, "start") && d->end == field(segment, "end")) return bad;
    print_error("golden.json, %s, words: segment %.17g..%.17g, want %g..%g\n", stem, d->start, d->end, field(segment, "start"),
                field(segment, "end"));
    return bad + 1;
}

static int words_differ(const steno_model *m, const char *stem, json_t *golden)
{
    static struct window w;
    char name[64];
    snprintf(name, sizeof name, "%s.wav", stem);
    json_t *file = json_object_get(json_object_get(golden, "files"), name);
    const json_t *want = json_object_get(json_object_get(json_object_get(file, "results"), "words"), "segments");
    const char *language = json_string_value(json_object_get(json_object_get(file, "truth"), "language"));
    const struct words_options q = { language, NULL, NULL, NAN };
    struct words words = { 0 };
    window_read(&w, stem, file, inside_tokens(m)->eot);
    struct window_drafts d = { w.drafts, w.n_drafts, 0, 777 };
    const int rc = words_place(&words, &m->vocab, inside_tokens(m)->eot, &q, &w.at, &w.heard, &d);
    w.n_drafts = d.n;
    assert_int_equal(rc, STENO_OK);
    assert_int_equal(w.n_drafts, json_array_size(want));
    assert_true(w.n_drafts > 0);
    int bad = 0;
    for (int i = 0; i < w.n_drafts; i++) bad += draft_differs(stem, &words, &w.drafts[i], json_array_get(want, (size_t)i));
    assert_int_equal(d.seek, 777); /* the window ended with one timestamp */
    assert_true(d.last_speech == field(json_array_get(want, json_array_size(want) - 1), "end"));
    words_free(&words);
    free(w.matrix.v);
    return bad;
}

static void test_words_follow_from_the_matrix_as_in_the_reference(void **state)
{
    (void)state;
    struct engine g;
    json_t *golden = json_open(shared_file("golden/golden.json").s);
    engine_open(&g, shared_file("whisper-digits.bin").s, NULL, 1);
    assert_int_equal(words_differ(g.model, "en_phrases", golden) + words_differ(g.model, "zh_phrases", golden), 0);
    engine_close(&g);
    json_decref(golden);
}

int main(void)
{
    if (collection_missing()) return 77;
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_words_follow_from_the_matrix_as_in_the_reference) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
