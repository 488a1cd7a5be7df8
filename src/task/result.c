/* steno: results. SPDX-License-Identifier: MIT */
#include "task/task.h"
#include <math.h>
#include <string.h>
#include <zlib.h>

void result_clear(struct result *r)
{
    buf_clear(&r->segments);
    buf_clear(&r->tokens);
    buf_clear(&r->ids);
    buf_clear(&r->times);
    buf_clear(&r->words);
    buf_clear(&r->text);
    buf_clear(&r->bytes);
    buf_clear(&r->whole);
    buf_clear(&r->spans);
    buf_clear(&r->features);
    r->n_language_probs = 0;
    r->duration_ms = 0;
    r->language = "";
}

void result_free(struct result *r)
{
    buf_free(&r->segments);
    buf_free(&r->tokens);
    buf_free(&r->ids);
    buf_free(&r->times);
    buf_free(&r->words);
    buf_free(&r->text);
    buf_free(&r->bytes);
    buf_free(&r->whole);
    buf_free(&r->spans);
    buf_free(&r->features);
}

int result_status(const struct result *r)
{
    const int bad = r->segments.err || r->tokens.err || r->ids.err || r->times.err || r->words.err || r->text.err || r->bytes.err ||
                    r->whole.err || r->spans.err;
    return bad ? STENO_ENOMEM : STENO_OK;
}

void result_append(struct result *r, const struct result *part)
{
    const size_t text = r->text.len, token = r->ids.len / sizeof(int32_t), word = r->words.len / sizeof(struct word);
    const struct word *v = (const struct word *)(const void *)part->words.p;
    const struct segment *g = (const struct segment *)(const void *)part->segments.p;
    for (size_t i = 0; i < part->words.len / sizeof *v; i++) {
        struct word moved = v[i];
        moved.text += text;
        buf_add(&r->words, &moved, sizeof moved);
    }
    buf_add(&r->text, part->text.p ? part->text.p : "", part->text.len);
    buf_add(&r->ids, part->ids.p ? part->ids.p : "", part->ids.len);
    buf_add(&r->tokens, part->tokens.p ? part->tokens.p : "", part->tokens.len);
    buf_add(&r->times, part->times.p ? part->times.p : "", part->times.len);
    buf_add(&r->bytes, part->bytes.p ? part->bytes.p : "", part->bytes.len);
    for (size_t i = 0; i < part->segments.len / sizeof *g && !result_status(r); i++) {
        struct segment moved = g[i];
        moved.text += text;
        moved.first_token += token;
        moved.first_word += word;
        buf_add(&r->segments, &moved, sizeof moved); /* last: what can be read is whole */
    }
}

static const struct segment *segment_at(const steno_session *s, int i)
{
    if (!s || i < 0 || i >= steno_segment_count(s)) return NULL;
    return (const struct segment *)(const void *)s->selected->segments.p + i;
}

int steno_segment_count(const steno_session *s)
{
    return s ? (int)(s->selected->segments.len / sizeof(struct segment)) : 0;
}

int steno_segment_get(const steno_session *s, int i, steno_segment *out)
{
    const struct segment *g = segment_at(s, i);
    if (!g || !out || out->size < sizeof(uint32_t)) return STENO_EARG;
    steno_segment seg = { .id = i, .n_tokens = g->n_tokens, .seek_frames = g->seek_frames, .t0_ms = g->t0_ms, .t1_ms = g->t1_ms,
                          .text = s->selected->text.p + g->text, .temperature = g->temperature, .avg_logprob = g->avg_logprob,
                          .compression_ratio = g->compression_ratio, .no_speech_prob = g->no_speech_prob, .flags = g->flags,
                          .attempt = g->attempt, .language = g->tags.language, .emotion = g->tags.emotion,
                          .event = g->tags.event, .itn = g->tags.itn, .start = g->start, .end = g->end, .n_words = g->n_words,
                          .speaker_turn = g->speaker_turn };
    if (g->n_tokens) seg.tokens = (const int32_t *)(const void *)s->selected->ids.p + g->first_token;
    seg.size = out->size < sizeof seg ? out->size : (uint32_t)sizeof seg;
    memcpy(out, &seg, seg.size);
    return STENO_OK;
}

int steno_token_get(const steno_session *s, int i, int j, steno_token *out)
{
    const struct segment *g = segment_at(s, i);
    if (!g || !out || out->size < sizeof(uint32_t) || j < 0 || j >= g->n_tokens) return STENO_EARG;
    const struct result *r = s->selected;
    const size_t at = g->first_token + (size_t)j;
    const struct sampled_token *p = (const struct sampled_token *)(const void *)r->tokens.p + at;
    struct token_time t = { -1, -1, -1, 0 };
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
    word.size = out->size < sizeof word ? out->size : (uint32_t)sizeof word;
    memcpy(out, &word, word.size);
    return STENO_OK;
}

int steno_result_select(steno_session *s, int task)
{
    if (!s || !session_may_change(s) || s->request.state != REQUEST_NONE || (task != STENO_TRANSCRIBE && task != STENO_TRANSLATE))
        return STENO_EARG;
    const int both = s->request.p.task == STENO_TRANSCRIBE_AND_TRANSLATE;
    if (!both && s->request.p.task != task) return STENO_EARG;
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
    const int32_t width = s->model->dims.n_audio_state; /* as many rows as the window had */
    if (n_ctx) *n_ctx = (int32_t)(s->result.features.len / sizeof(float) / (size_t)width);
    if (n_state) *n_state = width;
    return (const float *)(const void *)s->result.features.p;
}

double compression_ratio(const char *text, size_t n)
{
    z_stream z = { 0 };
    Bytef out[1024];
    union { const char *c; Bytef *b; } in = { text }; /* zlib reads only, whatever its type says */
    if (deflateInit(&z, 6) != Z_OK) return -1;
    z.next_in = in.b;
    z.avail_in = (uInt)n;
    int rc;
    do {
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = deflate(&z, Z_FINISH);
    } while (rc == Z_OK);
    const double ratio = rc == Z_STREAM_END ? (double)n / (double)z.total_out : 0;
    deflateEnd(&z);
    return ratio;
}
