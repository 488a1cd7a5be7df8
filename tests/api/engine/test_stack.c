/* steno tests: every call runs with the stack that the header names. SPDX-License-Identifier: MIT
 *
 * Each call runs on a thread with exactly that stack, including the C library's own part, above a page that may not be
 * touched. The stack was painted before, so that a call that comes near the end is named. */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include "parakeet_model.h"
#include "shipped.h"

enum { STACK_SZ = 64 << 10, SPARE = 4 << 10, PAINT = 0xa5 };

static steno_team *team;
static steno_model *opened;
static steno_session *session;
static steno_batch *batch;
static struct folder ctc_at, tdt_at, stream_at, vad_at;
static struct audio audio; /* 35 s */
static const char *path;

static int lanes;

/* Why a call failed; cmocka's own checks belong to the main thread. */
static char fault[1024];

static void want(int ok, const char *why)
{
    if (!ok && !fault[0]) snprintf(fault, sizeof fault, "%s", why[0] ? why : "failed");
}

static void none(void) {}

static void team_calls(void)
{
    steno_error e = { 0 };
    want(steno_team_open(&team, 2, &e) == STENO_OK, e.text);
}

static void open_calls(void)
{
    steno_error e = { 0 };
    want(steno_model_open(&opened, path, NULL, &e) == STENO_OK, e.text);
}

static void kind_calls(void)
{
    steno_kind k = { .size = sizeof k };
    steno_error e = { 0 };
    want(steno_kind_get(path, &k, &e) == STENO_OK, e.text);
}

static void open_random(void)
{
    steno_error e = { 0 };
    want(steno_model_open_random(&opened, "tiny", "q8_0", 1, NULL, &e) == STENO_OK, e.text);
}

static void close_calls(void)
{
    steno_session_close(session);
    steno_batch_close(batch);
    steno_model_close(opened);
    session = NULL;
    batch = NULL;
    opened = NULL;
}

static void session_calls(void)
{
    steno_session_params p;
    steno_error e = { 0 };
    steno_session_params_init(&p);
    p.max_lanes = lanes;
    want(steno_session_open(&session, opened, team, &p, &e) == STENO_OK, e.text);
}

static void transcribe(steno_transcribe_params *p)
{
    want(steno_transcribe(session, audio.pcm, audio.n, p) == STENO_OK, steno_last_error(session));
}

static void transcribe_plainly(void)
{
    transcribe(NULL);
}

static void transcribe_with_beams(void)
{
    steno_transcribe_params p = params_new();
    p.beam_size = 3;
    p.word_timestamps = 1;
    p.hotwords = "one\ntwo three";
    p.token_timestamps = 1;
    p.guards = STENO_GUARDS_RETRY;
    transcribe(&p);
}

static void transcribe_with_draws(void)
{
    steno_transcribe_params p = params_new();
    p.temperature = 0.5;
    p.best_of = 3;
    p.suppress_regex = "^[0-9]+(a|b|(c|d)+)*$";
    p.initial_prompt = "one two three";
    transcribe(&p);
}

static void transcribe_with_grammar(void)
{
    steno_transcribe_params p = params_new();
    p.grammar = "root ::= (\" \" word)*\nword ::= [a-z]+ | \"(\" word \")\"";
    transcribe(&p);
}

/* `n` brackets of a kind within each other, once more behind them. @return a status */
static int regex_of_brackets(const char *open, int n)
{
    static char pattern[8192];
    memset(pattern, 0, sizeof pattern);
    for (int i = 0; i < 2 * n; i++) {
        strcat(pattern, open);
        if (i % n < n - 1) continue;
        strcat(pattern, "a");
        memset(pattern + strlen(pattern), ')', (size_t)n);
    }
    steno_transcribe_params p = params_new();
    p.suppress_regex = pattern;
    return steno_transcribe(session, audio.pcm, 16000, &p);
}

static void regexes_of_brackets(void)
{
    static const char *const kinds[] = { "(", "(?:a|", "(?=", "(?<=", "(?>", "(?i:", "(b|(?!c)" };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        want(regex_of_brackets(kinds[k], 16) == STENO_OK, steno_last_error(session));
        want(regex_of_brackets(kinds[k], 31) == STENO_OK, steno_last_error(session));
        for (int n = 33; n <= 250; n += 217) want(regex_of_brackets(kinds[k], n) == STENO_EARG, "brackets above the limit are accepted");
    }
}

static steno_source source(struct tap *t)
{
    *t = (struct tap){ .pcm = audio.pcm, .n = audio.n };
    return tap_source(t);
}

static void align(void)
{
    struct tap t;
    const steno_source src = source(&t);
    steno_transcribe_params p = params_new();
    p.language = "en";
    want(steno_align(session, &src, "one two three four five", &p) >= 0, steno_last_error(session));
}

static void align_words(void)
{
    struct tap t;
    const steno_source src = source(&t);
    want(steno_align(session, &src, "Four zero,\nnine-eight.", NULL) == STENO_OK, steno_last_error(session));
}

static void detect(void)
{
    struct tap t;
    const steno_source src = source(&t);
    want(steno_detect_language(session, &src, NULL, 0) >= 0, steno_last_error(session));
}

static void find_speech(void)
{
    struct tap t;
    const steno_source src = source(&t);
    want(steno_find_speech(session, &src, NULL) == STENO_OK, steno_last_error(session));
}

static void ignore_line(void *user, const char *line)
{
    (void)user, (void)line;
}

static void text_calls(void)
{
    int32_t ids[64];
    char text[256];
    steno_model_info i = { .size = sizeof i };
    const int n = steno_tokenize(opened, "one two three, four \xe4\xba\x94", ids, 64);
    want(n > 0 && steno_detokenize(opened, ids, n, text, sizeof text) > 0, "text and ids");
    want(steno_model_info_get(opened, &i) == STENO_OK && steno_plan_dump(opened, ignore_line, NULL) == STENO_OK, "info");
    want(steno_bench_phase(session, "encode", 1) >= 0, steno_last_error(session));
}

static void batch_calls(void)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = 2;
    steno_session_close(session);
    session = NULL;
    steno_error e = { 0 };
    want(steno_batch_open(&batch, opened, team, &bp, &e) == STENO_OK, e.text);
    sp.batch = batch;
    want(steno_session_open(&session, opened, team, &sp, &e) == STENO_OK, e.text);
    struct tap t;
    const steno_source src = source(&t);
    want(steno_batch_add(batch, session, &src, NULL) == STENO_OK, steno_last_error(session));
    want(steno_batch_run(batch) == STENO_OK, steno_last_error(session));
}

/* ---- a thread that has no more ------------------------------------------------------------------------------------------------- */

static void *call(void *what)
{
    (*(void (**)(void))what)();
    return NULL;
}

/* What the call took, with what the C library takes. */
static size_t stack_of(void (*what)(void))
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *low = mmap(NULL, page + STACK_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *stack = low + page;
    assert_true(low != MAP_FAILED);
    memset(stack, PAINT, STACK_SZ);
    assert_int_equal(mprotect(low, page, PROT_NONE), 0);
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstack(&attr, stack, STACK_SZ), 0);
    assert_int_equal(pthread_create(&thread, &attr, call, &what), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    size_t free_sz = 0;
    while (free_sz < STACK_SZ && stack[free_sz] == PAINT) free_sz++;
    munmap(low, page + STACK_SZ);
    return STACK_SZ - free_sz;
}

static void check(const char *name, void (*what)(void))
{
    const size_t took = stack_of(what);
    if (fault[0]) fail_msg("%s: %s", name, fault);
    printf("%-30s %6zu bytes\n", name, took);
    if (took > STACK_SZ - SPARE) fail_msg("%s takes %zu bytes of stack", name, took);
}

#define CHECK(what) check(#what, what)

static void check_model(const char *at, int n_lanes)
{
    path = at;
    lanes = n_lanes;
    CHECK(kind_calls);
    CHECK(open_calls);
    CHECK(session_calls);
}

static void test_a_thread_of_64_kib_serves_every_call(void **state)
{
    (void)state;
    if (SANITIZED) skip(); /* it makes frames larger */
    CHECK(none);
    CHECK(team_calls);
    check_model("models/whisper-digits/whisper-digits.bin", 3);
    CHECK(text_calls);
    CHECK(transcribe_plainly);
    CHECK(transcribe_with_draws);
    CHECK(transcribe_with_grammar);
    CHECK(regexes_of_brackets);
    CHECK(align);
    CHECK(detect);
    CHECK(transcribe_with_beams);
    CHECK(batch_calls);
    CHECK(close_calls);
    check_model(ctc_at.path, 1);
    CHECK(transcribe_plainly);
    CHECK(close_calls);
    check_model(tdt_at.path, 1);
    CHECK(transcribe_plainly);
    CHECK(close_calls);
    check_model(stream_at.path, 1);
    CHECK(transcribe_plainly);
    CHECK(close_calls);
    check_model("tests/data/qwen3_asr", 1);
    CHECK(transcribe_plainly);
    CHECK(batch_calls);
    CHECK(close_calls);
    check_model("tests/data/qwen3_aligner", 1);
    CHECK(align_words);
    CHECK(close_calls);
    check_model(vad_at.path, 1);
    CHECK(find_speech);
    CHECK(close_calls);
    CHECK(open_random);
    CHECK(close_calls);
    const char *shared = getenv("STENO_SHARED");
    char torch[1024];
    snprintf(torch, sizeof torch, "%s/material/funasr/fsmn-vad/pt", shared ? shared : "/none");
    if (access(torch, R_OK)) printf("(not tried: a PyTorch file; STENO_SHARED does not name the FunASR collection)\n");
    else check_model(torch, 1);
    CHECK(close_calls);
}

static int make(void **state)
{
    (void)state;
    ctc_at = ctc_folder();
    tdt_at = pk_tdt_folder();
    stream_at = pk_stream_folder();
    vad_at = vad_folder();
    audio = bursts(35 * RATE);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    folder_remove(&ctc_at);
    folder_remove(&tdt_at);
    folder_remove(&stream_at);
    folder_remove(&vad_at);
    free(audio.pcm);
    steno_team_close(team);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_thread_of_64_kib_serves_every_call) };
    return cmocka_run_group_tests(tests, make, clean);
}
