/* steno: Paraformer's text. SPDX-License-Identifier: MIT
 *
 * Tokens are Chinese characters, English words, and pieces of these; all pieces but the last end in "@@". Chinese characters have no spaces
 * between them. An English word is followed by a space, unless a Chinese character follows. Single letters in a row become a word in
 * capitals. A model with separate weights for times has a space between all words, including Chinese characters. Reference: FunASR 1.4,
 * funasr/utils/postprocess_utils.py (sentence_postprocess). */
#include <string.h>
#include "model/paraformer.h"
#include "text/vocab.h"

enum letter_kind { WHOLE_CHINESE, WHOLE_LETTERS, CHINESE, LETTERS, DROPPED, KINDS };

/* Ids of each kind. If all tokens are alike, the reference compares whole tokens, otherwise their characters. */
static const char *const pattern[KINDS] = {
    "[\\x{4e00}-\\x{9ffe}0-8].*|\\x{9fff}|9|@",
    "'|(?![\\x{4e00}-\\x{9ffe}]|\\x{9fff}$)\\p{L}+",
    "[\\x{4e00}-\\x{9fff}0-9@]+",
    "(?:'|(?![\\x{4e00}-\\x{9fff}])\\p{L})+",
    "<s>|</s>|<unk>|<OOV>|<blank>",
};

struct kinds_of_ids { uint32_t *mask[KINDS]; };

int paraformer_text_init(steno_model *m, steno_error *e)
{
    struct kinds_of_ids *t = arena_alloc(&m->arena, sizeof *t);
    struct cif_model *c = m->part;
    const size_t words = (size_t)m->n_vocab / 32 + 1;
    if (!t) return err_nomem(e, sizeof *t, "vocabulary");
    c->text = t;
    for (int k = 0; k < KINDS; k++) {
        t->mask[k] = arena_array(&m->arena, words, sizeof **t->mask);
        if (!t->mask[k]) return err_nomem(e, words * sizeof **t->mask, "vocabulary");
        const int rc = regex_ids(&m->vocab, m->n_vocab, NULL, pattern[k], t->mask[k], t->mask[k], e);
        if (rc) return rc;
    }
    return STENO_OK;
}

static int is(const steno_model *m, int32_t id, enum letter_kind k)
{
    const struct kinds_of_ids *t = ((const struct cif_model *)m->part)->text;
    return (int)(t->mask[k][id >> 5] >> (id & 31) & 1);
}

/* Are all tokens of kind k? */
static int all(const steno_model *m, const int32_t *ids, int32_t n, enum letter_kind k)
{
    int some = 0;
    for (int32_t i = 0; i < n; i++) {
        if (is(m, ids[i], DROPPED)) continue;
        if (!is(m, ids[i], k)) return 0;
        some = 1;
    }
    return some;
}

/* Appends the token without "@@". @return 1: it had "@@", 0: the token is complete */
static int piece_add(const struct vocab *v, int32_t id, struct buf *bytes)
{
    const uint8_t *s = v->bytes[id];
    int found = 0;
    for (uint32_t i = 0; i < v->len[id]; i++) {
        if (i + 1 < v->len[id] && s[i] == '@' && s[i + 1] == '@') found = 1, i++;
        else buf_add(bytes, s + i, 1);
    }
    return found;
}

static struct token_word *words_of(const struct buf *words)
{
    return (struct token_word *)(void *)words->p;
}

static size_t n_words(const struct buf *words)
{
    return words->len / sizeof(struct token_word);
}

/* State while words are built. */
struct making {
    struct buf *bytes, *words;
    struct buf held;        /* pieces of an incomplete word */
    int32_t first;          /* first token of these pieces, -1: none */
    int32_t from, to;       /* first and last token whose times belong to no word yet; from is -1 if there are none */
};

/* Completes a word at token i. */
static void word_end(struct making *g, int32_t i, const uint8_t *s, uint32_t n, int with_held, int space)
{
    struct token_word w = { .text = g->bytes->len, .first = i, .n = 1, .from = i, .to = i, .space = space };
    if (with_held && g->first >= 0) {
        w.n += i - g->first;
        w.first = g->first;
        buf_add(g->bytes, g->held.p ? g->held.p : "", g->held.len);
        buf_clear(&g->held);
        g->first = -1;
    }
    buf_add(g->bytes, s, n);
    w.n_text = g->bytes->len - w.text;
    buf_add(g->words, &w, sizeof w);
}

/* Adds the times of earlier pieces to the last word. instead: they replace its own times, as the reference does for a character that does
 * not end a word. */
static void time_pieces(struct making *g, int instead)
{
    if (g->words->err || g->from < 0) return;
    struct token_word *w = &words_of(g->words)[n_words(g->words) - 1];
    w->from = g->from;
    if (instead) w->to = g->to;
    g->from = -1;
}

static void mixed(struct making *g, const steno_model *m, int32_t id, int32_t i)
{
    const struct vocab *v = &m->vocab;
    const size_t n = n_words(g->words), held = g->held.len;
    if (is(m, id, CHINESE)) {
        if (n && g->first < 0) words_of(g->words)[n - 1].space = 0;
        word_end(g, i, v->bytes[id], v->len[id], 0, 0);
        time_pieces(g, 1);
    } else if (piece_add(v, id, &g->held)) {
        if (g->first < 0) g->first = i;
        if (g->from < 0) g->from = i;
        g->to = i;
    } else {
        g->held.len = held;
        word_end(g, i, v->bytes[id], v->len[id], is(m, id, LETTERS), is(m, id, LETTERS));
        if (is(m, id, LETTERS)) time_pieces(g, 0);
    }
}

static int is_letter(const struct buf *bytes, const struct token_word *w)
{
    const char c = (char)(bytes->p[w->text] | 32);
    return w->n_text == 1 && c >= 'a' && c <= 'z';
}

/* Joins two or more single letters with spaces between them into a word. Their bytes are adjacent. @return the first token of letters at
 * the end, which later letters may join; n_tokens: there are none */
static int32_t join_letters(struct buf *bytes, struct buf *words, int32_t n_tokens)
{
    int32_t open = n_tokens;
    struct token_word *w = words_of(words);
    const size_t n = n_words(words);
    size_t to = 0;
    for (size_t i = 0, end; i < n; i = end) {
        end = i + 1;
        while (is_letter(bytes, &w[i]) && end < n && w[end - 1].space && is_letter(bytes, &w[end])) end++;
        if (end == n && is_letter(bytes, &w[i])) open = w[i].first;
        struct token_word one = w[i];
        one.n = w[end - 1].first + w[end - 1].n - one.first;
        one.n_text = w[end - 1].text + w[end - 1].n_text - one.text;
        one.to = w[end - 1].to;
        one.space = w[end - 1].space;
        for (size_t k = i; end > i + 1 && k < end; k++) bytes->p[w[k].text] = (char)(bytes->p[w[k].text] & ~32);
        w[to++] = one;
    }
    words->len = to * sizeof *w;
    return open;
}

static int make_words(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes, struct buf *words, int32_t *open)
{
    struct making g = { .bytes = bytes, .words = words, .first = -1, .from = -1 };
    const int chinese = all(m, ids, n, WHOLE_CHINESE), letters = !chinese && all(m, ids, n, WHOLE_LETTERS);
    buf_clear(bytes);
    buf_clear(words);
    for (int32_t i = 0; i < n; i++) {
        if (is(m, ids[i], DROPPED)) continue;
        if (chinese || letters) word_end(&g, i, m->vocab.bytes[ids[i]], m->vocab.len[ids[i]], 0, letters);
        else mixed(&g, m, ids[i], i);
    }
    const int bad = g.held.err || bytes->err || words->err;
    buf_free(&g.held);
    if (bad) return STENO_ENOMEM;
    const int32_t at_end = join_letters(bytes, words, n);
    if (open) *open = g.first >= 0 && g.first < at_end ? g.first : at_end;
    const size_t all = ((const struct cif_model *)m->part)->fine ? n_words(words) : 0;
    for (size_t i = 0; i < all; i++) words_of(words)[i].space = 1; /* the reference joins words with times that way */
    return STENO_OK;
}

void paraformer_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    struct buf text = { 0 }, words = { 0 };
    bytes->err |= make_words(m, ids, n, &text, &words, NULL) != STENO_OK;
    const size_t n_all = bytes->err ? 0 : n_words(&words);
    for (size_t i = 0; i < n_all; i++) {
        const struct token_word *w = &words_of(&words)[i];
        buf_add(bytes, text.p + w->text, w->n_text);
        if (w->space && i + 1 < n_all) buf_str(bytes, " ");
    }
    buf_free(&text);
    buf_free(&words);
}

const struct cif paraformer_cif = { .words = make_words, .word_ids = dict_word_ids };
