/* steno tests: the CTC path against the reference. SPDX-License-Identifier: MIT
 *
 * The small SenseVoice of the collection: rows of features, encoder output, logits, and the ids of every row under every setting whose
 * margin allows a comparison. */
#include "funasr.h"
#include "lib/lib.h"

static double const margin_least = 0.02; /* of logits; ours differ by less than 1e-3 */

static json_t *golden;
static steno_model *model;

static int group_begin(void **state)
{
    (void)state;
    golden = json_open(funasr_file("golden/sensevoice/%s", "golden.json").s);
    steno_error e;
    if (steno_model_open(&model, funasr_file("models/sensevoice/%s", "pt").s, NULL, &e)) fail_msg("%s", e.text);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    steno_model_close(model);
    json_decref(golden);
    return 0;
}

static void run(steno_session *s, const struct sound *a, const char *language, int itn, int ban)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = language;
    p.itn = itn;
    p.ban_unknown_emotion = ban;
    struct pcm_feed feed = { a, 0, 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    if (steno_transcribe_source(s, &src, &p)) fail_msg("%s", steno_last_error(s));
}

/* Rows that lie ld floats apart against a tensor of the collection: |difference| / |reference|. */
static double distance(const float *ours, size_t ld, size_t width, const char *fmt, const char *stem)
{
    struct npy want = funasr_tensor(fmt, stem);
    double d = 0, norm = 0;
    for (size_t i = 0; i < want.n; i++) {
        const double w = want.v[i], x = ours[i / width * ld + i % width];
        d += (x - w) * (x - w);
        norm += w * w;
    }
    free(want.v);
    return sqrt(d / norm);
}

static void test_encoder_output_is_the_references(void **state)
{
    (void)state;
    static const char *const stems[] = { "en_george", "zh_synth" };
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    const struct plan *plan = &model->plan[PLAN_ENCODER];
    const struct slot *out = &plan->slot[plan->output];
    for (size_t i = 0; i < 2; i++) {
        struct sound a;
        assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", stems[i]).s), 0);
        run(s, &a, "auto", 1, 0);
        const double d = distance(exec_slot(&s->exec, plan, plan->output), out->ld, out->width, "golden/sensevoice/%s.encoder.npy", stems[i]);
        print_message("%s: encoder output, distance %.2g\n", stems[i], d);
        assert_true(d <= 1e-3);
        sound_free(&a);
    }
    steno_session_close(s);
}

/* Ids of all rows, before repeats and blanks are dropped, and the text with and without tags. */
static int compare(steno_session *s, const char *file, const char *setting, json_t *want)
{
    json_t *ids = json_object_get(want, "frame_ids");
    const size_t n = json_array_size(ids);
    for (size_t i = 0; i < n; i++)
        if (s->run.best[i].id != json_integer_value(json_array_get(ids, i)))
            fail_msg("%s, %s: row %zu chose %d, want %lld", file, setting, i, (int)s->run.best[i].id,
                     (long long)json_integer_value(json_array_get(ids, i)));
    const char *raw = json_string_value(json_object_get(want, "raw")), *text = raw;
    while (!strncmp(text, "<|", 2) && strstr(text, "|>")) text = strstr(text, "|>") + 2;
    while (*text == ' ') text++;
    if (strcmp(steno_text(s), text) != 0) fail_msg("%s, %s: \"%s\", want \"%s\"", file, setting, steno_text(s), text);
    steno_segment g = { .size = sizeof g };
    if (!*text) return 1;
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    char tags[128];
    snprintf(tags, sizeof tags, "<|%s|><|%s|><|%s|><|%s|>", g.language, g.emotion, g.event, g.itn);
    if (strncmp(raw, tags, strlen(tags)) != 0) fail_msg("%s, %s: tags %s, want those of %s", file, setting, tags, raw);
    return 1;
}

static void test_ids_and_text_are_the_references_under_every_setting(void **state)
{
    (void)state;
    static const struct { const char *name, *language; int itn, ban; } set[] = {
        { "auto_woitn", "auto", 0, 0 }, { "auto_woitn_banunk", "auto", 0, 1 }, { "auto_itn", "auto", 1, 0 },
        { "auto_itn_banunk", "auto", 1, 1 }, { "en_woitn", "en", 0, 0 }, { "en_itn", "en", 1, 0 },
        { "zh_woitn", "zh", 0, 0 }, { "zh_itn", "zh", 1, 0 },
    };
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    const char *name;
    json_t *file;
    int n_compared = 0, n_close = 0;
    json_object_foreach(json_object_get(golden, "files"), name, file) {
        struct sound a;
        assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", name).s), 0);
        for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
            json_t *want = json_object_get(json_object_get(file, "results"), set[k].name);
            run(s, &a, set[k].language, set[k].itn, set[k].ban);
            if (json_number_value(json_object_get(want, "min_margin")) < margin_least) n_close++;
            else n_compared += compare(s, name, set[k].name, want);
        }
        sound_free(&a);
    }
    print_message("%d results compared, %d too close to call\n", n_compared, n_close);
    assert_true(n_compared >= 115);
    steno_session_close(s);
}

int main(void)
{
    if (funasr_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encoder_output_is_the_references),
        cmocka_unit_test(test_ids_and_text_are_the_references_under_every_setting),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
