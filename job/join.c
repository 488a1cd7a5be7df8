/* steno: joins spans of speech to one audio. SPDX-License-Identifier: MIT */
#include "join.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000, PER_CS = RATE / 100, SILENCE = RATE / 10, LEAST_CS = 10, SKIP = 4096 };

static int64_t cs_of(int64_t samples) { return (2 * samples + PER_CS) / (2 * PER_CS); } /* rounded to the nearest */

/* ---- mapping of times */

static void points_add(struct join *j, int64_t joined, int64_t own)
{
    if (j->n_points && j->point[j->n_points - 1].joined >= joined) return; /* the first of equal points stays */
    j->point[j->n_points++] = (struct join_point){ joined, own };
}

static void lay_out(struct join *j, int64_t samples)
{
    int64_t at = 0;
    for (int64_t i = 0; i < j->n; i++) {
        struct join_span *s = &j->span[i];
        const int is_last = i + 1 == j->n;
        const int64_t most = samples > 0 ? samples - 1 : 0;
        int64_t first = s->t0 * PER_CS, end = s->t1 * PER_CS;
        if (first > most) first = most;
        if (end > most) end = most;
        int64_t behind = is_last ? end : end + j->overlap;
        if (behind > most) behind = most;
        j->edge[2 * i] = first;
        j->edge[2 * i + 1] = behind;
        s->joined_t0 = cs_of(at);
        s->joined_t1 = cs_of(at + end - first);
        points_add(j, s->joined_t0, s->t0);
        points_add(j, s->joined_t1, s->t1);
        at += behind - first;
        if (is_last) break;
        points_add(j, cs_of(at), s->t1);
        at += SILENCE;
        points_add(j, cs_of(at), j->span[i + 1].t0);
    }
}

int join_begin(struct join *j, const struct join_spans *spans, const steno_source *from)
{
    const size_t n = (size_t)spans->n;
    *j = (struct join){ .n = spans->n, .from = *from, .overlap = spans->overlap_ms * (RATE / 1000) };
    j->span = calloc(n + 1, sizeof *j->span);
    j->point = calloc(4 * n + 1, sizeof *j->point);
    j->edge = calloc(2 * n + 1, sizeof *j->edge);
    j->held = calloc((size_t)j->overlap + 1, sizeof *j->held);
    if (!j->span || !j->point || !j->edge || !j->held) {
        join_free(j);
        return STENO_ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        j->span[i] = (struct join_span){ .t0 = (spans->span[i].t0_ms + 5) / 10, .t1 = (spans->span[i].t1_ms + 5) / 10 };
    lay_out(j, spans->samples);
    j->next = n ? j->edge[0] : 0;
    return STENO_OK;
}

void join_free(struct join *j)
{
    free(j->span);
    free(j->point);
    free(j->edge);
    free(j->held);
    *j = (struct join){ 0 };
}

/* ---- the joined audio */

/* Reads at most n samples from the source and keeps the last ones. */
static int64_t take(struct join *j, float *pcm, int64_t n)
{
    const int64_t got = j->from.read(j->from.user, pcm, n);
    if (got <= 0) return got;
    j->at += got;
    if (got >= j->overlap) {
        memcpy(j->held, pcm + (got - j->overlap), (size_t)j->overlap * sizeof *pcm);
    } else {
        memmove(j->held, j->held + got, (size_t)(j->overlap - got) * sizeof *pcm);
        memcpy(j->held + (j->overlap - got), pcm, (size_t)got * sizeof *pcm);
    }
    return got;
}

/* Reads a part of the current span. @return samples, 0: the source has ended, or < 0 */
static int64_t read_span(struct join *j, float *pcm, int64_t n)
{
    const int64_t left = j->edge[2 * j->k + 1] - j->next, most = left < n ? left : n;
    while (j->at < j->next) {
        float skipped[SKIP];
        const int64_t gap = j->next - j->at, got = take(j, skipped, gap < SKIP ? gap : SKIP);
        if (got <= 0) return got;
    }
    const int64_t back = j->at - j->next;
    if (!back) return take(j, pcm, most);
    const int64_t again = back < most ? back : most; /* samples that the previous span also used */
    memcpy(pcm, j->held + (j->overlap - back), (size_t)again * sizeof *pcm);
    return again;
}

static int64_t read_joined(void *user, float *pcm, int64_t n)
{
    struct join *j = user;
    while (j->k < j->n && n > 0) {
        if (j->zeros) {
            const int64_t some = j->zeros < n ? j->zeros : n;
            memset(pcm, 0, (size_t)some * sizeof *pcm);
            j->zeros -= some;
            if (!j->zeros) j->next = j->edge[2 * ++j->k];
            return some;
        }
        const int is_last = j->k + 1 == j->n;
        const int64_t got = j->next < j->edge[2 * j->k + 1] ? read_span(j, pcm, n) : 0;
        if (got < 0) return got;
        j->next += got;
        if (j->next >= j->edge[2 * j->k + 1] || !got) {
            if (is_last) j->k++;
            else j->zeros = SILENCE;
        }
        if (got) return got;
    }
    return 0;
}

static int rewind_joined(void *user)
{
    struct join *j = user;
    j->at = j->k = j->zeros = 0;
    j->next = j->n ? j->edge[0] : 0;
    return j->from.rewind(j->from.user);
}

steno_source join_source(struct join *j)
{
    return (steno_source){ read_joined, j->from.rewind ? rewind_joined : NULL, j };
}

/* ---- times */

int64_t join_time(const struct join *j, int64_t cs)
{
    const struct join_point *p = j->point;
    if (!j->n_points) return cs;
    if (cs <= p[0].joined) return p[0].own;
    for (int64_t i = 1; i < j->n_points; i++)
        if (cs <= p[i].joined)
            return p[i - 1].own + (cs - p[i - 1].joined) * (p[i].own - p[i - 1].own) / (p[i].joined - p[i - 1].joined);
    return p[j->n_points - 1].own;
}

int64_t join_word_time(const struct join *j, int64_t cs)
{
    for (int64_t i = 0; i < j->n; i++) {
        const struct join_span *s = &j->span[i], *next = i + 1 < j->n ? s + 1 : NULL;
        if (cs < s->joined_t0) return s->t0;
        if (cs <= s->joined_t1)
            return s->joined_t1 > s->joined_t0 ? s->t0 + (cs - s->joined_t0) * (s->t1 - s->t0) / (s->joined_t1 - s->joined_t0) : s->t0;
        if (next && cs < next->joined_t0) return cs <= (s->joined_t1 + next->joined_t0) / 2 ? s->t1 : next->t0;
    }
    return j->n ? j->span[j->n - 1].t1 : cs;
}

static int64_t cut_ms(const struct join *j, int64_t ms)
{
    return j->end_ms > 0 && ms > j->end_ms ? j->end_ms : ms;
}

void join_segment(const struct join *j, steno_segment *s)
{
    const int64_t t0 = join_time(j, s->t0_ms / 10), t1 = join_time(j, s->t1_ms / 10);
    s->t0_ms = 10 * t0;
    s->t0_ms = cut_ms(j, s->t0_ms);
    s->t1_ms = cut_ms(j, 10 * (t1 > t0 + LEAST_CS ? t1 : t0 + LEAST_CS));
    s->start = (double)s->t0_ms / 1000;
    s->end = (double)s->t1_ms / 1000;
}

static double word_second(const struct join *j, double t)
{
    return isnan(t) ? t : (double)join_word_time(j, (int64_t)floor(t * 100 + 0.5)) / 100;
}

void join_transcript(const struct join *j, struct transcript *t, struct transcript_store *store)
{
    int n_words = 0;
    for (int i = 0; i < t->n; i++) {
        join_segment(j, &store->segs[i]);
        n_words += store->segs[i].n_words;
    }
    for (int i = 0; i < t->n_left_out; i++) {
        store->left_out[i].t0_ms = cut_ms(j, 10 * join_time(j, store->left_out[i].t0_ms / 10));
        store->left_out[i].t1_ms = cut_ms(j, 10 * join_time(j, store->left_out[i].t1_ms / 10));
    }
    for (int i = 0; i < t->n_hypotheses; i++) store->hypotheses[i].at_ms = 10 * join_time(j, store->hypotheses[i].at_ms / 10);
    for (int i = 0; i < n_words && store->words; i++) {
        steno_word *w = &store->words[i];
        w->start = word_second(j, w->start);
        w->end = word_second(j, w->end);
        if (w->end < w->start + 0.01) w->end = w->start + 0.01;
        if (j->end_ms > 0 && w->end * 1000 > (double)j->end_ms) w->end = (double)j->end_ms / 1000;
        if (j->end_ms > 0 && w->start > w->end) w->start = w->end;
        w->t0_ms = (int64_t)floor(w->start * 1000 + 0.5);
        w->t1_ms = (int64_t)floor(w->end * 1000 + 0.5);
    }
}
