/* steno tests: programs that were built against an earlier header. SPDX-License-Identifier: MIT
 *
 * The public header is not included. This program has the first layout of every struct, written down here for
 * good, and calls of that time: it must find its parameters taken and its structs filled, to their size and not a byte further. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "harness.h"

extern char **environ;

struct old_error { int32_t status; char text[1020]; };
struct old_model_params { uint32_t size; int32_t compute; const char *cpu_level; void *team; };
struct old_session_params { uint32_t size; int32_t max_lanes; };
struct old_source { int64_t (*read)(void *user, float *pcm, int64_t n); int (*rewind)(void *user); void *user; };

struct old_model_info {
    uint32_t size;
    char family[16], name[24], weight_type[8], compute[8], cpu_level[16];
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
    int32_t n_languages, is_multilingual;
    int64_t weight_bytes, session_bytes, parameters;
};

struct old_segment {
    uint32_t size;
    int32_t id, n_tokens;
    int64_t seek_frames, t0_ms, t1_ms;
    const char *text;
    const int32_t *tokens;
    double temperature, avg_logprob, compression_ratio, no_speech_prob;
};

struct old_token {
    uint32_t size;
    int32_t id, ts_id;
    float p, logprob, ts_prob, ts_prob_sum;
    int64_t t0_ms, t1_ms, t_dtw_ms;
    float vlen;
};

struct old_transcribe_params {
    uint32_t size;
    int32_t task;
    const char *language, *initial_prompt, *suppress_tokens;
    int32_t condition_on_previous_text, without_timestamps, suppress_blank, sample_len;
    double max_initial_timestamp, temperature;
    uint64_t seed;
    double no_speech_threshold, logprob_threshold;
    int64_t offset_ms, duration_ms;
    void *user;
    void (*on_segment)(void *user, const struct old_segment *seg);
    void (*on_progress)(void *user, int64_t done_ms, int64_t total_ms);
    int (*on_window)(void *user, int64_t at_ms);
    int (*should_abort)(void *user);
};

struct old_batch_params {
    uint32_t size;
    int32_t max_windows, max_lanes, pad;
    void *user;
    void (*on_done)(void *user, void *s, int status);
};

struct old_member_params { uint32_t size; int32_t max_lanes; void *batch; };

struct old_request_params { uint32_t size; int32_t priority; const struct old_transcribe_params *transcribe; };

/* The same with what came later, one version after the other. */
struct old_heard { uint32_t size; int32_t pad; int64_t samples; double loudest; };
struct old_heard_params { struct old_request_params first; const struct old_heard *heard; };
struct old_speech_params { struct old_heard_params before; const void *find_speech; };

struct old_timings {
    uint32_t size;
    int32_t n_windows, n_encodes, n_prompts, n_steps;
    int64_t n_prompt_tokens, n_wakes, load_us, source_us, mel_us, encode_us, cross_us, prompt_us, decode_us;
};

const char *steno_version(void);
int steno_team_open(void **out, int n_threads, struct old_error *e);
void steno_team_close(void *team);
void steno_model_params_fill(void *p, uint32_t size);
int steno_model_open(void **out, const char *path, const struct old_model_params *p, struct old_error *e);
void steno_model_close(void *m);
int steno_model_info_get(const void *m, struct old_model_info *info);
void steno_session_params_fill(void *p, uint32_t size);
int steno_session_open(void **out, const void *m, void *team, const struct old_session_params *p, struct old_error *e);
void steno_session_close(void *s);
const char *steno_last_error(const void *s);
void steno_transcribe_params_fill(void *p, uint32_t size);
int steno_transcribe(void *s, const float *pcm, int64_t n, const struct old_transcribe_params *p);
int steno_transcribe_source(void *s, const struct old_source *src, const struct old_transcribe_params *p);
void steno_batch_params_fill(void *p, uint32_t size);
int steno_batch_open(void **out, const void *m, void *team, const struct old_batch_params *p, struct old_error *e);
void steno_batch_close(void *b);
int steno_batch_add(void *b, void *s, const struct old_source *src, const struct old_transcribe_params *p);
void steno_request_params_fill(void *p, uint32_t size);
int steno_batch_submit(void *b, void *s, const struct old_source *src, const struct old_request_params *r);
int steno_batch_run(void *b);
int steno_listen(const void *m, const struct old_source *src, struct old_heard *out, struct old_error *e);
void steno_vad_params_fill(void *p, uint32_t size);
int steno_segment_count(const void *s);
int steno_segment_get(const void *s, int i, struct old_segment *seg);
int steno_token_get(const void *s, int i, int j, struct old_token *tok);
const char *steno_text(const void *s);
const char *steno_language(const void *s);
int steno_timings_get(const void *s, struct old_timings *t);

static char const model_path[] = "models/whisper-digits/whisper-digits.bin", recording[] = "tests/data/demo.wav";
static char const text[] = " zero nine one eight. two seven.";

enum { MOST = 200000, GUARD = 64, MARK = 0xa5 };
static float pcm[MOST];
static int64_t n_pcm;
static void *team, *model, *plain, *session; /* plain: the same model at the lowest level */

/* A struct with a guard behind it. */
#define GUARDED(type) union { struct type it; unsigned char bytes[sizeof(struct type) + GUARD]; }
#define MARK_AND_SIZE(u) (memset((u).bytes, MARK, sizeof(u)), (u).it.size = (uint32_t)sizeof((u).it))
#define ASSERT_UNTOUCHED(u) guard_check((u).bytes + sizeof((u).it))

static void guard_check(const unsigned char *behind)
{
    for (int i = 0; i < GUARD; i++) assert_int_equal(behind[i], MARK);
}

static void read_recording(void)
{
    static unsigned char file[2 * MOST + 44];
    FILE *f = fopen(recording, "rb");
    if (!f) fail_msg("%s cannot be read: tests run in the source folder", recording);
    const size_t n = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(n > 44);
    n_pcm = (int64_t)(n - 44) / 2;
    for (int64_t i = 0; i < n_pcm; i++) pcm[i] = (float)(int16_t)(file[44 + 2 * i] | file[45 + 2 * i] << 8) / 32768;
}

/* Parameters and what lies behind them, which must be left alone and is refused, or crashes, when it is read as parameters. */
union room { struct old_model_params model; struct old_session_params session; struct old_transcribe_params transcribe; char all[1024]; };

static int open_all(void **state)
{
    (void)state;
    struct old_error e;
    union room p;
    read_recording();
    assert_int_equal(steno_team_open(&team, 2, &e), 0);
    memset(p.all, MARK, sizeof p);
    steno_model_params_fill(&p, sizeof p.model);
    for (size_t i = sizeof p.model; i < sizeof p; i++) assert_int_equal((unsigned char)p.all[i], MARK);
    p.model.team = team;
    if (steno_model_open(&model, model_path, &p.model, &e)) fail_msg("%s", e.text);
    p.model.cpu_level = "c";
    if (steno_model_open(&plain, model_path, &p.model, &e)) fail_msg("%s", e.text);
    memset(p.all, MARK, sizeof p);
    steno_session_params_fill(&p, sizeof p.session);
    for (size_t i = sizeof p.session; i < sizeof p; i++) assert_int_equal((unsigned char)p.all[i], MARK);
    p.session.max_lanes = 2;
    if (steno_session_open(&session, model, team, &p.session, &e)) fail_msg("%s", e.text);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_session_close(session);
    steno_model_close(model);
    steno_model_close(plain);
    steno_team_close(team);
    return 0;
}

static void test_structs_are_filled_to_the_size_of_the_old_program(void **state)
{
    (void)state;
    GUARDED(old_model_info) info;
    GUARDED(old_timings) timings;
    MARK_AND_SIZE(info);
    MARK_AND_SIZE(timings);
    assert_int_equal(steno_model_info_get(plain, &info.it), 0);
    ASSERT_UNTOUCHED(info);
    assert_string_equal(info.it.family, "whisper");
    assert_string_equal(info.it.cpu_level, "c");
    assert_int_equal(info.it.n_mels, 80);
    assert_true(info.it.parameters > 100000 && info.it.weight_bytes > 100000);
    assert_int_equal(steno_timings_get(session, &timings.it), 0);
    ASSERT_UNTOUCHED(timings);
    assert_int_equal(timings.it.size, sizeof timings.it);
    assert_true(timings.it.load_us > 0);
}

struct heard { int segments, windows, asked, wrong; int64_t done, total; };

static void on_segment(void *user, const struct old_segment *seg)
{
    struct heard *h = user;
    h->wrong += seg->size < sizeof *seg || seg->id != h->segments || !seg->text;
    h->segments++;
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct heard *h = user;
    h->done = done_ms;
    h->total = total_ms;
}

static int on_window(void *user, int64_t at_ms)
{
    (void)at_ms;
    ((struct heard *)user)->windows++;
    return 1;
}

static int should_abort(void *user)
{
    ((struct heard *)user)->asked++;
    return 0;
}

static void test_parameters_and_results_of_an_old_program_are_served(void **state)
{
    (void)state;
    union room p;
    struct heard h = { 0 };
    memset(p.all, MARK, sizeof p);
    steno_transcribe_params_fill(&p, sizeof p.transcribe);
    for (size_t i = sizeof p.transcribe; i < sizeof p; i++) assert_int_equal((unsigned char)p.all[i], MARK);
    p.transcribe.language = "en";
    p.transcribe.user = &h;
    p.transcribe.on_segment = on_segment;
    p.transcribe.on_progress = on_progress;
    p.transcribe.on_window = on_window;
    p.transcribe.should_abort = should_abort;
    if (steno_transcribe(session, pcm, n_pcm, &p.transcribe)) fail_msg("%s", steno_last_error(session));
    assert_string_equal(steno_text(session), text);
    assert_string_equal(steno_language(session), "en");
    assert_int_equal(h.segments, steno_segment_count(session));
    assert_true(h.wrong == 0 && h.windows == 1 && h.asked > 10 && h.done == h.total && h.done > 3000);
    for (int i = 0; i < h.segments; i++) {
        GUARDED(old_segment) g;
        GUARDED(old_token) t;
        MARK_AND_SIZE(g);
        assert_int_equal(steno_segment_get(session, i, &g.it), 0);
        ASSERT_UNTOUCHED(g);
        assert_true(g.it.id == i && g.it.size == sizeof g.it && g.it.n_tokens > 0 && g.it.t0_ms <= g.it.t1_ms);
        assert_true(g.it.avg_logprob < 0 && g.it.avg_logprob > -1 && g.it.no_speech_prob >= 0 && g.it.no_speech_prob <= 1);
        assert_non_null(strstr(text, g.it.text));
        MARK_AND_SIZE(t);
        assert_int_equal(steno_token_get(session, i, 0, &t.it), 0);
        ASSERT_UNTOUCHED(t);
        assert_true(t.it.id == g.it.tokens[0] && t.it.p > 0 && t.it.p <= 1 && t.it.t0_ms == -1);
    }
}

static int64_t at;

static int64_t source_read(void *user, float *to, int64_t n)
{
    (void)user;
    const int64_t take = n_pcm - at < n ? n_pcm - at : n;
    memcpy(to, pcm + at, (size_t)take * sizeof *to);
    at += take;
    return take;
}

static void test_a_source_of_an_old_program_is_read(void **state)
{
    (void)state;
    const struct old_source src = { source_read, NULL, NULL };
    at = 0;
    if (steno_transcribe_source(session, &src, NULL)) fail_msg("%s", steno_last_error(session));
    assert_string_equal(steno_text(session), text);
}

static void count_done(void *user, void *s, int status)
{
    assert_int_equal(status, 0);
    assert_string_equal(steno_text(s), text);
    ++*(int *)user;
}

static void test_a_batch_of_an_old_program_carries_out_what_it_adds_and_submits(void **state)
{
    (void)state;
    union { struct old_batch_params batch; struct old_request_params request; unsigned char all[256]; } p;
    struct old_error e;
    void *b, *s;
    int done = 0;
    memset(p.all, MARK, sizeof p);
    steno_batch_params_fill(&p, sizeof p.batch);
    for (size_t i = sizeof p.batch; i < sizeof p; i++) assert_int_equal(p.all[i], MARK);
    assert_true(p.batch.max_windows == 8 && p.batch.max_lanes == 1);
    p.batch.max_windows = 2;
    p.batch.user = &done;
    p.batch.on_done = count_done;
    if (steno_batch_open(&b, model, team, &p.batch, &e)) fail_msg("%s", e.text);
    struct old_member_params member;
    steno_session_params_fill(&member, sizeof member);
    member.batch = b;
    if (steno_session_open(&s, model, NULL, (const struct old_session_params *)(const void *)&member, &e)) fail_msg("%s", e.text);
    const struct old_source src = { source_read, NULL, NULL };
    at = 0;
    if (steno_batch_add(b, s, &src, NULL)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(steno_batch_run(b), 0);
    memset(p.all, MARK, sizeof p);
    steno_request_params_fill(&p, sizeof p.request);
    for (size_t i = sizeof p.request; i < sizeof p; i++) assert_int_equal(p.all[i], MARK);
    assert_true(p.request.priority == -1 && !p.request.transcribe);
    p.request.priority = 1;
    at = 0;
    if (steno_batch_submit(b, s, &src, &p.request)) fail_msg("%s", steno_last_error(s));
    assert_int_equal(steno_batch_run(b), 0);
    assert_int_equal(done, 2);
    steno_session_close(s);
    steno_batch_close(b);
}

/* A program with the struct of a first pass's result, and one with requests to find speech, which this model refuses. */
static void test_requests_of_programs_of_every_age_are_served(void **state)
{
    (void)state;
    union { struct old_batch_params batch; struct old_heard_params heard; struct old_speech_params speech; unsigned char all[256]; } p;
    struct old_error e;
    struct old_heard heard = { .size = sizeof heard };
    unsigned char vad[64];
    void *b, *s;
    int done = 0;
    steno_batch_params_fill(&p, sizeof p.batch);
    p.batch.user = &done;
    p.batch.on_done = count_done;
    if (steno_batch_open(&b, model, team, &p.batch, &e)) fail_msg("%s", e.text);
    struct old_member_params member;
    steno_session_params_fill(&member, sizeof member);
    member.batch = b;
    if (steno_session_open(&s, model, NULL, (const struct old_session_params *)(const void *)&member, &e)) fail_msg("%s", e.text);
    const struct old_source src = { source_read, NULL, NULL };
    at = 0;
    if (steno_listen(model, &src, &heard, &e)) fail_msg("%s", e.text);
    for (int k = 0; k < 2; k++) {
        memset(p.all, MARK, sizeof p);
        const uint32_t size = k ? sizeof p.speech : sizeof p.heard;
        steno_request_params_fill(&p, size);
        for (size_t i = size; i < sizeof p; i++) assert_int_equal(p.all[i], MARK);
        assert_true(p.heard.first.size == size && p.heard.first.priority == -1 && !p.heard.first.transcribe && !p.heard.heard);
        assert_true(!k || !p.speech.find_speech);
        p.heard.heard = &heard;
        at = 0;
        if (steno_batch_submit(b, s, &src, &p.heard.first)) fail_msg("%s", steno_last_error(s));
        assert_int_equal(steno_batch_run(b), 0);
    }
    steno_vad_params_fill(vad, sizeof vad);
    p.speech.find_speech = vad;
    assert_int_equal(steno_batch_submit(b, s, &src, &p.heard.first), -1);
    assert_int_equal(done, 2);
    steno_session_close(s);
    steno_batch_close(b);
}

/* From another language, through the shared library. */
static void test_python_transcribes_with_the_shared_library(void **state)
{
    (void)state;
    char library[512], script[] = "tests/api/test_abi.py";
    snprintf(library, sizeof library, "%.480s/libsteno.so", getenv("STENO_BUILD") ? getenv("STENO_BUILD") : ".");
    char program[] = "python3", say[] = "import ctypes", flag[] = "-c";
    char *check[] = { program, flag, say, NULL };
    char *run[] = { program, script, library, (char *)(uintptr_t)model_path, (char *)(uintptr_t)recording, (char *)(uintptr_t)text, NULL };
    pid_t id;
    int status = 1;
    const int asked = !SANITIZED && !posix_spawnp(&id, program, NULL, NULL, check, environ);
    if (!asked || waitpid(id, &status, 0) != id || status || access(library, R_OK)) {
        print_message("skipped: python3 with ctypes, or %s, is not there\n", library);
        skip();
    }
    assert_int_equal(posix_spawnp(&id, program, NULL, NULL, run, environ), 0);
    assert_int_equal(waitpid(id, &status, 0), id);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structs_are_filled_to_the_size_of_the_old_program),
        cmocka_unit_test(test_parameters_and_results_of_an_old_program_are_served),
        cmocka_unit_test(test_a_source_of_an_old_program_is_read),
        cmocka_unit_test(test_a_batch_of_an_old_program_carries_out_what_it_adds_and_submits),
        cmocka_unit_test(test_requests_of_programs_of_every_age_are_served),
        cmocka_unit_test(test_python_transcribes_with_the_shared_library),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
