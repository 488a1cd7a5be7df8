/* steno tests: recognisers behind a voice-activity model, against the reference. SPDX-License-Identifier: MIT
 *
 * The text of FunASR's AutoModel(model, vad_model).generate() (make_vad_texts.py) for its recordings of speech and pauses, with the spans
 * of its default, of a fixed silence, cut and merged. It puts a space between the texts of segments whatever they are, and one for a
 * segment without text, too. */
#include "funasr.h"

static const struct setting { const char *name; int64_t end_silence, segment, merge; } settings[] = {
    { "default", -1, -1, 0 }, { "fixed500", 500, -1, 0 }, { "max5s", -1, 5000, 0 }, { "merged15", 500, -1, 15000 },
};
enum { N_SETTINGS = sizeof settings / sizeof *settings, TEXT_SZ = 1 << 14 };

static steno_model *vad;

static int group_begin(void **state)
{
    steno_error e;
    (void)state;
    golden = json_open("tests/data/vad_texts.json");
    if (steno_model_open(&vad, funasr_file("%s", "fsmn-vad/pt").s, NULL, &e)) fail_msg("%s", e.text);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    steno_model_close(vad);
    json_decref(golden);
    return 0;
}

/* Words and what lies between them, one space each. */
static void squeeze(char *to, const char *from)
{
    size_t n = 0;
    for (; *from; from++)
        if (*from != ' ' || (n && to[n - 1] != ' ' && from[1])) to[n++] = *from;
    if (n && to[n - 1] == ' ') n--;
    to[n] = '\0';
}

static void segments_join(char *to, const steno_session *s)
{
    size_t at = 0;
    to[0] = '\0';
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        assert_true(at + strlen(g.text) + 2 < TEXT_SZ);
        at += (size_t)sprintf(to + at, "%s%s", i ? " " : "", g.text);
    }
}

static steno_transcribe_params params_of(const struct setting *k, steno_vad_params *v, int tags)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
    steno_vad_params_init(v);
    v->max_end_silence_ms = k->end_silence;
    v->max_segment_ms = k->segment;
    v->merge_ms = k->merge;
    p.vad_model = vad;
    p.vad = v;
    if (tags) p.tags = STENO_TAGS_KEEP;
    return p;
}

static void compare(steno_session *s, const char *file, const struct setting *k, int tags, const char *want)
{
    static char ours[TEXT_SZ], theirs[TEXT_SZ];
    struct sound a;
    steno_vad_params v;
    const steno_transcribe_params p = params_of(k, &v, tags);
    char path[80];
    snprintf(path, sizeof path, "audio/vad/%s.wav", file);
    assert_int_equal(sound_read(&a, funasr_file("%s", path).s), 0);
    struct pcm_feed feed = { &a, 0, strlen(file) % 2 ? 4321 : 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s", steno_last_error(s));
    segments_join(ours, s);
    squeeze(theirs, want);
    if (strcmp(ours, theirs) != 0) fail_msg("%s, %s: \"%s\", want \"%s\"", file, k->name, ours, theirs);
    sound_free(&a);
}

static void check_family(const char *which, const char *weights, int tags)
{
    steno_error e;
    steno_session *s;
    const char *file;
    json_t *texts;
    int n = 0;
    if (model_open_f32(&model, funasr_file("%s", weights).s, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(golden, which), file, texts)
    {
        for (int i = 0; i < N_SETTINGS && !(SANITIZED && i != 3); i++, n++)
            compare(s, file, &settings[i], tags, json_string_value(json_object_get(texts, settings[i].name)));
    }
    assert_true(SANITIZED || n >= 7 * N_SETTINGS);
    steno_session_close(s);
    steno_model_close(model);
}

static void test_sensevoice_s_texts_of_spans_equal_the_reference(void **state)
{
    (void)state;
    check_family("sensevoice", "models/sensevoice/pt", 1);
}

static void test_paraformer_s_texts_of_spans_equal_the_reference(void **state)
{
    (void)state;
    check_family("paraformer", "models/paraformer/pt", 0);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sensevoice_s_texts_of_spans_equal_the_reference),
        cmocka_unit_test(test_paraformer_s_texts_of_spans_equal_the_reference),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
