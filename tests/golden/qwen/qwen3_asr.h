/* steno tests: the small Qwen3-ASR of tests/data, and its forced aligner. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_QWEN3_ASR_H
#define STENO_TESTS_QWEN3_ASR_H
#include "api/model_bytes.h"
#include "folder.h"
#include "golden.h"

static const char qwen_dir[] = "tests/data/qwen3_asr", aligner_dir[] = "tests/data/qwen3_aligner";

static inline steno_model *qwen_open(const char *path)
{
    return reference_model(path, 0, STENO_DECODER_AUTO);
}

static inline steno_session *qwen_session(const steno_model *m)
{
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    return s;
}

static inline char *qwen_bytes_of(const char *dir, const char *name, size_t *n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    const struct model_bytes b = model_bytes_read(path, 0);
    char *bytes = calloc(1, b.n + 1);
    assert_non_null(bytes);
    memcpy(bytes, b.p, b.n);
    free(b.p);
    *n = b.n;
    return bytes;
}

static inline char *qwen_bytes(const char *name, size_t *n)
{
    return qwen_bytes_of(qwen_dir, name, n);
}

/* Puts a copy of a file of a model into a folder, under another name. */
static inline void qwen_copy(const struct folder *d, const char *dir, const char *name, const char *as)
{
    size_t n;
    char *bytes = qwen_bytes_of(dir, name, &n);
    folder_put(d, as, bytes, n);
    free(bytes);
}

static inline struct folder qwen_folder_of(const char *dir)
{
    static const char *const file[] = { "config.json", "generation_config.json", "model.safetensors", "vocab.json", "merges.txt",
                                        "tokenizer_config.json" };
    const struct folder d = folder_new();
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) qwen_copy(&d, dir, file[i], file[i]);
    return d;
}

static inline struct folder qwen_folder(void)
{
    return qwen_folder_of(qwen_dir);
}

/* Appends s[n] with the first of the words that it begins with replaced; head: the new name of lm_head. @return bytes of s used */
static inline size_t qwen_respelled(char **to, const char *s, const char *head)
{
    const char *const word[][2] = { { "thinker.audio_tower.proj1.", "model.multi_modal_projector.linear_1." },
                                    { "thinker.audio_tower.proj2.", "model.multi_modal_projector.linear_2." },
                                    { "thinker.audio_tower.", "model.audio_tower." }, { "thinker.model.", "model.language_model." },
                                    { "thinker.lm_head.", head } };
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (!strncmp(s, word[i][0], strlen(word[i][0]))) {
            *to = stpcpy(*to, word[i][1]);
            return strlen(word[i][0]);
        }
    *(*to)++ = *s;
    return 1;
}

/* The same model in transformers' form: other names of tensors and settings. The head that equals the embedding is not in it. */
static inline struct folder qwen_hf_folder_of(const char *dir)
{
    const struct folder d = qwen_folder_of(dir);
    const char *name = dir == qwen_dir ? "spare." : "score.";
    size_t n;
    char *bytes = qwen_bytes_of(dir, "model.safetensors", &n), *head = calloc(1, 1 << 17), *to = head;
    uint64_t len;
    assert_non_null(head);
    memcpy(&len, bytes, sizeof len);
    for (size_t at = 8; at < 8 + len;) at += qwen_respelled(&to, bytes + at, name);
    char *file = malloc(n + (1 << 17));
    const uint64_t new_len = (uint64_t)(to - head);
    assert_non_null(file);
    memcpy(file, &new_len, sizeof new_len);
    memcpy(file + 8, head, (size_t)new_len);
    memcpy(file + 8 + new_len, bytes + 8 + len, n - 8 - (size_t)len);
    folder_put(&d, "model.safetensors", file, n + (size_t)new_len - (size_t)len);
    qwen_copy(&d, dir, "config_hf.json", "config.json");
    free(bytes);
    free(head);
    free(file);
    return d;
}

static inline struct folder qwen_hf_folder(void)
{
    return qwen_hf_folder_of(qwen_dir);
}
#endif
