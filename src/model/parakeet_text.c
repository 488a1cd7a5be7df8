/* steno: Parakeet's pieces. SPDX-License-Identifier: MIT
 *
 * Pieces of SentencePiece with spaces in front of words. Control pieces, tags <|...|> and <pad>, <unk>, <blank> are not text. A space
 * before a punctuation mark is removed, as NeMo does: for characters that begin a piece in the middle of a word. */
#include <string.h>
#include "load/tokenizer.h"
#include "model/parakeet.h"
#include "text/unicode.h"

static int is_named(const uint8_t *s, uint32_t n)
{
    static const char *const name[] = { "<pad>", "<unk>", "<blank>", "<s>", "</s>" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (n == strlen(name[i]) && !memcmp(s, name[i], n)) return 1;
    return n >= 4 && !memcmp(s, "<|", 2) && !memcmp(s + n - 2, "|>", 2);
}

/* A form without kinds of pieces: bytes are known by their spelling, <0xHH>. */
static int is_byte(const struct vocab_entry *it)
{
    static const char digits[] = "0123456789ABCDEFabcdef";
    const uint8_t *s = it->s;
    return it->type == VOCAB_NORMAL && it->n == 6 && !memcmp(s, "<0x", 3) && s[5] == '>' && memchr(digits, s[3], sizeof digits - 1) &&
           memchr(digits, s[4], sizeof digits - 1);
}

/* The pieces that the model's file has, with their marks read as spaces and bytes. */
static int take_pieces(struct weights *w, struct vocab_entry **entry, uint32_t *n, steno_error *e)
{
    *entry = w->vocab;
    *n = w->n_vocab_entries;
    for (uint32_t i = 0; i < *n; i++) {
        struct vocab_entry *it = &w->vocab[i];
        char *text = arena_strdup(&w->arena, (const char *)it->s, it->n);
        if (!text) return err_nomem(e, it->n, "vocabulary");
        if (is_byte(it)) it->type = VOCAB_BYTE;
        const int64_t len = tokenizer_bytes(TOKENIZER_PIECES, it->type, text, it->n);
        if (len < 0) return err_set(e, STENO_EFORMAT, "%s: piece %u of the vocabulary is damaged", w->name, (unsigned)i);
        it->s = (const uint8_t *)text;
        it->n = (uint32_t)len;
    }
    return STENO_OK;
}

int parakeet_read_pieces(struct weights *w, struct vocab_entry **entry, uint32_t *n, steno_error *e)
{
    static const struct tokenizer_cut cut[] = { { 0 } };
    static const struct tokenizer_names names = { NULL, "llama", NULL, cut, "SentencePiece" };
    struct tokenizer_file t;
    if (w->vocab) return take_pieces(w, entry, n, e);
    const int rc = tokenizer_read(&t, w, &names, e);
    if (rc) return rc;
    if (t.form != TOKENIZER_PIECES) return err_set(e, STENO_EUNSUPPORTED, "%s: its tokenizer does not use SentencePiece's pieces", w->name);
    *entry = t.entry;
    *n = t.n;
    return STENO_OK;
}

int parakeet_read_vocab(steno_model *m, struct weights *w, steno_error *e)
{
    struct vocab_entry *entry = NULL;
    uint32_t n = 0;
    int rc = parakeet_read_pieces(w, &entry, &n, e);
    if (rc) return rc;
    if (n < (uint32_t)m->n_vocab - 1)
        return err_set(e, STENO_EFORMAT, "%s: the vocabulary has %u pieces, the head %d", w->name, n, (int)m->n_vocab - 1);
    rc = vocab_init(&m->vocab, &m->arena, m->n_vocab, m->n_vocab, e);
    for (int32_t i = 0; i < m->n_vocab - 1 && !rc; i++) {
        const int is_text = entry[i].type != VOCAB_CONTROL && entry[i].type != VOCAB_UNKNOWN && !is_named(entry[i].s, entry[i].n);
        char *copy = arena_strdup(&m->arena, (const char *)entry[i].s, entry[i].n);
        if (!copy) return err_nomem(e, entry[i].n, "vocabulary");
        vocab_set(&m->vocab, i, (const uint8_t *)copy, is_text ? entry[i].n : 0);
    }
    if (!rc) vocab_set(&m->vocab, m->n_vocab - 1, (const uint8_t *)"", 0);
    m->vocab.by_chars = 1;
    if (!rc) rc = vocab_index(&m->vocab, &m->arena, e);
    return rc ? rc : bpe_open(&m->bpe, &m->vocab, e);
}

/* Is the character a mark that some piece begins with? */
static int is_supported(const steno_model *m, const uint8_t *s, size_t n)
{
    for (int32_t i = 0; i < m->vocab.n; i++)
        if (m->vocab.len[i] >= n && !memcmp(m->vocab.bytes[i], s, n)) return 1;
    return 0;
}

/* The character at s[n]. @return its bytes */
static size_t char_at(const uint8_t *s, size_t n, uint32_t *cp)
{
    const size_t len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    *cp = len == 1 ? s[0] : 0;
    if (len > n || (len > 1 && s[0] < 0xc0)) return 1;
    if (len > 1) *cp = s[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) *cp = *cp << 6 | (s[i] & 0x3f);
    return len;
}

static void pieces_text(const steno_model *m, const int32_t *ids, int32_t n, struct buf *text)
{
    const size_t from = text->len;
    for (int32_t i = 0; i < n; i++) buf_add(text, m->vocab.bytes[ids[i]], m->vocab.len[ids[i]]);
    if (text->err) return;
    size_t to = from;
    for (size_t i = from, len; i < text->len; i += len) {
        const uint8_t *s = (const uint8_t *)text->p + i;
        uint32_t cp;
        len = char_at(s, text->len - i, &cp);
        if (to > from && text->p[to - 1] == ' ' && unicode_is_punctuation(cp) && is_supported(m, s, len)) to--;
        memmove(text->p + to, s, len);
        to += len;
    }
    text->len = to;
}

/* One punctuation character, with or without a space before it. */
static int is_mark(const steno_model *m, int32_t id)
{
    const uint8_t *s = m->vocab.bytes[id];
    size_t n = m->vocab.len[id];
    uint32_t cp;
    if (n > 1 && s[0] == ' ') s++, n--;
    return n && char_at(s, n, &cp) == n && unicode_is_punctuation(cp);
}

const struct pieces parakeet_pieces = { .text = pieces_text, .is_mark = is_mark };
