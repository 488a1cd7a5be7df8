/* steno: near-ties of fast arithmetic are decided in f32. SPDX-License-Identifier: MIT
 *
 * Fast arithmetic moves logits a little, so it changes a text only where two choices are nearly equal. The first pass records the margin of
 * each choice (plan/run.h, struct margins). A window with a near-tie is encoded again by the exact copy of the network. Its tokens run
 * through the exact decoder, many rows per run, and are chosen again from the exact logits in order. While the same tokens are chosen, only
 * their probabilities change. From the first difference on, the exact decoder continues by itself. Beams and sampling depend on too many
 * choices at once, so they are searched again as a whole. The text of a verified window equals that of --compute f32. */
#include <math.h>
#include <string.h>
#include "task/ar/verify.h"
#include "base/os.h"
#include "engine/params.h"
#include "task/ar/logits_processors.h"
#include "task/ar/replay.h"
#include "task/ar/search.h"
#include "task/window/window.h"

/* Share of the text margin that suffices between two timestamps. The choice between timestamps depends on few logits that move together. */
static double const time_share = 0.1, time_share_int8 = 0.4;
/* How far the measures that decide about an attempt may move. */
static double const logprob_margin = 0.05, no_speech_margin = 0.02;

static int is_near(double measure, double threshold, double margin)
{
    return fabs(measure - threshold) < margin; /* false for a disabled threshold (NAN) */
}

int verify_needed(const struct window_decoder *w, const struct attempt *a)
{
    const steno_transcribe_params *p = &w->request->p;
    const struct limits *l = p->guards == STENO_GUARDS_RETRY ? &w->request->full : &w->request->limits;
    const double text = p->verify_margin, time = text * (w->s->model->low_precision == PK_I8_QUAD ? time_share_int8 : time_share);
    if (!w->b->exact || text == 0) return 0;
    return a->temperature > 0 || (double)a->margin.text < text || (double)a->margin.time < time || text >= VERIFY_EVERY ||
           is_near(a->avg_logprob, l->logprob, logprob_margin) || is_near(a->no_speech_prob, l->no_speech, no_speech_margin);
}

struct steno_batch *verify_encoded(const struct window_decoder *w)
{
    struct steno_batch *x = w->b->exact;
    const struct decode_slot *decode_slot = x ? &ar_batch_of(x)->decode_slot[0] : NULL;
    const int is_there = decode_slot && decode_slot->audio == w->s && decode_slot->from == w->position.seek;
    return is_there && decode_slot->frames == w->window.frames ? x : NULL;
}

static int encode(struct window_decoder *w, struct steno_batch *x)
{
    struct decode_slot *decode_slot = &ar_batch_of(x)->decode_slot[0];
    const size_t window = 2 * (size_t)x->model->audio_ctx * (size_t)mel_bank_of(w->s->model)->n_mels;
    if (verify_encoded(w)) return STENO_OK; /* encoded for an earlier attempt */
    decode_slot->audio = NULL;
    memcpy(batch_mel(x), w->window.mel_copy, window * sizeof(float));
    struct run_time spent;
    const int rc = batch_encode(x, 0, window_ctx(w), NULL, &spent);
    if (!rc) *decode_slot = (struct decode_slot){ .audio = w->s, .from = w->position.seek, .frames = w->window.frames };
    return rc;
}

/* Adds the rows [at, end) of the prompt followed by the n tokens. Rows that are sampled output logits. */
static void rows_add(const struct ar *ar, struct run *r, const int32_t *ids, int32_t at, int32_t end)
{
    r->n_rows = 0;
    for (int32_t i = at; i < end; i++) {
        const uint16_t sot = i == ar->sot ? ROW_PROB : 0, choice = i >= ar->n_prompt - 1 ? ROW_LOGITS : 0;
        run_add(r, i < ar->n_prompt ? ar->prompt[i] : ids[i - ar->n_prompt], i, ar->lane0, sot | choice);
    }
}

/* Samples the rows of the run while the result matches ids[n]. @return 1 if all of them match */
static int choose(struct window_decoder *w, struct steno_batch *x, const struct chain_calls *calls, const int32_t *ids, int32_t n)
{
    struct decoder_attempts *attempts = &w->attempts;
    struct lane *l = &x->run.lane[attempts->ar.lane0];
    for (uint32_t out = 0; out < x->run.n_out; out++) {
        const int32_t at = l->sampler.n;
        if (!(x->run.row[x->run.out_row[out]].flags & ROW_LOGITS)) continue;
        if (exec_choose(x->exec, &x->model->plan[PLAN_DECODER], &x->run, calls, out)) return 0;
        if (attempts->failed || l->sampler.done) return !attempts->failed && l->sampler.n == n;
        if (at >= n || l->sampler.out[at].id != ids[at]) return 0;
    }
    return 1;
}

/* Runs the tokens of the first pass, ids[n], through the exact decoder. Its lane holds the exact choices up to the first difference. */
static int tokens_check(struct window_decoder *w, struct steno_batch *x, const int32_t *ids, int32_t n)
{
    struct decoder_attempts *attempts = &w->attempts;
    const struct plan *plan = &x->model->plan[PLAN_DECODER];
    struct lane *l = &x->run.lane[attempts->ar.lane0];
    const int32_t n_prompt = attempts->ar.n_prompt, all = n_prompt + (n < l->sampler.limit ? n : n - 1);
    const struct chain_calls calls = { .filter = processors_needed(w->request) ? batch_filter : NULL, .user = x };
    int rc = STENO_OK;
    for (int32_t at = 0, end, same = 1; at < all && same && !rc; at = end) {
        end = at < n_prompt - 1 ? n_prompt - 1 : at; /* together with a few sampled rows after the prompt */
        end = end + ROWS_OUT_MIN - 1 < all ? end + ROWS_OUT_MIN - 1 : all;
        if (end - at > (int32_t)plan->max_rows) end = at + (int32_t)plan->max_rows;
        int ran;
        struct run_time spent;
        rows_add(&attempts->ar, &x->run, ids, at, end);
        rc = exec_chain(x->exec, plan, &x->run, 1, &calls, &ran, NULL, &spent);
        if (!rc) same = choose(w, x, &calls, ids, n);
    }
    const int32_t len = n_prompt + (l->sampler.done ? l->sampler.n : l->sampler.n - 1); /* the last chosen token has no key yet */
    if (l->kv.len > len) {
        state_truncate(&x->state[STATE_SELF], attempts->ar.lane0, (uint32_t)len);
        l->kv.len = len;
    }
    attempts->ar.fed = n_prompt;
    if (!rc) ar_give(&attempts->ar, &x->run, &x->state[STATE_SELF]);
    return rc;
}

/* Runs the attempt's search in x, where the window is encoded. */
static int search(struct window_decoder *w, struct steno_batch *x, const int32_t *ids, int32_t n)
{
    struct decoder_attempts *attempts = &w->attempts;
    int rc = search_begin(w, 0);
    if (!rc && attempts->ar.p.n_lanes == 1 && attempts->now.temperature == 0) rc = tokens_check(w, x, ids, n);
    while (!rc && !attempts->ar.done && !attempts->failed && !session_should_stop(w->s)) rc = batch_decode(x);
    if (!rc && attempts->failed) rc = processors_failed(w->s);
    return rc || attempts->ar.done ? rc : STENO_ECANCELED;
}

/* Copies the choices of x to the lanes of the first pass. @return 1 if they differ */
static int lanes_take(struct decoder_attempts *attempts, const struct steno_batch *x, struct steno_batch *b, uint32_t decode_slot,
                      const int32_t *ids, int32_t n)
{
    const uint16_t lane0 = (uint16_t)(decode_slot * b->n_lanes);
    const struct lane *from = &x->run.lane[attempts->ar.result];
    int differs = from->sampler.n != n;
    for (int32_t i = 0; i < from->sampler.n && !differs; i++) differs = from->sampler.out[i].id != ids[i];
    attempts->ar.result = (uint16_t)(lane0 + attempts->ar.result);
    struct lane *to = &b->run.lane[attempts->ar.result];
    const struct margins margin = to->sampler.margin;
    const struct lane_kv kv = to->kv;
    lane_copy(to, from);
    to->sampler.margin = margin;
    to->kv = kv;
    b->run.lane[lane0].prob = x->run.lane[0].prob;
    return differs;
}

int verify_attempt(struct window_decoder *w, struct attempt *a)
{
    struct decoder_attempts *attempts = &w->attempts;
    steno_session *s = w->s;
    struct steno_batch *b = w->b, *x = b->exact;
    const uint32_t decode_slot = w->decode_slot;
    const int64_t t0 = os_now_ns();
    const int32_t n = a->n_tokens;
    memcpy(attempts->first, attempts->ids, (size_t)n * sizeof *attempts->first);
    x->solo = s;
    int rc = encode(w, x);
    for (uint32_t i = 0; i < x->run.n_lanes; i++) x->run.lane[i].sampler.done = 1; /* until the search uses it */
    w->b = x;
    w->decode_slot = 0;
    ar_batch_of(x)->decode_slot[0].user = w;
    if (!rc) rc = search(w, x, attempts->first, n);
    ar_batch_of(x)->decode_slot[0].user = NULL;
    x->solo = NULL;
    w->b = b;
    w->decode_slot = decode_slot;
    if (rc) return s->error.status ? rc : session_ran(s, x->exec, rc);
    a->verified = 1;
    a->corrected = lanes_take(attempts, x, b, decode_slot, attempts->first, n);
    s->timings.n_verified++;
    s->timings.n_corrected += a->corrected;
    s->timings.verify_us += (os_now_ns() - t0) / 1000;
    return STENO_OK;
}
