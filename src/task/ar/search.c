/* steno: the search of an attempt. SPDX-License-Identifier: MIT
 *
 * Keys and values of the prompt do not depend on the temperature. An attempt with the same prompt starts at the prompt's last row. */
#include "task/ar/search.h"
#include "task/ar/decoding_rules.h"
#include "task/ar/draft_text.h"
#include "task/ar/draft_windows.h"
#include "task/ar/logits_processors.h"
#include "task/ar/prompt.h"
#include "task/window/window.h"

int search_begin(struct window_decoder *w, int again)
{
    struct decoder_attempts *attempts = &w->attempts;
    steno_session *s = w->s;
    const steno_model *m = s->model;
    const steno_transcribe_params *p = &w->request->p;
    struct steno_batch *b = w->b;
    const uint16_t lane0 = (uint16_t)(w->decode_slot * b->n_lanes);
    const float no_speech = b->run.lane[lane0].prob.p;
    const struct ar_params search = rules_of(w)->search(w);
    const int draws = search.score.draws || (search.score.on && attempts->now.temperature > 0);
    int sot = 0;
    const int32_t n = prompt_make(w, attempts->now.with_previous, &sot), room = m->text_ctx + 1 - n;
    const int32_t max = p->sample_len ? p->sample_len : m->text_ctx / 2, limit = max < room ? max : room;
    if (limit <= 0) return err_set(&s->error, STENO_EARG, "the prompt leaves no room for text");
    w->rules.temperature = attempts->now.temperature;
    w->rules.ts_enough = rules_of(w)->last_time(w);
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
        l->processors.enabled = processors_needed(w->request);
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
    draft_text_begin(w);
    return STENO_OK;
}
