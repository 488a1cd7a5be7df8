/* steno tests: inputs of a job whose words an aligner finds. SPDX-License-Identifier: MIT
 *
 * Inputs of a batch are aligned together: their results are those of one input at a time. */
#include "api/shipped.h"
#include "golden/golden.h"
#include "job.h"

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
struct results { uint64_t hash[FILES]; int n[FILES], words[FILES], failed, stops_at, n_outputs; int64_t encodes; };

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
    r->n_outputs++;
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

/* windows 0: one at a time. */
static void go(struct results *r, int windows, int stops_at)
{
    struct job j = { .model = speech, .params = params_new(), .channel = JOB_MIX };
    steno_session *s, *words;
    steno_timings t = { .size = sizeof t };
    assert_int_equal(steno_session_open(&words, aligner, NULL, NULL, NULL), 0);
    steno_media_params_init(&j.media);
    memset(r, 0, sizeof *r);
    r->stops_at = stops_at;
    j.aligner = words;
    j.events = (struct job_events){ .user = r, .output = output, .end = on_end, .stop = stop };
    if (windows) {
        steno_batch_params bp;
        steno_error e;
        steno_batch_params_init(&bp);
        bp.max_windows = windows;
        if (job_run_batch(&j, NULL, &bp, files, FILES, &e)) fail_msg("%s", e.text);
    } else {
        assert_int_equal(steno_session_open(&s, speech, NULL, NULL, NULL), 0);
        job_run(&j, s, files, FILES);
        steno_session_close(s);
    }
    steno_timings_get(words, &t);
    r->encodes = t.n_encodes;
    steno_session_close(words);
    if (stops_at) return;
    assert_true(j.n_done == FILES && j.n_ok == FILES - 1 && r->failed == 1);
    for (int i = 0; i < FILES; i++) assert_int_equal(r->n[i], i != BAD);
}

static void test_inputs_of_a_batch_are_aligned_together(void **state)
{
    (void)state;
    static struct results alone, got;
    static int const windows[] = { 1, 2, 4, 16 };
    int64_t before;
    go(&alone, 0, 0);
    assert_true(alone.words[0] > 3 && alone.words[1] > 3);
    before = alone.encodes;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        go(&got, windows[i], 0);
        assert_memory_equal(got.hash, alone.hash, sizeof got.hash);
        assert_memory_equal(got.words, alone.words, sizeof got.words);
        assert_true(got.encodes <= before && (windows[i] == 1) == (got.encodes == alone.encodes));
        before = got.encodes;
    }
}

/* The job ends while texts wait for their words. */
static void test_a_job_that_ends_leaves_texts_that_wait(void **state)
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
        cmocka_unit_test(test_inputs_of_a_batch_are_aligned_together),
        cmocka_unit_test(test_a_job_that_ends_leaves_texts_that_wait),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
