/* steno: vocabularies. SPDX-License-Identifier: MIT
 *
 * Look-up is open addressing at half load. A probe never visits more than MAX_PROBE slots. Real vocabularies stay far below; a vocabulary
 * made to collide is refused instead of taking quadratic time. */
#include "text/vocab.h"

#include <string.h>
#include "base/hash.h"

enum { MAX_PROBE = 1024 };

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

/* The slot of the bytes, or the free slot for them; NULL after too many probes. */
static uint32_t *slot_of(const struct vocab *v, const uint8_t *s, size_t n)
{
    uint32_t i = hash_bytes(s, n);
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
