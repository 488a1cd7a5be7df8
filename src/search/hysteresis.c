/* steno: spans from probabilities of speech, by two thresholds. SPDX-License-Identifier: MIT */
#include "search/hysteresis.h"

enum {
    LEAST_PAUSE = 1568, /* 98 ms: shortest pause at which a long span may be cut */
    GAP_CLOSED = 3200   /* whisper.cpp: 200 ms */
};

void hysteresis_begin(struct hysteresis *h, const struct hysteresis_params *p, struct hysteresis_listener to)
{
    *h = (struct hysteresis){ .p = *p, .to = to, .samples = INT64_MAX };
}

/* ---- spans found */

static int64_t at_least_0(int64_t t) { return t > 0 ? t : 0; }

/* Add the next span s: its margin to the previous span is now known. */
static void pad_add(struct hysteresis *h, struct stretch s)
{
    const int64_t gap = s.t0 - h->padded.t1, half = gap < 2 * h->p.pad ? gap / 2 : h->p.pad;
    if (h->has_padded) {
        h->padded.t1 += half;
        h->to.put(h->to.user, &h->padded);
        s.t0 = at_least_0(s.t0 - half);
    } else s.t0 = at_least_0(s.t0 - h->p.pad);
    h->padded = s;
    h->has_padded = 1;
}

static void merged_flush(struct hysteresis *h)
{
    if (h->has_merged && h->merged.t1 - h->merged.t0 >= h->p.min_speech) pad_add(h, h->merged);
    h->has_merged = 0;
}

static void found(struct hysteresis *h, int64_t t0, int64_t t1)
{
    const struct stretch s = { t0, t1 };
    if (h->p.rules == HYSTERESIS_LONGEST_PAUSE) {
        pad_add(h, s);
    } else if (h->has_merged && t0 - h->merged.t1 < GAP_CLOSED) {
        h->merged.t1 = t1;
    } else {
        merged_flush(h);
        h->merged = s;
        h->has_merged = 1;
    }
}

/* No later span begins before t, apart from margins: report the spans that this settles. */
static void settle(struct hysteresis *h, int64_t t)
{
    if (h->has_merged && t - h->merged.t1 >= GAP_CLOSED) merged_flush(h);
    const int64_t next = h->has_merged ? h->merged.t0 : t;
    if (!h->has_padded || next - h->padded.t1 < 2 * h->p.pad) return;
    h->padded.t1 += h->p.pad;
    h->to.put(h->to.user, &h->padded);
    h->has_padded = 0;
}

int64_t hysteresis_floor(const struct hysteresis *h)
{
    if (h->has_padded) return h->padded.t0;
    return at_least_0((h->has_merged ? h->merged.t0 : h->on ? h->start : h->next) - h->p.pad);
}

/* ---- frames */

static void report(struct hysteresis *h, int64_t t1)
{
    const int64_t end = t1 < h->samples - h->p.pad ? t1 + h->p.pad : h->samples;
    const struct stretch s = { at_least_0(h->start - h->p.pad), t1 < 0 ? -1 : end };
    if (h->to.report) h->to.report(h->to.user, &s, !h->reported);
    h->reported = t1 < 0;
}

static void marks_clear(struct hysteresis *h)
{
    h->silence = h->cut = h->after_cut = h->pause = 0;
}

static void span_open(struct hysteresis *h, int64_t t)
{
    h->on = 1;
    h->start = t;
    if (h->p.streaming) report(h, -1);
}

static void span_close(struct hysteresis *h, int64_t end, int is_kept)
{
    report(h, end);
    if (is_kept) found(h, h->start, end);
    marks_clear(h);
    h->on = 0;
}

/* Cut a span that is too long: it ends at its pause, and the next one begins after it. Without a pause the cut is here. */
static void span_cut(struct hysteresis *h, int64_t t)
{
    const int64_t again = h->after_cut;
    const int goes_on = h->cut && again >= h->cut;
    span_close(h, h->cut ? h->cut : t, 1);
    if (goes_on) span_open(h, again);
}

/* Speech continues, so a pause ends. */
static void pause_end(struct hysteresis *h, int64_t t)
{
    const int64_t pause = t - h->silence;
    if (h->p.rules == HYSTERESIS_LONGEST_PAUSE && pause > LEAST_PAUSE && pause > h->pause) {
        h->cut = h->silence;
        h->after_cut = t;
        h->pause = pause;
    }
    h->silence = 0;
    if (h->after_cut < h->cut) h->after_cut = t;
}

static void on_silence(struct hysteresis *h, int64_t t)
{
    if (!h->silence) h->silence = t;
    if (h->p.rules == HYSTERESIS_LAST_PAUSE && t - h->silence > LEAST_PAUSE) h->cut = h->silence;
    if (t - h->silence < h->p.min_silence) return;
    span_close(h, h->silence, h->silence - h->start > h->p.min_speech);
}

static void frame_decide(struct hysteresis *h, int64_t t, double p)
{
    const int is_speech = p >= h->p.threshold;
    if (is_speech && h->silence) pause_end(h, t);
    if (is_speech && !h->on) {
        span_open(h, t);
        return;
    }
    if (h->on && t - h->start > h->p.max_speech) span_cut(h, t);
    if (h->on && p < h->p.neg_threshold) on_silence(h, t);
}

void hysteresis_step(struct hysteresis *h, float p_speech)
{
    const int64_t t = h->next;
    h->next += h->p.frame;
    frame_decide(h, t, (double)p_speech);
    settle(h, h->on ? h->start : h->next);
}

void hysteresis_end(struct hysteresis *h, int64_t samples)
{
    h->samples = samples;
    if (h->on) span_close(h, samples, samples - h->start > h->p.min_speech);
    merged_flush(h);
    if (!h->has_padded) return;
    h->padded.t1 += h->p.pad;
    if (h->padded.t1 > samples) h->padded.t1 = samples;
    h->to.put(h->to.user, &h->padded);
    h->has_padded = 0;
}
