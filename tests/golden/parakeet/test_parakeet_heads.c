/* steno tests: the heads of Parakeet models by their names. SPDX-License-Identifier: MIT
 *
 * A hybrid has a transducer and a CTC head, whose ids, texts and times are NeMo's. */
#include "golden/parakeet/nemo_clips.h"

static void test_the_ctc_head_of_a_hybrid(void **state)
{
    (void)state;
    check_clips_but(NULL, model_with("nemo/parakeet-digits-tdt_ctc.nemo", STENO_DECODER_CTC), "ctc", 1);
    check_clips_but("long", model_with("gguf/parakeet-digits-tdt_ctc.q8_0.gguf", STENO_DECODER_CTC), "ctc", 1);
}

static void test_a_head_by_its_name_is_the_model_s_own(void **state)
{
    static const struct { const char *name, *key; int32_t type; } row[] = {
        { "nemo/parakeet-digits-tdt_ctc.nemo", "tdt_ctc", STENO_DECODER_TDT },
        { "nemo/parakeet-digits-rnnt.nemo", "rnnt", STENO_DECODER_RNNT },
        { "nemo/parakeet-digits-ctc.nemo", "ctc", STENO_DECODER_CTC }, { "hf/ctc", "ctc", STENO_DECODER_CTC },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        check_clips_but(NULL, model_with(row[i].name, row[i].type), row[i].key, row[i].type == STENO_DECODER_CTC);
}

static void test_a_description_has_the_heads_of_a_file(void **state)
{
    static const struct { const char *name; int32_t type; const char *family, *head, *heads; } row[] = {
        { "nemo/parakeet-digits-tdt_ctc.nemo", STENO_DECODER_AUTO, "parakeet", "tdt", "tdt ctc" },
        { "nemo/parakeet-digits-tdt_ctc.nemo", STENO_DECODER_CTC, "parakeet-ctc", "ctc", "tdt ctc" },
        { "nemo/parakeet-digits-rnnt.nemo", STENO_DECODER_AUTO, "parakeet", "rnnt", "rnnt" },
        { "hf/ctc", STENO_DECODER_AUTO, "parakeet-ctc", "ctc", "ctc" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        steno_model *m = model_with(row[i].name, row[i].type);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_string_equal(info.family, row[i].family);
        assert_string_equal(info.name, row[i].head);
        assert_string_equal(info.decoder_types, row[i].heads);
        steno_model_close(m);
    }
}

static void test_a_head_that_the_model_does_not_have_is_refused(void **state)
{
    static const struct { const char *name; int32_t type; const char *says; } row[] = {
        { "hf/tdt", STENO_DECODER_CTC, "decoder_type is ctc, and %s decodes with tdt only: leave it out" },
        { "nemo/parakeet-digits-rnnt.nemo", STENO_DECODER_CTC, "decoder_type is ctc, and %s decodes with rnnt only: leave it out" },
        { "nemo/parakeet-digits-rnnt.nemo", STENO_DECODER_TDT, "decoder_type is tdt, and %s decodes with rnnt only: leave it out" },
        { "nemo/parakeet-digits-tdt_ctc.nemo", STENO_DECODER_RNNT, "decoder_type is rnnt, and %s decodes with tdt or ctc: leave it out" },
        { "hf/ctc", STENO_DECODER_TDT, "decoder_type is tdt, and %s decodes with ctc only: leave it out" },
        { "../nemotron/nemotron-tiny.nemo", STENO_DECODER_CTC, "decoder_type is ctc, and %s decodes with rnnt only: leave it out" },
        { "../whisper-digits/whisper-digits.bin", STENO_DECODER_CTC, "decoder_type is for models with a transducer" },
        { "hf/ctc", 4, "decoder_type is 4, want 0 to 3" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        steno_model *m = NULL;
        steno_error e = { 0 };
        steno_model_params p;
        char want[1024];
        const struct golden_path path = material(row[i].name);
        steno_model_params_init(&p);
        p.decoder_type = row[i].type;
        assert_int_equal(steno_model_open(&m, path.s, &p, &e), STENO_EARG);
        assert_null(m);
        const char *place = strstr(row[i].says, "%s");
        if (place) snprintf(want, sizeof want, "%.*s%s%s", (int)(place - row[i].says), row[i].says, path.s, place + 2);
        else snprintf(want, sizeof want, "%s", row[i].says);
        if (!strstr(e.text, want)) fail_msg("%s: '%s', want '%s'", row[i].name, e.text, want);
    }
}

/* Random weights: biases, local attention, a vocabulary of which the head uses all. */
static void test_the_ctc_head_of_a_random_hybrid(void **state)
{
    const char *clip;
    json_t *results;
    (void)state;
    steno_model *m = model_with("nemo/odd-tdt_ctc.nemo", STENO_DECODER_CTC);
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(nemo, "odd"), clip, results) {
        hear(s, clip, NULL);
        check_ids(s, clip, json_object_get(results, "ctc"), 1);
    }
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_ctc_head_of_a_hybrid),
        cmocka_unit_test(test_the_ctc_head_of_a_random_hybrid),
        cmocka_unit_test(test_a_head_by_its_name_is_the_model_s_own),
        cmocka_unit_test(test_a_description_has_the_heads_of_a_file),
        cmocka_unit_test(test_a_head_that_the_model_does_not_have_is_refused),
    };
    if (!is_there(material("README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the Parakeet collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, nemo_open, nemo_close);
}
