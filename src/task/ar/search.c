/* steno: the search of an attempt. SPDX-License-Identifier: MIT
 *
 * Keys and values of the prompt do not depend on the temperature. An attempt with the same prompt starts at the prompt's last row. */
#include "task/ar/search.h"
#include <math.h>
#include "task/ar/request.h"
#include "task/ar/draft_windows.h"
#include "task/ar/logits_processors.h"
#include "task/ar/prompt.h"
#include "task/window/window.h"

/* With whisper.cpp's rules, beams sample at any temperature. Above temperature 0 the number of beams is the number of candidates. */
static struct ar_params loose_search_of(const struct window_decoder *w)
{
    enum { WINDOW_FRAMES = 3000 };
    const steno_transcribe_params *p = &w->request->p;
    const int beams = p->beam_size > 1, hot = w->attempts.now.temperature > 0, n = hot ? p->best_of : p->beam_size;
    const struct sequence_score_rules score = { .on = 1, .draws = beams ? p->beam_size : 0, .half = WINDOW_FRAMES / 4,
                                           .is_last = w->position.seek + WINDOW_FRAMES + CLIP_LAST_FRAMES >= w->position.end,
                                           .before = w->attempts.now.sequence, .entropy = p->entropy_threshold };
    return (struct ar_params){ .n_lanes = n > 1 ? n : 1, .beams = beams, .max_finished = 1, .length_penalty = p->length_penalty,
                               .score = score };
}

/* Uses beams at temperature 0, and candidates above it. */
static struct ar_params search_of(const struct window_decoder *w)
{
    const steno_transcribe_params *p = &w->request->p;
    const double temperature = w->attempts.now.temperature;
    if (is_loose(w)) return loose_search_of(w);
    const int beams = temperature == 0 && p->beam_size > 0, several = temperature > 0 && p->best_of > 0;
    const double patience = isnan(p->patience) ? 1 : p->patience;
    return (struct ar_params){ .n_lanes = beams ? p->beam_size : several ? p->best_of : 1, .beams = beams,
                               .max_finished = (int32_t)nearbyint(p->beam_size * patience), .length_penalty = p->length_penalty };
}

/* With whisper.cpp's rules, a timestamp within a tenth of a second of the audio's end ends the text. @return the first such id, 0: none */
static int32_t last_time(const struct window_decoder *w)
{
    if (!is_loose(w) || w->options.without_timestamps) return 0;
    const int64_t left = w->position.end - w->position.seek - CLIP_LAST_FRAMES, frames = 2 * (int64_t)window_ctx(w);
    const int64_t at = left > 1 ? (left + 1) / 2 : 1;
    return at <= frames ? w->s->model->tokens.timestamp_begin + (int32_t)at : 0;
}

int search_begin(struct window_decoder *w, int again)
{
    struct decoder_attempts *attempts = &w->attempts;
    steno_session *s = w->s;
    const steno_model *m = s->model;
    const steno_transcribe_params *p = &w->request->p;
    struct steno_batch *b = w->b;
    const uint16_t lane0 = (uint16_t)(w->decode_slot * b->n_lanes);
    const float no_speech = b->run.lane[lane0].prob.p;
    const struct ar_params search = search_of(w);
    const int draws = search.score.draws || (search.score.on && attempts->now.temperature > 0);
    int sot = 0;
    const int32_t n = prompt_make(w, attempts->now.with_previous, &sot), room = m->text_ctx + 1 - n;
    const int32_t max = p->sample_len ? p->sample_len : m->text_ctx / 2, limit = max < room ? max : room;
    if (limit <= 0) return err_set(&s->error, STENO_EARG, "the prompt leaves no room for text");
    w->rules.temperature = attempts->now.temperature;
    w->rules.ts_enough = last_time(w);
    for (int32_t i = 0; i < search.n_lanes; i++) {
        struct lane *l = &b->run.lane[lane0 + i];
        lane_rewind(b, (uint16_t)(lane0 + i), again && !i ? n - 1 : 0);
        l->kv.enc_len = p->audio_ctx ? p->audio_ctx : m->audio_ctx;
        l->sampler.rules = &w->rules;
        l->sampler.limit = limit;
        l->sampler.mt19937 = draws ? &attempts->mt19937[i] : NULL;
        l->sampler.rng_stream = rng_stream_of(w->position.seek, attempts->now.index, i);
        l->prob.p = no_speech; /* an attempt that reuses the prompt does not compute this row */
        l->prob.id = m->tokens.no_speech;
        l->processors.wanted = processors_wanted(w->request);
        l->sampler.keeps_margin = b->exact && p->verify_margin > 0;
    }
    attempts->step.at_ms = w->position.seek * 10;
    attempts->step.temperature = attempts->now.temperature;
    attempts->step.attempt = attempts->now.index;
    ar_begin(&attempts->ar, &search, lane0, w->context.prompt, n, sot);
    attempts->ar.fed = b->run.lane[lane0].kv.len;
    buf_clear(&attempts->found);
    attempts->ar.found = p->n_best && search.beams ? &attempts->found : NULL;
    draft_windows_begin(w);
    return STENO_OK;
}
