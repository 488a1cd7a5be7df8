/* steno: one call that transcribes. SPDX-License-Identifier: MIT
 *
 * From parameters to clips to window decoders, and from what they leave to results. A call on a session of its own is a line of one in a
 * batch of
 * one window. Reference: openai-whisper 20250625, whisper/transcribe.py. */
#include <stddef.h>
#include <string.h>
#include "task/ar/ar_task.h"
#include "task/params.h"
#include "text/regex_ids.h"

struct clip_result *request_clip_results(const steno_session *s)
{
    return (struct clip_result *)(void *)s->request.parts.p;
}

/* ---- before the audio ---- */

/* Everything that can be refused before a sample is read. */
static int request_init(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    struct request *c = &s->request;
    const struct buf clips = c->clips, parts = c->parts;
    *c = (struct request){ .p = *p, .src = *src, .clips = clips, .parts = parts };
    s->params = &c->p;
    int rc = params_check(s, STENO_CALL_TRANSCRIBE, &c->p);
    if (rc) return rc;
    c->options = (struct speech_options){ p->task == STENO_TRANSLATE, p->without_timestamps != 0, p->suppress_blank != 0,
                                          p->max_initial_timestamp, p->suppress_tokens, -1, p->tinydiarize != 0 };
    rc = language_asked(s, c->p.language, &c->options.lang);
    if (!rc) rc = s->model->family->speech->rules(s->model, &c->options, &s->masks, &c->rules, &s->error);
    if (!rc && p->suppress_regex && *p->suppress_regex)
        rc = regex_ids(&s->model->vocab, s->model->tokens.n_text, p->suppress_regex, s->masks.always, s->masks.first, &s->error);
    if (!rc) rc = processors_open(s);
    c->rules.seed = p->seed;
    limits_init(c);
    return rc;
}

/* ---- the audio ---- */

static int language_choose(steno_session *s, uint32_t decode_slot)
{
    struct request *c = &s->request;
    if (!s->model->tokens.n_languages) {
        s->result.language = "en";
        return STENO_OK;
    }
    if (c->options.lang < 0) {
        const int lang = language_detect(s, decode_slot, c->p.language_detection_segments, c->p.language_detection_threshold, NULL, 0);
        if (lang < 0) return lang;
        c->options.lang = lang;
    }
    s->result.language = language_code(c->options.lang);
    return STENO_OK;
}

static int parts_make(steno_session *s)
{
    struct request *c = &s->request;
    const struct clip_result blank = { 0 };
    buf_clear(&c->parts);
    for (int i = 0; i < c->n_clips; i++) buf_add(&c->parts, &blank, sizeof blank);
    return c->parts.err ? err_nomem(&s->error, c->parts.len, "clips") : STENO_OK;
}

/* Without timestamps a window ends where it is cut off, whatever is said in it; and nothing of its text may reach the next. */
static int windows_foreseen(const steno_transcribe_params *p)
{
    return p->without_timestamps && !p->word_timestamps && !p->condition_on_previous_text &&
           (p->carry_initial_prompt || (!p->initial_prompt && !p->n_prompt_tokens));
}

int request_begin(steno_session *s, uint32_t decode_slot)
{
    struct request *c = &s->request;
    const int both = c->p.task == STENO_TRANSCRIBE_AND_TRANSLATE, many = s->batch->decoder && !both;
    for (uint32_t i = 0; i < s->batch->n_windows; i++) /* of a call before */
        if (s->batch->decode_slot[i].audio == s) s->batch->decode_slot[i].audio = NULL;
    s->mel_stream.want_levels = c->p.chunk_ms != 0;
    int rc = mel_stream_listen(&s->mel_stream, &c->src, &s->error);
    if (!rc && s->mel_stream.levels.err) rc = err_nomem(&s->error, s->mel_stream.levels.len, "levels of the audio");
    if (rc) return rc;
    c->state = REQUEST_LIVE;
    s->result.duration_ms = s->translation.duration_ms = s->mel_stream.samples / 16;
    rc = language_choose(s, decode_slot);
    s->translation.language = s->result.language;
    c->foreseen = many && windows_foreseen(&c->p);
    if (!rc) rc = request_clips_make(s);
    c->beside = many && c->n_clips > 1 && (c->p.independent_clips || c->p.chunk_ms || c->foreseen);
    if (!rc && c->beside) rc = parts_make(s);
    if (rc || c->beside) return rc;
    c->next_clip = c->n_clips;
    rc = decoder_begin(&s->decoder[0], s, both ? STENO_TRANSCRIBE : c->p.task, 0);
    if (!rc && both) rc = decoder_begin(&s->decoder[1], s, STENO_TRANSLATE, 0);
    if (!rc) request_progress(s, 0, c->begin);
    return rc;
}

void request_progress(const steno_session *s, int clip, int64_t at)
{
    const struct request *c = &s->request;
    if (!c->p.on_progress) return;
    int64_t done = c->done;
    const struct clip *k = request_clips(s);
    for (int i = 0; !c->beside && i < clip && i < c->n_clips; i++) done += k[i].to - k[i].from;
    if (!c->beside && clip < c->n_clips) done += (at < k[clip].to ? at : k[clip].to) - k[clip].from;
    c->p.on_progress(c->p.user, done * 10, c->all * 10);
}

static int parts_commit(steno_session *s)
{
    struct request *c = &s->request;
    struct result *r = &s->result;
    struct clip_result *part = request_clip_results(s);
    for (; c->committed < c->n_clips && part[c->committed].done; c->committed++) {
        const int before = (int)(r->segments.len / sizeof(struct segment));
        result_append(r, &part[c->committed].result);
        result_free(&part[c->committed].result);
        if (result_status(r)) return err_nomem(&s->error, r->text.len, "results");
        for (int i = before; c->p.on_segment && i < steno_segment_count(s); i++) {
            steno_segment seg = { .size = sizeof seg };
            steno_segment_get(s, i, &seg);
            c->p.on_segment(c->p.user, &seg);
        }
    }
    return STENO_OK;
}

int request_clip_done(steno_session *s, struct window_decoder *w)
{
    struct request *c = &s->request;
    const struct clip *clip = &request_clips(s)[w->mel_clip];
    request_clip_results(s)[w->mel_clip].done = 1;
    c->done += clip->to - clip->from;
    request_progress(s, 0, 0);
    return parts_commit(s);
}

int request_ended(const steno_session *s)
{
    const struct request *c = &s->request;
    const struct steno_batch *b = s->batch;
    if (c->next_clip < c->n_clips) return 0;
    for (int i = 0; i < 2; i++)
        if (s->decoder[i].s == s && s->decoder[i].state != DECODER_IDLE) return 0;
    for (uint32_t i = 0; b->decoder && i < b->n_windows; i++)
        if (b->decoder[i].s == s && b->decoder[i].state != DECODER_IDLE) return 0;
    return 1;
}

static void result_finish(steno_session *s, struct result *r, int *rc)
{
    utf8_append(&r->whole, (const uint8_t *)r->bytes.p, r->bytes.len);
    if (!*rc && result_status(r)) *rc = err_nomem(&s->error, r->bytes.len, "the text");
}

void request_end(steno_session *s, int status)
{
    struct request *c = &s->request;
    struct steno_batch *b = s->batch;
    for (int i = 0; i < 2; i++) s->decoder[i].state = DECODER_IDLE;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        if (b->decoder && b->decoder[i].s == s) b->decoder[i].state = DECODER_IDLE;
        if (b->decode_slot[i].user && b->decode_slot[i].user->s == s) b->decode_slot[i].user = NULL;
        if (b->decode_slot[i].audio == s) b->decode_slot[i].audio = NULL;
    }
    if (b->exact && b->exact->decode_slot->audio == s) b->exact->decode_slot->audio = NULL;
    struct clip_result *part = request_clip_results(s);
    for (size_t i = 0; i < c->parts.len / sizeof *part; i++) result_free(&part[i].result);
    buf_clear(&c->parts);
    if (!status && c->state == REQUEST_LIVE && !c->stopped) request_progress(s, c->n_clips, 0);
    result_finish(s, &s->result, &status);
    result_finish(s, &s->translation, &status);
    processors_close(c);
    s->params = NULL;
    c->state = REQUEST_NONE;
    c->status = status;
}

/* ---- calls ---- */

/* The parameters in full, or why not. */
static int take_params(steno_session *s, steno_transcribe_params *own, const steno_source *src, const steno_transcribe_params *p)
{
    if (!src || !src->read) return err_set(&s->error, STENO_EARG, "the audio source has no read function");
    if (s->model->family->search == SEARCH_VAD)
        return err_set(&s->error, STENO_EARG, "a %s model does not transcribe", s->model->family->name);
    steno_transcribe_params_init(own); /* changes during the call have no effect */
    if (params_take(own, p, sizeof *own, offsetof(steno_transcribe_params, temperature_increment_on_fallback)))
        return err_set(&s->error, STENO_EARG, "steno_transcribe_params was not filled by its init function");
    return STENO_OK;
}

/* Put a request in line; direct: its caller waits for it. */
static int request_add(steno_session *s, const steno_source *src, const steno_transcribe_params *p, int priority, int direct)
{
    steno_transcribe_params own;
    int rc = take_params(s, &own, src, p);
    if (!rc && s->model->family->search != SEARCH_AR)
        rc = err_set(&s->error, STENO_EARG, "a %s model does not decode in batches", s->model->family->name);
    if (!rc) rc = request_init(s, src, &own);
    if (rc) {
        processors_close(&s->request);
        s->params = NULL;
        return rc;
    }
    s->request.state = REQUEST_WAITING;
    s->request.direct = direct;
    queue_push(s, priority);
    return STENO_OK;
}

void steno_request_params_fill(steno_request_params *p, uint32_t size)
{
    const steno_request_params own = { .priority = STENO_PRIORITY_AUTO };
    params_give(p, size, &own, sizeof own);
}

static int submit(steno_session *s, const steno_source *src, const steno_request_params *theirs)
{
    steno_request_params r;
    steno_request_params_init(&r);
    if (params_take(&r, theirs, sizeof r, offsetof(steno_request_params, transcribe) + sizeof r.transcribe))
        return err_set(&s->error, STENO_EARG, "steno_request_params was not filled by steno_request_params_init");
    if (r.priority < STENO_PRIORITY_AUTO || r.priority > STENO_PRIORITY_LATER)
        return err_set(&s->error, STENO_EARG, "priority is %d, want 0..%d, or -1 for that of its windows", (int)r.priority,
                       STENO_PRIORITY_LATER);
    return request_add(s, src, r.transcribe, r.priority, 0);
}

int steno_batch_submit(steno_batch *b, steno_session *s, const steno_source *src, const steno_request_params *r)
{
    if (!b || !s) return STENO_EARG;
    if (s->batch != b) return err_set(&s->error, STENO_EARG, "the session was not opened with this batch");
    const int rc = queue_may_take(s);
    if (rc) return rc;
    session_forget(s);
    return submit(s, src, r);
}

int steno_batch_add(steno_batch *b, steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    steno_request_params r;
    steno_request_params_init(&r);
    r.transcribe = p;
    return steno_batch_submit(b, s, src, &r);
}

static int ctc_call(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    steno_transcribe_params own;
    int rc = take_params(s, &own, src, p);
    if (rc) return rc;
    s->params = &own;
    rc = ctc_transcribe(s, src, &own);
    result_finish(s, &s->result, &rc);
    return rc;
}

/* A call of its own is a line of one, before those that wait. */
static int direct_call(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    const int rc = request_add(s, src, p, STENO_PRIORITY_AUTO, 1);
    if (rc) return rc;
    batch_carry_out(s->batch);
    return s->request.status;
}

int steno_transcribe_source(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, (s->model->family->search == SEARCH_AR ? direct_call : ctc_call)(s, src, p));
}

int steno_transcribe(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p)
{
    if (n < 0 || (n && !pcm)) {
        const int rc = call_enter(s);
        if (rc) return rc;
        session_begin(s);
        return call_leave(s, err_set(&s->error, STENO_EARG, "%lld samples at no address, or fewer than none", (long long)n));
    }
    struct pcm memory = { pcm, n, 0, 0 };
    const steno_source src = pcm_source(&memory);
    return steno_transcribe_source(s, &src, p);
}

static int detect(steno_session *s, const steno_source *src, float *probs, int n)
{
    if (!src || !src->read) return err_set(&s->error, STENO_EARG, "the audio source has no read function");
    if (n < 0) return err_set(&s->error, STENO_EARG, "room for %d probabilities", n);
    if (!s->model->family->speech)
        return err_set(&s->error, STENO_EARG, "a %s model does not tell languages apart this way", s->model->family->name);
    int rc = mel_stream_listen(&s->mel_stream, src, &s->error);
    if (!rc) rc = language_detect(s, 0, 1, 1, probs, n);
    if (rc >= 0) s->result.language = language_code(rc);
    return rc;
}

int steno_detect_language(steno_session *s, const steno_source *src, float *probs, int n)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, detect(s, src, probs, n));
}
