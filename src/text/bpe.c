/* steno: byte-pair encoding. SPDX-License-Identifier: MIT
 *
 * A piece is a list of symbols: at first its bytes, or its characters. Every adjacent pair that may be joined waits in a heap ordered by
 * rank, then position. The rank is the pair's index in the vocabulary's list of merges, or the id of the joined bytes if there is no list.
 * A merge adds at most two new pairs. A pair that has changed since it was pushed is detected by its length and dropped. A piece of n bytes
 * therefore costs O(n log n), even if it is one letter a million times. */
#include "text/bpe.h"
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

/* ---- patterns ---------------------------------------------------------------------------------------------------------------- */

/* Unicode's White_Space written out: pcre2's \s also contains U+180E. */
#define SPACES "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define LAST_SPACES "[" SPACES "]+(?![^" SPACES "])|[" SPACES "]+" /* white space leaves its last character to a following word */

/* Contractions, letters, numbers, the rest, white space. GPT-2's pieces may begin with one space. Newer patterns allow any character that
 * is not a letter before letters, and keep line ends with the preceding marks. */
#define WORDS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define OTHERS "| ?[^" SPACES "\\p{L}\\p{N}]+[\\r\\n]*|[" SPACES "]*[\\r\\n]+|" LAST_SPACES

static const struct { const char *name, *pattern; } known[] = {
    { "gpt2", "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACES "\\p{L}\\p{N}]+|" LAST_SPACES },
    { "gpt2-digits-1",
      "\\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?[^" SPACES "\\p{L}\\p{N}]+|[" SPACES "]+(?![^" SPACES "\\p{N}])|[" SPACES "]+" },
    { "digits-1", WORDS "\\p{N}" OTHERS },
    { "digits-3", WORDS "\\p{N}{1,3}" OTHERS },
};

const char *pretokenizer_pattern(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return known[i].pattern;
    return NULL;
}

/* ---- encoding ---------------------------------------------------------------------------------------------------------------- */

enum { NONE = -1, MAX_TEXT = 1 << 26, MAX_PROBE = 1024 };

struct bpe {
    pcre2_code *code;     /* NULL: text is not cut */
    const struct vocab *v;
    int32_t byte_id[256]; /* -1: the byte alone is not a token */
    uint32_t *merge;      /* [merge_mask + 1] index + 1 of a merge by its pair, 0: free; NULL: ids are ranks */
    uint32_t merge_mask;
};

struct bpe_symbol { int32_t id, prev, next; uint32_t len; }; /* len 0: merged into its left neighbour */
struct bpe_pair { int32_t rank, at, id; uint32_t len; };    /* symbols at `at` and after it, together len bytes; id: of the joined token */

/* The memory of one bpe_encode; grows with the longest piece. */
struct bpe_work {
    const struct bpe *b;
    struct buf *ids;
    struct bpe_symbol *sym; /* [sym_cap] by byte */
    struct bpe_pair *heap;  /* [3 * sym_cap] */
    uint32_t sym_cap, n_heap;
};

/* The slot of the pair, or the free slot for it; NULL after too many probes. */
static uint32_t *merge_slot(const struct bpe *b, int32_t left, int32_t right)
{
    uint32_t h = hash_bytes((const int32_t[2]){ left, right }, 2 * sizeof left);
    for (int probe = 0; probe < MAX_PROBE; probe++, h++) {
        uint32_t *slot = &b->merge[h & b->merge_mask];
        const int32_t *pair = *slot ? b->v->merge[*slot - 1] : NULL;
        if (!pair || (pair[0] == left && pair[1] == right)) return slot;
    }
    return NULL;
}

static int index_merges(struct bpe *b, steno_error *e)
{
    const struct vocab *v = b->v;
    uint32_t n = 16;
    while (n < 2 * (uint64_t)v->n_merges) n *= 2;
    b->merge = calloc(n, sizeof *b->merge);
    if (!b->merge) return err_nomem(e, n * sizeof *b->merge, "the merges of a vocabulary");
    b->merge_mask = n - 1;
    for (int32_t i = 0; i < v->n_merges; i++) {
        const int32_t *pair = v->merge[i];
        if (pair[0] < 0 || pair[0] >= v->n_text || pair[1] < 0 || pair[1] >= v->n_text)
            return err_set(e, STENO_EFORMAT, "merge %d joins the ids %d and %d, want 0..%d", (int)i, (int)pair[0], (int)pair[1],
                           (int)v->n_text - 1);
        uint32_t *slot = merge_slot(b, pair[0], pair[1]);
        if (!slot) return err_set(e, STENO_EFORMAT, "merge %d collides with %d others: not a real vocabulary", (int)i, MAX_PROBE);
        if (!*slot) *slot = (uint32_t)i + 1;
    }
    return STENO_OK;
}

static int pattern_compile(struct bpe *b, steno_error *e)
{
    int code;
    size_t at;
    const char *pattern = b->v->pattern ? b->v->pattern : pretokenizer_pattern("gpt2");
    b->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &code, &at, NULL);
    if (!b->code) return err_set(e, STENO_ENOMEM, "out of memory for the tokenizer's pattern (pcre2 error %d)", code);
    (void)pcre2_jit_compile(b->code, PCRE2_JIT_COMPLETE); /* without a JIT, matching is slower but the same */
    return STENO_OK;
}

int bpe_open(struct bpe **out, const struct vocab *v, steno_error *e)
{
    *out = NULL;
    struct bpe *b = calloc(1, sizeof *b);
    if (!b) return err_nomem(e, sizeof *b, "the tokenizer");
    b->v = v;
    if (!v->by_chars && pattern_compile(b, e)) {
        bpe_close(b);
        return STENO_ENOMEM;
    }
    const int rc = v->merge ? index_merges(b, e) : STENO_OK;
    if (rc) {
        bpe_close(b);
        return rc;
    }
    for (int i = 0; i < 256; i++) b->byte_id[i] = vocab_find(v, &(uint8_t){ (uint8_t)i }, 1);
    *out = b;
    return STENO_OK;
}

void bpe_close(struct bpe *b)
{
    if (!b) return;
    pcre2_code_free(b->code);
    free(b->merge);
    free(b);
}

const struct vocab *bpe_vocab(const struct bpe *b)
{
    return b->v;
}

static int pair_less(const struct bpe_pair *x, const struct bpe_pair *y)
{
    return x->rank != y->rank ? x->rank < y->rank : x->at < y->at;
}

static void heap_push(struct bpe_work *w, struct bpe_pair p)
{
    uint32_t i = w->n_heap++;
    for (; i && pair_less(&p, &w->heap[(i - 1) / 2]); i = (i - 1) / 2) w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = p;
}

static struct bpe_pair heap_pop(struct bpe_work *w)
{
    const struct bpe_pair top = w->heap[0], last = w->heap[--w->n_heap];
    uint32_t i = 0;
    for (uint32_t c; (c = 2 * i + 1) < w->n_heap; i = c) {
        if (c + 1 < w->n_heap && pair_less(&w->heap[c + 1], &w->heap[c])) c++;
        if (!pair_less(&w->heap[c], &last)) break;
        w->heap[i] = w->heap[c];
    }
    w->heap[i] = last;
    return top;
}

/* Push the pair that begins at symbol i, if it may be joined. */
static void pair_push(struct bpe_work *w, const uint8_t *s, int32_t i)
{
    const int32_t next = i == NONE ? NONE : w->sym[i].next;
    if (next == NONE) return;
    const struct bpe *b = w->b;
    const int32_t left = w->sym[i].id, right = w->sym[next].id;
    const uint32_t len = w->sym[i].len + w->sym[next].len;
    const uint32_t *merge = !b->merge || left < 0 || right < 0 ? NULL : merge_slot(b, left, right);
    if (b->merge && (!merge || !*merge)) return;
    const int32_t id = vocab_find(b->v, s + i, len);
    if (id >= 0) heap_push(w, (struct bpe_pair){ merge ? (int32_t)*merge - 1 : b->v->rank ? b->v->rank[id] : id, i, id, len });
}

static int work_reserve(struct bpe_work *w, size_t n, steno_error *e)
{
    if (n <= w->sym_cap) return STENO_OK;
    const size_t cap = n < 64 ? 64 : n;
    free(w->sym);
    free(w->heap);
    w->sym_cap = 0;
    w->sym = malloc(cap * sizeof *w->sym);
    w->heap = malloc(3 * cap * sizeof *w->heap);
    if (!w->sym || !w->heap) return err_nomem(e, cap * (sizeof *w->sym + 3 * sizeof *w->heap), "a word of text");
    w->sym_cap = (uint32_t)cap;
    return STENO_OK;
}

/* Join symbol p.at with the next one, unless one of them has changed since the pair was pushed. */
static void pair_merge(struct bpe_work *w, const uint8_t *s, struct bpe_pair p)
{
    struct bpe_symbol *a = &w->sym[p.at];
    if (!a->len || a->next == NONE || a->len + w->sym[a->next].len != p.len) return;
    struct bpe_symbol *b = &w->sym[a->next];
    a->id = p.id;
    a->len = p.len;
    a->next = b->next;
    b->len = 0;
    if (a->next != NONE) w->sym[a->next].prev = p.at;
    pair_push(w, s, a->prev);
    pair_push(w, s, p.at);
}

/* Create the initial symbols. */
static void symbols_make(struct bpe_work *w, const uint8_t *s, int32_t n)
{
    const struct vocab *v = w->b->v;
    for (int32_t i = 0, prev = NONE, next; i < n; prev = i, i = next) {
        const uint32_t len = v->by_chars ? utf8_len(s[i]) : 1;
        next = i + (len && (int64_t)len <= n - i ? (int32_t)len : 1);
        const int32_t id = v->by_chars ? vocab_find(v, s + i, (size_t)(next - i)) : w->b->byte_id[s[i]];
        w->sym[i] = (struct bpe_symbol){ id, prev, next < n ? next : NONE, (uint32_t)(next - i) };
    }
}

static int not_there(const struct bpe_work *w, const uint8_t *s, int32_t i, steno_error *e)
{
    if (!w->b->v->by_chars) return err_set(e, STENO_EARG, "byte 0x%02x of the text is not in the vocabulary", s[i]);
    return err_set(e, STENO_EARG, "\"%.*s\" is not in the vocabulary", (int)w->sym[i].len, (const char *)s + i);
}

/* Emit a symbol that is not a token as bytes. */
static int fall_back(const struct bpe_work *w, const uint8_t *s, int32_t i, steno_error *e)
{
    const int32_t *id = w->b->v->fallback;
    const uint32_t n = w->sym[i].len;
    int whole = id != NULL;
    for (uint32_t k = 0; k < n && whole; k++) whole = id[s[i + (int32_t)k]] >= 0;
    for (uint32_t k = 0; k < n && whole; k++) buf_add(w->ids, &id[s[i + (int32_t)k]], sizeof *id);
    if (whole) return STENO_OK;
    if (!id || id[256] < 0) return not_there(w, s, i, e);
    buf_add(w->ids, &id[256], sizeof *id);
    return STENO_OK;
}

static int encode_piece(struct bpe_work *w, const uint8_t *s, size_t n, steno_error *e)
{
    const struct vocab *v = w->b->v;
    const int32_t whole = (!v->merge && !v->by_chars) || (v->whole_first && !v->by_chars) ? vocab_find(v, s, n) : NONE;
    if (whole >= 0) {
        buf_add(w->ids, &whole, sizeof whole);
        return STENO_OK;
    }
    const int rc = work_reserve(w, n, e);
    if (rc) return rc;
    symbols_make(w, s, (int32_t)n);
    w->n_heap = 0;
    for (int32_t i = 0; i != NONE; i = w->sym[i].next) pair_push(w, s, i);
    while (w->n_heap) pair_merge(w, s, heap_pop(w));
    for (int32_t i = 0; i != NONE; i = w->sym[i].next) {
        if (w->sym[i].id >= 0) buf_add(w->ids, &w->sym[i].id, sizeof w->sym[i].id);
        else if (fall_back(w, s, i, e)) return STENO_EARG;
    }
    return STENO_OK;
}

/* Cut well-formed text into pieces and encode each. */
static int encode_text(struct bpe_work *w, const uint8_t *s, size_t n, pcre2_match_data *md, steno_error *e)
{
    const size_t *span = pcre2_get_ovector_pointer(md);
    for (size_t at = 0; at < n; at = span[1]) {
        const int found = pcre2_match(w->b->code, s, n, at, PCRE2_NO_UTF_CHECK, md, NULL);
        if (found == PCRE2_ERROR_NOMEMORY) return err_nomem(e, n, "matching text");
        if (found < 0 || span[1] <= at) return err_set(e, STENO_EARG, "the text cannot be cut at byte %zu: pcre2 error %d", at, found);
        const int rc = encode_piece(w, s + at, span[1] - at, e);
        if (rc) return rc;
    }
    return STENO_OK;
}

int bpe_encode(const struct bpe *b, const char *text, size_t n, struct buf *ids, steno_error *e)
{
    const uint8_t *s = (const uint8_t *)text;
    if (n > MAX_TEXT) return err_set(e, STENO_EARG, "text of %zu bytes, at most %d are encoded at once", n, (int)MAX_TEXT);
    struct bpe_work w = { .b = b, .ids = ids };
    pcre2_match_data *md = b->code ? pcre2_match_data_create_from_pattern(b->code, NULL) : NULL;
    int rc = md || !b->code ? STENO_OK : err_nomem(e, 0, "matching text");
    while (n && !rc) {
        const size_t good = utf8_valid(s, n), m = good ? good : 1; /* otherwise one byte that does not begin a character */
        rc = good && md ? encode_text(&w, s, m, md, e) : encode_piece(&w, s, m, e);
        s += m;
        n -= m;
    }
    if (!rc && ids->err) rc = err_nomem(e, ids->len, "token ids");
    pcre2_match_data_free(md);
    free(w.sym);
    free(w.heap);
    return rc;
}

/* ---- pairs of a vocabulary --------------------------------------------------------------------------------------------------- */

enum { TOKEN_MAX = 512 };

/* The ends of the parts that s[n] is joined to by ids below `id`, lowest first, leftmost on ties. @return the number of parts */
static uint32_t join_below(const struct vocab *v, int32_t id, uint16_t *end)
{
    const uint8_t *s = v->bytes[id];
    uint32_t n = v->len[id];
    for (uint32_t i = 0; i < n; i++) end[i] = (uint16_t)(i + 1);
    while (n > 2) {
        int32_t best = id;
        uint32_t at = 0;
        for (uint32_t i = 0; i + 1 < n; i++) {
            const uint32_t from = i ? end[i - 1] : 0;
            const int32_t joined = vocab_find(v, s + from, end[i + 1] - from);
            if (joined < 0 || joined >= best) continue;
            best = joined;
            at = i;
        }
        if (best == id) break;
        for (uint32_t i = at; i + 1 < n; i++) end[i] = end[i + 1];
        n--;
    }
    return n;
}

int merges_of_ranks(const struct vocab *v, struct buf *pairs, steno_error *e)
{
    uint16_t end[TOKEN_MAX];
    for (int32_t id = 0; id < v->n_text; id++) {
        if (v->len[id] < 2 || v->len[id] > TOKEN_MAX || join_below(v, id, end) != 2) continue;
        const int32_t pair[2] = { vocab_find(v, v->bytes[id], end[0]), vocab_find(v, v->bytes[id] + end[0], v->len[id] - end[0]) };
        if (pair[0] >= 0 && pair[1] >= 0) buf_add(pairs, pair, sizeof pair);
    }
    return pairs->err ? err_nomem(e, pairs->len, "the pairs of a vocabulary") : STENO_OK;
}

/* ---- the longest match ------------------------------------------------------------------------------------------------------- */

enum char_kind { LETTER, DIGIT, SPACE, OTHER };

static enum char_kind kind_of(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return LETTER;
    if (c >= '0' && c <= '9') return DIGIT;
    return c == ' ' || (c >= '\t' && c <= '\r') ? SPACE : OTHER;
}

static size_t run_of(const char *s, enum char_kind kind)
{
    size_t n = 0;
    while (s[n] && kind_of(s[n]) == kind) n++;
    return n;
}

/* The bytes of the piece at the start of s: an English ending, a run of one kind with an optional space, or white space, whose last
 * character belongs to the next piece. */
static size_t piece_of(const char *s)
{
    static const char *const endings[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strncmp(s, endings[i], strlen(endings[i])) == 0) return strlen(endings[i]);
    const size_t space = s[0] == ' ' && s[1] && kind_of(s[1]) != SPACE, n = run_of(s, SPACE);
    if (space || !n) return space + run_of(s + space, kind_of(s[space]));
    return s[n] && n > 1 ? n - 1 : n;
}

void longest_encode(const struct vocab *v, const char *text, struct buf *ids)
{
    for (const char *end; *text; text = end) {
        end = text + piece_of(text);
        while (text < end) {
            size_t n = (size_t)(end - text);
            int32_t id = -1;
            for (; n && (id = vocab_find(v, (const uint8_t *)text, n)) < 0; n--) continue;
            if (n) buf_add(ids, &id, sizeof id);
            text += n ? n : 1;
        }
    }
}
