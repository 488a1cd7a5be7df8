/* steno: token times without an alignment. SPDX-License-Identifier: MIT */
#include "task/words/token_times.h"

#include <string.h>

enum { UNKNOWN = -1,
       MS_PER_TIMESTAMP = 20 };

/* ---- duration of a text ---- */

static float units_of(uint32_t c)
{
    static const uint32_t shorter[] = { ',', 0xff0c, 0x3001, 0xff1b, 0xff1a };                  /* ， 、 ； ： */
    static const uint32_t longer[] = { '.', '!', '?', 0xff0e, 0xff01, 0xff1f, 0x3002, 0x2026 }; /* ． ！ ？ 。 … */
    if (c == ' ' || c == 0x3000) return 0.01f;
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        if (c == shorter[i]) return 2;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (c == longer[i]) return 3;
    return (c >= '0' && c <= '9') || (c >= 0xff10 && c <= 0xff19) ? 3 : 1;
}

float voice_length(const uint8_t *text, size_t n)
{
    float sum = 0;
    while (n) {
        uint32_t c;
        const size_t len = utf8_next((const char *)text, n, &c);
        sum += len ? units_of(c) : 1;
        text += len;
        n -= len;
        if (len) continue;
        do text++, n--; /* a continuation byte of a character counts 0 */
        while (n && utf8_is_inside(text[0]));
    }
    return sum;
}

/* ---- anchors ---- */

/* Stores the ends and starts at anchors in out, UNKNOWN elsewhere. */
static void anchors_set(struct token_time *out, const struct sampled_token *tok, int32_t n, const struct token_roles *t,
                        const struct token_span *span, double threshold)
{
    int64_t last = t->timestamp_begin + (span->t0 - span->window_ms) / MS_PER_TIMESTAMP; /* timestamps up to here have passed */
    for (int32_t i = 0; i < n; i++) {
        const int64_t at = span->window_ms + ((int64_t)tok[i].ts_id - t->timestamp_begin) * MS_PER_TIMESTAMP;
        if (!((double)tok[i].ts_prob > threshold && (double)tok[i].ts_prob_sum > threshold) || tok[i].ts_id <= last ||
            at > span->t1) continue;
        if (i > 0) out[i - 1].t1 = at;
        out[i].t0 = at;
        last = tok[i].ts_id;
    }
}

/* ---- between anchors ---- */

/* Divides [out[from].t0, out[to].t1] among tokens [from, to]. */
static void run_split(struct token_time *out, int32_t from, int32_t to)
{
    const int64_t t0 = out[from].t0, t1 = out[to].t1 > t0 ? out[to].t1 : t0;
    double all = 0, done = 0;
    for (int32_t i = from; i <= to; i++) all += (double)out[i].vlen;
    for (int32_t i = from; i < to; i++) {
        done += (double)out[i].vlen;
        const double share = all > 0 ? done / all : (double)(i + 1 - from) / (to + 1 - from);
        out[i].t1 = t0 + (int64_t)((double)(t1 - t0) * share);
        out[i + 1].t0 = out[i].t1;
    }
    out[to].t1 = t1;
}

void token_times(struct token_time *out, const struct sampled_token *tok, int32_t n, const struct vocab *v, const struct token_roles *t,
                 const struct token_span *span, double threshold)
{
    const int64_t t0 = span->t0, t1 = span->t1 > t0 ? span->t1 : t0;
    const struct token_span forward = { span->window_ms, t0, t1 };
    if (n < 1) return;
    for (int32_t i = 0; i < n; i++) {
        const int32_t id = tok[i].id;
        out[i].t0 = out[i].t1 = UNKNOWN;
        out[i].vlen = id >= 0 && id < v->n ? voice_length(v->bytes[id], v->len[id]) : 0;
    }
    if (n > 1 && tok[0].id >= t->timestamp_begin) out[0].t0 = out[0].t1 = t0;
    anchors_set(out, tok, n, t, &forward, threshold);
    if (out[0].t0 == UNKNOWN) out[0].t0 = t0;
    out[n - 1].t1 = t1;
    if (n > 1 && tok[n - 1].id >= t->n_text) out[n - 2].t1 = t1;
    for (int32_t i = 0; i < n; i++) { /* a token starts at the known end of the one before */
        int32_t to = i;
        while (out[to].t1 == UNKNOWN) to++;
        if (i > 0) out[i].t0 = out[i - 1].t1;
        if (out[to].t1 < out[i].t0) out[to].t1 = out[i].t0;
        run_split(out, i, to);
        i = to;
    }
}
