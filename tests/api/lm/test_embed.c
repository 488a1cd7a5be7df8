/* steno tests: vectors of texts: calls, limits, and failed allocations. SPDX-License-Identifier: MIT
 *
 * A small BERT with random weights; how near vectors are to the reference's is golden/test_bert.c's affair. */
#include <sys/stat.h>
#include "bert_model.h"
#include "lm_model.h"
#include "heap.h"
#include "steno/steno.h"

enum { ALLOCATIONS_MAX = 5000, TEXT_MAX = 4096 };

static struct folder home;

static int home_make(void **state)
{
    (void)state;
    home = bert_folder();
    return 0;
}

static int home_remove(void **state)
{
    (void)state;
    folder_remove(&home);
    return 0;
}

static steno_model *model_new(const struct folder *d, steno_team *team)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.team = team;
    if (steno_model_open(&m, d->path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static steno_session *session_of(const steno_model *m, steno_team *team)
{
    steno_session *s;
    steno_error e;
    if (steno_session_open(&s, m, team, NULL, &e)) fail_msg("%s", e.text);
    return s;
}

static steno_embedding vector_of(const steno_session *s, int i)
{
    steno_embedding v = { .size = sizeof v };
    assert_int_equal(steno_embedding_get(s, i, &v), 0);
    return v;
}

/* n tokens with those around them, of letters that differ. */
static const char *tokens(char text[TEXT_MAX], int n)
{
    for (int i = 0; i < n - 2; i++) text[2 * i] = (char)('a' + i * 7 % 26), text[2 * i + 1] = ' ';
    text[2 * (n - 2)] = 0;
    return text;
}

static void test_as_many_tokens_as_there_are_positions(void **state)
{
    (void)state;
    static char text[3][TEXT_MAX];
    const char *texts[3];
    steno_embed_params p;
    steno_model *m = model_new(&home, NULL);
    steno_session *s = session_of(m, NULL);
    steno_embed_params_init(&p);
    for (int i = 0; i < 3; i++) texts[i] = tokens(text[i], 511 + i);
    assert_int_equal(steno_embed(s, texts, 2, &p), 0);
    assert_int_equal(vector_of(s, 0).n_tokens, 511);
    assert_int_equal(vector_of(s, 1).n_tokens, 512);
    assert_int_equal(steno_embed(s, texts, 3, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "text 3 has 513 tokens, and the model takes 512"));
    p.truncate = 1;
    assert_int_equal(steno_embed(s, texts, 3, &p), 0);
    const steno_embedding full = vector_of(s, 1), cut = vector_of(s, 2);
    assert_true(cut.is_truncated && cut.n_tokens == 512);
    assert_memory_equal(full.vector, cut.vector, BERT_D * sizeof(float)); /* the same 511, and the one that ends a text */
    steno_session_close(s);
    steno_model_close(m);
}

static void test_length_and_pooling_are_those_of_the_folder(void **state)
{
    (void)state;
    const struct folder d = bert_folder();
    char below[128];
    snprintf(below, sizeof below, "%s/1_Pooling", d.path);
    assert_int_equal(mkdir(below, 0700), 0);
    folder_text(&d, "1_Pooling/config.json", "{\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": false}");
    folder_text(&d, "sentence_bert_config.json", "{\"max_seq_length\": 8}");
    steno_model *m = model_new(&d, NULL);
    steno_session *s = session_of(m, NULL);
    char text[TEXT_MAX];
    const char *texts[] = { tokens(text, 9) };
    assert_int_equal(steno_embed(s, texts, 1, NULL), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "the model takes 8"));
    texts[0] = "ab c";
    assert_int_equal(steno_embed(s, texts, 1, NULL), 0);
    const steno_embedding v = vector_of(s, 0);
    assert_int_equal(v.pooling, STENO_POOLING_CLS);
    assert_int_equal(v.n_tokens, 4);
    double length = 0;
    for (int i = 0; i < v.n; i++) length += (double)v.vector[i] * (double)v.vector[i];
    assert_true(fabs(length - 1) < 1e-5);
    steno_session_close(s);
    steno_model_close(m);
    unlink(folder_at(&d, "1_Pooling/config.json").path);
    rmdir(below);
    folder_remove(&d);
}

static void test_threads_change_no_bit(void **state)
{
    (void)state;
    static char text[3][TEXT_MAX];
    const char *texts[] = { tokens(text[0], 300), "ab", tokens(text[1], 40), tokens(text[2], 512) };
    float want[4][BERT_D];
    for (int threads = 1; threads <= 4; threads++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, threads, NULL), 0);
        steno_model *m = model_new(&home, team);
        steno_session *s = session_of(m, team);
        assert_int_equal(steno_embed(s, texts, 4, NULL), 0);
        for (int i = 0; i < 4; i++) {
            if (threads == 1) memcpy(want[i], vector_of(s, i).vector, sizeof want[i]);
            assert_memory_equal(want[i], vector_of(s, i).vector, sizeof want[i]);
        }
        steno_session_close(s);
        steno_model_close(m);
        steno_team_close(team);
    }
}

static void test_texts_can_be_timed(void **state)
{
    (void)state;
    steno_model *m = model_new(&home, NULL);
    steno_session *s = session_of(m, NULL);
    assert_true(steno_bench_phase(s, "encode", BERT_POSITIONS) >= 0);
    assert_true(steno_bench_phase(s, "batch", BERT_POSITIONS) >= 0); /* of which no two have room in a run */
    assert_true(steno_bench_phase(s, "batch", 1) >= 0);
    assert_int_equal(steno_bench_phase(s, "encode", BERT_POSITIONS + 1), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "513 tokens; texts have at most 512"));
    assert_int_equal(steno_bench_phase(s, "decode", 1), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "known are encode, batch"));
    assert_int_equal(steno_embed(s, (const char *[]) { "ab" }, 1, NULL), 0);
    steno_session_close(s);
    steno_model_close(m);
}

/* Those of a language model, text by text and all together, in a batch of that number of slots. */
static void test_texts_in_one_run_have_the_vectors_that_each_has_alone(void **state)
{
    (void)state;
    enum { TEXTS = 24, LONG = 1000, MOST_WIDTH = 256 };
    static char text[TEXTS][LONG + 1];
    static float want[TEXTS][MOST_WIDTH];
    const char *texts[TEXTS];
    steno_model *m = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 0);
    uint32_t seed = 3;
    for (int i = 0; i < TEXTS; i++) {
        const int n = i == 7 || i == 8 ? LONG - i * 10 : 1 + i * i % 90; /* two of them longer than a run */
        for (int k = 0; k < n; k++) text[i][k] = (char)(' ' + (seed = seed * 1664525u + 1013904223u) / 65536 % 90);
        texts[i] = text[i];
    }
    for (int pooling = STENO_POOLING_MEAN; pooling <= STENO_POOLING_LAST; pooling++)
        for (int slots = 1; slots <= 16; slots += 5) {
            steno_batch_params bp;
            steno_batch *b;
            steno_embed_params p;
            steno_batch_params_init(&bp);
            bp.max_windows = slots;
            assert_int_equal(steno_batch_open(&b, m, NULL, &bp, NULL), 0);
            steno_session *s = lm_session(m, NULL, b);
            steno_embed_params_init(&p);
            p.pooling = pooling;
            for (int i = 0; slots == 1 && i < TEXTS; i++) {
                assert_int_equal(steno_embed(s, &texts[i], 1, &p), 0);
                const steno_embedding v = vector_of(s, 0);
                assert_in_range(v.n, 1, MOST_WIDTH);
                memcpy(want[i], v.vector, (size_t)v.n * sizeof(float));
            }
            const steno_timings before = lm_timings(s);
            assert_int_equal(steno_embed(s, texts, TEXTS, &p), 0);
            for (int i = 0; i < TEXTS; i++) {
                const steno_embedding v = vector_of(s, i);
                if (memcmp(want[i], v.vector, (size_t)v.n * sizeof(float))) fail_msg("%d slots, text %d: another vector", slots, i);
            }
            assert_int_equal(lm_timings(s).n_prompts - before.n_prompts, TEXTS);
            if (slots > 1) assert_true(lm_timings(s).n_wakes - before.n_wakes < TEXTS);
            steno_session_close(s);
            steno_batch_close(b);
        }
    steno_model_close(m);
}

static int stop_now(void *user)
{
    ++*(int *)user;
    return 1;
}

static void test_a_call_that_is_canceled_leaves_no_vectors(void **state)
{
    (void)state;
    int asked = 0;
    const char *texts[] = { "ab", "c" };
    steno_embed_params p;
    steno_model *m = model_new(&home, NULL);
    steno_session *s = session_of(m, NULL);
    steno_embed_params_init(&p);
    assert_int_equal(steno_embed(s, texts, 2, &p), 0);
    p.should_abort = stop_now;
    p.user = &asked;
    assert_int_equal(steno_embed(s, texts, 2, &p), STENO_ECANCELED);
    assert_true(asked > 0);
    assert_int_equal(steno_embedding_count(s), 0);
    assert_int_equal(steno_embed(s, texts, 2, NULL), 0);
    assert_int_equal(steno_embedding_count(s), 2);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_other_models_and_other_calls_are_refused(void **state)
{
    (void)state;
    const char *texts[] = { "a" };
    steno_model *m = model_new(&home, NULL);
    steno_session *s = session_of(m, NULL);
    steno_generate_params g;
    const float pcm[16] = { 0 };
    steno_generate_params_init(&g);
    assert_int_equal(steno_transcribe(s, pcm, 16, NULL), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "bert"));
    assert_int_equal(steno_generate(s, (const int32_t[]){ 5 }, 1, &g), STENO_EARG);
    assert_int_equal(steno_punctuate(s, "a", NULL), STENO_EARG);
    assert_int_equal(steno_find_speech(s, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_embed(s, texts, 1, NULL), 0); /* it goes on */
    steno_session_close(s);
    steno_model_close(m);
    assert_int_equal(steno_embed(NULL, texts, 1, NULL), STENO_EARG);
    assert_int_equal(steno_embedding_count(NULL), 0);
}

static void test_folders_that_do_not_fit_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct { const char *file, *text, *why; } bad[] = {
        { "config.json", "{\"model_type\": \"roberta\", \"hidden_size\": 16}", "roberta" },
        { "config.json", "{\"model_type\": \"bert\", \"hidden_size\": 16}", "num_hidden_layers" },
        { "config.json", "{\"model_type\": \"bert\", \"hidden_size\": 20, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, "
                         "\"intermediate_size\": 24}", "embeddings.word_embeddings.weight" },
        { "config.json", "{\"model_type\": \"bert\", \"hidden_size\": 16, \"num_hidden_layers\": 3, \"num_attention_heads\": 2, "
                         "\"intermediate_size\": 24}", "encoder.layer.2" },
        { "config.json", "{\"model_type\": \"bert\", \"hidden_size\": 16, \"num_hidden_layers\": 2, \"num_attention_heads\": 3, "
                         "\"intermediate_size\": 24}", "3 heads of a width of 16" },
        { "config.json", "{" BERT_SETTINGS ", \"hidden_act\": \"silu\"}", "hidden_act is \"silu\"" },
        { "config.json", "{" BERT_SETTINGS ", \"position_embedding_type\": \"relative_key\"}", "positions are \"relative_key\"" },
        { "config.json", "{" BERT_SETTINGS ", \"is_decoder\": true}", "is_decoder is true" },
        { "config.json", "{" BERT_SETTINGS ", \"layer_norm_eps\": -1}", "layer_norm_eps" },
        { "sentence_bert_config.json", "{\"max_seq_length\": 0}", "sentence.max_seq_length" },
        { "vocab.txt", "", "vocabulary without strings" },
        { "tokenizer.json", "{\"model\": {\"type\": \"WordPiece\", \"vocab\": {\"a\": 0}}}", "a tokenizer of another kind" },
        { "tokenizer.json", "{\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, \"model\": {\"type\": \"WordPiece\", "
                            "\"vocab\": {\"a\": 1}}}", "no string has the id 0" },
        { "tokenizer_config.json", "{", "tokenizer_config.json" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct folder d = bert_folder();
        steno_model *m;
        steno_error e = { 0 };
        folder_text(&d, bad[i].file, bad[i].text);
        const int rc = steno_model_open(&m, d.path, NULL, &e);
        if (!rc || !strstr(e.text, bad[i].why)) fail_msg("%s with %s: status %d, '%s'", bad[i].file, bad[i].text, rc, e.text);
        folder_remove(&d);
    }
}

/* Without a vocabulary the network opens, and reads no text. */
static void test_a_model_without_a_tokenizer_makes_no_vectors(void **state)
{
    (void)state;
    const struct folder d = bert_folder();
    const char *texts[] = { "a" };
    unlink(folder_at(&d, "vocab.txt").path);
    steno_model *m = model_new(&d, NULL);
    steno_session *s = session_of(m, NULL);
    assert_int_equal(steno_embed(s, texts, 1, NULL), STENO_ENOVOCAB);
    assert_non_null(strstr(steno_last_error(s), "no tokenizer"));
    steno_session_close(s);
    steno_model_close(m);
    folder_remove(&d);
}

/* Open, read, and have vectors; where an allocation fails, a reason. */
static int whole_way(int64_t fail_at, struct heap *h, float *vector, char why[1024])
{
    static char text[TEXT_MAX];
    const char *texts[] = { "ab\xcc\x81 c", tokens(text, 400), "zzz." };
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_error e = { 0 };
    count_begin(fail_at);
    int rc = steno_model_open(&m, home.path, NULL, &e);
    if (!rc) rc = steno_session_open(&s, m, NULL, NULL, &e);
    if (!rc && (rc = steno_embed(s, texts, 3, NULL))) snprintf(e.text, sizeof e.text, "%s", steno_last_error(s));
    if (!rc) memcpy(vector, vector_of(s, 2).vector, BERT_D * sizeof *vector);
    if (rc && s) assert_int_equal(steno_embedding_count(s), 0);
    steno_session_close(s);
    steno_model_close(m);
    *h = count_end();
    snprintf(why, 1024, "%s", e.text);
    return rc;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    need_counting();
    float want[BERT_D], got[BERT_D];
    char why[1024];
    struct heap h;
    int failed = 0;
    assert_int_equal(whole_way(-1, &h, want, why), 0);
    for (int64_t n = 0;; n++) {
        const int rc = whole_way(n, &h, got, why);
        if (rc && (rc != STENO_ENOMEM || !*why)) fail_msg("allocation %lld fails: status %d \"%s\"", (long long)n, rc, why);
        if (!rc && memcmp(want, got, sizeof want)) fail_msg("allocation %lld fails: another vector", (long long)n);
        if (h.bytes) fail_msg("allocation %lld fails: %lld bytes stay", (long long)n, (long long)h.bytes);
        failed += rc != 0;
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    assert_true(failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_tokens_as_there_are_positions),
        cmocka_unit_test(test_length_and_pooling_are_those_of_the_folder),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_texts_can_be_timed),
        cmocka_unit_test(test_texts_in_one_run_have_the_vectors_that_each_has_alone),
        cmocka_unit_test(test_a_call_that_is_canceled_leaves_no_vectors),
        cmocka_unit_test(test_other_models_and_other_calls_are_refused),
        cmocka_unit_test(test_folders_that_do_not_fit_are_refused_with_a_reason),
        cmocka_unit_test(test_a_model_without_a_tokenizer_makes_no_vectors),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, home_make, home_remove);
}
