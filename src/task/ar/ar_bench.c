/* steno: benchmarks of single stages of transcription. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "task/ar/ar_bench.h"
#include "base/os.h"
#include "model/parts.h"
#include "task/ar/window_decoder.h"
#include "task/window/window.h"

/* Log-mel of n seconds, excluding the time of the source. @return microseconds, or a status */
static int64_t bench_features(steno_session *s, int n)
{
    int64_t left = (int64_t)n * MEL_RATE;
    const int64_t before = mel_of(s)->time.features_ns;
    const steno_source src = saw_source(&left);
    const int rc = mel_stream_listen(mel_of(s), &src, &s->error);
    return rc ? rc : (mel_of(s)->time.features_ns - before) / 1000;
}

static int bench_mel(steno_session *s)
{
    int64_t left = (int64_t)mel_of(s)->window * MEL_HOP;
    const steno_source src = saw_source(&left);
    const int rc = mel_stream_listen(mel_of(s), &src, &s->error);
    return rc ? rc : mel_stream_window(mel_of(s), 0, mel_of(s)->window, 0, window_mel(s), &s->error);
}

int bench_lanes(steno_session *s, int n, int windows, int lanes)
{
    const steno_model *m = s->model;
    const uint32_t per_window = s->batch->n_lanes;
    if (n > m->text_ctx || lanes > (int)per_window)
        return err_set(&s->error, STENO_EARG, "at most %d tokens and %u lanes", (int)m->text_ctx, per_window);
    rule_masks_clear(&ar_of(s)->masks);
    rule_mask(&ar_of(s)->masks, m->tokens.eot);
    request_of(s)->rules = (struct logit_rules){ .mask = ar_of(s)->masks.always, .mask_first = ar_of(s)->masks.first, .n_vocab = m->n_vocab,
                                            .eot = m->tokens.eot, .ts_begin = m->tokens.timestamp_begin };
    s->batch->run.n_rows = 0;
    for (uint16_t i = 0; i < s->batch->run.n_lanes; i++) {
        lane_reset(s, i);
        s->batch->run.lane[i].sampler.rules = &request_of(s)->rules;
        s->batch->run.lane[i].sampler.limit = n;
        s->batch->run.lane[i].sampler.done = (int)(i / per_window) >= windows || (int)(i % per_window) >= lanes;
    }
    return STENO_OK;
}

/* Decodes n tokens in one run, or n runs of one token per lane of each of the first windows. */
static int bench_decode(steno_session *s, int n, int windows, int lanes, int prompt)
{
    const steno_model *m = s->model;
    const int rc = bench_lanes(s, n, windows, lanes);
    if (rc) return rc;
    if (prompt && n > (int)m->plan[PLAN_DECODER].max_rows)
        return err_set(&s->error, STENO_EARG, "at most %d tokens in one run", (int)m->plan[PLAN_DECODER].max_rows);
    for (int i = 0; i < (prompt ? n : 1); i++)
        for (uint16_t k = 0; k < s->batch->run.n_lanes; k++)
            if (!s->batch->run.lane[k].sampler.done) run_add(&s->batch->run, m->tokens.sot, i, k, i == n - 1 || !prompt ? ROW_SAMPLE : 0);
    return steps_run(s, PLAN_DECODER, prompt ? 1 : n);
}

/* One run of a step with the draft tokens behind it: n rows, each of which is sampled. */
static int bench_check(steno_session *s, int n)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = &s->model->plan[PLAN_DECODER];
    struct run_time spent;
    int ran, rc = n > 0 && n <= ROWS_OUT_MIN ? bench_lanes(s, n + 1, 1, 1) : STENO_EARG;
    if (rc) return err_set(&s->error, rc, "n is %d, want 1 to %d rows", n, ROWS_OUT_MIN);
    for (int i = 0; i < n; i++) run_add(&b->run, s->model->tokens.sot, i, 0, n > 1 ? ROW_DRAFT : ROW_SAMPLE);
    rc = session_ran(s, b->exec, exec_chain(b->exec, p, &b->run, 1, NULL, &ran, NULL, &spent));
    for (int i = 0; n > 1 && i < n && !rc; i++) rc = session_ran(s, b->exec, exec_choose(b->exec, p, &b->run, NULL, (uint32_t)i));
    return rc;
}

/* Copies the keys and values of the first window to all windows. Pages that were never written would all map to one zero page, which stays
 * in the L1 cache. */
static void bench_windows(steno_session *s)
{
    for (uint32_t w = 1; w < s->batch->n_windows; w++) exec_state_copy(s->batch->exec, STATE_CROSS, w, 0);
}

/* n steps of a beam search that never ends early. Beams on noise fork as often as on any input. */
static int bench_beams(steno_session *s, int n, int beams)
{
    struct steno_batch *b = s->batch;
    if (beams > (int)b->n_lanes) return err_set(&s->error, STENO_EARG, "%d beams need max_lanes %d", beams, beams);
    int rc = bench_lanes(s, n, 1, beams);
    if (rc) return rc;
    const struct ar_params p = { .n_lanes = beams, .beams = 1, .max_finished = beams, .length_penalty = (double)NAN };
    struct ar *a = &ar_of(s)->decoder[0].attempts.ar;
    ar_begin(a, &p, 0, &s->model->tokens.sot, 1, 0);
    while (!a->done && !rc) {
        b->run.n_rows = 0;
        ar_add_rows(a, &b->run, &b->state[STATE_SELF], exec_room(b->exec, &s->model->plan[PLAN_DECODER]));
        rc = steps_run(s, PLAN_DECODER, 1);
        ar_give(a, &b->run, &b->state[STATE_SELF]);
    }
    return rc;
}

int64_t bench_phase(steno_session *s, const char *phase, int n)
{
    if (!strcmp(phase, "batch")) bench_windows(s);
    const steno_timings before = s->timings;
    const int64_t t0 = os_now_ns();
    int rc;
    int64_t us = -1;
    if (!strcmp(phase, "mel")) {
        rc = bench_mel(s);
    } else if (!strcmp(phase, "features")) {
        us = bench_features(s, n);
        rc = us < 0 ? (int)us : STENO_OK;
    } else if (!strcmp(phase, "encode") || !strcmp(phase, "cross")) {
        rc = bench_mel(s);
        if (!rc) rc = window_encode(s, 0, s->model->audio_ctx);
        us = *phase == 'e' ? s->timings.encode_us - before.encode_us : s->timings.cross_us - before.cross_us;
    } else if (!strcmp(phase, "prompt")) {
        rc = bench_decode(s, n, 1, 1, 1);
    } else if (!strcmp(phase, "decode")) {
        rc = bench_decode(s, n, 1, 1, 0);
    } else if (!strcmp(phase, "check")) {
        rc = bench_check(s, n);
    } else if (!strcmp(phase, "beam5")) {
        rc = bench_beams(s, n, 5);
    } else if (!strcmp(phase, "batch")) {
        rc = bench_decode(s, n, (int)s->batch->n_windows, 1, 0);
    } else if (!strcmp(phase, "total")) {
        rc = bench_mel(s);
        if (!rc) rc = window_encode(s, 0, s->model->audio_ctx);
        if (!rc) rc = bench_decode(s, n, 1, 1, 0);
    } else {
        rc = err_set(&s->error, STENO_EARG,
                     "unknown phase '%s'; known are mel, features, encode, cross, prompt, decode, check, beam5, batch, total", phase);
    }
    if (rc) return rc;
    return us >= 0 ? us : (os_now_ns() - t0) / 1000;
}
