/* steno tests: a FastConformer of streams against NeMo and transformers. SPDX-License-Identifier: MIT
 *
 * The small model of the collection: features, rows of the encoder and ids for every look-ahead and two prompts. Then the same audio in
 * pieces, beside other streams, and cut anywhere: the same bits as at once. */
#include <math.h>
#include "folder.h"
#include "golden/golden.h"
#include "load/weights.h"

enum { MELS = 80, STACK = 8, WIDTH = 64, ROWS = 64 };
static json_t *want;
static struct weights arrays;
static struct file arrays_file;
static struct folder hf;
static steno_model *model;
static const char *const clips[] = { "phrases", "one", "edge_2567" };
static int const lookaheads[] = { 0, 1, 3 };

static struct golden_path material(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/%s", shared, name);
    return p;
}

static const char processor[] = "{ \"supported_num_lookahead_tokens\": [3, 1, 0], \"prompt_dictionary\": { \"en-US\": 0, \"de-DE\": 2, "
                                "\"auto\": 5 } }";

/* The model's folder, with a tokenizer. */
static struct folder hf_folder(void)
{
    static const char *const from[] = { "nemotron/hf/config.json", "nemotron/hf/model.safetensors", "parakeet/hf/rnnt/tokenizer.json" };
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        assert_int_equal(symlink(material(from[i]).s, folder_at(&d, strrchr(from[i], '/') + 1).path), 0);
    folder_text(&d, "processor_config.json", processor);
    return d;
}

static steno_model *model_of(const char *path)
{
    return reference_model(path, 0, STENO_DECODER_AUTO);
}

static int group_begin(void **state)
{
    steno_error e;
    (void)state;
    want = json_open(material("nemotron/golden_hf.json").s);
    assert_int_equal(file_open(&arrays_file, material("nemotron/golden_hf.npz").s, &e), 0);
    if (weights_open(&arrays, &arrays_file, &e)) fail_msg("%s", e.text);
    hf = hf_folder();
    model = model_of(hf.path);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    steno_model_close(model);
    folder_remove(&hf);
    json_decref(want);
    weights_close(&arrays);
    file_close(&arrays_file);
    return 0;
}

static struct sound sound_of(const char *clip)
{
    char name[64];
    struct sound a = { 0 };
    snprintf(name, sizeof name, "parakeet/audio/%s.wav", clip);
    assert_int_equal(sound_read(&a, material(name).s), 0);
    return a;
}

/* ---- what a transcription gives */

struct given {
    float features[ROWS * STACK * MELS], encoder[ROWS * WIDTH];
    int n_features, n_encoder, n_ids, n_words;
    int32_t ids[512];
    int64_t times[512][2];
    char text[2048];
};

static void take_rows(void *user, const steno_rows *r)
{
    struct given *g = user;
    const int is_features = !strcmp(r->name, "features");
    int *n = is_features ? &g->n_features : &g->n_encoder;
    float *to = is_features ? g->features : g->encoder;
    assert_true(*n + r->n_rows <= ROWS);
    for (int i = 0; i < r->n_rows; i++, ++*n) memcpy(to + *n * r->width, r->rows + i * r->stride, (size_t)r->width * sizeof *to);
}

static void take_segments(struct given *g, steno_session *s)
{
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment seg = { .size = sizeof seg };
        assert_int_equal(steno_segment_get(s, i, &seg), 0);
        for (int k = 0; k < seg.n_tokens; k++) g->ids[g->n_ids++] = seg.tokens[k];
        for (int k = 0; k < seg.n_words; k++) {
            steno_word w = { .size = sizeof w };
            assert_int_equal(steno_word_get(s, i, k, &w), 0);
            g->times[g->n_words][0] = w.t0_ms;
            g->times[g->n_words++][1] = w.t1_ms;
        }
    }
    snprintf(g->text, sizeof g->text, "%s", steno_text(s));
}

static steno_transcribe_params params_of(struct given *g, int lookahead, const char *language)
{
    steno_transcribe_params p;
    memset(g, 0, sizeof *g);
    steno_transcribe_params_init(&p);
    p.lookahead = lookahead;
    p.language = language;
    p.word_timestamps = 1;
    p.user = g;
    p.on_rows = take_rows;
    return p;
}

static void at_once(struct given *g, steno_session *s, const float *pcm, int64_t n, int lookahead, const char *language)
{
    const steno_transcribe_params p = params_of(g, lookahead, language);
    if (steno_transcribe(s, pcm, n, &p)) fail_msg("%s", steno_last_error(s));
    take_segments(g, s);
}

static steno_session *session_of(const steno_model *m)
{
    steno_session *s;
    steno_error e;
    if (steno_session_open(&s, m, NULL, NULL, &e)) fail_msg("%s", e.text);
    return s;
}

/* ---- the reference */

static void rows_are_near(const char *name, const float *got, int n_rows, int width, float near)
{
    static float values[ROWS * STACK * MELS];
    steno_error e;
    float most = 1;
    const struct tensor *t = weights_find(&arrays, name);
    if (!t) fail_msg("no array %s", name);
    assert_int_equal(t->dim[0], n_rows);
    const size_t n = (size_t)n_rows * (size_t)width;
    assert_true(n <= sizeof values / sizeof *values && !tensor_read_f32(t, values, &e));
    for (size_t i = 0; i < n; i++) most = fabsf(values[i]) > most && width == WIDTH ? fabsf(values[i]) : most;
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - values[i]) <= near * most))
            fail_msg("%s: number %zu is %.7g, want %.7g", name, i, (double)got[i], (double)values[i]);
}

static void ids_are(const char *clip, const struct given *g, int lookahead, int prompt)
{
    char key[32];
    snprintf(key, sizeof key, "rnnt_%d_prompt_%d", lookahead, prompt);
    json_t *ids = json_object_get(json_object_get(json_object_get(json_object_get(want, "clips"), clip), key), "ids");
    if (json_array_size(ids) != (size_t)g->n_ids) fail_msg("%s, %s: %d ids, want %zu", clip, key, g->n_ids, json_array_size(ids));
    for (int i = 0; i < g->n_ids; i++)
        if (g->ids[i] != json_integer_value(json_array_get(ids, (size_t)i))) fail_msg("%s, %s: id %d is %d", clip, key, i, (int)g->ids[i]);
}

static void check_reference(const steno_model *m)
{
    static struct given g;
    static const struct { const char *language; int prompt; } prompts[] = { { NULL, 5 }, { "auto", 5 }, { "de-DE", 2 }, { "de", 2 },
                                                                            { "German", 2 } };
    steno_session *s = session_of(m);
    for (size_t c = 0; c < sizeof clips / sizeof *clips; c++) {
        struct sound a = sound_of(clips[c]);
        for (int i = 0; i < 3; i++) {
            char name[48];
            for (size_t k = 0; k < sizeof prompts / sizeof *prompts; k++) {
                at_once(&g, s, a.pcm, a.n, lookaheads[i], prompts[k].language);
                ids_are(clips[c], &g, lookaheads[i], prompts[k].prompt);
            }
            snprintf(name, sizeof name, "%s.encoder.%d", clips[c], lookaheads[i]);
            rows_are_near(name, g.encoder, g.n_encoder, WIDTH, 2e-5f);
        }
        char name[48];
        snprintf(name, sizeof name, "%s.features", clips[c]); /* it ends with a frame of zeros */
        rows_are_near(name, g.features + (STACK - 1) * MELS, (int)(a.n / 160) + 1, MELS, 1e-4f);
        sound_free(&a);
    }
    steno_session_close(s);
}

static void test_rows_and_ids_of_the_reference(void **state)
{
    (void)state;
    check_reference(model);
}

static void test_a_nemo_file_gives_the_bits_of_the_folder(void **state)
{
    (void)state;
    static struct given g, is;
    steno_model *m = model_of(material("nemotron/nemotron-tiny.nemo").s);
    check_reference(m);
    struct sound a = sound_of("phrases");
    steno_session *s = session_of(m), *same = session_of(model);
    for (int i = 0; i < 3; i++) {
        at_once(&g, s, a.pcm, a.n, lookaheads[i], "de");
        at_once(&is, same, a.pcm, a.n, lookaheads[i], "de");
        assert_memory_equal(&g, &is, sizeof g);
    }
    steno_session_close(s);
    steno_session_close(same);
    steno_model_close(m);
    sound_free(&a);
}

/* ---- streams */

/* Audio that arrives in pieces. */
struct feed { const float *pcm; int64_t n, at, there; int is_done; };

static int64_t feed_read(void *user, float *pcm, int64_t n)
{
    struct feed *f = user;
    const int64_t left = f->there - f->at, some = n < left ? n : left;
    if (!some) return f->there < f->n ? STENO_SOURCE_WAIT : 0;
    memcpy(pcm, f->pcm + f->at, (size_t)some * sizeof *pcm);
    f->at += some;
    return some;
}

static void on_done(void *user, steno_session *s, int status)
{
    (void)user;
    if (status) fail_msg("%s", steno_last_error(s));
}

enum { STREAMS_MOST = 4 };
struct streams {
    steno_batch *batch;
    steno_session *s[STREAMS_MOST];
    struct feed feed[STREAMS_MOST];
    struct given given[STREAMS_MOST];
    int n;
};

static void streams_open(struct streams *t, const steno_model *m, int n)
{
    steno_batch_params p;
    steno_session_params sp;
    steno_error e;
    memset(t, 0, sizeof *t);
    t->n = n;
    steno_batch_params_init(&p);
    p.max_windows = n > 2 ? 2 : n; /* fewer lanes than streams: states are put aside */
    p.on_done = on_done;
    if (steno_batch_open(&t->batch, m, NULL, &p, &e)) fail_msg("%s", e.text);
    steno_session_params_init(&sp);
    sp.batch = t->batch;
    for (int i = 0; i < n; i++) assert_int_equal(steno_session_open(&t->s[i], m, NULL, &sp, &e), 0);
}

static void streams_close(struct streams *t)
{
    for (int i = 0; i < t->n; i++) steno_session_close(t->s[i]);
    steno_batch_close(t->batch);
}

static void stream_begin(struct streams *t, int i, const float *pcm, int64_t n, int lookahead)
{
    const steno_transcribe_params p = params_of(&t->given[i], lookahead, NULL);
    const steno_source src = { feed_read, NULL, &t->feed[i] };
    steno_request_params r;
    t->feed[i] = (struct feed){ .pcm = pcm, .n = n };
    steno_request_params_init(&r);
    r.transcribe = &p;
    assert_int_equal(steno_batch_submit(t->batch, t->s[i], &src, &r), 0);
}

/* The n-th stream gets (n + 1) * piece samples at a time. */
static void streams_run(struct streams *t, int64_t piece)
{
    for (int more = 1; more;) {
        more = 0;
        for (int i = 0; i < t->n; i++) {
            struct feed *f = &t->feed[i];
            f->there += piece * (i + 1);
            if (f->there >= f->n) f->there = f->n;
            else more = 1;
        }
        steno_batch_wake(t->batch);
        assert_true((more ? steno_batch_run_as(t->batch, STENO_RUN_POLL) : steno_batch_run(t->batch)) >= 0);
    }
    for (int i = 0; i < t->n; i++) take_segments(&t->given[i], t->s[i]);
}

static void is_same(const struct given *got, const struct given *is, const char *what)
{
    if (got->n_encoder != is->n_encoder) fail_msg("%s: %d rows, want %d", what, got->n_encoder, is->n_encoder);
    if (memcmp(got->features, is->features, sizeof is->features) != 0) fail_msg("%s: features differ", what);
    for (int i = 0; i < is->n_encoder; i++)
        if (memcmp(got->encoder + i * WIDTH, is->encoder + i * WIDTH, WIDTH * sizeof(float)) != 0) fail_msg("%s: row %d differs", what, i);
    if (got->n_ids != is->n_ids || memcmp(got->ids, is->ids, sizeof is->ids) != 0) fail_msg("%s: ids differ", what);
    if (got->n_words != is->n_words || memcmp(got->times, is->times, sizeof is->times) != 0) fail_msg("%s: times of words differ", what);
    assert_string_equal(got->text, is->text);
}

static void test_a_stream_in_pieces_equals_one_at_once(void **state)
{
    (void)state;
    static int64_t const pieces[] = { 160, 1, 161, 1279, 5000 };
    static struct given g;
    static struct streams t;
    struct sound a = sound_of("phrases");
    steno_session *s = session_of(model);
    streams_open(&t, model, 1);
    for (int i = 0; i < 3; i++) {
        at_once(&g, s, a.pcm, a.n, lookaheads[i], NULL);
        assert_true(g.n_ids > 0 && g.n_encoder == 33);
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
            if (pieces[k] == 1 && i) continue;
            stream_begin(&t, 0, a.pcm, a.n, lookaheads[i]);
            streams_run(&t, pieces[k]);
            is_same(&t.given[0], &g, "in pieces");
        }
    }
    streams_close(&t);
    steno_session_close(s);
    sound_free(&a);
}

/* Clips that end anywhere: within the first chunk, with a chunk, one sample after it. */
static void test_clips_of_any_length(void **state)
{
    (void)state;
    static int64_t const lengths[] = { 0, 1, 159, 160, 199, 200, 319, 320, 400, 1279, 1280, 1281, 1440, 1479, 1480, 1481, 2560, 2720, 2760,
                                       2761, 3999, 4040, 4041, 5280, 5320, 5321, 9160, 9161 };
    static struct given g;
    static struct streams t;
    struct sound a = sound_of("phrases");
    steno_session *s = session_of(model);
    streams_open(&t, model, 1);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int i = 0; i < 3; i++) {
            const int64_t n = lengths[k], frames = n / 160;
            at_once(&g, s, a.pcm, n, lookaheads[i], NULL);
            assert_int_equal(g.n_encoder, frames ? (frames + 6) / 8 + 1 : 0);
            stream_begin(&t, 0, a.pcm, n, lookaheads[i]);
            streams_run(&t, 160);
            is_same(&t.given[0], &g, "a short clip");
        }
    streams_close(&t);
    steno_session_close(s);
    sound_free(&a);
}

/* Streams of different look-ahead, in turn in the same sessions. */
static void test_streams_beside_each_other_equal_each_alone(void **state)
{
    (void)state;
    static struct given alone[4];
    static struct streams t;
    static int const ahead[] = { 1, 3, 0, 1 };
    static const char *const clip[] = { "phrases", "one", "phrases", "edge_2567" };
    struct sound a[4];
    steno_session *s = session_of(model);
    for (int i = 0; i < 4; i++) {
        a[i] = sound_of(clip[i]);
        at_once(&alone[i], s, a[i].pcm, a[i].n, ahead[i], NULL);
    }
    for (int n = 2; n <= 4; n += 2) {
        streams_open(&t, model, n);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < n; i++) {
                const int k = round ? n - 1 - i : i;
                stream_begin(&t, i, a[k].pcm, a[k].n, ahead[k]);
            }
            streams_run(&t, 700);
            for (int i = 0; i < n; i++) is_same(&t.given[i], &alone[round ? n - 1 - i : i], "beside others");
        }
        streams_close(&t);
    }
    for (int i = 0; i < 4; i++) sound_free(&a[i]);
    steno_session_close(s);
}

/* ---- choices */

static void is_refused(steno_session *s, const steno_transcribe_params *p, const char *name)
{
    static const float pcm[1600];
    assert_int_equal(steno_transcribe(s, pcm, 1600, p), STENO_EARG);
    if (!strstr(steno_last_error(s), name)) fail_msg("%s: %s", name, steno_last_error(s));
}

static void test_what_the_model_does_not_have_is_refused(void **state)
{
    (void)state;
    static struct given g;
    static const struct { int lookahead; const char *language, *name; } no[] = {
        { 2, NULL, "lookahead is 2, and this model has 0, 1, 3" }, { 64, NULL, "lookahead" }, { -3, NULL, "lookahead" },
        { -1, "fr", "this model has prompts for en-US, de-DE" }, { -1, "d", "prompts for" }, { -1, "de-AT", NULL },
        { -1, "en-US     ", "prompts for" }, /* a space is no letter that ends a name */
    };
    steno_session *s = session_of(model);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        const steno_transcribe_params p = params_of(&g, no[i].lookahead, no[i].language);
        static const float pcm[1600];
        if (no[i].name) is_refused(s, &p, no[i].name);
        else assert_int_equal(steno_transcribe(s, pcm, 1600, &p), 0);
    }
    steno_transcribe_params p = params_of(&g, -1, NULL);
    p.beam_size = 4;
    is_refused(s, &p, "beam_size");
    steno_session_close(s);
}

static void test_defaults_of_the_lookahead(void **state)
{
    (void)state;
    static struct given most, is[2];
    struct sound a = sound_of("one");
    steno_session *s = session_of(model);
    at_once(&most, s, a.pcm, a.n, 3, NULL);
    at_once(&is[0], s, a.pcm, a.n, STENO_LOOKAHEAD_MOST, NULL);
    at_once(&is[1], s, a.pcm, a.n, STENO_LOOKAHEAD_USUAL, NULL);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(is[i].encoder, most.encoder, sizeof most.encoder);
        assert_memory_equal(is[i].ids, most.ids, sizeof most.ids);
    }
    steno_session_close(s);
    sound_free(&a);
}

/* The model's folder with another value in one of its two files. */
static void is_not_opened(const char *file, const char *part, const char *key, json_t *value, const char *why)
{
    const struct folder d = hf_folder();
    const struct folder_file at = folder_at(&d, file);
    json_t *all = json_open(at.path), *of = *part ? json_object_get(all, part) : all;
    steno_model *m;
    steno_error e = { 0 };
    assert_int_equal(json_object_set_new(of, key, value), 0);
    char *text = json_dumps(all, 0);
    unlink(at.path);
    folder_text(&d, file, text);
    if (!steno_model_open(&m, d.path, NULL, &e)) fail_msg("%s: opened", key);
    if (!strstr(e.text, why)) fail_msg("%s: %s", key, e.text);
    free(text);
    json_decref(all);
    folder_remove(&d);
}

static void test_settings_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    static const char encoder[] = "encoder_config", config[] = "config.json", own[] = "processor_config.json";
    static const char window[] = "sliding_window", ahead[] = "default_num_lookahead_tokens", list[] = "supported_num_lookahead_tokens";
    is_not_opened(config, encoder, window, json_integer(0), window);
    is_not_opened(config, encoder, window, json_string("x"), window);
    is_not_opened(config, encoder, window, json_integer(2), "look-ahead of 3 rows");
    is_not_opened(config, encoder, ahead, json_integer(-1), ahead);
    is_not_opened(config, encoder, ahead, json_integer(2), "look-ahead of 2 rows");
    is_not_opened(config, encoder, "conv_kernel_size", json_integer(1), "1 taps");
    is_not_opened(config, "", "num_prompts", json_integer(7), "prompt_kernel.0.weight");
    is_not_opened(config, "", "default_prompt_id", json_integer(8), "default_prompt_id");
    is_not_opened(own, "", list, json_pack("[i, i]", 3, -1), list);
    is_not_opened(own, "", "prompt_dictionary", json_pack("{s: i}", "de", 8), "prompt_dictionary.de");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_ids_of_the_reference),
        cmocka_unit_test(test_a_nemo_file_gives_the_bits_of_the_folder),
        cmocka_unit_test(test_a_stream_in_pieces_equals_one_at_once),
        cmocka_unit_test(test_clips_of_any_length),
        cmocka_unit_test(test_streams_beside_each_other_equal_each_alone),
        cmocka_unit_test(test_what_the_model_does_not_have_is_refused),
        cmocka_unit_test(test_defaults_of_the_lookahead),
        cmocka_unit_test(test_settings_that_do_not_fit_are_refused_by_name),
    };
    if (!is_there(material("nemotron/README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
