/* steno: pairs of a byte-pair vocabulary. SPDX-License-Identifier: MIT */
#include "text/merges.h"

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
