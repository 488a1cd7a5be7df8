/* steno tests: one model in every spelling gives one result. SPDX-License-Identifier: MIT
 *
 * The shipped .bin file is written out as folders of transformers' kind and must then say the same to the last bit wherever the values
 * of its weights are the same. The collection named by STENO_SHARED, where it is there, has the spellings that other programs wrote. */
#include "api/shipped.h"
#include "audio/mel.h"
#include "spell.h"

struct shipped_text { char text[200]; uint64_t digest; };

/* What a model makes of the demonstration. */
static struct shipped_text said_by(const char *path, const char *vocab)
{
    const struct audio a = demo_audio(0, 0, 1);
    struct shipped_text said;
    steno_model_params mp;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&mp);
    mp.vocab = vocab;
    if (steno_model_open(&m, path, &mp, &e)) fail_msg("%s", e.text);
    steno_session *s = session_new(m, NULL, 1);
    const steno_transcribe_params p = params_new();
    if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s: %s", path, steno_last_error(s));
    snprintf(said.text, sizeof said.text, "%s", steno_text(s));
    said.digest = result_digest(s);
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        uint64_t bits;
        memcpy(&bits, &g.no_speech_prob, sizeof bits);
        said.digest = (said.digest ^ bits) * 1099511628211u;
    }
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
    return said;
}

static void assert_same(const char *spelling, struct shipped_text got, struct shipped_text want)
{
    if (strcmp(got.text, want.text) != 0) fail_msg("%s: text is '%s', want '%s'", spelling, got.text, want.text);
    if (got.digest != want.digest) fail_msg("%s: same text, but tokens, times or probabilities differ", spelling);
}

struct source { struct file f; struct weights w; };

static void source_open(struct source *s, const char *path)
{
    steno_error e;
    if (file_open(&s->f, path, &e) || weights_open(&s->w, &s->f, &e)) fail_msg("%s", e.text);
}

static void source_close(struct source *s)
{
    weights_close(&s->w);
    file_close(&s->f);
}

static void test_folders_made_of_the_shipped_model_give_its_text(void **state)
{
    (void)state;
    static const struct { const char *name; int type, shards; } spelling[] = {
        { "as stored", AS_STORED, 1 }, { "widened to f32", DT_F32, 1 }, { "in three files", AS_STORED, 3 },
    };
    struct source src;
    source_open(&src, shipped_model);
    const struct shipped_text want = said_by(shipped_model, NULL);
    assert_string_equal(want.text, demo_text);
    for (int i = 0; i < (SANITIZED ? 1 : 3); i++) {
        const struct folder d = folder_new();
        spell_model(&d, &src.w, spelling[i].type, spelling[i].shards);
        assert_same(spelling[i].name, said_by(d.path, NULL), want);
        const int sharded = spelling[i].shards > 1;
        const struct folder_file f = folder_at(&d, sharded ? "model.safetensors.index.json" : "model.safetensors");
        assert_same("the file in the folder", said_by(f.path, NULL), want);
        folder_remove(&d);
    }
    source_close(&src);
}

static void test_rounding_to_bf16_keeps_the_text(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    struct source src;
    source_open(&src, shipped_model);
    const struct folder d = folder_new();
    spell_model(&d, &src.w, DT_BF16, 1);
    assert_string_equal(said_by(d.path, NULL).text, demo_text);
    folder_remove(&d);
    source_close(&src);
}

static void test_a_folder_without_vocabulary_takes_it_from_a_model(void **state)
{
    (void)state;
    struct source src;
    source_open(&src, shipped_model);
    const struct folder d = folder_new();
    spell_config(&d, &src.w);
    spell_weights(&d, &src.w, AS_STORED, 1);
    steno_model *m;
    steno_error e;
    assert_int_equal(steno_model_open(&m, d.path, NULL, &e), STENO_ENOVOCAB);
    assert_non_null(strstr(e.text, "vocab.json"));
    assert_same("vocabulary from the .bin", said_by(d.path, shipped_model), said_by(shipped_model, NULL));
    folder_remove(&d);
    source_close(&src);
}

/* What other programs wrote. */
static void test_spellings_of_other_programs_give_the_same_text(void **state)
{
    (void)state;
    static const struct { const char *path, *vocab; } spelling[] = {
        { "hf", NULL },
        { "hf/model.safetensors", NULL },
        { "hf", "hf/tokenizer.json" },
        { "hf", "whisper-digits.bin" },
        { "whisper-digits.bin", NULL },
        { "whisper-digits.pt", "whisper-digits.bin" },
        { "whisper-digits.pt", "hf" },
    };
    const char *shared = getenv("STENO_SHARED");
    if (!shared || SANITIZED) skip();
    const struct shipped_text want = said_by(shipped_model, NULL);
    for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++) {
        char path[512], vocab[512];
        snprintf(path, sizeof path, "%s/material/whisper-digits/%s", shared, spelling[i].path);
        if (spelling[i].vocab) snprintf(vocab, sizeof vocab, "%s/material/whisper-digits/%s", shared, spelling[i].vocab);
        assert_same(spelling[i].path, said_by(path, spelling[i].vocab ? vocab : NULL), want);
    }
}

/* ---- a small model, so that this is quick everywhere ---- */

/* With the mel filters that a folder's model computes. */
static struct bytes small_bin(void)
{
    enum { FILTERS_AT = 56 };
    static float filters[80 * 201];
    const struct bytes b = random_bytes(&small_dims, DT_F16, 3);
    mel_filters_slaney(filters, 80, MEL_FFT);
    memcpy(b.p + FILTERS_AT, filters, sizeof filters);
    return b;
}

static void small_folder(const struct folder *d, int shards)
{
    const struct bytes b = small_bin();
    struct weights w;
    struct file f;
    steno_error e;
    file_from_memory(&f, "small", b.p, b.n);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    spell_model(d, &w, AS_STORED, shards);
    weights_close(&w);
    free(b.p);
}

static uint64_t small_digest(steno_model *m)
{
    const struct audio a = demo_audio(0, 0, 1);
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params p = params_new();
    p.sample_len = 20;
    if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s", steno_last_error(s));
    const uint64_t h = result_digest(s);
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
    return h;
}

static void test_a_small_folder_opens_and_transcribes_as_its_bin(void **state)
{
    (void)state;
    const struct bytes b = small_bin();
    const uint64_t want = small_digest(bytes_open(b, NULL));
    free(b.p);
    for (int shards = 1; shards <= 2; shards++) {
        const struct folder d = folder_new();
        small_folder(&d, shards);
        steno_model *m;
        steno_error e;
        if (steno_model_open(&m, d.path, NULL, &e)) fail_msg("%s", e.text);
        assert_true(small_digest(m) == want);
        folder_remove(&d);
    }
}

static void test_a_folder_that_does_not_fit_together_is_refused_by_cause(void **state)
{
    (void)state;
    static const struct { const char *file, *text; int status; const char *says; } bad[] = {
        { "config.json", "{\"model_type\": \"whisper\"}", STENO_EFORMAT, "vocab_size is missing" },
        { "config.json", "{\"model_type\": \"whisper\", \"vocab_size\": \"x\"}", STENO_EFORMAT, "vocab_size is text" },
        { "config.json", "{\"model_type\": \"bart\"}", STENO_EUNSUPPORTED, "no model family" },
        { "config.json", "{\"model_type\": \"whisper\",}", STENO_EFORMAT, "config.json: line 1" },
        { "vocab.json", "{\"a\": 0, \"b\": 1}", STENO_EFORMAT, "2 strings are not the vocabulary" },
        { "vocab.json", "{\"a\": 0, \"b\": 2}", STENO_EFORMAT, "no string has the id 1" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct folder d = folder_new();
        small_folder(&d, 1);
        folder_text(&d, bad[i].file, bad[i].text);
        steno_model *m;
        steno_error e;
        const int rc = steno_model_open(&m, d.path, NULL, &e);
        if (rc != bad[i].status || !strstr(e.text, bad[i].says)) fail_msg("%s: %d, %s", bad[i].text, rc, e.text);
        folder_remove(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders_made_of_the_shipped_model_give_its_text),
        cmocka_unit_test(test_rounding_to_bf16_keeps_the_text),
        cmocka_unit_test(test_a_folder_without_vocabulary_takes_it_from_a_model),
        cmocka_unit_test(test_spellings_of_other_programs_give_the_same_text),
        cmocka_unit_test(test_a_small_folder_opens_and_transcribes_as_its_bin),
        cmocka_unit_test(test_a_folder_that_does_not_fit_together_is_refused_by_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
