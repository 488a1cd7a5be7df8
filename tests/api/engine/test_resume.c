/* steno tests: requests that go on where others have ended. SPDX-License-Identifier: MIT
 *
 * After each of the first windows, and after some of the later ones, a request was ended: the one that goes on has the results of one that
 * was not, to the bit, and gives the rest of the bytes that the other would have given. */
#include "funasr_session.h"
#include "parakeet_model.h"
#include "shipped.h"
#include "unit/crc32.h"

enum { MOST = 2048, SECONDS_HEARD = 60 };

static struct whisper_dims const three_seconds = { 80, 150, 48, 3, 2, SMALL_VOCAB, 70, 48, 3, 2 };

static steno_model *model;
static struct audio minute; /* a minute of bursts: 0.7 s loud, 0.3 s silent; this model likes times far ahead */

static int set_up(void **state)
{
    uint32_t seed = 7;
    model = random_model(&three_seconds, DT_F16, 3, NULL);
    minute = (struct audio){ calloc(SECONDS_HEARD * RATE, sizeof(float)), SECONDS_HEARD * RATE - 160 };
    assert_non_null(minute.pcm);
    for (int i = 0; i < minute.n; i++)
        if (i % RATE < RATE * 7 / 10) minute.pcm[i] = 0.2f * noise(&seed);
    return open_all(state);
}

static int tear_down(void **state)
{
    steno_model_close(model);
    free(minute.pcm);
    return close_all(state);
}

/* What was given, and where each piece of it ends. */
struct kept { struct buf all; size_t end[MOST]; int n; };

static int no_window(void *user, int64_t at_ms)
{
    (void)user, (void)at_ms;
    return 0;
}

static void keep(void *user, const void *data, size_t n)
{
    struct kept *k = user;
    assert_true(k->n < MOST);
    buf_add(&k->all, data, n);
    k->end[k->n++] = k->all.len;
}

/* A session, by itself or in a batch of three. */
struct place { steno_batch *batch; steno_session *s; };

static struct place place_open(const steno_model *m, int in_batch)
{
    struct place p = { 0 };
    steno_session_params sp;
    steno_error e;
    steno_session_params_init(&sp);
    sp.max_lanes = in_batch ? 1 : 3;
    if (in_batch) {
        steno_batch_params bp;
        steno_batch_params_init(&bp);
        bp.max_windows = 3;
        if (steno_batch_open(&p.batch, m, NULL, &bp, &e)) fail_msg("%s", e.text);
        sp.batch = p.batch;
    }
    if (steno_session_open(&p.s, m, NULL, &sp, &e)) fail_msg("%s", e.text);
    return p;
}

static int place_run(const struct place *p, const struct audio *a, const steno_transcribe_params *q)
{
    struct tap t = { a->pcm, a->n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    if (!p->batch) return steno_transcribe_source(p->s, &src, q);
    const int rc = steno_batch_add(p->batch, p->s, &src, q);
    return rc ? rc : steno_batch_run(p->batch);
}

static void place_close(struct place *p)
{
    steno_session_close(p->s);
    steno_batch_close(p->batch);
}

static uint64_t digest_of(steno_session *s, int both)
{
    uint64_t h = result_digest(s);
    if (both) {
        assert_int_equal(steno_result_select(s, STENO_TRANSLATE), STENO_OK);
        h = h * 31 + result_digest(s);
        assert_int_equal(steno_result_select(s, STENO_TRANSCRIBE), STENO_OK);
    }
    return h;
}

static void go(const char *name, const steno_model *m, const struct audio *a, steno_transcribe_params p, int in_batch)
{
    const int both = p.task == STENO_TRANSCRIBE_AND_TRANSLATE;
    struct kept whole = { 0 };
    struct place at = place_open(m, in_batch);
    p.on_resume_point = keep;
    p.user = &whole;
    if (place_run(&at, a, &p)) fail_msg("%s: %s", name, steno_last_error(at.s));
    const uint64_t want = digest_of(at.s, both);
    const int segments = steno_segment_count(at.s);
    if (whole.n < 2) fail_msg("%s: %d places, %d segments", name, whole.n, segments);
    for (int i = 0; i < whole.n; i += 1 + i / 8) { /* every one, and of many fewer and fewer */
        struct kept rest = { 0 };
        p.resume = whole.all.p;
        p.n_resume = (int32_t)whole.end[i];
        p.user = &rest;
        if (place_run(&at, a, &p)) fail_msg("%s, behind %d: %s", name, i + 1, steno_last_error(at.s));
        if (digest_of(at.s, both) != want) fail_msg("%s, behind %d of %d: another result", name, i + 1, whole.n);
        assert_int_equal(steno_segment_count(at.s), segments);
        if (whole.all.len - whole.end[i] != rest.all.len || memcmp(whole.all.p + whole.end[i], rest.all.p ? rest.all.p : "", rest.all.len))
            fail_msg("%s, behind %d of %d: other bytes are kept", name, i + 1, whole.n);
        buf_free(&rest.all);
    }
    print_message("%s: %d places, %zu bytes\n", name, whole.n, whole.all.len);
    buf_free(&whole.all);
    place_close(&at);
}

static steno_transcribe_params plain(void)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.no_speech_threshold = NAN;
    p.temperature_increment_on_fallback = NAN;
    return p;
}

static void test_windows_that_follow_from_each_other_go_on_behind_any_of_them(void **state)
{
    (void)state;
    steno_transcribe_params p = plain();
    go("plain", model, &minute, p, 0);
    go("plain, in a batch", model, &minute, p, 1);
    p.word_timestamps = p.token_timestamps = 1;
    go("words", model, &minute, p, 0);
    p = plain();
    p.temperature = 0.8;
    p.seed = 5;
    go("drawn", model, &minute, p, 0);
    p = plain();
    p.beam_size = 3;
    go("beams", model, &minute, p, 0);
    p.n_best = 3;
    go("beams, all that were found", model, &minute, p, 0);
    p = plain();
    p.initial_prompt = "abc";
    p.carry_initial_prompt = 1;
    p.guards = STENO_GUARDS_RETRY;
    go("a prompt that is carried, guards", model, &minute, p, 0);
    p = plain();
    p.without_timestamps = 1;
    p.condition_on_previous_text = 0;
    go("windows beside each other", model, &minute, p, 1);
    const double clips[] = { 0.5, 12.5, 13, 24, 24.5, 28, 28.2, 59.5 };
    p = plain();
    p.clip_timestamps = clips;
    p.n_clip_timestamps = 8;
    go("clips", model, &minute, p, 0);
    p.independent_clips = 1;
    p.condition_on_previous_text = 0;
    go("clips by themselves", model, &minute, p, 0);
    go("clips beside each other", model, &minute, p, 1);
}

static void test_both_texts_of_a_model_go_on(void **state)
{
    (void)state;
    struct whisper_dims many = three_seconds;
    many.n_vocab = MULTILINGUAL;
    steno_model *m = random_model(&many, DT_F16, 3, NULL);
    steno_transcribe_params p = plain();
    p.task = STENO_TRANSCRIBE_AND_TRANSLATE;
    go("transcript and translation, language detected", m, &minute, p, 0);
    p.task = STENO_TRANSLATE;
    p.language = "de";
    go("translation", m, &minute, p, 0);
    steno_model_close(m);
}

static void test_clips_with_a_ctc_head_go_on(void **state)
{
    (void)state;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    struct audio long_audio = bursts(100 * RATE);
    go("cut where it is quiet", ctc, &long_audio, p, 0);
    go("in a batch", ctc, &long_audio, p, 1);
    p.beam_size = p.n_best = 3;
    go("the best texts", ctc, &long_audio, p, 0);
    go("the best texts, in a batch", ctc, &long_audio, p, 1);
    p.word_timestamps = 1;
    p.vad_model = vad;
    go("segments of speech, with words", ctc, &long_audio, p, 0);
    go("in a batch, too", ctc, &long_audio, p, 1);
    free(long_audio.pcm);
}

static void test_clips_of_a_transducer_go_on(void **state)
{
    (void)state;
    steno_model *tdt = funasr_open(pk_tdt_folder, NULL);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    struct audio long_audio = bursts(400 * RATE), minutes = { long_audio.pcm, 60 * RATE };
    go("a transducer, cut where it is quiet", tdt, &long_audio, p, 0);
    p.word_timestamps = 1;
    go("a transducer, in a batch, with words", tdt, &long_audio, p, 1);
    p.vad_model = vad;
    go("a transducer, segments of speech", tdt, &minutes, p, 0);
    go("a transducer, segments of speech in a batch", tdt, &minutes, p, 1);
    free(long_audio.pcm);
    steno_model_close(tdt);
}

/* The language of a segment is a name that the session holds. */
static void test_clips_of_an_audio_language_model_go_on(void **state)
{
    (void)state;
    steno_model *m;
    steno_error e;
    steno_transcribe_params p;
    if (steno_model_open(&m, "tests/data/qwen3_asr", NULL, &e)) fail_msg("%s", e.text);
    steno_transcribe_params_init(&p);
    struct audio long_audio = bursts(20 * RATE);
    p.sample_len = 12;
    p.chunk_ms = 3000;
    go("an audio language model, clips of three seconds", m, &long_audio, p, 0);
    p.guards = STENO_GUARDS_RETRY;
    p.repetition_penalty = 0.05;
    p.language = "English";
    go("an audio language model, in a batch, with attempts", m, &long_audio, p, 1);
    p.chunk_ms = 0;
    p.vad_model = vad;
    go("an audio language model, segments of speech", m, &long_audio, p, 0);
    free(long_audio.pcm);
    steno_model_close(m);
}

static void test_bytes_of_something_else_are_refused(void **state)
{
    (void)state;
    steno_transcribe_params p = plain();
    struct kept whole = { 0 };
    struct place at = place_open(model, 0), other = place_open(ctc, 0);
    p.on_resume_point = keep;
    p.user = &whole;
    assert_int_equal(place_run(&at, &minute, &p), STENO_OK);
    p.on_resume_point = NULL;
    uint8_t *bytes = malloc(whole.all.len);
    assert_non_null(bytes);
    p.resume = bytes;
    for (size_t n = 1; n < whole.end[2]; n += n % 97 + 1) { /* cut */
        memcpy(bytes, whole.all.p, whole.all.len);
        p.n_resume = (int32_t)n;
        const int is_end = n == whole.end[0] || n == whole.end[1];
        assert_int_equal(place_run(&at, &minute, &p), is_end ? STENO_OK : STENO_EARG);
        if (is_end) continue;
        assert_non_null(strstr(steno_last_error(at.s), "resume is not what on_resume_point gave of this model in this version"));
        assert_int_equal(steno_segment_count(at.s), 0);
    }
    for (size_t n = 0; n < whole.end[2]; n += n % 89 + 1) { /* damaged */
        memcpy(bytes, whole.all.p, whole.all.len);
        bytes[n] ^= 0x10;
        p.n_resume = (int32_t)whole.end[2];
        assert_int_equal(place_run(&at, &minute, &p), STENO_EARG);
    }
    memcpy(bytes, whole.all.p, whole.all.len);
    p.n_resume = (int32_t)whole.all.len;
    const struct audio short_one = { minute.pcm, 2 * RATE };
    assert_int_equal(place_run(&at, &short_one, &p), STENO_EARG); /* of longer audio */
    assert_non_null(strstr(steno_last_error(at.s), "resume is of other audio or other parameters"));
    p.task = STENO_TRANSCRIBE;
    steno_transcribe_params q;
    steno_transcribe_params_init(&q);
    q.resume = bytes;
    q.n_resume = p.n_resume;
    assert_int_equal(place_run(&other, &minute, &q), STENO_EARG); /* of another model */
    p.n_resume = -1;
    assert_int_equal(place_run(&at, &minute, &p), STENO_EARG);
    free(bytes);
    buf_free(&whole.all);
    place_close(&at);
    place_close(&other);
}

/* The first record with another time in place of that one, and its checksum made right. @return how many there were */
static int other_time(uint8_t *record, size_t n, double was, double is)
{
    int found = 0;
    for (size_t at = 8; at + sizeof was <= n; at += 4) {
        if (memcmp(record + at, &was, sizeof was) != 0) continue;
        memcpy(record + at, &is, sizeof is);
        found++;
    }
    const uint32_t sum = crc32_add(0, record + 8, n - 8);
    memcpy(record + 4, &sum, sizeof sum);
    return found;
}

static void test_times_that_no_audio_has_are_refused(void **state)
{
    (void)state;
    static const struct { double at; int rc; } limit[] = {
        { 999999999.0, STENO_OK }, { -999999999.0, STENO_OK }, { 1e9, STENO_EARG }, { -1e9, STENO_EARG }, { 1e300, STENO_EARG },
        { INFINITY, STENO_EARG },
    };
    steno_transcribe_params p = plain();
    struct kept whole = { 0 };
    struct place at = place_open(model, 0);
    p.word_timestamps = 1;
    p.guards = STENO_GUARDS_OFF; /* its times lie behind the sound: nothing is left out */
    p.on_resume_point = keep;
    p.user = &whole;
    assert_int_equal(place_run(&at, &minute, &p), STENO_OK);
    steno_word w = { .size = sizeof w };
    assert_int_equal(steno_word_get(at.s, 0, 0, &w), STENO_OK);
    const double end = w.end;
    assert_true(end > 0);
    p.on_resume_point = NULL;
    p.on_window = no_window;
    p.n_resume = (int32_t)whole.end[0];
    uint8_t *bytes = malloc(whole.end[0]);
    assert_non_null(bytes);
    p.resume = bytes;
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        memcpy(bytes, whole.all.p, whole.end[0]);
        assert_true(other_time(bytes, whole.end[0], end, limit[i].at) > 0);
        assert_int_equal(place_run(&at, &minute, &p), limit[i].rc);
    }
    free(bytes);
    buf_free(&whole.all);
    place_close(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_that_follow_from_each_other_go_on_behind_any_of_them),
        cmocka_unit_test(test_both_texts_of_a_model_go_on),
        cmocka_unit_test(test_clips_with_a_ctc_head_go_on),
        cmocka_unit_test(test_clips_of_a_transducer_go_on),
        cmocka_unit_test(test_clips_of_an_audio_language_model_go_on),
        cmocka_unit_test(test_bytes_of_something_else_are_refused),
        cmocka_unit_test(test_times_that_no_audio_has_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
