/* steno: results of a request. SPDX-License-Identifier: MIT */
#include "engine/result.h"
#include <string.h>

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
    buf_clear(&r->hypotheses);
    buf_clear(&r->hypothesis_ids);
    buf_clear(&r->hypothesis_logprobs);
    buf_clear(&r->hypothesis_text);
    buf_clear(&r->left_out);
    buf_clear(&r->left_out_text);
    buf_clear(&r->spans);
    buf_clear(&r->marks);
    buf_clear(&r->sentences);
    buf_clear(&r->sentence_times);
    buf_clear(&r->features);
    r->n_converted = 0;
    r->n_language_probs = 0;
    r->duration_ms = 0;
    r->is_bare = r->is_remade = 0;
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
    buf_free(&r->hypotheses);
    buf_free(&r->hypothesis_ids);
    buf_free(&r->hypothesis_logprobs);
    buf_free(&r->hypothesis_text);
    buf_free(&r->left_out);
    buf_free(&r->left_out_text);
    buf_free(&r->spans);
    buf_free(&r->marks);
    buf_free(&r->sentences);
    buf_free(&r->sentence_times);
    buf_free(&r->features);
}

int result_status(const struct result *r)
{
    const int bad = r->segments.err || r->tokens.err || r->ids.err || r->times.err || r->words.err || r->text.err || r->bytes.err ||
                    r->whole.err || r->spans.err || r->hypotheses.err || r->hypothesis_ids.err || r->hypothesis_logprobs.err ||
                    r->hypothesis_text.err || r->left_out.err || r->left_out_text.err;
    return bad ? STENO_ENOMEM : STENO_OK;
}

static void append_hypotheses(struct result *r, const struct result *more)
{
    const size_t text = r->hypothesis_text.len, token = r->hypothesis_ids.len / sizeof(int32_t);
    const struct hypothesis *h = (const struct hypothesis *)(const void *)more->hypotheses.p;
    for (size_t i = 0; i < more->hypotheses.len / sizeof *h; i++) {
        struct hypothesis moved = h[i];
        moved.text += text;
        moved.first_token += token;
        buf_add(&r->hypotheses, &moved, sizeof moved);
    }
    buf_add(&r->hypothesis_ids, more->hypothesis_ids.p ? more->hypothesis_ids.p : "", more->hypothesis_ids.len);
    buf_add(&r->hypothesis_text, more->hypothesis_text.p ? more->hypothesis_text.p : "", more->hypothesis_text.len);
    buf_add(&r->hypothesis_logprobs, more->hypothesis_logprobs.p ? more->hypothesis_logprobs.p : "", more->hypothesis_logprobs.len);
}

static void append_left_out(struct result *r, const struct result *more)
{
    const struct left_out *l = (const struct left_out *)(const void *)more->left_out.p;
    for (size_t i = 0; i < more->left_out.len / sizeof *l; i++) {
        struct left_out moved = l[i];
        const char *text = more->left_out_text.p + l[i].text;
        result_left_out(r, &moved, text, strlen(text));
    }
}

void result_append(struct result *r, const struct result *more)
{
    const size_t text = r->text.len, token = r->ids.len / sizeof(int32_t), word = r->words.len / sizeof(struct word);
    const struct word *v = (const struct word *)(const void *)more->words.p;
    const struct segment *g = (const struct segment *)(const void *)more->segments.p;
    for (size_t i = 0; i < more->words.len / sizeof *v; i++) {
        struct word moved = v[i];
        moved.text += text;
        if (moved.spoken) moved.spoken += text;
        buf_add(&r->words, &moved, sizeof moved);
    }
    buf_add(&r->text, more->text.p ? more->text.p : "", more->text.len);
    buf_add(&r->ids, more->ids.p ? more->ids.p : "", more->ids.len);
    buf_add(&r->tokens, more->tokens.p ? more->tokens.p : "", more->tokens.len);
    buf_add(&r->times, more->times.p ? more->times.p : "", more->times.len);
    buf_add(&r->bytes, more->bytes.p ? more->bytes.p : "", more->bytes.len);
    append_hypotheses(r, more);
    append_left_out(r, more);
    for (size_t i = 0; i < more->segments.len / sizeof *g && !result_status(r); i++) {
        struct segment moved = g[i];
        moved.text += text;
        moved.first_token += token;
        moved.first_word += word;
        buf_add(&r->segments, &moved, sizeof moved); /* added last, so that readers only see complete segments */
    }
}

void result_hypothesis_tokens(struct result *r, struct hypothesis *h, const struct sampled_token *tokens, int32_t n)
{
    h->first_token = r->hypothesis_ids.len / sizeof(int32_t);
    h->n_tokens = n;
    for (int32_t i = 0; i < n; i++) {
        buf_add(&r->hypothesis_ids, &tokens[i].id, sizeof tokens[i].id);
        buf_add(&r->hypothesis_logprobs, &tokens[i].logprob, sizeof tokens[i].logprob);
    }
}

void result_hypothesis(struct result *r, struct hypothesis *h, const char *text, size_t n)
{
    h->text = r->hypothesis_text.len;
    buf_add(&r->hypothesis_text, text, n);
    buf_add(&r->hypothesis_text, "", 1);
    if (!result_status(r)) buf_add(&r->hypotheses, h, sizeof *h); /* added last, so that readers only see complete entries */
}

void result_left_out(struct result *r, struct left_out *l, const char *text, size_t n)
{
    l->text = r->left_out_text.len;
    buf_add(&r->left_out_text, text, n);
    buf_add(&r->left_out_text, "", 1);
    if (!result_status(r)) buf_add(&r->left_out, l, sizeof *l); /* added last, so that readers only see complete entries */
}

void result_span(struct result *r, const struct vad_span *v, const steno_vad_params *p)
{
    const steno_span span = { sizeof span, 0, v->t0_ms, v->t1_ms };
    buf_add(&r->spans, &span, sizeof span);
    if (!r->spans.err && p->on_span) p->on_span(p->user, &span);
}

/* Appends the next n bytes to the whole text. */
static void convert(struct result *r, size_t n)
{
    if (n) utf8_append_string(&r->whole, (const uint8_t *)r->bytes.p + r->n_converted, n);
    r->n_converted += n;
}

void result_finish(struct result *r, int *status, steno_error *e)
{
    convert(r, r->bytes.len - r->n_converted);
    if (!*status && result_status(r)) *status = err_nomem(e, r->bytes.len, "the text");
}

int result_segment(const struct result *r, int i, steno_segment *out)
{
    if (i < 0 || i >= result_segments(r) || !out || out->size < sizeof(uint32_t)) return STENO_EARG;
    const struct segment *g = (const struct segment *)(const void *)r->segments.p + i;
    steno_segment seg = { .id = i, .n_tokens = g->n_tokens, .seek_frames = g->seek_frames, .t0_ms = g->t0_ms, .t1_ms = g->t1_ms,
                          .text = r->text.p + g->text, .temperature = g->temperature, .avg_logprob = g->avg_logprob,
                          .compression_ratio = g->compression_ratio, .no_speech_prob = g->no_speech_prob, .flags = g->flags,
                          .attempt = g->attempt, .language = g->tags.language, .emotion = g->tags.emotion,
                          .event = g->tags.event, .itn = g->tags.itn, .start = g->start, .end = g->end, .n_words = g->n_words,
                          .speaker_turn = g->speaker_turn, .word_source = g->word_source };
    if (g->n_tokens) seg.tokens = (const int32_t *)(const void *)r->ids.p + g->first_token;
    seg.size = out->size < sizeof seg ? out->size : (uint32_t)sizeof seg;
    memcpy(out, &seg, seg.size);
    return STENO_OK;
}

void result_convert(struct result *r)
{
    const size_t left = r->bytes.len - r->n_converted;
    if (left && !r->is_remade) convert(r, utf8_complete((const uint8_t *)r->bytes.p + r->n_converted, left));
}

void result_report(struct result *r, void (*on_segment)(void *user, const steno_segment *segment), void *user)
{
    steno_segment seg = { .size = sizeof seg };
    if (on_segment) result_convert(r);
    if (on_segment && !result_segment(r, result_segments(r) - 1, &seg)) on_segment(user, &seg);
}
