/* steno tests: what the library allocates. SPDX-License-Identifier: MIT
 *
 * Under sanitizers everything here but the open and close cycles is skipped. The public calls without memory: test_nomem.c. */
#include "heap.h"
#include "parakeet_model.h"
#include "audio/mel_stream.h"
#include "shipped.h"
#include "spell.h"
#include "load/vocab.h"
#include "load/weights.h"
#include "unit/torch_file.h"

static const char qwen_path[] = "tests/data/qwen3_asr";

/* ---- known before use ---- */

static void assert_within(const char *what, int64_t said, int64_t took_bytes, double part)
{
    if (fabs((double)said - (double)took_bytes) > part * (double)took_bytes)
        fail_msg("%s: %lld bytes reported, %lld taken", what, (long long)said, (long long)took_bytes);
}

static void test_session_memory_is_known_before_it_is_taken(void **state)
{
    (void)state;
    need_counting();
    static const int threads[] = { 1, 3 }, lanes[] = { 1, 5, 32 };
    steno_model *m[] = { shipped_open(), NULL };
    assert_int_equal(steno_model_open_random(&m[1], "tiny", "q4_0", 1, NULL, NULL), 0);
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < 2; t++)
            for (int l = 0; l < 3; l++) {
                steno_team *team;
                steno_session *s;
                steno_session_params p;
                assert_int_equal(steno_team_open(&team, threads[t], NULL), 0);
                steno_session_params_init(&p);
                p.max_lanes = lanes[l];
                const int64_t said = steno_session_memory(m[k], team, &p);
                count_begin(-1);
                const int rc = steno_session_open(&s, m[k], team, &p, NULL);
                const struct heap h = count_end();
                assert_int_equal(rc, 0);
                assert_within("session", said, h.bytes, 0.05);
                steno_session_close(s);
                steno_team_close(team);
            }
    steno_model_close(m[0]);
    steno_model_close(m[1]);
}

static void test_memory_of_an_audio_language_model_counts_its_draft_model(void **state)
{
    (void)state;
    need_counting();
    steno_model *m;
    steno_session *s;
    steno_session_params p;
    steno_session_params_init(&p);
    assert_int_equal(steno_model_open(&m, qwen_path, NULL, NULL), 0);
    p.draft_model = m;
    count_begin(-1);
    assert_int_equal(steno_session_open(&s, m, NULL, &p, NULL), 0);
    assert_within("with a draft model", steno_session_memory(m, NULL, &p), count_end().bytes, 0.05);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_model_memory_is_reported(void **state)
{
    (void)state;
    need_counting();
    static const char *const type[] = { "f32", "f16", "q8_0", "q4_0" };
    for (int i = 0; i < 5; i++) {
        steno_model *m;
        steno_model_info info = { .size = sizeof info };
        count_begin(-1);
        const int rc = i < 4 ? steno_model_open_random(&m, "tiny", type[i], 1, NULL, NULL)
                             : steno_model_open(&m, shipped_model, NULL, NULL);
        const struct heap h = count_end();
        assert_int_equal(rc, 0);
        assert_int_equal(steno_model_info_get(m, &info), 0);
        assert_within(i < 4 ? type[i] : "shipped", info.weight_bytes, h.bytes, 0.05);
        steno_model_close(m);
    }
}

/* ---- nothing between replays ---- */

struct watch { int64_t base; int in_window, asked, bad; };

static int watch_window(void *user, int64_t at_ms)
{
    (void)at_ms;
    struct watch *w = user;
    w->base = heap.calls;
    w->in_window = 1;
    return 1;
}

static void watch_segment(void *user, const steno_segment *seg)
{
    (void)seg;
    ((struct watch *)user)->in_window = 0;
}

static int watch_step(void *user)
{
    struct watch *w = user;
    w->asked++;
    w->bad += w->in_window && heap.calls != w->base;
    return 0;
}

static void test_nothing_is_allocated_between_the_first_and_the_last_replay_of_a_window(void **state)
{
    (void)state;
    need_counting();
    const struct audio a = demo_audio(0, 0, 10);
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    struct watch w = { 0 };
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0; /* judging an attempt takes memory for its text, */
    p.guards = STENO_GUARDS_OFF;             /* and its language is detected behind that */
    p.user = &w;
    p.on_window = watch_window;
    p.on_segment = watch_segment;
    p.should_abort = watch_step;
    count_begin(-1);
    const int rc = steno_transcribe(s, a.pcm, a.n, &p);
    count_end();
    assert_int_equal(rc, 0);
    assert_int_equal(w.bad, 0);
    assert_true(w.asked > 100);
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
}

/* Calls of one kind after the other, by themselves and in a batch: the first may grow what the session keeps, the others may not. */
static void assert_calls_keep_nothing(const char *what, const steno_model *m, const struct audio *a, const steno_transcribe_params *p)
{
    steno_batch *b;
    steno_session *alone = session_new(m, NULL, 5), *beside = session_in_batch(&b, m, 2, 5);
    for (int in_batch = 0; in_batch < 2; in_batch++) {
        steno_session *s = in_batch ? beside : alone;
        for (int i = 0; i < 4; i++) {
            struct pcm pcm = { .x = a->pcm, .n = a->n };
            const steno_source src = pcm_source(&pcm);
            if (i == 1) count_begin(-1);
            if (!in_batch) assert_int_equal(steno_transcribe(s, a->pcm, a->n, p), 0);
            else assert_int_equal(steno_batch_add(b, s, &src, p), 0);
            if (in_batch) assert_int_equal(steno_batch_run(b), 0);
        }
        const struct heap h = count_end();
        if (h.bytes) fail_msg("%s%s: %lld bytes more after three calls", what, in_batch ? " in a batch" : "", (long long)h.bytes);
    }
    steno_session_close(alone);
    steno_session_close(beside);
    steno_batch_close(b);
}

static void test_transcribing_again_takes_no_more_memory(void **state)
{
    (void)state;
    need_counting();
    const struct audio a = demo_audio(0, 0, 2);
    steno_model *m = shipped_open();
    steno_transcribe_params p = params_new();
    assert_calls_keep_nothing("greedy", m, &a, &p);
    p.word_timestamps = p.token_timestamps = 1;
    assert_calls_keep_nothing("words", m, &a, &p);
    p = params_new();
    p.beam_size = p.best_of = 5;
    p.hotwords = "seven\nnine";
    p.initial_prompt = "zero one";
    assert_calls_keep_nothing("beams, hot words and a prompt", m, &a, &p);
    p = params_new();
    p.grammar = "root ::= ([a-z .])*";
    p.suppress_regex = "[A-Z]+";
    assert_calls_keep_nothing("a grammar and an expression", m, &a, &p);
    p = params_new();
    p.chunk_ms = 3000;
    p.condition_on_previous_text = 0;
    p.keep_audio_features = 1;
    assert_calls_keep_nothing("pieces and features", m, &a, &p);
    steno_model_close(m);
    assert_int_equal(steno_model_open(&m, qwen_path, NULL, NULL), 0);
    steno_transcribe_params_init(&p);
    p.hotwords = "seven\nnine";
    assert_calls_keep_nothing("an audio language model", m, &a, &p);
    steno_model_close(m);
    free(a.pcm);
}

struct hum { int64_t n, at; };

static int64_t hum_read(void *user, float *pcm, int64_t n)
{
    struct hum *h = user;
    const int64_t take = h->n - h->at < n ? h->n - h->at : n;
    for (int64_t i = 0; i < take; i++) pcm[i] = (float)((h->at + i) % 160 - 80) * 1e-3f;
    h->at += take;
    return take;
}

static int hum_rewind(void *user)
{
    ((struct hum *)user)->at = 0;
    return 0;
}

static int64_t silence_read(void *user, float *pcm, int64_t n)
{
    n = hum_read(user, pcm, n);
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    return n;
}

/* The peak that a call on that many seconds of a hum holds beside its session. */
static int64_t most_of_hum(const steno_model *m, int64_t seconds, const steno_transcribe_params *p)
{
    struct hum hum = { seconds * RATE, 0 };
    const steno_source src = { hum_read, hum_rewind, &hum };
    steno_session *s = session_new(m, NULL, 1);
    count_begin(-1);
    const int rc = steno_transcribe_source(s, &src, p);
    const int64_t most = count_end().most;
    assert_int_equal(rc, 0);
    steno_session_close(s);
    return most;
}

static void test_memory_does_not_grow_with_the_length_of_a_source(void **state)
{
    (void)state;
    need_counting();
    static const int64_t seconds[] = { 10, 10, 600, 3600 }; /* the first only leaves malloc in a steady state: it rounds sizes */
    steno_model *m = shipped_open();
    int64_t most[4];
    for (int i = 0; i < 4; i++) {
        steno_transcribe_params p = params_new();
        p.offset_ms = (seconds[i] - 10) * 1000;
        p.sample_len = 3;
        most[i] = most_of_hum(m, seconds[i], &p);
    }
    assert_int_equal(most[2], most[1]);
    assert_int_equal(most[3], most[1]);
    steno_model_close(m);
}

/* Voice activity keeps spans, and there are none in silence; tagged texts are left out up to the last seconds. */
static void test_memory_does_not_grow_with_the_length_for_models_that_read_audio_once(void **state)
{
    (void)state;
    need_counting();
    static const int64_t seconds[] = { 60, 60, 600, 1800 }; /* the first as above */
    steno_model *tags = funasr_open(ctc_folder, NULL), *tdt = funasr_open(pk_tdt_folder, NULL), *vad = funasr_open(vad_folder, NULL);
    steno_model *chunks = funasr_open(pk_stream_folder, NULL), *lm;
    steno_session *s = session_new(vad, NULL, 1);
    int64_t tagged[4], pieces[4], streamed[4], heard[4], written[4];
    assert_int_equal(steno_model_open(&lm, qwen_path, NULL, NULL), 0);
    for (int i = 0; i < 4; i++) {
        steno_transcribe_params p;
        struct hum silence = { seconds[i] * RATE, 0 };
        const steno_source src = { silence_read, NULL, &silence };
        steno_transcribe_params_init(&p);
        p.offset_ms = (seconds[i] - 10) * 1000;
        tagged[i] = most_of_hum(tags, seconds[i], &p);
        pieces[i] = most_of_hum(tdt, seconds[i], &p);
        streamed[i] = most_of_hum(chunks, seconds[i], &p);
        written[i] = most_of_hum(lm, seconds[i], &p);
        count_begin(-1);
        assert_int_equal(steno_find_speech(s, &src, NULL), 0);
        heard[i] = count_end().most;
        assert_int_equal(steno_span_count(s), 0);
    }
    for (int i = 2; i < 4; i++) {
        assert_int_equal(tagged[i], tagged[1]);
        assert_int_equal(pieces[i], pieces[1]);
        assert_int_equal(streamed[i], streamed[1]);
        assert_int_equal(written[i], written[1]);
        assert_int_equal(heard[i], heard[1]);
    }
    steno_session_close(s);
    steno_model_close(tags);
    steno_model_close(tdt);
    steno_model_close(chunks);
    steno_model_close(vad);
    steno_model_close(lm);
}

/* Nor, after the first request, does a search: what it needs is the session's. */
static void test_beams_take_no_memory_of_a_request(void **state)
{
    (void)state;
    need_counting();
    steno_model *m = funasr_open(ctc_folder, NULL);
    steno_session *s = session_new(m, NULL, 1);
    int64_t most[4];
    for (int i = 0; i < 4; i++) {
        struct hum hum = { 10 * RATE, 0 };
        const steno_source src = { hum_read, hum_rewind, &hum };
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.beam_size = i % 2 ? 32 : 0;
        count_begin(-1);
        assert_int_equal(steno_transcribe_source(s, &src, &p), 0);
        most[i] = count_end().most;
    }
    assert_true(most[3] <= most[2] + 4096); /* texts differ */
    steno_session_close(s);
    steno_model_close(m);
}

static int stop_at_once(void *user, int64_t at_ms)
{
    (void)user;
    (void)at_ms;
    return 0;
}

/* A level of each frame, in a buffer that doubles, and a place for each piece. */
static void test_cutting_where_it_is_quiet_takes_a_few_bytes_a_frame(void **state)
{
    (void)state;
    need_counting();
    enum { MINUTES = 60, FRAMES = MINUTES * 60 * 100 };
    steno_model *m = shipped_open();
    steno_transcribe_params p = params_new();
    p.chunk_ms = 30000;
    p.condition_on_previous_text = 0;
    p.on_window = stop_at_once;
    const int64_t few = most_of_hum(m, 60, &p), grown = most_of_hum(m, MINUTES * 60, &p) - few;
    if (grown < FRAMES * 3 || grown > FRAMES * 8 + (512 << 10)) fail_msg("%lld bytes for %d frames", (long long)grown, FRAMES);
    steno_model_close(m);
}

/* ---- when there is none ---- */

/* The index of a PyTorch file of 600 tensors, from the end of its archive to the table of names. */
static void test_an_index_is_read_whole_or_not_at_all(void **state)
{
    (void)state;
    need_counting();
    struct buf pickle = { 0 }, archive = { 0 };
    put_begin(&pickle);
    buf_str(&pickle, "}(");
    for (int i = 0; i < 600; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        put_tensor(&pickle, &(struct put_tensor){ .name = name, .storage = "FloatStorage", .key = "0", .n_stored = 4, .n_size = 1,
                                                  .n_stride = 1, .size = { 4 }, .stride = { 1 } });
    }
    buf_str(&pickle, "u.");
    const struct put_entry t[] = { { .name = "m/data.pkl", .data = pickle.p, .n = pickle.len },
                                   { .name = "m/data/0", .data = "0123456789abcdef", .n = 16 } };
    put_zip(&archive, t, 2, NULL);
    struct file f;
    file_from_memory(&f, "m.pt", archive.p, archive.len);
    int64_t n = 0;
    for (int rc = -1; rc; n++) {
        struct weights w;
        steno_error e = { 0 };
        count_begin(n);
        rc = weights_open(&w, &f, &e);
        if (!rc) assert_int_equal(w.n_tensors, 600);
        if (!rc) weights_close(&w);
        const struct heap h = count_end();
        if (rc && (rc != STENO_ENOMEM || !*e.text)) fail_msg("allocation %lld fails: status %d \"%s\"", (long long)n, rc, e.text);
        if (h.bytes) fail_msg("allocation %lld fails: %lld bytes stay behind", (long long)n, (long long)h.bytes);
        if (!rc && h.calls > n) rc = -1; /* sorting can do without memory of its own */
        assert_true(h.most < 16 * (int64_t)archive.len);
        assert_true(n < 1000);
    }
    assert_true(n > 5);
    buf_free(&pickle);
    buf_free(&archive);
}

/* A folder with everything in it that is read beside weights. */
static struct folder full_folder(void)
{
    const struct bytes b = random_bytes(&small_dims, DT_F16, 3);
    const struct folder d = folder_new();
    struct weights w;
    struct file f;
    file_from_memory(&f, "small", b.p, b.n);
    assert_int_equal(weights_open(&w, &f, NULL), 0);
    spell_model(&d, &w, AS_STORED, 2);
    folder_text(&d, "config.yaml", "frontend_conf:\n  lfr_m: 7\n  list: [1, 0.5, 'a text that is longer than others', {b: null}]\n");
    folder_text(&d, "added_tokens.json", "{\"<|startoftranscript|>\": 1000}");
    folder_text(&d, "gpt2.tiktoken", "IQ== 0\nIQ== 1\n");
    folder_text(&d, "tokens.json", "[\"a\", \"b\"]");
    folder_text(&d, "x.model", "\x0a\x07\x0a\x05piece");
    weights_close(&w);
    free(b.p);
    return d;
}

/* Open the folder, and as vocabulary one of its other files. */
static int open_full(const struct folder *d, const char *vocab, steno_error *e)
{
    struct weights w;
    struct model_source p;
    int rc = model_source_open(&p, d->path, NULL, e);
    if (!rc) rc = weights_open_source(&w, &p, e);
    if (!rc) {
        rc = weights_read_vocab(&w, vocab ? folder_at(d, vocab).path : NULL, e);
        weights_close(&w);
    }
    model_source_close(&p);
    return rc;
}

static void test_every_allocation_of_opening_a_folder_may_fail(void **state)
{
    (void)state;
    need_counting();
    static const char *const vocab[] = { NULL, "gpt2.tiktoken", "tokens.json", "x.model", "model-00001-of-00002.safetensors" };
    const struct folder d = full_folder();
    for (size_t k = 0; k < sizeof vocab / sizeof *vocab; k++) {
        int64_t n = 0, done_without = 0;
        steno_error e = { 0 };
        if (open_full(&d, vocab[k], &e)) fail_msg("%s", e.text);
        for (int rc = -1; rc; n++) {
            e = (steno_error){ 0 };
            count_begin(n);
            rc = open_full(&d, vocab[k], &e);
            const struct heap h = count_end();
            if (rc && rc != STENO_ENOMEM) fail_msg("allocation %lld fails: status %d, %s", (long long)n, rc, e.text);
            if (h.bytes) fail_msg("allocation %lld fails: %lld bytes stay behind", (long long)n, (long long)h.bytes);
            if (!rc && h.calls > n) rc = -1, done_without++; /* of sorting, say */
            assert_true(n < 5000);
        }
        print_message("%lld allocations, %lld of them not needed\n", (long long)n - 1, (long long)done_without);
        assert_true(n > 10 && done_without < 5);
    }
    folder_remove(&d);
}

/* Counting cores may do without memory; starting threads may not. */
static void test_a_team_that_cannot_be_had_leaves_nothing_behind(void **state)
{
    (void)state;
    need_counting();
    int failed = 0;
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0); /* the C library keeps the memory of threads for later ones */
    steno_team_close(team);
    for (int64_t n = 0; n < 100; n++) {
        count_begin(n);
        const int rc = steno_team_open(&team, 3, NULL);
        if (rc) assert_null(team);
        steno_team_close(team);
        const struct heap h = count_end();
        assert_true(rc == 0 || rc == STENO_ENOMEM);
        assert_int_equal(h.bytes, 0);
        failed += rc != 0;
        if (h.calls <= n) break;
    }
    assert_true(failed > 0);
}

static void test_a_thousand_open_and_close_cycles_leave_nothing_behind(void **state)
{
    (void)state;
    const struct bytes file = random_bytes(&small_dims, DT_F16, 3);
    const int cycles = SANITIZED ? 20 : 1000;
    count_begin(-1);
    for (int i = 0; i < cycles; i++) {
        steno_model *m = bytes_open(file, NULL);
        steno_session *s = session_new(m, NULL, 2);
        steno_session_close(s);
        steno_model_close(m);
    }
    assert_int_equal(count_end().bytes, 0);
    free(file.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_memory_is_known_before_it_is_taken),
        cmocka_unit_test(test_memory_of_an_audio_language_model_counts_its_draft_model),
        cmocka_unit_test(test_model_memory_is_reported),
        cmocka_unit_test(test_nothing_is_allocated_between_the_first_and_the_last_replay_of_a_window),
        cmocka_unit_test(test_transcribing_again_takes_no_more_memory),
        cmocka_unit_test(test_memory_does_not_grow_with_the_length_of_a_source),
        cmocka_unit_test(test_memory_does_not_grow_with_the_length_for_models_that_read_audio_once),
        cmocka_unit_test(test_beams_take_no_memory_of_a_request),
        cmocka_unit_test(test_cutting_where_it_is_quiet_takes_a_few_bytes_a_frame),
        cmocka_unit_test(test_an_index_is_read_whole_or_not_at_all),
        cmocka_unit_test(test_every_allocation_of_opening_a_folder_may_fail),
        cmocka_unit_test(test_a_team_that_cannot_be_had_leaves_nothing_behind),
        cmocka_unit_test(test_a_thousand_open_and_close_cycles_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
