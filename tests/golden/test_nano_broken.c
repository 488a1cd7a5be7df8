/* steno tests: sets of files that are no Fun-ASR-Nano. SPDX-License-Identifier: MIT
 *
 * An encoder with the language model of another, or a part of one; folders that lack something, or name what they must not; files that end
 * early. Each is refused with a reason that names the file. */
#include <sys/stat.h>
#include "folder.h"
#include "funasr.h"
#include "internal.h"

static const char encoder[] = "models/nano/gguf/funasr-encoder-mini-q8.gguf", text[] = "models/nano/gguf/qwen3-mini-q8_0.gguf";

/* Open, and transcribe nothing: what is wrong shows at the latest then. */
static int try_it(const char *path, const char *llm, steno_error *e)
{
    steno_model_params p;
    steno_transcribe_params tp;
    steno_model *m = NULL;
    steno_session *s = NULL;
    static float silence[8000];
    *e = (steno_error){ 0 };
    steno_model_params_init(&p);
    steno_transcribe_params_init(&tp);
    p.llm = llm;
    int rc = steno_model_open(&m, path, &p, e);
    if (!rc) rc = steno_session_open(&s, m, NULL, NULL, e);
    if (!rc) {
        rc = steno_transcribe(s, silence, 8000, &tp);
        if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    }
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static void refused(const char *path, const char *llm, const char *why)
{
    steno_error e;
    const int rc = try_it(path, llm, &e);
    if (!rc || !strstr(e.text, why)) fail_msg("%s, %s: \"%s\", want \"%s\"", path, llm ? llm : "-", rc ? e.text : "it is taken", why);
}

static char *bytes_of(const char *path, size_t *n)
{
    struct file f;
    steno_error e;
    if (file_open(&f, path, &e)) fail_msg("%s", e.text);
    char *bytes = malloc((size_t)f.size);
    assert_int_equal(file_read(&f, 0, bytes, *n = (size_t)f.size, &e), 0);
    file_close(&f);
    return bytes;
}

/* A copy of a file in which a word is another of the same length, everywhere. */
static struct folder_file copy_with(const struct folder *d, const char *name, const char *from, const char *word, const char *other)
{
    size_t n, len = strlen(word), found = 0;
    char *bytes = bytes_of(from, &n);
    for (size_t i = 0; i + len <= n; i++)
        if (!memcmp(bytes + i, word, len)) memcpy(bytes + i, other, len), found++;
    assert_true(found > 0 && strlen(other) == len);
    folder_put(d, name, bytes, n);
    free(bytes);
    return folder_at(d, name);
}

/* ---- two files ------------------------------------------------------------------------------------------------------------------- */

static void test_an_encoder_and_the_language_model_of_another_are_refused(void **state)
{
    (void)state;
    const struct golden_path enc = funasr_file("%s", encoder), own = funasr_file("%s", text);
    const struct golden_path wide = funasr_file("%s", "../llm/models/qwen3k/gguf/qwen3k-Q6_K.gguf");
    const struct golden_path llama = funasr_file("%s", "../llm/models/llama/gguf/llama-Q8_0.gguf");
    const struct golden_path vad = funasr_file("%s", "fsmn-vad/gguf/fsmn-vad.gguf"), sound = funasr_file("%s", "audio/zh_synth.wav");
    steno_error e;
    assert_int_equal(try_it(enc.s, own.s, &e), 0);
    if (is_there(wide.s)) refused(enc.s, wide.s, "but the language model's have");
    if (is_there(llama.s)) refused(enc.s, llama.s, "want a GGUF file of the architecture qwen3");
    refused(enc.s, vad.s, "want a GGUF file of the architecture qwen3");
    refused(enc.s, sound.s, "want a GGUF file of the architecture qwen3");
    refused(own.s, enc.s, "is for audio language models");
    refused(enc.s, "/", "/");
}

static void test_a_language_model_with_a_part_missing_is_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *word, *other, *why; } wrong[] = {
        { "tokenizer.ggml.tokens", "tokenizer.ggml.tokenz", "tokenizer.ggml.tokens" },
        { "tokenizer.ggml.merges", "tokenizer.ggml.mergez", "tokenizer.ggml.merges" },
        { "blk.1.attn_q.weight", "blk.1.attn_x.weight", "model.layers.1.self_attn.q_proj.weight" },
        { "output_norm.weight", "output_nerm.weight", "model.norm.weight" },
        { "token_embd.weight", "token_embx.weight", "token_embd.weight, is missing" },
        { "qwen3.block_count", "qwen3.block_kount", "qwen3.block_count" },
        { "qwen3.embedding_length", "qwen3.embedding_lengzh", "qwen3.embedding_length" },
    };
    const struct golden_path enc = funasr_file("%s", encoder), own = funasr_file("%s", text);
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct folder_file llm = copy_with(&d, "llm.gguf", own.s, wrong[i].word, wrong[i].other);
        char why[400];
        snprintf(why, sizeof why, "%s: ", llm.path); /* not the encoder's file */
        refused(enc.s, llm.path, why);
        refused(enc.s, llm.path, wrong[i].why);
    }
    folder_remove(&d);
}

/* Both files, cut anywhere. */
static void test_files_that_end_early_are_refused(void **state)
{
    (void)state;
    const char *const path[] = { encoder, text };
    const struct folder d = folder_new();
    struct folder_file at[2];
    char *bytes[2];
    size_t n[2];
    for (int i = 0; i < 2; i++) bytes[i] = bytes_of(funasr_file("%s", path[i]).s, &n[i]);
    for (int i = 0; i < 2; i++) {
        at[!i] = folder_at(&d, "whole.gguf");
        at[i] = folder_at(&d, "cut.gguf");
        folder_put(&d, "whole.gguf", bytes[!i], n[!i]);
        for (size_t cut = 0; cut < n[i]; cut += 1 + cut / 2) {
            steno_error e;
            folder_put(&d, "cut.gguf", bytes[i], cut);
            const int rc = try_it(at[0].path, at[1].path, &e);
            if (!rc || !strstr(e.text, "cut.gguf")) fail_msg("%s up to byte %zu: %s", path[i], cut, rc ? e.text : "it is taken");
        }
    }
    for (int i = 0; i < 2; i++) free(bytes[i]);
    folder_remove(&d);
}

/* ---- a folder -------------------------------------------------------------------------------------------------------------------- */

static const char *const inner[] = { "config.json", "generation_config.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
                                     "vocab.json" };
enum { INNER = sizeof inner / sizeof *inner };

static void link_inner(const struct folder *d, const char *folder, const char *without)
{
    char name[100], from[100];
    assert_int_equal(mkdir(folder_at(d, folder).path, 0700), 0);
    for (int i = 0; i < INNER; i++) {
        const char *at = without ? strstr(without, inner[i]) : NULL;
        if (at && (at == without || at[-1] == ' ')) continue;
        snprintf(name, sizeof name, "%s/%s", folder, inner[i]);
        snprintf(from, sizeof from, "models/nano/pt/Qwen3-0.6B/%s", inner[i]);
        assert_int_equal(symlink(funasr_file("%s", from).s, folder_at(d, name).path), 0);
    }
}

static void unlink_inner(const struct folder *d, const char *folder)
{
    char name[100];
    for (int i = 0; i < INNER; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, inner[i]);
        unlink(folder_at(d, name).path);
    }
    rmdir(folder_at(d, folder).path);
}

/* The folder's settings say where its language model is. */
static void try_folder(const char *named, const char *made, const char *without, const char *why)
{
    const struct folder d = folder_new();
    size_t n;
    char *yaml = bytes_of(funasr_file("%s", "models/nano/pt/config.yaml").s, &n), *all = calloc(n + 300, 1);
    const char *key = "init_param_path: Qwen3-0.6B";
    char *at = yaml, *end = yaml + n;
    size_t len = 0;
    while (at < end) {
        if ((size_t)(end - at) >= strlen(key) && !memcmp(at, key, strlen(key))) {
            len += (size_t)snprintf(all + len, 280, "init_param_path: \"%s\"", named);
            at += strlen(key);
        } else {
            all[len++] = *at++;
        }
    }
    folder_put(&d, "config.yaml", all, len);
    assert_int_equal(symlink(funasr_file("%s", "models/nano/pt/model.pt").s, folder_at(&d, "model.pt").path), 0);
    link_inner(&d, made, without);
    if (why) {
        refused(d.path, NULL, why);
    } else {
        steno_error e;
        if (try_it(d.path, NULL, &e)) fail_msg("%s: %s", named, e.text);
    }
    unlink_inner(&d, made);
    folder_remove(&d);
    free(all);
    free(yaml);
}

static void test_a_folder_names_its_language_model(void **state)
{
    (void)state;
    try_folder("Qwen3-0.6B", "Qwen3-0.6B", NULL, NULL);
    try_folder("/somebody/elses/disk/Qwen3-0.6B", "Qwen3-0.6B", NULL, NULL);
    try_folder("other", "other", "generation_config.json", NULL);
    try_folder("Qwen3-0.6B", "Qwen3-0.6B", "config.json", "there is no Qwen3-0.6B/config.json");
    try_folder("Qwen3-0.6B", "other", NULL, "there is no Qwen3-0.6B/config.json");
    try_folder("..", "other", NULL, "is not the name of a folder in it");
    try_folder("a/..", "other", NULL, "is not the name of a folder in it");
    try_folder("Qwen3-0.6B", "Qwen3-0.6B", "tokenizer.json", NULL); /* vocab.json and merges.txt are left */
    try_folder("Qwen3-0.6B", "Qwen3-0.6B", "tokenizer.json merges.txt", "no tokenizer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_encoder_and_the_language_model_of_another_are_refused),
        cmocka_unit_test(test_a_language_model_with_a_part_missing_is_refused_by_name),
        cmocka_unit_test(test_files_that_end_early_are_refused),
        cmocka_unit_test(test_a_folder_names_its_language_model),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
