/* steno tests: the language, detected from several windows. SPDX-License-Identifier: MIT
 *
 * Windows of three kinds, in the order of how sure the shipped model is of them: English, Chinese, and a whistle that sounds like
 * some language or other. */
#include "funasr_model.h"
#include "shipped.h"

enum { WINDOW = 30 * RATE, KINDS = 3, MOST = 4 };
enum { ENGLISH_AT, CHINESE_AT }; /* places in the list of languages */

static steno_model *model;
static steno_session *session;
static float *kind[KINDS]; /* [WINDOW] */
static int lang[KINDS];    /* what is found in each, */
static float prob[KINDS];  /* and how probable it is */

static int no_window(void *user, int64_t at_ms)
{
    (void)user;
    (void)at_ms;
    return 0;
}

/* Only the language of windows of these kinds. @return windows that were encoded for it */
static int listen_to(const int *which, int n, int segments, double threshold)
{
    static float pcm[MOST * WINDOW];
    steno_timings t = { .size = sizeof t };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language_detection_segments = segments;
    p.language_detection_threshold = threshold;
    p.on_window = no_window;
    for (int i = 0; i < n; i++) memcpy(pcm + i * WINDOW, kind[which[i]], WINDOW * sizeof *pcm);
    steno_timings_reset(session);
    if (steno_transcribe(session, pcm, (int64_t)n * WINDOW, &p)) fail_msg("%s", steno_last_error(session));
    steno_timings_get(session, &t);
    return t.n_encodes;
}

static int found(void)
{
    int i = 0;
    while (strcmp(steno_model_language(model, i), steno_language(session)) != 0) i++;
    return i;
}

/* Sound into a window of its own, behind silence, before a sound as loud in all windows. */
static float *window_of(const float *pcm, int64_t n)
{
    float *w = calloc(WINDOW, sizeof *w);
    assert_non_null(w);
    for (int64_t i = 0; i < n; i++) w[RATE / 2 + i] = pcm[i];
    for (int i = 0; i < RATE / 20; i++) w[WINDOW - RATE + i] = 0.95f * (float)sin(0.3 * i);
    return w;
}

static struct audio chinese(void)
{
    enum { HEADER = 44, MOST_BYTES = 400000 };
    static uint8_t file[MOST_BYTES];
    FILE *f = fopen("tests/data/audio/zh_phrases.wav", "rb");
    assert_non_null(f);
    const size_t sz = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(sz > HEADER);
    struct audio a = { calloc(sz / 2, sizeof(float)), (int64_t)(sz - HEADER) / 2 };
    assert_non_null(a.pcm);
    for (int64_t i = 0; i < a.n; i++) a.pcm[i] = (float)(int16_t)(file[HEADER + 2 * i] | file[HEADER + 2 * i + 1] << 8) / 32768;
    return a;
}

static int open_all(void **state)
{
    (void)state;
    const struct audio said[] = { demo_audio(0, 0, 1), chinese(), { calloc(3 * RATE, sizeof(float)), 3 * RATE } };
    model = shipped_open();
    session = session_new(model, NULL, 1);
    for (int i = 0; i < said[2].n; i++) said[2].pcm[i] = 0.3f * (float)sin(0.00001 * i * i);
    for (int i = 0; i < KINDS; i++) {
        kind[i] = window_of(said[i].pcm, said[i].n);
        free(said[i].pcm);
        listen_to(&i, 1, 1, 1);
        lang[i] = found();
        prob[i] = steno_language_prob(session, lang[i]);
    }
    return lang[0] == ENGLISH_AT && lang[1] == CHINESE_AT && lang[2] > CHINESE_AT && prob[0] > prob[1] && prob[1] > prob[2] ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) free(kind[i]);
    steno_session_close(session);
    steno_model_close(model);
    return 0;
}

static void test_the_language_found_most_often_counts_and_the_more_probable_on_ties(void **state)
{
    (void)state;
    static const struct { int n, which[MOST], segments, want; } c[] = {
        { 2, { 1, 0 }, 1, 1 },    { 3, { 0, 1, 1 }, 3, 1 }, { 3, { 1, 1, 0 }, 4, 1 }, { 2, { 0, 1 }, 2, 0 },
        { 2, { 1, 0 }, 1000, 0 }, { 3, { 2, 1, 0 }, 3, 0 }, { 3, { 0, 2, 2 }, 2, 0 }, /* no more than asked for */
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        assert_int_equal(listen_to(c[i].which, c[i].n, c[i].segments, 1), c[i].segments < c[i].n ? c[i].segments : c[i].n);
        if (found() != lang[c[i].want]) fail_msg("case %zu: language %d, want %d", i, found(), lang[c[i].want]);
        assert_true(fabsf(steno_language_prob(session, found()) - prob[c[i].want]) < 1e-3f);
    }
    assert_true(steno_language_prob(session, 99) < 0 && steno_language_prob(session, -1) < 0);
}

static void test_a_language_that_is_sure_ends_the_listening(void **state)
{
    (void)state;
    static int const which[] = { 2, 2, 1, 0 };
    const double between = ((double)prob[2] + (double)prob[1]) / 2;
    assert_int_equal(listen_to(which, 4, 4, between), 3);
    assert_int_equal(found(), CHINESE_AT); /* though it was found once */
    assert_int_equal(listen_to(which, 4, 4, 0), 1);
    assert_int_equal(found(), lang[2]);
}

static void test_detection_among_several_languages_chooses_one_of_them(void **state)
{
    (void)state;
    static const struct { const char *asked; int kind, place; } c[] = {
        { "en,zh", 0, ENGLISH_AT }, { "zh, en", 0, ENGLISH_AT }, { "Chinese,ja", 0, CHINESE_AT }, { "zh,zh", 0, CHINESE_AT },
        { "en,zh", 1, CHINESE_AT },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        double sum = 0;
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language = c[i].asked;
        p.on_window = no_window;
        if (steno_transcribe(session, kind[c[i].kind], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_string_equal(steno_language(session), steno_model_language(model, c[i].place));
        for (int k = 0; k < 99; k++) sum += steno_language_prob(session, k);
        assert_true(fabs(sum - 1) < 1e-5);
        assert_true(steno_language_prob(session, 2) == 0); /* it was not asked for */
    }
}

static int64_t second_read(void *user, float *pcm, int64_t n)
{
    int64_t *at = user;
    const int64_t take = RATE - *at < n ? RATE - *at : n;
    memcpy(pcm, kind[0] + *at, (size_t)take * sizeof *pcm);
    *at += take;
    return take;
}

static void test_numbers_that_make_no_sense_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { int segments; double threshold; const char *what; } c[] = {
        { 0, 0.5, "language_detection_segments is 0" }, { -1, 0.5, "language_detection_segments" },
        { 1, -0.1, "language_detection_threshold" },    { 1, 1.1, "language_detection_threshold" },
        { 1, (double)NAN, "language_detection_threshold" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language_detection_segments = c[i].segments;
        p.language_detection_threshold = c[i].threshold;
        for (int align = 0; align < 2; align++) {
            int64_t at = 0;
            const steno_source src = { second_read, NULL, &at };
            const int rc = align ? steno_align(session, &src, "one two", &p) : steno_transcribe(session, kind[0], RATE, &p);
            assert_int_equal(rc, STENO_EARG);
            assert_int_equal(at, 0); /* before any audio is read */
            if (!strstr(steno_last_error(session), c[i].what)) fail_msg("'%s' does not say '%s'", steno_last_error(session), c[i].what);
        }
    }
}

static void expect(steno_session *s, const char *language, int align, int status, const char *what)
{
    struct tap t = { .pcm = kind[0], .n = RATE / 10 };
    const steno_source src = tap_source(&t);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = language;
    const int rc = align ? steno_align(s, &src, "one two", &p) : steno_transcribe_source(s, &src, &p);
    const char *why = rc ? steno_last_error(s) : steno_language(s);
    if (rc != status || (what && !strstr(why, what))) fail_msg("'%s'%s: status %d, %s", language, align ? " in align" : "", rc, why);
    if (rc) assert_int_equal(t.reads, 0);
}

static void test_languages_are_taken_by_their_usual_names_and_refused_with_help(void **state)
{
    (void)state;
    steno_model *english = random_model(&small_dims, DT_F16, 3, NULL), *ctc = funasr_open(ctc_folder, NULL);
    steno_session *one = session_new(english, NULL, 1), *few = session_new(ctc, NULL, 1);
    for (int align = 0; align < 2; align++) {
        expect(session, "en-US", align, 0, "en");
        expect(session, "ZH_cn", align, 0, "zh");
        expect(session, "deu", align, 0, "de");
        expect(session, "Auto", align, 0, NULL);
        expect(session, "zh,en", align, 0, NULL);
        expect(session, "en,jp", align, STENO_EARG, "did you mean ja?");
        expect(session, "en,", align, STENO_EARG, "is not known");
        expect(session, "en,auto", align, STENO_EARG, "language 'auto' is not known");
        expect(one, "en,de", align, STENO_EARG, "knows English only");
        expect(session, "jp", align, STENO_EARG, "did you mean ja? it knows en, zh, de,");
        expect(session, "klingon", align, STENO_EARG, "language 'klingon' is not known to this model; it knows en,");
        expect(one, "en", align, 0, "en");
        expect(one, "eng-GB", align, 0, "en");
        expect(one, "auto", align, 0, "en");
        expect(one, "de", align, STENO_EARG, "knows English only");
        expect(one, "klingon", align, STENO_EARG, "knows English only");
        expect(one, "", align, STENO_EARG, "knows English only");
    }
    expect(few, "ja-JP", 0, 0, NULL);
    expect(few, "zh-yue", 0, 0, NULL);
    expect(few, "nospeech", 0, 0, NULL);
    expect(few, "jp", 0, STENO_EARG, "did you mean ja? it knows zh, en, yue, ja, ko");
    expect(few, "deu", 0, STENO_EARG, "language 'deu' is not known to this model; it knows zh, en, yue, ja, ko");
    steno_session_close(one);
    steno_session_close(few);
    steno_model_close(english);
    steno_model_close(ctc);
}

/* ---- in a batch ---- */

enum { EIGHT = 8 };

struct heard { float prob[100], detected[100]; uint64_t digest; char language[8]; };

/* Sounds of different lengths and languages. */
static struct tap eighth(int i)
{
    return (struct tap){ .pcm = kind[i % KINDS], .n = i < 2 ? WINDOW - 100 * i : 2 * RATE + i * 4000, .piece = 7000 };
}

static void note(struct heard *h, const steno_session *s)
{
    for (int i = 0; i < 100; i++) h->prob[i] = steno_language_prob(s, i);
    h->digest = result_digest(s);
    snprintf(h->language, sizeof h->language, "%s", steno_language(s));
}

static void test_eight_in_a_batch_have_the_text_and_the_probabilities_of_each_alone(void **state)
{
    (void)state;
    static struct heard alone[EIGHT], together;
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch *b;
    steno_session *s[EIGHT];
    struct tap t[EIGHT];
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.sample_len = 12;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = EIGHT;
    assert_int_equal(steno_batch_open(&b, model, NULL, &bp, NULL), 0);
    sp.batch = b;
    for (int i = 0; i < EIGHT; i++) {
        struct tap one = eighth(i);
        const steno_source src = tap_source(&one);
        assert_int_equal(steno_transcribe_source(session, &src, &p), 0);
        note(&alone[i], session);
        one.at = 0;
        assert_true(steno_detect_language(session, &src, alone[i].detected, 100) >= 0);
        assert_string_equal(steno_language(session), alone[i].language);
        assert_memory_equal(alone[i].detected, alone[i].prob, 99 * sizeof(float));
        t[i] = eighth(i);
        assert_int_equal(steno_session_open(&s[i], model, NULL, &sp, NULL), 0);
        const steno_source again = tap_source(&t[i]);
        assert_int_equal(steno_batch_add(b, s[i], &again, &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < EIGHT; i++) {
        note(&together, s[i]);
        assert_memory_equal(together.prob, alone[i].prob, sizeof together.prob);
        assert_string_equal(together.language, alone[i].language);
        assert_true(together.digest == alone[i].digest);
        steno_session_close(s[i]);
    }
    for (int i = 1; i < KINDS; i++) assert_true(alone[i].prob[0] != alone[0].prob[0]); /* or nothing was compared */
    steno_batch_close(b);
}

/* Half a minute of nothing, then English: one window is not enough to know. */
static void test_speech_that_comes_late_is_found_by_listening_on(void **state)
{
    (void)state;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    const struct audio a = demo_audio(30 * RATE, RATE, 1);
    uint32_t seed = 1;
    for (int i = 0; i < 30 * RATE; i++) a.pcm[i] = 0.001f * noise(&seed); /* windows of silence are passed over */
    steno_transcribe_params p = params_new();
    p.language = NULL;
    p.language_detection_segments = 2;
    p.language_detection_threshold = 0.99;
    p.on_window = no_window;
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_string_equal(steno_language(s), "en");
    assert_true(steno_language_prob(s, 0) > 0.99f);
    p.language_detection_segments = 1;
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_true(steno_language_prob(s, 0) < 0.99f);
    p.language_detection_segments = 2; /* and the text begins at the beginning all the same */
    p.on_window = NULL;
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    const uint64_t want = result_digest(s);
    p.language = "en";
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_true(result_digest(s) == want);
    assert_int_equal(steno_segment_count(s) > 0, 1);
    free(a.pcm);
    steno_session_close(s);
    steno_model_close(m);
}

/* ---- the language of each window --------------------------------------------------------------------------------------------- */

static steno_transcribe_params by_window(int on)
{
    steno_transcribe_params p = params_new();
    p.language_per_segment = on;
    p.without_timestamps = 1; /* a segment for each window */
    p.condition_on_previous_text = 0;
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = (double)NAN;
    return p;
}

static void text_alone(char text[200], int which, const char *language)
{
    steno_transcribe_params p = by_window(0);
    p.language = language;
    if (steno_transcribe(session, kind[which], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
    snprintf(text, 200, "%s", steno_text(session));
}

/* Windows of two languages have the text that each has alone in its own language, whatever language is named. */
static void test_each_window_has_its_own_language(void **state)
{
    (void)state;
    enum { N = 4 };
    static int const order[N] = { ENGLISH_AT, CHINESE_AT, CHINESE_AT, ENGLISH_AT };
    static float pcm[N * WINDOW];
    static const char *const named[] = { NULL, "en", "de" };
    char want[2][200], other[200];
    assert_true(prob[ENGLISH_AT] >= 0.5f && prob[CHINESE_AT] >= 0.5f);
    text_alone(want[ENGLISH_AT], ENGLISH_AT, "en");
    text_alone(want[CHINESE_AT], CHINESE_AT, "zh");
    text_alone(other, CHINESE_AT, "en");
    assert_string_not_equal(want[CHINESE_AT], other); /* else the language decides nothing here */
    for (int i = 0; i < N; i++) memcpy(pcm + i * WINDOW, kind[order[i]], WINDOW * sizeof *pcm);
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        steno_transcribe_params p = by_window(1);
        steno_segment g = { .size = sizeof g };
        p.language = named[k];
        if (steno_transcribe(session, pcm, N * WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_int_equal(steno_segment_count(session), N);
        for (int i = 0; i < N; i++) {
            steno_segment_get(session, i, &g);
            assert_string_equal(g.text, want[order[i]]);
            assert_string_equal(g.language, order[i] == CHINESE_AT ? "zh" : "en");
        }
        assert_string_equal(steno_language(session), named[k] ? named[k] : "en");
    }
}

struct prompts { int n, with_previous[8]; };

static void note_prompt(void *user, const steno_attempt *a)
{
    struct prompts *q = user;
    assert_true(q->n < 8);
    q->with_previous[q->n++] = a->with_previous;
}

/* With English text before it, base wrote English text for a window of German. */
static void test_text_in_another_language_is_not_a_prompt(void **state)
{
    (void)state;
    enum { N = 5 };
    static int const order[N] = { ENGLISH_AT, ENGLISH_AT, CHINESE_AT, CHINESE_AT, ENGLISH_AT };
    static float pcm[N * WINDOW];
    for (int i = 0; i < N; i++) memcpy(pcm + i * WINDOW, kind[order[i]], WINDOW * sizeof *pcm);
    for (int on = 0; on < 2; on++)
        for (int prompted = 0; prompted < 2; prompted++) {
            struct prompts q = { 0 };
            steno_transcribe_params p = by_window(on);
            p.condition_on_previous_text = 1;
            p.logprob_threshold = p.compression_ratio_threshold = (double)NAN; /* no window is unsure, which would forget the text, too */
            p.language = "en";
            p.initial_prompt = prompted ? "zero" : NULL;
            p.user = &q;
            p.on_attempt = note_prompt;
            if (steno_transcribe(session, pcm, N * WINDOW, &p)) fail_msg("%s", steno_last_error(session));
            assert_int_equal(q.n, N);
            const int want[N] = { prompted, 1, !on, 1, !on };
            for (int i = 0; i < N; i++)
                if (q.with_previous[i] != want[i]) fail_msg("option %d, window %d: %d", on, i, q.with_previous[i]);
        }
}

/* Independent clips each begin with the prompt, alone and in a batch; a translation is English in every window. */
static void test_independent_clips_and_translations_keep_the_prompt(void **state)
{
    (void)state;
    static float pcm[2 * WINDOW];
    static const double clips[] = { 0, 30, 30, 60 };
    for (int i = 0; i < 2; i++) memcpy(pcm + i * WINDOW, kind[i ? CHINESE_AT : ENGLISH_AT], WINDOW * sizeof *pcm);
    for (int k = 0; k < 4; k++) {
        static const int want[4] = { 2, 2, 2, 1 };
        steno_session *s = session_new(model, NULL, k == 1 ? 4 : 1);
        struct prompts q = { 0 };
        steno_transcribe_params p = by_window(1);
        p.condition_on_previous_text = k >= 2;
        p.logprob_threshold = p.compression_ratio_threshold = (double)NAN;
        p.language = "en";
        p.initial_prompt = "zero";
        p.user = &q;
        p.on_attempt = note_prompt;
        if (k < 2) p.clip_timestamps = clips, p.n_clip_timestamps = 4, p.independent_clips = 1;
        if (k == 2) p.task = STENO_TRANSLATE;
        if (steno_transcribe(s, pcm, 2 * WINDOW, &p)) fail_msg("%s", steno_last_error(s));
        assert_int_equal(q.n, 2);
        if (q.with_previous[0] + q.with_previous[1] != want[k])
            fail_msg("%d: %d and %d", k, q.with_previous[0], q.with_previous[1]);
        steno_session_close(s);
    }
}

/* Without it one language is written, and a window that is doubtful in it names its likely language. */
static void test_a_doubtful_window_names_its_likely_language(void **state)
{
    (void)state;
    for (int guards = STENO_GUARDS_OFF; guards <= STENO_GUARDS_FLAG; guards++) {
        steno_transcribe_params p = by_window(0);
        steno_segment g = { .size = sizeof g };
        p.language = "en";
        p.guards = guards;
        p.no_speech_threshold = 0.6;
        p.logprob_threshold = -1e-6; /* every window is doubtful */
        if (steno_transcribe(session, kind[CHINESE_AT], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_int_equal(steno_segment_get(session, 0, &g), STENO_OK);
        if (guards) assert_string_equal(g.language, "zh");
        else assert_null(g.language);
        p.language = "zh"; /* no other language is named where it is right */
        if (steno_transcribe(session, kind[CHINESE_AT], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_int_equal(steno_segment_get(session, 0, &g), STENO_OK);
        assert_null(g.language);
    }
}

/* Languages of a short window's segments and of its text that was left out, after a longer window of other audio was in its place. */
static void languages_after(int before, const float *pcm, int64_t n, int each, char *text, size_t size)
{
    steno_session *s = session_new(model, NULL, 1);
    steno_transcribe_params p = by_window(0);
    steno_segment g = { .size = sizeof g };
    steno_left_out l = { .size = sizeof l };
    size_t at = 0;
    p.language = "en";
    if (before >= 0 && steno_transcribe(s, kind[before], WINDOW, &p)) fail_msg("%s", steno_last_error(s));
    p = by_window(each);
    if (!each) p.language = "fr";
    p.audio_ctx = 150;
    p.logprob_threshold = -1e-6;
    p.sample_len = 12;
    if (steno_transcribe(s, pcm, n, &p)) fail_msg("%s", steno_last_error(s));
    for (int i = 0; !steno_segment_get(s, i, &g); i++)
        at += (size_t)snprintf(text + at, size - at, "%s ", g.language ? g.language : "-");
    for (int i = 0; !steno_left_out_get(s, i, &l); i++)
        at += (size_t)snprintf(text + at, size - at, "(%s) ", l.language ? l.language : "-");
    steno_session_close(s);
}

static void test_a_short_window_has_the_language_that_it_has_alone(void **state)
{
    (void)state;
    float *zeros = calloc(WINDOW, sizeof *zeros);
    const float *const audio[] = { kind[0], kind[1], kind[2], zeros };
    assert_non_null(zeros);
    for (int i = 0; i < 4; i++)
        for (int each = 0; each < 2; each++) {
            char alone[400] = "", after[400] = "";
            languages_after(-1, audio[i], 3 * RATE, each, alone, sizeof alone);
            assert_true(*alone);
            for (int k = 0; k < KINDS; k++) {
                languages_after(k, audio[i], 3 * RATE, each, after, sizeof after);
                if (strcmp(alone, after) != 0) fail_msg("audio %d after %d, each %d: '%s', alone '%s'", i, k, each, after, alone);
            }
        }
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_language_found_most_often_counts_and_the_more_probable_on_ties),
        cmocka_unit_test(test_a_language_that_is_sure_ends_the_listening),
        cmocka_unit_test(test_each_window_has_its_own_language),
        cmocka_unit_test(test_text_in_another_language_is_not_a_prompt),
        cmocka_unit_test(test_independent_clips_and_translations_keep_the_prompt),
        cmocka_unit_test(test_a_doubtful_window_names_its_likely_language),
        cmocka_unit_test(test_a_short_window_has_the_language_that_it_has_alone),
        cmocka_unit_test(test_detection_among_several_languages_chooses_one_of_them),
        cmocka_unit_test(test_numbers_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(test_languages_are_taken_by_their_usual_names_and_refused_with_help),
        cmocka_unit_test(test_eight_in_a_batch_have_the_text_and_the_probabilities_of_each_alone),
        cmocka_unit_test(test_speech_that_comes_late_is_found_by_listening_on),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
