/* steno tests: the CTC path against the reference. SPDX-License-Identifier: MIT
 *
 * The small SenseVoice of the collection: rows of features, encoder output, logits, and the ids of every row under every setting whose
 * margin allows a comparison. */
#include "funasr.h"
#include "internal.h"
#include <unistd.h>

static double const margin_least = 0.02; /* of logits; ours differ by less than 1e-3 */

static int group_begin(void **state)
{
    (void)state;
    funasr_open_f32("golden/sensevoice/golden.json", "models/sensevoice/pt");
    return 0;
}

static void run_with(steno_session *s, const struct sound *a, const steno_transcribe_params *p)
{
    struct pcm_feed feed = { a, 0, 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    if (steno_transcribe_source(s, &src, p)) fail_msg("%s", steno_last_error(s));
}


/* Settings of the reference, by their names in the goldens. */
static const struct setting { const char *name, *language; int itn, ban; } settings[] = {
    { "auto_woitn", "auto", 0, 0 }, { "auto_woitn_banunk", "auto", 0, 1 }, { "auto_itn", "auto", 1, 0 },
    { "auto_itn_banunk", "auto", 1, 1 }, { "en_woitn", "en", 0, 0 }, { "en_itn", "en", 1, 0 },
    { "zh_woitn", "zh", 0, 0 }, { "zh_itn", "zh", 1, 0 },
};

enum { N_SETTINGS = sizeof settings / sizeof *settings };

static steno_transcribe_params params_of(const struct setting *set)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
    p.language = set->language;
    p.itn = set->itn;
    p.ban_unknown_emotion = set->ban;
    return p;
}

static void run(steno_session *s, const struct sound *a, const char *language, int itn, int ban)
{
    const steno_transcribe_params p = params_of(&(struct setting){ "", language, itn, ban });
    run_with(s, a, &p);
}

/* Show the results of all files under the first n settings, ties apart. @return their number */
static int each_result(steno_session *s, int n, void (*show)(steno_session *s, const struct sound *a, const char *name,
                                                             const struct setting *set, json_t *want))
{
    const char *name;
    json_t *file;
    int n_shown = 0;
    json_object_foreach(json_object_get(golden, "files"), name, file) {
        struct sound a;
        assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", name).s), 0);
        for (const struct setting *set = settings; set < settings + n; set++) {
            json_t *want = json_object_get(json_object_get(file, "results"), set->name);
            if (json_number_value(json_object_get(want, "min_margin")) < margin_least) continue;
            show(s, &a, name, set, want);
            n_shown++;
        }
        sound_free(&a);
    }
    return n_shown;
}

static int in_session(int (*test)(steno_session *s))
{
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    const int n = test(s);
    steno_session_close(s);
    return n;
}

static void test_encoder_output_is_the_references(void **state)
{
    (void)state;
    static const char *const stems[] = { "en_george", "zh_synth" };
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    const struct plan *plan = inside_plan(model, PLAN_ENCODER);
    const struct slot *out = &plan->slot[plan->output];
    for (size_t i = 0; i < 2; i++) {
        struct sound a;
        assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", stems[i]).s), 0);
        run(s, &a, "auto", 1, 0);
        const float *rows = inside_encoded(s);
        const double d = funasr_distance(rows, out->ld, out->width, "golden/sensevoice/%s.encoder.npy", stems[i]);
        print_message("%s: encoder output, distance %.2g\n", stems[i], d);
        assert_true(d <= 1e-3);
        sound_free(&a);
    }
    steno_session_close(s);
}

/* Ids of all rows, before repeats and blanks are dropped, and the text with and without tags. */
static void compare(steno_session *s, const char *file, const char *setting, json_t *want)
{
    json_t *ids = json_object_get(want, "frame_ids");
    const size_t n = json_array_size(ids);
    if (!n) fail_msg("%s, %s: nothing is wanted", file, setting);
    for (size_t i = 0; i < n; i++)
        if (inside_best(s, i)->id != json_integer_value(json_array_get(ids, i)))
            fail_msg("%s, %s: row %zu chose %d, want %lld", file, setting, i, (int)inside_best(s, i)->id,
                     (long long)json_integer_value(json_array_get(ids, i)));
    const char *raw = json_string_value(json_object_get(want, "raw")), *text = raw;
    while (!strncmp(text, "<|", 2) && strstr(text, "|>")) text = strstr(text, "|>") + 2;
    while (*text == ' ') text++;
    if (strcmp(steno_text(s), text) != 0) fail_msg("%s, %s: \"%s\", want \"%s\"", file, setting, steno_text(s), text);
    steno_segment g = { .size = sizeof g };
    if (!*text) return;
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    char tags[128];
    snprintf(tags, sizeof tags, "<|%s|><|%s|><|%s|><|%s|>", g.language, g.emotion, g.event, g.itn);
    if (strncmp(raw, tags, strlen(tags)) != 0) fail_msg("%s, %s: tags %s, want those of %s", file, setting, tags, raw);
}

static void compare_ids(steno_session *s, const struct sound *a, const char *name, const struct setting *set, json_t *want)
{
    run(s, a, set->language, set->itn, set->ban);
    compare(s, name, set->name, want);
}

static int ids_and_text(steno_session *s)
{
    return each_result(s, N_SETTINGS, compare_ids);
}

static void test_ids_and_text_are_the_references_under_every_setting(void **state)
{
    (void)state;
    const int n = in_session(ids_and_text);
    print_message("%d results compared, the others are too close to call\n", n);
    assert_true(n >= 115);
}

/* With tags as they are, and as signs; tags alone are a segment, too. */
static void compare_tags(steno_session *s, const struct sound *a, const char *name, const struct setting *set, json_t *want)
{
    static const char *const key[] = { NULL, "raw", "rich" };
    for (int32_t tags = STENO_TAGS_KEEP; tags <= STENO_TAGS_RICH; tags++) {
        const char *text = json_string_value(json_object_get(want, key[tags]));
        steno_transcribe_params p = params_of(set);
        steno_segment g = { .size = sizeof g };
        p.tags = tags;
        run_with(s, a, &p);
        if (strcmp(steno_text(s), text) != 0) fail_msg("%s, %s, %s: \"%s\", want \"%s\"", name, set->name, key[tags], steno_text(s), text);
        assert_int_equal(steno_segment_count(s), *text != 0);
        if (!*text) continue;
        assert_int_equal(steno_segment_get(s, 0, &g), 0);
        assert_string_equal(g.text, text);
        assert_non_null(g.itn); /* apart, too */
    }
}

static int text_with_tags(steno_session *s)
{
    return each_result(s, 4, compare_tags);
}

static void test_text_with_tags_and_with_signs_is_the_references(void **state)
{
    (void)state;
    assert_true(in_session(text_with_tags) >= 58);
}

/* Words and times in seconds against the reference's, which cuts what is less than a millisecond. */
static void compare_times(const steno_session *s, const char *where, json_t *want)
{
    json_t *times = json_object_get(want, "timestamp"), *words = json_object_get(want, "words");
    steno_segment g = { .size = sizeof g };
    const int n = (int)json_array_size(times);
    if (steno_segment_get(s, 0, &g)) g.n_words = 0;
    if (g.n_words != n) fail_msg("%s: %d words, want %d", where, (int)g.n_words, n);
    for (int i = 0; i < n; i++) {
        steno_word w = { .size = sizeof w };
        assert_int_equal(steno_word_get(s, 0, i, &w), 0);
        const char *text = w.text + (w.text[0] == ' '), *other = json_string_value(json_array_get(words, (size_t)i));
        if (i == 0 && !strncmp(other, "\xe2\x96\x81", 3)) other += 3; /* a space that the reference forgets there */
        if (strcmp(text, other) != 0) fail_msg("%s: word %d is \"%s\", want \"%s\"", where, i, text, other);
        const double ours[] = { w.start, w.end };
        for (size_t k = 0; k < 2; k++) {
            const json_int_t at = json_integer_value(json_array_get(json_array_get(times, (size_t)i), k));
            if ((json_int_t)(ours[k] * 1000) != at) fail_msg("%s: \"%s\" at %.17g s, want %d ms", where, text, ours[k], (int)at);
        }
        assert_true(w.probability > 0 && w.probability <= 1);
        if (i == 0) assert_true(g.start == w.start);
        if (i == n - 1) assert_true(g.end == w.end);
    }
    if (n) assert_string_equal(g.word_source, "ctc");
}

static void compare_words(steno_session *s, const struct sound *a, const char *name, const struct setting *set, json_t *want)
{
    char where[96];
    steno_transcribe_params p = params_of(set);
    snprintf(where, sizeof where, "%s, %s", name, set->name);
    p.word_timestamps = 1;
    run_with(s, a, &p);
    compare(s, name, set->name, want); /* as without */
    compare_times(s, where, want);
}

static int times_of_words(steno_session *s)
{
    return each_result(s, N_SETTINGS, compare_words);
}

static void test_times_of_words_are_the_references(void **state)
{
    (void)state;
    const int n = in_session(times_of_words);
    print_message("times of %d results compared\n", n);
    assert_true(n >= 115);
}

/* The same ids with the same log-probabilities, from the other spelling, at every level and for one and two threads. */
static void test_safetensors_levels_and_threads_give_the_same_ids(void **state)
{
    (void)state;
    const struct golden_path dir = funasr_safetensors("sensevoice");
    struct sound a;
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", "zh_synth_long").s), 0);
    json_t *want = json_object_get(json_object_get(json_object_get(json_object_get(golden, "files"), "zh_synth_long"), "results"),
                                   "auto_woitn");
    float logprob[2][128] = { { 0 } };
    const char *level[LEVELS_MAX];
    levels_for_models(level);
    for (int l = 0; level[l]; l++) {
        for (int threads = 1; threads <= 2; threads++) {
            steno_team *team;
            steno_model *m;
            steno_session *s;
            steno_error e;
            steno_model_params p;
            steno_model_params_init(&p);
            p.cpu_level = level[l];
            assert_int_equal(steno_team_open(&team, threads, &e), 0);
            if (steno_model_open(&m, dir.s, &p, &e)) fail_msg("%s", e.text);
            assert_int_equal(steno_session_open(&s, m, team, NULL, &e), 0);
            run(s, &a, "auto", 0, 0);
            compare(s, "zh_synth_long", p.cpu_level, want);
            for (int i = 0; i < 80; i++) logprob[threads - 1][i] = inside_best(s, i)->logprob;
            steno_session_close(s);
            steno_model_close(m);
            steno_team_close(team);
        }
        assert_memory_equal(logprob[0], logprob[1], sizeof logprob[0]);
    }
    sound_free(&a);
    funasr_safetensors_remove(dir);
}

/* GGUF files of the runtime, three of them with a scale that was lost when they were written: the directory's text for every setting. */
static void test_every_gguf_file_gives_the_text_of_the_folder(void **state)
{
    (void)state;
    static const char *const files[] = { "sensevoice-mini.gguf", "sensevoice-mini-f16.gguf", "sensevoice-mini-q8.gguf",
                                         "sensevoice-mini-truecmvn.gguf" };
    steno_session *folder, *s;
    assert_int_equal(steno_session_open(&folder, model, NULL, NULL, NULL), 0);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        steno_model *m;
        steno_error e;
        if (model_open_f32(&m, funasr_file("models/sensevoice/gguf/%s", files[k]).s, &e)) fail_msg("%s", e.text);
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
        const char *name;
        json_t *file;
        json_object_foreach(json_object_get(golden, "files"), name, file) {
            struct sound a;
            assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", name).s), 0);
            for (int itn = 0; itn < 2; itn++) {
                run(folder, &a, "auto", itn, 0);
                run(s, &a, "auto", itn, 0);
                if (strcmp(steno_text(s), steno_text(folder)) != 0)
                    fail_msg("%s, %s: \"%s\", want \"%s\"", files[k], name, steno_text(s), steno_text(folder));
            }
            sound_free(&a);
        }
        steno_session_close(s);
        steno_model_close(m);
    }
    steno_session_close(folder);
}

/* Features that were not normalised are other features: the switch works, and the file may then be missing. */
static void test_cmvn_is_applied_unless_it_is_switched_off(void **state)
{
    (void)state;
    const struct golden_path dir = funasr_safetensors("sensevoice");
    char mvn[PATH_MAX_LEN];
    snprintf(mvn, sizeof mvn, "%.200s/am.mvn", dir.s);
    unlink(mvn);
    steno_model *m;
    steno_error e;
    assert_int_equal(model_open_f32(&m, dir.s, &e), STENO_EFORMAT);
    assert_non_null(strstr(e.text, "am.mvn"));
    steno_model_params p;
    steno_model_params_init(&p);
    p.no_cmvn = 1;
    if (steno_model_open(&m, dir.s, &p, &e)) fail_msg("%s", e.text);
    steno_session *s;
    struct sound a;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", "en_george").s), 0);
    run(s, &a, "auto", 1, 0);
    const struct plan *plan = inside_plan(m, PLAN_ENCODER);
    const struct slot *out = &plan->slot[plan->output];
    const float *rows = inside_encoded(s);
    const double d = funasr_distance(rows, out->ld, out->width, "golden/sensevoice/%s.encoder.npy", "en_george");
    assert_true(d > 0.05);
    sound_free(&a);
    steno_session_close(s);
    steno_model_close(m);
    funasr_safetensors_remove(dir);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoder_output_is_the_references),
        cmocka_unit_test(test_ids_and_text_are_the_references_under_every_setting),
        cmocka_unit_test(test_text_with_tags_and_with_signs_is_the_references),
        cmocka_unit_test(test_times_of_words_are_the_references),
        cmocka_unit_test(test_safetensors_levels_and_threads_give_the_same_ids),
        cmocka_unit_test(test_every_gguf_file_gives_the_text_of_the_folder),
        cmocka_unit_test(test_cmvn_is_applied_unless_it_is_switched_off),
    };
    return cmocka_run_group_tests(tests, group_begin, funasr_close);
}
