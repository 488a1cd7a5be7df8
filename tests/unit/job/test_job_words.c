/* steno tests: inputs of a job whose words an aligner finds. SPDX-License-Identifier: MIT
 *
 * The inputs of a batch, and those that are aligned together, have the results of one input at a time. */
#include "api/shipped.h"
#include "golden/golden.h"
#include "input.h"
#include <unistd.h>

enum { FILES = 9, BAD = 4 };

static char demo[] = "tests/data/demo.wav", digits[] = "models/parakeet-digits/phrases.wav", missing[] = "tests/data/missing.wav";
static char *files[FILES] = { demo, digits, demo, digits, missing, digits, demo, digits, digits };
static steno_model *speech, *aligner;

static int open_all(void **state)
{
    (void)state;
    speech = shipped_open();
    assert_int_equal(steno_model_open(&aligner, "tests/data/qwen3_aligner", NULL, NULL), 0);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(speech);
    steno_model_close(aligner);
    return 0;
}

/* Results by file: a hash of all words and times. */
struct results {
    uint64_t hash[FILES];
    int n[FILES], words[FILES], order[FILES], failed, stops_at, n_outputs;
    unsigned lost[FILES];
    int n_notes[FILES];
    int64_t encodes;
    char why[200];
};

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211u;
    return h;
}

static int output(void *user, const struct job_input *in, struct transcript *t)
{
    struct results *r = user;
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->segs[i].n_words; k++) {
            const steno_word *w = &t->words[t->first_word[i] + k];
            h = mix(mix(mix(h, w->text, strlen(w->text)), &w->start, sizeof w->start), &w->end, sizeof w->end);
            r->words[in->index]++;
        }
    r->hash[in->index] = h;
    r->n[in->index]++;
    r->order[r->n_outputs++] = in->index;
    r->lost[in->index] = t->lost;
    r->n_notes[in->index] = t->notes->n;
    return 0;
}

static int output_failed(void *user, const struct job_input *in, int status, const char *reason)
{
    struct results *r = user;
    (void)in;
    assert_int_equal(status, STENO_EARG);
    snprintf(r->why, sizeof r->why, "%s", reason);
    return 0;
}

static int stop(void *user)
{
    const struct results *r = user;
    return r->stops_at && r->n_outputs >= r->stops_at;
}

static int on_end(void *user, const struct job_input *in, const struct job_end *e)
{
    (void)in;
    ((struct results *)user)->failed += e->status != STENO_OK;
    return 0;
}

static struct job job_new(struct results *r, const steno_model *of_words)
{
    struct job j = { .model = speech, .params = params_new(), .channel = JOB_MIX };
    assert_int_equal(steno_session_open(&j.aligner, of_words, NULL, NULL, NULL), 0);
    steno_media_params_init(&j.media);
    memset(r, 0, sizeof *r);
    j.events = (struct job_events){ .user = r, .output = output, .output_failed = output_failed, .end = on_end, .stop = stop };
    return j;
}

static void job_gone(struct job *j, struct results *r)
{
    steno_timings t = { .size = sizeof t };
    steno_timings_get(j->aligner, &t);
    r->encodes = t.n_encodes;
    steno_session_close(j->aligner);
}

static void run_batch(struct job *j, int windows, char **of, int n)
{
    steno_batch_params bp;
    steno_error e;
    steno_batch_params_init(&bp);
    bp.max_windows = windows;
    if (job_run_batch(j, NULL, &bp, of, n, &e)) fail_msg("%s", e.text);
}

static void run_alone(struct job *j, char **of, int n)
{
    steno_session *s;
    assert_int_equal(steno_session_open(&s, speech, NULL, NULL, NULL), 0);
    job_run(j, s, of, n);
    steno_session_close(s);
}

/* windows 0: one at a time. */
static void go(struct results *r, int windows, int stops_at)
{
    struct job j = job_new(r, aligner);
    r->stops_at = stops_at;
    if (windows) run_batch(&j, windows, files, FILES);
    else run_alone(&j, files, FILES);
    job_gone(&j, r);
    if (stops_at) return;
    assert_true(j.n_done == FILES && j.n_ok == FILES - 1 && r->failed == 1);
    for (int i = 0; i < FILES; i++) assert_int_equal(r->n[i], i != BAD);
}

static void assert_same(const struct results *got, const struct results *want)
{
    assert_memory_equal(got->hash, want->hash, sizeof got->hash);
    assert_memory_equal(got->words, want->words, sizeof got->words);
    assert_memory_equal(got->lost, want->lost, sizeof got->lost);
    assert_memory_equal(got->n_notes, want->n_notes, sizeof got->n_notes);
}

static void test_inputs_of_a_batch_have_the_words_that_they_have_alone(void **state)
{
    (void)state;
    static struct results alone, got;
    static int const windows[] = { 1, 2, 4, 16 };
    go(&alone, 0, 0);
    assert_true(alone.words[0] > 3 && alone.words[1] > 3);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        go(&got, windows[i], 0);
        assert_same(&got, &alone);
    }
}

static void temp_file(char *path, const void *data, size_t n)
{
    strcpy(path, "/tmp/steno-test-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, data, n) == (ssize_t)n);
    close(fd);
}

static void test_short_inputs_do_not_wait_for_a_long_one(void **state)
{
    (void)state;
    enum { TIMES = 50, HEADER = 44, N_SHORT = 4 };
    static uint8_t one[200000], wav[HEADER + TIMES * sizeof one];
    static struct results r;
    char path[64];
    FILE *f = fopen(demo, "rb");
    assert_non_null(f);
    const size_t n = fread(one, 1, sizeof one, f) - HEADER;
    fclose(f);
    memcpy(wav, one, HEADER);
    for (int i = 0; i < 4; i++) wav[HEADER - 4 + i] = (uint8_t)((TIMES * n) >> 8 * i);
    for (int i = 0; i < TIMES; i++) memcpy(wav + HEADER + (size_t)i * n, one + HEADER, n);
    temp_file(path, wav, HEADER + TIMES * n);
    char *some[] = { path, digits, demo, digits, demo };
    struct job j = job_new(&r, aligner);
    run_batch(&j, 2, some, N_SHORT + 1);
    job_gone(&j, &r);
    unlink(path);
    assert_int_equal(r.n_outputs, N_SHORT + 1);
    for (int i = 0; i < N_SHORT; i++) assert_int_equal(r.order[i], i + 1);
}

/* Transcribes inputs, and aligns them in one call. */
static void go_together(struct results *r, char **of, int n, const steno_model *of_words)
{
    struct job j = job_new(r, of_words);
    struct job_input in[FILES], *all[FILES];
    steno_align_item *at[FILES];
    for (int i = 0; i < n; i++) {
        const struct job_file f = job_file_of(of[i], i);
        steno_session *s;
        assert_int_equal(steno_session_open(&s, speech, NULL, NULL, NULL), 0);
        all[i] = &in[i];
        input_init(&in[i], &j, s, i);
        assert_true(input_open(&in[i], &f) && input_begin(&in[i]) == STENO_OK);
        const steno_source src = input_source(&in[i]);
        const steno_transcribe_params p = input_params(&in[i]);
        if (steno_transcribe_source(s, &src, &p)) fail_msg("%s", steno_last_error(s));
        assert_true(input_needs_words(&in[i]));
    }
    input_align(all, at, n);
    for (int i = 0; i < n; i++) {
        input_done(&in[i], input_end(&in[i], STENO_OK));
        steno_session_close(in[i].session);
        input_free(&in[i]);
    }
    job_gone(&j, r);
}

/* An AAC file whose last packet is cut; without FFmpeg, another WAV. */
static void damaged_file(char *path)
{
    enum { KEPT = 2600 };
    static uint8_t all[KEPT];
    steno_media *m = NULL;
    FILE *f = fopen("tests/data/audio/de.aac", "rb");
    assert_true(f && fread(all, 1, KEPT, f) == KEPT);
    fclose(f);
    temp_file(path, all, KEPT);
    if (!steno_media_open(&m, path, NULL, NULL, NULL)) steno_media_close(m);
    else unlink(path), strcpy(path, demo);
}

static void test_inputs_that_are_aligned_together(void **state)
{
    (void)state;
    static struct results alone, got;
    char path[64];
    damaged_file(path);
    char *some[] = { demo, path, digits };
    struct job j = job_new(&alone, aligner);
    run_alone(&j, some, 3);
    job_gone(&j, &alone);
    assert_true(alone.words[1] > 0 && (path[0] != '/' || (alone.lost[1] && alone.n_notes[1] == 1)));
    go_together(&got, some, 3, aligner);
    assert_same(&got, &alone);
    assert_true(got.encodes < alone.encodes);
    if (path[0] == '/') unlink(path);
}

static void test_a_call_that_fails_as_a_whole_has_a_reason(void **state)
{
    (void)state;
    static struct results got;
    char *some[] = { demo, digits };
    go_together(&got, some, 2, speech);
    assert_int_equal(got.n_outputs, 0);
    if (!strstr(got.why, "does not align the words")) fail_msg("the reason is '%s'", got.why);
}

static void test_a_job_that_ends_delivers_no_more(void **state)
{
    (void)state;
    static struct results got;
    for (int at = 1; at < 4; at++) {
        go(&got, 4, at);
        assert_int_equal(got.n_outputs, at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs_of_a_batch_have_the_words_that_they_have_alone),
        cmocka_unit_test(test_short_inputs_do_not_wait_for_a_long_one),
        cmocka_unit_test(test_inputs_that_are_aligned_together),
        cmocka_unit_test(test_a_call_that_fails_as_a_whole_has_a_reason),
        cmocka_unit_test(test_a_job_that_ends_delivers_no_more),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
