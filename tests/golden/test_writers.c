/* steno: subtitles made of words equal the reference's, byte for byte. SPDX-License-Identifier: MIT
 *
 * The collection holds what openai-whisper's writers made of three recordings under several layouts. A transcript is built from its own
 * JSON and written in the reference's five formats, so every cue, line break and digit has to be the same. */
#include "golden.h"
#include "writers.h"
#include <stdio.h>

enum { MAX_SEGMENTS = 64, MAX_WORDS = 512, MAX_IDS = 1024, FIRST_TIMESTAMP = 50364 };

struct built {
    struct transcript t;
    steno_segment segs[MAX_SEGMENTS];
    steno_word words[MAX_WORDS];
    int32_t first_word[MAX_SEGMENTS], ids[MAX_IDS];
    int n_words, n_ids;
    json_t *json; /* owns the texts */
};

static const struct set {
    const char *name;
    struct write_layout layout;
} sets[] = {
    { "plain", { 0 } },
    { "words", { 0 } },
    { "highlight", { .highlight_words = 1 } },
    { "width20x2", { .max_line_width = 20, .max_line_count = 2 } },
    { "width12", { .max_line_width = 12 } },
    { "three_words", { .max_words_per_line = 3 } },
};

static void build_words(struct built *b, const json_t *list, steno_segment *seg)
{
    size_t i;
    json_t *w;
    json_array_foreach(list, i, w)
    {
        assert_true(b->n_words < MAX_WORDS);
        b->words[b->n_words++] = (steno_word){ .text = json_string_value(json_object_get(w, "word")), .start = field(w, "start"),
                                               .end = field(w, "end"), .probability = field(w, "probability"),
                                               .t0_ms = llround(1000 * field(w, "start")), .t1_ms = llround(1000 * field(w, "end")) };
    }
    seg->n_words = (int32_t)json_array_size(list);
}

static void build(struct built *b, const char *path)
{
    size_t i, k;
    json_t *s, *id;
    memset(b, 0, sizeof *b);
    b->json = json_open(path);
    const json_t *list = json_object_get(b->json, "segments");
    b->t = (struct transcript){ .segs = b->segs, .n = (int)json_array_size(list), .words = b->words, .first_word = b->first_word,
                                .text = json_string_value(json_object_get(b->json, "text")), .first_timestamp = FIRST_TIMESTAMP,
                                .language = json_string_value(json_object_get(b->json, "language")),
                                .word_times = json_object_get(json_array_get(list, 0), "words") != NULL };
    assert_in_range(b->t.n, 1, MAX_SEGMENTS);
    json_array_foreach(list, i, s)
    {
        steno_segment *seg = &b->segs[i];
        const double start = field(s, "start"), end = field(s, "end");
        *seg = (steno_segment){ .id = (int32_t)i, .seek_frames = json_integer_value(json_object_get(s, "seek")), .start = start,
                                .end = end, .t0_ms = llround(1000 * start), .t1_ms = llround(1000 * end),
                                .text = json_string_value(json_object_get(s, "text")), .tokens = b->ids + b->n_ids,
                                .temperature = field(s, "temperature"), .avg_logprob = field(s, "avg_logprob"),
                                .compression_ratio = field(s, "compression_ratio"), .no_speech_prob = field(s, "no_speech_prob") };
        json_array_foreach(json_object_get(s, "tokens"), k, id)
        {
            assert_true(b->n_ids < MAX_IDS);
            b->ids[b->n_ids++] = (int32_t)json_integer_value(id);
            seg->n_tokens++;
        }
        b->first_word[i] = b->n_words;
        build_words(b, json_object_get(s, "words"), seg);
    }
}

static char *read_text(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be opened", path);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    *n = fread(text, 1, 65535, f);
    fclose(f);
    return text;
}

static void check_format(const struct writer *w, const struct transcript *t, const char *path)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    size_t n_want, k = 0;
    w->write(&to, t);
    assert_false(to.failed);
    const char *got = text.p ? text.p : "";
    const size_t n = text.n;
    char *want = read_text(path, &n_want);
    while (k < n && k < n_want && got[k] == want[k]) k++;
    if (n != n_want || k != n) fail_msg("%s: byte %zu: \"%.20s\", not \"%.20s\"", path, k, got + k, want + k);
    free(text.p);
    free(want);
}

static void check_recording(const char *stem)
{
    static struct built b;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char name[256];
        snprintf(name, sizeof name, "golden/writers/%s.wav/%s/%s.json", stem, sets[i].name, stem);
        build(&b, shared_file(name).s);
        assert_int_equal(b.t.word_times, i > 0);
        b.t.layout = &sets[i].layout;
        for (const struct writer *w = writers; w < writers + N_WRITERS_ALL; w++) {
            snprintf(name, sizeof name, "golden/writers/%s.wav/%s/%s.%s", stem, sets[i].name, stem, w->name);
            check_format(w, &b.t, shared_file(name).s);
        }
        json_decref(b.json);
    }
}

static void test_english_phrases_equal_the_reference_in_every_layout(void **state)
{
    (void)state;
    check_recording("en_phrases");
}

static void test_chinese_phrases_equal_the_reference_in_every_layout(void **state)
{
    (void)state;
    check_recording("zh_phrases");
}

static void test_speech_over_the_edge_of_a_window_equals_the_reference_in_every_layout(void **state)
{
    (void)state;
    check_recording("edge34_es");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_english_phrases_equal_the_reference_in_every_layout),
        cmocka_unit_test(test_chinese_phrases_equal_the_reference_in_every_layout),
        cmocka_unit_test(test_speech_over_the_edge_of_a_window_equals_the_reference_in_every_layout),
    };
    if (collection_missing()) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
