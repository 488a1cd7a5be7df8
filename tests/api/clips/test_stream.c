/* steno tests: streams of a model that decodes chunk by chunk. SPDX-License-Identifier: MIT
 *
 * Many at once, each session on a thread of its own or all of them in one batch; each allocation failing once; and streams of any length
 * in the same memory. */
#include <pthread.h>
#include "golden/online_dir.h"
#include "heap.h"

enum { THREADS = 4, ALLOCATIONS_MAX = 3000 };

static struct golden_path dir;
static struct sound sound;

static int group_begin(void **state)
{
    (void)state;
    steno_error e;
    dir = online_dir("models/paraformer/pt/model.pt", "models/paraformer-online/pt/config.yaml");
    if (steno_model_open(&model, dir.s, NULL, &e)) fail_msg("%s", e.text);
    return sound_read(&sound, funasr_file("audio/%s.wav", "zh_synth_long").s);
}

static int group_end(void **state)
{
    (void)state;
    sound_free(&sound);
    steno_model_close(model);
    online_dir_remove(dir);
    return 0;
}

/* The sound `times` times, then as much silence, in pieces. */
struct feed { int64_t at, n, silence; int waits, is_waiting; };

static int64_t feed_read(void *user, float *pcm, int64_t n)
{
    struct feed *f = user;
    f->is_waiting = f->waits && !f->is_waiting;
    if (f->is_waiting) return STENO_SOURCE_WAIT;
    if (n > 7000) n = 7000;
    if (n > f->n + f->silence - f->at) n = f->n + f->silence - f->at;
    for (int64_t i = 0; i < n; i++, f->at++) pcm[i] = f->at < f->n ? sound.pcm[f->at % (int64_t)sound.n] : 0;
    return n;
}

static steno_transcribe_params params_of(int look_back)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.encoder_chunk_look_back = look_back;
    p.word_timestamps = 1;
    return p;
}

static const char *heard(steno_session *s, int64_t n, int64_t silence, int look_back)
{
    struct feed f = { .n = n, .silence = silence };
    const steno_source src = { feed_read, NULL, &f };
    const steno_transcribe_params p = params_of(look_back);
    return steno_transcribe_source(s, &src, &p) ? NULL : steno_text(s);
}

/* ---- threads */

struct listener { pthread_t thread; int k, bad; char *want; };

static void *listen_on(void *arg)
{
    struct listener *l = arg;
    steno_session *s;
    if (steno_session_open(&s, model, NULL, NULL, NULL)) return l->bad = 1, NULL;
    for (int i = 0; i < 3; i++) {
        const char *text = heard(s, (int64_t)sound.n, 0, l->k);
        l->bad |= !text || strcmp(text, l->want) != 0;
    }
    steno_session_close(s);
    return NULL;
}

static void test_sessions_of_one_model_on_several_threads(void **state)
{
    (void)state;
    struct listener l[THREADS];
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        l[i] = (struct listener){ .k = i };
        const char *text = heard(s, (int64_t)sound.n, 0, i);
        assert_non_null(text);
        l[i].want = strdup(text);
        assert_true(*l[i].want);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&l[i].thread, NULL, listen_on, &l[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(l[i].thread, NULL);
        assert_int_equal(l[i].bad, 0);
        free(l[i].want);
    }
    steno_session_close(s);
}

/* ---- memory */

/* Two streams of a batch take turns, one of which looks back on everything. */
static int both(int *n_text, steno_error *e)
{
    steno_batch *b = NULL;
    steno_session *s[2] = { 0 };
    struct feed f[2] = { { .n = (int64_t)sound.n, .waits = 1 }, { .n = (int64_t)sound.n / 2, .waits = 1 } };
    int rc = steno_batch_open(&b, model, NULL, NULL, e);
    *n_text = 0;
    for (int i = 0; i < 2 && !rc; i++) {
        const steno_source src = { feed_read, NULL, &f[i] };
        const steno_transcribe_params p = params_of(i ? 4 : -1);
        steno_session_params sp;
        steno_session_params_init(&sp);
        sp.batch = b;
        rc = steno_session_open(&s[i], model, NULL, &sp, e);
        if (!rc && (rc = steno_batch_add(b, s[i], &src, &p))) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s[i]));
    }
    while (!rc && steno_batch_run_as(b, STENO_RUN_POLL) > 0) steno_batch_wake(b);
    for (int i = 0; i < 2 && !rc; i++) {
        *n_text += (int)strlen(steno_text(s[i]));
        if (*steno_last_error(s[i])) rc = STENO_ENOMEM;
        if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s[i]));
    }
    for (int i = 0; i < 2; i++) steno_session_close(s[i]);
    steno_batch_close(b);
    return rc;
}

static void test_every_allocation_of_streams_may_fail(void **state)
{
    (void)state;
    need_counting();
    steno_error e = { 0 };
    int want, got;
    if (both(&want, &e)) fail_msg("%s", e.text);
    assert_true(want > 0);
    int64_t n = 0;
    for (int rc = -1; rc; n++) {
        e = (steno_error){ 0 };
        count_begin(n);
        rc = both(&got, &e);
        const struct heap h = count_end();
        if (rc && (rc != STENO_ENOMEM || !*e.text)) fail_msg("allocation %d fails: status %d \"%s\"", (int)n, rc, e.text);
        if (h.bytes) fail_msg("allocation %d fails: %d bytes stay behind", (int)n, (int)h.bytes);
        if (!rc && got != want) fail_msg("allocation %d fails: another text and no error", (int)n);
        if (!rc && h.calls > n) rc = -1; /* it did without */
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%d allocations\n", (int)n - 1);
    assert_true(n > 20);
}

/* Beside results, which silence has none of. */
static int64_t most_of(int64_t silence, int look_back)
{
    steno_session *s;
    count_begin(-1);
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    assert_non_null(heard(s, 0, silence, look_back));
    steno_session_close(s);
    return count_end().most;
}

static void test_memory_does_not_depend_on_the_length(void **state)
{
    (void)state;
    need_counting();
    const int64_t least = most_of(20 * 16000, 4), most = most_of(300 * 16000, 4);
    assert_int_equal(least, most);
    const int64_t all = most_of(70 * 16000, -1); /* everything is a minute */
    assert_int_equal(all, most_of(300 * 16000, -1));
    assert_true(all > most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sessions_of_one_model_on_several_threads),
        cmocka_unit_test(test_every_allocation_of_streams_may_fail),
        cmocka_unit_test(test_memory_does_not_depend_on_the_length),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, group_begin, group_end);
}
