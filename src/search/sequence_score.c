/* steno: the score of a sequence by whisper.cpp's rules. SPDX-License-Identifier: MIT */
#include "search/sequence_score.h"
#include <math.h>

enum { LAST = 32 /* number of tokens for the entropy; this few have no high entropy */ };

static int is_time(const struct lane *l, int32_t i)
{
    return l->sampler.out[i].id > l->sampler.rules->ts_begin; /* 0.00 does not count */
}

static int32_t up_to_last_time(const struct lane *l)
{
    int32_t n = l->sampler.n;
    while (n && !is_time(l, n - 1)) n--;
    return n;
}

static double entropy_of(const struct lane *l, int32_t n)
{
    const struct sampled_token *t = l->sampler.out;
    const int32_t from = n > LAST ? n - LAST : 0;
    double sum = 0;
    for (int32_t i = from; i < n; i++) {
        int same = 0;
        for (int32_t k = from; k < n; k++) same += t[k].id == t[i].id;
        sum -= log((double)same / (n - from)) / (n - from);
    }
    return sum;
}

struct sequence_score sequence_score_of(const struct lane *l, const struct sequence_score_rules *v, double length_penalty)
{
    const struct sampler *s = &l->sampler;
    const int times = s->rules->timestamps, at_limit = s->n >= s->limit && !s->ended;
    struct sequence_score r = { .n = times ? up_to_last_time(l) : s->n };
    const int32_t last = times && r.n ? s->out[r.n - 1].id - s->rules->ts_begin : 0;
    const int none = times ? !r.n : !s->ended, whole = times && none && v->is_last && s->ended;
    int32_t len;
    if (whole) r.n = s->n;
    r.failed = at_limit ? none || (times && last < v->half) : none && !whole;
    if (none && !whole) r.n = s->n; /* a failed text is kept as a whole */
    len = r.n + (s->ended && (none || !times)); /* the end of text counts where no timestamp ends the text */
    double sum = 0;
    for (int32_t i = 0; i < r.n; i++) sum += (double)s->out[i].logprob;
    if (len > r.n) sum = s->sum_logprob;
    r.avg_logprob = len ? sum / len : -INFINITY;
    r.rank = isnan(length_penalty) ? r.avg_logprob : sum / pow((5.0 + len) / 6.0, length_penalty);
    if (len > LAST && entropy_of(l, r.n) < v->entropy) r.failed = 1;
    return r;
}
