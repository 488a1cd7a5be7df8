/* steno: sampling as in whisper.cpp. SPDX-License-Identifier: MIT */
#include "plan/mt19937.h"
#include <math.h>

/* ---- the generator ---- */

void mt19937_seed(struct mt19937 *l, uint32_t seed)
{
    l->word[0] = seed;
    for (uint32_t i = 1; i < MT19937_WORDS; i++) l->word[i] = 1812433253u * (l->word[i - 1] ^ (l->word[i - 1] >> 30)) + i;
    l->next = MT19937_WORDS;
}

/* Generate the next 624 words. Each combines the upper bit of one word and the lower bits of its neighbour with the word 397 places on. */
static void words_make(struct mt19937 *l)
{
    enum { FAR = 397 };
    for (uint32_t i = 0; i < MT19937_WORDS; i++) {
        const uint32_t both = (l->word[i] & 0x80000000u) | (l->word[(i + 1) % MT19937_WORDS] & 0x7fffffffu);
        l->word[i] = l->word[(i + FAR) % MT19937_WORDS] ^ (both >> 1) ^ (both & 1 ? 0x9908b0dfu : 0);
    }
    l->next = 0;
}

uint32_t mt19937_word(struct mt19937 *l)
{
    if (l->next >= MT19937_WORDS) words_make(l);
    uint32_t y = l->word[l->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double mt19937_draw(struct mt19937 *l)
{
    const double low = mt19937_word(l), x = (low + mt19937_word(l) * 0x1p32) * 0x1p-64;
    return x < 1 ? x : 1 - 0x1p-53;
}

/* ---- the distribution ---- */

enum { BLOCKS = 64 };

/* Ids [from, to) and the sums of their weights, in blocks, so that a draw examines the ids of one block. */
struct id_stretch { int32_t from, to, step; double sum, block[BLOCKS]; };

struct urn {
    const float *logits;
    const uint32_t *mask;
    float divisor, max;
    struct id_stretch part[2]; /* texts; times */
    int use_text, use_ts;
    double lse;             /* log-probabilities are shares of all ids, even where only timestamps are allowed */
};

static float tempered(const struct urn *u, float x)
{
    return x / u->divisor;
}

static double weight(const struct urn *u, int32_t id)
{
    if (u->mask && (u->mask[id >> 5] >> (id & 31) & 1)) return 0;
    return (double)expf(tempered(u, u->logits[id]) - u->max);
}

static void stretch_sum(const struct urn *u, struct id_stretch *p, int32_t from, int32_t to)
{
    const int32_t n = to > from ? to - from : 0;
    *p = (struct id_stretch){ .from = from, .to = from + n, .step = n / BLOCKS + 1 };
    for (int32_t id = p->from, b = 0; id < p->to; b++) {
        const int32_t end = p->to - id < p->step ? p->to : id + p->step;
        for (; id < end; id++) p->block[b] += weight(u, id);
        p->sum += p->block[b];
    }
}

static struct urn urn_fill(const struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits)
{
    const struct logit_range g = logit_range_of(s);
    struct urn u = { .logits = logits, .mask = g.mask, .use_text = text->arg >= 0, .use_ts = ts->arg >= 0,
                     .divisor = s->rules->temperature > 0 ? (float)s->rules->temperature : 1 };
    u.max = tempered(&u, u.use_text && (!u.use_ts || text->max > ts->max) ? text->max : ts->max);
    stretch_sum(&u, &u.part[0], g.text_from, u.use_text ? g.text_to : g.text_from);
    stretch_sum(&u, &u.part[1], g.ts_from, u.use_ts ? g.ts_to : g.ts_from);
    u.lse = (double)u.max + log(u.part[0].sum + u.part[1].sum);
    if (s->rules->timestamps && u.use_text && u.use_ts)
        u.use_text = !(log(u.part[1].sum) + (double)u.max > (double)tempered(&u, text->max));
    return u;
}

/* The first id whose cumulative sum reaches `at`, counted from the beginning of the stretch. */
static int32_t stretch_find(const struct urn *u, const struct id_stretch *p, double at)
{
    int32_t id = p->from, last = p->from;
    double sum = 0;
    for (int32_t b = 0; id + p->step < p->to && sum + p->block[b] < at; b++) {
        sum += p->block[b];
        id += p->step;
    }
    for (; id < p->to; id++) {
        const double w = weight(u, id);
        if (!(w > 0)) continue;
        sum += w;
        last = id;
        if (sum >= at) break;
    }
    return last;
}

static int32_t urn_draw(const struct urn *u, struct mt19937 *l)
{
    const double before = u->use_text ? u->part[0].sum : 0, at = mt19937_draw(l) * (before + u->part[1].sum);
    return u->use_text && (at <= before || !u->use_ts) ? stretch_find(u, &u->part[0], at) : stretch_find(u, &u->part[1], at - before);
}

/* The record of a draw. */
static struct sampled_token token_draw(const struct sampler *s, const struct urn *u, const struct logit_partial *ts)
{
    struct sampled_token p = { s->rules->eot, -1, 0, -INFINITY, 0, 0 };
    if (u->use_ts) {
        p.ts_id = ts->arg;
        p.ts_prob = (float)(weight(u, ts->arg) / u->part[1].sum);
        p.ts_prob_sum = (float)exp(log(u->part[1].sum) + (double)u->max - u->lse);
    }
    if (!u->use_text && !u->use_ts) return p; /* no id is allowed */
    p.id = urn_draw(u, s->mt19937);
    p.logprob = (float)((double)tempered(u, u->logits[p.id]) - u->lse);
    p.p = expf(p.logprob);
    return p;
}

void mt19937_token(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits)
{
    const struct urn u = urn_fill(s, text, ts, logits);
    const struct sampled_token p = token_draw(s, &u, ts);
    sampler_choose(s, &p);
}

void mt19937_tokens(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits)
{
    const struct urn u = urn_fill(s, text, ts, logits);
    for (int32_t i = 0; i < s->topk; i++) s->top[i] = token_draw(s, &u, ts);
}
