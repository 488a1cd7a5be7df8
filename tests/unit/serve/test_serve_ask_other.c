/* steno tests: fields of other servers' routes. SPDX-License-Identifier: MIT */
#include "ask_other.h"
#include "ask_request.h"
#include "api/shipped.h"

static steno_model *model;

static int open_all(void **state)
{
    (void)state;
    model = shipped_open();
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(model);
    return 0;
}

/* has_vad: the server has a detector (Silero) that is on. */
static int request_fill(struct request *r, enum ask_route route, const char *fields, int has_vad)
{
    request_begin(r, fields);
    r->job.model = model;
    if (ask_read_as(&r->ask, &r->form, route, STENO_TRANSCRIBE, 0, &r->e) != API_OK) return (int)r->e.code;
    steno_transcribe_params_init(&r->job.params);
    r->job.params.beam_size = r->job.params.best_of = 5;
    r->ask.vad_default = has_vad;
    if (has_vad) steno_vad_params_init(&r->job.speech.params);
    return ask_fill(&r->ask, &r->form, &r->job, model, &r->e);
}

#define CHECK(route, fields, has_vad, condition) \
    do { \
        struct request r; \
        if (request_fill(&r, route, fields, has_vad) != API_OK) fail_msg("%s: %s", fields, r.e.message); \
        const steno_transcribe_params *p = &r.job.params; \
        (void)p; \
        if (!(condition)) fail_msg("%s: not %s", fields, #condition); \
        request_free(&r); \
    } while (0)

static void test_inference(void **state)
{
    (void)state;
    CHECK(ASK_INFERENCE, "", 0, r.ask.format == ASK_JSON && p->beam_size == 5 && !r.ask.detects);
    CHECK(ASK_INFERENCE, "temperature=0.0&temperature_inc=0.4&response_format=srt", 0,
          p->temperature_increment_on_fallback == 0.4 && r.ask.format == ASK_SRT);
    CHECK(ASK_INFERENCE, "offset_t=1500&duration=3000&max_context=32&audio_ctx=500", 0,
          p->offset_ms == 1500 && p->duration_ms == 3000 && p->max_context == 32 && p->audio_ctx == 500);
    CHECK(ASK_INFERENCE, "entropy_thold=2.4&logprob_thold=-0.5&no_speech_thold=0.3", 0,
          p->entropy_threshold == 2.4 && p->logprob_threshold == -0.5 && p->no_speech_threshold == 0.3);
    CHECK(ASK_INFERENCE, "max_len=40&split_on_word=true&word_thold=0.2", 0,
          r.job.max_len == 40 && r.job.by_words && p->token_timestamps && p->token_threshold == 0.2);
    CHECK(ASK_INFERENCE, "translate=true", 0, p->task == STENO_TRANSLATE);
    CHECK(ASK_INFERENCE, "translate=false&diarize=false&tinydiarize=true", 0, p->task == STENO_TRANSCRIBE && p->tinydiarize);
    CHECK(ASK_INFERENCE, "beam_size=-1&best_of=2", 0, p->beam_size == 0 && p->best_of == 2);
    CHECK(ASK_INFERENCE, "beam_size=3", 0, p->beam_size == 3);
    CHECK(ASK_INFERENCE, "no_timestamps=true&prompt=x&carry_initial_prompt=1&language=auto", 0,
          p->without_timestamps && p->carry_initial_prompt && !p->language);
    CHECK(ASK_INFERENCE, "suppress_nst=true", 0, strcmp(p->suppress_tokens, "-1") == 0);
    CHECK(ASK_INFERENCE, "suppress_non_speech=false", 0, strcmp(p->suppress_tokens, "-1") != 0);
    CHECK(ASK_INFERENCE, "detect_language=true", 0, r.ask.detects && p->on_window && !p->language);
    CHECK(ASK_INFERENCE, "detect_language=true&language=auto", 0, r.ask.detects && !p->language);
    CHECK(ASK_INFERENCE, "detect_language=true&language=", 0, r.ask.detects && !p->language);
    CHECK(ASK_INFERENCE, "vad=true&vad_threshold=0.6&vad_min_silence_duration_ms=80&vad_speech_pad_ms=20", 1,
          r.ask.use_vad == 1 && r.job.speech.params.threshold == 0.6 && r.job.speech.params.max_end_silence_ms == 80 &&
              r.job.speech.params.speech_pad_ms == 20);
    CHECK(ASK_INFERENCE, "vad=false", 1, r.ask.use_vad == 0);
    CHECK(ASK_INFERENCE, "offset_n=3&debug_mode=1&vad_samples_overlap=0.1&no_language_probabilities=1", 0,
          strcmp(r.ask.ignored, "offset_n, debug_mode, vad_samples_overlap, no_language_probabilities") == 0);
}

static void test_asr(void **state)
{
    (void)state;
    CHECK(ASK_ASR, "", 0, r.ask.format == ASK_TEXT);
    CHECK(ASK_ASR, "encode=true&task=translate&language=de&output=srt&initial_prompt=x", 0,
          r.ask.format == ASK_SRT && p->task == STENO_TRANSLATE && strcmp(p->language, "de") == 0 && strcmp(p->initial_prompt, "x") == 0);
    CHECK(ASK_ASR, "output=vtt", 0, r.ask.format == ASK_VTT);
    CHECK(ASK_ASR, "output=tsv", 0, r.ask.format == ASK_TSV);
    CHECK(ASK_ASR, "output=txt", 0, r.ask.format == ASK_TEXT);
    CHECK(ASK_ASR, "output=json", 0, r.ask.format == ASK_VERBOSE_JSON && r.ask.granularities == ASK_SEGMENTS && !p->word_timestamps);
    CHECK(ASK_ASR, "output=json&word_timestamps=true", 0,
          r.ask.format == ASK_VERBOSE_JSON && r.ask.granularities == (ASK_SEGMENTS | ASK_WORDS) && p->word_timestamps);
    CHECK(ASK_ASR, "output=srt&word_timestamps=true", 0, r.ask.format == ASK_SRT && p->word_timestamps);
    CHECK(ASK_ASR, "output=json&word_timestamps=false", 0, r.ask.granularities == ASK_SEGMENTS && !p->word_timestamps);
    CHECK(ASK_ASR, "vad_filter=true", 1, r.ask.use_vad == 1);
    CHECK(ASK_ASR, "diarize=false&min_speakers=2", 0, strcmp(r.ask.ignored, "min_speakers") == 0);
    CHECK(ASK_DETECT_LANGUAGE, "", 0, r.ask.detects && p->on_window);
    CHECK(ASK_DETECT_LANGUAGE, "encode=true", 0, r.ask.detects && p->on_window);
    assert_string_equal(ask_file_field(ASK_ASR), "audio_file");
    assert_string_equal(ask_file_field(ASK_DETECT_LANGUAGE), "audio_file");
    assert_string_equal(ask_file_field(ASK_INFERENCE), "file");
    assert_string_equal(ask_file_field(ASK_OPENAI), "file");
}

static void test_errors_have_the_names_of_the_client(void **state)
{
    static const struct { enum ask_route route; const char *fields, *param, *begin; } bad[] = {
        { ASK_INFERENCE, "temperature_inc=2", "temperature_inc", "temperature_inc: \"2\" is not a number" },
        { ASK_INFERENCE, "offset_t=x", "offset_t", "offset_t: \"x\"" },
        { ASK_INFERENCE, "word_thold=0.1", "word_thold", "word_thold needs max_len" },
        { ASK_INFERENCE, "no_speech_thold=2", "no_speech_thold", "no_speech_thold: \"2\"" },
        { ASK_INFERENCE, "translate=perhaps", "translate", "translate: " },
        { ASK_INFERENCE, "translate=true&task=transcribe", "translate", "translate is given twice" },
        { ASK_INFERENCE, "diarize=true", "diarize", "diarize: this server cannot" },
        { ASK_INFERENCE, "vad_threshold=0.5", "vad_threshold", "vad_threshold needs vad" },
        { ASK_INFERENCE, "vad=true&vad_threshold=5", "vad_threshold", "vad_threshold: \"5\"" },
        { ASK_INFERENCE, "vad=true", "vad", "vad: this server has no model" },
        { ASK_INFERENCE, "beam_size=-2", "beam_size", "beam_size: \"-2\"" },
        { ASK_INFERENCE, "beam_size=9", "beam_size", "beam_size: \"9\"" },
        { ASK_INFERENCE, "detect_language=1&language=en", "language", "language: it is detected" },
        { ASK_INFERENCE, "response_format=lrc", "response_format", "response_format: " },
        { ASK_ASR, "output=docx", "output", "output: \"docx\" is not txt, vtt, srt, tsv or json" },
        { ASK_ASR, "output=srt&response_format=srt", "output", "output is given twice" },
        { ASK_ASR, "encode=false", "encode", "encode: send a sound file" },
        { ASK_ASR, "diarize=1", "diarize", "diarize: this server cannot" },
        { ASK_ASR, "language=xx", "language", "language: \"xx\"" },
        { ASK_DETECT_LANGUAGE, "encode=0", "encode", "encode: send" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request r;
        request_fill(&r, bad[i].route, bad[i].fields, 0);
        if (r.e.code == API_OK || strcmp(r.e.param, bad[i].param) != 0 || strncmp(r.e.message, bad[i].begin, strlen(bad[i].begin)) != 0)
            fail_msg("%s: %s: %s", bad[i].fields, r.e.param, r.e.message);
        request_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_asr),
        cmocka_unit_test(test_errors_have_the_names_of_the_client),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
