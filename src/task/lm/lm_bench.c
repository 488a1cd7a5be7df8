/* steno: benchmarks of single phases of text generation. SPDX-License-Identifier: MIT */
#include "task/lm/lm_bench.h"
#include <string.h>
#include "base/os.h"
#include "task/decode/generation.h"

enum { LM_BENCH_PROMPT = 64 };

/* No lane ends before its limit. */
static void open_lanes(steno_session *s, struct logit_rules *rules, uint32_t lanes, int limit)
{
    struct steno_batch *b = s->batch;
    *rules = (struct logit_rules){ .n_vocab = s->model->n_vocab, .eot = -1, .ts_begin = s->model->n_vocab };
    for (uint32_t i = 0; i < b->run.n_lanes; i++) {
        struct sampler *l = &b->run.lane[i].sampler;
        lane_reset(s, (uint16_t)i);
        l->rules = rules;
        l->limit = limit;
        l->done = i >= lanes;
    }
}

/* A text of n arbitrary ids in each lane, followed by `steps` steps. */
static int run_texts(steno_session *s, int plan, uint32_t lanes, int n, int steps)
{
    struct steno_batch *b = s->batch;
    const int max = (int)(s->model->plan[plan].max_rows / lanes);
    int rc = STENO_OK;
    for (int at = 0; at < n && !rc; at += max) {
        const int end = n - at < max ? n : at + max;
        b->run.n_rows = 0;
        for (uint32_t l = 0; l < lanes; l++)
            for (int i = at; i < end; i++) {
                const uint32_t id = ((uint32_t)i * 7919u + l * 101u) % (uint32_t)s->model->n_vocab;
                run_add(&b->run, (int32_t)id, i, (uint16_t)l, i == n - 1 ? ROW_SAMPLE : 0);
            }
        rc = steps_run(s, plan, end == n ? steps + 1 : 1);
    }
    return rc;
}

/* One run of a step with its draft tokens, n rows after a text, all of which are sampled. */
static int64_t bench_check(steno_session *s, int plan, int n)
{
    struct steno_batch *b = s->batch;
    const struct plan *p = &s->model->plan[plan];
    struct logit_rules rules;
    struct run_time spent;
    int ran;
    const int most = (int)exec_room(b->exec, p).out;
    if (n > most) return err_set(&s->error, STENO_EARG, "n is %d, want 1 to %d rows", n, most);
    open_lanes(s, &rules, 1, n + 2);
    int rc = run_texts(s, plan, 1, LM_BENCH_PROMPT, 0);
    b->run.n_rows = 0;
    for (int i = 0; i < n; i++) run_add(&b->run, 7919 % s->model->n_vocab, LM_BENCH_PROMPT + i, 0, n > 1 ? ROW_DRAFT : ROW_SAMPLE);
    const int64_t t0 = os_now_ns();
    if (!rc) rc = session_ran(s, b->exec, exec_chain(b->exec, p, &b->run, 1, NULL, &ran, NULL, &spent));
    for (int i = 0; n > 1 && i < n && !rc; i++) rc = session_ran(s, b->exec, exec_choose(b->exec, p, &b->run, NULL, (uint32_t)i));
    const int64_t us = (os_now_ns() - t0) / 1000;
    lane_reset(s, 0);
    return rc ? rc : us;
}

int64_t lm_bench(steno_session *s, int plan, const char *phase, int n)
{
    const int is_prompt = !strcmp(phase, "prompt"), is_batch = !strcmp(phase, "batch");
    struct logit_rules rules;
    if (!strcmp(phase, "check")) return bench_check(s, plan, n);
    if (!is_prompt && !is_batch && strcmp(phase, "decode") != 0)
        return err_set(&s->error, STENO_EARG, "unknown phase '%s'; known are prompt, decode, check, batch", phase);
    if (n > s->model->text_ctx - LM_BENCH_PROMPT)
        return err_set(&s->error, STENO_EARG, "at most %d ids", (int)s->model->text_ctx - LM_BENCH_PROMPT);
    const int64_t before = s->timings.decode_us;
    open_lanes(s, &rules, is_batch ? s->batch->run.n_lanes : 1, is_prompt ? 1 : n + 1);
    const int64_t t0 = os_now_ns();
    const int rc = run_texts(s, plan, is_batch ? s->batch->run.n_lanes : 1, is_prompt ? n : LM_BENCH_PROMPT, is_prompt ? 0 : n);
    const int64_t us = is_prompt ? (os_now_ns() - t0) / 1000 : s->timings.decode_us - before;
    for (uint32_t i = 0; i < s->batch->run.n_lanes; i++) lane_reset(s, (uint16_t)i);
    return rc ? rc : us;
}
