/* steno: the prompt of a window, and texts that begin with a prefix. SPDX-License-Identifier: MIT
 *
 * [start of previous, initial prompt, earlier text,] start of transcript, language, task(, no timestamps)(, 0.00)(, prefix). At most half
 * the context minus one tokens of earlier text are used, so only these are stored, together with their total number. Reference:
 * openai-whisper 20250625, whisper/transcribe.py (carried prompts), whisper/decoding.py (the cut).
 *
 * The reference requires a timestamp right after the prefix. Most models then end the text, because their training data has no timestamp in
 * that place. So 0.00 is placed before the prefix, as in training and in faster-whisper. STENO_GUARDS_OFF selects the behaviour of the
 * reference. Decoding continues after the prefix, and the window's text includes the prefix. */
#include "task/ar/prompt.h"
#include <string.h>
#include "task/ar/decoding_rules.h"

/* ---- texts that begin with a prefix ------------------------------------------------------------------------------------------- */

static int is_held(const struct window_decoder *w)
{
    return w->context.n_prefix > 0 && w->request->p.guards != STENO_GUARDS_OFF && rules_of(w)->holds_prefix;
}

int is_begun(const struct window_decoder *w)
{
    return is_held(w) && !w->options.without_timestamps;
}

void begun_advance(struct window_decoder *w, int32_t n, int32_t *advance, int *single_end)
{
    struct decoder_attempts *attempts = &w->attempts;
    enum { BEFORE = 2 }; /* the timestamp and one token of the prefix are enough */
    const steno_model *m = w->s->model;
    const int32_t before = is_begun(w) ? BEFORE : 0;
    if (before) {
        memmove(attempts->ids + before, attempts->ids, (size_t)n * sizeof *attempts->ids);
        attempts->ids[0] = m->tokens.timestamp_begin;
        attempts->ids[1] = w->context.prefix[0];
    }
    m->family->speech->tokens_to_segments(m, &w->options, attempts->ids, n + before, w->window.frames, w->window.token_segments, advance,
                                          single_end);
    if (before) memmove(attempts->ids, attempts->ids + before, (size_t)n * sizeof *attempts->ids);
}

int32_t begun_hold(struct window_decoder *w, int32_t n)
{
    struct decoder_attempts *attempts = &w->attempts;
    const steno_model *m = w->s->model;
    const int32_t time = is_begun(w), before = is_held(w) ? time + w->context.n_prefix : 0;
    struct sampled_token *token = w->s->batch->sampled + (size_t)attempts->lane * (size_t)m->text_ctx;
    if (!before) return 0;
    memmove(attempts->ids + before, attempts->ids, (size_t)n * sizeof *attempts->ids);
    memmove(token + before, token, (size_t)n * sizeof *token);
    for (int32_t i = 0; i < before; i++) {
        attempts->ids[i] = i < time ? m->tokens.timestamp_begin : w->context.prefix[i - time];
        token[i] = (struct sampled_token){ .id = attempts->ids[i], .ts_id = i < time ? attempts->ids[i] : -1, .p = 1 };
    }
    return before;
}

/* ---- the prompt --------------------------------------------------------------------------------------------------------------- */

static int32_t max_of(const struct window_decoder *w)
{
    const int32_t half = w->s->model->text_ctx / 2 - 1, asked = w->request->p.max_context;
    const int32_t max = asked > 0 ? asked - rules_of(w)->context_marks : asked;
    return max >= 0 && max < half ? max : half;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void history_forget(struct decoder_context *context)
{
    context->n_history = 0;
    context->n_past = 0;
}

void prompt_forget(struct decoder_context *context)
{
    history_forget(context);
    context->n_carried = 0;
}

void history_add(struct window_decoder *w, const int32_t *ids, int32_t n)
{
    struct decoder_context *context = &w->context;
    const int32_t cap = w->s->model->text_ctx;
    context->n_past += n;
    if (n > cap) ids += n - cap, n = cap;
    const int32_t drop = context->n_history + n - cap;
    if (drop > 0) {
        memmove(context->history, context->history + drop, (size_t)(context->n_history - drop) * sizeof *context->history);
        context->n_history -= drop;
    }
    if (n) memcpy(context->history + context->n_history, ids, (size_t)n * sizeof *ids);
    context->n_history += n;
}

/* The stored end of a carried prompt follows the history in memory. */
static int32_t *carried(const struct window_decoder *w)
{
    return w->context.history + w->s->model->text_ctx;
}

static void prompt_set(struct window_decoder *w, const int32_t *ids, int32_t n)
{
    if (!w->request->p.carry_initial_prompt) {
        history_add(w, ids, n);
        return;
    }
    const int32_t held = (int32_t)min64(n, max_of(w));
    w->context.n_carried = n;
    if (held > 0) memcpy(carried(w), ids + (n - held), (size_t)held * sizeof *ids);
}

/* The reference cuts a prefix only if sample_len leaves less than half the context for it: [-(half - sample_len):]. In Python that selects
 * the whole prefix if the number is 0. */
static int prefix_set(struct window_decoder *w, const int32_t *ids, int32_t n)
{
    struct decoder_context *context = &w->context;
    const int32_t half = w->s->model->text_ctx / 2, len = w->request->p.sample_len, room = half - (len ? len : half);
    const int32_t cut = room > 0 && n > room ? n - room : room < 0 ? (-room < n ? -room : n) : 0;
    if (n - cut > half - PROMPT_PREFIX_MAX)
        return err_set(&w->s->error, STENO_EARG, "the prefix is %d tokens long; at most %d fit", (int)(n - cut),
                       (int)(half - PROMPT_PREFIX_MAX));
    context->n_prefix = n - cut;
    if (context->n_prefix) memcpy(context->prefix, ids + cut, (size_t)context->n_prefix * sizeof *ids);
    return STENO_OK;
}

int prompt_begin(struct window_decoder *w)
{
    steno_session *s = w->s;
    const steno_transcribe_params *p = &request_of(s)->p;
    struct buf ids = { 0 };
    history_forget(&w->context);
    w->context.n_carried = 0;
    w->context.n_prefix = 0;
    if (p->n_prompt_tokens) prompt_set(w, p->prompt_tokens, p->n_prompt_tokens);
    int rc = p->initial_prompt ? rules_of(w)->prompt_encode(s, p->initial_prompt, &ids) : STENO_OK;
    if (!rc && p->initial_prompt) prompt_set(w, (const int32_t *)(const void *)ids.p, (int32_t)(ids.len / sizeof(int32_t)));
    if (!rc && p->n_prefix_tokens) rc = prefix_set(w, p->prefix_tokens, p->n_prefix_tokens);
    if (!rc && p->prefix && *p->prefix) {
        buf_clear(&ids);
        rc = rules_openai.prompt_encode(s, p->prefix, &ids); /* whisper.cpp has no prefixes */
        if (!rc) rc = prefix_set(w, (const int32_t *)(const void *)ids.p, (int32_t)(ids.len / sizeof(int32_t)));
    }
    buf_free(&ids);
    w->rules.begun = is_begun(w);
    return rc;
}

/* Number of tokens of earlier text after a carried prompt, for which `max` minus its tokens have room. */
static int32_t past_after(const struct window_decoder *w, int32_t max)
{
    const struct decoder_context *context = &w->context;
    const int64_t past = rules_of(w)->context_past(context->n_past, max - context->n_carried);
    return (int32_t)(past < 0 ? 0 : min64(past, max));
}

/* Is the start-of-previous token all that max_context leaves? */
static int is_mark_alone(const struct window_decoder *w)
{
    const int32_t marks = rules_of(w)->context_marks;
    return marks && w->request->p.max_context == marks && w->context.n_past > 0;
}

int prompt_has_previous(const struct window_decoder *w)
{
    const int32_t max = max_of(w);
    return is_mark_alone(w) || (max > 0 && (past_after(w, max) > 0 || (rules_of(w)->carried_is_previous && w->context.n_carried > 0)));
}

int32_t prompt_make(struct window_decoder *w, int previous, int *sot)
{
    struct decoder_context *context = &w->context;
    const steno_model *m = w->s->model;
    const int32_t max = max_of(w), past = previous && max > 0 ? past_after(w, max) : 0;
    const int takes = max > 0 && (previous || !rules_of(w)->carried_is_previous);
    const int32_t held = takes ? (int32_t)min64(context->n_carried, max) : 0, first = (int32_t)min64(held, max - past);
    int32_t head[PROMPT_PREFIX_MAX], n = 0;
    const int n_head = m->family->speech->prompt_prefix(m, &w->options, head, sot);
    if (first + past > 0 || (previous && is_mark_alone(w))) {
        context->prompt[n++] = m->tokens.previous;
        memcpy(context->prompt + n, carried(w) + (held - first), (size_t)first * sizeof *context->prompt);
        n += first;
        memcpy(context->prompt + n, context->history + (context->n_history - past), (size_t)past * sizeof *context->prompt);
        n += past;
    }
    memcpy(context->prompt + n, head, (size_t)n_head * sizeof *head);
    *sot += n;
    n += n_head;
    if (is_begun(w)) context->prompt[n++] = m->tokens.timestamp_begin;
    memcpy(context->prompt + n, context->prefix, (size_t)context->n_prefix * sizeof *context->prefix);
    return n + context->n_prefix;
}
