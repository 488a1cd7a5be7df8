/* steno: lanes of texts, and prefixes that texts share. SPDX-License-Identifier: MIT */
#include "task/lm/lm_lanes.h"
#include "engine/batch.h"
#include "model/family.h"
#include "task/decode/draft_model.h"

/* The ids of a lane's text. n: ids whose keys and values will exist when its prompt is read; there: those that exist now. */
struct lane_text { const int32_t *ids; int32_t n, there; };

static struct lane_text text_of(const struct steno_batch *b, uint32_t at)
{
    const struct lm_lane *l = &lm_batch_of(b)->lane[at];
    struct lane_text t = { (const int32_t *)(const void *)l->ids.p, l->n, l->n };
    if (!l->user) return t;
    const struct lm_session *user = lm_of(l->user);
    t.ids = (const int32_t *)(const void *)l->user->held.p;
    t.there = user->request.waits ? user->generation.kept : b->run.lane[at].kv.len; /* out of memory, ids may have fewer entries */
    t.n = user->request.waits ? t.there : (int32_t)(l->user->held.len / sizeof *t.ids);
    return t;
}

static int32_t common(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b)
{
    int32_t n = 0;
    while (n < n_a && n < n_b && a[n] == b[n]) n++;
    return n;
}

static struct lm_lane *lane_of(const steno_session *s)
{
    return &lm_batch_of(s->batch)->lane[lm_of(s)->generation.lane];
}

int lm_lane_is_own(const steno_session *s)
{
    return lm_of(s)->turn && lane_of(s)->turn == lm_of(s)->turn;
}

int lm_lane_free(const struct steno_batch *b)
{
    const struct lm_lane *lane = lm_batch_of(b)->lane;
    int found = -1;
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (!lane[i].user && (found < 0 || lane[i].turn < lane[found].turn)) found = (int)i;
    return found;
}

static void swap_ids(steno_session *s, struct lm_lane *l)
{
    const struct buf held = s->held;
    s->held = l->ids;
    l->ids = held;
}

void lm_lane_enter(steno_session *s)
{
    struct lm_lane *l = lane_of(s);
    swap_ids(s, l);
    l->user = s;
}

void lm_lane_begin(steno_session *s)
{
    struct lm_batch *b = lm_batch_of(s->batch);
    const int own = lm_lane_is_own(s) && !lane_of(s)->user;
    const uint16_t at = own ? lm_of(s)->generation.lane : (uint16_t)lm_lane_free(s->batch);
    lm_of(s)->generation = generation_of(PLAN_TEXT);
    lm_of(s)->generation.lane = at;
    lm_of(s)->generation.kept = b->lane[at].n;
    lm_of(s)->generation.uses_draft = 1;
    lm_of(s)->turn = b->lane[at].turn = ++b->turns;
    lm_lane_enter(s);
}

int lm_lane_share(steno_session *s, const int32_t *ids, int32_t n)
{
    struct steno_batch *b = s->batch;
    struct generation *g = &lm_of(s)->generation;
    const int32_t same = common(ids, n - 1, (const int32_t *)(const void *)s->held.p, g->kept), own = lane_reach(b, g->lane, same);
    int32_t best = own, soon = own;
    uint32_t from = g->lane;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        if (i == g->lane) continue;
        const struct lane_text t = text_of(b, i);
        const int is_older = lm_batch_of(b)->lane[i].turn < lm_of(s)->turn;
        const int32_t blocks = common(ids, n - 1, t.ids, t.n) / KV_BLOCK * KV_BLOCK, there = t.there / KV_BLOCK * KV_BLOCK;
        const int32_t now = lane_reach(b, i, blocks < there ? blocks : there);
        if (blocks > g->parted && blocks <= there) g->parted = blocks;
        if (now > best) best = now, from = i;
        /* otherwise that lane has already passed this point */
        if (is_older && blocks > soon && (blocks > there || now == blocks)) soon = blocks;
    }
    if (soon > best) return 1;
    if (from == g->lane) return 0;
    buf_clear(&s->held);
    buf_add(&s->held, ids, (size_t)best * sizeof *ids);
    g->kept = s->held.err ? 0 : best; /* out of memory: it is read again */
    lane_fork(b, g->lane, from);
    lane_cut(b, g->lane, g->kept);
    lane_mark(b, g->lane, g->kept); /* other texts may share this prefix */
    if (b->draft) draft_model_fork(b->draft, g->lane, (uint16_t)from, g->kept);
    return 0;
}

void lm_lane_leave(steno_session *s)
{
    struct lm_lane *l = lane_of(s);
    l->n = lm_of(s)->generation.kept;
    swap_ids(s, l);
    l->user = NULL;
}

void lm_lanes_forget(struct steno_batch *b, uint32_t first, uint32_t n)
{
    struct lm_batch *l = lm_batch_of(b);
    l->logits_of = 0;
    for (uint32_t i = first; i < first + n; i++) {
        l->lane[i].n = 0;
        l->lane[i].turn = ++l->turns;
    }
}
