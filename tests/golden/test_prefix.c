/* steno tests: windows whose text was begun, against whisper.decode of the reference. SPDX-License-Identifier: MIT
 *
 * golden.json holds for each file what the reference's decode() of its first 30 s made of two prefixes. Needs the collection named by
 * STENO_SHARED; without it the test is skipped. */
#include "golden.h"
#include "internal.h"

enum { WINDOW = 480000, MOST = 448 };

/* The first window's result. */
struct first { const steno_session *s; int32_t ids[MOST]; steno_attempt a; int n; };

static void keep_first(void *user, const steno_attempt *a)
{
    struct first *f = user;
    if (a->at_ms) return;
    f->a = *a;
    f->n = a->n_tokens;
    memcpy(f->ids, inside_ids(f->s), (size_t)f->n * sizeof *f->ids);
}

/* near: of the average log-probability. */
static int differs(const struct first *f, const json_t *want, double near, const char *file)
{
    const json_t *ids = json_object_get(want, "tokens");
    const char *prefix = json_string_value(json_object_get(want, "prefix"));
    const double logprob = field(want, "avg_logprob"), none = field(want, "no_speech_prob");
    int bad = f->n != (int)json_array_size(ids);
    for (int i = 0; i < f->n && !bad; i++) bad = f->ids[i] != json_integer_value(json_array_get(ids, (size_t)i));
    bad |= !(fabs(f->a.avg_logprob - logprob) < near) || !(fabs(f->a.no_speech_prob - none) <= 2e-3 * none + 1e-12);
    if (bad)
        print_error("golden.json, %s, prefix '%s': %d tokens at %.9g, want %zu at %.9g\n", file, prefix, f->n, f->a.avg_logprob,
                    json_array_size(ids), logprob);
    return bad;
}

static int file_differs(struct engine *g, const char *name, json_t *file, int *cases)
{
    static float window[WINDOW];
    struct sound snd;
    if (sound_read(&snd, audio_of(name).s)) return 0;
    memset(window, 0, sizeof window);
    memcpy(window, snd.pcm, (size_t)(snd.n < WINDOW ? snd.n : WINDOW) * sizeof *window);
    /* decode() mirrors the samples at the end of a full window, ours see the zeros behind it: two frames of 3000 differ */
    const double near = snd.n > WINDOW ? 1e-3 : 1e-4;
    sound_free(&snd);
    const json_t *truth = json_object_get(file, "truth");
    json_t *want;
    size_t i;
    int bad = 0;
    json_array_foreach(json_object_get(file, "prefix"), i, want)
    {
        struct first f = { .s = g->session };
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language = json_string_value(json_object_get(truth ? truth : file, "language"));
        p.temperature_increment_on_fallback = 0;
        p.prefix = json_string_value(json_object_get(want, "prefix"));
        p.guards = STENO_GUARDS_OFF; /* else 0.00 stands before the prefix, and the text goes on */
        p.user = &f;
        p.on_attempt = keep_first;
        if (steno_transcribe(g->session, window, WINDOW, &p)) fail_msg("%s: %s", name, steno_last_error(g->session));
        bad += differs(&f, want, near, name);
        ++*cases;
    }
    return bad;
}

static void test_every_prefix_gives_the_tokens_that_decode_gives(void **state)
{
    (void)state;
    json_t *golden = json_open(shared_file("golden/golden.json").s), *file;
    struct engine g;
    engine_open(&g, shared_file("whisper-digits.bin").s, NULL, 2);
    const char *name;
    int bad = 0, cases = 0, files = 0;
    json_object_foreach(json_object_get(golden, "files"), name, file)
        if (!SANITIZED || files++ < 2) bad += file_differs(&g, name, file, &cases);
    print_message("%d cases, %d differ\n", cases, bad);
    assert_int_equal(bad, 0);
    assert_true(cases >= (SANITIZED ? 4 : 36));
    engine_close(&g);
    json_decref(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_prefix_gives_the_tokens_that_decode_gives) };
    const int missing = collection_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
