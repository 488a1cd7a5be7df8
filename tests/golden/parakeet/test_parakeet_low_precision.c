/* steno tests: Parakeet's texts in fast arithmetic. SPDX-License-Identifier: MIT
 *
 * The clips of the collection with each head: the number of texts that differ from those in f32 is at most that of doc/accuracy.tsv. */
#include "accuracy.h"
#include "levels.h"

enum { HEADS = 3, CLIPS = 17, TEXT = 512 };

static const char *const head[HEADS] = { "hf/ctc", "hf/tdt", "hf/rnnt" };
static const char *const clip[CLIPS] = { "a", "b", "c", "clean", "d", "e", "edge_1279", "edge_1280", "edge_2567", "long", "noise", "one",
                                         "phrases", "silence", "stranger", "three", "tiny" };
static char wanted[HEADS][CLIPS][TEXT];

static struct golden_path material(const char *name)
{
    struct golden_path p = { "" };
    const char *shared = getenv("STENO_SHARED");
    if (shared) snprintf(p.s, sizeof p.s, "%s/material/parakeet/%s", shared, name);
    return p;
}

/* Transcribes the clips with a head. @return how many texts differ from those wanted, which are set if `sets` */
static int texts_of(int h, const char *level, enum steno_compute compute, int sets)
{
    steno_model_params p;
    steno_model *m;
    steno_session *s;
    steno_error e;
    int differ = 0;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    p.cpu_level = level;
    if (steno_model_open(&m, material(head[h]).s, &p, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    for (int i = 0; i < CLIPS; i++) {
        char name[64];
        struct sound a = { 0 };
        snprintf(name, sizeof name, "audio/%s.wav", clip[i]);
        assert_int_equal(sound_read(&a, material(name).s), 0);
        if (steno_transcribe(s, a.pcm, a.n, NULL)) fail_msg("%s: %s", clip[i], steno_last_error(s));
        sound_free(&a);
        if (sets) snprintf(wanted[h][i], TEXT, "%s", steno_text(s));
        else differ += strcmp(wanted[h][i], steno_text(s)) != 0;
    }
    steno_session_close(s);
    steno_model_close(m);
    return differ;
}

static void test_few_texts_change_in_fast_arithmetic(void **state)
{
    static const struct { enum steno_compute compute; const char *name; } fast[] = {
        { STENO_COMPUTE_BF16, "bf16" }, { STENO_COMPUTE_INT16, "int16" }, { STENO_COMPUTE_INT8, "int8" },
    };
    const char *level[LEVELS_MAX];
    (void)state;
    levels_for_models(level);
    for (int h = 0; h < HEADS; h++) texts_of(h, NULL, STENO_COMPUTE_F32, 1);
    assert_int_equal(figure("Parakeet texts", NULL, STENO_COMPUTE_AUTO), HEADS * CLIPS);
    for (int l = 0; level[l]; l++)
        for (int k = 0; k < 3; k++) {
            int differ = 0;
            for (int h = 0; h < HEADS; h++) differ += texts_of(h, level[l], fast[k].compute, 0);
            print_message("%s at %s: %d of %d texts differ\n", fast[k].name, level[l], differ, HEADS * CLIPS);
            if (differ > figure("Parakeet texts", level[l], fast[k].compute)) fail_msg("more change than in doc/accuracy.tsv");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_few_texts_change_in_fast_arithmetic) };
    if (!is_there(material("README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the Parakeet collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
