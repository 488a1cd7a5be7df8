/* steno: a chain of windows. SPDX-License-Identifier: MIT
 *
 * Windows of 30 s slide over the audio. Each begins where the last complete segment of the previous one ended. The text of earlier windows
 * conditions the next. Reference: openai-whisper 20250625, whisper/transcribe.py. */
#include <math.h>
#include <string.h>
#include "task/ar/window_decoder.h"
#include "task/ar/attempt.h"
#include "task/ar/decoding_rules.h"
#include "task/ar/draft_text.h"
#include "task/ar/draft_windows.h"
#include "task/ar/logits_processors.h"
#include "task/ar/prompt.h"
#include "task/ar/request.h"
#include "task/ar/sound_checks.h"
#include "task/ar/verify.h"
#include "task/ar/window_language.h"
#include "task/ar/window_rows.h"
#include "task/window/window.h"
#include "task/words/token_times.h"

/* ---- set-up ---- */

static size_t window_floats(const steno_model *m)
{
    return 2 * (size_t)m->audio_ctx * (size_t)mel_bank_of(m)->n_mels;
}

static void buffers_take(struct window_decoder *w, struct arena_take *t, const steno_model *m, int own)
{
    struct decoder_context *context = &w->context;
    struct decoder_content *window = &w->window;
    struct decoder_attempts *attempts = &w->attempts;
    const size_t ctx = (size_t)m->text_ctx;
    context->prompt = arena_take(t, ctx, sizeof *context->prompt);
    context->history = arena_take(t, 2 * ctx, sizeof *context->history);
    context->prefix = arena_take(t, ctx, sizeof *context->prefix);
    attempts->ids = arena_take(t, ctx, sizeof *attempts->ids);
    window->token_segments = arena_take(t, ctx + 1, sizeof *window->token_segments);
    window->drafts = arena_take(t, ctx + 1, sizeof *window->drafts);
    window->mute = arena_take(t, ctx + 1, sizeof *window->mute);
    attempts->mt19937 = arena_take(t, RUN_BEAMS, sizeof *attempts->mt19937);
    attempts->ar.beams.best = arena_take(t, ctx, sizeof *attempts->ar.beams.best);
    window->level = arena_take(t, 2 * (size_t)m->audio_ctx, sizeof *window->level);
    if (!own) attempts->text = arena_take(t, 2 * ctx, sizeof *attempts->text);
    if (own) w->position.mel = arena_take(t, window_floats(m), sizeof *w->position.mel);
    if (!m->exact) return;
    window->mel_copy = arena_take(t, window_floats(m), sizeof *window->mel_copy);
    attempts->first = arena_take(t, ctx, sizeof *attempts->first);
}

size_t decoder_memory(const steno_model *m, int own)
{
    struct window_decoder w;
    struct arena_take t = { 0 };
    buffers_take(&w, &t, m, own);
    return t.sz;
}

int decoder_init(struct window_decoder *w, struct arena *a, const steno_model *m, int own)
{
    struct arena_take t = { .a = a };
    w->own = own;
    buffers_take(w, &t, m, own);
    return t.failed ? -1 : 0;
}

void decoder_free(struct window_decoder *w)
{
    buf_free(&w->bytes);
    buf_free(&w->text);
    buf_free(&w->attempts.found);
    words_free(&w->window.words);
}

static void clip_begin(struct window_decoder *w, int clip)
{
    struct decoder_position *position = &w->position;
    const struct clip *c = &request_clips(w->request)[clip];
    position->clip = clip;
    position->seek = c->from;
    position->end = c->to;
}

/* Resets all state that depends on earlier clips. */
static int clip_forget(struct window_decoder *w)
{
    w->position.last_speech = w->request->p.independent_clips || w->request->p.chunk_ms ? (double)w->position.seek / 100 : 0;
    return prompt_begin(w);
}

/* Computes the clip's log-mel once for all its windows, because the audio source moves on to the next clip. */
static int clip_mel_read(struct window_decoder *w)
{
    struct decoder_position *position = &w->position;
    steno_session *s = w->s;
    if (!w->own || position->is_read || w->request->stopped) return STENO_OK;
    const int rc = mel_stream_window(mel_of(s), position->seek, (int)(position->end - position->seek), 0, position->mel, &s->error);
    position->is_read = !rc;
    return rc;
}

int decoder_begin(struct window_decoder *w, steno_session *s, int task, int clip)
{
    struct decoder_position *position = &w->position;
    struct decoder_attempts *attempts = &w->attempts;
    struct request *c = request_of(s);
    w->s = s;
    w->request = c;
    w->task = task;
    const int second = task == STENO_TRANSLATE && c->p.task != STENO_TRANSLATE;
    w->result = w->own ? &request_clip_results(c)[clip].result : second ? &s->translation : &s->result;
    w->options = c->options;
    w->options.translate = task == STENO_TRANSLATE;
    w->rules = c->rules;
    if (s->batch->draft) w->speculation = speculation_begin(s->model, s->batch->draft->model, PLAN_DECODER);
    w->state = clip < c->n_clips ? DECODER_WINDOW : DECODER_IDLE;
    for (uint32_t i = 0; i < RUN_BEAMS; i++) mt19937_seed(&attempts->mt19937[i], i);
    attempts->step = (steno_step){ .size = sizeof attempts->step, .n_vocab = s->model->n_vocab };
    if (w->state == DECODER_IDLE) return STENO_OK;
    clip_begin(w, clip);
    position->mel_from = position->seek;
    position->mel_clip = clip;
    position->is_read = position->is_reported = 0;
    return clip_forget(w);
}

/* ---- a window's segments ---- */

static void words_keep(struct window_decoder *w, const struct draft *d, struct segment *g)
{
    struct result *r = w->result;
    g->first_word = r->words.len / sizeof(struct word);
    g->n_words = d->n_words;
    g->word_source = d->n_words ? "dtw" : NULL;
    for (int32_t i = 0; i < d->n_words; i++) {
        struct word v = ((const struct word *)(const void *)w->window.words.word.p)[d->first_word + i];
        const char *text = w->window.words.text.p + v.text;
        v.text = r->text.len;
        buf_add(&r->text, text, strlen(text) + 1);
        buf_add(&r->words, &v, sizeof v);
    }
}

static int is_text(const struct window_decoder *w, int32_t id)
{
    return id < w->s->model->tokens.n_text;
}

/* Start of each token of the segment according to the alignment, clamped to the segment. */
static void aligned_times(const struct window_decoder *w, struct token_time *out, const struct draft *d, const struct segment *g)
{
    const struct decoder_content *window = &w->window;
    const int32_t *jump = (const int32_t *)(const void *)window->words.jump.p;
    const size_t n = window->words.jump.len / sizeof *jump;
    size_t k = 0;
    for (const struct draft *e = window->drafts; e < d; e++)
        for (int32_t i = e->first; i < e->first + e->n; i++) k += (size_t)is_text(w, w->attempts.ids[i]);
    for (int32_t i = 0; i < g->n_tokens && k + 1 < n; i++) { /* the last one is end-of-text */
        if (!is_text(w, w->attempts.ids[d->first + i])) continue;
        const int64_t t = w->position.seek * 10 + (int64_t)jump[k++] * 20;
        out[i].dtw = t < g->t0_ms ? g->t0_ms : t > g->t1_ms ? g->t1_ms : t;
    }
}

/* Times of the segment's tokens, from the timestamp probabilities of each choice and from the alignment. */
static void token_times_keep(struct window_decoder *w, const struct draft *d, const struct segment *g)
{
    const steno_transcribe_params *q = &w->request->p;
    const steno_model *m = w->s->model;
    struct buf *times = &w->result->times;
    const struct sampled_token *p = w->s->batch->sampled + (size_t)w->attempts.lane * (size_t)m->text_ctx + d->first;
    const struct token_span span = { w->position.seek * 10, g->t0_ms, g->t1_ms };
    if (!q->token_timestamps && !q->word_timestamps) return;
    const size_t at = times->len;
    for (int32_t i = 0; i < g->n_tokens; i++) {
        const struct token_time none = { -1, -1, -1, 0, 0 };
        buf_add(times, &none, sizeof none);
    }
    if (times->err) return; /* result_status reports it */
    struct token_time *out = (struct token_time *)(void *)(times->p + at);
    if (q->token_timestamps) token_times(out, p, g->n_tokens, &m->vocab, &m->tokens, &span, q->token_threshold);
    if (q->word_timestamps) aligned_times(w, out, d, g);
}

/* A speaker turn is a marker, not text. */
static int is_turn(const struct window_decoder *w, int32_t id)
{
    return w->request->p.tinydiarize && id == w->s->model->tokens.turn;
}

static int has_turn(const struct window_decoder *w, const int32_t *ids, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (is_turn(w, ids[i])) return 1;
    return 0;
}

static int segment_add(struct window_decoder *w, const struct draft *d)
{
    struct decoder_content *window = &w->window;
    const struct attempt *kept = &w->attempts.kept;
    const struct decoding_rules *rules = rules_of(w);
    steno_session *s = w->s;
    const struct request *c = w->request;
    struct result *r = w->result;
    struct segment g = { .seek_frames = w->position.seek, .start = d->start, .end = d->end, .t0_ms = ms_of(d->start),
                         .t1_ms = ms_of(d->end), .text = r->text.len, .first_token = r->ids.len / sizeof(int32_t), .n_tokens = d->n,
                         .temperature = kept->temperature, .avg_logprob = kept->avg_logprob, .compression_ratio = kept->ratio,
                         .no_speech_prob = kept->no_speech_prob, .attempt = kept->index, .tags.language = window_language_seen(window) };
    if (c->p.guards != STENO_GUARDS_OFF) {
        if (window->mute[d - window->drafts] && !is_forced(c)) {
            leave_out(w, g.t0_ms, g.t1_ms, w->attempts.ids + d->first, d->n, 0);
            return result_status(r) ? err_nomem(&s->error, r->left_out_text.len, "results") : STENO_OK;
        }
        g.flags = w->attempts.kept.flags | (window->mute[d - window->drafts] ? STENO_FLAG_NO_SPEECH : 0u);
    }
    const int32_t *ids = w->attempts.ids + d->first;
    text_of(w, ids, d->n, s->model->tokens.n_text);
    const char *text = w->text.p ? w->text.p : "";
    size_t n = w->text.len;
    text_strip(&text, &n);
    const int nothing = !n || (d->start == d->end && rules->drops_instants);
    const int empty = is_forced(c) ? !w->text.len : nothing; /* the segment keeps its place and loses its tokens */
    if (empty) {
        g.n_tokens = 0;
        buf_clear(&w->text);
    }
    g.speaker_turn = has_turn(w, ids, g.n_tokens);
    buf_add(&r->text, w->text.p ? w->text.p : "", w->text.len + 1);
    buf_add(&r->ids, ids, (size_t)g.n_tokens * sizeof *ids);
    buf_add(&r->tokens, s->batch->sampled + (size_t)w->attempts.lane * (size_t)s->model->text_ctx + d->first,
            (size_t)g.n_tokens * sizeof(struct sampled_token));
    for (int32_t i = 0; i < g.n_tokens; i++)
        if (ids[i] < s->model->tokens.timestamp_begin && !is_turn(w, ids[i])) vocab_append(&s->model->vocab, ids[i], &r->bytes);
    if (!empty) words_keep(w, d, &g);
    token_times_keep(w, d, &g);
    if (w->bytes.err || w->text.err || result_status(r)) return err_nomem(&s->error, r->text.len, "results");
    buf_add(&r->segments, &g, sizeof g); /* added last, so that readers only see complete segments */
    if (result_status(r)) return err_nomem(&s->error, r->segments.len, "results");
    if (!rules->remembers_windows) history_add(w, ids, g.n_tokens);
    if (r == &s->result) result_report(r, c->p.on_segment, c->p.user);
    return STENO_OK;
}

/* Converts token ranges of the window to segments with times in the file. The doubles equal those of the reference. */
static void drafts_make(struct window_decoder *w, int n)
{
    struct decoder_content *window = &w->window;
    const double at = (double)w->position.seek / 100;
    for (int i = 0; i < n; i++) {
        const struct token_segment *p = &window->token_segments[i];
        window->drafts[i] = (struct draft){ .start = at + p->t0 * 0.02, .first = p->first, .n = p->n,
                                       .end = p->t1 < 0 ? at + window->frames / 100.0 : at + p->t1 * 0.02 };
        window->drafts[i].model_start = window->drafts[i].start;
        window->drafts[i].model_end = window->drafts[i].end;
    }
}

/* Text after the last pair of timestamps becomes one more segment, up to the end of the window. If it would have no length, it is added to
 * the previous segment. @return the number of token_segments */
static int tail_keep(struct window_decoder *w, int n, const struct sentence *q)
{
    struct decoder_content *window = &w->window;
    struct token_segment *last = &window->token_segments[n - 1];
    const int32_t from = last->first + last->n, t0 = w->attempts.ids[from] - w->s->model->tokens.timestamp_begin;
    if (2 * t0 >= window->frames) {
        last->n = q->n - last->first;
        return n;
    }
    window->token_segments[n] = (struct token_segment){ from, q->n - from, t0, -1 };
    return n + 1;
}

static int window_words(struct window_decoder *w, const struct sentence *sentence, int *n, int single_end, int64_t *seek)
{
    struct decoder_position *position = &w->position;
    struct decoder_content *window = &w->window;
    struct decoder_attempts *attempts = &w->attempts;
    steno_session *s = w->s;
    const steno_transcribe_params *p = &w->request->p;
    int32_t head[PROMPT_PREFIX_MAX];
    int sot;
    struct speech_options q = w->options;
    q.without_timestamps = 0;
    const struct words_options want = { window_language(w), p->prepend_punctuations, p->append_punctuations,
                                        p->hallucination_silence_threshold };
    const int n_head = s->model->family->speech->prompt_prefix(s->model, &q, head, &sot);
    struct steno_batch *exact = verify_encoded(w);
    const struct words_window at = { .b = exact ? exact : s->batch, .lane = exact ? 0 : attempts->lane, .seek = position->seek,
                                     .frames = window->frames, .full = 2 * window_ctx(w), .content_frames = mel_of(s)->frames,
                                     .head = head, .n_head = n_head,
                                     .ids = attempts->ids, .n = sentence->n, .single_end = single_end };
    const int before = *n;
    const int64_t next = *seek;
    struct window_drafts d = { window->drafts, *n, position->last_speech, *seek };
    int rc = words_time(&window->words, s, &want, &at, &d);
    *n = d.n;
    *seek = d.seek;
    position->last_speech = d.last_speech;
    if (rc || !*n || *n == before || !is_forced(w->request)) return rc;
    struct sentence left; /* what remains after dropping text around silence */
    const int32_t n_left = window->drafts[*n].first + 1 - window->n_held;
    rc = sentence_of(w, attempts->ids + window->n_held, n_left, &left);
    if (rc || (left.end == SENTENCE_AS_CUT && left.n == n_left)) return rc;
    *n = before;
    *seek = next;
    return rc;
}

/* With whisper.cpp's rules, the text of a failed window after its last timestamp is written but not used for conditioning. */
static int32_t remembered(const struct window_decoder *w, int32_t n)
{
    while (w->attempts.kept.is_bad && n && w->attempts.ids[n - 1] <= w->s->model->tokens.timestamp_begin) n--;
    return n;
}

/* Adds the window's segments and computes where the next window begins. */
static int window_finish(struct window_decoder *w)
{
    struct decoder_position *position = &w->position;
    struct decoder_content *window = &w->window;
    struct decoder_attempts *attempts = &w->attempts;
    const struct decoding_rules *rules = rules_of(w);
    steno_session *s = w->s;
    const steno_transcribe_params *p = &w->request->p;
    int32_t advance = window->frames;
    int rc = STENO_OK;
    int64_t seek = position->seek + window->frames;
    /* with max_context 1 the prompt has only the start-of-previous token */
    const int was_read = attempts->kept.with_previous && !p->carry_initial_prompt && p->max_context != 1;
    if (rules->forgets_unread && !was_read) history_forget(&w->context);
    if (!is_silence(w)) {
        const struct speech *speech = s->model->family->speech;
        struct sentence q;
        rc = sentence_of(w, attempts->ids, attempts->kept.n_tokens, &q);
        if (rc) return rc;
        rc = hypotheses_add(w);
        if (rc) return rc;
        window->n_held = begun_hold(w, q.n);
        q.n += window->n_held;
        int single_end, n = speech->tokens_to_segments(s->model, &w->options, attempts->ids, q.n, window->frames, window->token_segments,
                                                       &advance, &single_end);
        if (q.end == SENTENCE_NONE) n = 0;
        if (q.end == SENTENCE_UNCUT) {
            n = tail_keep(w, n, &q);
            advance = window->frames;
            single_end = 1;
        }
        seek = position->seek + advance;
        drafts_make(w, n);
        window->words.skipped = 0;
        if (p->word_timestamps) rc = window_words(w, &q, &n, single_end, &seek);
        /* Without timestamps the next window does not begin at the last word's end: the reference finds words in the rest of the window. */
        if (p->without_timestamps && p->guards != STENO_GUARDS_OFF && isnan(p->hallucination_silence_threshold))
            seek = position->seek + advance;
        drafts_judge(w, n);
        if (!rc) rc = window_language_doubt(w);
        if (p->guards == STENO_GUARDS_RETRY && is_forced(w->request) && drafts_mute(window, n)) n = 0;
        if (p->guards != STENO_GUARDS_OFF) drafts_end_with_sound(window, position->seek, n);
        for (int i = 0; i < n && !rc; i++) rc = segment_add(w, &window->drafts[i]);
        if (rules->remembers_windows && !rc) history_add(w, attempts->ids, remembered(w, q.n));
        /* A skipped window counts as not decoded: earlier text still conditions the next window. */
        const int hot = attempts->kept.temperature > p->prompt_reset_on_temperature;
        const int unsure = rules->forgets_unsure && (hot || (keeps_best(w) && attempts->kept.failed));
        if (!window->words.skipped && (!p->condition_on_previous_text || unsure)) history_forget(&w->context);
    }
    else {
        rc = window_language_doubt(w);
        if (!rc) leave_out(w, position->seek * 10, (position->seek + window->frames) * 10, attempts->ids, attempts->kept.n_tokens, 1);
    }
    if (!rc && result_status(w->result)) rc = err_nomem(&s->error, w->result->left_out_text.len, "results");
    position->seek = seek > position->seek ? seek : position->seek + window->frames; /* never the same window again */
    return rc;
}

/* ---- windows ---- */

/* Moves on to the next clip if this one is at its end, or to the end of the request. */
int decoder_go_on(struct window_decoder *w)
{
    struct decoder_position *position = &w->position;
    steno_session *s = w->s;
    const struct request *c = w->request;
    w->state = DECODER_WINDOW;
    if (w->task == c->p.task || w->task == STENO_TRANSCRIBE) c->sink->progress(s, position->clip, position->seek);
    while (position->seek + rules_of(w)->clip_last_frames >= position->end) {
        if (w->own || position->clip + 1 >= c->n_clips) {
            w->state = DECODER_IDLE;
            return w->own ? w->request->sink->clip_done(s, w) : STENO_OK;
        }
        clip_begin(w, position->clip + 1);
        const int rc = c->p.independent_clips || c->p.chunk_ms ? clip_forget(w) : STENO_OK;
        if (rc) return rc;
    }
    return STENO_OK;
}

/* Writes the window's log-mel to the input of the encoder. */
static int window_input(struct window_decoder *w)
{
    struct decoder_position *position = &w->position;
    steno_session *s = w->s;
    float *mel = window_mel(s);
    if (!w->own) return mel_stream_window(mel_of(s), position->seek, w->window.frames, rules_of(w)->mel_floor, mel, &s->error);
    const size_t row = (size_t)mel_bank_of(s->model)->n_mels, n = (size_t)w->window.frames * row;
    memcpy(mel, position->mel + (size_t)(position->seek - position->mel_from) * row, n * sizeof *mel);
    memset(mel + n, 0, (window_floats(s->model) - n) * sizeof *mel);
    return STENO_OK;
}

/* Encodes the window, also for the draft model, and passes its rows to on_rows. again: slot `at` has it already. */
static int window_read(struct window_decoder *w, uint32_t at, int again, int drafts)
{
    const int takes = drafts && draft_windows_are_encoded(w), due = window_rows_due(w);
    int rc = STENO_OK;
    if (due) window_features_pass(w);
    if (drafts && !takes) rc = draft_windows_encode(w, at);
    if (!rc && (!again || takes)) rc = window_encode(w->s, at, window_ctx(w));
    if (!rc && due) rc = window_encoded_pass(w);
    return rc || !takes ? rc : draft_windows_take(w, at);
}

int decoder_window(struct window_decoder *w, uint32_t at)
{
    struct decoder_position *position = &w->position;
    struct decoder_content *window = &w->window;
    steno_session *s = w->s;
    const steno_transcribe_params *p = &w->request->p;
    struct decode_slot *decode_slot = &ar_batch_of(s->batch)->decode_slot[at];
    int rc = clip_mel_read(w);
    if (rc) return rc;
    for (;;) {
        const int64_t left = position->end - position->seek;
        const int32_t max = 2 * window_ctx(w);
        const int asks = p->on_window && !position->is_reported && !w->request->stopped;
        if (asks && !p->on_window(p->user, position->seek * 10)) { /* a normal end, also for the other windows of the request */
            w->request->next_clip = w->request->n_clips;
            w->request->stopped = 1;
        }
        if (w->request->stopped) {
            w->state = DECODER_IDLE;
            position->clip = w->request->n_clips;
            return w->own ? w->request->sink->clip_done(s, w) : STENO_OK;
        }
        position->is_reported = 1;
        if (left <= rules_of(w)->context_frames && position->seek > w->request->begin) prompt_forget(&w->context);
        window->frames = left < max ? (int32_t)left : max;
        w->b = s->batch;
        w->decode_slot = at;
        const int is_same = decode_slot->audio == s && decode_slot->from == position->seek && decode_slot->frames == window->frames;
        const int again = is_same && !window_rows_due(w);
        const int has = again && decode_slot->is_drafted, drafts = !has && draft_windows_may_encode(w);
        rc = again && p->guards == STENO_GUARDS_OFF && !window->mel_copy && !drafts ? STENO_OK : window_input(w);
        if (rc) return rc;
        decode_slot->audio = NULL;
        position->is_reported = 0;
        s->timings.n_windows++;
        queue_window(s);
        if (window->mel_copy) memcpy(window->mel_copy, window_mel(s), window_floats(s->model) * sizeof *window->mel_copy);
        if (p->guards != STENO_GUARDS_OFF) window_levels(w, window_mel(s));
        if (p->guards == STENO_GUARDS_RETRY && window_steady(w, position->seek, position->seek + window->frames)) {
            position->seek += window->frames;
            rc = decoder_go_on(w);
            if (rc || w->state == DECODER_IDLE) return rc;
            continue;
        }
        rc = window_read(w, at, again, drafts);
        if (rc) return rc;
        decode_slot->is_drafted = drafts || (again && decode_slot->is_drafted);
        decode_slot->audio = s;
        decode_slot->from = position->seek;
        decode_slot->frames = window->frames;
        w->state = DECODER_DECODE;
        rc = window_language_choose(w, at);
        return rc ? rc : attempts_begin(w);
    }
}

int decoder_settle(struct window_decoder *w)
{
    int again = 0;
    int rc = attempt_settle(w, &again);
    if (rc || again) return rc;
    draft_text_keep(w);
    rc = window_finish(w);
    if (!rc && !w->own) rc = w->request->sink->window_done(w->s);
    return rc ? rc : decoder_go_on(w);
}
