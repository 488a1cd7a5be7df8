/* steno: tokenizers of language models. SPDX-License-Identifier: MIT */
#include "text/tokenizer.h"
#include <stdlib.h>
#include <string.h>
#include "text/bpe.h"
#include "text/trie.h"
#include "text/unicode.h"
#include "text/wordpiece.h"

struct tokenizer {
    struct tokenizer_desc d;
    struct vocab v;         /* text tokens: other tokens have no bytes here */
    struct vocab special;   /* the other tokens: text tokens have no bytes here */
    struct trie trie;       /* of `special` */
    uint8_t begins[256];    /* 1: a special token begins with the byte */
    int32_t fallback[257];
    struct bpe *bpe;
    struct wordpiece words; /* used if text is cut into words */
};

/* ---- opening */

static int is_special(enum token_role r) { return r == TOKEN_USER || r == TOKEN_CONTROL || r == TOKEN_UNKNOWN; }

static int vocab_fill(struct tokenizer *t, struct arena *a, steno_error *e)
{
    const struct tokenizer_desc *d = &t->d;
    int rc = vocab_init(&t->v, a, d->n, d->n, e);
    if (!rc) rc = vocab_init(&t->special, a, d->n, d->n, e);
    for (int i = 0; i < 257; i++) t->fallback[i] = -1;
    for (int32_t i = 0; i < d->n && !rc; i++) {
        const struct token_def *it = &d->token[i];
        if (it->role == TOKEN_TEXT || it->role == TOKEN_USER) vocab_set(&t->v, i, it->s, it->n);
        if (is_special(it->role)) vocab_set(&t->special, i, it->s, it->n);
        if (is_special(it->role) && it->n) t->begins[it->s[0]] = 1;
        if (it->role == TOKEN_BYTE && it->n == 1 && t->fallback[it->s[0]] < 0) t->fallback[it->s[0]] = i;
        if (it->role == TOKEN_UNKNOWN && t->fallback[256] < 0) t->fallback[256] = i;
    }
    if (!rc) rc = vocab_index(&t->v, a, e);
    return rc ? rc : trie_open(&t->trie, &t->special, d->n, e);
}

/* Convert pairs to ids. A pair whose joined text is not a token has no effect. */
static int pairs_fill(struct tokenizer *t, struct arena *a, steno_error *e)
{
    const struct tokenizer_desc *d = &t->d;
    int32_t(*merge)[2] = arena_array(a, (size_t)d->n_pairs + 1, sizeof *merge);
    if (!merge) return err_nomem(e, (size_t)d->n_pairs * sizeof *merge, "the pairs of a tokenizer");
    for (int32_t i = 0; i < d->n_pairs; i++) {
        const struct token_pair *p = &d->pair[i];
        const int32_t left = vocab_find(&t->v, p->s, p->left), right = vocab_find(&t->v, p->s + p->left, p->right);
        if (left < 0 || right < 0) continue;
        merge[t->v.n_merges][0] = left;
        merge[t->v.n_merges++][1] = right;
    }
    t->v.merge = (const int32_t(*)[2])merge;
    return STENO_OK;
}

struct scored { float score; int32_t id; };

static int by_score(const void *x, const void *y)
{
    const struct scored *a = x, *b = y;
    if (a->score > b->score || a->score < b->score) return a->score > b->score ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Ranks by descending score; NaN comes last. Equal scores share a rank, so that the leftmost pair is joined first. */
static int ranks_fill(struct tokenizer *t, struct arena *a, steno_error *e)
{
    const struct tokenizer_desc *d = &t->d;
    int32_t *rank = arena_array(a, (size_t)d->n, sizeof *rank);
    struct scored *all = calloc((size_t)d->n, sizeof *all);
    if (!rank || !all) {
        free(all);
        return err_nomem(e, (size_t)d->n * sizeof *all, "the ranks of a tokenizer");
    }
    for (int32_t i = 0; i < d->n; i++) all[i] = (struct scored){ d->token[i].score > -1e30f ? d->token[i].score : -1e30f, i };
    qsort(all, (size_t)d->n, sizeof *all, by_score);
    for (int32_t i = 0, at = 0; i < d->n; i++) {
        if (i && all[i].score < all[i - 1].score) at = i;
        rank[all[i].id] = at;
    }
    free(all);
    t->v.rank = rank;
    return STENO_OK;
}

/* Texts that end an answer, whatever their role in the file. */
static void ends_fill(struct tokenizer *t)
{
    static const char *const known[] = { "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
                                         "<|eom_id|>", "<EOT>", "</s>", "<eos>" };
    struct tokenizer_desc *d = &t->d;
    for (int32_t i = 0; i < d->n; i++)
        for (size_t k = 0; k < sizeof known / sizeof *known && is_special(d->token[i].role); k++)
            if (d->token[i].n == strlen(known[k]) && !memcmp(d->token[i].s, known[k], d->token[i].n) && d->n_ends < TOKENIZER_MORE_ENDS)
                d->end[d->n_ends++] = i;
}

/* Words without pieces become the unknown token, or the first token if there is none. */
static void words_fill(struct tokenizer *t)
{
    const int32_t unknown = t->fallback[256];
    t->words = (struct wordpiece){ .v = &t->v, .flags = t->d.word_flags, .most_chars = t->d.word_chars,
                                   .unknown = unknown < 0 ? 0 : unknown };
    for (int32_t i = 0; i < t->v.n; i++)
        if (t->v.len[i] > t->words.most_bytes) t->words.most_bytes = t->v.len[i];
}

/* Rules that cut and join text, for tokenizers without words. */
static int joins_fill(struct tokenizer *t, struct arena *a, steno_error *e)
{
    const struct tokenizer_desc *d = &t->d;
    t->v.by_chars = d->by_chars;
    t->v.whole_first = d->whole_first;
    t->v.pattern = d->by_chars ? NULL : pretokenizer_pattern(d->pattern);
    t->v.fallback = t->fallback;
    if (!d->by_chars && !t->v.pattern) return err_set(e, STENO_EUNSUPPORTED, "no pattern is called %s", d->pattern);
    const int rc = d->pair && (d->n_pairs || !d->by_chars) ? pairs_fill(t, a, e) : ranks_fill(t, a, e);
    return rc ? rc : bpe_open(&t->bpe, &t->v, e);
}

int tokenizer_open(struct tokenizer **out, struct arena *a, const struct tokenizer_desc *d, steno_error *e)
{
    struct tokenizer *t = arena_array(a, 1, sizeof *t);
    *out = NULL;
    if (!t) return err_nomem(e, sizeof *t, "a tokenizer");
    t->d = *d;
    int rc = vocab_fill(t, a, e);
    if (!rc && d->by_words) words_fill(t);
    if (!rc && !d->by_words) rc = joins_fill(t, a, e);
    ends_fill(t);
    if (rc) tokenizer_close(t);
    else *out = t;
    return rc;
}

void tokenizer_close(struct tokenizer *t)
{
    if (!t) return;
    bpe_close(t->bpe);
    trie_close(&t->trie);
    t->bpe = NULL;
}

/* ---- text to ids */

/* The longest special token at s[n]; -1: none. Control tokens must be in the first n_all bytes; tokens of the role TOKEN_USER may be
 * anywhere. *len: its bytes. */
static int32_t special_at(const struct tokenizer *t, const uint8_t *s, size_t n, size_t n_all, size_t *len)
{
    const struct trie_node *at = t->trie.node;
    int32_t best = -1;
    for (size_t i = 0; i < n && at && at->child; i++) {
        const struct trie_node *to = &t->trie.node[at->child], *end = to + at->n;
        while (to < end && to->byte < s[i]) to++;
        if (to == end || to->byte != s[i]) break;
        at = to;
        if (at->id < 0 || (i >= n_all && t->d.token[at->id].role != TOKEN_USER)) continue;
        best = at->id;
        *len = i + 1;
    }
    return best;
}

/* Encode text without special tokens, after composition if the tokenizer composes. */
static int encode_composed(const struct tokenizer *t, const uint8_t *s, size_t n, struct buf *ids, steno_error *e)
{
    struct buf text = { 0 };
    if (t->d.by_words) return wordpiece_encode(&t->words, (const char *)s, n, ids, e);
    if (!t->d.by_chars) return bpe_encode(t->bpe, (const char *)s, n, ids, e);
    if (t->d.space_first) buf_add(&text, " ", 1);
    for (size_t i = 0, from = 0; i <= n; i++) {
        const int is_sign = n - i >= 3 && !memcmp(s + i, "\xe2\x96\x81", 3); /* the sign for a space in pieces */
        if (i < n && !is_sign) continue;
        buf_add(&text, s + from, i - from);
        if (is_sign) buf_add(&text, " ", 1);
        if (is_sign) i += 2;
        from = i + 1;
    }
    const int rc = text.err ? err_nomem(e, n, "text") : bpe_encode(t->bpe, text.p, text.len, ids, e);
    buf_free(&text);
    return rc;
}

/* ASCII text is already composed. */
static int is_composed(const uint8_t *s, size_t n)
{
    while (n && s[n - 1] < 0x80) n--;
    return !n;
}

static int encode_plain(const struct tokenizer *t, const uint8_t *s, size_t n, struct buf *ids, steno_error *e)
{
    struct buf text = { 0 };
    if (!n) return STENO_OK;
    if (!t->d.composes || is_composed(s, n)) return encode_composed(t, s, n, ids, e);
    int rc = unicode_compose(&text, (const char *)s, n);
    rc = rc ? err_nomem(e, n, "text") : encode_composed(t, (const uint8_t *)text.p, text.len, ids, e);
    buf_free(&text);
    return rc;
}

int tokenizer_encode_parts(const struct tokenizer *t, const char *text, const struct token_part *part, size_t n_parts, unsigned flags,
                           struct buf *ids, steno_error *e)
{
    const uint8_t *s = (const uint8_t *)text;
    const size_t n = n_parts ? part[n_parts - 1].end : 0;
    size_t from = 0, len = 0, k = 0;
    int rc = STENO_OK;
    if (flags & TOKENIZE_WHOLE && t->d.adds_bos && t->d.bos >= 0) buf_add(ids, &t->d.bos, sizeof t->d.bos);
    for (size_t i = 0; i < n && !rc;) {
        while (part[k].end <= i) k++;
        const int32_t id = t->begins[s[i]] ? special_at(t, s + i, n - i, part[k].special ? part[k].end - i : 0, &len) : -1;
        if (id < 0) {
            i++;
            continue;
        }
        rc = encode_plain(t, s + from, i - from, ids, e);
        buf_add(ids, &id, sizeof id);
        from = i += len;
    }
    if (!rc && n) rc = encode_plain(t, s + from, n - from, ids, e);
    if (flags & TOKENIZE_WHOLE && t->d.adds_eos && t->d.eos >= 0) buf_add(ids, &t->d.eos, sizeof t->d.eos);
    return rc || !ids->err ? rc : err_nomem(e, ids->len, "token ids");
}

int tokenizer_encode(const struct tokenizer *t, const char *text, size_t n, unsigned flags, struct buf *ids, steno_error *e)
{
    const struct token_part all = { n, (flags & TOKENIZE_SPECIAL) != 0 };
    return tokenizer_encode_parts(t, text, &all, 1, flags, ids, e);
}

int32_t tokenizer_bos(const struct tokenizer *t)
{
    return t->d.bos;
}

int32_t tokenizer_eos(const struct tokenizer *t)
{
    return t->d.eos;
}

int tokenizer_ends(const struct tokenizer *t)
{
    return t->d.adds_eos && t->d.eos >= 0;
}

int tokenizer_adds(const struct tokenizer *t)
{
    return (t->d.adds_bos && t->d.bos >= 0) + tokenizer_ends(t);
}

/* ---- ids to text */

enum token_role tokenizer_role(const struct tokenizer *t, int32_t id)
{
    return id >= 0 && id < t->d.n ? t->d.token[id].role : TOKEN_UNUSED;
}

size_t tokenizer_piece(const struct tokenizer *t, int32_t id, int show_special, const uint8_t **s)
{
    const enum token_role r = tokenizer_role(t, id);
    if (r == TOKEN_UNUSED || ((r == TOKEN_CONTROL || r == TOKEN_UNKNOWN) && !show_special)) return 0;
    *s = t->d.token[id].s;
    return t->d.token[id].n;
}

int tokenizer_is_end(const struct tokenizer *t, int32_t id)
{
    int is = id >= 0 && id == t->d.eos;
    for (int i = 0; i < t->d.n_ends && id >= 0; i++) is |= id == t->d.end[i];
    return is;
}

int32_t tokenizer_end_at(const struct tokenizer *t, int i)
{
    for (int k = -1; k < t->d.n_ends; k++) {
        const int32_t id = k < 0 ? t->d.eos : t->d.end[k];
        if (id >= 0 && !i--) return id;
    }
    return -1;
}

/* The bytes of the next id. At the beginning of a text, the space that was inserted before it is removed. */
static size_t next_piece(const struct tokenizer *t, int32_t id, int show_special, int *began, const uint8_t **s)
{
    const size_t n = tokenizer_piece(t, id, show_special, s), skip = n && !*began && t->d.space_first && **s == ' ';
    if (skip) *s += skip;
    *began |= n != 0;
    return n - skip;
}

/* Special tokens among words are separated by spaces. */
static int stands_apart(const struct tokenizer *t, int32_t id, int began)
{
    return t->d.by_words && began && is_special(tokenizer_role(t, id));
}

void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, int32_t n, int show_special, struct buf *bytes)
{
    int began = 0;
    for (int32_t i = 0; i < n; i++) {
        const uint8_t *s = NULL;
        const int apart = stands_apart(t, ids[i], began);
        const size_t len = next_piece(t, ids[i], show_special, &began, &s);
        if (len && apart) buf_add(bytes, " ", 1);
        if (len) buf_add(bytes, s, len);
    }
}

void token_stream_begin(struct token_stream *s, const struct tokenizer *t, int show_special)
{
    *s = (struct token_stream){ .t = t, .show_special = show_special };
}

void token_stream_push(struct token_stream *s, int32_t id, struct buf *text)
{
    const uint8_t *p = NULL;
    const int apart = stands_apart(s->t, id, s->began);
    const size_t n = next_piece(s->t, id, s->show_special, &s->began, &p);
    if (n && apart) buf_add(text, " ", 1);
    token_stream_push_bytes(s, p, n, text);
}

static void stream_add(const struct token_stream *s, const uint8_t *p, size_t n, struct buf *text)
{
    if (s->is_string) utf8_append_string(text, p, n);
    else utf8_append(text, p, n);
}

void token_stream_push_bytes(struct token_stream *s, const uint8_t *p, size_t n, struct buf *text)
{
    for (; n && s->n_held; p++, n--) { /* complete a character that has begun */
        s->held[s->n_held++] = *p;
        const size_t whole = utf8_complete(s->held, s->n_held);
        if (!whole) continue;
        stream_add(s, s->held, whole, text);
        s->n_held -= (uint32_t)whole;
        memmove(s->held, s->held + whole, s->n_held);
    }
    const size_t whole = utf8_complete(p, n);
    if (whole) stream_add(s, p, whole, text);
    for (size_t i = whole; i < n; i++) s->held[s->n_held++] = p[i];
}

void token_stream_end(struct token_stream *s, struct buf *text)
{
    if (s->n_held) utf8_append(text, s->held, s->n_held);
    s->n_held = 0;
}
