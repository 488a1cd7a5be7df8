/* steno: functions that writers share. SPDX-License-Identifier: MIT */
#include "write.h"
#include "text_rules.h"
#include "utf8.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void write_stripped(struct sink *f, enum text_form form, const char *text)
{
    size_t n;
    const char *s = utf8_strip(text, &n);
    text_put(f, form, s, n);
}

void write_time(struct sink *f, int64_t ms, int always_hours, char sep)
{
    if (ms < 0) ms = 0;
    if (always_hours || ms >= 3600000) sink_format(f, "%02" PRId64 ":", ms / 3600000);
    sink_format(f, "%02d:%02d%c%03d", (int)(ms / 60000 % 60), (int)(ms / 1000 % 60), sep, (int)(ms % 1000));
}

const int32_t *write_speaker_of(const struct transcript *t, int seg)
{
    return t->speakers ? &t->speakers[seg] : NULL;
}

void write_speaker(struct sink *f, const int32_t *speaker)
{
    if (!speaker) return;
    if (*speaker < 0) sink_text(f, "(speaker ?) ");
    else sink_format(f, "(speaker %" PRId32 ") ", *speaker);
}

const char *write_speaker_name(size_t *n, const struct transcript *t, int32_t speaker)
{
    const char *name = t->layout && speaker >= 0 ? t->layout->speaker_names : NULL;
    for (; name && speaker; speaker--) {
        name = strchr(name, ',');
        if (name) name++;
    }
    if (name) *n = strcspn(name, ",");
    return name;
}

int32_t write_speaker_count(const struct transcript *t)
{
    int32_t last = -1;
    for (int i = 0; t->speakers && i < t->n; i++)
        if (t->speakers[i] > last) last = t->speakers[i];
    return last + 1;
}

void write_speaker_label(char *out, size_t n, const struct transcript *t, int seg)
{
    const int32_t *who = write_speaker_of(t, seg);
    size_t len;
    const char *name = who ? write_speaker_name(&len, t, *who) : NULL;
    out[0] = '\0';
    if (name) snprintf(out, n, "%.*s: ", (int)len, name);
    else if (who && *who < 0) snprintf(out, n, "(speaker ?) ");
    else if (who) snprintf(out, n, "(speaker %" PRId32 ") ", *who);
}

void write_speaker_column(struct sink *f, const struct transcript *t, int seg, char sep)
{
    if (!t->speakers) return;
    if (t->speakers[seg] < 0) sink_char(f, '?');
    else sink_format(f, "%" PRId32, t->speakers[seg]);
    sink_char(f, sep);
}

/* Is the time in seconds the unrounded form of the time in milliseconds? False for NAN. */
static int is_time(double s, int64_t ms)
{
    return fabs(s * 1000.0 - (double)ms) <= 0.51;
}

/* The reference adds offsets in binary floating point without rounding, so 4.6 s may be 4.6000000000000005. If a segment lacks these
 * doubles, they are computed again: a timestamp token is k * 0.02 s after the start of its window. A segment without one ends with its
 * window, counted in frames of 0.01 s. */
void write_seconds(const steno_segment *s, int32_t first_timestamp, double *start, double *end)
{
    const int has_start = is_time(s->start, s->t0_ms), has_end = is_time(s->end, s->t1_ms);
    *start = has_start ? s->start : (double)s->t0_ms / 1000.0; /* use the milliseconds as they are */
    *end = has_end ? s->end : (double)s->t1_ms / 1000.0;
    if (first_timestamp < 0) return;
    const double offset = (double)(s->seek_frames * 160) / 16000.0;
    const int64_t t0 = s->t0_ms - s->seek_frames * 10, t1 = s->t1_ms - s->seek_frames * 10;
    int ends_by_token = s->n_tokens == 0 && t1 % 20 == 0; /* tokens of an emptied segment are gone */
    for (int i = s->n_tokens - 1; i >= 0; i--) {
        if (s->tokens[i] < first_timestamp) continue;
        ends_by_token = s->tokens[i] > first_timestamp;
        break;
    }
    if (!has_start) *start = offset + (double)(t0 / 20) * 0.02;
    if (!has_end) *end = offset + (ends_by_token ? (double)(t1 / 20) * 0.02 : (double)(t1 / 10 * 160) / 16000.0);
}
