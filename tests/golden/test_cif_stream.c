/* steno tests: streaming Paraformer against the reference. SPDX-License-Identifier: MIT
 *
 * Chunks of the collection's recordings: what each makes fire, what is left of the sum behind it, ids and text, for every chunk size and
 * look-back of the goldens, from every form of the files, whatever pieces the audio comes in. */
#include "batch.h"
#include "online_dir.h"
#include "internal.h"
#include "task/cif/stream_session.h"

static double const margin_least = 0.02; /* of logits; ours differ by less than 1e-3 */
enum { CHUNKS = 64 };

static struct golden_path folder;

static int group_begin(void **state)
{
    (void)state;
    folder = online_dir("models/paraformer/pt/model.pt", "models/paraformer-online/pt/config.yaml");
    steno_error e;
    golden = json_open(funasr_file("%s", "golden/paraformer-online/golden.json").s);
    if (steno_model_open(&model, folder.s, NULL, &e)) fail_msg("%s", e.text);
    return 0;
}

static int group_end(void **state)
{
    online_dir_remove(folder);
    return funasr_close(state);
}

/* ---- one recording */

static const struct setting { const char *name, *chunk; int enc, dec; } settings[] = {
    { "c0_10_5_lb0", "0,10,5", 0, 0 },   { "c0_10_5_lb4_1", "0,10,5", 4, 1 },   { "c0_8_4_lb4_1", "0,8,4", 4, 1 },
    { "c5_10_5_lb4_1", "5,10,5", 4, 1 }, { "c0_10_5_lbinf", "0,10,5", -1, -1 },
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

/* What each chunk left behind. */
struct seen {
    const steno_session *s;
    struct { int fires, rows; double carry; } chunk[CHUNKS];
    int n;
};

static void look(struct seen *k)
{
    const struct stream_session *v = k->s->part;
    assert_true(k->n < CHUNKS);
    k->chunk[k->n].fires = v->n_tokens;
    k->chunk[k->n].rows = v->n_rows;
    k->chunk[k->n++].carry = (double)v->rest;
}

static int on_window(void *user, int64_t at_ms)
{
    struct seen *k = user;
    if (at_ms) look(k);
    return 1;
}

static steno_transcribe_params params_of(const struct setting *t)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.chunk_size = t->chunk;
    p.encoder_chunk_look_back = t->enc;
    p.decoder_chunk_look_back = t->dec;
    p.word_timestamps = 1;
    return p;
}

static void run(steno_session *s, const char *file, const struct setting *t, struct seen *seen)
{
    struct sound a;
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", file).s), 0);
    steno_transcribe_params p = params_of(t);
    *seen = (struct seen){ .s = s };
    p.on_window = on_window;
    p.user = seen;
    if (steno_transcribe(s, a.pcm, (int64_t)a.n, &p)) fail_msg("%s: %s", file, steno_last_error(s));
    look(seen);
    sound_free(&a);
}

/* Every chunk's rows, tokens and rest; ids of all of them that are text, and what those are as one text. */
static void compare(const steno_session *s, const char *file, const struct seen *seen, json_t *want)
{
    json_t *chunks = json_object_get(want, "chunks");
    int32_t ids[CHUNKS * 8], n = 0, ours = 0;
    if ((size_t)seen->n != json_array_size(chunks)) fail_msg("%s: %d chunks, want %zu", file, seen->n, json_array_size(chunks));
    for (int i = 0; i < seen->n; i++) {
        json_t *c = json_array_get(chunks, (size_t)i), *id = json_object_get(c, "ids");
        assert_int_equal(seen->chunk[i].rows, json_integer_value(json_object_get(c, "rows")));
        assert_int_equal(seen->chunk[i].fires, json_integer_value(json_object_get(c, "fires")));
        const double carry = json_number_value(json_object_get(c, "carry"));
        if (fabs(seen->chunk[i].carry - carry) > 1e-4)
            fail_msg("%s, chunk %d: %.7g is left, want %.7g", file, i, seen->chunk[i].carry, carry);
        for (size_t k = 0; k < json_array_size(id); k++) {
            const int32_t v = (int32_t)json_integer_value(json_array_get(id, k));
            if (v > 2) ids[n++] = v;
        }
    }
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        if (g.n_tokens < 1 || g.n_words < 1 || !*g.text) fail_msg("%s: %d tokens, %d words, \"%s\"", file, g.n_tokens, g.n_words, g.text);
        assert_string_equal(g.word_source, "cif");
        for (int k = 0; k < g.n_tokens; k++, ours++)
            if (ours >= n || g.tokens[k] != ids[ours]) fail_msg("%s: token %d is %d", file, ours, (int)g.tokens[k]);
    }
    struct buf text = { 0 };
    model->family->ids_to_bytes(model, ids + ours, n - ours, &text); /* pieces of a word that never ended have no segment */
    assert_int_equal(text.len, 0);
    model->family->ids_to_bytes(model, ids, n, &text);
    assert_string_equal(steno_text(s), text.p ? text.p : "");
    buf_free(&text);
}

/* @return files whose margins say which ids there are */
static int compare_all(steno_model *m, const struct setting *t)
{
    const char *file;
    json_t *of;
    steno_session *s;
    int n = 0;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(golden, "files"), file, of) {
        json_t *want = json_object_get(json_object_get(of, "results"), t->name), *c;
        struct seen seen;
        size_t i;
        int sure = 1;
        json_array_foreach(json_object_get(want, "chunks"), i, c) {
            json_t *margin = json_object_get(c, "margin");
            sure &= !margin || json_number_value(margin) >= margin_least;
        }
        if (!sure) continue;
        run(s, file, t, &seen);
        compare(s, file, &seen, want);
        n++;
    }
    steno_session_close(s);
    return n;
}

static void test_every_chunk_is_the_references_for_all_sizes_and_look_backs(void **state)
{
    (void)state;
    for (int i = 0; i < N_SETTINGS; i++) assert_true(compare_all(model, &settings[i]) >= 14);
}

static void test_every_chunk_is_the_references_from_safetensors(void **state)
{
    (void)state;
    const struct golden_path dir = online_dir("models/paraformer/safetensors/model.safetensors",
                                              "models/paraformer-online/safetensors/config.json");
    steno_model *m;
    steno_error e;
    if (steno_model_open(&m, dir.s, NULL, &e)) fail_msg("%s", e.text);
    assert_true(compare_all(m, &settings[1]) >= 14);
    steno_model_close(m);
    online_dir_remove(dir);
}

/* Texts of all recordings by the usual chunks, one behind the other. */
static void texts(steno_model *m, struct buf *to)
{
    const char *file;
    json_t *of;
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(json_object_get(golden, "files"), file, of) {
        struct seen seen;
        run(s, file, &settings[1], &seen);
        buf_fmt(to, "%s\n", steno_text(s));
    }
    steno_session_close(s);
}

static int put(void *user, const void *data, size_t n)
{
    return fwrite(data, 1, n, user) != n;
}

static void test_texts_are_the_same_from_gguf_which_marks_streaming_models(void **state)
{
    (void)state;
    static const char *const types[] = { "f32", "f16", "q8_0" };
    struct buf want = { 0 }, got = { 0 };
    char path[PATH_MAX_LEN];
    steno_error e;
    snprintf(path, sizeof path, "%.200s/x.gguf", folder.s);
    texts(model, &want);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        steno_model *m;
        FILE *f = fopen(path, "wb");
        steno_convert_params p;
        steno_convert_params_init(&p);
        p.type = types[i];
        p.write = put;
        p.user = f;
        assert_non_null(f);
        if (steno_model_convert(folder.s, &p, &e)) fail_msg("%s", e.text);
        assert_int_equal(fclose(f), 0);
        if (steno_model_open(&m, path, NULL, &e)) fail_msg("%s", e.text);
        assert_string_equal(m->family->name, "paraformer-live");
        buf_clear(&got);
        texts(m, &got);
        assert_string_equal(got.p, want.p);
        steno_model_close(m);
    }
    buf_free(&want);
    buf_free(&got);
}

/* ---- texts of whole recordings */

/* A recording; "cutN": N samples of one, from its 20000th on. */
static int part_read(struct sound *a, const char *name, int64_t *at, int64_t *n)
{
    const int is_cut = !strncmp(name, "cut", 3);
    const int rc = sound_read(a, funasr_file("audio/%s.wav", is_cut ? "zh_synth_long" : name).s);
    *at = is_cut ? 20000 : 0;
    *n = is_cut ? atoi(name + 3) : (int64_t)a->n;
    return rc;
}

static void compare_text(steno_session *s, const char *name, json_t *want)
{
    const struct setting t = { name, json_string_value(json_object_get(want, "chunk")),
                               (int)json_integer_value(json_object_get(want, "encoder")),
                               (int)json_integer_value(json_object_get(want, "decoder")) };
    const char *text = json_string_value(json_object_get(want, "text"));
    const steno_transcribe_params p = params_of(&t);
    struct sound a;
    int64_t at, n, n_tokens = 0;
    assert_int_equal(part_read(&a, name, &at, &n), 0);
    if (steno_transcribe(s, a.pcm + at, n, &p)) fail_msg("%s: %s", name, steno_last_error(s));
    if (strcmp(steno_text(s), text) != 0)
        fail_msg("%s, chunks %s, looking back on %d and %d: \"%s\", want \"%s\"", name, t.chunk, t.enc, t.dec, steno_text(s), text);
    double before = 0;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        assert_true(g.start >= before && g.end >= g.start && g.end <= (double)n / 16000 + 0.06);
        before = g.end;
        n_tokens += g.n_tokens;
    }
    assert_true(n_tokens <= (int64_t)json_array_size(json_object_get(want, "ids")));
    sound_free(&a);
}

/* The reference's texts of whole recordings, by chunks of all sizes, and of pieces that end wherever a chunk may. */
static void test_texts_are_the_references_for_more_sizes_and_every_end(void **state)
{
    (void)state;
    json_t *all = json_open("tests/data/online/texts.json"), *of, *want;
    const char *name;
    size_t i;
    int n = 0;
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    json_object_foreach(all, name, of) json_array_foreach(of, i, want) {
        if (json_number_value(json_object_get(want, "margin")) < margin_least) continue;
        compare_text(s, name, want);
        n++;
    }
    assert_true(n >= 200);
    steno_session_close(s);
    json_decref(all);
}

/* ---- pieces */

/* A source that gives at most `step` samples (0: anything up to 3000), and has nothing every other time. */
struct drip { const float *pcm; int64_t n, at, step; uint32_t seed; int waits; };

static int64_t drip_read(void *user, float *pcm, int64_t n)
{
    struct drip *d = user;
    d->waits = !d->waits;
    if (d->waits) return STENO_SOURCE_WAIT;
    d->seed = d->seed * 1664525u + 1013904223u;
    int64_t give = d->step ? d->step : 1 + (d->seed >> 8) % 3000;
    if (give > n) give = n;
    if (give > d->n - d->at) give = d->n - d->at;
    memcpy(pcm, d->pcm + d->at, (size_t)give * sizeof *pcm);
    d->at += give;
    return give;
}

/* Everything that results say. */
static void told(const steno_session *s, struct buf *to)
{
    buf_fmt(to, "%s|", steno_text(s));
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        buf_fmt(to, "%.17g %.17g %.17g %s", g.start, g.end, g.avg_logprob, g.text);
        for (int k = 0; k < g.n_words; k++) {
            steno_word w = { .size = sizeof w };
            assert_int_equal(steno_word_get(s, i, k, &w), 0);
            buf_fmt(to, " %.17g %.17g %.17g %s", w.start, w.end, w.probability, w.text);
        }
    }
}

static void count_segments(void *user, const steno_segment *g)
{
    (void)g;
    ++*(int *)user;
}

/* Streams of several settings share runs of one batch, in pieces of all kinds, and each gives what it gives alone. */
static void check_neighbours(int windows)
{
    enum { STREAMS = 5 };
    static const int64_t steps[STREAMS] = { 1, 160, 9600, 0, INT64_MAX };
    static const char *const files[STREAMS] = { "en_lucas", "zh_synth_long", "zh_synth_long", "en_bgm", "en_lucas" };
    struct sound a[STREAMS];
    struct drip d[STREAMS];
    struct buf want[STREAMS] = { 0 };
    steno_session *alone, *s[STREAMS];
    steno_transcribe_params p[STREAMS];
    steno_batch *b;
    int n_told[STREAMS] = { 0 };
    assert_int_equal(steno_session_open(&alone, model, NULL, NULL, NULL), 0);
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_windows = windows;
    assert_int_equal(steno_batch_open(&b, model, NULL, &bp, NULL), 0);
    for (int i = 0; i < STREAMS; i++) {
        assert_int_equal(sound_read(&a[i], funasr_file("audio/%s.wav", files[i]).s), 0);
        p[i] = params_of(&settings[i % N_SETTINGS]);
        assert_int_equal(steno_transcribe(alone, a[i].pcm, (int64_t)a[i].n, &p[i]), 0);
        told(alone, &want[i]);
        d[i] = (struct drip){ .pcm = a[i].pcm, .n = (int64_t)a[i].n, .step = steps[i], .seed = (uint32_t)i };
        p[i].on_segment = count_segments;
        p[i].user = &n_told[i];
        const steno_source src = { drip_read, NULL, &d[i] };
        s[i] = member_new(model, b);
        assert_int_equal(steno_batch_add(b, s[i], &src, &p[i]), 0);
    }
    while (steno_batch_run_as(b, STENO_RUN_POLL) > 0) steno_batch_wake(b);
    for (int i = 0; i < STREAMS; i++) {
        struct buf got = { 0 };
        told(s[i], &got);
        assert_string_equal(got.p, want[i].p);
        assert_int_equal(n_told[i], steno_segment_count(s[i]));
        buf_free(&got);
        buf_free(&want[i]);
        sound_free(&a[i]);
        steno_session_close(s[i]);
    }
    steno_batch_close(b);
    steno_session_close(alone);
}

static void test_pieces_and_neighbours_do_not_show(void **state)
{
    (void)state;
    for (int windows = 1; windows <= 4; windows++) check_neighbours(windows);
    check_neighbours(16);
}

/* Text is reported before the audio that follows it is read. */
static void test_text_comes_while_the_audio_does(void **state)
{
    (void)state;
    struct sound a;
    steno_batch *b;
    steno_session *s;
    int n_told = 0, early = 0;
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", "zh_synth_long").s), 0);
    steno_transcribe_params p = params_of(&settings[1]);
    p.on_segment = count_segments;
    p.user = &n_told;
    struct drip d = { .pcm = a.pcm, .n = (int64_t)a.n, .step = 1600 };
    const steno_source src = { drip_read, NULL, &d };
    assert_int_equal(steno_batch_open(&b, model, NULL, NULL, NULL), 0);
    s = member_new(model, b);
    assert_int_equal(steno_batch_add(b, s, &src, &p), 0);
    while (steno_batch_run_as(b, STENO_RUN_POLL) > 0) {
        if (d.at == 2 * 9600) assert_true(n_told >= 1);
        if (d.at < d.n) early = n_told;
        steno_batch_wake(b);
    }
    assert_true(early >= 4);
    steno_session_close(s);
    steno_batch_close(b);
    sound_free(&a);
}

static void test_chunks_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "0", "0,10", "0,10,5,", "0,10,5,1", "a,10,5", "0,0,5", "0,10,0", "-1,10,5", "0,241,5", "0, 10,5",
                                       "100,100,100", "0,10,99999999999999999999", "0x1,10,5" };
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct setting t = { "", bad[i], 4, 1 };
        steno_transcribe_params p = params_of(&t);
        if (!*bad[i]) continue; /* no text is the default */
        assert_int_equal(steno_transcribe(s, NULL, 0, &p), STENO_EARG);
        assert_non_null(strstr(steno_last_error(s), "chunk_size"));
    }
    steno_transcribe_params p = params_of(&settings[1]);
    p.encoder_chunk_look_back = 103;
    assert_int_equal(steno_transcribe(s, NULL, 0, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "encoder_chunk_look_back"));
    p.encoder_chunk_look_back = -2;
    assert_int_equal(steno_transcribe(s, NULL, 0, &p), STENO_EARG);
    p = params_of(&settings[1]);
    assert_int_equal(steno_transcribe(s, NULL, 0, &p), STENO_OK);
    assert_int_equal(steno_segment_count(s), 0);
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_chunk_is_the_references_for_all_sizes_and_look_backs),
        cmocka_unit_test(test_every_chunk_is_the_references_from_safetensors),
        cmocka_unit_test(test_texts_are_the_same_from_gguf_which_marks_streaming_models),
        cmocka_unit_test(test_texts_are_the_references_for_more_sizes_and_every_end),
        cmocka_unit_test(test_pieces_and_neighbours_do_not_show),
        cmocka_unit_test(test_text_comes_while_the_audio_does),
        cmocka_unit_test(test_chunks_that_make_no_sense_are_refused),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, group_begin, group_end);
}
