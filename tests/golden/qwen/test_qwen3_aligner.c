/* steno tests: Qwen3-ForcedAligner against qwen-asr. SPDX-License-Identifier: MIT
 *
 * A small model with random weights: the cut of texts, prompts, classes and logits, times, and both forms of its files. */
#include <math.h>
#include <steno/media.h>
#include "internal.h"
#include "model/parts.h"
#include "qwen3_asr.h"
#include "same_results.h"
#include "task/aligner/aligner_session.h"
#include "text/spoken_words.h"

static json_t *golden;

static int group_begin(void **state)
{
    (void)state;
    golden = json_open("tests/data/qwen3_aligner/golden.json");
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    json_decref(golden);
    return 0;
}

static const char *row_text(json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* The sound of a golden; NULL: it is not on this machine. The caller frees it. */
static float *sound_of(json_t *row, int64_t *n)
{
    const char *name = row_text(row, "file"), *shared = getenv("STENO_SHARED");
    char path[PATH_MAX_LEN];
    snprintf(path, sizeof path, "models/parakeet-digits/%s.wav", name);
    if (!is_there(path)) snprintf(path, sizeof path, "%s/material/parakeet/audio/%s.wav", shared ? shared : "", name);
    if (!is_there(path)) {
        print_message("skipped: %s.wav is in the folder that STENO_SHARED names\n", name);
        return NULL;
    }
    steno_media *m;
    steno_source src;
    assert_int_equal(steno_media_open(&m, path, NULL, NULL, NULL), 0);
    steno_media_source(m, &src);
    float *pcm = calloc(PCM_MAX, sizeof *pcm);
    assert_non_null(pcm);
    int64_t got;
    for (*n = 0; (got = src.read(src.user, pcm + *n, PCM_MAX - *n)) > 0;) *n += got;
    steno_media_close(m);
    return pcm;
}

struct heap_source { const float *pcm; int64_t n, at; int rewinds; };

static int64_t heap_read(void *user, float *to, int64_t n)
{
    struct heap_source *h = user;
    if (n > h->n - h->at) n = h->n - h->at;
    memcpy(to, h->pcm + h->at, (size_t)n * sizeof *to);
    h->at += n;
    return n;
}

static int heap_rewind(void *user)
{
    struct heap_source *h = user;
    h->at = 0;
    h->rewinds++;
    return 0;
}

static steno_source source_of(struct heap_source *h)
{
    return (steno_source){ heap_read, heap_rewind, h };
}

static void align_row(steno_session *s, json_t *row, const float *pcm, int64_t n)
{
    struct heap_source h = { pcm, n, 0, 0 };
    const steno_source src = source_of(&h);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = row_text(row, "language");
    if (steno_align(s, &src, row_text(row, "text"), &p)) fail_msg("%s: %s", row_text(row, "file"), steno_last_error(s));
}

/* ---- texts */

static void test_texts_are_cut_into_the_references_words(void **state)
{
    (void)state;
    json_t *row;
    size_t i;
    struct spoken_words w = { 0 };
    json_array_foreach(json_object_get(golden, "align"), i, row) {
        json_t *want = json_object_get(row, "words");
        const char *text = row_text(row, "text");
        assert_int_equal(spoken_words_find(&w, text, strlen(text)), 0);
        assert_int_equal(spoken_words_count(&w), json_array_size(want));
        for (size_t k = 0; k < json_array_size(want); k++) {
            const struct spoken_word *is = spoken_word_at(&w, k);
            const char *s = json_string_value(json_array_get(want, k));
            assert_int_equal(is->n_kept, strlen(s));
            assert_memory_equal(w.kept.p + is->kept, s, is->n_kept);
        }
    }
    assert_int_equal(i, 3);
    spoken_words_free(&w);
}

/* ---- prompts, classes, times */

static void prompt_is_equal(steno_session *s, json_t *row)
{
    const struct aligner_session *a = aligner_of(s);
    const struct aligner_model *m = aligner_model_of(s->model);
    json_t *ids = json_object_get(row, "ids");
    const size_t n = a->prompt.len / sizeof(int32_t);
    assert_int_equal(json_array_size(ids), n + 2);
    assert_int_equal(json_integer_value(json_array_get(ids, 0)), m->begin);
    assert_int_equal(json_integer_value(json_array_get(ids, 1)), m->end);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(((const int32_t *)(const void *)a->prompt.p)[k], json_integer_value(json_array_get(ids, k + 2)));
}

static void times_are_equal(steno_session *s, json_t *row, int64_t n)
{
    json_t *ms = json_object_get(row, "fixed_ms");
    const struct aligner_session *a = aligner_of(s);
    const int64_t end = n / 16;
    steno_word w = { .size = sizeof w };
    size_t k = 0;
    assert_true(json_real_value(json_object_get(row, "margin")) > 2e-3);
    assert_int_equal(a->ms.len / sizeof(int32_t), json_array_size(ms));
    for (; k < json_array_size(ms); k++)
        assert_int_equal(((const int32_t *)(const void *)a->ms.p)[k], json_integer_value(json_array_get(ms, k)));
    for (k = 0; steno_word_get(s, 0, (int)k, &w) == 0; k++) {
        const int64_t start = json_integer_value(json_array_get(ms, 2 * k)), stop = json_integer_value(json_array_get(ms, 2 * k + 1));
        assert_int_equal(w.t0_ms, start < end ? start : end); /* times behind the sound are at its end */
        assert_int_equal(w.t1_ms, stop < end ? stop : end);
        assert_true(w.probability > 0 && w.probability < 1);
    }
    assert_int_equal(2 * k, json_array_size(ms));
}

static void test_prompts_and_times_of_both_forms_of_files(void **state)
{
    (void)state;
    json_t *row;
    size_t i;
    const struct folder hf_folder = qwen_hf_folder_of(aligner_dir);
    steno_model *m = qwen_open(aligner_dir), *hf = qwen_open(hf_folder.path);
    steno_session *s = qwen_session(m), *other = qwen_session(hf);
    json_array_foreach(json_object_get(golden, "align"), i, row) {
        int64_t n;
        float *pcm = sound_of(row, &n);
        if (!pcm) continue;
        align_row(s, row, pcm, n);
        prompt_is_equal(s, row);
        times_are_equal(s, row, n);
        align_row(other, row, pcm, n);
        results_are_equal(other, s, row_text(row, "file"));
        free(pcm);
    }
    steno_session_close(s);
    steno_session_close(other);
    steno_model_close(m);
    steno_model_close(hf);
    folder_remove(&hf_folder);
}

/* The prompt ends with the first mark here: its row does not see those behind it. The reference was converted to bf16 and back as a whole,
 * so its angles and positions are rounded, too: logits between -10 and 10 are off by a few thousandths. */
static void test_logits_of_the_first_mark(void **state)
{
    (void)state;
    json_t *row = json_array_get(json_object_get(golden, "align"), 0), *want = json_object_get(row, "logits");
    steno_model *m = qwen_open(aligner_dir);
    steno_session *s = qwen_session(m);
    int64_t n;
    float *pcm = sound_of(row, &n);
    assert_non_null(pcm);
    struct aligner_session *a = aligner_of(s);
    assert_int_equal(spoken_words_find(&a->words, "Four", 4), 0);
    aligner_text_begin(a);
    assert_int_equal(aligner_text_add(s), 0);
    --*(int32_t *)(void *)a->ends.p;
    const struct aligner_clip clip = { .words = { 0, 1 }, .n = n };
    int fits;
    aligner_run_begin(s);
    assert_int_equal(aligner_run_add(s, pcm, &clip, &fits), 0);
    assert_int_equal(aligner_run(s), 0);
    const float *logits = inside_logits(s, 0);
    assert_int_equal(json_array_size(want), aligner_model_of(m)->classes);
    double most = 0, sum = 0;
    for (size_t k = 0; k < json_array_size(want); k++) {
        const double off = fabs((double)logits[k] - json_number_value(json_array_get(want, k)));
        most = off > most ? off : most;
        sum += off / (double)json_array_size(want);
    }
    if (!(most < 2e-2 && sum < 5e-3)) fail_msg("logits are off by up to %.6f, on average %.6f", most, sum);
    free(pcm);
    steno_session_close(s);
    steno_model_close(m);
}

/* ---- lengths, lines, ranges */

enum { SECOND = 16000, MOST = 40 * SECOND /* 500 classes of 80 ms */ };
static float noise[MOST + SECOND];

static void noise_fill(void)
{
    for (int i = 0; i < MOST + SECOND; i++) noise[i] = (float)((i % 8009 * 7919) % 2003 - 1001) / 4000;
}

static int align_noise(steno_session *s, int64_t n, const char *text, const steno_transcribe_params *p)
{
    struct heap_source h = { noise, n, 0, 0 };
    const steno_source src = source_of(&h);
    return steno_align(s, &src, text, p);
}

static void refused(steno_session *s, int rc, const char *why)
{
    assert_int_equal(rc, STENO_EARG);
    if (!strstr(steno_last_error(s), why)) fail_msg("\"%s\", want \"%s\"", steno_last_error(s), why);
}

static void test_lengths_of_the_audio(void **state)
{
    (void)state;
    static int64_t const length[] = { 1, 100, 8000, 15999, 16160, 32000, MOST };
    steno_model *m = qwen_open(aligner_dir);
    steno_session *s = qwen_session(m);
    steno_word w = { .size = sizeof w };
    noise_fill();
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        if (align_noise(s, length[i], "one two", NULL)) fail_msg("%s", steno_last_error(s));
        for (int k = 0; k < 2; k++) {
            assert_int_equal(steno_word_get(s, 0, k, &w), 0);
            assert_true(w.t0_ms >= 0 && w.t0_ms <= w.t1_ms && w.t1_ms <= length[i] / 16 + 1);
        }
    }
    assert_int_equal(align_noise(s, 0, "one two", NULL), 0);
    assert_int_equal(steno_word_get(s, 0, 1, &w), 0);
    assert_int_equal(w.t0_ms, -1);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.offset_ms = 500; /* what is left is one clip */
    if (align_noise(s, MOST + SECOND / 2, "one", &p)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(steno_word_get(s, 0, 0, &w), 0);
    assert_true(w.t0_ms >= 500);
    steno_session_close(s);
    steno_model_close(m);
}

/* Every line is a segment; their words are those of one text. */
static void test_lines_are_segments(void **state)
{
    (void)state;
    static const char *const line[] = { "Four zero,", "nine-eight \u2014 isn't." };
    steno_model *m = qwen_open(aligner_dir);
    steno_session *s = qwen_session(m), *one = qwen_session(m);
    steno_segment g = { .size = sizeof g };
    steno_word w = { .size = sizeof w }, v = w;
    noise_fill();
    assert_int_equal(align_noise(s, 3 * SECOND, " Four zero,\r\n\n  \nnine-eight \u2014 isn't.\n", NULL), 0);
    assert_int_equal(align_noise(one, 3 * SECOND, "Four zero, nine-eight \u2014 isn't.", NULL), 0);
    assert_int_equal(steno_segment_count(s), 2);
    for (int i = 0, k = 0; i < 2; i++) {
        char joined[64] = "";
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        assert_string_equal(g.text, line[i]);
        assert_string_equal(g.word_source, "aligner");
        assert_int_equal(g.n_words, 2);
        for (int j = 0; steno_word_get(s, i, j, &w) == 0; j++, k++) {
            assert_int_equal(steno_word_get(one, 0, k, &v), 0);
            assert_true(w.start == v.start && w.end == v.end && w.probability == v.probability);
            strcat(joined, w.text);
        }
        assert_string_equal(joined, line[i]);
    }
    steno_session_close(s);
    steno_session_close(one);
    steno_model_close(m);
}

static void test_calls_without_sense_are_refused(void **state)
{
    (void)state;
    steno_model *m = qwen_open(aligner_dir);
    steno_session *s = qwen_session(m);
    steno_transcribe_params p[3];
    for (int k = 0; k < 3; k++) steno_transcribe_params_init(&p[k]);
    p[0].language = "nl", p[1].task = STENO_TRANSLATE, p[2].beam_size = 5;
    refused(s, align_noise(s, SECOND, "one", &p[0]), "zh, en, yue");
    refused(s, align_noise(s, SECOND, "one", &p[1]), "task");
    refused(s, align_noise(s, SECOND, "one", &p[2]), "beam_size");
    refused(s, align_noise(s, SECOND, "...", NULL), "there are no words in the text to align");
    refused(s, steno_transcribe(s, noise, SECOND, NULL), "does not transcribe");
    char *text = calloc(1, 1 << 16); /* more words than a context has positions */
    assert_non_null(text);
    for (int i = 0; i < 3000; i++) memcpy(text + 2 * i, "a ", 2);
    refused(s, align_noise(s, SECOND, text, NULL), "more than the context of 8192");
    free(text);
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_cut_into_the_references_words),
        cmocka_unit_test(test_prompts_and_times_of_both_forms_of_files),
        cmocka_unit_test(test_logits_of_the_first_mark),
        cmocka_unit_test(test_lengths_of_the_audio),
        cmocka_unit_test(test_lines_are_segments),
        cmocka_unit_test(test_calls_without_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
