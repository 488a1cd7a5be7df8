/* steno: a transcription request, decoded token by token. SPDX-License-Identifier: MIT
 *
 * Parameters become clips, clips are given to window decoders, and their segments become results. Reference: openai-whisper 20250625,
 * whisper/transcribe.py.
 *
 * A request decodes all of the audio, or a range (offset and duration), or clips that the caller lists, or chunks that are cut in quiet
 * places. Reference for listed clips: openai-whisper 20250625, transcribe.py, clip_timestamps. The reference loops forever on a clip that
 * extends past the end, so here clips end with the audio. */
#include "task/ar/request.h"
#include <math.h>
#include <string.h>
#include "audio/fbank_stream.h"
#include "engine/params.h"
#include "task/ar/decoding_rules.h"
#include "task/ar/logits_processors.h"
#include "task/ar/resume_point.h"
#include "task/ar/window_decoder.h"
#include "task/window/window.h"
#include "text/vocab.h"

/* ---- the clips of the audio --------------------------------------------------------------------------------------------------- */

/* Frame at the end of the audio. */
static int64_t audio_end(const steno_session *s)
{
    return rules_by(request_of(s)->p.decoding)->audio_end(mel_of(s));
}

static void clip_add(steno_session *s, int64_t from, int64_t to)
{
    struct request *c = request_of(s);
    const int64_t end = to < mel_of(s)->frames ? to : mel_of(s)->frames;
    if (from + rules_by(c->p.decoding)->clip_last_frames >= end) return;
    const struct clip clip = { from, end };
    buf_add(&c->clips, &clip, sizeof clip);
    if (c->clips.err) return;
    if (!c->n_clips++) c->begin = from;
    c->all += end - from;
}

/* Clips that decode in parallel are at most one window long. */
static void clip_add_windows(steno_session *s, int64_t from, int64_t to)
{
    const int64_t window = 2 * (int64_t)(request_of(s)->p.audio_ctx ? request_of(s)->p.audio_ctx : s->model->audio_ctx);
    const int64_t end = to < mel_of(s)->frames ? to : mel_of(s)->frames;
    for (int64_t at = from; at < end; at += window) clip_add(s, at, at + window < end ? at + window : end);
}

static void clip_named(steno_session *s, int64_t from, int64_t to)
{
    (request_of(s)->p.independent_clips || request_of(s)->windows_known ? clip_add_windows : clip_add)(s, from, to);
}

static void clips_named(steno_session *s)
{
    const steno_transcribe_params *p = &request_of(s)->p;
    for (int32_t i = 0; i < p->n_clip_timestamps; i += 2) {
        const int64_t from = (int64_t)nearbyint(p->clip_timestamps[i] * 100);
        const int64_t to = i + 1 < p->n_clip_timestamps ? (int64_t)nearbyint(p->clip_timestamps[i + 1] * 100) : audio_end(s);
        clip_named(s, from, to);
    }
}

static void clips_quiet(steno_session *s)
{
    const int64_t max = request_of(s)->p.chunk_ms / 10;
    const float *level = (const float *)(const void *)mel_of(s)->levels.p;
    for (int64_t at = 0; at < mel_of(s)->frames;) {
        const int64_t left = mel_of(s)->frames - at, to = at + (left <= max ? left : level_cut(level + at, left, max));
        clip_add(s, at, to);
        at = to;
    }
}

/* Builds the clips from clip_timestamps, offset_ms and duration_ms, or chunk_ms. */
static int request_clips_make(steno_session *s)
{
    struct request *c = request_of(s);
    const steno_transcribe_params *p = &c->p;
    const int64_t from = p->offset_ms / 10;
    buf_clear(&c->clips);
    c->n_clips = 0;
    c->begin = c->all = c->done = 0;
    if (p->chunk_ms) clips_quiet(s);
    else if (p->n_clip_timestamps) clips_named(s);
    else clip_named(s, from, p->duration_ms ? from + p->duration_ms / 10 : audio_end(s));
    return c->clips.err ? err_nomem(&s->error, c->clips.len, "clips") : STENO_OK;
}

/* ---- the request -------------------------------------------------------------------------------------------------------------- */

/* ---- reports of window decoders ---- */

static void progress(const steno_session *s, int clip, int64_t at)
{
    const struct request *c = request_of(s);
    if (!c->p.on_progress) return;
    int64_t done = c->done;
    const struct clip *k = request_clips(c);
    for (int i = 0; !c->parallel && i < clip && i < c->n_clips; i++) done += k[i].to - k[i].from;
    if (!c->parallel && clip < c->n_clips) done += (at < k[clip].to ? at : k[clip].to) - k[clip].from;
    c->p.on_progress(c->p.user, done * 10, c->all * 10);
}

static int parts_commit(steno_session *s)
{
    struct request *c = request_of(s);
    struct result *r = &s->result;
    struct clip_result *part = request_clip_results(request_of(s));
    for (; c->merged < c->n_clips && part[c->merged].done; c->merged++) {
        const int before = result_segments(r);
        result_append(r, &part[c->merged].result);
        result_free(&part[c->merged].result);
        if (result_status(r)) return err_nomem(&s->error, r->text.len, "results");
        if (c->p.on_segment) result_convert(r);
        for (int i = before; c->p.on_segment && i < result_segments(r); i++) {
            steno_segment seg = { .size = sizeof seg };
            result_segment(r, i, &seg);
            c->p.on_segment(c->p.user, &seg);
        }
    }
    return resume_point_record(s);
}

static int clip_done(steno_session *s, const struct window_decoder *w)
{
    struct request *c = request_of(s);
    const struct clip *clip = &request_clips(request_of(s))[w->position.mel_clip];
    request_clip_results(request_of(s))[w->position.mel_clip].done = 1;
    c->done += clip->to - clip->from;
    progress(s, 0, 0);
    return parts_commit(s);
}

static const struct decoder_sink sink = { progress, clip_done, resume_point_record };

/* ---- before the audio is read ---- */

static int lanes_check(steno_session *s, const steno_transcribe_params *p)
{
    const int lanes = (int)s->batch->n_lanes, many = p->beam_size > lanes ? p->beam_size : p->best_of;
    if (many <= lanes) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%s is %d, but the session was opened for %d sequences at a time (max_lanes)",
                   p->beam_size > lanes ? "beam_size" : "best_of", many, lanes);
}

static int drafts_are_there(steno_session *s, const steno_transcribe_params *p)
{
    if (p->draft_max <= 0 || s->batch->draft) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "draft_max is %d, but there is no draft model (draft_model)", (int)p->draft_max);
}

/* Masks the ids that match suppress_regex. By whisper.cpp's rules special ids match by their names. */
static int regex_mask(steno_session *s, const steno_transcribe_params *p)
{
    const steno_model *m = s->model;
    const struct token_roles *t = &m->tokens;
    const struct id_names names = { m->family->speech->special_name, t, t->n_text, t->n_vocab };
    if (!p->suppress_regex || !*p->suppress_regex) return STENO_OK;
    return regex_ids(&m->vocab, t->n_text, p->decoding == STENO_DECODING_GGML ? &names : NULL, p->suppress_regex, ar_of(s)->masks.always,
                     ar_of(s)->masks.first, &s->error);
}

/* Makes all checks that need no audio. */
static int request_init(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    struct request *c = request_of(s);
    const struct buf clips = c->clips, parts = c->parts, shown = c->shown;
    *c = (struct request){ .p = *p, .src = *src, .sink = &sink, .clips = clips, .parts = parts, .shown = shown };
    buf_clear(&c->shown);
    s->params = &c->p;
    s->asked_task = p->task;
    int rc = params_check(s, STENO_CALL_TRANSCRIBE, &c->p);
    if (!rc) rc = lanes_check(s, p);
    if (!rc) rc = drafts_are_there(s, p);
    if (rc) return rc;
    c->options = (struct speech_options){ p->task == STENO_TRANSLATE, p->without_timestamps != 0, p->suppress_blank != 0,
                                          p->max_initial_timestamp, p->suppress_tokens, -1, p->tinydiarize != 0, p->decoding };
    rc = language_asked(s, c->p.language, &c->options.lang);
    if (!rc) rc = s->model->family->speech->rules(s->model, &c->options, &ar_of(s)->masks, &c->rules, &s->error);
    if (!rc) rc = regex_mask(s, p);
    if (!rc) rc = processors_open(s);
    c->rules.seed = p->seed;
    limits_init(c);
    return rc;
}

/* ---- the audio ---- */

static int parts_make(steno_session *s)
{
    struct request *c = request_of(s);
    const struct clip_result blank = { 0 };
    buf_clear(&c->parts);
    for (int i = 0; i < c->n_clips; i++) buf_add(&c->parts, &blank, sizeof blank);
    return c->parts.err ? err_nomem(&s->error, c->parts.len, "clips") : STENO_OK;
}

/* Without timestamps every window ends at its full length, so its end is known in advance, unless its text may condition the next
 * window. */
static int are_windows_known(const steno_transcribe_params *p)
{
    return p->without_timestamps && !p->word_timestamps && !p->condition_on_previous_text &&
           (p->carry_initial_prompt || (!p->initial_prompt && !p->n_prompt_tokens));
}

/* Called before the first slice of audio. */
static void listen_begin(steno_session *s)
{
    struct request *c = request_of(s);
    slots_forget(s); /* windows of an earlier request */
    mel_of(s)->adds_levels = c->p.chunk_ms != 0;
    if (c->first_pass.size) mel_stream_listen_given(mel_of(s), &c->src, c->first_pass.samples, (float)c->first_pass.loudest);
    else mel_stream_listen_begin(mel_of(s), &c->src);
    mel_of(s)->may_wait = !s->place.direct;
    language_vote_begin(&c->vote);
    queue_begin(s);
    s->request_state = REQUEST_LISTENING;
}

int request_listen(steno_session *s)
{
    enum { SLICE = 60 * 16000 }; /* samples */
    struct request *c = request_of(s);
    if (s->request_state == REQUEST_WAITING) listen_begin(s);
    const int rc = c->first_pass.size ? STENO_OK : mel_stream_listen_on(mel_of(s), SLICE, &s->error);
    if (mel_of(s)->levels.err) return err_nomem(&s->error, mel_of(s)->levels.len, "levels of the audio");
    if (rc || !(c->first_pass.size || mel_of(s)->ended)) return rc;
    s->request_state = REQUEST_READ;
    s->result.duration_ms = s->translation.duration_ms = mel_of(s)->samples / 16;
    return STENO_OK;
}

int request_begin(steno_session *s, uint32_t decode_slot)
{
    struct request *c = request_of(s);
    const int both = c->p.task == STENO_TRANSCRIBE_AND_TRANSLATE, many = ar_batch_of(s->batch)->decoder && !both;
    int rc = language_choose(s, mel_of(s), decode_slot, &c->p, &c->vote, &c->options.lang);
    if (rc || !*s->result.language) return rc;
    s->request_state = REQUEST_LIVE;
    s->translation.language = s->result.language;
    c->windows_known = many && are_windows_known(&c->p);
    rc = request_clips_make(s);
    c->parallel = many && c->n_clips > 1 && (c->p.independent_clips || c->p.chunk_ms || c->windows_known);
    if (!rc && c->parallel) rc = parts_make(s);
    if (!rc && c->parallel) rc = resume_point_enter(s);
    if (rc || c->parallel) return rc;
    c->next_clip = c->n_clips;
    rc = decoder_begin(&ar_of(s)->decoder[0], s, both ? STENO_TRANSCRIBE : c->p.task, 0);
    if (!rc && both) rc = decoder_begin(&ar_of(s)->decoder[1], s, STENO_TRANSLATE, 0);
    if (!rc) rc = resume_point_enter(s);
    if (!rc) progress(s, ar_of(s)->decoder->position.clip, ar_of(s)->decoder->position.seek);
    return rc;
}

int request_ended(const steno_session *s)
{
    const struct request *c = request_of(s);
    const struct steno_batch *b = s->batch;
    struct ar_batch *a = ar_batch_of(b);
    if (c->next_clip < c->n_clips) return 0;
    const struct window_decoder *own = ar_of(s)->decoder;
    for (int i = 0; i < 2; i++)
        if (own[i].s == s && own[i].state != DECODER_IDLE) return 0;
    for (uint32_t i = 0; a->decoder && i < b->n_windows; i++)
        if (a->decoder[i].s == s && a->decoder[i].state != DECODER_IDLE) return 0;
    return 1;
}

int request_end(steno_session *s, int status)
{
    struct request *c = request_of(s);
    struct steno_batch *b = s->batch;
    struct ar_batch *a = ar_batch_of(b);
    for (int i = 0; i < 2; i++) ar_of(s)->decoder[i].state = DECODER_IDLE;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        if (a->decoder && a->decoder[i].s == s) a->decoder[i].state = DECODER_IDLE;
        if (a->decode_slot[i].user && a->decode_slot[i].user->s == s) a->decode_slot[i].user = NULL;
        if (a->decode_slot[i].audio == s) a->decode_slot[i].audio = NULL;
    }
    if (b->exact && ar_batch_of(b->exact)->decode_slot->audio == s) ar_batch_of(b->exact)->decode_slot->audio = NULL;
    struct clip_result *part = request_clip_results(request_of(s));
    for (size_t i = 0; i < c->parts.len / sizeof *part; i++) result_free(&part[i].result);
    buf_clear(&c->parts);
    if (!status && s->request_state == REQUEST_LIVE && !c->stopped) progress(s, c->n_clips, 0);
    result_finish(&s->result, &status, &s->error);
    result_finish(&s->translation, &status, &s->error);
    processors_close(c);
    return status;
}

/* Uses the results of an earlier first pass. */
static int first_pass_take(steno_session *s, const steno_heard *h)
{
    if (h->size < sizeof *h) return err_set(&s->error, STENO_EARG, "steno_heard was not filled by steno_listen");
    if (h->samples < 0 || !isfinite(h->loudest))
        return err_set(&s->error, STENO_EARG, "steno_request_params.heard has %lld samples and a loudest bin of %g, which steno_listen "
                       "never gives", (long long)h->samples, h->loudest);
    if (request_of(s)->p.chunk_ms)
        return err_set(&s->error, STENO_EARG, "chunk_ms needs every frame's level, which a steno_heard does not have");
    request_of(s)->first_pass = *h;
    return STENO_OK;
}

int request_take(steno_session *s, const struct request_given *g)
{
    int rc = request_init(s, g->src, g->transcribe);
    if (!rc && g->first_pass) rc = first_pass_take(s, g->first_pass);
    if (!rc) rc = resume_take(&request_of(s)->resume, s, &request_of(s)->p, g->transcribe->task == STENO_TRANSCRIBE_AND_TRANSLATE ? 2 : 1);
    if (rc) processors_close(request_of(s));
    return rc;
}
