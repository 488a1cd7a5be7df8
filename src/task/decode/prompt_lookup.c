/* steno: speculative decoding with draft tokens from the text itself. SPDX-License-Identifier: MIT */
#include "task/decode/prompt_lookup.h"

enum { NEAR = 12,     /* ids searched after a position for omitted ids */
       LOST = 6,      /* most ids that count as inserted */
       NGRAM = 4 };   /* most ids that are matched */
static double const forget = 0.95, gain_least = 1.05, more_least = 1.01; /* a smaller gain is not used */

struct prompt_lookup prompt_lookup_of(int32_t most)
{
    static const double usual[DRAFT_KINDS] = { [DRAFT_FOLLOWED] = 0.9, [DRAFT_PUT_IN] = 0.5, [DRAFT_REPLACED] = 0.5, [DRAFT_BOTH] = 0.3,
                                               [DRAFT_NEAR] = 0.6, [DRAFT_NEAR_MORE] = 0.8, [DRAFT_ONE] = 0.25, [DRAFT_TWO] = 0.45,
                                               [DRAFT_THREE] = 0.7 };
    struct prompt_lookup d = { .most = most > 0 ? most : 0, .at = -1, .left = -1 };
    for (int i = 0; i < DRAFT_KINDS; i++) d.odds[i] = (struct lookup_odds){ 4 * usual[i], 4 };
    return d;
}

/* ---- position ---------------------------------------------------------------------------------------------------------------- */

static void odds_learn(struct lookup_odds *o, int right)
{
    o->right = forget * o->right + right;
    o->tried = forget * o->tried + 1;
}

static double odds_of(const struct lookup_odds *o) { return o->right / o->tried; }

/* Takes the place if its kind has been right more often than the kind of the current one. */
static void consider(struct prompt_lookup *d, int32_t at, enum lookup_kind kind)
{
    if (d->at >= 0 && odds_of(&d->odds[kind]) <= odds_of(&d->odds[d->kind])) return;
    d->at = at;
    d->kind = kind;
}

/* Number of newest ids that match the ids before a place, at most NGRAM. */
static int32_t matches(const int32_t *ids, int32_t n, int32_t at)
{
    int32_t k = 0;
    while (k < NGRAM && k < at && ids[at - 1 - k] == ids[n - 1 - k]) k++;
    return k;
}

/* The expected text was left. Finds the place where the newest ids continue. Among distant places the longest match wins, then the last
 * one. */
static void look(struct prompt_lookup *d, const int32_t *ids, int32_t n)
{
    int32_t best = 0, place = -1;
    d->at = -1;
    for (int32_t at = n - 1; at > 0; at--) {
        const int32_t k = matches(ids, n, at);
        if (k > best) best = k, place = at;
    }
    if (place >= 0) consider(d, place, best > 2 ? DRAFT_THREE : best > 1 ? DRAFT_TWO : DRAFT_ONE);
    if (d->left < 0) return;
    for (int32_t i = 1; i <= NEAR && d->left + i < n; i++) {
        const int32_t k = matches(ids, n, d->left + i);
        if (k) consider(d, d->left + i, k > 1 ? DRAFT_NEAR_MORE : DRAFT_NEAR);
        if (k) break;
    }
    consider(d, d->left, DRAFT_PUT_IN);
    if (d->left + d->since < n) consider(d, d->left + d->since, DRAFT_REPLACED);
    if (d->since > 1 && d->left + d->since - 1 < n) consider(d, d->left + d->since - 1, DRAFT_BOTH);
}

/* Handles one more id, ids[n - 1]. */
static void follow(struct prompt_lookup *d, const int32_t *ids, int32_t n)
{
    const int is_expected = d->at >= 0 && ids[d->at] == ids[n - 1];
    if (d->at >= 0) odds_learn(&d->odds[d->kind], is_expected);
    if (is_expected) {
        d->at++;
        d->kind = DRAFT_FOLLOWED;
        d->left = -1;
        return;
    }
    if (d->left < 0 && d->at >= 0) d->left = d->at, d->since = 0;
    if (d->left >= 0 && ++d->since > LOST) d->left = -1;
    look(d, ids, n);
}

/* ---- number ------------------------------------------------------------------------------------------------------------------ */

/* Number of draft tokens with the most ids per time, next to `lanes` rows that run anyway. */
static int32_t worth(const struct prompt_lookup *d, int32_t most, const struct run_costs *costs, int32_t lanes)
{
    if (run_costs_needs(costs, lanes)) return 0;
    const double p = odds_of(&d->odds[d->kind]), q = odds_of(&d->odds[DRAFT_FOLLOWED]);
    double ids = lanes, chance = p, best = gain_least * lanes / run_costs_of(costs, lanes);
    int32_t n = 0;
    for (int32_t i = 1; i <= most; i++, chance *= q) {
        ids += chance;
        const double speed = ids / run_costs_of(costs, lanes + i);
        if (speed > more_least * best) best = speed, n = i;
    }
    return n;
}

static int32_t look_up(struct prompt_lookup *d, const int32_t *ids, int32_t n, int32_t most, const struct run_costs *costs, int32_t lanes)
{
    for (; d->seen < n; d->seen++) follow(d, ids, d->seen + 1);
    if (d->at < 0) return 0;
    const int32_t k = worth(d, most, costs, lanes);
    for (int32_t i = 0; i < k; i++) d->id[i] = d->at + i < n ? ids[d->at + i] : d->id[d->at + i - n]; /* a repetition continues */
    return k;
}

int32_t prompt_lookup_find(struct prompt_lookup *d, const int32_t *ids, int32_t n, int32_t room, const struct run_costs *costs,
                           int32_t rows)
{
    const int32_t most = d->most < room ? d->most : room;
    d->n = most > 0 ? look_up(d, ids, n, most, costs, rows) : 0;
    return d->n;
}

void prompt_lookup_rows(struct prompt_lookup *d, struct run *r, uint16_t lane, const int32_t *ids, int32_t n, int32_t room,
                        const struct run_costs *costs, int32_t lanes)
{
    const struct lane *l = &r->lane[lane];
    if (!d->seen) d->seen = n - 1; /* the prompt is not followed */
    if (d->n_given) d->n = d->n_given < room ? d->n_given : room;
    else prompt_lookup_find(d, ids, n, room, costs, lanes);
    d->n_given = 0;
    for (int32_t i = 0; i <= d->n; i++)
        run_add(r, i ? d->id[i - 1] : ids[n - 1], l->kv.len + i, lane, d->n ? ROW_DRAFT : ROW_SAMPLE);
}
