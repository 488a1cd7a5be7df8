/* steno: a chain of windows. SPDX-License-Identifier: MIT
 *
 * Windows of 30 s slide over the audio. Each begins where the last complete segment of the previous one ended. The text of earlier windows
 * conditions the next. Reference: openai-whisper 20250625, whisper/transcribe.py. */
#include <math.h>
#include <string.h>
#include "task/ar/window_decoder.h"
#include "task/ar/prompt.h"
#include "task/ar/request.h"
#include "task/ar/draft_windows.h"
#include "task/ar/attempt.h"
#include "task/ar/logits_processors.h"
#include "task/ar/text_checks.h"
#include "task/ar/verify.h"
#include "task/ar/window_language.h"
#include "task/window/window.h"
#include "task/words/token_times.h"

/* ---- set-up ---- */

static size_t window_floats(const steno_model *m)
{
    return 2 * (size_t)m->audio_ctx * (size_t)mel_bank_of(m)->n_mels;
}

static void buffers_take(struct window_decoder *w, struct arena_take *t, const steno_model *m, int own)
{
    const size_t ctx = (size_t)m->text_ctx;
    w->prompt = arena_take(t, ctx, sizeof *w->prompt);
    w->history = arena_take(t, 2 * ctx, sizeof *w->history);
    w->prefix = arena_take(t, ctx, sizeof *w->prefix);
    w->ids = arena_take(t, ctx, sizeof *w->ids);
    w->token_segments = arena_take(t, ctx + 1, sizeof *w->token_segments);
    w->drafts = arena_take(t, ctx + 1, sizeof *w->drafts);
    w->mute = arena_take(t, ctx + 1, sizeof *w->mute);
    w->mt19937 = arena_take(t, RUN_BEAMS, sizeof *w->mt19937);
    w->ar.beams.best = arena_take(t, ctx, sizeof *w->ar.beams.best);
    w->level = arena_take(t, 2 * (size_t)m->audio_ctx, sizeof *w->level);
    if (own) w->mel = arena_take(t, window_floats(m), sizeof *w->mel);
    if (!m->exact) return;
    w->heard = arena_take(t, window_floats(m), sizeof *w->heard);
    w->first = arena_take(t, ctx, sizeof *w->first);
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
    buf_free(&w->found);
    words_free(&w->words);
}

static void clip_begin(struct window_decoder *w, int clip)
{
    const struct clip *c = &request_clips(w->request)[clip];
    w->clip = clip;
    w->seek = c->from;
    w->end = c->to;
}

/* Resets all state that depends on earlier clips. */
static int clip_forget(struct window_decoder *w)
{
    w->last_speech = w->request->p.independent_clips || w->request->p.chunk_ms ? (double)w->seek / 100 : 0;
    return prompt_begin(w);
}

/* Computes the clip's log-mel once for all its windows, because the audio source moves on to the next clip. */
static int clip_hear(struct window_decoder *w)
{
    steno_session *s = w->s;
    if (!w->own || w->is_heard || w->request->stopped) return STENO_OK;
    const int rc = mel_stream_window(mel_of(s), w->seek, (int)(w->end - w->seek), 0, w->mel, &s->error);
    w->is_heard = !rc;
    return rc;
}

int decoder_begin(struct window_decoder *w, steno_session *s, int task, int clip)
{
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
    for (uint32_t i = 0; i < RUN_BEAMS; i++) mt19937_seed(&w->mt19937[i], i);
    w->step = (steno_step){ .size = sizeof w->step, .n_vocab = s->model->n_vocab };
    if (w->state == DECODER_IDLE) return STENO_OK;
    clip_begin(w, clip);
    w->mel_from = w->seek;
    w->mel_clip = clip;
    w->is_heard = w->is_told = 0;
    return clip_forget(w);
}

/* ---- a window's segments ---- */

enum { BARE_FRAMES = 500 }; /* with whisper.cpp's rules, windows this close to the end get no previous text */
static void words_keep(struct window_decoder *w, const struct draft *d, struct segment *g)
{
    struct result *r = w->result;
    g->first_word = r->words.len / sizeof(struct word);
    g->n_words = d->n_words;
    g->word_source = d->n_words ? "dtw" : NULL;
    for (int32_t i = 0; i < d->n_words; i++) {
        struct word v = ((const struct word *)(const void *)w->words.word.p)[d->first_word + i];
        const char *text = w->words.text.p + v.text;
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
    const int32_t *jump = (const int32_t *)(const void *)w->words.jump.p;
    const size_t n = w->words.jump.len / sizeof *jump;
    size_t k = 0;
    for (const struct draft *e = w->drafts; e < d; e++)
        for (int32_t i = e->first; i < e->first + e->n; i++) k += (size_t)is_text(w, w->ids[i]);
    for (int32_t i = 0; i < g->n_tokens && k + 1 < n; i++) { /* the last one is end-of-text */
        if (!is_text(w, w->ids[d->first + i])) continue;
        const int64_t t = w->seek * 10 + (int64_t)jump[k++] * 20;
        out[i].dtw = t < g->t0_ms ? g->t0_ms : t > g->t1_ms ? g->t1_ms : t;
    }
}

/* Times of the segment's tokens, from the timestamp probabilities of each choice and from the alignment. */
static void token_times_keep(struct window_decoder *w, const struct draft *d, const struct segment *g)
{
    const steno_transcribe_params *q = &w->request->p;
    const steno_model *m = w->s->model;
    struct buf *times = &w->result->times;
    const struct sampled_token *p = w->s->batch->sampled + (size_t)w->lane * (size_t)m->text_ctx + d->first;
    const struct token_span span = { w->seek * 10, g->t0_ms, g->t1_ms };
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
    steno_session *s = w->s;
    const struct request *c = w->request;
    struct result *r = w->result;
    struct segment g = { .seek_frames = w->seek, .start = d->start, .end = d->end, .t0_ms = ms_of(d->start), .t1_ms = ms_of(d->end),
                         .text = r->text.len, .first_token = r->ids.len / sizeof(int32_t), .n_tokens = d->n,
                         .temperature = w->kept.temperature, .avg_logprob = w->kept.avg_logprob, .compression_ratio = w->kept.ratio,
                         .no_speech_prob = w->kept.no_speech_prob, .attempt = w->kept.index, .tags.language = window_language_seen(w) };
    if (c->p.guards != STENO_GUARDS_OFF) {
        if (w->mute[d - w->drafts] && !is_forced(c)) {
            leave_out(w, g.t0_ms, g.t1_ms, w->ids + d->first, d->n, 0);
            return result_status(r) ? err_nomem(&s->error, r->left_out_text.len, "results") : STENO_OK;
        }
        g.flags = w->kept.flags | (w->mute[d - w->drafts] ? STENO_FLAG_NO_SPEECH : 0u);
    }
    const int32_t *ids = w->ids + d->first;
    text_of(w, ids, d->n, s->model->tokens.n_text);
    const char *text = w->text.p ? w->text.p : "";
    size_t n = w->text.len;
    text_strip(&text, &n);
    const int nothing = !n || (d->start == d->end && !is_loose(w));
    const int empty = is_forced(c) ? !w->text.len : nothing; /* the segment keeps its place and loses its tokens */
    if (empty) {
        g.n_tokens = 0;
        buf_clear(&w->text);
    }
    g.speaker_turn = has_turn(w, ids, g.n_tokens);
    buf_add(&r->text, w->text.p ? w->text.p : "", w->text.len + 1);
    buf_add(&r->ids, ids, (size_t)g.n_tokens * sizeof *ids);
    buf_add(&r->tokens, s->batch->sampled + (size_t)w->lane * (size_t)s->model->text_ctx + d->first,
            (size_t)g.n_tokens * sizeof(struct sampled_token));
    for (int32_t i = 0; i < g.n_tokens; i++)
        if (ids[i] < s->model->tokens.timestamp_begin && !is_turn(w, ids[i])) vocab_append(&s->model->vocab, ids[i], &r->bytes);
    if (!empty) words_keep(w, d, &g);
    token_times_keep(w, d, &g);
    if (w->bytes.err || w->text.err || result_status(r)) return err_nomem(&s->error, r->text.len, "results");
    buf_add(&r->segments, &g, sizeof g); /* added last, so that readers only see complete segments */
    if (result_status(r)) return err_nomem(&s->error, r->segments.len, "results");
    if (!is_loose(w)) history_add(w, ids, g.n_tokens);
    if (r == &s->result) result_tell(r, c->p.on_segment, c->p.user);
    return STENO_OK;
}

/* Clamps segments to the end of the audio in the window. A segment that begins after that end is moved before it with its length, but not
 * into the previous segment. The reference writes the times that the model chose. */
static void drafts_end_with_sound(struct window_decoder *w, int n)
{
    const double end = (double)(w->seek + w->frames) / 100;
    double before = (double)w->seek / 100;
    for (int i = 0; i < n; i++) {
        struct draft *d = &w->drafts[i];
        if (d->start >= end && d->end > d->start) d->start = fmax(before, end - (d->end - d->start));
        d->start = fmin(d->start, end);
        d->end = fmin(d->end, end);
        before = fmax(before, d->end);
        struct word *v = (struct word *)(void *)w->words.word.p;
        for (int32_t k = 0; k < d->n_words; k++) {
            v[d->first_word + k].start = fmin(v[d->first_word + k].start, end);
            v[d->first_word + k].end = fmin(v[d->first_word + k].end, end);
        }
    }
}

/* Converts token ranges of the window to segments with times in the file. The doubles equal those of the reference. */
static void drafts_make(struct window_decoder *w, int n)
{
    const double at = (double)w->seek / 100;
    for (int i = 0; i < n; i++) {
        const struct token_segment *p = &w->token_segments[i];
        w->drafts[i] = (struct draft){ .start = at + p->t0 * 0.02, .first = p->first, .n = p->n,
                                       .end = p->t1 < 0 ? at + w->frames / 100.0 : at + p->t1 * 0.02 };
        w->drafts[i].said = w->drafts[i].start;
        w->drafts[i].silent = w->drafts[i].end;
    }
}

/* Text after the last pair of timestamps becomes one more segment, up to the end of the window. If it would have no length, it is added to
 * the previous segment. @return the number of token_segments */
static int tail_keep(struct window_decoder *w, int n, const struct sentence *q)
{
    struct token_segment *last = &w->token_segments[n - 1];
    const int32_t from = last->first + last->n, t0 = w->ids[from] - w->s->model->tokens.timestamp_begin;
    if (2 * t0 >= w->frames) {
        last->n = q->n - last->first;
        return n;
    }
    w->token_segments[n] = (struct token_segment){ from, q->n - from, t0, -1 };
    return n + 1;
}

/* A sentence of a grammar is kept or dropped as a whole. It is dropped if all of it lies on silence. */
static int drafts_mute(const struct window_decoder *w, int n)
{
    int mute = 0;
    for (int i = 0; i < n; i++) mute += w->mute[i];
    return mute == n;
}

static int window_words(struct window_decoder *w, const struct sentence *sentence, int *n, int single_end, int64_t *seek)
{
    steno_session *s = w->s;
    const steno_transcribe_params *p = &w->request->p;
    int32_t head[PROMPT_PREFIX_MAX];
    int sot;
    struct speech_options q = w->options;
    q.without_timestamps = 0;
    const struct words_options want = { window_language(w), p->prepend_punctuations, p->append_punctuations,
                                        p->hallucination_silence_threshold };
    const int n_head = s->model->family->speech->prompt_prefix(s->model, &q, head, &sot);
    struct steno_batch *exact = verify_heard(w);
    const struct words_window at = { .b = exact ? exact : s->batch, .lane = exact ? 0 : w->lane, .seek = w->seek, .frames = w->frames,
                                     .full = 2 * window_ctx(w), .content_frames = mel_of(s)->frames, .head = head, .n_head = n_head,
                                     .ids = w->ids, .n = sentence->n, .single_end = single_end };
    const int before = *n;
    const int64_t next = *seek;
    struct window_drafts d = { w->drafts, *n, w->last_speech, *seek };
    int rc = words_time(&w->words, s, &want, &at, &d);
    *n = d.n;
    *seek = d.seek;
    w->last_speech = d.last_speech;
    if (rc || !*n || *n == before || !is_forced(w->request)) return rc;
    struct sentence left; /* what remains after dropping text around silence */
    const int32_t n_left = w->drafts[*n].first + 1 - w->n_held;
    rc = sentence_of(w, w->ids + w->n_held, n_left, &left);
    if (rc || (left.end == SENTENCE_AS_CUT && left.n == n_left)) return rc;
    *n = before;
    *seek = next;
    return rc;
}

/* With whisper.cpp's rules, the text of a failed window after its last timestamp is written but not used for conditioning. */
static int32_t remembered(const struct window_decoder *w, int32_t n)
{
    while (w->kept.is_bad && n && w->ids[n - 1] <= w->s->model->tokens.timestamp_begin) n--;
    return n;
}

/* Adds the window's segments and computes where the next window begins. */
static int window_finish(struct window_decoder *w)
{
    steno_session *s = w->s;
    const steno_transcribe_params *p = &w->request->p;
    int32_t advance = w->frames;
    int rc = STENO_OK;
    int64_t seek = w->seek + w->frames;
    /* with max_context 1 the prompt has only the start-of-previous token */
    const int was_read = w->kept.with_previous && !p->carry_initial_prompt && p->max_context != 1;
    if (is_loose(w) && !was_read) history_forget(w); /* earlier text that was not in the prompt is forgotten */
    if (!is_silence(w)) {
        const struct speech *speech = s->model->family->speech;
        struct sentence q;
        rc = sentence_of(w, w->ids, w->kept.n_tokens, &q);
        if (rc) return rc;
        rc = hypotheses_add(w);
        if (rc) return rc;
        w->n_held = begun_hold(w, q.n);
        q.n += w->n_held;
        int single_end, n = speech->tokens_to_segments(s->model, &w->options, w->ids, q.n, w->frames, w->token_segments, &advance,
                                                       &single_end);
        if (q.end == SENTENCE_NONE) n = 0;
        if (q.end == SENTENCE_UNCUT) {
            n = tail_keep(w, n, &q);
            advance = w->frames;
            single_end = 1;
        }
        seek = w->seek + advance;
        drafts_make(w, n);
        w->words.skipped = 0;
        if (p->word_timestamps) rc = window_words(w, &q, &n, single_end, &seek);
        /* Without timestamps the next window does not begin at the last word's end: the reference finds words in the rest of the window. */
        if (p->without_timestamps && p->guards != STENO_GUARDS_OFF && isnan(p->hallucination_silence_threshold)) seek = w->seek + advance;
        drafts_judge(w, n);
        if (!rc) rc = window_language_doubt(w);
        if (p->guards == STENO_GUARDS_RETRY && is_forced(w->request) && drafts_mute(w, n)) n = 0;
        if (p->guards != STENO_GUARDS_OFF) drafts_end_with_sound(w, n);
        for (int i = 0; i < n && !rc; i++) rc = segment_add(w, &w->drafts[i]);
        if (is_loose(w) && !rc) history_add(w, w->ids, remembered(w, q.n));
        /* A skipped window counts as not decoded: earlier text still conditions the next window. */
        const int unsure = !is_loose(w) && (w->kept.temperature > 0.5 || (keeps_best(w) && w->kept.failed));
        if (!w->words.skipped && (!p->condition_on_previous_text || unsure)) history_forget(w);
    }
    else {
        rc = window_language_doubt(w);
        if (!rc) leave_out(w, w->seek * 10, (w->seek + w->frames) * 10, w->ids, w->kept.n_tokens, 1);
    }
    if (!rc && result_status(w->result)) rc = err_nomem(&s->error, w->result->left_out_text.len, "results");
    w->seek = seek > w->seek ? seek : w->seek + w->frames; /* never the same window again */
    return rc;
}

/* ---- windows ---- */

/* Moves on to the next clip if this one is at its end, or to the end of the request. */
int decoder_go_on(struct window_decoder *w)
{
    steno_session *s = w->s;
    const struct request *c = w->request;
    w->state = DECODER_WINDOW;
    if (w->task == c->p.task || w->task == STENO_TRANSCRIBE) c->sink->progress(s, w->clip, w->seek);
    while (w->seek + (is_loose(w) ? CLIP_LAST_FRAMES : 0) >= w->end) {
        if (w->own || w->clip + 1 >= c->n_clips) {
            w->state = DECODER_IDLE;
            return w->own ? w->request->sink->clip_done(s, w) : STENO_OK;
        }
        clip_begin(w, w->clip + 1);
        const int rc = c->p.independent_clips || c->p.chunk_ms ? clip_forget(w) : STENO_OK;
        if (rc) return rc;
    }
    return STENO_OK;
}

/* Writes the window's log-mel to the input of the encoder. */
static int window_hear(struct window_decoder *w)
{
    steno_session *s = w->s;
    float *mel = window_mel(s);
    if (!w->own) return mel_stream_window(mel_of(s), w->seek, w->frames, is_loose(w), mel, &s->error);
    const size_t row = (size_t)mel_bank_of(s->model)->n_mels, n = (size_t)w->frames * row;
    memcpy(mel, w->mel + (size_t)(w->seek - w->mel_from) * row, n * sizeof *mel);
    memset(mel + n, 0, (window_floats(s->model) - n) * sizeof *mel);
    return STENO_OK;
}

int decoder_window(struct window_decoder *w, uint32_t at)
{
    steno_session *s = w->s;
    const steno_transcribe_params *p = &w->request->p;
    struct decode_slot *decode_slot = &ar_batch_of(s->batch)->decode_slot[at];
    int rc = clip_hear(w);
    if (rc) return rc;
    for (;;) {
        const int64_t left = w->end - w->seek;
        const int32_t max = 2 * window_ctx(w);
        const int asks = p->on_window && !w->is_told && !w->request->stopped;
        if (asks && !p->on_window(p->user, w->seek * 10)) { /* a normal end, also for the other windows of the request */
            w->request->next_clip = w->request->n_clips;
            w->request->stopped = 1;
        }
        if (w->request->stopped) {
            w->state = DECODER_IDLE;
            w->clip = w->request->n_clips;
            return w->own ? w->request->sink->clip_done(s, w) : STENO_OK;
        }
        w->is_told = 1;
        if (is_loose(w) && w->seek > w->request->begin && left <= BARE_FRAMES) prompt_forget(w);
        w->frames = left < max ? (int32_t)left : max;
        w->b = s->batch;
        w->decode_slot = at;
        const int again = decode_slot->audio == s && decode_slot->from == w->seek && decode_slot->frames == w->frames;
        const int has = again && decode_slot->is_drafted, drafts = !has && draft_windows_may_encode(w);
        rc = again && p->guards == STENO_GUARDS_OFF && !w->heard && !drafts ? STENO_OK : window_hear(w);
        if (rc) return rc;
        decode_slot->audio = NULL;
        w->is_told = 0;
        s->timings.n_windows++;
        queue_window(s);
        if (w->heard) memcpy(w->heard, window_mel(s), window_floats(s->model) * sizeof *w->heard);
        if (p->guards != STENO_GUARDS_OFF) window_levels(w, window_mel(s));
        if (p->guards == STENO_GUARDS_RETRY && window_steady(w, w->seek, w->seek + w->frames)) {
            w->seek += w->frames;
            rc = decoder_go_on(w);
            if (rc || w->state == DECODER_IDLE) return rc;
            continue;
        }
        const int takes = drafts && draft_windows_are_encoded(w);
        if (drafts && !takes) rc = draft_windows_encode(w, at);
        if (!rc && (!again || takes)) rc = window_encode(s, at, window_ctx(w));
        if (!rc && takes) rc = draft_windows_take(w, at);
        if (rc) return rc;
        decode_slot->is_drafted = drafts || (again && decode_slot->is_drafted);
        decode_slot->audio = s;
        decode_slot->from = w->seek;
        decode_slot->frames = w->frames;
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
    rc = window_finish(w);
    if (!rc && !w->own) rc = w->request->sink->window_done(w->s);
    return rc ? rc : decoder_go_on(w);
}
