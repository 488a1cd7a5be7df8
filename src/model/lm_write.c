/* steno: language models as part of a GGUF file. SPDX-License-Identifier: MIT
 *
 * Names, keys and the alphabet of tokens are llama.cpp's, whatever form they were read from. */
#include "model/lm_write.h"
#include <stdio.h>
#include <string.h>
#include "load/byte_alphabet.h"
#include "load/tokenizer.h"

enum { KEY_SZ = 96, PAD_SZ = 24 };

/* ---- settings ------------------------------------------------------------------------------------------------------------------ */

int lm_put_settings(struct gguf_writer *g, const struct lm_dims *d, const struct lm_arch *arch, const char *name)
{
    const struct { const char *key; int32_t v; } whole[] = {
        { "block_count", d->layers }, { "embedding_length", d->d }, { "feed_forward_length", d->d_ff }, { "context_length", d->ctx },
        { "attention.head_count", d->heads }, { "attention.head_count_kv", d->kv_heads }, { "attention.key_length", d->d_head },
        { "attention.value_length", d->d_head },
    };
    char key[KEY_SZ];
    if (d->scaling.kind != LM_ROPE_PLAIN || d->window || d->has_qkv_bias)
        return err_set(g->e, STENO_EUNSUPPORTED, "%s: a language model with scaled positions, windows or biases is not written", name);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        snprintf(key, sizeof key, "%s.%s", arch->name, whole[i].key);
        gguf_put_u32(g, key, (uint32_t)whole[i].v);
    }
    snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", arch->name);
    gguf_put_f32(g, key, (float)d->eps);
    snprintf(key, sizeof key, "%s.rope.freq_base", arch->name);
    gguf_put_f32(g, key, (float)d->rope_base);
    return STENO_OK;
}

/* ---- the tokenizer ------------------------------------------------------------------------------------------------------------- */

/* The character that stands for a byte, as UTF-8; its length. */
static size_t put_letter(char *out, uint8_t byte)
{
    uint32_t c = 0x21;
    while (byte_of_letter(c) != byte) c++;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    out[0] = (char)(0xc0 | c >> 6);
    out[1] = (char)(0x80 | (c & 0x3f));
    return 2;
}

static size_t put_letters(char *out, const uint8_t *s, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) at += put_letter(out + at, s[i]);
    return at;
}

/* Tokens and types as the file has them, from the arena. */
static int put_tokens(struct gguf_writer *g, const struct tokenizer_file *t, struct arena *a)
{
    static int32_t const code[] = { [VOCAB_NORMAL] = 1, [VOCAB_UNKNOWN] = 2, [VOCAB_CONTROL] = 3, [VOCAB_USER_DEFINED] = 4,
                                    [VOCAB_UNUSED] = 5, [VOCAB_BYTE] = 6 };
    struct vocab_entry *v = arena_array(a, t->n, sizeof *v);
    int32_t *type = arena_array(a, t->n, sizeof *type);
    if (!v || !type) return err_nomem(g->e, t->n * sizeof *v, "a vocabulary");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct vocab_entry *from = &t->entry[i];
        char *s = arena_alloc(a, 2 * (size_t)from->n + PAD_SZ);
        if (!s) return err_nomem(g->e, from->n, "a vocabulary");
        v[i] = *from;
        v[i].s = (const uint8_t *)s;
        type[i] = from->n ? code[from->type] : code[VOCAB_UNUSED];
        if (!from->n) v[i].n = (uint32_t)snprintf(s, PAD_SZ, "[PAD%u]", (unsigned)i);
        else if (from->type == VOCAB_NORMAL) v[i].n = (uint32_t)put_letters(s, from->s, from->n);
        else memcpy(s, from->s, from->n);
    }
    gguf_put_vocab(g, "tokenizer.ggml.tokens", v, t->n);
    gguf_put_i32s(g, "tokenizer.ggml.token_type", type, t->n);
    return STENO_OK;
}

static int put_pairs(struct gguf_writer *g, const struct tokenizer_file *t, struct arena *a)
{
    struct vocab_entry *v = arena_array(a, (size_t)t->n_pairs + 1, sizeof *v);
    if (!v) return err_nomem(g->e, t->n_pairs * sizeof *v, "the pairs of a tokenizer");
    for (uint32_t i = 0; i < t->n_pairs; i++) {
        const struct tokenizer_pair *p = &t->pair[i];
        char *s = arena_alloc(a, 2 * ((size_t)p->left + p->right) + 1);
        if (!s) return err_nomem(g->e, p->left, "the pairs of a tokenizer");
        size_t n = put_letters(s, p->s, p->left);
        s[n++] = ' ';
        n += put_letters(s + n, p->s + p->left, p->right);
        v[i] = (struct vocab_entry){ .s = (const uint8_t *)s, .n = (uint32_t)n };
    }
    gguf_put_vocab(g, "tokenizer.ggml.merges", v, t->n_pairs);
    return STENO_OK;
}

/* One end of a text has a key of its own; another one is the end of a turn. */
static void put_ends(struct gguf_writer *g, const struct tokenizer_file *t)
{
    int32_t other = t->eot;
    for (int i = 0; i < t->n_ends && other < 0; i++)
        if (t->end[i] != t->eos) other = t->end[i];
    if (t->eos >= 0) gguf_put_u32(g, "tokenizer.ggml.eos_token_id", (uint32_t)t->eos);
    if (other >= 0) gguf_put_u32(g, "tokenizer.ggml.eot_token_id", (uint32_t)other);
    if (t->bos >= 0) gguf_put_u32(g, "tokenizer.ggml.bos_token_id", (uint32_t)t->bos);
}

int lm_put_tokenizer(struct gguf_writer *g, struct weights *w, steno_error *e)
{
    struct tokenizer_file t;
    int rc = tokenizer_read(&t, w, &lm_tokenizer_names, e);
    if (rc) return rc;
    const struct tokenizer_cut *cut = lm_tokenizer_names.cut;
    while (t.form == TOKENIZER_BYTES && cut->name && (!cut->regex || strcmp(cut->pattern, t.pattern) != 0)) cut++;
    if (t.form != TOKENIZER_BYTES || !cut->name)
        return err_set(e, STENO_EUNSUPPORTED, "%s: its tokenizer is of a kind that is not written: those of byte-level pairs are", w->name);
    gguf_put_text(g, "tokenizer.ggml.model", lm_tokenizer_names.bytes);
    gguf_put_text(g, "tokenizer.ggml.pre", cut->name);
    put_ends(g, &t);
    if (t.chat_template) gguf_put_text(g, "tokenizer.chat_template", t.chat_template);
    rc = put_tokens(g, &t, &w->arena);
    return rc ? rc : put_pairs(g, &t, &w->arena);
}
