/* steno tests: narrow arithmetic of FunASR's recognisers against the reference's texts. SPDX-License-Identifier: MIT
 *
 * Every arithmetic at every level: each result of the reference whose margin is wider than what the arithmetic moves logits by is the
 * same, and rows of outputs stay near those of f32. The number of texts that change is that of doc/accuracy.tsv. */
#include "accuracy.h"
#include "funasr.h"
#include "internal.h"

/* margin: of logits, from which on texts are compared; sum: of frames' weights, which make a token more or less; row: most that a row of an
 * output moves, relative to it */
static const struct { enum steno_compute compute; const char *name; double margin, sum, row; } narrow[] = {
    { STENO_COMPUTE_BF16, "bf16", 0.1, 0.002, 1e-2 },
    { STENO_COMPUTE_INT16, "int16", 0.02, 0.0005, 1e-3 },
    { STENO_COMPUTE_INT8, "int8", 0.3, 0.01, 2e-2 },
};
enum { N_NARROW = sizeof narrow / sizeof *narrow };

static steno_session *session_of(steno_model **m, const char *path, enum steno_compute compute, const char *level)
{
    steno_session *s;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    p.cpu_level = level;
    if (steno_model_open(m, path, &p, &e)) fail_msg("%s: %s", path, e.text);
    assert_int_equal(steno_session_open(&s, *m, NULL, NULL, NULL), 0);
    return s;
}

static void hear(steno_session *s, const char *file, const steno_transcribe_params *p)
{
    struct sound a;
    assert_int_equal(sound_read(&a, funasr_file("audio/%s.wav", file).s), 0);
    struct pcm_feed feed = { &a, 0, 0 };
    const steno_source src = { pcm_read, NULL, &feed };
    if (steno_transcribe_source(s, &src, p)) fail_msg("%s: %s", file, steno_last_error(s));
    sound_free(&a);
}

/* ---- texts ---- */

struct count { int n, differ, all, all_differ; double widest; };

static void compare(struct count *t, const steno_session *s, const char *where, double margin, double least, const char *want)
{
    const int differs = strcmp(steno_text(s), want) != 0;
    if (differs && margin > t->widest) t->widest = margin;
    t->all++;
    t->all_differ += differs;
    if (margin < least) return;
    t->n++;
    t->differ += differs;
    if (differs) print_message("%s, margin %.3f: \"%s\", want \"%s\"\n", where, margin, steno_text(s), want);
}

/* In arithmetic k. every: all settings, else the usual one */
static struct count ctc_texts(steno_session *s, json_t *all, size_t k, int every)
{
    struct count t = { 0 };
    const char *name, *set;
    json_t *file, *want;
    json_object_foreach(json_object_get(all, "files"), name, file) {
        json_object_foreach(json_object_get(file, "results"), set, want) {
            steno_transcribe_params p;
            steno_transcribe_params_init(&p);
            p.guards = STENO_GUARDS_OFF; /* the reference writes text on noise, too */
            p.language = strncmp(set, "auto", 4) == 0 ? "auto" : strncmp(set, "en", 2) == 0 ? "en" : "zh";
            p.itn = strstr(set, "woitn") == NULL;
            p.ban_unknown_emotion = strstr(set, "banunk") != NULL;
            p.tags = STENO_TAGS_KEEP;
            if (!every && strcmp(set, "auto_woitn") != 0) continue;
            hear(s, name, &p);
            compare(&t, s, name, json_number_value(json_object_get(want, "min_margin")), narrow[k].margin,
                    json_string_value(json_object_get(want, "raw")));
        }
    }
    return t;
}

static struct count cif_texts(steno_session *s, json_t *all, size_t k, int every)
{
    struct count t = { 0 };
    const char *name;
    json_t *want;
    (void)every;
    json_object_foreach(json_object_get(all, "files"), name, want) {
        const double sum = json_number_value(json_object_get(want, "alpha_sum"));
        const int is_sure = fabs(sum - nearbyint(sum)) > narrow[k].sum;
        hear(s, name, NULL);
        compare(&t, s, name, is_sure ? json_number_value(json_object_get(want, "min_margin")) : 0, narrow[k].margin,
                json_string_value(json_object_get(want, "text")));
    }
    return t;
}

struct family_case {
    const char *results, *folder, *quantised;
    struct count (*texts)(steno_session *s, json_t *all, size_t k, int every);
    int n;             /* results of the usual setting */
    const char *row;   /* of doc/accuracy.tsv */
};
static const struct family_case cases[] = {
    { "golden/sensevoice/golden.json", "models/sensevoice/pt", "models/sensevoice/gguf/sensevoice-mini-q8.gguf", ctc_texts, 15,
      "SenseVoice texts" },
    { "golden/paraformer/golden.json", "models/paraformer/pt", "models/paraformer/gguf/paraformer-mini-q8.gguf", cif_texts, 15,
      "Paraformer texts" },
};

static void texts_are(const struct family_case *c, json_t *all, const char *file, const char *level, int every)
{
    for (size_t k = 0; k < N_NARROW; k++) {
        steno_model *m;
        steno_session *s = session_of(&m, funasr_file("%s", file).s, narrow[k].compute, level);
        const struct count t = c->texts(s, all, k, every);
        print_message("%s, %s at %s: %d results, %d differ, of all %d %d, margins up to %.3f\n", file, narrow[k].name,
                      level ? level : "its best", t.n, t.differ, t.all, t.all_differ, t.widest);
        if (every && t.all != figure(c->row, level, STENO_COMPUTE_AUTO))
            fail_msg("%s: doc/accuracy.tsv is of another number of texts", c->row);
        if (t.all_differ > figure(c->row, level, narrow[k].compute)) fail_msg("%s: more change than in doc/accuracy.tsv", c->row);
        assert_int_equal(t.differ, 0);
        assert_true(t.n >= c->n - 3);
        steno_session_close(s);
        steno_model_close(m);
    }
}

/* The folder at every level, its matrices of 8 bits and every setting at the best one. */
static void texts_are_the_references(const struct family_case *c)
{
    json_t *all = json_open(funasr_file("%s", c->results).s);
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    for (int l = 0; l < n; l++) texts_are(c, all, c->folder, level[l], 0);
    if (!SANITIZED) texts_are(c, all, c->folder, level_tested(), 1);
    texts_are(c, all, c->quantised, level_tested(), 0);
    json_decref(all);
}

static void test_texts_of_a_ctc_head_are_the_references_in_every_arithmetic(void **state)
{
    (void)state;
    texts_are_the_references(&cases[0]);
}

static void test_texts_of_integrate_and_fire_are_the_references_in_every_arithmetic(void **state)
{
    (void)state;
    texts_are_the_references(&cases[1]);
}

/* ---- rows ---- */

/* Rows of the output of a file, [rows, *width]; the caller frees it. */
static float *output_of(const char *folder, const char *file, enum steno_compute compute, const char *level, size_t rows, size_t *width)
{
    steno_model *m;
    steno_session *s = session_of(&m, funasr_file("%s", folder).s, compute, level);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    if (steno_serves(m, STENO_CALL_TRANSCRIBE, "draft_max")) p.draft_max = 0; /* steps of several rows would lie over the encoder's */
    hear(s, file, &p);
    const struct plan *plan = inside_plan(m, PLAN_ENCODER);
    const struct slot *out = &plan->slot[plan->output];
    const float *x = inside_slot(s, plan, plan->output);
    *width = out->width;
    float *copy = malloc(rows * *width * sizeof *copy);
    assert_non_null(copy);
    for (size_t r = 0; r < rows; r++) memcpy(copy + r * *width, x + r * out->ld, *width * sizeof *copy);
    steno_session_close(s);
    steno_model_close(m);
    return copy;
}

static double worst_row(const float *x, const float *want, size_t rows, size_t width)
{
    double worst = 0;
    for (size_t r = 0; r < rows; r++) {
        double error = 0, norm = 0;
        for (size_t i = r * width; i < (r + 1) * width; i++) {
            error += (double)(x[i] - want[i]) * (double)(x[i] - want[i]);
            norm += (double)want[i] * (double)want[i];
        }
        if (sqrt(error / norm) > worst) worst = sqrt(error / norm);
    }
    return worst;
}

/* Of SenseVoice the rows before its head, of Paraformer those of its tokens, of Fun-ASR-Nano what its adaptor makes. */
static void test_rows_stay_near_those_of_f32_at_every_level(void **state)
{
    (void)state;
    static const struct { const char *folder; size_t rows; } of[] = { { "models/sensevoice/pt", 60 }, { "models/paraformer/pt", 6 },
                                                                      { "models/nano/pt", 60 } };
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    for (size_t c = 0; c < sizeof of / sizeof *of; c++) {
        size_t width;
        float *want = output_of(of[c].folder, "zh_synth_long", STENO_COMPUTE_F32, NULL, of[c].rows, &width);
        for (int l = 0; l < n; l++)
            for (size_t k = 0; k < N_NARROW; k++) {
                float *x = output_of(of[c].folder, "zh_synth_long", narrow[k].compute, level[l], of[c].rows, &width);
                const double worst = worst_row(x, want, of[c].rows, width);
                print_message("%s, %s at %s: worst row %.2e\n", of[c].folder, narrow[k].name, level[l], worst);
                assert_true(worst > 0 && worst < narrow[k].row);
                free(x);
            }
        free(want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_of_a_ctc_head_are_the_references_in_every_arithmetic),
        cmocka_unit_test(test_texts_of_integrate_and_fire_are_the_references_in_every_arithmetic),
        cmocka_unit_test(test_rows_stay_near_those_of_f32_at_every_level),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
