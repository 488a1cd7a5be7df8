/* steno: one window through the plans. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "base/os.h"
#include "task/task.h"

float *batch_mel(const struct steno_batch *b)
{
    const struct plan *p = &b->model->plan[PLAN_ENCODER];
    return exec_input(b->exec, p);
}

float *window_mel(const steno_session *s)
{
    return batch_mel(s->batch);
}

/* What the encoder made of the window, rows without the gaps between them. The slot is the decoder's next. */
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
    buf_free(b); /* no part of them is of use */
    return err_nomem(&s->error, (size_t)n_ctx * out->width * sizeof(float), "audio features");
}

int batch_encode(struct steno_batch *b, uint32_t decode_slot, int32_t n_ctx, struct op_time *time, struct run_time *spent)
{
    const struct plan *p = &b->model->plan[PLAN_ENCODER];
    const struct phases what = { .end = ENCODER_PHASES, .n_rows = (uint32_t)n_ctx, .window = (uint16_t)decode_slot };
    b->n_steps = 0;
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

void lane_reset(steno_session *s, uint16_t lane)
{
    lane_rewind(s->batch, lane, 0);
}

void lane_rewind(struct steno_batch *b, uint16_t lane, int32_t len)
{
    struct lane *l = &b->run.lane[lane];
    state_truncate(&b->state[STATE_SELF], lane, (uint32_t)len);
    *l = (struct lane){ .top = l->top, .kv_len = len, .enc_len = b->model->audio_ctx, .last_ts = -1,
                        .margin = { INFINITY, INFINITY }, .window = (uint16_t)(lane / b->n_lanes),
                        .out = b->sampled + (size_t)lane * (size_t)b->model->text_ctx };
}

int steps_run(steno_session *s, int steps)
{
    struct steno_batch *b = s->batch;
    int ran = 0;
    struct run_time spent;
    const uint32_t rows = b->run.n_rows;
    const int rc = exec_chain(b->exec, &s->model->plan[PLAN_DECODER], &b->run, steps, NULL, &ran, session_time(s, PLAN_DECODER), &spent);
    if (rows > b->run.n_lanes) { /* the first replay was a prompt */
        s->timings.n_prompts++;
        s->timings.n_prompt_tokens += rows;
        s->timings.prompt_us += spent.first_ns / 1000;
        ran--;
    } else {
        spent.rest_ns += spent.first_ns;
    }
    s->timings.n_wakes++;
    s->timings.n_steps += ran > 0 ? ran : 0;
    s->timings.decode_us += spent.rest_ns / 1000;
    return session_ran(s, b->exec, rc);
}

/* Logits of the language tokens after start-of-transcript, [n_languages], of the window that is encoded in the decode slot. */
static int language_logits(struct steno_batch *b, const struct token_roles *t, uint32_t decode_slot, struct op_time *time,
                           struct run_time *spent, float *logits)
{
    const struct plan *p = &b->model->plan[PLAN_DECODER];
    const uint16_t lane = (uint16_t)(decode_slot * b->n_lanes);
    int ran;
    lane_rewind(b, lane, 0);
    b->run.n_rows = 0;
    run_add(&b->run, t->sot, 0, lane, ROW_LOGITS);
    const int rc = exec_chain(b->exec, p, &b->run, 1, NULL, &ran, time, spent);
    const float *all = rc ? NULL : exec_logits(b->exec, p, 0);
    if (all) memcpy(logits, all + t->first_language, (size_t)t->n_languages * sizeof *logits);
    return rc || all ? rc : STENO_ENOMEM;
}

/* Index of the largest; *ahead: of the next. */
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

/* softmax over the language tokens of the logits after start-of-transcript, of the window that begins at `from` (openai-whisper,
 * decoding.py, detect_language). @return the index of the largest, or a status */
static int language_of_window(steno_session *s, uint32_t at, int64_t from, float *probs)
{
    const steno_model *m = s->model;
    const struct token_roles *t = &m->tokens;
    const int64_t left = s->mel_stream.frames - from;
    const int full = left >= s->mel_stream.window, frames = full ? s->mel_stream.window : (int)left;
    struct steno_batch *b = s->batch, *exact = b->exact;
    struct decode_slot *decode_slot = &b->decode_slot[at];
    struct run_time spent;
    float x[MAX_LANGUAGES], ahead;
    decode_slot->audio = NULL;
    int rc = mel_stream_window(&s->mel_stream, from, frames, 1, window_mel(s), &s->error);
    if (!rc) rc = window_encode(s, at, m->audio_ctx);
    if (rc) return rc;
    if (full) *decode_slot = (struct decode_slot){ .audio = s, .from = from, .frames = s->mel_stream.window };
    rc = session_ran(s, b->exec, language_logits(b, t, at, session_time(s, PLAN_DECODER), &spent, x));
    s->timings.n_steps++;
    s->timings.n_wakes++;
    s->timings.decode_us += (spent.first_ns + spent.rest_ns) / 1000;
    if (rc) return rc;
    int best = largest_of(x, t->n_languages, &ahead);
    if (exact && verify_language(s, ahead)) {
        const int64_t t0 = os_now_ns();
        exact->decode_slot->audio = NULL;
        exact->solo = s;
        rc = mel_stream_window(&s->mel_stream, from, frames, 1, batch_mel(exact), &s->error);
        if (!rc) rc = batch_encode(exact, 0, m->audio_ctx, NULL, &spent);
        if (!rc) rc = language_logits(exact, t, 0, NULL, &spent, x);
        exact->solo = NULL;
        s->timings.verify_us += (os_now_ns() - t0) / 1000;
        if (rc) return s->error.status ? rc : session_ran(s, exact->exec, rc);
        best = largest_of(x, t->n_languages, &ahead);
    }
    double sum = 0;
    for (int i = 0; i < t->n_languages; i++) sum += exp((double)x[i] - x[best]);
    if (!(sum >= 1)) /* a NaN among them, or an infinity */
        return err_set(&s->error, STENO_EFORMAT, "the model's logits of languages are no numbers: its weights are damaged");
    for (int i = 0; i < t->n_languages && i < MAX_LANGUAGES; i++) probs[i] = (float)(exp((double)x[i] - x[best]) / sum);
    return best;
}

int language_detect(steno_session *s, uint32_t decode_slot, int segments, double threshold, float *probs, int n)
{
    const int n_languages = s->model->tokens.n_languages;
    if (!n_languages) return err_set(&s->error, STENO_EARG, "an English-only model cannot detect languages");
    if (segments < 1) return err_set(&s->error, STENO_EARG, "a language is detected in %d windows, want 1 or more", segments);
    float now[MAX_LANGUAGES], kept[MAX_LANGUAGES] = { 0 };
    int times[MAX_LANGUAGES] = { 0 }, best = -1;
    const int most = n_languages < MAX_LANGUAGES ? n_languages : MAX_LANGUAGES;
    for (int i = 0; i < segments && (!i || (int64_t)i * s->mel_stream.window < s->mel_stream.frames); i++) {
        const int lang = language_of_window(s, decode_slot, (int64_t)i * s->mel_stream.window, now);
        if (lang < 0) return lang;
        times[lang]++;
        const int sure = now[lang] >= threshold, more = best >= 0 && times[lang] > times[best];
        const int surer = best >= 0 && times[lang] == times[best] && now[lang] > kept[best];
        if (best < 0 || sure || more || surer) {
            best = lang;
            memcpy(kept, now, sizeof kept);
        }
        if (sure) break;
    }
    s->result.n_language_probs = most;
    for (int i = 0; i < most; i++) {
        s->result.language_prob[i] = kept[i];
        if (i < n && probs) probs[i] = kept[i];
    }
    return best;
}
