/* steno tests: settings of a Hugging Face folder's feature extractor. SPDX-License-Identifier: MIT
 *
 * A folder that asks for other features than those computed here is refused by the name of the setting, in both files that may have it. */
#include "api/lm_folder.h"
#include "api/parakeet_model.h"
#include "api/shipped.h"
#include "spell.h"

struct change { const char *from, *to, *why; };
static const char all[] = "\"sampling_rate\": 16000, \"hop_length\": 160, \"n_fft\": %d, \"win_length\": 400, \"feature_size\": %d,"
                          " \"preemphasis\": %s, \"padding_side\": \"right\", \"padding_value\": 0.0, \"do_normalize\": false,"
                          " \"dither\": 0.0, \"mel_filters\": [[0.0, 0.5], [0.25, 0.0]]";
static const struct change row[] = {
    { "16000", "8000", "sampling_rate is 8000, this version supports 16000" },
    { "160,", "200,", "hop_length is 200, this version supports 160" },
    { "\"n_fft\": ", "\"n_fft\": 1", "n_fft is 1" },
    { "\"win_length\": ", "\"win_length\": 1", "win_length is 1400, this version supports 400" },
    { "\"feature_size\": ", "\"feature_size\": 1", "feature_size is 1" },
    { "\"preemphasis\": 0", "\"preemphasis\": 0.5, \"x\": 0", "preemphasis is 0.5, this version supports 0" },
    { "right", "left", "padding_side is left, this version supports right" },
    { "\"padding_value\": 0.0", "\"padding_value\": 1.0", "padding_value is 1, this version supports 0" },
    { "false", "true", NULL }, /* do_normalize and dither change nothing here */
    { "\"dither\": 0.0", "\"dither\": 1e-5", NULL },
    { "16000", "\"fast\"", "sampling_rate" },
    { "16000", "16000", NULL },
};

static void open_it(const struct folder *d, const char *file, const char *why)
{
    steno_model *m = NULL;
    steno_error e = { 0 };
    const int rc = steno_model_open(&m, d->path, NULL, &e);
    if (why && (!rc || !strstr(e.text, why) || !strstr(e.text, file))) fail_msg("%s: '%s', want '%s'", file, rc ? e.text : "taken", why);
    if (!why && rc) fail_msg("%s: %s", file, e.text);
    steno_model_close(m);
}

/* Tries all rows in a folder whose model has these features. `rest`: other members of processor_config.json. */
static void try_rows(const struct folder *d, int n_fft, int n_mels, const char *preemphasis, const char *rest)
{
    char settings[512], changed[640], text[1024];
    snprintf(settings, sizeof settings, all, n_fft, n_mels, preemphasis);
    for (size_t i = 0; i < 2 * (sizeof row / sizeof *row); i++) {
        const struct change *r = &row[i / 2];
        const char *at = strstr(settings, r->from), *file = i % 2 ? "processor_config.json" : "preprocessor_config.json";
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - settings), settings, r->to, at + strlen(r->from));
        if (i % 2) snprintf(text, sizeof text, "{%s\"feature_extractor\": {%s}}", rest, changed);
        else snprintf(text, sizeof text, "{%s}", changed);
        folder_text(d, file, text);
        open_it(d, file, r->why);
        snprintf(text, sizeof text, "{%s\"x\": 1}", i % 2 ? rest : "");
        folder_text(d, file, text);
    }
}

static void test_parakeet_s_features(void **state)
{
    (void)state;
    const struct folder d = pk_ctc_folder();
    try_rows(&d, 512, PK_MELS, "0.97", "");
    folder_remove(&d);
}

static void test_features_of_a_stream(void **state)
{
    (void)state;
    const struct folder d = pk_stream_folder();
    try_rows(&d, 512, PK_MELS, "0.97",
             "\"supported_num_lookahead_tokens\": [3, 1, 0], \"prompt_dictionary\": { \"en-US\": 0, \"de-DE\": 1, \"auto\": 2 }, ");
    folder_remove(&d);
}

static void test_whisper_s_features(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    struct file f;
    struct weights w;
    steno_error e;
    if (file_open(&f, shipped_model, &e) || weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    spell_model(&d, &w, AS_STORED, 1);
    weights_close(&w);
    file_close(&f);
    try_rows(&d, 400, 80, "0.0", "");
    folder_remove(&d);
}

/* Broken settings that a family does not use do not stop it. */
static void test_only_settings_of_the_family_are_read(void **state)
{
    (void)state;
    static const struct { const char *name; int stops[2]; } file[] = { /* a Parakeet, a language model */
        { "preprocessor_config.json", { 1, 0 } },  { "processor_config.json", { 1, 0 } }, { "generation_config.json", { 0, 1 } },
        { "sentence_bert_config.json", { 0, 1 } }, { "configuration.json", { 0, 0 } },
    };
    for (int k = 0; k < 2; k++) {
        const struct folder d = k ? lm_folder() : pk_ctc_folder();
        for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
            folder_text(&d, file[i].name, "{\"a\": ");
            open_it(&d, file[i].name, file[i].stops[k] ? file[i].name : NULL);
            folder_text(&d, file[i].name, "{}");
        }
        folder_remove(&d);
    }
}

/* configuration.json of FunASR's folders may name the file of mean and variance. */
static void test_configuration_json_names_the_file_of_mean_and_variance(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct folder d = i == 0 ? ctc_folder() : i == 1 ? cif_folder() : i == 2 ? live_folder() : vad_folder();
        assert_int_equal(rename(folder_at(&d, "am.mvn").path, folder_at(&d, "other.mvn").path), 0);
        open_it(&d, "/", "am.mvn is missing beside the weights");
        folder_text(&d, "configuration.json", "{\"file_path_metas\": {\"frontend_conf\": {\"cmvn_file\": \"other.mvn\"}}}");
        open_it(&d, "/", NULL);
        folder_text(&d, "configuration.json", "{\"a\": ");
        open_it(&d, "/", "configuration.json");
        folder_remove(&d);
    }
}

/* Heads of keys that several heads of queries share. */
static void test_shared_heads_of_a_parakeet_are_refused(void **state)
{
    (void)state;
    const struct folder d = pk_ctc_folder();
    struct buf b = { 0 };
    pk_config(&b, PK_CTC);
    buf_add(&b, "", 1);
    char *at = strstr(b.p, "\"hidden_act\": \"silu\""), text[1024];
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s\"num_key_value_heads\": 1, %s", (int)(at - b.p), b.p, at);
    folder_text(&d, "config.json", text);
    open_it(&d, "/", "encoder_config.num_key_value_heads is 1, this version supports the number of heads");
    buf_free(&b);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parakeet_s_features),
        cmocka_unit_test(test_features_of_a_stream),
        cmocka_unit_test(test_whisper_s_features),
        cmocka_unit_test(test_only_settings_of_the_family_are_read),
        cmocka_unit_test(test_configuration_json_names_the_file_of_mean_and_variance),
        cmocka_unit_test(test_shared_heads_of_a_parakeet_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
