/* steno tests: the table of parameters. SPDX-License-Identifier: MIT
 *
 * Every field of the parameter structs has a row, and calls follow it: the families that serve the field, its range, its default. */
#include "parakeet_model.h"
#include "random_model.h"
#include <stddef.h>

enum { LM = 5, ALIGNER, FINDS /* the first that finds speech */, N_MODELS = 9 };
static const char *const model_name[N_MODELS] = { "many languages", "English only", "tags", "pieces", "pieces of streams",
                                                  "audio language model", "forced aligner", "voice activity by votes",
                                                  "voice activity by thresholds" };
static const char *const qwen_path[N_MODELS] = { [LM] = "tests/data/qwen3_asr", [ALIGNER] = "tests/data/qwen3_aligner" };
static steno_model *models[N_MODELS];
static float quiet[RATE / 10];

static int models_open(void **state)
{
    (void)state;
    models[0] = shipped_open();
    models[1] = random_model(&small_dims, DT_F16, 2, NULL);
    models[2] = funasr_open(ctc_folder, NULL);
    models[3] = funasr_open(pk_tdt_folder, NULL);
    models[4] = funasr_open(pk_stream_folder, NULL);
    for (int i = LM; i <= ALIGNER; i++) assert_int_equal(steno_model_open(&models[i], qwen_path[i], NULL, NULL), 0);
    models[FINDS] = funasr_open(vad_folder, NULL);
    const struct bytes b = shape_bytes("silero", DT_F16, 7);
    steno_error e;
    if (steno_model_open_memory(&models[FINDS + 1], b.p, b.n, NULL, &e)) fail_msg("%s", e.text);
    free(b.p);
    return 0;
}

static int models_close(void **state)
{
    (void)state;
    for (int i = 0; i < N_MODELS; i++) steno_model_close(models[i]);
    return 0;
}

union params {
    steno_transcribe_params speech;
    steno_vad_params vad;
    steno_punctuate_params marks;
    steno_embed_params embed;
    steno_model_params model;
    char byte[1];
};

static void params_new_of(union params *p, enum steno_call call)
{
    if (call == STENO_CALL_FIND_SPEECH) steno_vad_params_init(&p->vad);
    else if (call == STENO_CALL_OPEN) steno_model_params_init(&p->model);
    else if (call == STENO_CALL_PUNCTUATE) steno_punctuate_params_init(&p->marks);
    else if (call == STENO_CALL_EMBED) steno_embed_params_init(&p->embed);
    else steno_transcribe_params_init(&p->speech);
}

static int row_get(const steno_model *m, enum steno_call call, int i, steno_param *row)
{
    row->size = sizeof *row;
    return steno_param_get(m, call, i, row) == STENO_OK;
}

static double number_of(const union params *p, const steno_param *row)
{
    const void *at = p->byte + row->offset;
    switch (row->kind) {
    case STENO_PARAM_INT64: return (double)*(const int64_t *)at;
    case STENO_PARAM_UINT64: return (double)*(const uint64_t *)at;
    case STENO_PARAM_NUMBER: return *(const double *)at;
    default: return *(const int32_t *)at;
    }
}

static void number_set(union params *p, const steno_param *row, double v)
{
    void *at = p->byte + row->offset;
    switch (row->kind) {
    case STENO_PARAM_INT64: *(int64_t *)at = (int64_t)v; break;
    case STENO_PARAM_UINT64: *(uint64_t *)at = (uint64_t)v; break;
    case STENO_PARAM_NUMBER: *(double *)at = v; break;
    default: *(int32_t *)at = (int32_t)v; break;
    }
}

static int is_number(const steno_param *row)
{
    return row->kind != STENO_PARAM_TEXT && row->kind != STENO_PARAM_LIST && row->kind != STENO_PARAM_CALL;
}

static size_t size_of(const steno_param *row)
{
    static const size_t size[] = { 4, 4, 4, 8, 8, sizeof(double), sizeof(char *), sizeof(char *), sizeof(void (*)(void)) };
    return size[row->kind];
}

/* Fields that no row names: the size, padding, and lengths of lists, which go with them. */
static void check_covered(enum steno_call call, size_t size, const size_t *others, int n_others)
{
    char *seen = calloc(size, 1);
    steno_param row;
    assert_non_null(seen);
    for (int i = 0; row_get(NULL, call, i, &row); i++)
        for (size_t k = 0; k < size_of(&row); k++) {
            if (row.offset + k >= size || seen[row.offset + k]++) fail_msg("%s lies outside, or twice", row.name);
        }
    for (int i = 0; i < n_others; i++) memset(seen + others[i], 1, 4);
    for (size_t i = 0; i < size; i++)
        if (!seen[i]) fail_msg("call %d: byte %zu of %zu is in no row", (int)call, i, size);
    free(seen);
}

#define T(field) offsetof(steno_transcribe_params, field)
static void test_every_field_has_one_row(void **state)
{
    (void)state;
    const size_t speech[] = { T(size), T(n_prompt_tokens), T(n_prefix_tokens), T(n_clip_timestamps),
                              T(language_detection_segments) + 4, T(word_timestamps) + 4,
                              T(tags) + 4, T(n_fallback_temperatures) }; /* before the last: padding */
    const size_t vad[] = { offsetof(steno_vad_params, size), offsetof(steno_vad_params, pad), offsetof(steno_vad_params, pad2),
                           offsetof(steno_vad_params, pad3) };
    check_covered(STENO_CALL_TRANSCRIBE, sizeof(steno_transcribe_params), speech, 8);
    check_covered(STENO_CALL_ALIGN, sizeof(steno_transcribe_params), speech, 8);
    check_covered(STENO_CALL_FIND_SPEECH, sizeof(steno_vad_params), vad, 4);
    const size_t model[] = { offsetof(steno_model_params, size), offsetof(steno_model_params, pad) };
    check_covered(STENO_CALL_OPEN, sizeof(steno_model_params), model, 2);
    const size_t text[] = { offsetof(steno_generate_params, size), offsetof(steno_generate_params, n_stop) };
    check_covered(STENO_CALL_GENERATE, sizeof(steno_generate_params), text, 2);
    const size_t marks[] = { offsetof(steno_punctuate_params, size), offsetof(steno_punctuate_params, pad) };
    check_covered(STENO_CALL_PUNCTUATE, sizeof(steno_punctuate_params), marks, 2);
    check_covered(STENO_CALL_EMBED, sizeof(steno_embed_params), marks, 1);
}

static void test_defaults_are_those_of_the_table_and_lie_in_their_ranges(void **state)
{
    (void)state;
    steno_param row;
    for (int call = 0; call <= STENO_CALL_EMBED; call++) {
        union params p;
        params_new_of(&p, call);
        for (int i = 0; row_get(NULL, call, i, &row); i++) {
            if (!is_number(&row)) continue;
            const double v = number_of(&p, &row);
            const int same = v == row.value || (isnan(v) && isnan(row.value));
            const int in = (v >= row.min && v <= row.max) || (row.has_none && (v == row.none || isnan(v)));
            if (!same || !in) fail_msg("%s is %g, by the table %g in %g..%g", row.name, v, row.value, row.min, row.max);
        }
        for (int m = 0; m < N_MODELS; m++) {
            const int finds = m >= FINDS;
            const int rc = steno_params_check(models[m], call, &p, NULL, NULL);
            if (m == ALIGNER && call == STENO_CALL_TRANSCRIBE) continue; /* it does not */
            if (call == STENO_CALL_OPEN || finds == (call == STENO_CALL_FIND_SPEECH)) assert_int_equal(rc, STENO_OK);
        }
    }
    assert_int_equal(steno_param_get(NULL, STENO_CALL_TRANSCRIBE, 1000, &row), STENO_EARG);
    assert_int_equal(steno_param_get(NULL, STENO_CALL_TRANSCRIBE, -1, &row), STENO_EARG);
    assert_int_equal(steno_param_get(NULL, STENO_CALL_TRANSCRIBE, 0, NULL), STENO_EARG);
    assert_int_equal(steno_params_check(NULL, 7, NULL, NULL, NULL), STENO_EARG);
}

static void test_a_model_serves_the_parameters_of_its_rows_and_a_call_with_one_of_them(void **state)
{
    (void)state;
    steno_param row;
    for (int call = 0; call <= STENO_CALL_GENERATE; call++)
        for (int m = -1; m < N_MODELS; m++) {
            const steno_model *of = m < 0 ? NULL : models[m];
            int n = 0;
            for (int i = 0; row_get(of, call, i, &row); i++) {
                if (steno_serves(of, call, row.name) != row.served) fail_msg("call %d, model %d: %s", call, m, row.name);
                n += row.served;
            }
            if (steno_serves(of, call, NULL) != (n > 0)) fail_msg("call %d, model %d: %d parameters", call, m, n);
        }
    for (int m = 0; m < N_MODELS; m++) {
        const int is_speech = m <= LM;
        const struct { int call, is_served; } want[] = {
            { STENO_CALL_TRANSCRIBE, is_speech }, { STENO_CALL_ALIGN, m < 2 || m == ALIGNER }, { STENO_CALL_OPEN, 1 },
            { STENO_CALL_GENERATE, m < 2 }, { STENO_CALL_EMBED, 0 }, { STENO_CALL_PUNCTUATE, 0 }, { STENO_CALL_FIND_SPEECH, m >= FINDS } };
        for (size_t i = 0; i < sizeof want / sizeof *want; i++)
            if (steno_serves(models[m], want[i].call, NULL) != want[i].is_served) fail_msg("call %d, model %d", want[i].call, m);
    }
    assert_true(steno_serves(models[FINDS], STENO_CALL_FIND_SPEECH, NULL));
    assert_false(steno_serves(models[FINDS], STENO_CALL_TRANSCRIBE, NULL));
    assert_false(steno_serves(NULL, STENO_CALL_TRANSCRIBE, "no such parameter"));
    assert_false(steno_serves(NULL, 7, NULL));
    assert_false(steno_serves(NULL, -1, NULL));
}

/* ---- who serves what --------------------------------------------------------------------------------------------------------- */

static const double clip[2] = { 0, 0.05 };
static const int32_t ids[1] = { 1 };
static const double warmer[1] = { 0.5 };

/* Ask for it: another value than the default, and in range. */
static void ask(union params *p, const steno_param *row)
{
    void *at = p->byte + row->offset;
    const char *text = strcmp(row->name, "language") == 0 ? "zh" : strcmp(row->name, "suppress_tokens") == 0 ? "5" : "x";
    if (row->kind == STENO_PARAM_TEXT) memcpy(at, &text, sizeof text);
    else if (row->kind == STENO_PARAM_LIST) {
        const void *list = row->offset == T(clip_timestamps) ? (const void *)clip :
                           row->offset == T(fallback_temperatures) ? (const void *)warmer : ids;
        memcpy(at, &list, sizeof list);
        if (list == clip) p->speech.n_clip_timestamps = 2;
        else if (list == warmer) p->speech.n_fallback_temperatures = 1;
        else if (row->offset == T(prompt_tokens)) p->speech.n_prompt_tokens = 1;
        else p->speech.n_prefix_tokens = 1;
    } else if (row->kind == STENO_PARAM_CALL) memset(at, 1, sizeof(void (*)(void)));
    else number_set(p, row, row->value == row->max || row->kind == STENO_PARAM_UINT64 ? row->min + 1e-3 : row->max);
    if (row->kind == STENO_PARAM_FLAG) number_set(p, row, !(row->value > 0));
    if (row->kind == STENO_PARAM_UINT64) number_set(p, row, 5);
}

static void test_parameters_a_model_does_not_support_are_refused_by_name(void **state)
{
    (void)state;
    int refused = 0, served = 0;
    steno_param row;
    for (int call = 0; call <= STENO_CALL_EMBED; call++)
        for (int m = 0; m < N_MODELS; m++)
            for (int i = 0; row_get(models[m], call, i, &row); i++) {
                steno_error e = { 0 };
                union params p;
                params_new_of(&p, call);
                ask(&p, &row);
                const int rc = steno_params_check(models[m], call, &p, NULL, &e);
                const int says = strstr(e.text, "does not serve it") != NULL;
                if (says == row.served) fail_msg("%s, %s: served %d, '%s'", model_name[m], row.name, (int)row.served, e.text);
                if (!row.served && (rc != STENO_EARG || strncmp(e.text, row.name, strlen(row.name)) != 0 || !strstr(e.text, row.reason)))
                    fail_msg("%s, %s: '%s'", model_name[m], row.name, e.text);
                row.served ? served++ : refused++;
            }
    assert_true(served > 100 && refused > 100);
}

static void test_a_call_refuses_fields_that_the_table_does_not_give_it(void **state)
{
    (void)state;
    steno_param row;
    int refused = 0;
    for (int m = 1; m <= LM; m++) {
        if (m > 2 && m < LM) continue;
        steno_session *s = session_new(models[m], NULL, 1);
        for (int i = 0; row_get(models[m], STENO_CALL_TRANSCRIBE, i, &row); i++) {
            union params p;
            if (row.served) continue;
            params_new_of(&p, STENO_CALL_TRANSCRIBE);
            ask(&p, &row);
            const int rc = steno_transcribe(s, quiet, RATE / 10, &p.speech);
            if (rc != STENO_EARG || !strstr(steno_last_error(s), row.name))
                fail_msg("%s, %s: %d, '%s'", model_name[m], row.name, rc, steno_last_error(s));
            refused++;
        }
        steno_session_close(s);
    }
    assert_true(refused > 40);
}

/* ---- asked for, and by another name ------------------------------------------------------------------------------------------ */

static const char *asked_name;

static int is_asked(void *user, const char *field)
{
    (void)user;
    return strcmp(field, asked_name) == 0;
}

static const char *name_of(void *user, const char *field, int with_value)
{
    (void)user;
    (void)with_value;
    return strcmp(field, asked_name) == 0 ? "--its-option" : NULL;
}

static void test_a_default_that_is_given_counts_and_has_the_callers_name_in_messages(void **state)
{
    (void)state;
    const steno_param_names names = { .size = sizeof names, .name = name_of, .asked = is_asked };
    steno_param row;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.hotwords = "a"; /* what their boost needs */
    for (int i = 0; row_get(models[2], STENO_CALL_TRANSCRIBE, i, &row); i++) {
        steno_error e = { 0 };
        asked_name = row.name;
        const int rc = steno_params_check(models[2], STENO_CALL_TRANSCRIBE, &p, &names, &e);
        assert_int_equal(rc, row.served ? STENO_OK : STENO_EARG);
        if (rc && (strncmp(e.text, "--its-option is ", 16) != 0 || strstr(e.text, row.name))) fail_msg("%s: '%s'", row.name, e.text);
    }
}

/* ---- ranges ------------------------------------------------------------------------------------------------------------------ */

/* What makes a parameter count, so that its range is what is judged. */
static void company(steno_transcribe_params *p, const char *name)
{
    if (strcmp(name, "best_of") == 0) p->temperature = 0.5;
    if (strcmp(name, "patience") == 0) p->beam_size = 1;
    if (strcmp(name, "n_best") == 0) p->beam_size = 32;
    if (strcmp(name, "length_penalty") == 0) p->beam_size = 2;
    if (strncmp(name, "grammar", 7) == 0) p->grammar = "root ::= \"a\"";
    if (strcmp(name, "hallucination_silence_threshold") == 0) p->word_timestamps = 1;
    if (strcmp(name, "token_threshold") == 0) p->token_timestamps = 1;
    if (strcmp(name, "chunk_ms") == 0) p->condition_on_previous_text = 0;
}

static int rc_of(const steno_model *m, enum steno_call call, const steno_param *row, double v, char *reason)
{
    steno_error e = { 0 };
    union params p;
    params_new_of(&p, call);
    if (call == STENO_CALL_TRANSCRIBE) company(&p.speech, row->name);
    number_set(&p, row, v);
    const int rc = steno_params_check(m, call, &p, NULL, &e);
    snprintf(reason, sizeof e.text, "%s", e.text);
    return rc;
}

static void check_range(const steno_model *m, enum steno_call call, const steno_param *row)
{
    char reason[1024];
    const double step = row->kind == STENO_PARAM_NUMBER ? 1e-3 * (1 + fabs(row->max)) : 1;
    const double v[] = { row->min, row->max, row->min - step, row->max + step };
    for (int k = 0; k < 4; k++) {
        if (row->has_none && v[k] == row->none) continue;
        const int is_patience = strcmp(row->name, "patience") == 0 && k == 0; /* a thousandth of a sequence */
        const int rc = rc_of(m, call, row, v[k], reason), want = k < 2 && !is_patience ? STENO_OK : STENO_EARG;
        if (rc != want || (rc && !strstr(reason, row->name))) fail_msg("%s = %.17g: %d, '%s'", row->name, v[k], rc, reason);
    }
    if (row->has_none && rc_of(m, call, row, row->none, reason)) fail_msg("%s none: '%s'", row->name, reason);
    if (row->kind == STENO_PARAM_NUMBER && !(row->has_none && isnan(row->none)))
        if (rc_of(m, call, row, (double)NAN, reason) != STENO_EARG) fail_msg("%s takes NAN", row->name);
}

/* A model that all parameters of transcriptions may count for. */
static steno_model *verified_model(void)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = STENO_COMPUTE_INT8;
    p.verify = 1;
    const struct bytes b = random_bytes(&small_dims, DT_F16, 2);
    if (steno_model_open_memory(&m, b.p, b.n, &p, &e)) fail_msg("%s", e.text);
    free(b.p);
    return m;
}

static void test_ranges_are_those_of_the_table_at_their_ends_and_beyond(void **state)
{
    (void)state;
    steno_param row;
    steno_model *verified = verified_model();
    for (int m = 0; m < 2; m++)
        for (int i = 0; row_get(models[m], STENO_CALL_TRANSCRIBE, i, &row); i++)
            if (row.served && is_number(&row) && row.kind != STENO_PARAM_FLAG && row.kind != STENO_PARAM_UINT64 && row.min <= row.max)
                check_range(strcmp(row.name, "verify_margin") == 0 ? verified : models[m], STENO_CALL_TRANSCRIBE, &row);
    steno_model_close(verified);
    for (int m = FINDS; m < N_MODELS; m++)
        for (int i = 0; row_get(models[m], STENO_CALL_FIND_SPEECH, i, &row); i++)
            if (row.served && is_number(&row) && row.kind != STENO_PARAM_FLAG) check_range(models[m], STENO_CALL_FIND_SPEECH, &row);
    for (int i = 0; row_get(models[0], STENO_CALL_OPEN, i, &row); i++)
        if (row.served && row.kind == STENO_PARAM_CHOICE) check_range(models[0], STENO_CALL_OPEN, &row);
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------ */

/* Of each family a model that can be opened again. */
static int open_as(int family, const steno_model_params *p, steno_error *e)
{
    static struct folder (*const folder[N_MODELS])(void) = { [2] = ctc_folder, [3] = pk_tdt_folder, [4] = pk_stream_folder,
                                                            [FINDS] = vad_folder };
    steno_model *m = NULL;
    int rc;
    if (qwen_path[family]) {
        rc = steno_model_open(&m, qwen_path[family], p, e);
    } else if (folder[family]) {
        struct folder d = folder[family]();
        rc = steno_model_open(&m, d.path, p, e);
        folder_remove(&d);
    } else {
        const struct bytes b = family == FINDS + 1 ? shape_bytes("silero", DT_F16, 7) : random_bytes(&small_dims, DT_F16, 2);
        rc = steno_model_open_memory(&m, b.p, b.n, p, e);
        free(b.p);
    }
    steno_model_close(m);
    return rc;
}

static void test_opening_refuses_fields_that_the_table_does_not_give_the_family(void **state)
{
    (void)state;
    int refused = 0, served = 0;
    steno_param row;
    for (int m = 1; m < N_MODELS; m++)
        for (int i = 0; row_get(models[m], STENO_CALL_OPEN, i, &row); i++) {
            steno_error e = { 0 };
            union params p;
            if (row.kind == STENO_PARAM_CALL) continue; /* a team */
            params_new_of(&p, STENO_CALL_OPEN);
            ask(&p, &row);
            const int rc = open_as(m, &p.model, &e), says = rc == STENO_EARG && strstr(e.text, "does not serve it") != NULL;
            if (says == row.served || (says && (!strstr(e.text, row.name) || !strstr(e.text, row.reason))))
                fail_msg("%s, %s: served %d, %d '%s'", model_name[m], row.name, (int)row.served, rc, e.text);
            row.served ? served++ : refused++;
        }
    assert_true(served > 10 && refused > 5);
}

static void test_the_only_arithmetic_may_be_requested(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODELS; m++) {
        steno_error e = { 0 };
        steno_model_params p;
        steno_model_params_init(&p);
        p.compute = STENO_COMPUTE_F32;
        if (steno_params_check(models[m], STENO_CALL_OPEN, &p, NULL, &e)) fail_msg("%s: '%s'", model_name[m], e.text);
        p.verify = 1;
        assert_int_equal(steno_params_check(models[m], STENO_CALL_OPEN, &p, NULL, &e), STENO_EARG);
        if (strncmp(e.text, "verify ", 7) != 0) fail_msg("%s: '%s'", model_name[m], e.text);
    }
}

static void test_a_window_that_is_shorter_than_any_chunk_is_reported(void **state)
{
    (void)state;
    steno_error e = { 0 };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.chunk_ms = 2000;
    p.condition_on_previous_text = 0;
    assert_int_equal(steno_params_check(models[1], STENO_CALL_TRANSCRIBE, &p, NULL, &e), STENO_EARG);
    assert_string_equal(e.text, "chunk_ms is 2000, and a window of this model is 600 ms long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_has_one_row),
        cmocka_unit_test(test_defaults_are_those_of_the_table_and_lie_in_their_ranges),
        cmocka_unit_test(test_a_model_serves_the_parameters_of_its_rows_and_a_call_with_one_of_them),
        cmocka_unit_test(test_parameters_a_model_does_not_support_are_refused_by_name),
        cmocka_unit_test(test_a_call_refuses_fields_that_the_table_does_not_give_it),
        cmocka_unit_test(test_a_default_that_is_given_counts_and_has_the_callers_name_in_messages),
        cmocka_unit_test(test_ranges_are_those_of_the_table_at_their_ends_and_beyond),
        cmocka_unit_test(test_opening_refuses_fields_that_the_table_does_not_give_the_family),
        cmocka_unit_test(test_the_only_arithmetic_may_be_requested),
        cmocka_unit_test(test_a_window_that_is_shorter_than_any_chunk_is_reported),
    };
    return cmocka_run_group_tests(tests, models_open, models_close);
}
