/* steno tests: fields of a request as parameters of the library. SPDX-License-Identifier: MIT */
#include "api/funasr_model.h"
#include "ask_request.h"
#include <math.h>

static steno_model *many, *english, *ctc, *cif, *prompted; /* prompted: free text in its prompt, several languages */

static int open_all(void **state)
{
    (void)state;
    many = shipped_open();
    english = random_model(&small_dims, DT_F16, 3, NULL);
    ctc = funasr_open(ctc_folder, NULL);
    cif = funasr_open(cif_folder, NULL);
    assert_int_equal(steno_model_open(&prompted, "tests/data/qwen3_asr", NULL, NULL), STENO_OK);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(many);
    steno_model_close(english);
    steno_model_close(ctc);
    steno_model_close(cif);
    steno_model_close(prompted);
    return 0;
}

/* The defaults of the program's command line. */
static void job_default(struct job *j, const steno_model *m)
{
    *j = (struct job){ .model = m };
    steno_transcribe_params_init(&j->params);
    if (m == many || m == english) j->params.beam_size = j->params.best_of = 5;
}

static int request_read(struct request *r, const char *fields, int task, int is_strict)
{
    request_begin(r, fields);
    return ask_read(&r->ask, &r->form, task, is_strict, &r->e);
}

static int request_fill(struct request *r, const steno_model *m, const char *fields)
{
    if (request_read(r, fields, STENO_TRANSCRIBE, 0) != API_OK) return (int)r->e.code;
    job_default(&r->job, m);
    return ask_fill(&r->ask, &r->form, &r->job, m, &r->e);
}

static void expect(const struct request *r, const char *fields, enum api_code code, const char *param, const char *part)
{
    if (r->e.code != code || strcmp(r->e.param, param) != 0 || !strstr(r->e.message, part))
        fail_msg("%s: %s, %s: %s; not %s, %s: %s", fields, api_code_name(r->e.code), r->e.param, r->e.message, api_code_name(code), param,
                 part);
}

/* ---- parameters by name ---------------------------------------------------------------------------------------------------------- */

static double number_of(const steno_transcribe_params *p, const char *name)
{
    for (int i = 0;; i++) {
        steno_param is = { .size = sizeof is };
        if (steno_param_get(NULL, STENO_CALL_TRANSCRIBE, i, &is) != STENO_OK) fail_msg("no parameter %s", name);
        if (strcmp(is.name, name) != 0) continue;
        const char *at = (const char *)p + is.offset;
        switch (is.kind) {
        case STENO_PARAM_NUMBER: return *(const double *)(const void *)at;
        case STENO_PARAM_INT64:
        case STENO_PARAM_UINT64: return (double)*(const int64_t *)(const void *)at;
        default: return *(const int32_t *)(const void *)at;
        }
    }
}

static void test_numbers_become_parameters(void **state)
{
    static const struct { const char *fields, *param; double value; } good[] = {
        { "", "temperature", 0 }, { "", "beam_size", 5 }, { "", "best_of", 5 }, { "", "temperature_increment_on_fallback", 0.2 },
        { "temperature=0", "temperature_increment_on_fallback", 0.2 }, { "temperature=0", "beam_size", 5 },
        { "temperature=0.4", "temperature", 0.4 }, { "temperature=0.4", "temperature_increment_on_fallback", 0 }, /* no ladder */
        { "temperature=0.4", "beam_size", 0 }, { "temperature=0.4", "best_of", 5 }, { "temperature=1", "temperature", 1 },
        { "temperature=0.4&temperature_increment_on_fallback=0.3", "temperature_increment_on_fallback", 0.3 },
        { "temperature_increment_on_fallback=0", "best_of", 0 }, { "temperature_increment_on_fallback=0", "beam_size", 5 },
        { "beam_size=1", "beam_size", 1 }, { "beam_size=8", "beam_size", 8 }, { "beam_size=0", "beam_size", 0 },
        { "best_of=8", "best_of", 8 }, { "patience=2", "patience", 2 }, { "length_penalty=0.5", "length_penalty", 0.5 },
        { "seed=12345678901", "seed", 12345678901.0 }, { "without_timestamps=true", "without_timestamps", 1 },
        { "condition_on_previous_text=False", "condition_on_previous_text", 0 }, { "offset_ms=1500", "offset_ms", 1500 },
        { "duration_ms=2000", "duration_ms", 2000 }, { "no_speech_threshold=0.5", "no_speech_threshold", 0.5 },
        { "logprob_threshold=-0.5", "logprob_threshold", -0.5 }, { "compression_ratio_threshold=2", "compression_ratio_threshold", 2 },
        { "entropy_threshold=2.4", "entropy_threshold", 2.4 }, { "guards=off", "guards", STENO_GUARDS_OFF },
        { "guards=retry", "guards", STENO_GUARDS_RETRY }, { "max_context=64", "max_context", 64 }, { "audio_ctx=500", "audio_ctx", 500 },
        { "hotwords=a&hotwords_boost=3", "hotwords_boost", 3 }, { "prompt=x&carry_initial_prompt=1", "carry_initial_prompt", 1 },
        { "max_initial_timestamp=none", "max_initial_timestamp", 0 }, { "suppress_blank=0", "suppress_blank", 0 },
        { "tinydiarize=1", "tinydiarize", 1 }, { "language_per_segment=1", "language_per_segment", 1 },
        { "repetition_penalty=1.5", "repetition_penalty", 1.5 }, { "no_repeat_ngram_size=3", "no_repeat_ngram_size", 3 },
        { "prompt_reset_on_temperature=0.3", "prompt_reset_on_temperature", 0.3 },
        { "max_len=20", "token_timestamps", 1 }, { "max_len=20&token_threshold=0.1", "token_threshold", 0.1 },
        { "response_format=verbose_json&timestamp_granularities[]=word", "word_timestamps", 1 },
        { "response_format=verbose_json&timestamp_granularities[]=word&hallucination_silence_threshold=2",
          "hallucination_silence_threshold", 2 },
        { "response_format=verbose_json&timestamp_granularities[]=segment", "word_timestamps", 0 },
        { "task=translate", "task", STENO_TRANSLATE }, { "task=transcribe", "task", STENO_TRANSCRIBE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct request r;
        if (request_fill(&r, many, good[i].fields) != API_OK) fail_msg("%s: %s", good[i].fields, r.e.message);
        const double is = number_of(&r.job.params, good[i].param);
        if (is != good[i].value) fail_msg("%s: %s is %g, not %g", good[i].fields, good[i].param, is, good[i].value);
        request_free(&r);
    }
}

static void test_none_is_no_number(void **state)
{
    struct request r;
    (void)state;
    assert_int_equal(request_fill(&r, many, "no_speech_threshold=none&logprob_threshold=None&beam_size=2&patience=none"), API_OK);
    assert_true(isnan(r.job.params.no_speech_threshold) && isnan(r.job.params.logprob_threshold) && isnan(r.job.params.patience));
    request_free(&r);
}

/* ---- errors ---------------------------------------------------------------------------------------------------------------------- */

static void test_bad_values_are_errors_with_their_field(void **state)
{
    static const struct { const char *fields, *param, *part; } bad[] = {
        { "temperature=1.1", "temperature", "from 0 to 1" }, { "temperature=-0.1", "temperature", "from 0 to 1" },
        { "temperature=hot", "temperature", "hot" }, { "temperature=1e-9", "temperature", "temperature" },
        { "beam_size=9", "beam_size", "from 0 to 8" }, { "beam_size=-1", "beam_size", "whole number" },
        { "best_of=9", "best_of", "from 0 to 8" }, { "best_of=2&temperature_increment_on_fallback=0", "best_of", "temperature" },
        { "temperature=0.5&beam_size=5", "beam_size", "temperature" }, { "patience=0", "patience", "number from" },
        { "patience=2&beam_size=0", "patience", "beam_size" }, { "seed=-1", "seed", "whole number" },
        { "seed=1&temperature_increment_on_fallback=0", "seed", "temperature" },
        { "without_timestamps=maybe", "without_timestamps", "neither" }, { "offset_ms=-1", "offset_ms", "from 0 on" },
        { "duration_ms=1.5", "duration_ms", "whole" }, { "no_speech_threshold=2", "no_speech_threshold", "from 0 to 1" },
        { "logprob_threshold=1", "logprob_threshold", "to 0" }, { "guards=of", "guards", "did you mean off?" },
        { "hallucination_silence_threshold=1", "hallucination_silence_threshold", "timestamp_granularities[]=word" },
        { "carry_initial_prompt=1", "carry_initial_prompt", "prompt" }, { "hotwords_boost=3", "hotwords_boost", "hotwords" },
        { "hotwords=, ,", "hotwords", "no words" }, { "clip_timestamps=0,1,x", "clip_timestamps", "list of seconds" },
        { "fallback_temperatures=0.2,x", "fallback_temperatures", "list of temperatures" },
        { "fallback_temperatures=0.4,0.2", "fallback_temperatures", "not above 0.4" },
        { "clip_timestamps=3,2", "clip_timestamps", "no length" }, { "clip_timestamps=-1", "clip_timestamps", "time" },
        { "clip_timestamps=0,1&offset_ms=5", "clip_timestamps", "offset_ms" }, { "split_on_word=1", "split_on_word", "max_len" },
        { "language=xx", "language", "not a language" }, { "language=germn", "language", "did you mean de?" },
        { "languages[]=en&languages[]=auto", "languages", "leave it out" }, { "language=en&languages[]=de", "languages", "one of them" },
        { "languages[]=en&languages[]=germn", "languages", "did you mean de?" },
        { "itn=1", "itn", "whisper" }, { "repetition_penalty=0", "repetition_penalty", "number from" },
        { "response_format=jsn", "response_format", "did you mean json?" },
        { "response_format=diarized_json", "response_format", "speakers" },
        { "known_speaker_names[]=a", "known_speaker_names", "speakers" },
        { "known_speaker_references[]=a", "known_speaker_references", "speakers" },
        { "timestamp_granularities[]=word", "timestamp_granularities", "verbose_json" },
        { "timestamp_granularities[]=word&response_format=srt", "timestamp_granularities", "verbose_json" },
        { "timestamp_granularities[]=words&response_format=verbose_json", "timestamp_granularities", "did you mean word?" },
        { "include[]=logprobs&response_format=verbose_json", "include", "json" }, { "include[]=x", "include", "logprobs" },
        { "stream=1&response_format=srt", "stream", "srt" }, { "stream=1&response_format=vtt", "stream", "vtt" },
        { "stream=1&response_format=tsv", "stream", "tsv" }, { "stream=2", "stream", "true" },
        { "chunking_strategy[type]=server_vad", "chunking_strategy", "no model of voice activity" },
        { "vad_filter=1", "vad_filter", "no model" },
        { "chunking_strategy=none", "chunking_strategy", "auto" },
        { "chunking_strategy[type]=semantic_vad", "chunking_strategy[type]", "server_vad" },
        { "chunking_strategy[threshold]=2", "chunking_strategy[threshold]", "from 0 to 1" },
        { "chunking_strategy={\"type\"", "chunking_strategy", "JSON" },
        { "chunking_strategy=auto&vad_filter=0", "vad_filter", "chunking_strategy" },
        { "task=sing", "task", "transcribe or translate" }, { "priority=urgent", "priority", "low, normal or high" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request r;
        request_fill(&r, many, bad[i].fields);
        expect(&r, bad[i].fields, API_invalid_value, bad[i].param, bad[i].part);
        request_free(&r);
    }
}

static void test_fields_that_a_model_lacks_are_errors(void **state)
{
    static const char *const common[] = { "prompt=x", "temperature=0.5", "best_of=2", "patience=2", "without_timestamps=1",
                                          "clip_timestamps=0,1", "no_speech_threshold=0.5", "suppress_non_speech=0", "seed=1" };
    (void)state;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        for (int k = 0; k < 2; k++) {
            struct request r;
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(common[i], "="), common[i]);
            request_fill(&r, k ? cif : ctc, common[i]);
            expect(&r, common[i], API_invalid_value, name, "leave it out");
            request_free(&r);
        }
    struct request r;
    request_fill(&r, cif, "language=zh");
    expect(&r, "language", API_invalid_value, "language", "leave it out");
    request_free(&r);
    request_fill(&r, english, "task=translate");
    expect(&r, "task", API_invalid_value, "model", "does not translate");
    request_free(&r);
    request_fill(&r, english, "language=de");
    expect(&r, "language", API_invalid_value, "language", "not a language");
    request_free(&r);
}

static void test_each_field_is_given_once(void **state)
{
    static const char *const names[] = { "prompt=x", "temperature=0.5", "beam_size=2", "language=en", "response_format=text", "stream=1",
                                         "seed=1", "hotwords=a", "guards=off", "task=transcribe", "vad_filter=0", "max_len=4" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct request r;
        char twice[128], name[32];
        snprintf(twice, sizeof twice, "%s&%s", names[i], names[i]);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(names[i], "="), names[i]);
        request_fill(&r, many, twice);
        expect(&r, twice, API_duplicate_parameter, name, "twice");
        request_free(&r);
    }
}

static void test_empty_fields_are_absent(void **state)
{
    struct request r;
    (void)state;
    assert_int_equal(request_fill(&r, cif, "prompt=&temperature=&language=&response_format=&timestamp_granularities[]="
                                           "&stream=&seed=&hotwords="
                                           "&chunking_strategy=&vad_filter=&clip_timestamps=&keywords[]=&include[]="), API_OK);
    assert_int_equal(r.ask.format, ASK_JSON);
    assert_int_equal(r.ask.granularities, ASK_SEGMENTS);
    assert_int_equal(r.ask.use_vad, 0);
    assert_string_equal(r.ask.ignored, "");
    request_free(&r);
}

/* ---- fields that need no model ----------------------------------------------------------------------------------------------------- */

static void test_unknown_fields_are_named(void **state)
{
    struct request r;
    (void)state;
    assert_int_equal(request_read(&r, "model=x&file=x&Temperature=1&user=me&user=me&chunking_strategy[eager]=1&x\303\244=1",
                                  STENO_TRANSCRIBE,
                                  0), API_OK);
    assert_string_equal(r.ask.ignored, "Temperature, user, chunking_strategy[eager], x??");
    request_free(&r);
    assert_int_equal(request_read(&r, "model=x&user=me", STENO_TRANSCRIBE, 1), API_unknown_parameter);
    expect(&r, "strict", API_unknown_parameter, "user", "unknown fields: user");
    request_free(&r);
    assert_int_equal(request_read(&r, "model=x&seed=1&prompt=&hotwords=a&chunking_strategy=auto", STENO_TRANSCRIBE, 1), API_OK);
    request_free(&r);
}

static void test_formats_and_lists(void **state)
{
    struct request r;
    (void)state;
    assert_int_equal(request_read(&r, "response_format=verbose_json&timestamp_granularities=[\"word\",\"segment\"]&stream=True",
                                  STENO_TRANSCRIBE, 0), API_OK);
    assert_true(r.ask.format == ASK_VERBOSE_JSON && r.ask.granularities == (ASK_WORDS | ASK_SEGMENTS) && r.ask.stream == 1);
    request_free(&r);
    assert_int_equal(request_read(&r, "response_format=verbose_json&timestamp_granularities=word&priority=high",
                                  STENO_TRANSCRIBE, 0), API_OK);
    assert_true(r.ask.granularities == ASK_WORDS && r.ask.priority == 1);
    request_free(&r);
    assert_int_equal(request_read(&r, "response_format=vtt&timestamp_granularities[]=segment&priority=low", STENO_TRANSCRIBE, 0), API_OK);
    assert_true(r.ask.format == ASK_VTT && r.ask.granularities == ASK_SEGMENTS && r.ask.priority == -1);
    request_free(&r);
    assert_int_equal(request_read(&r, "include[]=logprobs&stream=1", STENO_TRANSCRIBE, 0), API_OK);
    assert_true(r.ask.logprobs && r.ask.format == ASK_JSON && r.ask.priority == 0);
    request_free(&r);
    assert_int_equal(request_read(&r, "task=transcribe", STENO_TRANSLATE, 0), API_invalid_value);
    request_free(&r);
    assert_int_equal(request_read(&r, "", STENO_TRANSLATE, 0), API_OK);
    assert_int_equal(r.ask.task, STENO_TRANSLATE);
    request_free(&r);
}

/* ---- texts and lists of the model -------------------------------------------------------------------------------------------------- */

static void test_languages(void **state)
{
    static const struct { const char *text, *code, *near; } all[] = {
        { "en", "en", "" }, { "EN", "en", "" }, { "en-US", "en", "" }, { "zh_CN", "zh", "" }, { "German", "de", "" },
        { "german", "de", "" },
        { "nb", "no", "" }, { "nb-NO", "no", "" }, { "iw", "he", "" }, { "in", "id", "" }, { "ji", "yi", "" }, { "fil", "tl", "" },
        { "fil-PH", "tl", "" }, { "cmn", "zh", "" }, { "cmn-Hans-CN", "zh", "" }, { "nn", "nn", "" }, { "pt-BR", "pt", "" },
        { "germn", NULL, "de" }, { "Inglish", NULL, "en" }, { "qq", NULL, "" }, { "-", NULL, "" }, { "en-", NULL, NULL },
        { "a language with a very long name, of more than sixty-four bytes, which is not known", NULL, "" },
    };
    char near[64];
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *code = ask_language(many, all[i].text, near);
        if (!code != !all[i].code || (code && strcmp(code, all[i].code) != 0) || (all[i].near && strcmp(near, all[i].near) != 0))
            fail_msg("%s: %s, near %s", all[i].text, code ? code : "none", near);
    }
    assert_string_equal(ask_language(english, "en-GB", near), "en");
    assert_null(ask_language(english, "de", near));
    assert_string_equal(ask_language(ctc, "zh-TW", near), "zh");
    assert_string_equal(ask_language(ctc, "cmn", near), "zh");
    assert_string_equal(ask_language(ctc, "German", near), "de"); /* the library refuses it */
    assert_null(ask_language(ctc, "xx", near));
    assert_string_equal(ask_language(prompted, "de", near), "de");
    assert_string_equal(ask_language(prompted, "German", near), "de");
    struct request r;
    assert_int_equal(request_fill(&r, many, "language=nb-NO"), API_OK);
    assert_string_equal(r.job.params.language, "no");
    assert_string_equal(r.ask.language, "no");
    request_free(&r);
    assert_int_equal(request_fill(&r, many, "languages[]=German"), API_OK);
    assert_string_equal(r.job.params.language, "de");
    request_free(&r);
    assert_int_equal(request_fill(&r, many, "languages[]=German&languages[]=en-US"), API_OK);
    assert_string_equal(r.job.params.language, "de,en");
    assert_string_equal(r.ask.language, "");
    request_free(&r);
    assert_int_equal(request_fill(&r, english, "languages[]=en&languages[]=de"), API_invalid_value);
    request_free(&r);
    assert_int_equal(request_fill(&r, ctc, "languages[]=en&languages[]=zh"), API_invalid_value);
    assert_string_equal(r.e.param, "languages");
    request_free(&r);
    assert_int_equal(request_fill(&r, many, "language=Auto"), API_OK);
    assert_null(r.job.params.language);
    assert_string_equal(r.ask.language, "");
    request_free(&r);
}

static void test_a_default_language_stays(void **state)
{
    struct request r;
    (void)state;
    assert_int_equal(request_read(&r, "prompt=Hello", STENO_TRANSCRIBE, 0), API_OK);
    job_default(&r.job, many);
    r.job.params.language = "fr";
    assert_int_equal(ask_fill(&r.ask, &r.form, &r.job, many, &r.e), API_OK);
    assert_string_equal(r.ask.language, "fr");
    assert_string_equal(r.job.params.initial_prompt, "Hello");
    request_free(&r);
}

static void test_hot_words(void **state)
{
    char fields[2048] = "", word[128] = "keywords[]=";
    struct request r;
    (void)state;
    assert_int_equal(request_fill(&r, many, "hotwords= Kubernetes, steno ,,x y\n z&keywords[]=a,b&keywords[]=c"), API_OK);
    assert_string_equal(r.job.params.hotwords, "Kubernetes\nsteno\nx y\nz\na\nb\nc");
    request_free(&r);
    for (int i = 0; i < 101; i++) strcat(fields, i ? "&keywords[]=w" : "keywords[]=w");
    request_fill(&r, many, fields);
    expect(&r, "101 keywords", API_invalid_value, "keywords", "101 are more than 100");
    request_free(&r);
    fields[strlen(fields) - strlen("&keywords[]=w")] = '\0';
    assert_int_equal(request_fill(&r, many, fields), API_OK);
    request_free(&r);
    memset(word + strlen("keywords[]="), 'w', 100);
    assert_int_equal(request_fill(&r, many, word), API_OK);
    request_free(&r);
    strcat(word, "w");
    request_fill(&r, many, word);
    expect(&r, "101 bytes", API_invalid_value, "keywords", "100 bytes");
    request_free(&r);
}

static void test_clips_and_lengths(void **state)
{
    struct request r;
    (void)state;
    assert_int_equal(request_fill(&r, many, "clip_timestamps=0,1.5,3"), API_OK);
    assert_true(r.job.params.n_clip_timestamps == 3 && r.job.params.clip_timestamps[1] == 1.5);
    request_free(&r);
    assert_int_equal(request_fill(&r, many, "clip_timestamps=[0, 1.5, 3, 4]"), API_OK);
    assert_true(r.job.params.n_clip_timestamps == 4 && r.job.params.clip_timestamps[3] == 4);
    request_free(&r);
    assert_int_equal(request_fill(&r, many, "max_len=20&split_on_word=true&suppress_non_speech=false"), API_OK);
    assert_true(r.job.max_len == 20 && r.job.by_words && atoi(r.job.params.suppress_tokens) == steno_token_id(many, STENO_TOKEN_START));
    request_free(&r);
    assert_int_equal(request_fill(&r, cif, "max_len=20"), API_OK);
    assert_true(r.job.params.word_timestamps && !r.job.params.token_timestamps);
    request_free(&r);
}

static void test_detection_decodes_nothing(void **state)
{
    struct request r;
    (void)state;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(request_read(&r, k == 1 ? "language=en" : "", STENO_TRANSCRIBE, 0), API_OK);
        job_default(&r.job, k == 2 ? english : many);
        r.job.params.language = "en";
        r.ask.detects = 1;
        assert_int_equal(ask_fill(&r.ask, &r.form, &r.job, k == 2 ? english : many, &r.e), k ? API_invalid_value : API_OK);
        assert_int_equal(r.job.params.on_window != NULL, k == 0);
        if (k == 0) assert_null(r.job.params.language);
        request_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_become_parameters),
        cmocka_unit_test(test_none_is_no_number),
        cmocka_unit_test(test_bad_values_are_errors_with_their_field),
        cmocka_unit_test(test_fields_that_a_model_lacks_are_errors),
        cmocka_unit_test(test_each_field_is_given_once),
        cmocka_unit_test(test_empty_fields_are_absent),
        cmocka_unit_test(test_unknown_fields_are_named),
        cmocka_unit_test(test_formats_and_lists),
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_a_default_language_stays),
        cmocka_unit_test(test_hot_words),
        cmocka_unit_test(test_clips_and_lengths),
        cmocka_unit_test(test_detection_decodes_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
