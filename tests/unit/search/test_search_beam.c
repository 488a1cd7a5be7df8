/* steno tests: beam search against a slow one. SPDX-License-Identifier: MIT
 *
 * The slow search keeps whole sequences and recomputes everything from them at each step, as the reference is written. The machine under
 * test gets its logits from a pretended network whose only memory is the state: what a lane has read is written there position by position,
 * so that beams whose keys did not follow them would read other sequences. */
#include <math.h>
#include "api/random_model.h"
#include "plan/mt19937.h"
#include "plan/replay.h"
#include "search/ar.h"

enum { VOCAB = 40, EOT = 30, TS = 32, CTX = 96, LIMIT = 70, PROMPT = 5, LANE0 = 2, LANES_MAX = 8, SEQ = PROMPT + LIMIT + 2 };

struct net {
    struct arena arena;
    struct kern kern;
    struct kv_state state;
    struct state_mem mem;
    struct run run;
    struct logit_rules rules;
    struct sampled_token out[LANES_MAX + LANE0][CTX], top[LANES_MAX + LANE0][RUN_BEAMS + 1], best[CTX];
    struct mt19937 mt19937[LANES_MAX];
    uint32_t mask[2], mask_first[2], seed;
    double eot_push;
    int32_t prompt[PROMPT];
};

/* ---- the pretended network ----------------------------------------------------------------------------------------------------- */

static uint32_t mix(uint32_t h, uint32_t v)
{
    h = (h ^ v) * 2654435761u;
    return h ^ h >> 15;
}

/* Logits after tokens seq[n]. Few distinct values: ties happen. */
static void logits_after(const struct net *t, float *x, const int32_t *seq, int n)
{
    uint32_t h = t->seed;
    for (int i = 0; i < n; i++) h = mix(h, (uint32_t)seq[i] + 77);
    for (int i = 0; i < VOCAB; i++) x[i] = (float)(mix(h, (uint32_t)i * 31 + 5) % 4001) / 500;
    x[EOT] += (float)t->eot_push;
}

static float *cell(struct net *t, uint16_t lane, uint32_t pos)
{
    const struct kv_view v = state_view(&t->mem, &t->state, 0, 0, lane);
    return (float *)(void *)((char *)v.base + v.table[pos / KV_BLOCK] * v.block_stride) + pos % KV_BLOCK; /* d_head 0 of the key */
}

static struct logit_partial scan(const struct net *t, const float *x, const uint32_t *mask, int32_t from, int32_t to)
{
    struct logit_partial p = { -INFINITY, 0, -1 };
    if (from < to) t->kern.logits_reduce(&p, x + from, mask, from, (size_t)(to - from));
    return p;
}

static void replay(struct net *t)
{
    for (uint32_t i = 0; i < t->run.n_rows; i++) {
        const struct row *row = &t->run.row[i];
        assert_int_equal(state_prepare(&t->state, row->lane, (uint32_t)row->pos, (uint32_t)row->pos + 1), 0);
        state_copy_all(&t->mem, &t->state);
        *cell(t, row->lane, (uint32_t)row->pos) = (float)row->token;
    }
    for (uint32_t i = 0; i < t->run.n_rows; i++) {
        const struct row *row = &t->run.row[i];
        struct lane *l = &t->run.lane[row->lane];
        int32_t seq[SEQ];
        float x[VOCAB];
        for (int32_t k = 0; k <= row->pos; k++) seq[k] = (int32_t)*cell(t, row->lane, (uint32_t)k);
        logits_after(t, x, seq, row->pos + 1);
        if (row->flags & ROW_TOPK) {
            const struct logit_range g = logit_range_of(&l->sampler);
            const struct logit_partial text = scan(t, x, g.mask, g.text_from, g.text_to), ts = scan(t, x, g.mask, g.ts_from, g.ts_to);
            if (l->sampler.mt19937) mt19937_tokens(&l->sampler, &text, &ts, x);
            else sample_topk(&l->sampler, &text, &ts, x, &t->kern);
        }
    }
    for (uint32_t i = 0; i < t->run.n_rows; i++) t->run.lane[t->run.row[i].lane].kv.len = t->run.row[i].pos + 1;
}

static void net_open(struct net *t, uint32_t seed, int limit, double eot_push)
{
    memset(t, 0, sizeof *t);
    arena_init(&t->arena);
    kern_init_c(&t->kern);
    t->seed = seed;
    t->eot_push = eot_push;
    static const struct state_desc desc = { "test", STATE_APPEND, 1, 1, 4, CTX, 0, 0, 0 };
    steno_error e;
    assert_int_equal(state_open(&t->state, &t->arena, &desc, KV_F32, LANES_MAX + LANE0, &e), 0);
    assert_int_equal(state_mem_open(&t->mem, &t->state, &e), 0);
    static const struct plan plan = { .max_rows = 64, .max_out = 64 };
    const struct plan *const plans[] = { &plan };
    assert_int_equal(run_init(&t->run, &t->arena, plans, 1, LANES_MAX + LANE0), 0);
    t->mask[0] = t->mask_first[0] = 1u << 3;
    t->mask_first[0] |= 1u << EOT;
    t->rules = (struct logit_rules){ .mask = t->mask, .mask_first = t->mask_first, .n_vocab = TS, .eot = EOT, .ts_begin = TS };
    for (int i = 0; i < LANES_MAX + LANE0; i++)
        t->run.lane[i] = (struct lane){ .sampler.out = t->out[i], .sampler.top = t->top[i],
                                        .sampler.rules = &t->rules, .sampler.limit = limit, .sampler.last_ts = -1 };
    for (int i = 0; i < PROMPT; i++) t->prompt[i] = i + 1;
}

static void net_close(struct net *t)
{
    state_mem_close(&t->mem);
    arena_free(&t->arena);
}

/* ---- the slow search ----------------------------------------------------------------------------------------------------------- */

struct seq { int32_t id[LIMIT + 1]; int n, from_eot; float sum; };

struct slow { struct seq beam[LANES_MAX], done[AR_FINISHED]; int n_beams, n_done; };

/* log-softmax of what the rules allow, in doubles; barred ids get -INFINITY */
static void slow_logprobs(const struct net *t, float *logp, const struct seq *s)
{
    int32_t all[SEQ];
    float x[VOCAB];
    memcpy(all, t->prompt, sizeof t->prompt);
    memcpy(all + PROMPT, s->id, (size_t)s->n * sizeof *all);
    logits_after(t, x, all, PROMPT + s->n);
    double max = -INFINITY, sum = 0;
    const uint32_t *mask = s->n ? t->mask : t->mask_first;
    for (int i = 0; i < TS; i++)
        if (!(mask[i >> 5] >> (i & 31) & 1) && (double)x[i] > max) max = (double)x[i];
    for (int i = 0; i < TS; i++)
        if (!(mask[i >> 5] >> (i & 31) & 1)) sum += exp((double)x[i] - max);
    for (int i = 0; i < TS; i++) logp[i] = mask[i >> 5] >> (i & 31) & 1 ? -INFINITY : (float)((double)x[i] - max - log(sum));
}

static int same(const struct seq *a, const struct seq *b)
{
    return a->n == b->n && !memcmp(a->id, b->id, (size_t)a->n * sizeof *a->id);
}

/* One step over n_beams sequences that are all kept whole. */
static int slow_step(const struct net *t, struct slow *w, int n_beams, int most)
{
    static struct seq cand[LANES_MAX * (LANES_MAX + 1)];
    int n = 0;
    for (int b = 0; b < w->n_beams; b++) {
        float logp[TS];
        slow_logprobs(t, logp, &w->beam[b]);
        for (int k = 0; k <= n_beams; k++) { /* the best, the next, ... lower ids first */
            int at = 0;
            for (int i = 1; i < TS; i++)
                if (logp[i] > logp[at]) at = i;
            if (isinf(logp[at])) break;
            struct seq s = w->beam[b];
            s.id[s.n++] = at;
            s.sum += logp[at];
            logp[at] = -INFINITY;
            int known = 0;
            for (int c = 0; c < n; c++) known |= same(&cand[c], &s);
            if (!known) cand[n++] = s;
        }
    }
    int used[LANES_MAX * (LANES_MAX + 1)] = { 0 }, kept = 0;
    struct seq next[LANES_MAX] = { 0 };
    while (kept < n_beams) {
        int at = -1;
        for (int c = 0; c < n; c++)
            if (!used[c] && (at < 0 || cand[c].sum > cand[at].sum)) at = c;
        if (at < 0) break;
        used[at] = 1;
        if (cand[at].id[cand[at].n - 1] != EOT) next[kept++] = cand[at];
        else if (w->n_done < most) w->done[w->n_done++] = cand[at];
    }
    memcpy(w->beam, next, sizeof next);
    w->n_beams = kept;
    return w->n_done >= most || !kept;
}

static struct seq slow_search(const struct net *t, int n_beams, int most, int limit, double penalty)
{
    static struct slow w;
    memset(&w, 0, sizeof w);
    w.n_beams = n_beams; /* all equal at first: equal continuations collapse */
    for (int i = 0; i < limit && !slow_step(t, &w, n_beams, most); i++) {}
    for (int i = 0; i < w.n_beams && w.n_done < n_beams; i++) w.done[w.n_done++] = w.beam[i];
    int best = 0;
    double best_rank = -INFINITY;
    for (int i = 0; i < w.n_done; i++) {
        const int len = w.done[i].n - (w.done[i].id[w.done[i].n - 1] == EOT);
        const double rank = ar_rank((double)w.done[i].sum, len, penalty);
        if (!i || rank > best_rank) best = i, best_rank = rank;
    }
    return w.done[best];
}

/* ---- comparison ---------------------------------------------------------------------------------------------------------------- */

static void search_both(uint32_t seed, int n_beams, double patience, double penalty, int limit, double eot_push)
{
    static struct net t;
    net_open(&t, seed, limit, eot_push);
    static struct ar a;
    a.beams.best = t.best;
    const struct ar_params p = { .n_lanes = n_beams, .beams = 1, .max_finished = (int32_t)nearbyint(n_beams * patience),
                                 .length_penalty = penalty };
    ar_begin(&a, &p, LANE0, t.prompt, PROMPT, 0);
    for (int steps = 0; !a.done; steps++) {
        assert_true(steps < LIMIT + PROMPT);
        t.run.n_rows = 0;
        assert_true(ar_add_rows(&a, &t.run, &t.state, (struct room){ steps < 2 ? 3 : 64, 64 }) > 0); /* the prompt comes in pieces */
        replay(&t);
        ar_give(&a, &t.run, &t.state);
    }
    const struct seq want = slow_search(&t, n_beams, p.max_finished, limit, penalty);
    const struct lane *got = &t.run.lane[a.result];
    const int ended = want.id[want.n - 1] == EOT;
    assert_int_equal(got->sampler.n, want.n - ended);
    for (int i = 0; i < got->sampler.n; i++) assert_int_equal(got->sampler.out[i].id, want.id[i]);
    assert_int_equal(got->sampler.ended, ended);
    assert_true(fabs(got->sampler.sum_logprob - (double)want.sum) < 1e-3);
    net_close(&t);
}

static void test_beams_equal_a_search_that_recomputes_every_sequence(void **state)
{
    (void)state;
    static const int beams[] = { 1, 2, 3, 5, 8 };
    static const double patience[] = { 1, 2, 0.5, 3.3 }, penalty[] = { (double)NAN, 0, 0.6, 1 }, push[] = { 0, 2, 4, -20 };
    for (uint32_t seed = 1; seed <= 60; seed++)
        search_both(seed, beams[seed % 5], patience[seed / 5 % 4], penalty[seed / 3 % 4], seed % 7 ? LIMIT : 4, push[seed % 4]);
}

/* ---- beams that draw ----------------------------------------------------------------------------------------------------------- */

struct drawn { struct seq s; double sum; int done; };

static int32_t slow_draw(const float *logp, struct mt19937 *mt19937)
{
    const double u = mt19937_draw(mt19937);
    double sum = 0;
    int32_t last = 0;
    for (int32_t i = 0; i < TS && (sum < u || !i); i++) {
        sum += exp((double)logp[i]);
        if (!isinf(logp[i])) last = i;
    }
    return last;
}

/* A step as it is written there: all that is drawn, in order; each beam takes the next, and what equals it is passed over. */
static void drawn_step(const struct net *t, struct drawn *beam, struct mt19937 *mt19937, int n_beams, int draws, int limit, int step)
{
    static struct drawn all[LANES_MAX * LANES_MAX];
    int n = 0, at = 0;
    for (int b = 0; b < n_beams; b++) {
        float logp[TS];
        if (beam[b].done) continue;
        slow_logprobs(t, logp, &beam[b].s);
        for (int k = 0; k < draws; k++) {
            struct drawn d = beam[b];
            const int32_t id = slow_draw(logp, &mt19937[b]);
            d.s.id[d.s.n++] = id;
            d.sum += (double)logp[id];
            int place = n++;
            for (; place && all[place - 1].sum < d.sum; place--) all[place] = all[place - 1];
            all[place] = d;
        }
    }
    for (int b = 0; b < n_beams; b++) {
        if (beam[b].done) continue;
        if (at >= n) at = 0;
        beam[b] = all[at++];
        while (at < n && step && same(&all[at].s, &beam[b].s)) at++;
        beam[b].done = beam[b].s.id[beam[b].s.n - 1] == EOT || beam[b].s.n >= limit;
    }
}

static void draw_both(uint32_t seed, int n_beams, int draws, double push)
{
    static struct net t;
    static struct drawn beam[LANES_MAX];
    struct mt19937 mt19937[LANES_MAX];
    net_open(&t, seed, LIMIT, push);
    memset(beam, 0, sizeof beam);
    for (int b = 0; b < n_beams; b++) {
        mt19937_seed(&mt19937[b], (uint32_t)b);
        t.mt19937[b] = mt19937[b];
        t.run.lane[LANE0 + b].sampler.mt19937 = &t.mt19937[b];
    }
    static struct ar a;
    const struct ar_params p = { .n_lanes = n_beams, .beams = 1, .length_penalty = (double)NAN, .score = { .on = 1, .draws = draws } };
    ar_begin(&a, &p, LANE0, t.prompt, PROMPT, 0);
    for (int steps = 0; !a.done; steps++) {
        assert_true(steps < LIMIT + PROMPT);
        t.run.n_rows = 0;
        assert_true(ar_add_rows(&a, &t.run, &t.state, (struct room){ steps < 2 ? 3 : 64, 64 }) > 0);
        replay(&t);
        ar_give(&a, &t.run, &t.state);
    }
    for (int step = 0; step < LIMIT; step++) drawn_step(&t, beam, mt19937, n_beams, draws, LIMIT, step);
    int best = 0, some = 0;
    for (int b = 0; b < n_beams; b++) {
        const struct lane *got = &t.run.lane[a.beams.lane[b]];
        const int ended = beam[b].s.id[beam[b].s.n - 1] == EOT;
        const int before = !some || beam[b].sum / beam[b].s.n > beam[best].sum / beam[best].s.n;
        assert_int_equal(got->sampler.n, beam[b].s.n - ended);
        assert_int_equal(got->sampler.ended, ended);
        for (int i = 0; i < got->sampler.n; i++) assert_int_equal(got->sampler.out[i].id, beam[b].s.id[i]);
        assert_true(fabs(got->sampler.sum_logprob - beam[b].sum) < 1e-3);
        if (ended && before) best = b;
        some |= ended; /* what comes to the limit has failed */
    }
    assert_int_equal(a.chosen, best);
    net_close(&t);
}

static void test_beams_that_draw_equal_a_search_that_keeps_every_sequence(void **state)
{
    (void)state;
    static const int beams[] = { 1, 2, 3, 5, 8 };
    static const double push[] = { 0, 4, 7, -20 };
    for (uint32_t seed = 1; seed <= 60; seed++) draw_both(seed, beams[seed % 5], beams[seed / 5 % 5], push[seed % 4]);
}

static void test_length_penalty_decides_between_a_short_and_a_long_candidate(void **state)
{
    (void)state;
    const double nothing = (double)NAN;
    assert_true(ar_rank(-2, 4, nothing) < ar_rank(-3.2, 8, nothing));
    assert_true(ar_rank(-2, 4, 1) > ar_rank(-4, 8, 1));
    assert_true(ar_rank(-2, 4, 0) == -2);
    assert_true(ar_rank(-1, 0, nothing) == (double)-INFINITY); /* the reference would divide by nothing */
}

static void test_identical_first_beams_collapse_and_nothing_is_found_twice(void **state)
{
    (void)state;
    static struct net t;
    net_open(&t, 9, LIMIT, -20);
    static struct ar a;
    a.beams.best = t.best;
    const struct ar_params p = { .n_lanes = 5, .beams = 1, .max_finished = 5, .length_penalty = (double)NAN };
    ar_begin(&a, &p, LANE0, t.prompt, PROMPT, 0);
    for (int step = 0; step < 6; step++) {
        t.run.n_rows = 0;
        ar_add_rows(&a, &t.run, &t.state, (struct room){ 64, 64 });
        replay(&t);
        ar_give(&a, &t.run, &t.state);
        assert_int_equal(a.beams.n, 5);
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < i; k++) {
                const struct lane *x = &t.run.lane[a.beams.lane[i]], *y = &t.run.lane[a.beams.lane[k]];
                assert_true(x != y);
                assert_true(x->sampler.sum_logprob <= y->sampler.sum_logprob); /* in order of rank */
                int equal = x->sampler.n == y->sampler.n;
                for (int j = 0; equal && j < x->sampler.n; j++) equal = x->sampler.out[j].id == y->sampler.out[j].id;
                assert_false(equal);
            }
    }
    net_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beams_equal_a_search_that_recomputes_every_sequence),
        cmocka_unit_test(test_beams_that_draw_equal_a_search_that_keeps_every_sequence),
        cmocka_unit_test(test_length_penalty_decides_between_a_short_and_a_long_candidate),
        cmocka_unit_test(test_identical_first_beams_collapse_and_nothing_is_found_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
