/* steno tests: Fun-ASR-Nano from several threads. SPDX-License-Identifier: MIT
 *
 * Sessions with teams of their own beside each other, and requests that several threads put into one batch: all have the text of one
 * session alone, in which windows are decoded again. */
#include <pthread.h>
#include "golden/funasr.h"
#include "internal.h"

enum { THREADS = 3 };

static struct sound heard;
static char *want;
static steno_batch *shared;

static steno_transcribe_params params_of(void)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.chunk_ms = 1500;
    p.guards = STENO_GUARDS_RETRY;
    p.repetition_penalty = 0.05;
    return p;
}

struct job { struct pcm pcm; steno_source src; steno_transcribe_params p; steno_session *s; int failed; };

static void *by_itself(void *arg)
{
    struct job *j = arg;
    steno_team *team;
    j->failed = steno_team_open(&team, THREADS, NULL);
    if (j->failed) return NULL;
    j->failed = steno_session_open(&j->s, model, team, NULL, NULL);
    for (int i = 0; i < 2 && !j->failed; i++)
        j->failed = steno_transcribe(j->s, heard.pcm, heard.n, &j->p) || strcmp(steno_text(j->s), want) != 0;
    steno_session_close(j->s);
    steno_team_close(team);
    return NULL;
}

static void *into_a_batch(void *arg)
{
    struct job *j = arg;
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.batch = shared;
    j->failed = steno_session_open(&j->s, model, NULL, &sp, NULL);
    if (!j->failed) j->failed = steno_batch_add(shared, j->s, &j->src, &j->p);
    return NULL;
}

static void all_do(struct job *j, void *(*what)(void *arg))
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) {
        j[i] = (struct job){ .pcm = { heard.pcm, heard.n, 0, 0 }, .p = params_of() };
        j[i].src = pcm_source(&j[i].pcm);
        assert_int_equal(pthread_create(&t[i], NULL, what, &j[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(j[i].failed, 0);
    }
}

static void test_threads_have_the_text_of_one(void **state)
{
    (void)state;
    const steno_transcribe_params p = params_of();
    struct job j[THREADS];
    steno_batch_params bp;
    steno_session *s;
    steno_error e;
    if (model_open_f32(&model, funasr_file("%s", "models/nano/pt").s, &e)) fail_msg("%s", e.text);
    assert_int_equal(sound_read(&heard, funasr_file("audio/%s.wav", "zh_synth_long").s), 0);
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    assert_int_equal(steno_transcribe(s, heard.pcm, heard.n, &p), 0);
    want = strdup(steno_text(s));
    assert_true(strlen(want) > 0);
    steno_session_close(s);
    all_do(j, by_itself);
    steno_batch_params_init(&bp);
    bp.max_windows = 2 * THREADS;
    assert_int_equal(steno_batch_open(&shared, model, NULL, &bp, NULL), 0);
    all_do(j, into_a_batch);
    assert_int_equal(steno_batch_run(shared), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_string_equal(steno_text(j[i].s), want);
        steno_session_close(j[i].s);
    }
    steno_batch_close(shared);
    steno_model_close(model);
    sound_free(&heard);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads_have_the_text_of_one) };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
