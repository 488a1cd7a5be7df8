/* steno: times of tokens as whisper.cpp estimates them. SPDX-License-Identifier: MIT */
#include "compat/whisper_cli_times.h"
#include "utf8.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 32, AROUND = 2000, SAMPLES = 160 /* SAMPLES: samples in a hundredth of a second */ };

/* ---- the sound --------------------------------------------------------------------------------------------------------------- */

int whisper_cli_keep(struct whisper_cli_sound *s, int64_t at, const float *pcm, int64_t n)
{
    if (at != (int64_t)s->n || at >= WCLI_SOUND_MAX) return 0; /* already read, or not needed */
    const size_t more = n < WCLI_SOUND_MAX - at ? (size_t)n : (size_t)(WCLI_SOUND_MAX - at);
    if (s->n + more > s->cap) {
        const size_t cap = s->n + more > 2 * s->cap ? s->n + more : 2 * s->cap;
        float *p = realloc(s->pcm, cap * sizeof *p);
        if (!p) return -1;
        s->pcm = p;
        s->cap = cap;
    }
    memcpy(s->pcm + s->n, pcm, more * sizeof *pcm);
    s->n += more;
    return 0;
}

int whisper_cli_levels(struct whisper_cli_sound *s)
{
    free(s->level);
    s->level = malloc((s->n + 1) * sizeof *s->level);
    if (!s->level) return -1;
    for (size_t i = 0; i < s->n; i++) {
        const size_t from = i > HALF ? i - HALF : 0, to = i + HALF + 1 < s->n ? i + HALF + 1 : s->n;
        float sum = 0;
        for (size_t k = from; k < to; k++) sum += fabsf(s->pcm[k]);
        s->level[i] = sum / (2 * HALF + 1);
    }
    return 0;
}

void whisper_cli_sound_free(struct whisper_cli_sound *s)
{
    free(s->pcm);
    free(s->level);
    *s = (struct whisper_cli_sound){ 0 };
}

/* ---- estimated speaking time of a text --------------------------------------------------------------------------------------- */

static double units_of(uint32_t c)
{
    static const uint32_t shorter[] = { ',', 0xff0c, 0x3001, 0xff1b, 0xff1a };
    static const uint32_t longer[] = { '.', '!', '?', 0x3002, 0xff0e, 0xff01, 0xff1f, 0x2026 };
    if (c == ' ' || c == 0x3000) return 0.01;
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        if (c == shorter[i]) return 2;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (c == longer[i]) return 3;
    return (c >= '0' && c <= '9') || (c >= 0xff10 && c <= 0xff19) ? 3 : 1;
}

/* A byte that is not part of a valid character counts as a letter. */
double whisper_cli_voice_length(const char *text)
{
    float sum = 0;
    size_t used;
    for (size_t n = strlen(text); n > 0; n -= used, text += used) {
        const int32_t c = utf8_decode(text, n, &used);
        if (c == UTF8_BAD) used = 1;
        sum += (float)(c == UTF8_BAD ? 1 : units_of((uint32_t)c));
    }
    return (double)sum;
}

/* ---- times ------------------------------------------------------------------------------------------------------------------- */

/* At a likely timestamp a token begins and the previous one ends. */
static void set_anchors(struct whisper_cli_token *tok, int n, int64_t t1, struct whisper_cli_clock *c, int32_t first, double threshold)
{
    for (int i = 0; i < n; i++) {
        const steno_token *k = &tok[i].of;
        const int64_t at = c->begin + 2 * ((int64_t)k->ts_id - first);
        if (!((double)k->ts_prob > threshold && (double)k->ts_prob_sum > 0.01) || k->ts_id <= c->last_id || at > t1) continue;
        if (i) tok[i - 1].t1 = at;
        tok[i].t0 = at;
        c->last_id = k->ts_id;
    }
}

/* Distribute the time between known times over the tokens between them. */
static void share_times(struct whisper_cli_token *tok, int n)
{
    for (int from = 0, to = 0; to < n; from = ++to) {
        double all = 0;
        while (to < n && tok[to].t1 < 0) to++;
        if (to >= n) to--;
        for (int i = from; i <= to; i++) all += tok[i].vlen;
        const double room = (double)(tok[to].t1 - tok[from].t0);
        for (int i = from; i < to; i++) {
            const double at = (double)tok[i].t0 + room * tok[i].vlen / all;
            tok[i].t1 = tok[i + 1].t0 = (int64_t)at;
        }
    }
    for (int i = 1; i + 1 < n; i++) {
        if (tok[i - 1].t1 <= tok[i].t0) continue;
        tok[i].t0 = tok[i - 1].t1;
        if (tok[i].t1 < tok[i].t0) tok[i].t1 = tok[i].t0;
    }
}

static int sample_of(int64_t t, int64_t t0, int n)
{
    const int64_t at = (t - t0) * SAMPLES;
    return at < 0 ? 0 : at >= n ? n - 1 : (int)at;
}

/* Move a token's edges outwards while the sound is loud there, and inwards while it is quiet, at most to its neighbours. */
static void fit_to_sound(struct whisper_cli_token *tok, int n, int i, int64_t t0, const struct whisper_cli_sound *sound)
{
    const int last = (int)sound->n - 1;
    const float *level = sound->level;
    int from = sample_of(tok[i].t0, t0, last + 1), to = sample_of(tok[i].t1, t0, last + 1), k = from;
    const int a = from > AROUND ? from - AROUND : 0, b = to + AROUND <= last ? to + AROUND : last + 1;
    float sum = 0;
    for (int j = a; j < b; j++) sum += level[j];
    const float quiet = (float)(0.5 * (double)sum / (b - a));
    const int begins_loud = level[k] > quiet && i > 0;
    while (begins_loud && k > 0 && level[k] > quiet) k--;
    while (!begins_loud && level[k] < quiet && k < to) k++;
    tok[i].t0 = t0 + k / SAMPLES;
    if (begins_loud && tok[i].t0 < tok[i - 1].t1) tok[i].t0 = tok[i - 1].t1;
    else from = k;
    k = to;
    const int ends_loud = level[k] > quiet;
    while (ends_loud && k < last && level[k] > quiet) k++;
    while (!ends_loud && level[k] < quiet && k > from) k--;
    tok[i].t1 = t0 + k / SAMPLES;
    if (ends_loud && i + 1 < n && tok[i].t1 > tok[i + 1].t0) tok[i].t1 = tok[i + 1].t0;
}

void whisper_cli_times(struct whisper_cli_token *tok, int n, int64_t t0, int64_t t1, struct whisper_cli_clock *clock,
                       int32_t first_timestamp, double threshold, const struct whisper_cli_sound *sound)
{
    for (int i = 0; i < n; i++) tok[i].t0 = tok[i].t1 = -1;
    if (n == 1) {
        tok[0].t0 = t0;
        tok[0].t1 = t1;
    }
    if (n < 2 || !sound->n) return;
    if (tok[0].of.id == first_timestamp) {
        tok[0].t0 = tok[0].t1 = tok[1].t0 = t0;
        *clock = (struct whisper_cli_clock){ t0, t0, first_timestamp };
    } else {
        tok[0].t0 = clock->last;
    }
    set_anchors(tok, n, t1, clock, first_timestamp, threshold);
    tok[n - 2].t1 = tok[n - 1].t0 = tok[n - 1].t1 = clock->last = t1;
    share_times(tok, n);
    for (int i = 0; i < n; i++)
        if (tok[i].is_text) fit_to_sound(tok, n, i, t0, sound);
}
