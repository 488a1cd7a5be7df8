/* steno: Whisper's prompts, logit rules and segments. SPDX-License-Identifier: MIT
 *
 * Reference: openai-whisper 20250625, whisper/decoding.py (initial tokens, suppression) and whisper/transcribe.py (segments). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/whisper.h"

static int whisper_prompt_prefix(const steno_model *m, const struct speech_options *q, int32_t *ids, int *sot)
{
    const struct token_roles *t = &m->tokens;
    int n = 0;
    *sot = 0;
    ids[n++] = t->sot;
    if (t->n_languages) {
        ids[n++] = t->first_language + (q->lang < 0 ? 0 : q->lang);
        ids[n++] = q->translate ? t->translate : t->transcribe;
    }
    if (q->without_timestamps) ids[n++] = t->no_timestamps;
    return n;
}

/* Bars control tokens, which are never text. */
static void bar_control(const steno_model *m, int turns, struct rule_masks *masks)
{
    const struct token_roles *t = &m->tokens;
    const int32_t control[] = { t->transcribe, t->translate, t->sot, t->previous, t->no_speech, turns ? -1 : t->turn };
    for (size_t i = 0; i < sizeof control / sizeof *control; i++) rule_bar(masks, control[i]);
}

/* "-1" or "1, 2, 3": ids to bar, with the same white space as in the reference. */
static int bar_list(const steno_model *m, const char *list, int turns, struct rule_masks *masks, steno_error *e)
{
    int place = 1;
    for (const char *p = list; p; place++) {
        const size_t n = strcspn(p, ",");
        char *end;
        errno = 0;
        const long id = strtol(p, &end, 10);
        const int is_id = end > p && end <= p + n && !errno && id >= -1 && id < m->n_vocab;
        if (!is_id || end + strspn(end, " \t") != p + n)
            return err_set(e, STENO_EARG, "suppress_tokens: '%.*s' at place %d is not a token id below %d, nor -1 for the non-speech set",
                           n < 40 ? (int)n : 40, p, place, (int)m->n_vocab);
        const int32_t *set = (const int32_t *)(const void *)m->non_speech.p;
        for (size_t i = 0; id == -1 && i < m->non_speech.len / sizeof *set; i++) rule_bar(masks, set[i]);
        if (id >= 0) rule_bar(masks, (int32_t)id);
        p = p[n] ? p + n + 1 : NULL;
    }
    bar_control(m, turns, masks);
    return STENO_OK;
}

static int whisper_rules(const steno_model *m, const struct speech_options *q, struct rule_masks *masks, struct logit_rules *rules,
                         steno_error *e)
{
    const struct token_roles *t = &m->tokens;
    rule_masks_clear(masks);
    if (q->suppress_tokens && *q->suppress_tokens) {
        const int rc = bar_list(m, q->suppress_tokens, q->turns, masks, e);
        if (rc) return rc;
    }
    if (!q->without_timestamps) rule_bar(masks, t->no_timestamps);
    if (q->decoding == STENO_DECODING_GGML) { /* regardless of the list; including language tokens */
        bar_control(m, q->turns, masks);
        for (int32_t i = 0; i < t->n_languages; i++) rule_bar(masks, t->first_language + i);
        rule_bar(masks, t->no_timestamps);
    }
    if (q->suppress_blank) {
        rule_bar_first(masks, t->blank);
        rule_bar_first(masks, t->eot);
    }
    const double precision = 30.0 / m->audio_ctx; /* seconds per timestamp */
    const double last = q->max_initial_timestamp > 0 ? nearbyint(q->max_initial_timestamp / precision) : m->n_vocab;
    *rules = (struct logit_rules){ .mask = masks->always, .mask_first = masks->first, .n_vocab = m->n_vocab, .eot = t->eot,
                                  .ts_begin = t->timestamp_begin, .timestamps = !q->without_timestamps,
                                  .loose = q->decoding == STENO_DECODING_GGML };
    const int32_t room = m->n_vocab - 1 - t->timestamp_begin;
    rules->ts_initial_last = t->timestamp_begin + (last < room ? (int32_t)last : room);
    return STENO_OK;
}

/* whisper.cpp's segments: a segment ends at a timestamp, and the next begins at the last timestamp before its text. Text after the last
 * timestamp is dropped, unless there is no timestamp. 0.00 does not count. */
static int segments_between_times(const int32_t *tokens, int32_t n, int32_t frames, int32_t ts, struct token_segment *segments,
                                  int32_t *advance)
{
    int n_segments = 0;
    int32_t from = 0, last = 0, t0 = n && tokens[0] > ts ? tokens[0] - ts : 0;
    for (int32_t i = 0, text = 0; i < n; i++) {
        if (tokens[i] < ts) text = 1;
        if (tokens[i] <= ts) continue;
        last = tokens[i] - ts;
        if (text) segments[n_segments++] = (struct token_segment){ from, i + 1 - from, t0, last };
        while (i + 1 < n && tokens[i + 1] > ts) last = tokens[++i] - ts;
        from = text && tokens[i - 1] < ts ? i + 1 : i; /* an opening timestamp belongs to the next segment */
        t0 = last;
        text = 0;
    }
    if (!last) segments[n_segments++] = (struct token_segment){ 0, n, 0, -1 };
    const int single_end = n > 1 && tokens[n - 1] > ts && tokens[n - 2] < ts;
    *advance = !last || single_end ? frames : 2 * last;
    return n_segments;
}

static int whisper_tokens_to_segments(const steno_model *m, const struct speech_options *q, const int32_t *tokens, int32_t n,
                                      int32_t frames, struct token_segment *segments, int32_t *advance, int *single_end)
{
    const int32_t ts = m->tokens.timestamp_begin;
    *single_end = n >= 2 && tokens[n - 1] >= ts && tokens[n - 2] < ts;
    if (q->decoding == STENO_DECODING_GGML && !q->without_timestamps)
        return segments_between_times(tokens, n, frames, ts, segments, advance);
    int n_segments = 0;
    int32_t from = 0;
    for (int32_t i = 1; i <= n; i++) { /* cut between two consecutive timestamps */
        const int pair = i < n && tokens[i] >= ts && tokens[i - 1] >= ts;
        if (!pair && !(i == n && *single_end && n_segments)) continue;
        segments[n_segments++] = (struct token_segment){ from, i - from, tokens[from] - ts, tokens[i - 1] - ts };
        from = i;
    }
    *advance = frames;
    if (n_segments) {
        if (!*single_end) *advance = 2 * (tokens[from - 1] - ts); /* an unfinished segment is decoded again in the next window */
        return n_segments;
    }
    int32_t last = 0;
    for (int32_t i = 0; i < n; i++)
        if (tokens[i] >= ts) last = tokens[i] - ts;
    segments[0] = (struct token_segment){ 0, n, 0, last ? last : -1 }; /* -1: up to the end of the window */
    return 1;
}

static int whisper_special_name(const void *roles, int32_t id, char name[ID_NAME_SIZE])
{
    const struct token_roles *t = roles;
    const struct { int32_t id; const char *name; } role[] = {
        { t->eot, "EOT_" }, { t->sot, "SOT_" }, { t->translate, "TRANSLATE_" }, { t->transcribe, "TRANSCRIBE_" }, { t->turn, "SOLM_" },
        { t->previous, "PREV_" }, { t->no_speech, "NOSP_" }, { t->no_timestamps, "NOT_" }, { t->timestamp_begin, "BEG_" },
    };
    for (size_t i = 0; i < sizeof role / sizeof *role; i++)
        if (role[i].id == id) return snprintf(name, ID_NAME_SIZE, "[_%s]", role[i].name);
    if (id > t->timestamp_begin) return snprintf(name, ID_NAME_SIZE, "[_TT_%d]", (int)(id - t->timestamp_begin));
    return snprintf(name, ID_NAME_SIZE, "[_LANG_%s]", language_code(id - t->first_language));
}

const struct speech whisper_speech = { whisper_prompt_prefix, whisper_rules, whisper_tokens_to_segments, whisper_special_name };
