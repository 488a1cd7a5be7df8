/* steno: ids that are guessed ahead and checked together. SPDX-License-Identifier: MIT */
#include "task/draft.h"
#include <string.h>

/* Where what followed the last n ids the time before begins; 0: they were not there. */
static int32_t seen_before(const int32_t *ids, int32_t n, int32_t gram)
{
    const int32_t *last = ids + n - gram;
    for (int32_t at = n - gram - 1; at >= 0; at--)
        if (!memcmp(ids + at, last, (size_t)gram * sizeof *ids)) return at + gram;
    return 0;
}

/* The longest that was there decides; single ids say too little. */
static int32_t guess(struct draft *d, const int32_t *ids, int32_t n, int32_t most)
{
    int32_t at = 0;
    for (int32_t gram = DRAFT_NGRAM; gram > 1 && !at; gram--)
        if (n > gram) at = seen_before(ids, n, gram);
    if (!at || most < 1) return 0;
    int32_t k = 0;
    for (; k < most; k++) d->guess[k] = at + k < n ? ids[at + k] : d->guess[at + k - n]; /* what repeats itself goes on doing so */
    return k;
}

void draft_rows(struct draft *d, struct run *r, uint16_t lane, const int32_t *ids, int32_t n, int32_t room)
{
    const struct lane *l = &r->lane[lane];
    const int32_t most = d->now < room ? d->now : room;
    d->n = d->n_given ? (d->n_given < room ? d->n_given : room) : most > 0 ? guess(d, ids, n, most) : 0;
    d->n_given = 0;
    for (int32_t i = 0; i <= d->n; i++)
        run_add(r, i ? d->guess[i - 1] : ids[n - 1], l->kv.len + i, lane, d->n ? ROW_GUESS : ROW_SAMPLE);
}

void draft_learn(struct draft *d, int32_t right)
{
    const int32_t more = right == d->n ? 2 * d->now : right + 1;
    d->now = more < d->most ? more : d->most;
}
