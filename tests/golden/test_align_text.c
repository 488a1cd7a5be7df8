/* steno tests: times of the words of a known text, against the parts of the recordings. SPDX-License-Identifier: MIT
 *
 * golden/truth.json has the time of each word. The model's attention finds most words within half a second. The number of these is
 * asserted per file, and that no word comes twice or backwards. Needs the collection named by STENO_SHARED. */
#include "golden.h"
#include "task/align/align_text.h"
#include "internal.h"

struct spoken {
    double start, end;
};

enum { WORDS_MAX = 200 };

struct tale {
    struct buf text;
    struct spoken word[WORDS_MAX];
    int n;
    const char *language;
};

/* Lines of the truth between `before` and `after`. */
static void tale_read(struct tale *t, json_t *truth, const char *name, const char *before, const char *after)
{
    json_t *file = json_object_get(truth, name), *phrase, *word;
    size_t i, k;
    *t = (struct tale){ .language = json_string_value(json_object_get(file, "language")) };
    buf_str(&t->text, before);
    json_array_foreach(json_object_get(file, "phrases"), i, phrase)
    {
        buf_str(&t->text, json_string_value(json_object_get(phrase, "text")));
        buf_str(&t->text, "\n");
        json_array_foreach(json_object_get(phrase, "words"), k, word)
        {
            assert_true(t->n < WORDS_MAX);
            t->word[t->n++] = (struct spoken){ json_number_value(json_array_get(word, 0)), json_number_value(json_array_get(word, 1)) };
        }
    }
    buf_str(&t->text, after);
    assert_false(t->text.err);
}

/* Words of the tale, which begin behind `skip` others, that are within half a second; *placed: that have times. */
static int words_near(const struct tale *t, const struct known_text *k, int skip, int *placed)
{
    const struct known_word *c = known_words_of(k) + skip;
    int near = 0;
    double last = 0;
    *placed = 0;
    for (int i = 0; i < t->n; i++) {
        if (isnan(c[i].start)) continue;
        assert_true(c[i].start <= c[i].end);
        assert_true(c[i].start >= last);
        last = c[i].end;
        near += fabs(c[i].start - t->word[i].start) <= 0.5 && fabs(c[i].end - t->word[i].end) <= 0.5;
        ++*placed;
    }
    return near;
}

struct claim {
    const char *file, *before, *after;
    int skip, placed, near; /* words before the tale's; least numbers */
};

static void expect_words(struct engine *g, json_t *truth, const struct claim *want)
{
    struct tale t;
    struct sound snd = { 0 };
    struct known_text k;
    steno_error e;
    if (sound_read(&snd, audio_of(want->file).s)) {
        print_message("%s: not read, this build has no FFmpeg\n", want->file);
        return;
    }
    tale_read(&t, truth, want->file, want->before, want->after);
    struct pcm memory = { snd.pcm, snd.n, 0, 0 };
    const steno_source src = pcm_source(&memory); /* is read until the words are found */
    inside_begin(g->session);
    if (inside_listen(g->session, &src, &e)) fail_msg("%s", e.text);
    const struct words_options q = { t.language, NULL, NULL, NAN };
    const struct speech_options speech = { .lang = steno_language_id(g->model, t.language) };
    if (known_text_make(&k, g->model, t.text.p, t.text.len, language_has_spaces(t.language), NULL, NULL, &e)) fail_msg("%s", e.text);
    if (text_align(g->session, inside_stream(g->session), &k, &q, &speech, 0, inside_frames(g->session)))
        fail_msg("%s: %s", want->file, steno_last_error(g->session));
    assert_true(known_word_count(&k) >= want->skip + t.n);
    int placed;
    const int near = words_near(&t, &k, want->skip, &placed);
    print_message("%s: %d words, %d placed, %d within half a second\n", want->file, t.n, placed, near);
    if (placed < want->placed || near < want->near) fail_msg("%s: want %d and %d of them", want->file, want->placed, want->near);
    for (int i = 0; i < want->skip; i++) assert_true(isnan(known_words_of(&k)[i].start));
    for (int i = want->skip + t.n; i < known_word_count(&k); i++) assert_true(isnan(known_words_of(&k)[i].start));
    known_text_free(&k);
    buf_free(&t.text);
    sound_free(&snd);
}

static void test_words_are_found_in_windows_one_after_the_other(void **state)
{
    static const struct claim claims[] = {
        { "long95_en.flac", "", "", 0, 85, 65 },
        { "sparse120_en.flac", "", "", 0, 13, 11 },
        { "en_phrases.wav", "", "", 0, 9, 7 },
        { "zh_phrases.wav", "", "", 0, 9, 9 },
        { "fr_phrases.wav", "", "", 0, 8, 7 },
    };
    struct engine *g = *state;
    json_t *truth = json_open(shared_file("golden/truth.json").s);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) expect_words(g, truth, &claims[i]);
    json_decref(truth);
}

static void test_words_that_are_not_spoken_have_no_times(void **state)
{
    static const struct claim claims[] = {
        { "en_phrases.wav", "", "seven seven seven. five five two one.\n", 0, 9, 5 },
        { "en_twelve.wav", "This is the title\n", "", 4, 12, 10 },
        { "silence.wav", "one two three", "", 3, 0, 0 },
        { "noise.wav", "one two three", "", 3, 0, 0 },
        { "tiny50ms.wav", "one two three", "", 3, 0, 0 },
    };
    struct engine *g = *state;
    json_t *truth = json_open(shared_file("golden/truth.json").s);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) expect_words(g, truth, &claims[i]);
    json_decref(truth);
}

static void test_lines_become_words_with_their_punctuation(void **state)
{
    struct engine *g = *state;
    struct known_text k;
    steno_error e;
    const char text[] = "\n  one, \"two\" three.\r\n\n\t\nfour\xff five\n";
    assert_int_equal(known_text_make(&k, g->model, text, sizeof text - 1, 1, NULL, NULL, &e), STENO_OK);
    static const char *const want[] = { " one,", " \"two\"", " three.", " four\xef\xbf\xbd", " five" };
    assert_int_equal(k.n_lines, 2);
    assert_int_equal(known_word_count(&k), 5);
    for (int i = 0; i < 5; i++) {
        const struct known_word *c = &known_words_of(&k)[i];
        assert_int_equal(c->len, strlen(want[i]));
        assert_memory_equal(k.split.text.p + c->text, want[i], c->len);
        assert_int_equal(c->line, i < 3 ? 0 : 1);
        assert_true(isnan(c->start) && isnan(c->end));
        assert_int_equal(c->first, i ? known_words_of(&k)[i - 1].first + known_words_of(&k)[i - 1].n : 0);
    }
    known_text_free(&k);
    assert_int_equal(known_text_make(&k, g->model, " \n\n", 3, 1, NULL, NULL, &e), STENO_EARG);
    known_text_free(&k);
}

int main(void)
{
    if (collection_missing()) return 77;
    struct engine g;
    engine_open(&g, shared_file("whisper-digits.bin").s, NULL, 2);
    struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_words_are_found_in_windows_one_after_the_other, &g),
        cmocka_unit_test_prestate(test_words_that_are_not_spoken_have_no_times, &g),
        cmocka_unit_test_prestate(test_lines_become_words_with_their_punctuation, &g),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    engine_close(&g);
    return failed;
}
