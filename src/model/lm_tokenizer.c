/* steno: tokenizers of language models. SPDX-License-Identifier: MIT
 *
 * Maps the names that GGUF files and Hugging Face folders have for tokenizer types to the tokenizer's options: Llama, Qwen, Gemma and
 * models with the same types. */
#include <string.h>
#include "load/tokenizer.h"
#include "model/lm.h"
#include "text/wordpiece.h"

#define REGEX(digits) "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
                      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
static const struct tokenizer_cut cuts[] = {
    { "gpt-2", NULL, "gpt2", 0, 0 },
    { "smollm", TOKENIZER_DIGITS, "gpt2-digits-1", 0, 0 },
    { "starcoder", NULL, "gpt2-digits-1", 0, 0 },
    { "refact", NULL, "gpt2-digits-1", 0, 0 },
    { "command-r", NULL, "gpt2-digits-1", 0, 0 },
    { "llama-bpe", REGEX("{1,3}"), "digits-3", 1, 1 },
    { "llama3", NULL, "digits-3", 1, 1 },
    { "llama-v3", NULL, "digits-3", 1, 1 },
    { "falcon3", NULL, "digits-3", 1, 1 },
    { "dbrx", NULL, "digits-3", 0, 0 },
    { "smaug-bpe", NULL, "digits-3", 0, 0 },
    { "qwen2", REGEX(""), "digits-1", 0, 0 },
    { "megrez", NULL, "digits-1", 0, 0 },
    { "deepseek-r1-qwen", NULL, "digits-1", 0, 0 },
    { 0 },
};
const struct tokenizer_names lm_tokenizer_names = { "gpt2", "llama", "bert", cuts, "gpt-2, smollm, llama-bpe, qwen2 and what is the same" };

/* Converts the token definitions of the file. */
static int tokens_make(struct token_def **out, struct token_pair **pairs, steno_model *m, const struct tokenizer_file *f, steno_error *e)
{
    static enum token_role const role[] = { [VOCAB_NORMAL] = TOKEN_TEXT, [VOCAB_BYTE] = TOKEN_BYTE, [VOCAB_CONTROL] = TOKEN_CONTROL,
                                            [VOCAB_USER_DEFINED] = TOKEN_USER, [VOCAB_UNUSED] = TOKEN_UNUSED,
                                            [VOCAB_UNKNOWN] = TOKEN_UNKNOWN };
    struct token_def *t = *out = arena_array(&m->arena, f->n, sizeof *t);
    struct token_pair *p = *pairs = arena_array(&m->arena, (size_t)f->n_pairs + 1, sizeof *p);
    size_t n = 1;
    for (uint32_t i = 0; i < f->n; i++) n += f->entry[i].n;
    for (uint32_t i = 0; i < f->n_pairs; i++) n += (size_t)f->pair[i].left + f->pair[i].right;
    uint8_t *bytes = arena_alloc(&m->arena, n);
    if (!t || !p || !bytes) return err_nomem(e, n, "a tokenizer");
    for (uint32_t i = 0; i < f->n; i++) {
        const struct vocab_entry *it = &f->entry[i];
        if (it->n) memcpy(bytes, it->s, it->n);
        t[i] = (struct token_def){ bytes, it->n, it->score, role[it->type] };
        bytes += it->n;
    }
    for (uint32_t i = 0; i < f->n_pairs; i++) {
        const struct tokenizer_pair *it = &f->pair[i];
        memcpy(bytes, it->s, (size_t)it->left + it->right);
        p[i] = (struct token_pair){ bytes, it->left, it->right };
        bytes += (size_t)it->left + it->right;
    }
    return STENO_OK;
}

/* Converts the options for splitting words. */
static unsigned word_flags(const struct tokenizer_words *w)
{
    const int strips = w->strips < 0 ? w->lowers : w->strips;
    return (w->cleans ? WORDPIECE_CLEAN : 0u) | (w->splits_han ? WORDPIECE_HAN : 0u) | (strips ? WORDPIECE_STRIP : 0u) |
           (w->lowers ? WORDPIECE_LOWER : 0u);
}

static int tokenizer_make(steno_model *m, struct weights *w, steno_error *e)
{
    struct tokenizer_file f;
    struct token_def *token;
    struct token_pair *pair;
    int rc = tokenizer_read(&f, w, &lm_tokenizer_names, e);
    if (!rc) rc = tokens_make(&token, &pair, m, &f, e);
    if (rc) return rc;
    struct tokenizer_desc d = { .token = token, .n = (int32_t)f.n, .by_chars = f.form == TOKENIZER_PIECES, .pattern = f.pattern,
                                .pair = pair, .n_pairs = (int32_t)f.n_pairs, .whole_first = f.whole_first, .space_first = f.space_first,
                                .adds_bos = f.adds_bos, .adds_eos = f.adds_eos, .bos = f.bos, .eos = f.eos, .composes = f.composes,
                                .by_words = f.form == TOKENIZER_WORDS, .word_flags = word_flags(&f.words),
                                .word_chars = (uint32_t)f.words.most_chars };
    const int32_t more[] = { f.eot, f.eom };
    for (int i = 0; i < 2; i++)
        if (more[i] >= 0) d.end[d.n_ends++] = more[i];
    for (int i = 0; i < f.n_ends && d.n_ends < TOKENIZER_ENDS; i++) d.end[d.n_ends++] = f.end[i];
    if (!m->n_vocab) m->n_vocab = (int32_t)f.n; /* otherwise the network gives it */
    rc = chat_recognise(&m->chat, f.chat_template, &m->arena, e);
    return rc ? rc : tokenizer_open(&m->tokenizer, &m->arena, &d, e);
}

const char *model_chat_name(const steno_model *m)
{
    static const char *const names[] = { "", "unknown", "chatml", "llama3", "llama3", "gemma", "gemma", "mistral" };
    return m->chat.format == CHAT_INST && m->chat.inst.system == CHAT_SYSTEM_SYS ? "llama2" : names[m->chat.format];
}

/* Fills the vocabulary with the text of each id. Control tokens have no text. */
static void pieces_fill(steno_model *m)
{
    const uint8_t *s;
    for (int32_t id = 0; id < m->vocab.n; id++) {
        const size_t n = tokenizer_piece(m->tokenizer, id, 0, &s);
        if (n) vocab_set(&m->vocab, id, s, (uint32_t)n);
    }
}

int lm_read_tokenizer(steno_model *m, struct weights *w, steno_error *e)
{
    const int there = m->is_exact ? 0 : tokenizer_is_there(w, e);
    if (there <= 0) return there;
    const int rc = tokenizer_make(m, w, e);
    if (!rc) pieces_fill(m);
    return rc;
}

void lm_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    if (m->tokenizer) tokenizer_decode(m->tokenizer, ids, n, 1, bytes);
}
