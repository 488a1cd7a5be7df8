/* steno tests: streaming Paraformer as sound comes, against the reference. SPDX-License-Identifier: MIT
 *
 * Sound in pieces of any size: words are final at once, and those of the turn are the reference's text. */
#include "batch.h"
#include "online_dir.h"
#include "live.h"

static double const margin_least = 0.02; /* as in test_cif_stream.c */
enum { TEXT_SZ = 4096, MANY = 200, TURN_LEAST = 16 /* samples: a millisecond */ };

struct told { char known[TEXT_SZ]; int n_finals, n_turns; int64_t decoded_ms; };

static struct golden_path folder;

static int group_begin(void **state)
{
    (void)state;
    folder = online_dir("models/paraformer/pt/model.pt", "models/paraformer-online/pt/config.yaml");
    steno_error e;
    golden = json_open("tests/data/online/texts.json");
    if (steno_model_open(&model, folder.s, NULL, &e)) fail_msg("%s", e.text);
    return 0;
}

static int group_end(void **state)
{
    online_dir_remove(folder);
    return funasr_close(state);
}

/* The reported turn is its final text. */
static void report(void *user, const struct live_event *e)
{
    struct told *t = user;
    const size_t k = strlen(t->known);
    assert_int_not_equal(e->kind, LIVE_PARTIAL);
    assert_true(e->decoded_ms >= t->decoded_ms && e->now_ms >= e->decoded_ms);
    t->decoded_ms = e->decoded_ms;
    if (e->kind == LIVE_FINAL) {
        assert_true(*e->text);
        snprintf(t->known + k, sizeof t->known - k, "%*s%s", e->spaces, "", e->text);
        t->n_finals++;
    } else {
        assert_string_equal(e->text, t->known);
        t->n_turns++;
    }
}

static struct live_params params_of(struct told *t, json_t *want)
{
    struct live_params p = { .chunks = model, .step_ms = 1000, .turn_most_ms = 30000, .report = report, .user = t };
    steno_transcribe_params_init(&p.text);
    p.text.chunk_size = json_string_value(json_object_get(want, "chunk"));
    p.text.encoder_chunk_look_back = (int32_t)json_integer_value(json_object_get(want, "encoder"));
    p.text.decoder_chunk_look_back = (int32_t)json_integer_value(json_object_get(want, "decoder"));
    *t = (struct told){ 0 };
    return p;
}

static void play(const struct live_params *p, const float *pcm, int64_t n, uint32_t seed)
{
    struct live *l;
    steno_error e = { 0 };
    if (live_open(&l, p, &e)) fail_msg("%s", e.text);
    if (seed % 2) { /* a turn that is cleared, and one that lasts no time, leave nothing behind */
        struct told *t = p->user;
        const int64_t some = n < 20000 ? n : 20000;
        if (live_push(l, pcm, some, 0, &e) || live_clear(l, 0, &e) || live_push(l, pcm, 15, 0, &e) || live_commit(l, &e))
            fail_msg("%s", e.text);
        *t = (struct told){ 0 };
    }
    for (int64_t at = 0, k; at < n; at += k) {
        seed = seed * 1664525 + 1013904223;
        k = 1 + (seed >> 8) % 5000;
        if (k > n - at) k = n - at;
        if (live_push(l, pcm + at, k, 0, &e)) fail_msg("%s", e.text);
    }
    if (live_end(l, &e)) fail_msg("%s", e.text);
    live_close(l);
}

/* A recording; "cutN": N samples of one, from its 20000th on. */
static int64_t part_read(struct sound *a, const char *name, int64_t *n)
{
    const int is_cut = !strncmp(name, "cut", 3);
    if (sound_read(a, funasr_file("audio/%s.wav", is_cut ? "zh_synth_long" : name).s)) return -1;
    *n = is_cut ? atoi(name + 3) : (int64_t)a->n;
    return is_cut ? 20000 : 0;
}

static void test_words_of_a_turn_are_the_references(void **state)
{
    (void)state;
    const char *name;
    json_t *of, *want;
    size_t i;
    int n_compared = 0;
    json_object_foreach(golden, name, of) {
        json_array_foreach(of, i, want) {
            if (json_number_value(json_object_get(want, "margin")) < margin_least) continue;
            static struct told t;
            struct sound a = { 0 };
            int64_t n = 0;
            const int64_t at = part_read(&a, name, &n);
            assert_true(at >= 0);
            const struct live_params p = params_of(&t, want);
            play(&p, a.pcm + at, n, (uint32_t)n_compared);
            const char *text = json_string_value(json_object_get(want, "text"));
            if (strcmp(t.known, text) != 0 || t.n_turns != (n >= TURN_LEAST))
                fail_msg("%s, %zu: \"%s\", want \"%s\"", name, i, t.known, text);
            n_compared++;
            sound_free(&a);
        }
    }
    assert_true(n_compared >= MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_words_of_a_turn_are_the_references) };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, group_begin, group_end);
}
