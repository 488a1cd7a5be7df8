/* steno tests: public calls when there is no memory. SPDX-License-Identifier: MIT
 *
 * Every way from a model's files to a result is gone again and again, each time with another allocation failing: it must end with
 * STENO_ENOMEM and a reason, or with the right result; nothing stays behind, and what was open before is as good as new. */
#include "convert.h"
#include "funasr_model.h"
#include "nomem_walk.h"
#include "parakeet_model.h"
#include "spell.h"
#include "torch_model.h"

enum { NO_REASON = -100 };

static struct kit {
    steno_team *team;
    struct bytes bin;
    struct buf pt, gguf;
    struct folder hf, ctc, tdt, chunks, vad;
    struct audio audio;
} kit;

static int kit_open(void **state)
{
    (void)state;
    struct file f;
    struct weights w;
    steno_error e;
    kit.bin = random_bytes(&small_dims, DT_F16, 3);
    file_from_memory(&f, "small", kit.bin.p, kit.bin.n);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    kit.pt = torch_model(&w, &f, 1);
    kit.hf = folder_new();
    spell_model(&kit.hf, &w, AS_STORED, 2);
    weights_close(&w);
    kit.ctc = ctc_folder();
    kit.tdt = pk_tdt_folder();
    kit.chunks = pk_stream_folder();
    kit.vad = vad_folder();
    assert_int_equal(convert_to(&kit.gguf, kit.ctc.path, "q8_0", NULL), STENO_OK);
    kit.audio = demo_audio(0, 0, 1);
    return steno_team_open(&kit.team, 2, NULL);
}

static int kit_close(void **state)
{
    (void)state;
    steno_team_close(kit.team);
    free(kit.bin.p);
    buf_free(&kit.pt);
    folder_remove(&kit.hf);
    buf_free(&kit.gguf);
    folder_remove(&kit.ctc);
    folder_remove(&kit.tdt);
    folder_remove(&kit.chunks);
    folder_remove(&kit.vad);
    free(kit.audio.pcm);
    return 0;
}

/* ---- what is done with a model ---- */

static void lift_one(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)tokens;
    logits[(n + at->attempt) % at->n_vocab] += 1;
}

static void count_attempt(void *user, const steno_attempt *a)
{
    (void)a;
    ++*(int *)user;
}

/* A prompt, the whole ladder of temperatures, guards that retry, and everything that keeps something. */
static int transcribe(steno_session *s, uint64_t *digest, steno_error *e)
{
    int attempts = 0;
    steno_transcribe_params p = params_new();
    p.initial_prompt = "ab";
    p.carry_initial_prompt = 1;
    p.sample_len = 8;
    p.guards = STENO_GUARDS_RETRY;
    p.keep_audio_features = 1;
    p.logits_filter = lift_one;
    p.on_attempt = count_attempt;
    p.user = &attempts;
    const int rc = steno_transcribe(s, kit.audio.pcm, kit.audio.n, &p);
    int32_t n_ctx = 0, n_state = 0;
    const float *features = steno_audio_features(s, &n_ctx, &n_state);
    *digest = result_digest(s) ^ (uint64_t)attempts << 32 ^ (features ? 1u : 0u); /* after a failure, too: what is there can be read */
    if (features && (n_ctx != small_dims.n_audio_ctx || n_state != small_dims.n_audio_state)) return NO_REASON;
    if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return rc;
}

static int ctc_transcribe(steno_session *s, uint64_t *digest, steno_error *e)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    p.tags = STENO_TAGS_RICH;
    p.beam_size = 3;
    p.hotwords = "k\nl";
    const int rc = steno_transcribe(s, kit.audio.pcm, kit.audio.n, &p);
    *digest = result_digest(s);
    if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return rc;
}

static int tdt_transcribe(steno_session *s, uint64_t *digest, steno_error *e)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    const int rc = steno_transcribe(s, kit.audio.pcm, kit.audio.n, &p);
    *digest = result_digest(s);
    if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return rc;
}

static int find_speech(steno_session *s, uint64_t *digest, steno_error *e)
{
    struct tap t = { kit.audio.pcm, kit.audio.n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    const int rc = steno_find_speech(s, &src, NULL);
    *digest = spans_digest(s) + (uint64_t)steno_span_count(s);
    if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return rc;
}

static int detect(steno_session *s, uint64_t *digest, steno_error *e)
{
    struct tap t = { kit.audio.pcm, kit.audio.n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    const int lang = steno_detect_language(s, &src, NULL, 0);
    *digest = (uint64_t)lang;
    if (lang < 0) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return lang < 0 ? lang : 0;
}

static int align(steno_session *s, uint64_t *digest, steno_error *e)
{
    struct tap t = { kit.audio.pcm, kit.audio.n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    const int rc = steno_align(s, &src, "ab ba\nba cd\nd", NULL);
    *digest = result_digest(s);
    if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return rc;
}

static int punctuate(steno_session *s, uint64_t *digest, steno_error *e)
{
    const int rc = steno_punctuate(s, "我们会 议开始了 hello 今天天气很好", NULL);
    *digest = 1;
    for (const char *c = steno_text(s); *c; c++) *digest = *digest * 31 + (uint8_t)*c;
    if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return rc;
}

/* ---- ways ---- */

typedef int work(steno_session *s, uint64_t *digest, steno_error *e);

static int use_and_close(int rc, steno_model *m, work *does, uint64_t *digest, steno_error *e)
{
    steno_session *s = NULL;
    if (rc && m) rc = NO_REASON;
    if (!rc) rc = steno_session_open(&s, m, kit.team, NULL, e);
    if (!rc) rc = does(s, digest, e);
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static steno_model_params with_team(const char *vocab)
{
    steno_model_params p;
    steno_model_params_init(&p);
    p.team = kit.team;
    p.vocab = vocab;
    return p;
}

static int from_bin(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open_memory(&m, kit.bin.p, kit.bin.n, &p, e);
    return use_and_close(rc, m, transcribe, digest, e);
}

static int from_pt(uint64_t *digest, steno_error *e)
{
    const struct folder_file vocab = folder_at(&kit.hf, "vocab.json");
    const steno_model_params p = with_team(vocab.path);
    steno_model *m = NULL;
    const int rc = steno_model_open_memory(&m, kit.pt.p, kit.pt.len, &p, e);
    return use_and_close(rc, m, transcribe, digest, e);
}

static int from_folder(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open(&m, kit.hf.path, &p, e);
    return use_and_close(rc, m, transcribe, digest, e);
}

static int from_ctc_folder(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open(&m, kit.ctc.path, &p, e);
    return use_and_close(rc, m, ctc_transcribe, digest, e);
}

static int from_tdt_folder(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open(&m, kit.tdt.path, &p, e);
    return use_and_close(rc, m, tdt_transcribe, digest, e);
}

static int from_chunks_folder(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open(&m, kit.chunks.path, &p, e);
    return use_and_close(rc, m, tdt_transcribe, digest, e);
}

static int from_vad_folder(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open(&m, kit.vad.path, &p, e);
    return use_and_close(rc, m, find_speech, digest, e);
}

/* With a dictionary that its words are cut by. */
static int from_marks_folder(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open(&m, "tests/data/punctuation_words", &p, e);
    return use_and_close(rc, m, punctuate, digest, e);
}

static int from_gguf(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    steno_model *m = NULL;
    const int rc = steno_model_open_memory(&m, kit.gguf.p, kit.gguf.len, &p, e);
    return use_and_close(rc, m, ctc_transcribe, digest, e);
}

static int to_gguf(uint64_t *digest, steno_error *e)
{
    struct sum sum = { 1 };
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.type = "f16";
    p.write = sum_take;
    p.user = &sum;
    const int rc = steno_model_convert(kit.ctc.path, &p, e);
    *digest = sum.hash;
    return rc;
}

static int file_take(void *user, const char *name)
{
    return sum_take(user, name, strlen(name));
}

static int to_form(const char *form, uint64_t *digest, steno_error *e)
{
    struct sum sum = { 1 };
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.form = form;
    p.write = sum_take;
    p.file = file_take;
    p.user = &sum;
    p.n_threads = 1;
    const int rc = steno_model_convert(kit.hf.path, &p, e);
    *digest = sum.hash;
    return rc;
}

static int to_bin(uint64_t *digest, steno_error *e) { return to_form("bin", digest, e); }
static int to_pt(uint64_t *digest, steno_error *e) { return to_form("pt", digest, e); }
static int to_hf(uint64_t *digest, steno_error *e) { return to_form("hf", digest, e); }

static int reader_read(void *user, uint64_t off, void *dst, size_t n)
{
    (void)user;
    memcpy(dst, kit.bin.p + off, n);
    return 0;
}

static void reader_close(void *user)
{
    ++*(int *)user;
}

static int from_reader(uint64_t *digest, steno_error *e)
{
    const steno_model_params p = with_team(NULL);
    int closed = 0;
    const steno_reader r = { kit.bin.n, reader_read, reader_close, &closed };
    steno_model *m = NULL;
    const int rc = steno_model_open_reader(&m, &r, &p, e);
    assert_int_equal(closed, 1);
    return use_and_close(rc, m, transcribe, digest, e);
}

static int only_described(uint64_t *digest, steno_error *e)
{
    steno_model_params p = with_team(NULL);
    p.index_only = 1;
    steno_model *m = NULL;
    steno_model_info info = { .size = sizeof info };
    const int rc = steno_model_open(&m, kit.hf.path, &p, e);
    *digest = m && !steno_model_info_get(m, &info) ? (uint64_t)info.parameters : 0;
    steno_model_close(m);
    return rc;
}

static int random_shape(uint64_t *digest, steno_error *e)
{
    steno_model_params p = with_team(NULL);
    p.index_only = 1; /* what is read is tested above */
    steno_model *m = NULL;
    const int rc = steno_model_open_random(&m, "tiny.en", "q5_0", 1, &p, e);
    *digest = 0;
    steno_model_close(m);
    return rc;
}

static void test_every_allocation_between_files_and_results_may_fail(void **state)
{
    (void)state;
    need_counting();
    static const struct { const char *name; int (*way)(uint64_t *digest, steno_error *e); } ways[] = {
        { "whisper.cpp .bin in memory", from_bin }, { "PyTorch file in memory", from_pt }, { "folder of safetensors", from_folder },
        { "folder with a CTC head", from_ctc_folder },
        { "folder of a transducer", from_tdt_folder }, { "folder of a streaming transducer", from_chunks_folder },
        { "folder of a VAD", from_vad_folder },
        { "folder of a punctuation model", from_marks_folder },
        { "GGUF file in memory", from_gguf }, { "a folder becomes a GGUF file", to_gguf }, { "a .bin file", to_bin },
        { "a .pt file", to_pt }, { "another folder", to_hf }, { "callbacks", from_reader },
        { "headers only", only_described }, { "random weights", random_shape },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) go(ways[i].name, ways[i].way);
}

/* ---- on open objects ---- */

/* Each allocation of a call on one session fails once; the same call right after it gives what it always gives. */
static void stay_usable(const char *name, const steno_model *m, work *does)
{
    steno_session *s = session_new(m, kit.team, 1);
    steno_error e = { 0 };
    uint64_t want, got;
    int failed = 0;
    if (does(s, &want, &e)) fail_msg("%s: %s", name, e.text);
    steno_session_close(s);
    for (int64_t n = 0;; n++) { /* a new session each time: buffers of results stay as large as they were */
        s = session_new(m, kit.team, 1);
        e = (steno_error){ 0 };
        count_begin(n);
        const int rc = does(s, &got, &e);
        const struct heap h = count_end();
        if (rc && (rc != STENO_ENOMEM || !*e.text)) fail_msg("%s, allocation %lld fails: status %d \"%s\"", name, (long long)n, rc, e.text);
        if (!rc && got != want) fail_msg("%s, allocation %lld fails: another result and no error", name, (long long)n);
        if (does(s, &got, &e) || got != want) fail_msg("%s, after allocation %lld failed: %s", name, (long long)n, e.text);
        if (rc && *steno_last_error(s)) fail_msg("%s: a reason stays behind", name);
        failed += rc != 0;
        steno_session_close(s);
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%s: %d allocations failed and the session went on\n", name, failed);
}

static void test_a_session_that_ran_out_of_memory_can_be_used_again(void **state)
{
    (void)state;
    need_counting();
    struct whisper_dims many = small_dims;
    many.n_vocab = MULTILINGUAL;
    steno_model *m[] = { bytes_open(kit.bin, NULL), folder_open(kit.ctc, NULL), folder_open(kit.vad, NULL),
                         random_model(&many, DT_F16, 3, NULL), folder_open(kit.tdt, NULL),
                         folder_open(kit.chunks, NULL) };
    stay_usable("transcribe", m[0], transcribe);
    stay_usable("align", m[0], align);
    stay_usable("transcribe with a CTC head", m[1], ctc_transcribe);
    stay_usable("find_speech", m[2], find_speech);
    stay_usable("detect_language", m[3], detect);
    stay_usable("transcribe with a transducer", m[4], tdt_transcribe);
    stay_usable("transcribe chunks of a stream", m[5], tdt_transcribe);
    for (int i = 0; i < 6; i++) steno_model_close(m[i]);
}

static int64_t tokenize(const steno_model *m, void *out)
{
    return steno_tokenize(m, "one two, three; four. five", out, 64);
}

static int64_t detokenize(const steno_model *m, void *out)
{
    int32_t ids[1200]; /* a few take no memory at all */
    for (int i = 0; i < 1200; i++) ids[i] = 20 + i % 10;
    return steno_detokenize(m, ids, 1200, out, 4000);
}

static int64_t mel(const steno_model *m, void *out)
{
    return steno_mel(m, kit.audio.pcm, kit.audio.n, out, 5);
}

static int ignore_frames(void *user, const float *frames, int64_t n)
{
    (void)user, (void)frames, (void)n;
    return 0;
}

static int64_t mel_read(const steno_model *m, void *out)
{
    struct tap tap = { kit.audio.pcm, kit.audio.n, 0, 16000, 0, 0 };
    const steno_source src = tap_source(&tap);
    return steno_mel_read(m, &src, ignore_frames, out);
}

static void test_calls_on_a_model_report_failed_allocations_and_leave_nothing(void **state)
{
    (void)state;
    need_counting();
    static const struct { int64_t (*fn)(const steno_model *m, void *out); int model; } call[] = {
        { tokenize, 0 }, { detokenize, 0 }, { mel, 0 }, { mel_read, 0 }, { detokenize, 1 }, { mel_read, 1 },
    };
    steno_model *m[] = { bytes_open(kit.bin, NULL), folder_open(kit.ctc, NULL) };
    for (int k = 0; k < (int)(sizeof call / sizeof *call); k++) {
        static char want[4096], got[4096];
        const steno_model *on = m[call[k].model];
        const int64_t n_want = call[k].fn(on, want);
        int failed = 0;
        assert_true(n_want > 0);
        for (int64_t n = 0;; n++) {
            memset(got, 0, sizeof got);
            count_begin(n);
            const int64_t rc = call[k].fn(on, got);
            const struct heap h = count_end();
            if (rc != STENO_ENOMEM && (rc != n_want || memcmp(got, want, sizeof got) != 0))
                fail_msg("call %d, allocation %lld fails: %lld", k, (long long)n, (long long)rc);
            if (h.bytes) fail_msg("call %d, allocation %lld fails: %lld bytes stay behind", k, (long long)n, (long long)h.bytes);
            failed += rc < 0;
            if (h.calls <= n) break;
            assert_true(n < ALLOCATIONS_MAX);
        }
        assert_true(failed > 0);
        memset(want, 0, sizeof want);
    }
    steno_model_close(m[0]);
    steno_model_close(m[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_between_files_and_results_may_fail),
        cmocka_unit_test(test_a_session_that_ran_out_of_memory_can_be_used_again),
        cmocka_unit_test(test_calls_on_a_model_report_failed_allocations_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, kit_open, kit_close);
}
