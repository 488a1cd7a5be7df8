/* steno: runs one window through the plans, and detects its language. SPDX-License-Identifier: MIT */
#include "task/window/window.h"
#include "model/parts.h"
#include <math.h>
#include <string.h>
#include "base/os.h"
#include "engine/params.h"
#include "task/decode/generation.h"
#include "text/language.h"

float *batch_mel(const struct steno_batch *b)
{
    const struct plan *p = &b->model->plan[PLAN_ENCODER];
    return exec_input(b->exec, p);
}

float *window_mel(const steno_session *s)
{
    return batch_mel(s->batch);
}

/* Copies the encoder's output for the window, without gaps between rows, because the decoder reuses the slot. */
static int features_keep(steno_session *s, const struct plan *p, int32_t n_ctx)
{
    struct buf *b = &s->result.features;
    const struct slot *out = &p->slot[p->output];
    size_t ld;
    const float *rows = exec_output(s->batch->exec, p, p->output, 0, (uint32_t)n_ctx, &ld);
    buf_clear(b);
    for (int32_t i = 0; i < n_ctx && rows; i++)
        buf_add(b, rows + (size_t)i * ld, out->width * sizeof(float));
    if (rows && !b->err) return STENO_OK;
    buf_free(b); /* an incomplete copy is of no use */
    return err_nomem(&s->error, (size_t)n_ctx * out->width * sizeof(float), "audio features");
}

int batch_encode(struct steno_batch *b, uint32_t decode_slot, int32_t n_ctx, struct op_time *time, struct run_time *spent)
{
    const struct plan *p = &b->model->plan[PLAN_ENCODER];
    const struct phases what = { .end = ENCODER_PHASES, .n_rows = (uint32_t)n_ctx, .window = (uint16_t)decode_slot };
    ar_batch_of(b)->n_steps = 0;
    return exec_phases(b->exec, p, &what, time, spent);
}

int window_encode(steno_session *s, uint32_t decode_slot, int32_t n_ctx)
{
    struct run_time spent;
    struct steno_batch *b = s->batch;
    const int rc = session_ran(s, b->exec, batch_encode(b, decode_slot, n_ctx, session_time(s, PLAN_ENCODER), &spent));
    s->timings.encode_us += spent.first_ns / 1000;
    s->timings.cross_us += spent.rest_ns / 1000;
    s->timings.n_encodes++;
    s->timings.n_wakes++;
    return rc || !s->params || !s->params->keep_audio_features ? rc : features_keep(s, &s->model->plan[PLAN_ENCODER], n_ctx);
}

void slots_forget(const steno_session *s)
{
    const struct steno_batch *b = s->batch;
    struct decode_slot *slot = ar_batch_of(b)->decode_slot;
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (slot[i].audio == s) slot[i].audio = NULL;
}

/* ---- the spoken language ------------------------------------------------------------------------------------------------------ */

/* Several languages: it is detected among them. */
static int languages_asked(steno_session *s, const char *list)
{
    const int n = s->model->tokens.n_languages;
    char name[LANGUAGE_NAME_SZ];
    for (const char *rest = list; rest;) {
        rest = language_next(rest, name);
        const int found = language_find(name);
        if (found < 0 || found >= n) return language_refuse(&s->error, name, language_code, n);
    }
    return STENO_OK;
}

int language_asked(steno_session *s, const char *name, int *lang)
{
    const steno_model *m = s->model;
    *lang = -1;
    if (language_is_auto(name)) return STENO_OK;
    if (language_is_list(name) && m->tokens.n_languages) return languages_asked(s, name);
    const int n = m->tokens.n_languages, found = language_find(name);
    if (found >= 0 && found < n) *lang = found;
    if (*lang >= 0 || (!n && found == LANGUAGE_ENGLISH)) return STENO_OK;
    if (n) return language_refuse(&s->error, name, language_code, n);
    return err_set(&s->error, STENO_EARG, "language '%.40s': this model knows English only; take a multilingual one, or language 'en'",
                   name);
}

/* Is the lead of the best language over the next, in logits, so small that f32 must decide? */
static int is_near_tie(const steno_session *s, float ahead)
{
    const double margin = s->params ? s->params->verify_margin : VERIFY_MARGIN;
    return margin > 0 && (double)ahead < margin;
}

/* Logits of the language tokens after start-of-transcript, [n_languages], for the window of n_ctx positions that is encoded in the decode
 * slot. */
static int language_logits(struct steno_batch *b, const struct token_roles *t, uint32_t decode_slot, int32_t n_ctx, struct op_time *time,
                           struct run_time *spent, float *logits)
{
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const uint16_t lane = (uint16_t)(decode_slot * b->n_lanes);
    int ran;
    lane_rewind(b, lane, 0);
    b->run.lane[lane].kv.enc_len = n_ctx; /* what follows is of another window */
    b->run.n_rows = 0;
    run_add(&b->run, t->sot, 0, lane, ROW_LOGITS);
    const int rc = exec_chain(b->exec, p, &b->run, 1, NULL, &ran, time, spent);
    const float *all = rc ? NULL : exec_logits(b->exec, p, 0);
    if (all) memcpy(logits, all + t->first_language, (size_t)t->n_languages * sizeof *logits);
    return rc || all ? rc : STENO_ENOMEM;
}

/* Of several languages that were asked for, detection chooses one: the others have no probability. */
static void keep_asked(const steno_session *s, float *x)
{
    const char *rest = s->params && language_is_list(s->params->language) ? s->params->language : NULL;
    char name[LANGUAGE_NAME_SZ];
    float own[MAX_LANGUAGES];
    const int n = s->model->tokens.n_languages;
    if (!rest) return;
    memcpy(own, x, (size_t)n * sizeof *own);
    for (int i = 0; i < n; i++) x[i] = -INFINITY;
    while (rest) {
        rest = language_next(rest, name);
        const int found = language_find(name);
        if (found >= 0 && found < n) x[found] = own[found];
    }
}

/* Index of the largest; *ahead: its lead over the next. */
static int largest_of(const float *x, int n, float *ahead)
{
    int best = 0;
    float next = -INFINITY;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    for (int i = 0; i < n; i++)
        if (i != best && x[i] > next) next = x[i];
    *ahead = x[best] - next;
    return best;
}

/* *sum: sum of the exponentials of x, relative to the largest. */
static int shares_of(steno_session *s, const float *x, int best, double *sum)
{
    *sum = 0;
    for (int i = 0; i < s->model->tokens.n_languages; i++) *sum += exp((double)x[i] - x[best]);
    if (*sum >= 1) return STENO_OK; /* otherwise x has a NaN or an infinity */
    return err_set(&s->error, STENO_EFORMAT, "the model's logits of languages are not numbers: its weights are damaged");
}

/* softmax over the language tokens after start-of-transcript, for the window that begins at `from` (openai-whisper, decoding.py,
 * detect_language). @return the index of the largest, or a status */
static int language_of_window(steno_session *s, struct mel_stream *mel, uint32_t at, int64_t from, float *probs)
{
    const steno_model *m = s->model;
    const struct token_roles *t = &m->tokens;
    const int64_t left = mel->frames - from;
    const int full = left >= mel->window, frames = full ? mel->window : (int)left;
    struct steno_batch *b = s->batch, *exact = b->exact;
    struct decode_slot *decode_slot = &ar_batch_of(b)->decode_slot[at];
    struct run_time spent;
    float x[MAX_LANGUAGES], ahead;
    int rc = mel_stream_window(mel, from, frames, 1, window_mel(s), &s->error);
    if (rc) return rc;
    decode_slot->audio = NULL;
    rc = window_encode(s, at, m->audio_ctx);
    if (rc) return rc;
    if (full) *decode_slot = (struct decode_slot){ .audio = s, .from = from, .frames = mel->window };
    rc = session_ran(s, b->exec, language_logits(b, t, at, m->audio_ctx, session_time(s, PLAN_DECODER), &spent, x));
    s->timings.n_steps++;
    s->timings.n_wakes++;
    s->timings.decode_us += (spent.first_ns + spent.rest_ns) / 1000;
    if (rc) return rc;
    keep_asked(s, x);
    int best = largest_of(x, t->n_languages, &ahead);
    if (exact && is_near_tie(s, ahead)) {
        const int64_t t0 = os_now_ns();
        ar_batch_of(exact)->decode_slot->audio = NULL;
        exact->solo = s;
        rc = mel_stream_window(mel, from, frames, 1, batch_mel(exact), &s->error);
        if (!rc) rc = batch_encode(exact, 0, m->audio_ctx, NULL, &spent);
        if (!rc) rc = language_logits(exact, t, 0, m->audio_ctx, NULL, &spent, x);
        exact->solo = NULL;
        s->timings.verify_us += (os_now_ns() - t0) / 1000;
        if (rc) return s->error.status ? rc : session_ran(s, exact->exec, rc);
        keep_asked(s, x);
        best = largest_of(x, t->n_languages, &ahead);
    }
    double sum;
    rc = shares_of(s, x, best, &sum);
    for (int i = 0; !rc && i < t->n_languages && i < MAX_LANGUAGES; i++) probs[i] = (float)(exp((double)x[i] - x[best]) / sum);
    return rc ? rc : best;
}

int language_of_slot(steno_session *s, uint32_t at, int32_t n_ctx, double *probability)
{
    const struct token_roles *t = &s->model->tokens;
    struct steno_batch *b = s->batch;
    struct run_time spent;
    float x[MAX_LANGUAGES], ahead;
    double sum;
    int rc = session_ran(s, b->exec, language_logits(b, t, at, n_ctx, session_time(s, PLAN_DECODER), &spent, x));
    s->timings.decode_us += (spent.first_ns + spent.rest_ns) / 1000;
    if (rc) return rc;
    keep_asked(s, x);
    const int best = largest_of(x, t->n_languages, &ahead);
    rc = shares_of(s, x, best, &sum);
    *probability = 1 / sum;
    return rc ? rc : best;
}

void language_vote_begin(struct language_vote *v)
{
    *v = (struct language_vote){ .best = -1 };
}

/* *silent: 1 if the window at `from` is full, is not the last one, and has no sound (all bins are at the floor). */
static int look_for_silence(steno_session *s, struct mel_stream *mel, int64_t from, int *silent)
{
    *silent = 0;
    if (mel->frames - from <= mel->window) return STENO_OK;
    const float *x = window_mel(s);
    const int rc = mel_stream_window(mel, from, mel->window, 1, window_mel(s), &s->error);
    const int n = mel->window * mel->n_mels;
    int i = 0;
    while (!rc && i < n && x[i] == x[0]) i++;
    *silent = !rc && i == n;
    return rc;
}

static int vote(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, int segments, double threshold,
                struct language_vote *v)
{
    float now[MAX_LANGUAGES];
    const int64_t from = (int64_t)(v->first + v->n) * mel->window;
    int silent = 0;
    const int rc = v->n == 0 ? look_for_silence(s, mel, from, &silent) : STENO_OK;
    v->first += silent;
    if (rc || silent) return rc;
    const int lang = language_of_window(s, mel, decode_slot, from, now);
    if (lang < 0) return lang;
    v->n++;
    v->times[lang]++;
    const int sure = now[lang] >= threshold, more = v->best >= 0 && v->times[lang] > v->times[v->best];
    const int surer = v->best >= 0 && v->times[lang] == v->times[v->best] && now[lang] > v->kept[v->best];
    if (v->best < 0 || sure || more || surer) {
        v->best = lang;
        memcpy(v->kept, now, sizeof v->kept);
    }
    v->over = sure || v->n >= segments || from + mel->window >= mel->frames;
    const int max = s->model->tokens.n_languages;
    s->result.n_language_probs = !v->over ? 0 : max < MAX_LANGUAGES ? max : MAX_LANGUAGES;
    for (int i = 0; i < s->result.n_language_probs; i++) s->result.language_prob[i] = v->kept[i];
    return STENO_OK;
}

int language_detect(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, int segments, double threshold, float *probs, int n)
{
    if (!s->model->tokens.n_languages) return err_set(&s->error, STENO_EARG, "an English-only model cannot detect languages");
    if (segments < 1) return err_set(&s->error, STENO_EARG, "a language is detected in %d windows, want 1 or more", segments);
    struct language_vote v;
    language_vote_begin(&v);
    while (!v.over) {
        const int rc = vote(s, mel, decode_slot, segments, threshold, &v);
        if (rc) return rc;
    }
    for (int i = 0; i < s->result.n_language_probs && i < n && probs; i++) probs[i] = v.kept[i];
    return v.best;
}

int language_choose(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, const steno_transcribe_params *p,
                    struct language_vote *v, int32_t *lang)
{
    if (!s->model->tokens.n_languages) {
        s->result.language = "en";
        return STENO_OK;
    }
    if (*lang < 0) {
        const int rc = vote(s, mel, decode_slot, p->language_detection_segments, p->language_detection_threshold, v);
        if (rc || !v->over) return rc;
        *lang = v->best;
    }
    s->result.language = language_code(*lang);
    return STENO_OK;
}
