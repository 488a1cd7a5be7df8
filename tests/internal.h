/* steno tests: the only access from a session to its internals. SPDX-License-Identifier: MIT
 *
 * Tests and benchmarks of plans, replays and whole windows use a model and a session opened with the public header. They reach internals
 * only through these functions. If the internals move, only this file changes; script/lint checks that no test bypasses it. */
#ifndef STENO_TESTS_INTERNAL_H
#define STENO_TESTS_INTERNAL_H
#include <stdlib.h>
#include "lib/open.h"
#include "task/ar/ar_bench.h"
#include "task/ar/window_decoder.h"
#include "task/audio_lm/audio_lm_session.h"
#include "text/repetition.h"
#include "task/window/window.h"
#include "task/words/words.h"
#include "plan/replay.h"
#include "search/grammar_match.h"

/* ---- a model ---- */

/* Do the model and the draft model of a session share an encoder, so that it runs once? */
static inline int inside_hears_once(const steno_session *s) { return s->batch->draft && s->batch->draft->shares_encoder; }

/* Rows of an audio language model's last run that were those of the run before. */
static inline uint32_t inside_known_rows(const steno_session *s) { return audio_lm_batch_of(s->batch)->n_known; }
static inline uint32_t inside_window_rows(const steno_model *m) { return (uint32_t)m->window_rows; }

static inline const struct plan *inside_plan(const steno_model *m, int plan) { return &m->plan[plan]; }
static inline int inside_n_plans(const steno_model *m) { return m->n_plans; }
static inline const struct token_roles *inside_tokens(const steno_model *m) { return &m->tokens; }
static inline const struct vocab *inside_vocab(const steno_model *m) { return &m->vocab; }
static inline const struct family *inside_family(const steno_model *m) { return m->family; }
/* Memory of the executor for the first n plans of a model, on one thread, without states. */
static inline size_t inside_exec_memory(const steno_model *m, int n, uint32_t max_out)
{
    const struct plan *plan[MODEL_PLANS];
    for (int i = 0; i < n; i++) plan[i] = &m->plan[i];
    struct kv_state state[MODEL_STATES];
    for (int i = 0; i < m->n_states; i++) state[i] = state_shape(&m->state[i], m->kv_type[i], 0);
    const struct exec_params p = { .plan = plan, .n_plans = n, .state = state, .max_out = max_out, .threads = 1 };
    return exec_memory(m->executor, &p);
}
static inline const struct state_desc *inside_state_desc(const steno_model *m, int state) { return &m->state[state]; }
/* For sessions opened later: layers with a window keep all rows of a text, as other layers do, or only those of their windows. */
static inline void inside_windows(steno_model *m, int holds_all)
{
    for (int i = 0; i < m->n_states && holds_all; i++) m->state[i].window = 0;
}
static inline const struct kern *inside_kern(const steno_model *m) { return &m->kern; }
static inline int32_t inside_n_vocab(const steno_model *m) { return m->n_vocab; }
static inline int32_t inside_text_ctx(const steno_model *m) { return m->text_ctx; }
static inline int32_t inside_audio_ctx(const steno_model *m) { return m->audio_ctx; } /* positions of the encoder; each covers 2 frames */
static inline int32_t inside_n_mels(const steno_model *m) { return m->widths.n_mels; }
static inline size_t inside_mel_n(const steno_model *m) { return 2 * (size_t)m->audio_ctx * (size_t)m->widths.n_mels; }
/* The cache size that products are blocked for; a test may set another. */
static inline void inside_set_cache(steno_model *m, size_t sz) { m->kern.cache = sz; }
static inline size_t inside_packed_sz(const steno_model *m) { return m->store.used; }

/* Open a model from the bytes of one file; unfused: split the fused ops of its plans. */
static inline int inside_open(steno_model **out, const struct file *f, const steno_model_params *p, int unfused, steno_error *e)
{
    const struct model_variant v = { .unfused = unfused };
    return model_open_file(out, f, p, &v, e);
}

/* ---- audio of a session ---- ---- */

static inline void inside_begin(steno_session *s) { session_begin(s); } /* as a call begins: no results, no error, no active lanes */
static inline int inside_listen(steno_session *s, const steno_source *src, steno_error *e)
{
    return mel_stream_listen(mel_of(s), src, e);
}
static inline struct mel_stream *inside_stream(const steno_session *s) { return mel_of(s); }
static inline int64_t inside_frames(const steno_session *s) { return mel_of(s)->frames; }

/* Log-mel of frames [from, from + n) of the session's audio: out[n, n_mels]. */
static inline int inside_window(steno_session *s, int64_t from, int n, float *out)
{
    return mel_stream_window(mel_of(s), from, n, 0, out, NULL);
}

/* The encoder's log-mel input: [2 audio_ctx, n_mels]. */
static inline float *inside_mel(const steno_session *s) { return window_mel(s); }
/* Encode that input; cross keys go to decoding slot `window`. */
static inline int inside_encode_for(steno_session *s, uint32_t window, int32_t n_ctx) { return window_encode(s, window, n_ctx); }
static inline int inside_encode(steno_session *s) { return window_encode(s, 0, s->model->audio_ctx); }

/* The number of plan runs so far of the session's batch. */
static inline int64_t inside_runs(const steno_session *s) { return s->batch->exec->n_wakes; }

/* ---- rows and lanes of the next replay ---- */

static inline struct run *inside_run(const steno_session *s) { return &s->batch->run; }
static inline struct lane *inside_lane(const steno_session *s, int lane) { return &inside_run(s)->lane[lane]; }
static inline void inside_lane_reset(steno_session *s, int lane) { lane_reset(s, (uint16_t)lane); }

/* Begin a lane: at most `limit` tokens under these rules. */
static inline struct lane *inside_lane_begin(steno_session *s, int lane, const struct logit_rules *rules, int32_t limit)
{
    inside_lane_reset(s, lane);
    struct lane *l = inside_lane(s, lane);
    l->sampler.rules = rules;
    l->sampler.limit = limit;
    l->sampler.done = limit == 0;
    return l;
}

static inline void inside_clear(steno_session *s) { inside_run(s)->n_rows = 0; }
static inline void inside_add(steno_session *s, int32_t token, int32_t pos, int lane, int flags)
{
    run_add(inside_run(s), token, pos, (uint16_t)lane, (uint16_t)flags);
}
static inline uint32_t inside_n_rows(const steno_session *s) { return inside_run(s)->n_rows; }
static inline void inside_advance(steno_session *s) { run_advance(inside_run(s)); } /* rows for the tokens just chosen */

/* Run the rows, then single steps until all lanes are done or `steps` replays ran. @return STENO_OK or an error */
static inline int inside_replay(steno_session *s, int steps) { return steps_run(s, PLAN_DECODER, steps); }
/* Run phases [first, end) of a plan on n_rows rows; tables: these are the rows that were added. */
static inline int inside_phases(steno_session *s, const struct plan *p, int first, int end, int tables, uint32_t n_rows)
{
    struct run_time spent;
    const struct phases what = { .first = first, .end = end, .n_rows = n_rows, .run = tables ? inside_run(s) : NULL };
    return exec_phases(s->batch->exec, p, &what, NULL, &spent);
}

/* Lanes for benchmarks: none ends before n tokens. */
static inline int inside_bench_lanes(steno_session *s, int n, int windows, int lanes) { return bench_lanes(s, n, windows, lanes); }

/* ---- results of a replay ---- ---- */

static inline const float *inside_logits(const steno_session *s, uint32_t i) /* [n_vocab] of the i-th row that requested logits */
{
    return exec_logits(s->batch->exec, inside_plan(s->model, PLAN_DECODER), i);
}
static inline uint32_t inside_n_logits(const steno_session *s) { return inside_run(s)->n_out; }
static inline const struct sampled_token *inside_picked(const steno_session *s, int lane) { return inside_lane(s, lane)->sampler.out; }
static inline int32_t inside_n_picked(const steno_session *s, int lane) { return inside_lane(s, lane)->sampler.n; }
static inline double inside_sum_logprob(const steno_session *s, int lane) { return inside_lane(s, lane)->sampler.sum_logprob; }
static inline const struct best *inside_best(const steno_session *s, int row) { return &inside_run(s)->argmax.best[row]; }

static inline float *inside_slot(const steno_session *s, const struct plan *p, int slot)
{
    size_t ld;
    return (float *)(uintptr_t)exec_output(s->batch->exec, p, (uint16_t)slot, 0, 1, &ld); /* in place, on the CPU */
}
static inline float *inside_encoded(const steno_session *s) /* the encoder's output; rows of length inside_encoded_ld */
{
    const struct plan *p = inside_plan(s->model, PLAN_ENCODER);
    return inside_slot(s, p, p->output);
}
static inline size_t inside_encoded_ld(const steno_model *m)
{
    const struct plan *p = inside_plan(m, PLAN_ENCODER);
    return p->slot[p->output].ld;
}

static inline struct kv_state *inside_state(const steno_session *s, int state) { return &s->batch->state[state]; }
/* The size of a state in bytes, and a copy of it that the caller frees. */
static inline size_t inside_state_sz(const steno_session *s, int state) { return exec_state_sz(s->batch->exec, state, 0, 0); }
static inline void *inside_state_copy(const steno_session *s, int state)
{
    void *copy = malloc(inside_state_sz(s, state));
    if (copy) exec_state_get(s->batch->exec, state, 0, 0, copy);
    return copy;
}
static inline void inside_state_set(const steno_session *s, int state, const void *from)
{
    exec_state_set(s->batch->exec, state, 0, 0, from);
}
static inline void inside_fork(steno_session *s, int dst, int src)
{
    state_fork(inside_state(s, STATE_SELF), (uint16_t)dst, (uint16_t)src);
}
static inline int inside_align(steno_session *s, int lane, const int32_t *ids, int32_t n, int32_t n_ctx, const float **matrix, size_t *ld,
                               float *prob)
{
    struct alignment out = { .prob = prob };
    const int rc = align_run(s, &(struct align_place){ s->batch, (uint16_t)lane, n_ctx }, ids, n, &out);
    *matrix = out.matrix;
    *ld = out.ld;
    return rc;
}

/* ---- the executor ---- */

static inline struct exec *inside_exec(const steno_session *s) { return s->batch->exec; }
static inline struct cpu_exec *inside_cpu(const steno_session *s) { return (struct cpu_exec *)(void *)s->batch->exec; }
static inline int64_t inside_wakes(const steno_session *s) { return inside_exec(s)->n_wakes; } /* wake-ups of the team so far */
/* [ops] times of a plan, for runs of this session only; NULL if profiling is off */
static inline struct op_time *inside_times(const steno_session *s, int plan) { return session_time(s, plan); }
static inline void inside_abort(steno_session *s, int (*should_abort)(void *user)) { s->should_abort = should_abort; }

/* ---- a transcription ---- */

/* Changes the range of segment i, in seconds. */
static inline void inside_segment_move(const steno_session *s, int i, double start, double end)
{
    struct segment *g = (struct segment *)(void *)s->result.segments.p + i;
    g->start = start;
    g->end = end;
}

/* The prompt of the last window. */
struct prompted { const int32_t *id; int32_t n, sot; };
static inline struct prompted inside_prompt(const steno_session *s)
{
    const struct window_decoder *w = &ar_of(s)->decoder[0];
    return (struct prompted){ w->attempts.ar.prompt, w->attempts.ar.n_prompt, w->attempts.ar.sot };
}
static inline const int32_t *inside_ids(const steno_session *s) { return ar_of(s)->decoder[0].attempts.ids; } /* ids of its last attempt */
static inline uint32_t inside_grammar_states(const steno_session *s) { return request_of(s)->matcher->states.n; }

/* Masks and rules of a request, as a call makes them. */
static inline struct rule_masks *inside_masks(steno_session *s) { return &ar_of(s)->masks; }
static inline struct logit_rules *inside_rules(steno_session *s) { return &request_of(s)->rules; }
#endif
