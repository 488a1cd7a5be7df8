/* steno tests: Whisper's multilingual vocabulary. SPDX-License-Identifier: MIT
 *
 * The built-in model's file holds the 50257 strings of openai-whisper's multilingual.tiktoken. Tests that need them are skipped without
 * it. */
#ifndef STENO_TESTS_REAL_VOCAB_H
#define STENO_TESTS_REAL_VOCAB_H
#include "load/weights.h"
#include "text/bpe.h"

struct real_vocab {
    struct file file;
    struct weights weights;
    struct vocab v;
    struct bpe *bpe;
};

/* @return NULL if the model is missing or cannot be used. */
static struct real_vocab *real_vocab_open(void)
{
    struct real_vocab *r = calloc(1, sizeof *r);
    steno_error e;
    if (!r) return NULL;
    if (file_open(&r->file, "tests/data/../../models/whisper-digits/whisper-digits.bin", &e)) {
        free(r);
        return NULL;
    }
    assert_int_equal(weights_open(&r->weights, &r->file, &e), STENO_OK);
    assert_int_equal(r->weights.n_vocab_entries, 50257);
    assert_int_equal(vocab_init(&r->v, &r->weights.arena, 51865, 50257, &e), STENO_OK);
    for (uint32_t i = 0; i < r->weights.n_vocab_entries; i++)
        vocab_set(&r->v, (int32_t)i, r->weights.vocab[i].s, r->weights.vocab[i].n);
    assert_int_equal(vocab_index(&r->v, &r->weights.arena, &e), STENO_OK);
    assert_int_equal(bpe_open(&r->bpe, &r->v, &e), STENO_OK);
    return r;
}

static void real_vocab_close(struct real_vocab *r)
{
    if (!r) return;
    bpe_close(r->bpe);
    weights_close(&r->weights);
    file_close(&r->file);
    free(r);
}

static inline void expect_ids(const char *what, const struct buf *got, const int32_t *want, size_t n)
{
    const int32_t *id = (const int32_t *)(const void *)got->p;
    const size_t m = got->len / sizeof *id;
    for (size_t i = 0; i < n && i < m; i++)
        if (id[i] != want[i]) fail_msg("%s: id %zu is %d, want %d", what, i, (int)id[i], (int)want[i]);
    if (m != n) fail_msg("%s: %zu ids, want %zu", what, m, n);
}
#endif
