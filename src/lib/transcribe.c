/* steno: the window loop. SPDX-License-Identifier: MIT
 *
 * Windows of 30 s slide over the audio, each to where the last complete segment of the one before ended. The text of earlier windows
 * conditions the next. Reference: openai-whisper 20250625, whisper/transcribe.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/os.h"
#include "lib/lib.h"

void steno_transcribe_params_init(steno_transcribe_params *p)
{
    if (!p) return;
    *p = (steno_transcribe_params){ .size = sizeof *p, .suppress_tokens = "-1", .condition_on_previous_text = 1, .suppress_blank = 1,
                                    .max_initial_timestamp = 1.0, .no_speech_threshold = 0.6, .logprob_threshold = -1.0 };
}

/* One call, from its parameters to the place where the next window begins. */
struct job {
    steno_session *s;
    const steno_transcribe_params *p;
    struct speech_request request;
    int64_t seek, end;       /* frames */
    /* of the window at hand */
    int frames;              /* of audio in it */
    int32_t n_tokens;
    double avg_logprob, no_speech_prob, ratio;
};

static int check_range(steno_session *s, const char *what, double v, double lo, double hi)
{
    if (v >= lo && v <= hi) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%s is %g, want %g to %g", what, v, lo, hi);
}

static int is_auto(const char *language)
{
    return !language || !strcmp(language, "auto");
}

static int job_init(struct job *j, steno_session *s, const steno_transcribe_params *p)
{
    const steno_model *m = s->model;
    const struct speech *speech = m->family->speech;
    *j = (struct job){ .s = s, .p = p };
    if (p->size < sizeof *p) return err_set(&s->error, STENO_EARG, "steno_transcribe_params was not filled by its init function");
    if (p->task != STENO_TRANSCRIBE && p->task != STENO_TRANSLATE)
        return err_set(&s->error, STENO_EARG, "task %d is not known", (int)p->task);
    int rc = check_range(s, "temperature", p->temperature, 0, 100);
    if (!rc) rc = check_range(s, "sample_len", p->sample_len, 0, m->text_ctx);
    if (!rc) rc = check_range(s, "max_initial_timestamp", p->max_initial_timestamp, 0, 30);
    if (!rc) rc = check_range(s, "offset_ms", (double)p->offset_ms, 0, 1e15);
    if (!rc) rc = check_range(s, "duration_ms", (double)p->duration_ms, 0, 1e15);
    if (rc) return rc;
    j->request = (struct speech_request){ p->task == STENO_TRANSLATE, p->without_timestamps != 0, p->suppress_blank != 0,
                                          p->max_initial_timestamp, p->suppress_tokens, -1 };
    if (!is_auto(p->language) && m->tokens.n_languages) {
        j->request.lang = speech->language(m, p->language);
        if (j->request.lang < 0) return err_set(&s->error, STENO_EARG, "language '%s' is not known to this model", p->language);
    }
    rc = speech->rules(m, &j->request, &s->masks, &s->rules, &s->error);
    s->rules.temperature = p->temperature;
    s->rules.seed = p->seed;
    return rc;
}

/* ---- previous text ---- */

static void history_add(steno_session *s, const int32_t *ids, int32_t n)
{
    const int32_t cap = 2 * s->model->text_ctx;
    if (n > cap) ids += n - cap, n = cap;
    const int32_t drop = s->n_history + n - cap;
    if (drop > 0) {
        memmove(s->history, s->history + drop, (size_t)(s->n_history - drop) * sizeof *s->history);
        s->n_history -= drop;
    }
    memcpy(s->history + s->n_history, ids, (size_t)n * sizeof *ids);
    s->n_history += n;
}

static int history_begin(struct job *j)
{
    steno_session *s = j->s;
    const char *text = j->p->initial_prompt;
    if (!text) return STENO_OK;
    size_t n = strlen(text);
    text_strip(&text, &n);
    struct buf spaced = { 0 }, ids = { 0 };
    buf_str(&spaced, " ");
    buf_add(&spaced, text, n);
    int rc = spaced.err ? err_nomem(&s->error, n, "the prompt") : bpe_encode(s->model->bpe, spaced.p, spaced.len, &ids, &s->error);
    if (!rc) history_add(s, (const int32_t *)(const void *)ids.p, (int32_t)(ids.len / sizeof(int32_t)));
    buf_free(&spaced);
    buf_free(&ids);
    return rc;
}

/* [startofprev, latest history,] start of transcript, language, task(, no timestamps) */
static int32_t prompt_make(struct job *j, int *sot)
{
    steno_session *s = j->s;
    int32_t head[PROMPT_HEAD], n = 0;
    const int n_head = s->model->family->speech->head(s->model, &j->request, head, sot);
    const int32_t most = s->model->text_ctx / 2 - 1, past = s->n_history < most ? s->n_history : most;
    if (past > 0) {
        s->prompt[n++] = s->model->tokens.prev;
        memcpy(s->prompt + n, s->history + s->n_history - past, (size_t)past * sizeof *s->prompt);
        n += past;
    }
    memcpy(s->prompt + n, head, (size_t)n_head * sizeof *head);
    *sot += n;
    return n + n_head;
}

/* ---- one window ---- */

static int window_decode(struct job *j)
{
    steno_session *s = j->s;
    const steno_model *m = s->model;
    int sot = 0;
    const int32_t n = prompt_make(j, &sot), room = m->text_ctx + 1 - n;
    const int32_t most = j->p->sample_len ? j->p->sample_len : m->text_ctx / 2;
    lane_reset(s, 0);
    struct lane *l = &s->run.lane[0];
    l->rules = &s->rules;
    l->limit = most < room ? most : room;
    l->stream = (uint32_t)j->seek;
    l->prob_id = m->tokens.nospeech;
    if (l->limit <= 0) return err_set(&s->error, STENO_EARG, "the prompt leaves no room for text");

    struct ar ar;
    ar_begin(&ar, 0, s->prompt, n, sot);
    for (;;) {
        s->run.n_rows = 0;
        const int steps = ar_want(&ar, &s->run, m->plan[PLAN_DECODER].max_rows);
        if (!steps) break;
        const int rc = steps_run(s, steps);
        if (rc) return rc;
        ar_give(&ar, &s->run);
    }
    j->n_tokens = l->n;
    j->avg_logprob = ar_avg_logprob(l);
    j->no_speech_prob = l->prob;
    for (int32_t i = 0; i < l->n; i++) s->ids[i] = l->out[i].id;
    return STENO_OK;
}

/* Text of ids below end-of-text, into s->text. */
static void text_of(steno_session *s, const int32_t *ids, int32_t n)
{
    buf_clear(&s->bytes);
    buf_clear(&s->text);
    for (int32_t i = 0; i < n; i++)
        if (ids[i] < s->model->tokens.eot) vocab_append(&s->model->vocab, ids[i], &s->bytes);
    utf8_append(&s->text, (const uint8_t *)s->bytes.p, s->bytes.len);
}

/* Nobody spoke, and the text is not sure enough to say otherwise. */
static int is_silence(const struct job *j)
{
    if (isnan(j->p->no_speech_threshold) || !(j->no_speech_prob > j->p->no_speech_threshold)) return 0;
    return isnan(j->p->logprob_threshold) || !(j->avg_logprob > j->p->logprob_threshold);
}

static int segment_add(struct job *j, const struct piece *c)
{
    steno_session *s = j->s;
    struct result *r = &s->result;
    const int64_t at = j->seek * 10;
    struct segment g = { .seek_frames = j->seek, .t0_ms = at + c->t0 * 20, .t1_ms = c->t1 < 0 ? at + j->frames * 10 : at + c->t1 * 20,
                         .text = r->text.len, .first_token = r->ids.len / sizeof(int32_t), .n_tokens = c->n,
                         .temperature = (float)j->p->temperature, .avg_logprob = j->avg_logprob, .compression_ratio = j->ratio,
                         .no_speech_prob = j->no_speech_prob };
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
    buf_add(&r->tokens, s->run.lane[0].out + c->first, (size_t)g.n_tokens * sizeof(struct picked));
    for (int32_t i = 0; i < g.n_tokens; i++)
        if (ids[i] < s->model->tokens.timestamp_begin) vocab_append(&s->model->vocab, ids[i], &r->bytes);
    buf_add(&r->segments, &g, sizeof g);
    if (s->bytes.err || s->text.err || result_status(r)) return err_nomem(&s->error, r->text.len, "results");
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
        text_of(s, s->ids, j->n_tokens);
        const char *text = s->text.p ? s->text.p : "";
        size_t n = s->text.len;
        text_strip(&text, &n);
        j->ratio = compression_ratio(text, n);
        if (s->bytes.err || s->text.err || j->ratio < 0) return err_nomem(&s->error, n, "the text of a window");
        const int pieces = s->model->family->speech->spell(s->model, s->ids, j->n_tokens, j->frames, s->pieces, &advance);
        for (int i = 0; i < pieces && !rc; i++) rc = segment_add(j, &s->pieces[i]);
        if (!j->p->condition_on_previous_text || j->p->temperature > 0.5) s->n_history = 0;
    }
    j->seek += advance;
    return rc;
}

static int window_next(struct job *j)
{
    steno_session *s = j->s;
    const int64_t left = j->end - j->seek;
    j->frames = left < s->feed.window ? (int)left : s->feed.window;
    int rc = STENO_OK;
    if (s->encoded_from != j->seek || j->frames < s->feed.window) {
        rc = feed_window(&s->feed, j->seek, j->frames, 0, window_mel(s), &s->error);
        if (!rc) rc = window_encode(s, -1);
    }
    if (!rc) rc = window_decode(j);
    s->timings.n_windows++;
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
    s->result.language = whisper_language_code(j->request.lang);
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
    if (!rc) rc = history_begin(j);
    while (!rc && j->seek < j->end) {
        progress(j, begin);
        if (j->p->on_window && !j->p->on_window(j->p->user, j->seek * 10)) return STENO_OK;
        rc = window_next(j);
    }
    if (!rc) progress(j, begin);
    return rc;
}

int steno_transcribe_source(steno_session *s, const steno_source *src, const steno_transcribe_params *p)
{
    if (!s) return STENO_EARG;
    session_begin(s);
    if (!src || !src->read) return err_set(&s->error, STENO_EARG, "the audio source has no read function");
    if (!s->model->family->speech) return err_set(&s->error, STENO_EARG, "a %s model does not transcribe", s->model->family->name);
    steno_transcribe_params defaults;
    steno_transcribe_params_init(&defaults);
    const steno_transcribe_params copy = p && p->size >= sizeof copy ? *p : defaults; /* changes during the call have no effect */
    struct job j;
    int rc = p && p->size < sizeof copy ? err_set(&s->error, STENO_EARG, "steno_transcribe_params was not filled by its init function")
                                        : job_init(&j, s, &copy);
    if (rc) return rc;
    s->params = &copy;
    rc = transcribe(&j, src);
    s->params = NULL;
    utf8_append(&s->result.whole, (const uint8_t *)s->result.bytes.p, s->result.bytes.len);
    if (!rc && result_status(&s->result)) rc = err_nomem(&s->error, s->result.bytes.len, "the text");
    return rc;
}

/* PCM in memory as a source. */
struct memory { const float *pcm; int64_t n, at; };

static int64_t memory_read(void *user, float *pcm, int64_t n)
{
    struct memory *m = user;
    const int64_t take = m->n - m->at < n ? m->n - m->at : n;
    if (take > 0) memcpy(pcm, m->pcm + m->at, (size_t)take * sizeof *pcm);
    m->at += take;
    return take;
}

static int memory_rewind(void *user)
{
    ((struct memory *)user)->at = 0;
    return 0;
}

int steno_transcribe(steno_session *s, const float *pcm, int64_t n, const steno_transcribe_params *p)
{
    if (!s) return STENO_EARG;
    if (n < 0 || (n && !pcm)) {
        session_begin(s);
        return err_set(&s->error, STENO_EARG, "%lld samples at no address, or fewer than none", (long long)n);
    }
    struct memory m = { pcm, n, 0 };
    const steno_source src = { memory_read, memory_rewind, &m };
    return steno_transcribe_source(s, &src, p);
}

int steno_detect_language(steno_session *s, const steno_source *src, float *probs, int n)
{
    if (!s) return STENO_EARG;
    session_begin(s);
    if (!src || !src->read || n < 0) return err_set(&s->error, STENO_EARG, "the audio source has no read function");
    int rc = feed_listen(&s->feed, src, &s->error);
    if (!rc) rc = language_detect(s, probs, n);
    if (rc >= 0) s->result.language = whisper_language_code(rc);
    return rc;
}
