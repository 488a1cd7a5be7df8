/* steno tests: a draft model never shows. SPDX-License-Identifier: MIT
 *
 * A model whose ids are drafted by its own first layers gives every result of the collection to the last bit as it does alone: under all
 * sets of options, with what changes logits, and verified; one by itself in four bits, or by noise, under the usual options. Good drafts
 * are right now and then. Needs the collection named by STENO_SHARED; without it every test here is skipped. Batches: api/test_draft.c. */
#include "golden.h"
#include "api/shipped.h"
#include "cut_model.h"
#include "golden/same_results.h"

static const char *const draft_name[] = { "its first layer", "its first two layers", "itself in q4_0", "noise" };
enum { ONE_LAYER, TWO_LAYERS, Q4, NOISE, N_DRAFTS };

static steno_model *model_of_bytes(const void *p, size_t n, const steno_model_params *mp)
{
    steno_model *m;
    steno_error e;
    if (steno_model_open_memory(&m, p, n, mp, &e)) fail_msg("%s", e.text);
    return m;
}

/* A draft of the collection's model, in the arithmetic that it has. */
static steno_model *draft_open(int kind, enum steno_compute compute)
{
    steno_model_params mp;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&mp);
    mp.compute = (int32_t)compute;
    if (kind == Q4) {
        if (steno_model_open(&m, shared_file("whisper-digits-q4_0.bin").s, &mp, &e)) fail_msg("%s", e.text);
        return m;
    }
    struct cut_file c = cut_model(shared_file("whisper-digits.bin").s, kind == TWO_LAYERS ? 2 : 1);
    if (kind == NOISE) { /* signs of the embedding, which is last */
        uint32_t seed = 1;
        for (size_t at = c.n - 1; at > c.n - 13000000; at -= 2) c.p[at] ^= (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24 & 0x80);
    }
    m = model_of_bytes(c.p, c.n, &mp);
    free(c.p);
    return m;
}

/* A session beside the engine's. */
static steno_session *drafted_open(const struct engine *g, const steno_model *draft)
{
    steno_session_params p;
    steno_session *s;
    steno_error e;
    steno_session_params_init(&p);
    p.max_lanes = GOLDEN_LANES;
    p.draft_model = draft;
    if (steno_session_open(&s, g->model, g->team, &p, &e)) fail_msg("%s", e.text);
    return s;
}

/* ---- all results ------------------------------------------------------------------------------------------------------------- */

enum { CASES_MAX = 1000 };

struct digests { uint64_t of[CASES_MAX]; int n, at; const char *what; };

static int keep(void *user, const char *file, const char *set, const steno_session *s, const json_t *want)
{
    struct digests *d = user;
    (void)file, (void)set, (void)want;
    assert_true(d->n < CASES_MAX);
    d->of[d->n++] = result_digest(s);
    return 0;
}

static int compare(void *user, const char *file, const char *set, const steno_session *s, const json_t *want)
{
    struct digests *d = user;
    (void)want;
    if (d->of[d->at++] == result_digest(s)) return 0;
    print_error("%s: %s, %s: another result, '%s'\n", d->what, file, set, steno_text(s));
    return 1;
}

/* few: under one set of options. */
static void run_all(struct tally *t, struct engine *g, json_t *golden, case_fn *fn, struct digests *d, int few)
{
    const char *name;
    json_t *file;
    int files = 0;
    json_object_foreach(json_object_get(golden, "files"), name, file)
        if (!SANITIZED || files++ < 2) file_run(t, g, golden, name, audio_of(name).s, few ? "greedy" : NULL, fn, d);
}

static void test_every_golden_is_the_same_with_a_draft(void **state)
{
    (void)state;
    static struct digests alone;
    static const enum steno_compute compute[] = { STENO_COMPUTE_F32, STENO_COMPUTE_INT8 };
    json_t *golden = json_open(shared_file("golden/golden.json").s);
    for (int c = 0; c < 2; c++) {
        struct engine g;
        struct tally t = { 0 };
        engine_open_as(&g, shared_file("whisper-digits.bin").s, NULL, 1, compute[c]);
        for (int k = c; k < N_DRAFTS; k += 2) {
            const int few = SANITIZED || k > TWO_LAYERS;
            alone = (struct digests){ 0 };
            run_all(&t, &g, golden, keep, &alone, few);
            steno_model *draft = draft_open(k, compute[c]);
            struct engine with = g;
            steno_timings n = { .size = sizeof n };
            with.session = drafted_open(&g, draft);
            with.drafts = k == Q4 ? 7 : 3;
            alone.what = draft_name[k];
            alone.at = 0;
            t = (struct tally){ 0 };
            run_all(&t, &with, golden, compare, &alone, few);
            steno_timings_get(with.session, &n);
            print_message("%s: %d cases, %d differ; of %lld drafts %lld were right, %d steps\n", draft_name[k], t.cases, t.differ,
                          (long long)n.n_drafted, (long long)n.n_accepted, (int)n.n_steps);
            assert_int_equal(t.differ, 0);
            assert_int_equal(alone.at, alone.n);
            assert_true(n.n_drafted > 0 && n.n_accepted < n.n_drafted && (k != Q4 || n.n_accepted > 0));
            steno_session_close(with.session);
            steno_model_close(draft);
        }
        engine_close(&g);
    }
    json_decref(golden);
}

/* ---- whatever else is asked for ----------------------------------------------------------------------------------------------- */

static void test_options_give_the_same_with_a_draft_verified_or_not(void **state)
{
    (void)state;
    static const char *const files[] = { "en_phrases.wav", "long95_en.flac" };
    static const int32_t drafts[] = { -1, 1, 2, 15 };
    for (int verify = 0; verify < 2; verify++) {
        struct engine g;
        engine_open_verified(&g, shared_file("whisper-digits.bin").s, NULL, 2, STENO_COMPUTE_AUTO, verify);
        steno_model *draft = draft_open(TWO_LAYERS, STENO_COMPUTE_AUTO);
        steno_session *with = drafted_open(&g, draft);
        for (int i = 0; i < (SANITIZED || verify ? 1 : 2); i++) {
            struct sound snd = { 0 };
            if (sound_read(&snd, audio_of(files[i]).s)) continue; /* without FFmpeg: no FLAC */
            for (size_t k = 0; k < N_WAYS; k++) {
                char what[128];
                steno_transcribe_params p;
                steno_transcribe_params_init(&p);
                snprintf(what, sizeof what, "%s, %s%s", files[i], ways[k].name, verify ? ", verified" : "");
                ways[k].set(&p);
                if (verify) p.verify_margin = 1;
                p.token_timestamps = 1;
                if (steno_transcribe(g.session, snd.pcm, snd.n, &p)) fail_msg("%s: %s", what, steno_last_error(g.session));
                for (int n = 0; n < 4 && (!n || (!p.beam_size && p.temperature == 0)); n++) {
                    p.draft_max = drafts[n];
                    if (steno_transcribe(with, snd.pcm, snd.n, &p)) fail_msg("%s: %s", what, steno_last_error(with));
                    results_are_equal(with, g.session, what);
                }
            }
            sound_free(&snd);
        }
        steno_session_close(with);
        steno_model_close(draft);
        engine_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_golden_is_the_same_with_a_draft),
        cmocka_unit_test(test_options_give_the_same_with_a_draft_verified_or_not),
    };
    const int missing = collection_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
