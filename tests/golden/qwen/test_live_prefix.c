/* steno tests: live transcription by Qwen3-ASR: passes continue the text of the one before. SPDX-License-Identifier: MIT */
#include "qwen3_asr.h"
#include "api/shipped.h"
#include "live.h"

enum { UNSURE = 5, FREE = 2, MOST = 256, IDS = 16, TEXT_SZ = 8192 };

struct seen { const steno_model *m; char text[TEXT_SZ]; int n_passes, n_prefixed, n_endpoints; };

static void report(void *user, const struct live_event *e)
{
    struct seen *seen = user;
    seen->n_endpoints += e->kind == LIVE_ENDPOINT;
}

/* The longest beginning of the last text without its last five tokens that cuts no character. */
static void want_prefix(const struct seen *seen, char *to, size_t room)
{
    int32_t ids[MOST];
    int n = steno_tokenize(seen->m, seen->text, ids, MOST);
    n = n > MOST ? 0 : n - UNSURE;
    for (*to = '\0'; n > 0; n--) {
        assert_true(steno_detokenize(seen->m, ids, n, to, room) < (int64_t)room);
        const size_t len = strlen(to);
        if (len < 3 || strcmp(to + len - 3, "\xef\xbf\xbd") != 0) return;
        *to = '\0';
    }
}

static int transcribe(void *user, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int is_last)
{
    struct seen *seen = user;
    char want[TEXT_SZ];
    (void)is_last;
    want_prefix(seen, want, sizeof want);
    assert_true(seen->n_passes >= FREE || !p->prefix);
    if (seen->n_passes >= FREE) assert_string_equal(p->prefix ? p->prefix : "", want);
    const int rc = steno_transcribe_source(s, src, p);
    steno_segment g = { .size = sizeof g, .text = "" };
    if (!rc && steno_segment_count(s)) steno_segment_get(s, 0, &g);
    if (p->prefix) assert_memory_equal(g.text, p->prefix, strlen(p->prefix));
    snprintf(seen->text, sizeof seen->text, "%s", g.flags & STENO_FLAG_REPETITION ? "" : g.text);
    seen->n_passes++;
    seen->n_prefixed += p->prefix != NULL;
    return rc;
}

static void test_passes_continue_the_text_of_the_one_before(void **state)
{
    (void)state;
    struct audio a = demo_audio(0, 0, 2);
    steno_model *m = qwen_open(qwen_dir);
    steno_session *s = qwen_session(m);
    struct seen seen = { .m = m };
    struct live_params p = { .session = s, .step_ms = 500, .turn_most_ms = 30000, .report = report, .user = &seen,
                             .transcribe = transcribe };
    struct live *l;
    steno_error e = { 0 };
    steno_transcribe_params_init(&p.text);
    p.text.language = "English";
    p.text.sample_len = IDS;
    live_params_of(&p, m);
    assert_ptr_equal(p.prefixed, m);
    assert_int_equal(live_open(&l, &p, &e), 0);
    if (live_push(l, a.pcm, a.n, 0, &e) || live_end(l, &e)) fail_msg("%s", e.text);
    live_close(l);
    print_message("%d passes, %d with a prefix\n", seen.n_passes, seen.n_prefixed);
    assert_true(seen.n_passes > 10 && seen.n_prefixed > 3);
    assert_int_equal(seen.n_endpoints, 1);
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_passes_continue_the_text_of_the_one_before) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
