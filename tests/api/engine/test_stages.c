/* steno tests: a transcription that fails names its stage. SPDX-License-Identifier: MIT
 *
 * A failure is put into each stage: the sound that becomes log-mel, the encoder, the prompt, the decoder. Each has a status and a text of
 * its own, and the session is as good as before. */
#include <string.h>
#include "shipped.h"

/* A source of the demo that fails after `good` samples. */
struct fragile {
    struct audio audio;
    int64_t at, good;
};

static int64_t fragile_read(void *user, float *pcm, int64_t n)
{
    struct fragile *f = user;
    const int64_t left = f->audio.n - f->at;
    if (f->at >= f->good) return -1;
    if (n > left) n = left;
    if (n > 1000) n = 1000;
    memcpy(pcm, f->audio.pcm + f->at, (size_t)n * sizeof *pcm);
    f->at += n;
    return n;
}

static int fragile_rewind(void *user)
{
    struct fragile *f = user;
    f->at = 0;
    return 0;
}

static void lift_nothing(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at, (void)logits, (void)tokens;
    if (n > 1) *(int *)user = 1; /* the second token: decoding has begun */
}

static int has_begun(void *user)
{
    return *(int *)user;
}

/* The bytes of the shipped model with numbers in the encoder that are so large that what is made of its output is none. */
static struct bytes damaged_model(void)
{
    static const char name[] = "encoder.ln_post.weight";
    static const float large[64] = { 3e38f, -3e38f, 3e38f, 3e38f, -3e38f };
    FILE *f = fopen(shipped_model, "rb");
    if (!f) fail_msg("%s cannot be read", shipped_model);
    fseek(f, 0, SEEK_END);
    struct bytes b = { NULL, (size_t)ftell(f) };
    rewind(f);
    b.p = malloc(b.n);
    assert_non_null(b.p);
    assert_int_equal(fread(b.p, 1, b.n, f), b.n);
    fclose(f);
    uint8_t *at = memmem(b.p, b.n, name, strlen(name)); /* its numbers follow its name */
    assert_non_null(at);
    memcpy(at + strlen(name), large, sizeof large);
    return b;
}

struct outcome { int status; char text[256]; };

static struct outcome outcome_of(int rc, const steno_session *s)
{
    struct outcome o = { .status = rc };
    snprintf(o.text, sizeof o.text, "%s", steno_last_error(s));
    return o;
}

static void test_failures_in_each_stage_have_a_status_and_a_text_of_their_own(void **state)
{
    (void)state;
    enum { MEL, ENCODE, PROMPT, DECODE, N };
    static const int want[N] = { STENO_ESOURCE, STENO_EFORMAT, STENO_EARG, STENO_ECANCELED };
    struct outcome got[N];
    const struct audio audio = demo_audio(0, 0, 1);
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);

    struct fragile fragile = { .audio = audio, .good = audio.n / 2 };
    const steno_source source = { fragile_read, fragile_rewind, &fragile };
    steno_transcribe_params p = params_new();
    got[MEL] = outcome_of(steno_transcribe_source(s, &source, &p), s);

    p = params_new();
    const int32_t beyond = 1 << 20;
    p.prompt_tokens = &beyond;
    p.n_prompt_tokens = 1;
    got[PROMPT] = outcome_of(steno_transcribe(s, audio.pcm, audio.n, &p), s);

    int begun = 0;
    p = params_new();
    p.logits_filter = lift_nothing;
    p.should_abort = has_begun;
    p.user = &begun;
    got[DECODE] = outcome_of(steno_transcribe(s, audio.pcm, audio.n, &p), s);

    p = params_new();
    assert_int_equal(steno_transcribe(s, audio.pcm, audio.n, &p), STENO_OK);
    assert_string_equal(steno_text(s), demo_text);

    const struct bytes bytes = damaged_model();
    steno_model *damaged = bytes_open(bytes, NULL);
    steno_session *on_damaged = session_new(damaged, NULL, 1);
    p = params_new();
    p.language = NULL;
    got[ENCODE] = outcome_of(steno_transcribe(on_damaged, audio.pcm, audio.n, &p), on_damaged);

    for (int i = 0; i < N; i++) {
        if (got[i].status != want[i]) fail_msg("stage %d: status %d (%s), not %d", i, got[i].status, got[i].text, want[i]);
        assert_true(got[i].text[0]);
        for (int k = 0; k < i; k++) assert_string_not_equal(got[i].text, got[k].text);
    }
    steno_session_close(on_damaged);
    steno_model_close(damaged);
    free(bytes.p);
    steno_session_close(s);
    steno_model_close(m);
    free(audio.pcm);
}

/* In every arithmetic. */
static void test_logits_that_are_no_numbers_are_reported(void **state)
{
    (void)state;
    const struct audio audio = demo_audio(0, 0, 1);
    const struct bytes bytes = damaged_model();
    for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_INT16; compute++) {
        steno_model *m = bytes_open_as(bytes, NULL, (enum steno_compute)compute);
        steno_session *s = session_new(m, NULL, 2);
        for (int beams = 0; beams <= 2; beams += 2) {
            steno_transcribe_params p = params_new();
            p.language = "zh";
            p.beam_size = beams;
            const int rc = steno_transcribe(s, audio.pcm, audio.n, &p);
            if (rc != STENO_EFORMAT || !strstr(steno_last_error(s), "not numbers"))
                fail_msg("compute %d, %d beams: status %d, text '%s', reason '%s'", compute, beams, rc, steno_text(s), steno_last_error(s));
        }
        steno_session_close(s);
        steno_model_close(m);
    }
    free(bytes.p);
    free(audio.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits_that_are_no_numbers_are_reported),
        cmocka_unit_test(test_failures_in_each_stage_have_a_status_and_a_text_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
