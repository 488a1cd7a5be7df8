/* steno tests: voice activity, a recogniser and punctuation one behind the other, against the reference. SPDX-License-Identifier: MIT
 *
 * What FunASR's AutoModel(model, vad_model, punc_model).generate() returns (make_pipeline.py) for the recordings of the collection and for
 * long ones made of them, by its defaults, and with times and sentences: as the format `funasr` writes ours. */
#include "funasr.h"
#include "writers.h"

static steno_model *vad, *punctuation;
static int n_lossy; /* files of which the reference has lost words */
static steno_session *marks;

static int group_begin(void **state)
{
    steno_error e;
    (void)state;
    golden = json_open("tests/data/pipeline.json");
    if (steno_model_open(&vad, funasr_file("%s", "fsmn-vad/pt").s, NULL, &e)) fail_msg("%s", e.text);
    if (steno_model_open(&punctuation, funasr_file("%s", "models/punc/pt").s, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&marks, punctuation, NULL, NULL, NULL), 0);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    steno_session_close(marks);
    steno_model_close(punctuation);
    steno_model_close(vad);
    json_decref(golden);
    return 0;
}

static void read_audio(struct sound *a, const char *name)
{
    char path[80];
    snprintf(path, sizeof path, "audio/%s.wav", name);
    FILE *f = fopen(funasr_file("%s", path).s, "rb");
    if (f) fclose(f);
    else snprintf(path, sizeof path, "audio/vad/%s.wav", name);
    assert_int_equal(sound_read(a, funasr_file("%s", path).s), 0);
}

/* Parts of a long recording, with silence behind each. */
static void compose(struct sound *a, const json_t *parts)
{
    size_t i, n = 0;
    const json_t *part;
    *a = (struct sound){ 0 };
    json_array_foreach(parts, i, part) {
        struct sound one;
        read_audio(&one, json_string_value(json_array_get(part, 0)));
        const size_t silence = (size_t)json_integer_value(json_array_get(part, 1));
        a->pcm = realloc(a->pcm, (n + (size_t)one.n + silence) * sizeof *a->pcm);
        assert_non_null(a->pcm);
        memcpy(a->pcm + n, one.pcm, (size_t)one.n * sizeof *a->pcm);
        memset(a->pcm + n + one.n, 0, silence * sizeof *a->pcm);
        n += (size_t)one.n + silence;
        sound_free(&one);
    }
    a->n = (int64_t)n;
}

/* The list that is written of a recording. */
static json_t *listed(steno_session *s, struct sound *a, int times, int32_t tags)
{
    struct pcm_feed feed = { a, 0, 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    steno_transcribe_params p;
    steno_vad_params v;
    steno_transcribe_params_init(&p);
    p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
    steno_vad_params_init(&v);
    p.vad_model = vad;
    p.vad = &v;
    p.word_timestamps = times;
    p.tags = tags;
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s", steno_last_error(s));
    if (steno_punctuate_result(marks, s, NULL)) fail_msg("%s", steno_last_error(marks));
    const struct transcript_source named = { .input = "x.wav" };
    struct transcript_store store = { 0 };
    struct transcript t = { .source = &named, .first_timestamp = -1, .word_times = times, .punctuated = 1 };
    assert_int_equal(transcript_take(&t, &store, s), 0);
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    writers[WRITER_FUNASR].write(&to, &t);
    assert_false(to.failed);
    json_t *list = json_loads(text.p, 0, NULL);
    assert_non_null(list);
    free(text.p);
    transcript_free(&store);
    return list;
}

/* ours[key] is want[key]; what both leave out is equal. */
static int differs(const json_t *ours, const json_t *want, const char *key)
{
    const json_t *a = json_object_get(ours, key), *b = json_object_get(want, key);
    const int none = !b || (json_is_array(b) && !json_array_size(b)) || (json_is_string(b) && !*json_string_value(b));
    if (none) return a && json_array_size(a) && !json_is_string(a);
    return !json_equal(a, b);
}

/* Words that the reference has lost of ours, with their times; -1: it has others. */
static int lost(const json_t *ours, const json_t *want)
{
    const json_t *word[2] = { json_object_get(ours, "words"), json_object_get(want, "words") };
    const json_t *times[2] = { json_object_get(ours, "timestamp"), json_object_get(want, "timestamp") };
    const size_t n = json_array_size(word[0]), n_want = json_array_size(word[1]);
    size_t k = 0;
    for (size_t i = 0; i < n && k < n_want; i++)
        k += json_equal(json_array_get(word[0], i), json_array_get(word[1], k)) &&
             json_equal(json_array_get(times[0], i), json_array_get(times[1], k));
    return k == n_want ? (int)(n - n_want) : -1;
}

/* @return files that are equal in all of the keys; NULL ends these */
static int compare(const char *which, struct golden_path weights, const char *how, int times, const char *const *key)
{
    steno_error e;
    steno_session *s;
    const char *name;
    json_t *want;
    int n = 0;
    const int32_t tags = times && !strcmp(which, "sensevoice") ? STENO_TAGS_KEEP : STENO_TAGS_APART; /* as the program asks for them */
    if (model_open_f32(&model, weights.s, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(json_object_get(golden, "results"), which), name, want) {
        const json_t *parts = json_object_get(json_object_get(golden, "long"), name);
        struct sound a;
        int bad = 0;
        if (SANITIZED && parts) continue;
        if (parts) compose(&a, parts);
        else read_audio(&a, name);
        json_t *list = listed(s, &a, times, tags);
        for (int k = 0; key[k]; k++)
            if (differs(json_array_get(list, 0), json_object_get(want, how), key[k])) {
                print_message("%s, %s, %s: %s differs\n", which, how, name, key[k]);
                bad = 1;
            }
        if (bad && lost(json_array_get(list, 0), json_object_get(want, how)) > 0) n_lossy++;
        n += !bad;
        json_decref(list);
        sound_free(&a);
    }
    steno_session_close(s);
    steno_model_close(model);
    return n;
}

static const char *const text[] = { "text", NULL }, *const all[] = { "text", "timestamp", "words", "sentence_info", NULL };
enum { FILES = SANITIZED ? 23 : 26 };

static void test_paraformer_s_text_is_the_references(void **state)
{
    (void)state;
    assert_int_equal(compare("paraformer", funasr_file("%s", "models/paraformer/pt"), "plain", 0, text), FILES);
}

/* A word of vad_example is 59 ms longer there: where a frame fires is as good as undecided. */
static void test_paraformer_s_times_and_sentences_are_the_references(void **state)
{
    (void)state;
    assert_true(compare("paraformer", funasr_file("%s", "models/paraformer/pt"), "timed", 1, all) >= FILES - 1);
}

static void test_bicif_s_times_and_sentences_are_the_references(void **state)
{
    (void)state;
    struct golden_path dir = funasr_safetensors("paraformer-bicif");
    assert_int_equal(compare("paraformer-bicif", dir, "timed", 1, all), FILES);
    funasr_safetensors_remove(dir);
}

static void test_sensevoice_s_text_is_the_references(void **state)
{
    (void)state;
    assert_int_equal(compare("sensevoice", funasr_file("%s", "models/sensevoice/pt"), "plain", 0, text), FILES);
}

/* With times FunASR leaves SenseVoice's text as it is. It takes the first four pieces of a span for tags: in two of the long ones the model
 * writes only two in some spans, whose word is lost then, and there are spans instead of sentences. */
static void test_sensevoice_s_times_and_sentences_are_the_references(void **state)
{
    (void)state;
    n_lossy = 0;
    assert_int_equal(compare("sensevoice", funasr_file("%s", "models/sensevoice/pt"), "timed", 1, all), FILES - 2 * !SANITIZED);
    assert_int_equal(n_lossy, 2 * !SANITIZED);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paraformer_s_text_is_the_references),
        cmocka_unit_test(test_paraformer_s_times_and_sentences_are_the_references),
        cmocka_unit_test(test_bicif_s_times_and_sentences_are_the_references),
        cmocka_unit_test(test_sensevoice_s_text_is_the_references),
        cmocka_unit_test(test_sensevoice_s_times_and_sentences_are_the_references),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
