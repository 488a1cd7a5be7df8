/* steno: one window through the plans. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "lib/lib.h"

float *window_mel(const steno_session *s)
{
    const struct plan *p = &s->model->plan[PLAN_ENCODER];
    return exec_slot(&s->batch->exec, p, p->input);
}

static int canceled(steno_session *s, int rc)
{
    return rc == STENO_ECANCELED ? err_set(&s->error, rc, "canceled") : rc;
}

/* What the encoder made of the window, rows without the gaps between them. The slot is the decoder's next. */
static int features_keep(steno_session *s, const struct plan *p)
{
    struct buf *b = &s->result.features;
    const struct slot *out = &p->slot[p->output];
    buf_clear(b);
    for (int32_t i = 0; i < s->model->audio_ctx; i++)
        buf_add(b, exec_slot(&s->batch->exec, p, p->output) + (size_t)i * out->ld, out->width * sizeof(float));
    if (!b->err) return STENO_OK;
    buf_free(b); /* no part of them is of use */
    return err_nomem(&s->error, (size_t)s->model->audio_ctx * out->width * sizeof(float), "audio features");
}

int window_encode(steno_session *s, int64_t from)
{
    const struct plan *p = &s->model->plan[PLAN_ENCODER];
    const struct slot *in = &p->slot[p->input];
    float *mel = window_mel(s);
    memset(mel - in->ld, 0, in->ld * sizeof *mel); /* the zero rows of the first convolution */
    memset(mel + (size_t)in->rows * in->ld, 0, in->ld * sizeof *mel);
    s->encoded_from = -1;

    struct run_time spent;
    int rc = exec_phases(&s->batch->exec, p, 0, ENCODER_PHASES, NULL, p->max_rows, session_time(s, PLAN_ENCODER), &spent);
    s->batch->timings.encode_us += spent.first_ns / 1000;
    s->batch->timings.cross_us += spent.rest_ns / 1000;
    s->batch->timings.n_encodes++;
    if (!rc && s->params && s->params->keep_audio_features) rc = features_keep(s, p);
    if (!rc) s->encoded_from = from;
    return canceled(s, rc);
}

void lane_reset(steno_session *s, uint16_t lane)
{
    lane_rewind(s, lane, 0);
}

void lane_rewind(steno_session *s, uint16_t lane, int32_t len)
{
    struct lane *l = &s->batch->run.lane[lane];
    state_truncate(&s->batch->state[STATE_SELF], lane, (uint32_t)len);
    *l = (struct lane){ .table = l->table, .kv_len = len, .enc_len = s->model->audio_ctx, .last_ts = -1,
                        .out = s->batch->picked + (size_t)lane * (size_t)s->model->text_ctx };
}

int steps_run(steno_session *s, int steps)
{
    int ran = 0;
    struct run_time spent;
    const uint32_t rows = s->batch->run.n_rows;
    const int rc = exec_chain(&s->batch->exec, &s->model->plan[PLAN_DECODER], &s->batch->run, steps, &ran, session_time(s, PLAN_DECODER), &spent);
    if (rows > s->batch->run.n_lanes) { /* the first replay was a prompt */
        s->batch->timings.n_prompts++;
        s->batch->timings.n_prompt_tokens += rows;
        s->batch->timings.prompt_us += spent.first_ns / 1000;
        ran--;
    } else {
        spent.rest_ns += spent.first_ns;
    }
    s->batch->timings.n_steps += ran > 0 ? ran : 0;
    s->batch->timings.decode_us += spent.rest_ns / 1000;
    return canceled(s, rc);
}

/* softmax over the language tokens of the logits after start-of-transcript (openai-whisper, decoding.py, detect_language) */
int language_detect(steno_session *s, float *probs, int n)
{
    const steno_model *m = s->model;
    const struct special_tokens *t = &m->tokens;
    if (!t->n_languages) return err_set(&s->error, STENO_EARG, "an English-only model cannot detect languages");
    int rc = feed_window(&s->feed, 0, s->feed.frames < s->feed.window ? (int)s->feed.frames : s->feed.window, 1, window_mel(s), &s->error);
    if (!rc) rc = window_encode(s, s->feed.frames >= s->feed.window ? 0 : -1);
    if (rc) return rc;
    lane_reset(s, 0);
    s->batch->run.n_rows = 0;
    run_add(&s->batch->run, t->sot, 0, 0, ROW_LOGITS);
    rc = steps_run(s, 1);
    if (rc) return rc;
    const float *x = exec_logits(&s->batch->exec, &m->plan[PLAN_DECODER], 0) + t->first_lang;
    double sum = 0;
    int best = 0;
    for (int i = 1; i < t->n_languages; i++)
        if (x[i] > x[best]) best = i;
    for (int i = 0; i < t->n_languages; i++) sum += exp((double)x[i] - x[best]);
    s->result.n_language_probs = t->n_languages < MAX_LANGUAGES ? t->n_languages : MAX_LANGUAGES;
    for (int i = 0; i < s->result.n_language_probs; i++) {
        s->result.language_prob[i] = (float)(exp((double)x[i] - x[best]) / sum);
        if (i < n && probs) probs[i] = s->result.language_prob[i];
    }
    return best;
}
