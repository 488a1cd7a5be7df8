/* steno: run tables, and choosing a token. SPDX-License-Identifier: MIT
 *
 * The choice follows openai-whisper 20250625, whisper/decoding.py: suppressed ids, then the timestamp rules, then the most probable id (or
 * one sampled at a temperature). Text and timestamps are reduced separately, so the rule "all timestamps together outweigh the best text"
 * needs no second pass over the logits. */
#include "plan/run.h"
#include <math.h>
#include <string.h>

static struct room room_of(const struct plan *const *plans, int n_plans)
{
    struct room m = { 0 };
    for (int i = 0; i < n_plans; i++) {
        if (plans[i]->max_rows > m.rows) m.rows = plans[i]->max_rows;
        if (plans[i]->max_out > m.out) m.out = plans[i]->max_out;
    }
    return m;
}

static void tables_take(struct run *r, struct arena_take *t, struct room m, uint32_t n_lanes)
{
    r->row = arena_take(t, m.rows, sizeof *r->row);
    r->lane = arena_take(t, n_lanes, sizeof *r->lane);
    r->out_row = arena_take(t, m.out, sizeof *r->out_row);
    r->self_len = arena_take(t, m.rows, sizeof *r->self_len);
    r->cross_len = arena_take(t, m.rows, sizeof *r->cross_len);
    r->self = arena_take(t, m.rows, sizeof *r->self);
    r->cross = arena_take(t, m.rows, sizeof *r->cross);
}

int run_init(struct run *r, struct arena *a, const struct plan *const *plans, int n_plans, uint32_t n_lanes)
{
    struct arena_take t = { .a = a };
    memset(r, 0, sizeof *r);
    r->room = room_of(plans, n_plans);
    r->n_lanes = n_lanes;
    tables_take(r, &t, r->room, n_lanes);
    return t.failed ? -1 : 0;
}

size_t run_memory(const struct plan *const *plans, int n_plans, uint32_t n_lanes)
{
    struct run r;
    struct arena_take t = { 0 };
    tables_take(&r, &t, room_of(plans, n_plans), n_lanes);
    return t.sz;
}

void run_add(struct run *r, int32_t token, int32_t pos, uint16_t lane, uint16_t flags)
{
    if (!r->n_rows) r->n_out = 0;
    r->n_out += flags != 0;
    if (r->n_rows < r->room.rows) r->row[r->n_rows] = (struct row){ token, pos, lane, flags };
    r->n_rows++;
}

struct room run_left(const struct run *r, struct room max)
{
    const uint32_t out = r->n_rows ? r->n_out : 0;
    return (struct room){ max.rows > r->n_rows ? max.rows - r->n_rows : 0, max.out > out ? max.out - out : 0 };
}

/* Extend the last group if this row fits, else begin a new group. */
static void group_add(struct group *g, uint32_t *n, uint32_t row, uint16_t lane, int same)
{
    if (same)
        g[*n - 1].n++;
    else
        g[(*n)++] = (struct group){ (uint16_t)row, 1, lane };
}

void run_prepare(struct run *r)
{
    r->n_out = r->n_self = r->n_cross = 0;
    r->self_len_max = r->cross_len_max = 0;
    for (uint32_t i = 0; i < r->n_rows && i < r->room.rows; i++) {
        const struct row *row = &r->row[i];
        const struct lane *l = &r->lane[row->lane];
        r->self_len[i] = row->pos + 1;
        r->cross_len[i] = l->kv.enc_len;
        group_add(r->self, &r->n_self, i, row->lane, i && r->row[i - 1].lane == row->lane);
        group_add(r->cross, &r->n_cross, i, row->lane,
                  i && r->lane[r->row[i - 1].lane].kv.window == l->kv.window && r->cross[r->n_cross - 1].n < ATTN_TILE);
        if (r->self_len[i] > r->self_len_max) r->self_len_max = r->self_len[i];
        if (r->cross_len[i] > r->cross_len_max) r->cross_len_max = r->cross_len[i];
        if (row->flags && r->n_out++ < r->room.out) r->out_row[r->n_out - 1] = i;
    }
}

struct sequence sequence_next(const struct sequence *last, uint32_t n, uint16_t lane)
{
    struct sequence s = { .n = (uint16_t)n, .lane = lane };
    if (last) {
        s.row = (uint16_t)(last->row + last->n);
        s.block = (uint16_t)(last->block + kv_blocks(last->n));
    }
    return s;
}

uint32_t sequence_room(const struct sequence *last, uint32_t max_rows)
{
    const struct sequence s = sequence_next(last, 0, 0);
    const uint32_t blocks = kv_blocks(max_rows), rows = s.row < max_rows ? max_rows - s.row : 0;
    const uint32_t keys = s.block < blocks ? (blocks - s.block) * KV_BLOCK : 0;
    return rows < keys ? rows : keys;
}

void run_advance(struct run *r)
{
    r->n_rows = 0;
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        struct lane *l = &r->lane[i];
        if (!l->sampler.done) run_add(r, l->sampler.out[l->sampler.n - 1].id, l->kv.len, (uint16_t)i, ROW_SAMPLE);
    }
}

struct logit_range logit_range_of(const struct sampler *s)
{
    const struct logit_rules *q = s->rules;
    struct logit_range g = { 0, q->ts_begin, q->ts_begin, q->n_vocab, s->n ? q->mask : q->mask_first };
    if (!q->timestamps) {
        g.ts_to = g.ts_from;
        return g;
    }
    if (!s->n && !q->begun) { /* a window begins with a timestamp, not too late */
        if (!q->ggml_rules) g.text_to = 0;
        g.ts_to = q->ts_initial_last + 1;
        return g;
    }
    const int last = s->n && s->out[s->n - 1].id >= q->ts_begin;
    const int before = s->n < 2 ? !q->begun : s->out[s->n - 2].id >= q->ts_begin;
    const int32_t last_ts = q->begun && s->last_ts < q->ts_begin ? q->ts_begin : s->last_ts;
    if (last && before) g.ts_to = g.ts_from;   /* a pair is complete: text follows */
    if (last && !before) g.text_from = q->eot; /* a segment ended: the next one's timestamp or the end follows */
    if (last_ts >= 0 && !(q->ggml_rules && last_ts == q->ts_begin)) { /* timestamps do not decrease, and repeat only to begin a segment */
        const int32_t from = last_ts + ((last && !before) || q->ggml_rules ? 0 : 1);
        if (from > g.ts_from) g.ts_from = from;
    }
    return g;
}

struct logit_range logit_range_at(const struct run *r, uint32_t row)
{
    const struct row *at = &r->row[row];
    const struct lane *l = &r->lane[at->lane];
    const int32_t drafted = at->flags & ROW_DRAFT ? at->pos - l->kv.len : 0;
    struct sampler s = l->sampler;
    for (int32_t i = 0; i < drafted && s.rules->timestamps; i++)
        if (s.out[s.n + i].id >= s.rules->ts_begin) s.last_ts = s.out[s.n + i].id;
    s.n += drafted;
    return logit_range_of(&s);
}

struct logit_partial logits_merge(const struct logit_partial *part, size_t n, size_t stride)
{
    struct logit_partial m = { -INFINITY, 0, -1 };
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct logit_partial *p = &part[i * stride];
        if (p->arg >= 0 && p->max > m.max) m.max = p->max, m.arg = p->arg;
    }
    for (size_t i = 0; i < n; i++) {
        const struct logit_partial *p = &part[i * stride];
        if (p->arg >= 0) sum += (double)p->sum * exp((double)p->max - m.max);
    }
    m.sum = (float)sum;
    return m;
}

struct best logits_best(const struct logit_partial *all)
{
    return (struct best){ all->arg, all->arg < 0 ? -INFINITY : (float)-log(all->sum), all->max };
}

static double part_lse(const struct logit_partial *p)
{
    return p->arg < 0 ? -INFINITY : p->max + log(p->sum);
}

/* SplitMix64's finaliser: every bit of the input changes every bit of the output with probability one half. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t const golden = 0x9e3779b97f4a7c15u; /* odd and far from any pattern */

/* Counter-based generator: a key for each position of each stream of each seed. The draw of any id follows from it alone, on any thread. */
static uint64_t draw_key(uint64_t seed, uint64_t stream, int32_t n)
{
    return mix(mix(mix(seed + golden) + stream * golden) + (uint64_t)(n + 1) * golden);
}

static double gumbel(uint64_t z)
{
    return -log(-log(((double)(z >> 11) + 0.5) * 0x1p-53));
}

/* Whether noise from z can reach gap. Gumbel(u) >= gap needs 1 - u <= exp(-gap): that number of leading ones in z. Avoids most
 * logarithms. */
static int may_reach(uint64_t z, double gap)
{
    const double bits = gap * 1.4426950408889634; /* to base 2 */
    if (!(bits >= 1)) return 1;
    return bits < 54 && ~z >> (64 - (int)bits) == 0;
}

/* Gumbel-max: argmax of logit / T + noise is a sample from softmax(logit / T). */
static int32_t draw(const struct sampler *s, const struct logit_range *g, const float *x, int text, int ts)
{
    const uint64_t key = draw_key(s->rules->seed, s->rng_stream, s->n);
    double best = -INFINITY;
    int32_t arg = -1;
    for (int part = 0; part < 2; part++) {
        if (part ? !ts : !text) continue;
        const int32_t from = part ? g->ts_from : g->text_from, to = part ? g->ts_to : g->text_to;
        for (int32_t id = from; id < to; id++) {
            if (g->mask && (g->mask[id >> 5] >> (id & 31) & 1)) continue;
            const uint64_t z = mix(key + (uint64_t)(id + 1) * golden);
            const double v = x[id] / s->rules->temperature;
            if (!may_reach(z, best - v)) continue;
            const double noisy = v + gumbel(z);
            if (noisy > best) best = noisy, arg = id;
        }
    }
    return arg;
}

void sampler_penalise(const struct sampler *s, float *logits, float by)
{
    for (int32_t i = 0; i < s->n; i++) {
        int32_t k = 0;
        while (s->out[k].id != s->out[i].id) k++;
        if (k < i) continue;
        float *x = &logits[s->out[i].id];
        *x = *x < 0 ? *x * by : *x / by;
    }
}

int32_t sampler_favourite(const struct sampler *s, const float *logits)
{
    const struct logit_range g = logit_range_of(s);
    if (s->rules->temperature > 0) return draw(s, &g, logits, 1, 0);
    int32_t best = -1;
    for (int32_t id = g.text_from; id < g.text_to; id++)
        if (best < 0 ? logits[id] > -INFINITY : logits[id] > logits[best]) best = id;
    return best;
}

void sampler_choose(struct sampler *s, const struct sampled_token *p)
{
    if (!isinf(p->logprob)) s->sum_logprob += p->logprob;
    if (p->id == s->rules->eot) {
        s->ended = s->done = 1;
        s->dead = isinf(p->logprob);
        return;
    }
    if (p->id >= s->rules->ts_begin) s->last_ts = p->id;
    s->out[s->n++] = *p;
    if (s->n >= s->limit || (s->rules->ts_enough && p->id >= s->rules->ts_enough)) s->done = 1;
}

void lane_copy(struct lane *dst, const struct lane *src)
{
    const struct lane own = *dst;
    *dst = *src;
    dst->sampler.out = own.sampler.out;
    dst->sampler.top = own.sampler.top;
    memcpy(dst->sampler.out, src->sampler.out, (size_t)src->sampler.n * sizeof *dst->sampler.out);
}

/* The ids that the timestamp rule allows, and the logarithm of the sum that normalises probabilities. */
struct allowed { int use_text, use_ts; double lse, lse_ts; };
static struct allowed allow(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts)
{
    const double lse_text = part_lse(text), lse_ts = part_lse(ts);
    const int all = s->rules->ggml_rules && text->arg >= 0;
    struct allowed w = { text->arg >= 0, ts->arg >= 0, -INFINITY, lse_ts };
    if (s->rules->timestamps && w.use_text && w.use_ts) {
        w.use_text = !(lse_ts > text->max);
        s->margin.text = fminf(s->margin.text, (float)fabs(lse_ts - text->max));
    }
    if (w.use_ts) w.lse = lse_ts;
    if (w.use_text || all) {
        const double hi = lse_text > w.lse ? lse_text : w.lse, lo = lse_text > w.lse ? w.lse : lse_text;
        w.lse = isinf(lo) ? hi : hi + log1p(exp(lo - hi));
    }
    return w;
}

/* The record of a token, without its own id and probability. */
static struct sampled_token blank_token(const struct sampler *s, const struct allowed *w, const struct logit_partial *ts)
{
    struct sampled_token p = { s->rules->eot, w->use_ts ? ts->arg : -1, 0, -INFINITY, 0, 0 };
    if (w->use_ts) {
        p.ts_prob = (float)exp(ts->max - w->lse_ts);
        p.ts_prob_sum = (float)exp(w->lse_ts - w->lse);
    }
    return p;
}

/* The best ids so far, by descending logit, stored in logprob. */
struct top { struct sampled_token *best; int32_t n, max; };

/* Insert an id. Ids arrive in ascending order, so of equal logits the lower id comes first. */
static void top_take(struct top *t, int32_t id, float x)
{
    int32_t at = t->n < t->max ? t->n++ : t->n - 1;
    for (; at && t->best[at - 1].logprob < x; at--) t->best[at] = t->best[at - 1];
    t->best[at].id = id;
    t->best[at].logprob = x;
}

/* Insert the ids of [from, to) that are among the best. For whole panels, the largest logit is checked first. */
static void top_range(struct top *t, const float *x, const uint32_t *mask, int32_t from, int32_t to, const struct kern *kern)
{
    enum { STEP = 16 * PANEL };
    float largest[STEP / PANEL];
    for (int32_t a = from, b; a < to; a = b) {
        b = to - a < STEP ? to : a + STEP;
        const int32_t whole = (b - a) / PANEL * PANEL;
        kern->panel_max(largest, x + a, (size_t)(whole / PANEL));
        for (int32_t id = a; id < b; id++) {
            const float nth = t->n == t->max ? t->best[t->n - 1].logprob : -INFINITY;
            if ((id - a) % PANEL == 0 && id - a < whole && !(largest[(id - a) / PANEL] > nth)) id += PANEL - 1;
            else if (x[id] > nth && !(mask && (mask[id >> 5] >> (id & 31) & 1))) top_take(t, id, x[id]);
        }
    }
}

/* Update the margin: the distance between the chosen logit and the second best. */
static void margin_keep(struct sampler *s, const struct allowed *w, const float *logits, const struct kern *kern)
{
    const struct logit_range g = logit_range_of(s);
    const int32_t ts_begin = s->rules->ts_begin;
    struct sampled_token two[2];
    struct top t = { two, 0, 2 };
    if (w->use_text) top_range(&t, logits, g.mask, g.text_from, g.text_to, kern);
    if (w->use_ts) top_range(&t, logits, g.mask, g.ts_from, g.ts_to, kern);
    if (t.n < 2) return;
    float *margin = two[0].id >= ts_begin && two[1].id >= ts_begin ? &s->margin.time : &s->margin.text;
    *margin = fminf(*margin, two[0].logprob - two[1].logprob);
}

void sample_token(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits,
                  const struct kern *kern)
{
    const struct allowed w = allow(s, text, ts);
    struct sampled_token p = blank_token(s, &w, ts);
    if (s->keeps_margin) margin_keep(s, &w, logits, kern);
    if (w.use_text || w.use_ts) {
        if (s->rules->temperature > 0) {
            const struct logit_range g = logit_range_of(s);
            const int32_t id = draw(s, &g, logits, w.use_text, w.use_ts);
            if (id >= 0) p.id = id, p.logprob = (float)(logits[id] - w.lse);
        }
        if (isinf(p.logprob)) {
            const int t = w.use_text && (!w.use_ts || text->max >= ts->max);
            p.id = t ? text->arg : ts->arg;
            p.logprob = (float)((t ? text->max : ts->max) - w.lse);
        }
    }
    p.p = (float)exp(p.logprob);
    sampler_choose(s, &p);
}

void sample_topk(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits,
                 const struct kern *kern)
{
    const struct allowed w = allow(s, text, ts);
    const struct sampled_token blank = blank_token(s, &w, ts);
    const struct logit_range g = logit_range_of(s);
    struct top t = { s->top, 0, s->topk };
    if (w.use_text) top_range(&t, logits, g.mask, g.text_from, g.text_to, kern);
    if (w.use_ts) top_range(&t, logits, g.mask, g.ts_from, g.ts_to, kern);
    for (int32_t i = 0; i < t.n; i++) {
        const int32_t id = s->top[i].id;
        const float logprob = (float)(s->top[i].logprob - w.lse);
        s->top[i] = blank;
        s->top[i].id = id;
        s->top[i].logprob = logprob;
        s->top[i].p = expf(logprob);
    }
    s->topk = t.n;
}
