/* steno tests: language models against the reference. SPDX-License-Identifier: MIT
 *
 * The small models of the collection, each with four prompts: logits behind the prompt, and the most probable ids one after the other, an
 * end of text included. Stored weights that are rounded are compared with what transformers computes of those. */
#include <jansson.h>
#include <math.h>
#include "folder.h"
#include "harness.h"
#include "npy.h"
#include "steno/steno.h"

enum { IDS_MAX = 2048 };
/* How far logits may be off, of the largest one, and which nearer ones may change places. Rounding what is multiplied costs more, but no
 * more than llama.cpp's rounding does. */
struct bound { double off, margin; };
static struct bound const exact = { 1e-3, 0.02 }, rounded = { 0.12, 1.5 };

/* What rounding costs, as a share of what llama.cpp's does: the same numbers are rounded to as many bits, so a model is better off here,
 * the next one there, and all together are as well off. */
static double const most_share = 1.25, most_mean_share = 1.02;
static double sum_of_shares;
static int n_shares;

static json_t *golden_read(const char *name)
{
    FILE *f = shared_open(name);
    if (!f) return NULL;
    json_error_t e;
    json_t *j = json_loadf(f, 0, &e);
    fclose(f);
    if (!j) fail_msg("%s: %s", name, e.text);
    return j;
}

static steno_model *lm_open(const char *path, const char *level, int compute)
{
    char name[1024];
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.compute = compute;
    p.cpu_level = level;
    if (*path == '/') snprintf(name, sizeof name, "%s", path);
    else snprintf(name, sizeof name, "%s/material/llm/%s", shared_dir(), path);
    if (steno_model_open(&m, name, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static double distance(const float *ours, const float *want, size_t n)
{
    double most = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs((double)want[i]));
        most = fmax(most, fabs((double)ours[i] - (double)want[i]));
    }
    return most / largest;
}

static double rms(const float *ours, const float *want, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += ((double)ours[i] - (double)want[i]) * ((double)ours[i] - (double)want[i]);
    return sqrt(sum / (double)n);
}

static int32_t argmax(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* Ids one after the other: those of the reference, up to where it could have chosen another one. */
static void check_greedy(steno_session *s, const char *name, const json_t *prompt, double least)
{
    const json_t *want = json_object_get(prompt, "greedy"), *margin = json_object_get(prompt, "greedy_margin");
    for (size_t i = 0; i < json_array_size(want); i++) {
        int n = 0;
        const float *logits = steno_logits(s, &n);
        assert_non_null(logits);
        const int32_t id = argmax(logits, n);
        if (json_real_value(json_array_get(margin, i)) < least) return;
        if (id != json_integer_value(json_array_get(want, i)))
            fail_msg("%s: id %zu is %d, want %lld", name, i, (int)id, (long long)json_integer_value(json_array_get(want, i)));
        if (steno_prefill_continue(s, &id, 1)) fail_msg("%s: %s", name, steno_last_error(s));
    }
}

static int ids_of(int32_t *ids, const json_t *prompt)
{
    const json_t *list = json_object_get(prompt, "ids");
    const int n = (int)json_array_size(list);
    assert_in_range(n, 1, IDS_MAX);
    for (int i = 0; i < n; i++) ids[i] = (int32_t)json_integer_value(json_array_get(list, (size_t)i));
    return n;
}

struct kind {
    const char *model, *prompts, *golden; /* golden.json, or what the logits of rounded weights are */
    const char *logits;                   /* logits_p%d.npy, or one array of all prompts */
};

static const struct kind kinds[] = {
    { "models/llama/hf", "llama", "llama/golden.json", NULL },
    { "models/llama/gguf/llama-F32.gguf", "llama", "llama/golden.json", NULL },
    { "models/llama/gguf/llama-Q8_0.gguf", "llama", "llama/dequant-llama-Q8_0.json", "llama/dequant-llama-Q8_0.npy" },
    { "models/llama/gguf/llama-Q4_0.gguf", "llama", "llama/dequant-llama-Q4_0.json", "llama/dequant-llama-Q4_0.npy" },
    { "models/llama3/hf", "llama3", "llama3/golden.json", NULL },
    { "models/llama3/gguf/llama3-Q4_0.gguf", "llama3", "llama3/dequant-llama3-Q4_0.json", "llama3/dequant-llama3-Q4_0.npy" },
    { "models/qwen3/hf", "qwen3", "qwen3/golden.json", NULL },
    { "models/qwen3/gguf/qwen3-Q8_0.gguf", "qwen3", "qwen3/dequant-qwen3-Q8_0.json", "qwen3/dequant-qwen3-Q8_0.npy" },
    { "models/qwen3/gguf/qwen3-Q4_0.gguf", "qwen3", "qwen3/dequant-qwen3-Q4_0.json", "qwen3/dequant-qwen3-Q4_0.npy" },
    { "models/qwen3/gguf/qwen3-IQ4_NL.gguf", "qwen3", "qwen3/dequant-qwen3-IQ4_NL.json", "qwen3/dequant-qwen3-IQ4_NL.npy" },
    { "models/qwen3k/hf", "qwen3k", "qwen3k/golden.json", NULL },
    { "models/qwen3k/gguf/qwen3k-Q4_K_M.gguf", "qwen3k", "qwen3k/dequant-qwen3k-Q4_K_M.json", "qwen3k/dequant-qwen3k-Q4_K_M.npy" },
    { "models/qwen3k/gguf/qwen3k-Q6_K.gguf", "qwen3k", "qwen3k/dequant-qwen3k-Q6_K.json", "qwen3k/dequant-qwen3k-Q6_K.npy" },
    { "models/gemma/hf", "gemma", "gemma/golden.json", NULL },
    { "models/gemma/gguf/gemma-F16.gguf", "gemma", "gemma/golden.json", NULL },
    { "models/gemma/gguf/gemma-Q5_0.gguf", "gemma", "gemma/dequant-gemma-Q5_0.json", "gemma/dequant-gemma-Q5_0.npy" },
    { "models/gemma3/hf", "gemma3", "gemma3/golden.json", NULL },
    { "models/gemma3/gguf/gemma3-Q8_0.gguf", "gemma3", "gemma3/dequant-gemma3-Q8_0.json", "gemma3/dequant-gemma3-Q8_0.npy" },
    { "models/gemma3/gguf/gemma3-Q4_0.gguf", "gemma3", "gemma3/dequant-gemma3-Q4_0.json", "gemma3/dequant-gemma3-Q4_0.npy" },
    { "models/llama/mlx-4bit-g64", "llama", "llama/mlx-4bit-g64.json", "llama/mlx-4bit-g64.npy" },
    { "models/llama/mlx-8bit-g32", "llama", "llama/mlx-8bit-g32.json", "llama/mlx-8bit-g32.npy" },
    { "models/qwen3/mlx-4bit-g64", "qwen3", "qwen3/mlx-4bit-g64.json", "qwen3/mlx-4bit-g64.npy" },
    { "models/gemma/mlx-4bit-g64", "gemma", "gemma/mlx-4bit-g64.json", "gemma/mlx-4bit-g64.npy" },
    { "models/gemma3/mlx-4bit-g32", "gemma3", "gemma3/mlx-4bit-g32.json", "gemma3/mlx-4bit-g32.npy" },
};

/* The row of prompt p in an array of all prompts, or an array of its own. */
static struct npy logits_of(const struct kind *k, size_t p, const float **row)
{
    char name[256];
    if (k->logits) snprintf(name, sizeof name, "llm/goldens/%s", k->logits);
    else snprintf(name, sizeof name, "llm/goldens/%s/logits_p%zu.npy", k->prompts, p);
    const struct npy a = npy_read(name);
    *row = k->logits ? a.v + p * (a.n / a.dim[0]) : a.v;
    return a;
}

static void run_kind(const struct kind *k, const char *level, int compute)
{
    const struct bound *bound = compute == STENO_COMPUTE_F32 ? &exact : &rounded;
    char name[256];
    int32_t ids[IDS_MAX];
    snprintf(name, sizeof name, "llm/goldens/%s/golden.json", k->prompts);
    json_t *prompts = golden_read(name);
    snprintf(name, sizeof name, "llm/goldens/%s", k->golden);
    json_t *golden = golden_read(name);
    steno_model *m = lm_open(k->model, level, compute);
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    double most = 0, ours_off = 0, theirs_off = 0;
    for (size_t p = 0; p < json_array_size(json_object_get(prompts, "prompts")); p++) {
        const json_t *one = json_array_get(json_object_get(prompts, "prompts"), p);
        const int n_ids = ids_of(ids, one);
        const float *want;
        struct npy a = logits_of(k, p, &want);
        int n = 0;
        if (steno_prefill(s, ids, n_ids)) fail_msg("%s: %s", k->model, steno_last_error(s));
        const float *logits = steno_logits(s, &n);
        assert_non_null(logits);
        const size_t n_want = k->logits ? a.n / a.dim[0] : a.n; /* folders have rows of padding, which GGUF files leave out */
        const size_t n_both = n_want < (size_t)n ? n_want : (size_t)n;
        const double d = distance(logits, want, n_both), off = rms(logits, want, n_both);
        const json_t *theirs = json_object_get(json_array_get(json_object_get(golden, "prompts"), p), "rms_diff_llamacpp");
        ours_off += theirs ? off * off : 0;
        theirs_off += theirs ? json_real_value(theirs) * json_real_value(theirs) : 0;
        if (d > most) most = d;
        if (d > bound->off) fail_msg("%s: logits of prompt %zu are %.2g off", k->model, p, d);
        check_greedy(s, k->model, json_array_get(json_object_get(golden, "prompts"), p), bound->margin);
        free(a.v);
    }
    print_message("%s: logits within %.2g, %.3g off; llama.cpp %.3g\n", k->model, most, sqrt(ours_off), sqrt(theirs_off));
    if (theirs_off > 0) {
        sum_of_shares += sqrt(ours_off / theirs_off);
        n_shares++;
    }
    if (ours_off > most_share * most_share * theirs_off) fail_msg("%s: rounding costs more than llama.cpp's does", k->model);
    steno_session_close(s);
    steno_model_close(m);
    json_decref(prompts);
    json_decref(golden);
}

static void test_logits_and_ids_are_the_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) run_kind(&kinds[i], NULL, STENO_COMPUTE_F32);
}

static void test_rounding_costs_little(void **state)
{
    (void)state;
    sum_of_shares = n_shares = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) run_kind(&kinds[i], NULL, STENO_COMPUTE_AUTO);
    print_message("rounding costs %.2f of what llama.cpp's does\n", sum_of_shares / n_shares);
    assert_true(sum_of_shares < most_mean_share * n_shares);
}

/* Every level, for models that between them have everything. */
static void test_levels_agree(void **state)
{
    (void)state;
    static const char *const path[] = { "models/llama3/hf", "models/qwen3k/gguf/qwen3k-Q4_K_M.gguf",
                                        "models/gemma3/gguf/gemma3-Q8_0.gguf" };
    for (int level = 0; steno_cpu_level_name(level); level++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            for (size_t j = 0; j < 3; j++)
                if (steno_cpu_level_usable(level) && !strcmp(kinds[i].model, path[j]))
                    run_kind(&kinds[i], steno_cpu_level_name(level), STENO_COMPUTE_F32);
}

/* The weights of gemma3 under other settings. */
static void check_variant(const char *name, const char *from, const char *to)
{
    char path[1024], text[4096] = { 0 };
    const struct folder d = folder_new();
    snprintf(path, sizeof path, "%s/material/llm/models/gemma3/hf/model.safetensors", shared_dir());
    assert_int_equal(symlink(path, folder_at(&d, "model.safetensors").path), 0);
    FILE *f = shared_open("llm/models/gemma3/hf/config.json");
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    const char *at = strstr(text, from);
    assert_non_null(at);
    char changed[8192];
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    folder_text(&d, "config.json", changed);
    snprintf(path, sizeof path, "%s/golden.json", name);
    const struct kind k = { d.path, name, path, NULL };
    run_kind(&k, NULL, STENO_COMPUTE_F32);
    folder_remove(&d);
}

static void test_settings_change_what_they_should(void **state)
{
    (void)state;
    check_variant("gemma3-linear8", "\"final_logit_softcapping\": null",
                  "\"final_logit_softcapping\": null, \"rope_scaling\": { \"rope_type\": \"linear\", \"factor\": 8.0 }");
    check_variant("gemma3-softcap", "\"final_logit_softcapping\": null", "\"final_logit_softcapping\": 5.0");
    check_variant("gemma3-scale", "\"query_pre_attn_scalar\": 32", "\"query_pre_attn_scalar\": 16");
}

int main(void)
{
    if (!getenv("STENO_SHARED")) {
        puts("skipped: STENO_SHARED does not name the collection");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logits_and_ids_are_the_references),
        cmocka_unit_test(test_rounding_costs_little),
        cmocka_unit_test(test_levels_agree),
        cmocka_unit_test(test_settings_change_what_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
