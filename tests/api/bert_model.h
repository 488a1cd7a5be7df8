/* steno tests: a small BERT with random weights. SPDX-License-Identifier: MIT
 *
 * As a folder of sentence-transformers: safetensors, config.json, vocab.txt; room for 512 tokens. Letters are tokens, and "ab", and what
 * goes on with them. */
#ifndef STENO_TESTS_BERT_MODEL_H
#define STENO_TESTS_BERT_MODEL_H
#include <math.h>
#include <sys/stat.h>
#include "folder.h"

enum { BERT_D = 16, BERT_FF = 24, BERT_POSITIONS = 512, BERT_WORDS = 5 + 26 + 26 + 2 };

#define BERT_SETTINGS \
    "\"model_type\": \"bert\", \"hidden_size\": 16, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"intermediate_size\": 24"

struct bert_tensor { const char *name; int rows, columns; };

static inline float bert_random(uint32_t *at)
{
    *at = *at * 1664525u + 1013904223u;
    return (float)(*at >> 8) / (1 << 24) - 0.5f;
}

/* Names, shapes and places; then the numbers. */
static inline void bert_weights(const struct folder *d, const char *file)
{
    static const struct bert_tensor outer[] = {
        { "embeddings.word_embeddings.weight", BERT_WORDS, BERT_D }, { "embeddings.position_embeddings.weight", BERT_POSITIONS, BERT_D },
        { "embeddings.token_type_embeddings.weight", 2, BERT_D }, { "embeddings.LayerNorm.weight", BERT_D, 0 },
        { "embeddings.LayerNorm.bias", BERT_D, 0 },
    };
    static const struct bert_tensor inner[] = {
        { "attention.self.query", BERT_D, BERT_D }, { "attention.self.key", BERT_D, BERT_D }, { "attention.self.value", BERT_D, BERT_D },
        { "attention.output.dense", BERT_D, BERT_D }, { "intermediate.dense", BERT_FF, BERT_D }, { "output.dense", BERT_D, BERT_FF },
        { "attention.output.LayerNorm", BERT_D, 0 }, { "output.LayerNorm", BERT_D, 0 },
    };
    static char head[16384];
    static float number[20000];
    struct bert_tensor all[64];
    static char name[64][96];
    size_t n = 0, at = 0, len = 8;
    uint32_t seed = 7;
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++) all[n++] = outer[i];
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
            for (int bias = 0; bias < 2; bias++, n++) {
                snprintf(name[n], sizeof name[n], "encoder.layer.%d.%s.%s", layer, inner[i].name, bias ? "bias" : "weight");
                all[n] = (struct bert_tensor){ name[n], inner[i].rows, bias ? 0 : inner[i].columns };
            }
    len += (size_t)sprintf(head + len, "{");
    for (size_t i = 0; i < n; i++) {
        const size_t count = (size_t)all[i].rows * (size_t)(all[i].columns ? all[i].columns : 1);
        const int is_norm = strstr(all[i].name, "LayerNorm.weight") != NULL;
        len += (size_t)sprintf(head + len, "%s\"%s\": {\"dtype\": \"F32\", \"shape\": [%d", i ? ", " : "", all[i].name, all[i].rows);
        if (all[i].columns) len += (size_t)sprintf(head + len, ", %d", all[i].columns);
        len += (size_t)sprintf(head + len, "], \"data_offsets\": [%zu, %zu]}", at * 4, (at + count) * 4);
        for (size_t k = 0; k < count; k++) number[at + k] = (float)is_norm + bert_random(&seed);
        at += count;
    }
    len += (size_t)sprintf(head + len, "}");
    for (size_t i = 0; i < 8; i++) head[i] = (char)((len - 8) >> 8 * i);
    FILE *f = fopen(folder_at(d, file).path, "wb");
    if (!f || fwrite(head, 1, len, f) != len || fwrite(number, 4, at, f) != at || fclose(f)) fail_msg("cannot write %s", file);
}

static inline void bert_vocab(const struct folder *d)
{
    char text[512];
    size_t n = (size_t)sprintf(text, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
    for (char c = 'a'; c <= 'z'; c++) n += (size_t)sprintf(text + n, "%c\n", c);
    for (char c = 'a'; c <= 'z'; c++) n += (size_t)sprintf(text + n, "##%c\n", c);
    sprintf(text + n, "ab\n.\n");
    folder_text(d, "vocab.txt", text);
}

static inline struct folder bert_folder(void)
{
    const struct folder d = folder_new();
    bert_weights(&d, "model.safetensors");
    bert_vocab(&d);
    folder_text(&d, "config.json", "{" BERT_SETTINGS "}");
    return d;
}
#endif
