/* steno: the window loop. SPDX-License-Identifier: MIT
 *
 * Windows of 30 s slide over the audio, each to where the last complete segment of the one before ended. The text of earlier windows
 * conditions the next. Reference: openai-whisper 20250625, whisper/transcribe.py. */
#include <stddef.h>
#include <string.h>
#include "lib/job.h"

static int is_auto(const char *language)
{
    return !language || !strcmp(language, "auto");
}

static int job_init(struct job *j, steno_session *s, const steno_transcribe_params *p)
{
    const steno_model *m = s->model;
    const struct speech *speech = m->family->speech;
    *j = (struct job){ .s = s, .p = p };
    int rc = params_check(s, p);
    if (rc) return rc;
    j->request = (struct speech_request){ p->task == STENO_TRANSLATE, p->without_timestamps != 0, p->suppress_blank != 0,
                                          p->max_initial_timestamp, p->suppress_tokens, -1 };
    if (!is_auto(p->language) && m->tokens.n_languages) {
        j->request.lang = speech->language(m, p->language);
        if (j->request.lang < 0) return err_set(&s->error, STENO_EARG, "language '%s' is not known to this model", p->language);
    }
    rc = speech->rules(m, &j->request, &s->masks, &s->rules, &s->error);
    s->rules.seed = p->seed;
    limits_init(j);
    return rc;
}

/* ---- one window ---- */

enum { NEAR_FRAMES = 50 }; /* times are not that exact: sound so close to a segment is its own */

static int is_mute(const struct job *j, int64_t t0_ms, int64_t t1_ms)
{
    const int64_t from = t0_ms / 10 - NEAR_FRAMES, to = t1_ms / 10 + NEAR_FRAMES, end = j->seek + j->frames;
    return window_steady(j->s, from > j->seek ? from : j->seek, to < end ? to : end);
}

static int segment_add(struct job *j, const struct piece *c)
{
    steno_session *s = j->s;
    struct result *r = &s->result;
    const int64_t at = j->seek * 10;
    struct segment g = { .seek_frames = j->seek, .t0_ms = at + c->t0 * 20, .t1_ms = c->t1 < 0 ? at + j->frames * 10 : at + c->t1 * 20,
                         .text = r->text.len, .first_token = r->ids.len / sizeof(int32_t), .n_tokens = c->n,
                         .temperature = j->kept.temperature, .avg_logprob = j->kept.avg_logprob, .compression_ratio = j->kept.ratio,
                         .no_speech_prob = j->kept.no_speech_prob, .attempt = j->kept.index };
    if (j->p->guards != STENO_GUARDS_OFF) {
        const int mute = is_mute(j, g.t0_ms, g.t1_ms);
        if (mute && j->p->guards == STENO_GUARDS_RETRY) return STENO_OK;
        g.flags = j->kept.flags | (mute ? STENO_FLAG_NO_SPEECH : 0u);
    }
    const int32_t *ids = s->ids + c->first;
    text_of(s, ids, c->n);
    const char *text = s->text.p ? s->text.p : "";
    size_t n = s->text.len;
    text_strip(&text, &n);
    if (!n || g.t0_ms == g.t1_ms) { /* keeps its place and number, loses its tokens */
        g.n_tokens = 0;
        buf_clear(&s->text);
    }
    buf_add(&r->text, s->text.p ? s->text.p : "", s->text.len + 1);
    buf_add(&r->ids, ids, (size_t)g.n_tokens * sizeof *ids);
    buf_add(&r->tokens, s->batch->run.lane[0].out + c->first, (size_t)g.n_tokens * sizeof(struct picked));
    for (int32_t i = 0; i < g.n_tokens; i++)
        if (ids[i] < s->model->tokens.timestamp_begin) vocab_append(&s->model->vocab, ids[i], &r->bytes);
    if (s->bytes.err || s->text.err || result_status(r)) return err_nomem(&s->error, r->text.len, "results");
    buf_add(&r->segments, &g, sizeof g); /* the last one: what can be read is whole */
    if (result_status(r)) return err_nomem(&s->error, r->segments.len, "results");
    history_add(s, ids, g.n_tokens);
    if (j->p->on_segment) {
        steno_segment seg = { .size = sizeof seg };
        steno_segment_get(s, steno_segment_count(s) - 1, &seg);
        j->p->on_segment(j->p->user, &seg);
    }
    return STENO_OK;
}

static int window_finish(struct job *j)
{
    steno_session *s = j->s;
    int32_t advance = j->frames;
    int rc = STENO_OK;
    if (!is_silence(j)) {
        const int pieces = s->model->family->speech->spell(s->model, s->ids, j->kept.n_tokens, j->frames, s->pieces, &advance);
        for (int i = 0; i < pieces && !rc; i++) rc = segment_add(j, &s->pieces[i]);
        if (!j->p->condition_on_previous_text || j->kept.temperature > 0.5) history_forget(s);
    }
    j->seek += advance;
    return rc;
}

static int window_next(struct job *j)
{
    steno_session *s = j->s;
    const int64_t left = j->end - j->seek;
    j->frames = left < s->feed.window ? (int)left : s->feed.window;
    const int encoded = s->encoded_from == j->seek && j->frames == s->feed.window;
    s->batch->timings.n_windows++;
    int rc = encoded ? STENO_OK : feed_window(&s->feed, j->seek, j->frames, 0, window_mel(s), &s->error);
    if (!rc && j->p->guards == STENO_GUARDS_RETRY && window_steady(s, j->seek, j->seek + j->frames)) {
        j->seek += j->frames;
        return STENO_OK;
    }
    if (!rc && !encoded) rc = window_encode(s, -1);
    if (!rc) rc = window_decode(j);
    return rc ? rc : window_finish(j);
}

/* ---- the call ---- */

static int language_choose(struct job *j)
{
    steno_session *s = j->s;
    if (!s->model->tokens.n_languages) {
        s->result.language = "en";
        return STENO_OK;
    }
    if (j->request.lang < 0) {
        const int lang = language_detect(s, NULL, 0);
        if (lang < 0) return lang;
        j->request.lang = lang;
    }
    s->result.language = language_code(j->request.lang);
    return STENO_OK;
}

static void progress(const struct job *j, int64_t begin)
{
    const int64_t at = j->seek < j->end ? j->seek : j->end;
    if (j->p->on_progress) j->p->on_progress(j->p->user, (at - begin) * 10, (j->end - begin) * 10);
}

static int transcribe(struct job *j, const steno_source *src)
{
    steno_session *s = j->s;
    int rc = feed_listen(&s->feed, src, &s->error);
    if (rc) return rc;
    s->result.duration_ms = s->feed.samples / 16;
    const int64_t begin = j->p->offset_ms / 10 < s->feed.frames ? j->p->offset_ms / 10 : s->feed.frames;
    j->seek = begin;
    j->end = s->feed.frames;
    if (j->p->duration_ms && j->p->duration_ms / 10 < j->end - begin) j->end = begin + j->p->duration_ms / 10;
    rc = language_choose(j); /* of silence, too: the reference names a language for every file */
    if (!rc) rc = prompt_begin(j);
    while (!rc && j->seek < j->end) {
        progress(j, begin);
        if (j->p->on_window && !j->p->on_window(j->p->user, j->seek * 10)) return STENO_OK;
        rc = window_next(j);
    }
    if (!rc) progress(j, begin);
    return rc;
}

/* Called by the executor, on the calling thread: rows of logits that somebody will choose from. */
static void filter_logits(void *user, uint16_t lane, float *logits)
{
    steno_session *s = user;
    const struct lane *l = &s->batch->run.lane[lane];
    for (int32_t i = 0; i < l->n; i++) s->ids[i] = l->out[i].id;
    s->step.lane = lane;
    s->params->logits_filter(s->params->user, &s->step, logits, s->ids, l->n);
}

static int ar_transcribe(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    struct job j;
    int rc = job_init(&j, s, p);
    if (rc) return rc;
    s->batch->exec.filter = p->logits_filter ? filter_logits : NULL;
    rc = transcribe(&j, src);
    s->batch->exec.filter = NULL;
    return rc;
}

int steno_transcribe_source(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    if (!s) return STENO_EARG;
    session_begin(s);
    if (!src || !src->read) return err_set(&s->error, STENO_EARG, "the audio source has no read function");
    const enum search search = s->model->family->search;
    if (search == SEARCH_VAD) return err_set(&s->error, STENO_EARG, "a %s model does not transcribe", s->model->family->name);
    steno_transcribe_params own; /* changes during the call have no effect */
    steno_transcribe_params_init(&own);
    if (params_take(&own, p, sizeof own, offsetof(steno_transcribe_params, temperature_increment_on_fallback)))
        return err_set(&s->error, STENO_EARG, "steno_transcribe_params was not filled by its init function");
    s->params = &own;
    int rc = search == SEARCH_CTC ? ctc_transcribe(s, src, &own) : ar_transcribe(s, src, &own);
    s->params = NULL;
    utf8_append(&s->result.whole, (const uint8_t *)s->result.bytes.p, s->result.bytes.len);
    if (!rc && result_status(&s->result)) rc = err_nomem(&s->error, s->result.bytes.len, "the text");
    return rc;
}

int steno_transcribe(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p)
{
    if (!s) return STENO_EARG;
    if (n < 0 || (n && !pcm)) {
        session_begin(s);
        return err_set(&s->error, STENO_EARG, "%lld samples at no address, or fewer than none", (long long)n);
    }
    struct pcm memory = { pcm, n, 0 };
    const steno_source src = pcm_source(&memory);
    return steno_transcribe_source(s, &src, p);
}

int steno_detect_language(steno_session *s, const steno_source *src, float *probs, int n)
{
    if (!s) return STENO_EARG;
    session_begin(s);
    if (!src || !src->read) return err_set(&s->error, STENO_EARG, "the audio source has no read function");
    if (n < 0) return err_set(&s->error, STENO_EARG, "room for %d probabilities", n);
    if (!s->model->family->speech)
        return err_set(&s->error, STENO_EARG, "a %s model does not tell languages apart this way", s->model->family->name);
    int rc = feed_listen(&s->feed, src, &s->error);
    if (!rc) rc = language_detect(s, probs, n);
    if (rc >= 0) s->result.language = language_code(rc);
    return rc;
}
