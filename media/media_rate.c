/* steno-media: another sampling rate to 16 kHz, without FFmpeg. SPDX-License-Identifier: MIT */
#include "media_rate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Zero crossings of the sinc on either side, and the shape of its Kaiser window. */
enum { CROSSINGS = 24 };
static const double cutoff = 0.92, beta = 8.0, pi = 3.14159265358979323846;

struct media_rate {
    int up, down;  /* outputs and inputs of the shortest time that has whole numbers of both */
    int half;      /* inputs on either side of an output */
    float *taps;   /* [up, 2 * half] a row for each place between two inputs */
    float *have;   /* [cap] inputs from number `from` on, n of them valid */
    size_t n, cap;
    int64_t from, out; /* `out` is the next output */
    int64_t n_in;  /* of the whole input; -1: not known yet */
};

static double bessel_i0(double x)
{
    double term = 1, sum = 1;
    for (int k = 1; term > 1e-12 * sum; k++) sum += term *= x * x / (4.0 * k * k);
    return sum;
}

static double tap(double t, double scale, double half)
{
    const double x = pi * scale * t, at = t / half;
    if (fabs(at) >= 1) return 0;
    return (x == 0 ? 1 : sin(x) / x) * bessel_i0(beta * sqrt(1 - at * at));
}

/* Each row sums to 1, so that a constant stays itself. */
static void taps_fill(struct media_rate *r, double scale)
{
    const int n = 2 * r->half;
    for (int p = 0; p < r->up; p++) {
        float *row = r->taps + (size_t)p * (size_t)n;
        double sum = 0;
        for (int k = 0; k < n; k++) sum += row[k] = (float)tap(k - r->half + 1 - (double)p / r->up, scale, r->half);
        for (int k = 0; k < n; k++) row[k] = (float)(row[k] / sum);
    }
}

int media_rate_open(struct media_rate **out, int hz, const char *name, steno_error *e)
{
    int a = hz, b = MEDIA_RATE;
    while (b) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    const double scale = cutoff * (hz > MEDIA_RATE ? (double)MEDIA_RATE / hz : 1);
    struct media_rate *r = *out = calloc(1, sizeof *r);
    if (!r) return media_nomem(e, sizeof *r, "a sampling rate");
    *r = (struct media_rate){ .up = MEDIA_RATE / a, .down = hz / a, .half = (int)ceil(CROSSINGS / scale) };
    const size_t sz = (size_t)r->up * 2 * (size_t)r->half * sizeof *r->taps;
    r->taps = malloc(sz);
    if (!r->taps) {
        media_rate_close(r);
        *out = NULL;
        return media_fail(e, STENO_ENOMEM, "%s: out of memory: %zu bytes for its sampling rate", name, sz);
    }
    taps_fill(r, scale);
    media_rate_seek(r, 0);
    return STENO_OK;
}

void media_rate_close(struct media_rate *r)
{
    if (!r) return;
    free(r->taps);
    free(r->have);
    free(r);
}

int64_t media_rate_seek(struct media_rate *r, int64_t m)
{
    const int64_t first = m * r->down / r->up - r->half + 1;
    r->out = m;
    r->n_in = -1;
    r->from = first > 0 ? first : 0;
    r->n = 0;
    return r->from;
}

float *media_rate_room(struct media_rate *r, size_t n)
{
    const int64_t first = r->out * r->down / r->up - r->half + 1;
    if (first > r->from) { /* inputs that no further output needs */
        const size_t past = (uint64_t)(first - r->from) < r->n ? (size_t)(first - r->from) : r->n;
        memmove(r->have, r->have + past, (r->n - past) * sizeof *r->have);
        r->from += (int64_t)past;
        r->n -= past;
    }
    if (r->n + n > r->cap) {
        float *more = realloc(r->have, (r->n + n) * sizeof *more);
        if (!more) return NULL;
        r->have = more;
        r->cap = r->n + n;
    }
    return r->have + r->n;
}

void media_rate_add(struct media_rate *r, size_t n)
{
    r->n += n;
}

void media_rate_end(struct media_rate *r)
{
    r->n_in = r->from + (int64_t)r->n;
}

int64_t media_rate_length(const struct media_rate *r, int64_t n)
{
    return n / r->down * r->up + (n % r->down * r->up + r->down - 1) / r->down;
}

/* Inputs before the first and behind the last are silent. */
static float value(const struct media_rate *r, int64_t first, const float *row)
{
    const int n = 2 * r->half;
    const int64_t behind = r->from + (int64_t)r->n - first;
    const int begin = first < r->from ? (int)(r->from - first) : 0, end = behind < n ? (int)behind : n;
    double sum = 0;
    for (int k = begin; k < end; k++) sum += (double)r->have[first - r->from + k] * (double)row[k];
    const double v = floor(sum * 32768 + 0.5);
    return (float)((v > 32767 ? 32767 : v < -32768 ? -32768 : v) / 32768);
}

int64_t media_rate_take(struct media_rate *r, float *pcm, int64_t n)
{
    int64_t done = 0;
    const int64_t end = r->n_in < 0 ? INT64_MAX : media_rate_length(r, r->n_in);
    while (done < n && r->out < end) {
        const int64_t at = r->out * r->down, first = at / r->up - r->half + 1;
        if (r->n_in < 0 && first + 2 * r->half > r->from + (int64_t)r->n) break;
        pcm[done++] = value(r, first, r->taps + (size_t)(at % r->up) * 2 * (size_t)r->half);
        r->out++;
    }
    return done;
}
