/* steno tests: Qwen3-ASR as GGUF files. SPDX-License-Identifier: MIT
 *
 * The small model of tests/data is converted from both layouts. Results are the folder's to the last bit in types that hold its numbers. */
#include "api/convert.h"
#include "same_results.h"
#include "qwen3_asr.h"
#include "api/shipped.h"
#include "internal.h"

static struct audio audio;

static int group_begin(void **state)
{
    (void)state;
    audio = demo_audio(0, 0, 1);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    free(audio.pcm);
    return 0;
}

static struct buf converted(const char *path, const char *type)
{
    struct buf b = { 0 };
    steno_error e;
    if (convert_to(&b, path, type, &e)) fail_msg("%s: %s", type, e.text);
    return b;
}

static steno_model *bytes_model_of(const struct buf *b, int32_t compute)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.compute = compute;
    if (steno_model_open_memory(&m, b->p, b->len, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static steno_model *bytes_model(const struct buf *b)
{
    return bytes_model_of(b, STENO_COMPUTE_F32);
}

/* The first 24 ids: of random weights more do not help. */
static steno_session *heard(const steno_model *m)
{
    steno_session *s = qwen_session(m);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.sample_len = 24;
    p.initial_prompt = "a talk";
    if (steno_transcribe(s, audio.pcm, audio.n, &p)) fail_msg("%s", steno_last_error(s));
    return s;
}

static void is_result_of(const steno_session *want, const struct buf *b, const char *what)
{
    steno_model *m = bytes_model(b);
    steno_session *s = heard(m);
    results_are_equal(s, want, what);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_both_layouts_become_files_with_the_same_bits(void **state)
{
    static const char *const exact[] = { "f32", "bf16" };
    (void)state;
    const struct folder original = qwen_folder(), hf = qwen_hf_folder();
    const char *const path[] = { original.path, hf.path };
    steno_model *m = qwen_open(qwen_dir);
    steno_session *want = heard(m);
    assert_true(*steno_text(want));
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
            struct buf b = converted(path[k], exact[i]);
            is_result_of(want, &b, exact[i]);
            buf_free(&b);
        }
    steno_session_close(want);
    steno_model_close(m);
    folder_remove(&original);
    folder_remove(&hf);
}

static void test_a_file_becomes_itself_again(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct folder_file file = folder_at(&d, "m.gguf");
    struct buf b = converted(qwen_dir, "q8_0");
    folder_put(&d, "m.gguf", b.p, b.len);
    struct buf again = converted(file.path, "q8_0");
    assert_int_equal(again.len, b.len);
    assert_memory_equal(again.p, b.p, b.len);
    buf_free(&again);
    buf_free(&b);
    folder_remove(&d);
}

static void test_all_types_are_written_and_read(void **state)
{
    static const char *const type[] = { "f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "q6_k", "q5_k_m", "q4_k_m", "iq4_nl", "q2_k" };
    (void)state;
    struct buf full = converted(qwen_dir, "f32");
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        struct buf b = converted(qwen_dir, type[i]);
        assert_true(b.len < full.len * 6 / 10);
        steno_model *m = bytes_model(&b);
        steno_session *s = heard(m);
        assert_int_equal(steno_segment_count(s), 1);
        steno_session_close(s);
        steno_model_close(m);
        buf_free(&b);
    }
    buf_free(&full);
}

/* ---- blocks in low precision */

enum { ROWS = 64, WIDTH = 64 };
struct rows_seen { float x[ROWS * WIDTH]; int n; };

static void take_rows(void *user, const steno_rows *r)
{
    struct rows_seen *seen = user;
    if (strcmp(r->name, "adaptor") != 0) return;
    assert_true(r->n_rows <= ROWS && r->width <= WIDTH);
    for (int i = 0; i < r->n_rows; i++) memcpy(seen->x + i * r->width, r->rows + i * r->stride, (size_t)r->width * sizeof *seen->x);
    seen->n = r->n_rows * r->width;
}

/* The type of the linear after the convolutions. */
static int type_after_stem(const steno_model *m)
{
    const struct plan *p = inside_plan(m, PLAN_ENCODER);
    for (uint16_t i = 0; i + 1 < p->n_ops; i++)
        if (p->op[i].kind == OP_STEM2D) return p->bind[p->op[i + 1].bind].type;
    return -1;
}

static int rows_in(struct rows_seen *seen, const struct buf *b, int32_t compute)
{
    steno_model *m = bytes_model_of(b, compute);
    steno_session *s = qwen_session(m);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.user = seen;
    p.on_rows = take_rows;
    p.sample_len = 1;
    if (steno_transcribe(s, audio.pcm, audio.n < 5 * RATE ? audio.n : 4 * RATE, &p)) fail_msg("%s", steno_last_error(s));
    const int type = type_after_stem(m);
    steno_session_close(s);
    steno_model_close(m);
    return type;
}

/* Blocks are put in another order for convolutions, and are then numbers again. */
static void test_blocks_behind_the_stem_use_low_precision(void **state)
{
    static struct rows_seen exact, low;
    struct buf b = converted(qwen_dir, "q8_0");
    double most = 0, off = 0;
    (void)state;
    assert_int_equal(rows_in(&exact, &b, STENO_COMPUTE_F32), PK_F32);
    const int type = rows_in(&low, &b, STENO_COMPUTE_INT16);
    assert_true(exact.n > 0 && exact.n == low.n);
    for (int i = 0; i < exact.n; i++) {
        most = fmax(most, fabs((double)exact.x[i]));
        off = fmax(off, fabs((double)exact.x[i] - (double)low.x[i]));
    }
    if (off > 0 && type != PK_I16_PAIR) fail_msg("other matrices are int16, and this one is %s", packed_name((enum packed_type)type));
    if (!(off > 0)) print_message("this processor gains nothing by int16\n");
    if (!(off < 2e-3 * most)) fail_msg("rows differ by %g of %g", off, most);
    buf_free(&b);
}

/* Of the settings that the audio part needs. */
static void test_a_file_without_a_setting_is_refused(void **state)
{
    static const char key[] = "qwen3-asr.audio_config.n_window_infer";
    (void)state;
    struct buf b = converted(qwen_dir, "q8_0");
    char *at = b.p;
    while (at + sizeof key < b.p + b.len && memcmp(at, key, sizeof key - 1) != 0) at++;
    assert_true(at + sizeof key < b.p + b.len);
    at[sizeof key - 2] = 'x';
    steno_model *m = NULL;
    steno_error e;
    assert_int_equal(steno_model_open_memory(&m, b.p, b.len, NULL, &e), STENO_EFORMAT);
    if (!strstr(e.text, "audio_config.n_window_infer")) fail_msg("%s", e.text);
    buf_free(&b);
}

/* A file that could transcribe nothing, and a family without a writer, are refused before a byte is written. */
static void test_what_no_file_can_be_made_of_is_refused(void **state)
{
    (void)state;
    static const char *const form[] = { "gguf", "bin", "hf" };
    const struct folder d = qwen_folder();
    struct buf b = { 0 };
    steno_error e;
    assert_int_equal(remove(folder_at(&d, "vocab.json").path), 0);
    assert_int_equal(convert_to(&b, d.path, "f32", &e), STENO_ENOVOCAB);
    if (!strstr(e.text, "no tokenizer in it or beside it")) fail_msg("%s", e.text);
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        assert_int_equal(convert_to_form(&b, aligner_dir, form[i], NULL, &e), STENO_EUNSUPPORTED);
        if (!strstr(e.text, "a qwen3-forced-aligner model is written in no form; use its files as they are")) fail_msg("%s", e.text);
    }
    assert_int_equal(b.len, 0);
    buf_free(&b);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_layouts_become_files_with_the_same_bits),
        cmocka_unit_test(test_a_file_becomes_itself_again),
        cmocka_unit_test(test_all_types_are_written_and_read),
        cmocka_unit_test(test_blocks_behind_the_stem_use_low_precision),
        cmocka_unit_test(test_a_file_without_a_setting_is_refused),
        cmocka_unit_test(test_what_no_file_can_be_made_of_is_refused),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
