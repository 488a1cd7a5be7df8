/* steno: penalties and filters before sampling. SPDX-License-Identifier: MIT */
#include "search/samplers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

static const char *const names[SAMPLERS] = { "penalties", "top_k", "top_p", "min_p", "temperature" };

static int name_find(const char *s, size_t n)
{
    for (int i = 0; i < SAMPLERS; i++)
        if (strlen(names[i]) == n && !memcmp(names[i], s, n)) return i;
    return -1;
}

static int order_read(struct sampler_chain *c, const char *text, steno_error *e)
{
    int seen = 0;
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, ";");
        const int kind = name_find(p, n);
        if (kind < 0) return err_set(e, STENO_EARG, "samplers: '%.*s' is none of " SAMPLERS_USUAL, (int)(n < 40 ? n : 40), p);
        if (seen >> kind & 1) return err_set(e, STENO_EARG, "samplers: %s stands there twice", names[kind]);
        seen |= 1 << kind;
        c->order[c->n++] = (enum sampler_kind)kind;
        p += n + (p[n] == ';');
    }
    return STENO_OK;
}

int sampler_chain_open(struct sampler_chain *c, const steno_generate_params *p, steno_error *e)
{
    *c = (struct sampler_chain){ .temperature = p->temperature, .top_k = p->top_k, .last_n = p->repeat_last_n, .top_p = p->top_p,
                                 .min_p = p->min_p, .repeat = p->repeat_penalty, .frequency = p->frequency_penalty,
                                 .presence = p->presence_penalty };
    return order_read(c, p->samplers ? p->samplers : SAMPLERS_USUAL, e);
}

void sampler_chain_close(struct sampler_chain *c)
{
    buf_free(&c->order_of);
}

static int does_something(const struct sampler_chain *c, enum sampler_kind kind)
{
    if (kind == SAMPLER_PENALTIES) return c->last_n && (c->repeat != 1 || c->frequency != 0 || c->presence != 0);
    if (!(c->temperature > 0)) return 0; /* temperature 0 chooses the best id, and filters always keep it */
    switch (kind) {
    case SAMPLER_TOP_K: return c->top_k > 0;
    case SAMPLER_TOP_P: return c->top_p < 1;
    case SAMPLER_MIN_P: return c->min_p > 0;
    default: return c->temperature != 1;
    }
}

/* Whether no step after the temperature reads the logits, so that the caller can apply it when sampling. */
static int temperature_is_last(const struct sampler_chain *c)
{
    int last = 1;
    for (int i = 0; i < c->n; i++) {
        if (c->order[i] == SAMPLER_TEMPERATURE) last = 1;
        else last &= !does_something(c, c->order[i]);
    }
    return last;
}

static int has_temperature(const struct sampler_chain *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->order[i] == SAMPLER_TEMPERATURE) return 1;
    return 0;
}

int sampler_chain_filters(const struct sampler_chain *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->order[i] != SAMPLER_TEMPERATURE && does_something(c, c->order[i])) return 1;
    return 0;
}

int sampler_chain_cuts(const struct sampler_chain *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->order[i] != SAMPLER_TEMPERATURE && c->order[i] != SAMPLER_PENALTIES && does_something(c, c->order[i])) return 1;
    return 0;
}

double sampler_chain_temperature(const struct sampler_chain *c)
{
    if (!(c->temperature > 0)) return 0;
    return has_temperature(c) && temperature_is_last(c) ? c->temperature : 1;
}

/* ---- penalties --------------------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void penalise(const struct sampler_chain *c, float *x, int32_t times)
{
    if (c->repeat != 1) *x = (float)(*x > 0 ? (double)*x / c->repeat : (double)*x * c->repeat);
    *x = (float)((double)*x - (times * c->frequency + c->presence));
}

static int apply_penalties(struct sampler_chain *c, float *x, int32_t n, const int32_t *before, int32_t n_before)
{
    const int32_t look = c->last_n < 0 || c->last_n > n_before ? n_before : c->last_n;
    buf_clear(&c->order_of);
    buf_add(&c->order_of, before + (n_before - look), (size_t)look * sizeof *before);
    if (c->order_of.err) return -1;
    int32_t *ids = (int32_t *)(void *)c->order_of.p;
    if (look) qsort(ids, (size_t)look, sizeof *ids, by_number);
    for (int32_t i = 0, j; i < look; i = j) {
        for (j = i + 1; j < look && ids[j] == ids[i];) j++;
        if (ids[i] >= 0 && ids[i] < n) penalise(c, &x[ids[i]], j - i);
    }
    return 0;
}

/* ---- filters ----------------------------------------------------------------------------------------------------------------- */

struct candidate { float x; int32_t id; };

static int is_before(const struct candidate *a, const struct candidate *b)
{
    return a->x > b->x || (a->x == b->x && a->id < b->id);
}

static int by_rank(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

/* The remaining ids, ascending. NULL: out of memory */
static struct candidate *candidates(struct sampler_chain *c, const float *x, int32_t n, int32_t *count)
{
    buf_clear(&c->order_of);
    for (int32_t id = 0; id < n; id++)
        if (x[id] > -INFINITY) buf_add(&c->order_of, &(struct candidate){ x[id], id }, sizeof(struct candidate));
    *count = (int32_t)(c->order_of.len / sizeof(struct candidate));
    return c->order_of.err ? NULL : (struct candidate *)(void *)c->order_of.p;
}

/* Move the first k to the front, in any order (Hoare's selection; the middle of three as the pivot). */
static void select_first(struct candidate *v, int32_t n, int32_t k)
{
    for (int32_t lo = 0, hi = n - 1; lo < hi;) {
        const struct candidate *a = &v[lo], *b = &v[lo + (hi - lo) / 2], *d = &v[hi], *t;
        if (is_before(b, a)) t = a, a = b, b = t;
        if (is_before(d, b)) b = is_before(d, a) ? a : d;
        const struct candidate pivot = *b;
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (is_before(&v[i], &pivot)) i++;
            while (is_before(&pivot, &v[j])) j--;
            if (i > j) break;
            const struct candidate swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        if (k <= j + 1) hi = j;
        else if (k > i) lo = i;
        else return;
    }
}

static void drop(float *x, const struct candidate *v, int32_t n)
{
    for (int32_t i = 0; i < n; i++) x[v[i].id] = -INFINITY;
}

static int apply_top_k(struct sampler_chain *c, float *x, int32_t n)
{
    int32_t count;
    struct candidate *v = candidates(c, x, n, &count);
    if (!v) return c->order_of.err ? -1 : 0;
    if (count <= c->top_k) return 0;
    select_first(v, count, c->top_k);
    drop(x, v + c->top_k, count - c->top_k);
    return 0;
}

/* The number of the first `sorted` candidates, which are in order, that reach the probability `mass`; 0: more are needed. */
static int32_t enough(const struct candidate *v, int32_t sorted, double mass, float max)
{
    double sum = 0;
    for (int32_t i = 0; i < sorted; i++) {
        sum += exp((double)v[i].x - (double)max);
        if (sum >= mass) return i + 1;
    }
    return 0;
}

static int apply_top_p(struct sampler_chain *c, float *x, int32_t n)
{
    int32_t count, kept = 0;
    struct candidate *v = candidates(c, x, n, &count);
    if (!v || !count) return c->order_of.err ? -1 : 0;
    float max = v[0].x;
    double sum = 0;
    for (int32_t i = 1; i < count; i++) max = v[i].x > max ? v[i].x : max;
    for (int32_t i = 0; i < count; i++) sum += exp((double)v[i].x - (double)max);
    for (int32_t k = count < 256 ? count : 256; !kept; k = k < count / 16 ? k * 16 : count) { /* a few are usually enough */
        select_first(v, count, k);
        qsort(v, (size_t)k, sizeof *v, by_rank);
        kept = enough(v, k, c->top_p * sum, max);
        if (k == count && !kept) kept = count;
    }
    drop(x, v + kept, count - kept);
    return 0;
}

static void apply_min_p(const struct sampler_chain *c, float *x, int32_t n)
{
    float max = -INFINITY;
    for (int32_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
    const double least = (double)max + log(c->min_p);
    for (int32_t i = 0; i < n; i++)
        if (!((double)x[i] >= least)) x[i] = -INFINITY;
}

int sampler_chain_apply(struct sampler_chain *c, float *x, int32_t n, const int32_t *before, int32_t n_before)
{
    const int divides = !temperature_is_last(c);
    int rc = 0;
    for (int k = 0; k < c->n && !rc; k++) {
        if (!does_something(c, c->order[k])) continue;
        switch (c->order[k]) {
        case SAMPLER_PENALTIES: rc = apply_penalties(c, x, n, before, n_before); break;
        case SAMPLER_TOP_K: rc = apply_top_k(c, x, n); break;
        case SAMPLER_TOP_P: rc = apply_top_p(c, x, n); break;
        case SAMPLER_MIN_P: apply_min_p(c, x, n); break;
        default:
            for (int32_t i = 0; i < n && divides; i++) x[i] = (float)((double)x[i] / c->temperature);
        }
    }
    return rc;
}
