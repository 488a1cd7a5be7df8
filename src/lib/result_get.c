/* steno: functions that read results. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "lib/entry.h"
#include "task/words/token_times.h"
#include "text/language.h"

static const struct segment *segment_at(const steno_session *s, int i)
{
    if (!s || i < 0 || i >= steno_segment_count(s)) return NULL;
    return (const struct segment *)(const void *)s->selected->segments.p + i;
}

int steno_segment_count(const steno_session *s)
{
    return s ? result_segments(s->selected) : 0;
}

int steno_segment_get(const steno_session *s, int i, steno_segment *out)
{
    return s ? result_segment(s->selected, i, out) : STENO_EARG;
}

int steno_token_get(const steno_session *s, int i, int j, steno_token *out)
{
    const struct segment *g = segment_at(s, i);
    if (!g || !out || out->size < sizeof(uint32_t) || j < 0 || j >= g->n_tokens) return STENO_EARG;
    const struct result *r = s->selected;
    const size_t at = g->first_token + (size_t)j;
    const struct sampled_token *p = (const struct sampled_token *)(const void *)r->tokens.p + at;
    struct token_time t = { -1, -1, -1, 0, 0 };
    if (r->times.len) t = ((const struct token_time *)(const void *)r->times.p)[at];
    steno_token tok = { .id = p->id, .ts_id = p->ts_id, .p = p->p, .logprob = p->logprob, .ts_prob = p->ts_prob,
                       .ts_prob_sum = p->ts_prob_sum, .t0_ms = t.t0, .t1_ms = t.t1, .t_dtw_ms = t.dtw, .vlen = t.vlen };
    tok.size = out->size < sizeof tok ? out->size : (uint32_t)sizeof tok;
    memcpy(out, &tok, tok.size);
    return STENO_OK;
}

int steno_word_get(const steno_session *s, int i, int j, steno_word *out)
{
    const struct segment *g = segment_at(s, i);
    if (!g || !out || out->size < sizeof(uint32_t) || j < 0 || j >= g->n_words) return STENO_EARG;
    const struct word *w = (const struct word *)(const void *)s->selected->words.p + g->first_word + j;
    const int known = !isnan(w->start);
    steno_word word = { .n_tokens = w->n_tokens, .start = w->start, .end = w->end,
                        .t0_ms = known ? (int64_t)nearbyint(w->start * 1000) : -1,
                        .t1_ms = known ? (int64_t)nearbyint(w->end * 1000) : -1, .text = s->selected->text.p + w->text,
                        .probability = w->probability };
    word.spoken = w->spoken ? s->selected->text.p + w->spoken - 1 : word.text;
    word.size = out->size < sizeof word ? out->size : (uint32_t)sizeof word;
    memcpy(out, &word, word.size);
    return STENO_OK;
}

int steno_hypothesis_count(const steno_session *s)
{
    return s ? (int)(s->selected->hypotheses.len / sizeof(struct hypothesis)) : 0;
}

int steno_hypothesis_get(const steno_session *s, int i, steno_hypothesis *out)
{
    if (!s || i < 0 || i >= steno_hypothesis_count(s) || !out || out->size < sizeof(uint32_t)) return STENO_EARG;
    const struct result *r = s->selected;
    const struct hypothesis *h = (const struct hypothesis *)(const void *)r->hypotheses.p + i;
    steno_hypothesis found = { .place = h->place, .at_ms = h->at_ms, .text = r->hypothesis_text.p + h->text, .n_tokens = h->n_tokens,
                               .avg_logprob = h->avg_logprob, .score = h->score };
    if (h->n_tokens) {
        found.tokens = (const int32_t *)(const void *)r->hypothesis_ids.p + h->first_token;
        found.logprobs = (const float *)(const void *)r->hypothesis_logprobs.p + h->first_token;
    }
    found.size = out->size < sizeof found ? out->size : (uint32_t)sizeof found;
    memcpy(out, &found, found.size);
    return STENO_OK;
}

int steno_left_out_count(const steno_session *s)
{
    return s ? (int)(s->selected->left_out.len / sizeof(struct left_out)) : 0;
}

int steno_left_out_get(const steno_session *s, int i, steno_left_out *out)
{
    if (!s || i < 0 || i >= steno_left_out_count(s) || !out || out->size < sizeof(uint32_t)) return STENO_EARG;
    const struct result *r = s->selected;
    const struct left_out *l = (const struct left_out *)(const void *)r->left_out.p + i;
    steno_left_out found = { .flags = l->flags, .t0_ms = l->t0_ms, .t1_ms = l->t1_ms, .text = r->left_out_text.p + l->text,
                             .avg_logprob = l->avg_logprob, .no_speech_prob = l->no_speech_prob, .is_window = (int32_t)l->whole,
                             .language = l->language ? language_code(l->language - 1) : NULL };
    found.size = out->size < sizeof found ? out->size : (uint32_t)sizeof found;
    memcpy(out, &found, found.size);
    return STENO_OK;
}

int steno_sentence_count(const steno_session *s)
{
    return s ? (int)(s->selected->sentences.len / sizeof(struct marked_sentence)) : 0;
}

int steno_sentence_get(const steno_session *s, int i, steno_sentence *out)
{
    if (!s || !out || out->size < sizeof(uint32_t) || i < 0 || i >= steno_sentence_count(s)) return STENO_EARG;
    const struct result *r = s->selected;
    const struct marked_sentence *g = (const struct marked_sentence *)(const void *)r->sentences.p + i;
    steno_sentence own = { .n_words = g->n_words, .t0_ms = g->t0_ms, .t1_ms = g->t1_ms, .text = r->text.p + g->text,
                           .times_ms = (const int64_t *)(const void *)r->sentence_times.p + 2 * g->first_time,
                           .first_word = g->first_word };
    own.size = out->size < sizeof own ? out->size : (uint32_t)sizeof own;
    memcpy(out, &own, own.size);
    return STENO_OK;
}

int steno_result_select(steno_session *s, int task)
{
    if (!s || !session_may_change(s) || s->request_state != REQUEST_NONE || (task != STENO_TRANSCRIBE && task != STENO_TRANSLATE))
        return STENO_EARG;
    const int both = s->asked_task == STENO_TRANSCRIBE_AND_TRANSLATE;
    if (!both && s->asked_task != task) return STENO_EARG;
    s->selected = both && task == STENO_TRANSLATE ? &s->translation : &s->result;
    return STENO_OK;
}

const char *steno_text(const steno_session *s)
{
    return s && s->selected->whole.p ? s->selected->whole.p : "";
}

const char *steno_language(const steno_session *s)
{
    return s && s->result.language ? s->result.language : "";
}

int64_t steno_duration_ms(const steno_session *s)
{
    return s ? s->result.duration_ms : 0;
}

float steno_language_prob(const steno_session *s, int i)
{
    return s && i >= 0 && i < s->result.n_language_probs ? s->result.language_prob[i] : -1;
}

const float *steno_audio_features(const steno_session *s, int32_t *n_ctx, int32_t *n_state)
{
    if (!s || !s->result.features.len) return NULL;
    const int32_t width = s->model->widths.audio_state; /* as many rows as the window had */
    if (n_ctx) *n_ctx = (int32_t)(s->result.features.len / sizeof(float) / (size_t)width);
    if (n_state) *n_state = width;
    return (const float *)(const void *)s->result.features.p;
}

int steno_span_count(const steno_session *s)
{
    return s ? (int)(s->result.spans.len / sizeof(steno_span)) : 0;
}

int steno_span_get(const steno_session *s, int i, steno_span *out)
{
    if (!s || !out || out->size < sizeof(uint32_t) || i < 0 || i >= steno_span_count(s)) return STENO_EARG;
    steno_span span = ((const steno_span *)(const void *)s->result.spans.p)[i];
    span.size = out->size < sizeof span ? out->size : (uint32_t)sizeof span;
    memcpy(out, &span, span.size);
    return STENO_OK;
}

const float *steno_logits(const steno_session *s, int *n)
{
    const float *logits = s && s->model->task->logits ? s->model->task->logits(s) : NULL;
    if (n) *n = logits ? s->model->n_vocab : 0;
    return logits;
}

const char *steno_generated_text(const steno_session *s)
{
    return s && s->generated_text.p ? s->generated_text.p : "";
}

int steno_generate_finish(const steno_session *s)
{
    return s ? s->finish : STENO_FINISH_NONE;
}

/* Number i of a list of struct sampled_token. */
static int token_get(const struct buf *list, size_t i, steno_token *out)
{
    if (!out || out->size < sizeof(uint32_t) || i >= list->len / sizeof(struct sampled_token)) return STENO_EARG;
    const struct sampled_token *t = &((const struct sampled_token *)(const void *)list->p)[i];
    steno_token tok = { .id = t->id, .ts_id = -1, .p = t->p, .logprob = t->logprob, .t0_ms = -1, .t1_ms = -1, .t_dtw_ms = -1 };
    tok.size = out->size < sizeof tok ? out->size : (uint32_t)sizeof tok;
    memcpy(out, &tok, tok.size);
    return STENO_OK;
}

int steno_generated_get(const steno_session *s, int i, steno_token *out)
{
    return s && i >= 0 ? token_get(&s->chosen, (size_t)i, out) : STENO_EARG;
}

int steno_generated_top(const steno_session *s, int i, int k, steno_token *out)
{
    const size_t n = s ? s->chosen.len / sizeof(struct sampled_token) : 0, tops = s ? s->tops.len / sizeof(struct sampled_token) : 0;
    if (i < 0 || (size_t)i >= n || k < 0 || (size_t)k >= tops / n) return STENO_EARG;
    return token_get(&s->tops, (size_t)i * (tops / n) + (size_t)k, out);
}

const int32_t *steno_generated(const steno_session *s, int *n)
{
    const int count = s ? (int)(s->generated.len / sizeof(int32_t)) : 0;
    if (n) *n = count;
    return count ? (const int32_t *)(const void *)s->generated.p : NULL;
}
