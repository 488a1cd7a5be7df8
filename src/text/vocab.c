/* steno: vocabularies and UTF-8. SPDX-License-Identifier: MIT
 *
 * Look-up is open addressing at half load. A probe never walks further than MAX_PROBE slots: a real vocabulary stays far below, and one
 * made to collide is refused instead of taking quadratic time. */
#include "text/vocab.h"

#include <string.h>

enum { MAX_PROBE = 1024 };

static uint32_t bytes_hash(const uint8_t *s, size_t n)
{
    uint32_t h = 2166136261u; /* FNV-1a, then mixed so that the low bits depend on all */
    for (size_t i = 0; i < n; i++) h = (h ^ s[i]) * 16777619u;
    h = (h ^ h >> 16) * 0x7feb352du;
    return h ^ h >> 15;
}

int vocab_init(struct vocab *v, struct arena *a, int32_t n, int32_t n_text, steno_error *e)
{
    memset(v, 0, sizeof *v);
    if (n < 1 || n_text < 0 || n_text > n) return err_set(e, STENO_EARG, "a vocabulary of %d tokens, %d of them text", n, n_text);
    v->bytes = arena_array(a, (size_t)n, sizeof *v->bytes);
    v->len = arena_array(a, (size_t)n, sizeof *v->len);
    if (!v->bytes || !v->len) return err_nomem(e, (size_t)n * (sizeof *v->bytes + sizeof *v->len), "the vocabulary");
    v->n = n;
    v->n_text = n_text;
    return STENO_OK;
}

void vocab_set(struct vocab *v, int32_t id, const uint8_t *s, uint32_t n)
{
    if (id < 0 || id >= v->n) return;
    v->bytes[id] = s;
    v->len[id] = n;
}

/* Slot that holds the bytes or the free one where they belong; NULL after too many probes. */
static uint32_t *slot_of(const struct vocab *v, const uint8_t *s, size_t n)
{
    uint32_t i = bytes_hash(s, n);
    for (int probe = 0; probe < MAX_PROBE; probe++, i++) {
        uint32_t *slot = &v->hash[i & v->hash_mask];
        if (!*slot || (v->len[*slot - 1] == n && !memcmp(v->bytes[*slot - 1], s, n))) return slot;
    }
    return NULL;
}

int vocab_index(struct vocab *v, struct arena *a, steno_error *e)
{
    uint32_t n = 16;
    while (n < 2 * (uint64_t)v->n_text) n *= 2;
    v->hash = arena_array(a, n, sizeof *v->hash);
    if (!v->hash) return err_nomem(e, n * sizeof *v->hash, "the vocabulary's look-up");
    v->hash_mask = n - 1;
    for (int32_t id = 0; id < v->n_text; id++) {
        if (!v->len[id]) continue;
        uint32_t *slot = slot_of(v, v->bytes[id], v->len[id]);
        if (!slot) return err_set(e, STENO_EFORMAT, "vocabulary string %d collides with %d others: not a real vocabulary", id, MAX_PROBE);
        if (!*slot) *slot = (uint32_t)id + 1;
    }
    return STENO_OK;
}

int32_t vocab_find(const struct vocab *v, const uint8_t *s, size_t n)
{
    const uint32_t *slot = v->hash && n ? slot_of(v, s, n) : NULL;
    return slot && *slot ? (int32_t)(*slot - 1) : -1;
}

void vocab_append(const struct vocab *v, int32_t id, struct buf *out)
{
    if (id >= 0 && id < v->n && v->len[id]) buf_add(out, v->bytes[id], v->len[id]);
}

/* Look at the character that begins at s[0], n > 0. *need: the length its first byte announces, 0 when none may begin so.
 * @return how many of the bytes present fit a well-formed character; well-formed and whole when equal to *need */
static size_t utf8_scan(const uint8_t *s, size_t n, size_t *need)
{
    const uint8_t c = s[0];
    uint8_t lo = 0x80, hi = 0xbf; /* range of the second byte: no overlong forms, no surrogates, nothing past U+10FFFF */
    if (c < 0x80) return *need = 1;
    *need = c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (!*need) return 0;
    if (c == 0xe0) lo = 0xa0;
    if (c == 0xed) hi = 0x9f;
    if (c == 0xf0) lo = 0x90;
    if (c == 0xf4) hi = 0x8f;
    size_t i = 1;
    for (; i < *need && i < n && s[i] >= lo && s[i] <= hi; i++) lo = 0x80, hi = 0xbf;
    return i;
}

size_t utf8_valid(const uint8_t *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        size_t need;
        const size_t got = utf8_scan(s + i, n - i, &need);
        if (!got || got < need) break;
        i += need;
    }
    return i;
}

void utf8_append(struct buf *out, const uint8_t *s, size_t n)
{
    while (n) {
        const size_t good = utf8_valid(s, n);
        if (good) buf_add(out, s, good);
        s += good;
        n -= good;
        if (!n) break;
        size_t need, bad = utf8_scan(s, n, &need);
        if (!bad) bad = 1;
        buf_add(out, "\xef\xbf\xbd", 3);
        s += bad;
        n -= bad;
    }
}

size_t utf8_complete(const uint8_t *s, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const uint8_t *p = s + n - back;
        if (*p >= 0x80 && *p < 0xc0) continue;
        size_t need;
        return utf8_scan(p, back, &need) == back && need > back ? n - back : n;
    }
    return n;
}

/* Length of the white-space character at the start of s[n], 0: none (what Python's str.isspace says). */
static size_t space_at(const uint8_t *s, size_t n)
{
    if (!n) return 0;
    if (s[0] == ' ' || (s[0] >= 9 && s[0] <= 13) || (s[0] >= 0x1c && s[0] <= 0x1f)) return 1;
    if (n >= 2 && s[0] == 0xc2 && (s[1] == 0x85 || s[1] == 0xa0)) return 2;
    if (n < 3) return 0;
    const uint32_t c = (uint32_t)s[0] << 16 | (uint32_t)s[1] << 8 | s[2];
    const int wide = c == 0xe19a80 || (c >= 0xe28080 && c <= 0xe2808a) || c == 0xe280a8 || c == 0xe280a9 || c == 0xe280af ||
                     c == 0xe2819f || c == 0xe38080;
    return wide ? 3 : 0;
}

void text_strip(const char **text, size_t *n)
{
    const uint8_t *s = (const uint8_t *)*text;
    size_t len = *n, from = 0, k;
    while ((k = space_at(s + from, len - from)) > 0) from += k;
    for (int again = 1; again && len > from;) {
        again = 0;
        for (k = 1; k <= 3 && k <= len - from && !again; k++)
            if (space_at(s + len - k, k) == k) len -= k, again = 1;
    }
    *text += from;
    *n = len - from;
}
