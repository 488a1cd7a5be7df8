/* steno: draft tokens from the text that a session found last. SPDX-License-Identifier: MIT */
#include "task/ar/draft_text.h"
#include <string.h>

/* Is it the first window of a transcript of live audio? */
static int is_first(const struct window_decoder *w)
{
    const struct queue_place *place = &w->s->place;
    const int is_live = place->priority == STENO_PRIORITY_LIVE || place->priority == STENO_PRIORITY_END_OF_TURN;
    return is_live && w == &ar_of(w->s)->decoder[0] && w->position.seek == w->request->begin;
}

/* Compares the first frames with those of the request before, and keeps them. @return 1: they are equal */
static int frames_take(struct window_decoder *w)
{
    struct earlier_text *earlier = &ar_of(w->s)->earlier;
    const struct mel_stream *mel = mel_of(w->s);
    const size_t row = (size_t)mel->n_mels;
    int is_same = w->window.frames >= 2 * EARLIER_FRAMES; /* the last frames change with the audio behind them */
    for (int i = 0; i < EARLIER_FRAMES; i++) {
        const float *now = mel_stream_frame(mel, w->position.seek + i);
        float *kept = earlier->frame + (size_t)i * row;
        is_same &= now && !memcmp(kept, now, row * sizeof *now);
        if (now) memcpy(kept, now, row * sizeof *now);
    }
    return is_same;
}

void draft_text_begin(struct window_decoder *w)
{
    struct decoder_attempts *attempts = &w->attempts;
    struct earlier_text *earlier = &ar_of(w->s)->earlier;
    attempts->uses_text = 0;
    if (attempts->now.index) return;
    attempts->n_text = 0;
    if (!is_first(w)) return;
    if (!frames_take(w)) earlier->n = 0;
    const struct sampler *s = &w->b->run.lane[attempts->ar.lane0].sampler;
    const int is_greedy = attempts->ar.p.n_lanes == 1 && !attempts->ar.p.beams && s->rules->temperature == 0;
    if (!earlier->n || !w->request->p.draft_max || w->b->draft || !is_greedy) return;
    attempts->uses_text = 1;
    attempts->n_text = earlier->n;
    attempts->n_taken = 0;
    memcpy(attempts->text, earlier->ids, (size_t)earlier->n * sizeof *earlier->ids);
    attempts->lookup = prompt_lookup_of(DRAFT_MAX); /* a number needs a draft model (request.c) */
    if (earlier->has_odds) memcpy(attempts->lookup.odds, earlier->odds, sizeof earlier->odds);
    attempts->lookup.at = 0;
    attempts->lookup.kind = DRAFT_FOLLOWED;
    attempts->lookup.seen = earlier->n;
}

void draft_text_keep(struct window_decoder *w)
{
    struct decoder_attempts *attempts = &w->attempts;
    struct earlier_text *earlier = &ar_of(w->s)->earlier;
    if (!is_first(w)) return;
    earlier->n = attempts->kept.n_tokens;
    memcpy(earlier->ids, attempts->ids, (size_t)earlier->n * sizeof *earlier->ids);
    if (!attempts->n_text) return;
    memcpy(earlier->odds, attempts->lookup.odds, sizeof earlier->odds);
    earlier->has_odds = 1;
    attempts->n_text = 0;
}

/* The ids that the search has chosen follow the earlier text. */
static void text_add(struct decoder_attempts *attempts, const struct sampler *s)
{
    for (; attempts->n_taken < s->n; attempts->n_taken++) attempts->text[attempts->n_text++] = s->out[attempts->n_taken].id;
}

/* *rows: those of the replay so far. */
static void drafts_of(struct window_decoder *w, int32_t *rows)
{
    struct decoder_attempts *attempts = &w->attempts;
    struct steno_batch *b = w->b;
    struct sampler *s = &b->run.lane[attempts->ar.lane0].sampler;
    const int32_t ids = s->limit - s->n - 1, left = COSTS_ROWS - *rows, room = ids < left ? ids : left;
    text_add(attempts, s);
    const int32_t n = prompt_lookup_find(&attempts->lookup, attempts->text, attempts->n_text, room, &b->costs, *rows);
    for (int32_t i = 0; i < n; i++) s->out[s->n + i].id = attempts->lookup.id[i];
    attempts->ar.n_draft = n;
    *rows += n;
}

static int steps(const struct window_decoder *w)
{
    return w && !w->attempts.ar.done && !ar_prompts(&w->attempts.ar);
}

void draft_texts_choose(struct steno_batch *b)
{
    const struct decode_slot *slot = ar_batch_of(b)->decode_slot;
    int32_t rows = 0;
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (steps(slot[i].user)) rows += slot[i].user->attempts.ar.p.n_lanes;
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (steps(slot[i].user) && slot[i].user->attempts.uses_text) drafts_of(slot[i].user, &rows);
}
