/* steno tests: callers that do it wrong. SPDX-License-Identifier: MIT
 *
 * Every refusal has its status and a reason that names what was wrong; nothing crashes, and what was open stays usable. */
#include <pthread.h>
#include "shipped.h"

static struct bytes file;

static int open_file(void **state)
{
    (void)state;
    file = random_bytes(&small_dims, DT_F16, 3);
    return 0;
}

static int close_file(void **state)
{
    (void)state;
    free(file.p);
    return 0;
}

static void no_line(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static void test_null_is_refused_or_harmless_everywhere(void **state)
{
    (void)state;
    int32_t id = 0;
    char text[8];
    int64_t ns;
    const char *label;
    steno_model_info info = { .size = sizeof info };
    steno_timings timings = { .size = sizeof timings };
    steno_segment seg = { .size = sizeof seg };
    steno_token tok = { .size = sizeof tok };
    steno_team_close(NULL);
    steno_model_close(NULL);
    steno_session_close(NULL);
    steno_cancel(NULL);
    steno_timings_reset(NULL);
    steno_profile_enable(NULL, 1);
    steno_model_params_init(NULL);
    steno_session_params_init(NULL);
    steno_transcribe_params_init(NULL);
    assert_int_equal(steno_team_open(NULL, 1, NULL), STENO_EARG);
    assert_int_equal(steno_team_threads(NULL), 1);
    assert_int_equal(steno_model_info_get(NULL, &info), STENO_EARG);
    assert_null(steno_model_language(NULL, 0));
    assert_int_equal(steno_plan_dump(NULL, no_line, NULL), STENO_EARG);
    assert_int_equal(steno_tokenize(NULL, "a", &id, 1), STENO_EARG);
    assert_int_equal(steno_detokenize(NULL, &id, 1, text, sizeof text), STENO_EARG);
    assert_int_equal(steno_session_memory(NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe(NULL, NULL, 0, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe_source(NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_detect_language(NULL, NULL, NULL, 0), STENO_EARG);
    assert_int_equal(steno_segment_count(NULL), 0);
    assert_int_equal(steno_segment_get(NULL, 0, &seg), STENO_EARG);
    assert_int_equal(steno_token_get(NULL, 0, 0, &tok), STENO_EARG);
    assert_string_equal(steno_text(NULL), "");
    assert_string_equal(steno_language(NULL), "");
    assert_non_null(steno_last_error(NULL));
    assert_int_equal(steno_duration_ms(NULL), 0);
    assert_int_equal(steno_timings_get(NULL, &timings), STENO_EARG);
    assert_int_equal(steno_profile_get(NULL, 0, &label, &ns, &ns), STENO_EARG);
    assert_int_equal(steno_bench_phase(NULL, "mel", 1), STENO_EARG);
}

static void test_null_is_refused_or_harmless_in_later_calls_too(void **state)
{
    (void)state;
    float x[8] = { 0 };
    int32_t n = 0;
    steno_span span = { .size = sizeof span };
    steno_model *m = bytes_open(file, NULL);
    steno_vad_params_init(NULL);
    assert_int_equal(steno_language_id(NULL, "en"), -1);
    assert_int_equal(steno_language_id(m, NULL), -1);
    assert_null(steno_language_name(NULL));
    assert_null(steno_language_name("klingon"));
    assert_int_equal(steno_token_id(NULL, STENO_TOKEN_END), -1);
    assert_int_equal(steno_token_id(m, (enum steno_special)77), -1);
    assert_int_equal(steno_token_id(m, (enum steno_special)99), -1);
    assert_int_equal(steno_mel(NULL, x, 8, x, 0), STENO_EARG);
    assert_int_equal(steno_mel(m, NULL, 8, x, 0), STENO_EARG);
    assert_int_equal(steno_mel(m, x, -1, x, 0), STENO_EARG);
    assert_int_equal(steno_mel(m, x, 8, NULL, 1), STENO_EARG);
    assert_int_equal(steno_mel(m, x, 8, x, -1), STENO_EARG);
    assert_int_equal(steno_mel(m, NULL, 0, NULL, 0), 0);
    assert_int_equal(steno_tokenize(m, NULL, &n, 1), STENO_EARG);
    assert_int_equal(steno_tokenize(m, "a", NULL, 1), STENO_EARG);
    assert_int_equal(steno_tokenize(m, "a", &n, -1), STENO_EARG);
    assert_int_equal(steno_detokenize(m, NULL, 1, NULL, 0), STENO_EARG);
    assert_int_equal(steno_detokenize(m, &n, -1, NULL, 0), STENO_EARG);
    assert_int_equal(steno_detokenize(m, &n, 1, NULL, 4), STENO_EARG);
    assert_null(steno_audio_features(NULL, &n, &n));
    assert_true(steno_language_prob(NULL, 0) < 0);
    assert_int_equal(steno_find_speech(NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_span_count(NULL), 0);
    assert_int_equal(steno_span_get(NULL, 0, &span), STENO_EARG);
    assert_int_equal(steno_plan_dump(m, NULL, NULL), STENO_EARG);
    steno_model_close(m);
}

/* The call failed, and its reason names `what`. */
static void assert_refused(int rc, const steno_error *e, int status, const char *what)
{
    if (rc != status || e->status != status || !strstr(e->text, what) || strchr(e->text, '\n'))
        fail_msg("status %d (in the error: %d), want %d and a reason naming '%s': %s", rc, (int)e->status, status, what, e->text);
}

static void test_opening_what_cannot_be_opened_says_why_and_gives_null(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m = (steno_model *)&e;
    steno_model_params p;
    steno_model_params_init(&p);
    assert_refused(steno_model_open(&m, "no/such/file", NULL, &e), &e, STENO_EIO, "no/such/file");
    assert_null(m);
    assert_refused(steno_model_open(&m, "tests", NULL, &e), &e, STENO_EFORMAT, "tests: the folder holds no model");
    assert_int_equal(steno_model_open(&m, NULL, NULL, &e), STENO_EARG);
    assert_int_equal(steno_model_open(NULL, "x", NULL, NULL), STENO_EARG);
    assert_int_equal(steno_model_open_memory(&m, NULL, 5, NULL, &e), STENO_EARG);
    assert_refused(steno_model_open_memory(&m, "nothing", 7, NULL, &e), &e, STENO_EFORMAT, "text file");
    assert_refused(steno_model_open_memory(&m, file.p, file.n / 2, NULL, &e), &e, STENO_EFORMAT, "is the copy complete?");
    assert_null(m);
    p.compute = 9;
    assert_refused(steno_model_open_memory(&m, file.p, file.n, &p, &e), &e, STENO_EARG, "compute");
    steno_model_params_init(&p);
    p.cpu_level = "z80";
    assert_refused(steno_model_open_memory(&m, file.p, file.n, &p, &e), &e, STENO_EARG, "z80");
    steno_model_params_init(&p);
    p.size = 4;
    assert_refused(steno_model_open_memory(&m, file.p, file.n, &p, &e), &e, STENO_EARG, "steno_model_params");
    steno_model_params_init(&p);
    p.vocab = "no/such/vocab";
    assert_int_equal(steno_model_open(&m, shipped_model, &p, &e), 0); /* the model has its own */
    steno_model_close(m);
    const steno_reader none = { file.n, NULL, NULL, NULL };
    assert_refused(steno_model_open_reader(&m, &none, NULL, &e), &e, STENO_EARG, "read function");
    assert_refused(steno_model_open_reader(&m, NULL, NULL, &e), &e, STENO_EARG, "read function");
    assert_null(m);
    assert_refused(steno_model_open_random(&m, "huge", "f16", 1, NULL, &e), &e, STENO_EARG, "huge");
    assert_refused(steno_model_open_random(&m, "tiny", "q9", 1, NULL, &e), &e, STENO_EARG, "q9");
    steno_team *t;
    assert_refused(steno_team_open(&t, -1, &e), &e, STENO_EARG, "-1");
    assert_refused(steno_team_open(&t, 257, &e), &e, STENO_EARG, "257");
    assert_null(t);
}

/* The same model with `from` written over by `to` wherever a tensor is named so. */
static struct bytes renamed(const char *from, const char *to)
{
    struct bytes b = { malloc(file.n), file.n };
    assert_non_null(b.p);
    memcpy(b.p, file.p, file.n);
    const size_t n = strlen(from);
    assert_int_equal(n, strlen(to));
    for (size_t i = 0; i + n <= b.n; i++)
        if (!memcmp(b.p + i, from, n)) memcpy(b.p + i, to, n);
    return b;
}

static void test_a_key_with_a_bias_is_unknown_and_a_query_without_one_is_missing(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m;
    struct bytes b = renamed("encoder.blocks.0.attn.query.bias", "encoder.blocks.0.attn.quary.bias");
    assert_refused(steno_model_open_memory(&m, b.p, b.n, NULL, &e), &e, STENO_EFORMAT, "encoder.blocks.0.attn.query.bias");
    free(b.p);
    static char const name[] = "encoder.blocks.1.attn.key.bias";
    const int32_t head[] = { 1, (int32_t)sizeof name - 1, 0, small_dims.n_audio_state };
    const size_t data = (size_t)small_dims.n_audio_state * sizeof(float), n = file.n + sizeof head + sizeof name - 1 + data;
    b = (struct bytes){ calloc(1, n), n };
    assert_non_null(b.p);
    memcpy(b.p, file.p, file.n);
    memcpy(b.p + file.n, head, sizeof head);
    memcpy(b.p + file.n + sizeof head, name, sizeof name - 1);
    assert_refused(steno_model_open_memory(&m, b.p, b.n, NULL, &e), &e, STENO_EFORMAT, "tensor");
    free(b.p);
}

static void test_session_parameters_out_of_range_are_refused(void **state)
{
    (void)state;
    steno_error e;
    steno_session *s;
    steno_session_params p;
    steno_model *m = bytes_open(file, NULL);
    static const int32_t lanes[] = { 0, -1, 33, INT32_MAX };
    for (int i = 0; i < 4; i++) {
        steno_session_params_init(&p);
        p.max_lanes = lanes[i];
        assert_refused(steno_session_open(&s, m, NULL, &p, &e), &e, STENO_EARG, "max_lanes");
        assert_null(s);
        assert_int_equal(steno_session_memory(m, NULL, &p), STENO_EARG);
    }
    steno_session_params_init(&p);
    p.size = 0;
    assert_int_equal(steno_session_open(&s, m, NULL, &p, NULL), STENO_EARG);
    assert_int_equal(steno_session_open(NULL, m, NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_session_open(&s, NULL, NULL, NULL, NULL), STENO_EARG);
    steno_model_close(m);
}

struct counted { int reads, closes; };

static int read_file(void *user, uint64_t off, void *dst, size_t n)
{
    ((struct counted *)user)->reads++;
    assert_true(off <= file.n && n <= file.n - off);
    memcpy(dst, file.p + off, n);
    return 0;
}

static void close_counted(void *user)
{
    ((struct counted *)user)->closes++;
}

static void test_a_reader_is_closed_once_whatever_comes_of_it(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m = NULL;
    steno_model_params p;
    steno_model_params_init(&p);
    p.cpu_level = "z80";
    static const uint64_t size[] = { 0, 1, 3, 4, 100, 10000 };
    for (int i = 0; i < 9; i++) {
        struct counted c = { 0, 0 };
        const steno_reader r = { i < 6 ? size[i] : file.n, read_file, close_counted, &c };
        if (i < 6) assert_refused(steno_model_open_reader(&m, &r, NULL, &e), &e, STENO_EFORMAT, i < 3 ? "get it again" : "the file ends");
        if (i == 6) assert_refused(steno_model_open_reader(&m, &r, &p, &e), &e, STENO_EARG, "z80");
        if (i == 7) assert_int_equal(steno_model_open_reader(NULL, &r, NULL, &e), STENO_EARG);
        if (i < 8) assert_null(m);
        if (i == 8) assert_int_equal(steno_model_open_reader(&m, &r, NULL, &e), 0);
        assert_int_equal(c.closes, 1);
    }
    steno_model_close(m);
}

static void test_a_model_without_weights_is_described_and_not_run(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m;
    steno_session *s;
    steno_model_params p;
    steno_model_info info = { .size = sizeof info };
    steno_model_params_init(&p);
    p.index_only = 1;
    if (steno_model_open_memory(&m, file.p, file.n, &p, &e)) fail_msg("%s", e.text);
    assert_refused(steno_session_open(&s, m, NULL, NULL, &e), &e, STENO_EARG, "index_only");
    assert_null(s);
    assert_int_equal(steno_model_info_get(m, &info), 0);
    assert_string_equal(info.family, "whisper");
    assert_int_equal(steno_plan_dump(m, no_line, NULL), 0);
    steno_model_close(m);
}

static void refuse(steno_session *s, const steno_transcribe_params *p, const char *what)
{
    const float x[RATE] = { 0 };
    const int rc = steno_transcribe(s, x, RATE, p);
    if (rc != STENO_EARG || !strstr(steno_last_error(s), what))
        fail_msg("status %d, want a refusal that names '%s': %s", rc, what, steno_last_error(s));
    assert_int_equal(steno_segment_count(s), 0);
}

/* A value for one of the parameters that the library lists: `i` of an integer, `v` of a number, `t` of a text. */
struct bad { const char *field; int64_t i; double v; const char *t, *says; }; /* says: NULL: the field's name */

static void param_set(steno_transcribe_params *p, const struct bad *b)
{
    steno_param q = { .size = sizeof q };
    int k = 0;
    while (!steno_param_get(NULL, STENO_CALL_TRANSCRIBE, k, &q) && strcmp(q.name, b->field) != 0) k++;
    assert_string_equal(q.name, b->field);
    void *at = (char *)p + q.offset;
    switch (q.kind) {
    case STENO_PARAM_INT64: *(int64_t *)at = b->i; break;
    case STENO_PARAM_NUMBER: *(double *)at = b->v; break;
    case STENO_PARAM_TEXT: *(const char **)at = b->t; break;
    default: *(int32_t *)at = (int32_t)b->i;
    }
}

#define NOWHERE(name) { #name, .v = (double)INFINITY }, { #name, .v = -(double)INFINITY }

static const struct bad bad_params[] = {
    { "task", .i = 3 }, { "task", .i = -1 }, { "guards", .i = 3 }, { "guards", .i = -1 }, { "guards", .i = INT32_MAX },
    { "itn", .i = 1 }, { "ban_unknown_emotion", .i = 1 }, { "tags", .i = 1 }, { "tags", .i = 3 },
    { "language", .t = "klingon", .says = "klingon" }, { "language", .t = "" },
    { "suppress_tokens", .t = "1,x" }, { "suppress_tokens", .t = "999999" }, { "suppress_tokens", .t = "-2" },
    { "suppress_tokens", .t = "1, ,2", .says = "suppress_tokens: ' ' at place 2 is no token id" },
    { "suppress_tokens", .t = "1,", .says = "suppress_tokens: '' at place 2" },
    { "suppress_tokens", .t = "1 2", .says = "suppress_tokens: '1 2' at place 1" },
    { "sample_len", .i = -1 }, { "sample_len", .i = 449 }, { "sample_len", .i = INT32_MIN },
    { "offset_ms", .i = -1 }, { "offset_ms", .i = INT64_MAX }, { "offset_ms", .i = INT64_MIN },
    { "duration_ms", .i = -1 }, { "duration_ms", .i = INT64_MAX },
    { "max_initial_timestamp", .v = -0.1 }, { "max_initial_timestamp", .v = (double)NAN },
    { "temperature", .v = -0.1 }, { "temperature", .v = (double)NAN }, { "temperature", .v = 9.9e-7 }, { "temperature", .v = 100.1 },
    { "temperature", .v = 1e-310, .says = "temperature is 1e-310, want 1e-06 to 100, or 0" },
    { "temperature", .v = (double)INFINITY, .says = "temperature is" }, { "temperature", .v = -(double)INFINITY, .says = "temperature is" },
    { "temperature_increment_on_fallback", .v = -0.1 }, { "temperature_increment_on_fallback", .v = 0.001 },
    { "temperature_increment_on_fallback", .v = 101 }, NOWHERE(temperature_increment_on_fallback),
    { "logprob_threshold", .v = 0.1 }, NOWHERE(logprob_threshold),
    { "no_speech_threshold", .v = 1.1 }, NOWHERE(no_speech_threshold),
    { "compression_ratio_threshold", .v = -1 }, NOWHERE(compression_ratio_threshold),
    { "entropy_threshold", .v = -1 }, NOWHERE(entropy_threshold),
};

static void refuse_prompt(steno_session *s, const int32_t *ids, int32_t n, const char *text, const char *what)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.prompt_tokens = ids;
    p.n_prompt_tokens = n;
    p.initial_prompt = text;
    refuse(s, &p, what);
}

static void test_transcription_parameters_out_of_range_are_refused_by_name(void **state)
{
    (void)state;
    static const int32_t far[] = { 1, 51865 }, below[] = { 1, -1 };
    steno_transcribe_params p;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    for (size_t i = 0; i < sizeof bad_params / sizeof *bad_params; i++) {
        steno_transcribe_params_init(&p);
        param_set(&p, &bad_params[i]);
        refuse(s, &p, bad_params[i].says ? bad_params[i].says : bad_params[i].field);
    }
    steno_transcribe_params_init(&p);
    p.size = 8;
    refuse(s, &p, "steno_transcribe_params");
    refuse_prompt(s, NULL, 1, NULL, "n_prompt_tokens");
    refuse_prompt(s, NULL, -1, NULL, "n_prompt_tokens");
    refuse_prompt(s, far, INT32_MIN, NULL, "n_prompt_tokens");
    refuse_prompt(s, far, 2, NULL, "id 51865 at place 1");
    refuse_prompt(s, below, 2, NULL, "id -1 at place 1");
    refuse_prompt(s, far, 1, "one", "give one of them");
    steno_session_close(s);
    steno_model_close(m);
}

static void test_a_session_transcribes_after_it_has_refused_calls(void **state)
{
    (void)state;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    const float x[4] = { 0 };
    const steno_source none = { NULL, NULL, NULL };
    assert_int_equal(steno_transcribe(s, NULL, 4, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe(s, x, -1, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe_source(s, &none, NULL), STENO_EARG);
    assert_true(*steno_last_error(s));
    assert_int_equal(steno_bench_phase(s, "dance", 1), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "dance"));
    assert_int_equal(steno_bench_phase(s, "mel", 0), STENO_EARG);
    assert_true(steno_bench_phase(s, "beam5", 2) < 0); /* one lane */
    const struct audio a = demo_audio(0, 0, 1);
    const steno_transcribe_params p = params_new();
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_string_equal(steno_text(s), demo_text);
    assert_string_equal(steno_last_error(s), "");
    free(a.pcm);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_the_least_and_the_most_temperature_choose_words_with_probabilities(void **state)
{
    (void)state;
    static double const at[] = { 1e-6, 1e-5, 0.5, 99, 100 };
    static float x[RATE];
    uint32_t seed = 5;
    for (int i = 0; i < RATE; i++) x[i] = 0.3f * noise(&seed);
    steno_model *m = bytes_open(file, NULL);
    steno_session *s = session_new(m, NULL, 2);
    steno_transcribe_params p = params_new();
    p.suppress_tokens = " -1 , 50 ,7 ";
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.without_timestamps = 1;
    p.sample_len = 8;
    assert_int_equal(steno_transcribe(s, x, RATE, &p), 0);
    char *coldest = strdup(steno_text(s));
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (p.best_of = 0; p.best_of <= 2; p.best_of += 2) {
            p.temperature = at[i];
            if (steno_transcribe(s, x, RATE, &p)) fail_msg("%s", steno_last_error(s));
            steno_token t = { .size = sizeof t };
            int n = 0;
            for (int g = 0; g < steno_segment_count(s); g++)
                for (int j = 0; steno_token_get(s, g, j, &t) == STENO_OK; j++, n++)
                    if (!(t.p > 0 && t.p <= 1)) fail_msg("temperature %g: token %d has probability %g", at[i], j, (double)t.p);
            assert_true(n > 0);
            if (at[i] < 1e-4) assert_string_equal(steno_text(s), coldest);
        }
    free(coldest);
    steno_session_close(s);
    steno_model_close(m);
}

static int64_t count_read(void *user, float *pcm, int64_t n)
{
    (void)pcm, (void)n;
    ++*(int *)user;
    return 0;
}

static void test_a_text_without_words_is_refused_before_anything_is_heard(void **state)
{
    (void)state;
    static const char *const empty[] = { "", " ", "\n\n \t", "\xe3\x80\x80" };
    steno_model *m = bytes_open(file, NULL);
    steno_session *s = session_new(m, NULL, 1);
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        int reads = 0;
        const steno_source src = { count_read, NULL, &reads };
        assert_int_equal(steno_align(s, &src, empty[i], NULL), STENO_EARG);
        assert_non_null(strstr(steno_last_error(s), "no words"));
        assert_int_equal(reads, 0);
    }
    steno_session_close(s);
    steno_model_close(m);
}

static void test_results_past_the_end_are_refused(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 1);
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    const steno_transcribe_params p = params_new();
    steno_segment g = { .size = sizeof g };
    steno_token t = { .size = sizeof t };
    const char *label;
    int64_t ns, calls;
    int ops = 0;
    assert_int_equal(steno_segment_get(s, 0, &g), STENO_EARG);
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    const int n = steno_segment_count(s);
    assert_int_equal(steno_segment_get(s, n, &g), STENO_EARG);
    assert_int_equal(steno_segment_get(s, -1, &g), STENO_EARG);
    assert_int_equal(steno_segment_get(s, 0, NULL), STENO_EARG);
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    assert_int_equal(steno_token_get(s, 0, g.n_tokens, &t), STENO_EARG);
    assert_int_equal(steno_token_get(s, 0, -1, &t), STENO_EARG);
    assert_int_equal(steno_token_get(s, n, 0, &t), STENO_EARG);
    while (!steno_profile_get(s, ops, &label, &ns, &calls)) ops++;
    assert_true(ops > 20);
    assert_int_equal(steno_profile_get(s, -1, &label, &ns, &calls), STENO_EARG);
    free(a.pcm);
    steno_session_close(s);
    steno_model_close(m);
}

static void assert_no_results(const steno_session *s)
{
    steno_segment g = { .size = sizeof g };
    steno_token t = { .size = sizeof t };
    int32_t n = 7;
    assert_int_equal(steno_segment_count(s), 0);
    assert_int_equal(steno_segment_get(s, 0, &g), STENO_EARG);
    assert_int_equal(steno_token_get(s, 0, 0, &t), STENO_EARG);
    assert_int_equal(steno_span_count(s), 0);
    assert_string_equal(steno_text(s), "");
    assert_string_equal(steno_language(s), "");
    assert_int_equal(steno_duration_ms(s), 0);
    assert_null(steno_audio_features(s, &n, &n));
    for (int i = -1; i < 101; i++) assert_true(steno_language_prob(s, i) < 0);
}

static int64_t source_gone(void *user, float *pcm, int64_t n)
{
    (void)user;
    (void)pcm;
    (void)n;
    return -1;
}

static int64_t source_speaks(void *user, float *pcm, int64_t n)
{
    int64_t *left = user;
    const int64_t take = *left < n ? *left : n;
    uint32_t state = 5;
    for (int64_t i = 0; i < take; i++) pcm[i] = 0.1f * noise(&state);
    *left -= take;
    return take;
}

static int at_once(void *user)
{
    (void)user;
    return 1;
}

/* Nothing of a result outlives the beginning of the next call, however that one ends. */
static void test_there_are_no_results_before_a_call_and_after_one_that_failed(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 1);
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params good = params_new(), p;
    good.language = NULL;
    good.keep_audio_features = 1;
    const steno_source gone = { source_gone, NULL, NULL };
    float probs[4];
    assert_no_results(s);
    for (int i = 0; i < 7; i++) {
        int32_t ctx, width;
        assert_int_equal(steno_transcribe(s, a.pcm, a.n, &good), 0);
        assert_string_equal(steno_text(s), demo_text);
        assert_true(steno_language_prob(s, 0) >= 0);
        assert_non_null(steno_audio_features(s, &ctx, &width));
        p = params_new();
        if (i == 0) p.temperature = -1;
        if (i == 1) p.should_abort = at_once;
        if (i == 2) p.size = 4;
        if (i < 3) assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), i == 1 ? STENO_ECANCELED : STENO_EARG);
        if (i == 3) assert_int_equal(steno_transcribe_source(s, &gone, &p), STENO_ESOURCE);
        if (i == 4) assert_int_equal(steno_detect_language(s, &gone, probs, 4), STENO_ESOURCE);
        if (i == 5) assert_int_equal(steno_find_speech(s, &gone, NULL), STENO_EARG);
        if (i == 6) assert_int_equal(steno_bench_phase(s, "dance", 1), STENO_EARG);
        assert_true(*steno_last_error(s));
        assert_no_results(s);
    }
    int64_t left = 31 * RATE; /* longer than a window, and cannot be heard again */
    const steno_source once = { source_speaks, NULL, &left };
    assert_int_equal(steno_transcribe_source(s, &once, NULL), STENO_ESOURCE);
    assert_non_null(strstr(steno_last_error(s), "cannot go back"));
    assert_int_equal(steno_detect_language(s, &once, probs, -1), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "-1"));
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
}

static void test_structs_filled_by_an_older_caller_get_only_their_bytes(void **state)
{
    (void)state;
    steno_model *m = bytes_open(file, NULL);
    steno_session *s = session_new(m, NULL, 1);
    union { steno_model_info info; steno_timings timings; uint8_t bytes[sizeof(steno_model_info) + 16]; } u;
    memset(u.bytes, 0xee, sizeof u);
    u.info.size = offsetof(steno_model_info, name);
    assert_int_equal(steno_model_info_get(m, &u.info), 0);
    assert_string_equal(u.info.family, "whisper");
    for (size_t i = offsetof(steno_model_info, name); i < sizeof u; i++) assert_int_equal(u.bytes[i], 0xee);
    u.info.size = sizeof u.bytes; /* a newer one: what we do not know stays */
    assert_int_equal(steno_model_info_get(m, &u.info), 0);
    assert_int_equal(u.info.size, sizeof(steno_model_info));
    assert_int_equal(u.bytes[sizeof(steno_model_info)], 0xee);
    memset(u.bytes, 0xee, sizeof u);
    u.timings.size = 8;
    assert_int_equal(steno_timings_get(s, &u.timings), 0);
    for (size_t i = 8; i < sizeof u; i++) assert_int_equal(u.bytes[i], 0xee);
    u.timings.size = 0;
    assert_int_equal(steno_timings_get(s, &u.timings), STENO_EARG);
    steno_session_close(s);
    steno_model_close(m);
}

/* The same call from programs built against the first header, this one, and one to come. */
static void test_parameters_of_older_and_newer_callers_are_taken_for_what_they_have(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m;
    steno_session *s;
    union { steno_model_params p; uint8_t bytes[sizeof(steno_model_params) + 16]; } mp;
    union { steno_session_params p; uint8_t bytes[sizeof(steno_session_params) + 16]; } sp;
    union { steno_transcribe_params p; uint8_t bytes[sizeof(steno_transcribe_params) + 16]; } tp;
    const float x[4] = { 0 };
    for (int i = 0; i < 3; i++) { /* what lies behind an older caller's struct is not looked at */
        const size_t model_sz = offsetof(steno_model_params, vocab), session_sz = 8;
        const size_t sz = offsetof(steno_transcribe_params, temperature_increment_on_fallback);
        memset(&mp, 0, sizeof mp);
        memset(&sp, 0, sizeof sp);
        memset(&tp, 0, sizeof tp);
        steno_model_params_init(&mp.p);
        steno_session_params_init(&sp.p);
        steno_transcribe_params_init(&tp.p);
        tp.p.language = "en";
        if (i == 0) {
            memset(mp.bytes + model_sz, 0xff, sizeof mp - model_sz);
            memset(sp.bytes + session_sz, 0xff, sizeof sp - session_sz);
            memset(tp.bytes + sz, 0xff, sizeof tp - sz);
        }
        mp.p.size = (uint32_t)(i == 0 ? model_sz : i == 1 ? sizeof mp.p : sizeof mp);
        sp.p.size = (uint32_t)(i == 0 ? session_sz : i == 1 ? sizeof sp.p : sizeof sp);
        tp.p.size = (uint32_t)(i == 0 ? sz : i == 1 ? sizeof tp.p : sizeof tp);
        if (steno_model_open_memory(&m, file.p, file.n, &mp.p, &e)) fail_msg("%s", e.text);
        assert_true(steno_session_memory(m, NULL, &sp.p) > 0);
        assert_int_equal(steno_session_open(&s, m, NULL, &sp.p, NULL), 0);
        if (steno_transcribe(s, x, 4, &tp.p)) fail_msg("%s", steno_last_error(s));
        steno_session_close(s);
        steno_model_close(m);
    }
}

static void test_structs_have_the_layout_that_callers_were_compiled_with(void **state)
{
    (void)state;
    assert_int_equal(sizeof(steno_error), 1024);
    assert_int_equal(offsetof(steno_model_params, size), 0);
    assert_int_equal(offsetof(steno_session_params, size), 0);
    assert_int_equal(offsetof(steno_transcribe_params, size), 0);
    assert_int_equal(offsetof(steno_model_info, size), 0);
    assert_int_equal(offsetof(steno_timings, size), 0);
    if (sizeof(void *) != 8) skip();
    assert_int_equal(sizeof(steno_model_params), 56);
    assert_int_equal(sizeof(steno_session_params), 16);
    assert_int_equal(sizeof(steno_transcribe_params), 416);
    assert_int_equal(sizeof(steno_model_info), 216);
    assert_int_equal(sizeof(steno_segment), 152);
    assert_int_equal(sizeof(steno_word), 56);
    assert_int_equal(sizeof(steno_batch_params), 40);
    assert_int_equal(sizeof(steno_request_params), 24);
    assert_int_equal(sizeof(steno_heard), 24);
    assert_int_equal(sizeof(steno_request_timings), 48);
    assert_int_equal(sizeof(steno_attempt), 128);
    assert_int_equal(sizeof(steno_step), 32);
    assert_int_equal(sizeof(steno_token), 64);
    assert_int_equal(sizeof(steno_timings), 112);
    assert_int_equal(sizeof(steno_reader), 32);
    assert_int_equal(sizeof(steno_source), 24);
    assert_int_equal(sizeof(steno_span), 24);
    assert_int_equal(sizeof(steno_vad_params), 64);
}

static void test_objects_close_in_any_order_that_keeps_the_model_last(void **state)
{
    (void)state;
    static const int order[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    const float x[RATE / 2] = { 0 };
    for (int i = 0; i < 6; i++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, 2, NULL), 0);
        steno_model *m = bytes_open(file, NULL);
        steno_session *s[3];
        for (int k = 0; k < 3; k++) s[k] = session_new(m, k ? team : NULL, k + 1);
        assert_int_equal(steno_transcribe(s[i % 3], x, RATE / 2, NULL), 0);
        for (int k = 0; k < 3; k++) steno_session_close(s[order[i][k]]);
        steno_team_close(team);
        steno_model_close(m);
    }
}

struct failing { const char *path; steno_error e; };

static void *fail_often(void *arg)
{
    struct failing *f = arg;
    steno_model *m;
    for (int i = 0; i < 200; i++) {
        memset(&f->e, 0, sizeof f->e);
        if (steno_model_open(&m, f->path, NULL, &f->e) != STENO_EIO || !strstr(f->e.text, f->path)) return f;
    }
    return NULL;
}

static void test_threads_that_fail_differently_read_their_own_reasons(void **state)
{
    (void)state;
    struct failing f[2] = { { .path = "no/such/first" }, { .path = "no/such/second" } };
    pthread_t id[2];
    void *bad;
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&id[i], NULL, fail_often, &f[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(id[i], &bad);
        assert_null(bad);
    }
}

static void test_every_status_and_level_has_a_name(void **state)
{
    (void)state;
    for (int i = STENO_ESOURCE; i <= 0; i++) assert_string_not_equal(steno_status_text(i), "unknown status");
    assert_string_equal(steno_status_text(5), "unknown status");
    assert_string_equal(steno_status_text(-1000), "unknown status");
    assert_string_equal(steno_cpu_level_name(0), "c");
    assert_int_equal(steno_cpu_level_usable(0), 1);
    assert_null(steno_cpu_level_name(-1));
    assert_null(steno_cpu_level_name(99));
    assert_int_equal(steno_cpu_level_usable(99), 0);
    assert_int_equal(steno_cpu_level_usable(-1), 0);
    int major, minor, patch;
    assert_int_equal(sscanf(steno_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_is_refused_or_harmless_everywhere),
        cmocka_unit_test(test_null_is_refused_or_harmless_in_later_calls_too),
        cmocka_unit_test(test_opening_what_cannot_be_opened_says_why_and_gives_null),
        cmocka_unit_test(test_a_key_with_a_bias_is_unknown_and_a_query_without_one_is_missing),
        cmocka_unit_test(test_session_parameters_out_of_range_are_refused),
        cmocka_unit_test(test_a_reader_is_closed_once_whatever_comes_of_it),
        cmocka_unit_test(test_a_model_without_weights_is_described_and_not_run),
        cmocka_unit_test(test_transcription_parameters_out_of_range_are_refused_by_name),
        cmocka_unit_test(test_a_session_transcribes_after_it_has_refused_calls),
        cmocka_unit_test(test_the_least_and_the_most_temperature_choose_words_with_probabilities),
        cmocka_unit_test(test_a_text_without_words_is_refused_before_anything_is_heard),
        cmocka_unit_test(test_results_past_the_end_are_refused),
        cmocka_unit_test(test_there_are_no_results_before_a_call_and_after_one_that_failed),
        cmocka_unit_test(test_structs_filled_by_an_older_caller_get_only_their_bytes),
        cmocka_unit_test(test_parameters_of_older_and_newer_callers_are_taken_for_what_they_have),
        cmocka_unit_test(test_structs_have_the_layout_that_callers_were_compiled_with),
        cmocka_unit_test(test_objects_close_in_any_order_that_keeps_the_model_last),
        cmocka_unit_test(test_threads_that_fail_differently_read_their_own_reasons),
        cmocka_unit_test(test_every_status_and_level_has_a_name),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}
