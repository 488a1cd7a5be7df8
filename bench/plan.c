/* steno: the cost of a plan. SPDX-License-Identifier: MIT
 *
 *   bench_plan [--tsv FILE] [--shape NAME] [--type TYPE] [--compute WORD] [--cpu LEVEL] [--runs N] [--threads N]
 *
 * Measures the inside of a Whisper model with random weights. Phases are compared with the lower bound of their operations and bytes
 * (roof.h). Further figures: chains of several lengths, the executor's own cost (empty ops, barriers, waking the team), and the cost of the
 * plan without its fusions, or with cross keys computed for every token. Runs on one thread and on N (default 2, or 1 on a single
 * processor); compared variants alternate. FILE receives rows (report.h), whose names end in the number of threads. WORD: auto, f32, bf16,
 * int16 or int8. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan_model.h"
#include "stages.h"

enum { EMPTY_OPS = 1000 };

static const char *const stage_name[STAGES] = { "encode", "cross", "step", "step_beam5", "step_batch8", "prompt" };

struct bench {
    struct opts o;
    steno_model *model[2];       /* with fusions; without */
    struct report out;
    char *pool;                  /* [POOL] memory to read */
    struct roofs roofs;          /* for the current number of threads */
    double one_f32;              /* the f32 peak of one thread */
    struct work work[STAGES];
    struct bound bound[STAGES];
    struct timed reached[STAGES]; /* ns */
    int threads;
    steno_team *team;            /* of the current number of threads; NULL for one */
    steno_session *session[2];
    double encode_ns, step_ns;   /* best times */
};

static void must(const steno_session *s, int64_t status, const char *what)
{
    if (status < 0) fail(what, steno_last_error(s));
}

/* ---- one window ---- */

static double clock_ns(void)
{
    return (double)os_now_ns();
}

/* Encoder and cross keys of a window; time of each in ns. */
static void encode(steno_session *s, double *enc, double *cross)
{
    const steno_timings before = s->timings;
    must(s, steno_bench_phase(s, "encode", 1), "encode");
    *enc = (double)(s->timings.encode_us - before.encode_us) * 1e3;
    *cross = (double)(s->timings.cross_us - before.cross_us) * 1e3;
}

/* Decode TOKENS tokens from an empty state, in chains of `length`; ns. ids: receives the chosen tokens. */
static double chains(steno_session *s, int length, int32_t *ids)
{
    must(s, inside_bench_lanes(s, TOKENS, 1, 1), "chain");
    const double begin = clock_ns();
    inside_add(s, inside_tokens(s->model)->sot, 0, 0, ROW_SAMPLE);
    while (inside_n_picked(s, 0) < TOKENS) {
        if (inside_n_picked(s, 0)) inside_advance(s);
        must(s, inside_replay(s, length), "chain");
    }
    const double ns = clock_ns() - begin;
    for (int i = 0; i < TOKENS; i++) ids[i] = inside_picked(s, 0)[i].id;
    return ns;
}

static void bench_encode(struct bench *b)
{
    const struct work *const enc = &b->work[STAGE_ENCODE], *const cross = &b->work[STAGE_CROSS];
    double enc_ns[RUNS_MAX], cross_ns[RUNS_MAX], mel_ns[RUNS_MAX];
    const int64_t wakes = inside_wakes(b->session[0]);
    for (int i = 0; i < b->o.runs; i++) {
        encode(b->session[0], &enc_ns[i], &cross_ns[i]);
        const int64_t us = steno_bench_phase(b->session[0], "mel", 1);
        must(b->session[0], us, "mel");
        mel_ns[i] = (double)us * 1e3;
    }
    const double woken = (double)(inside_wakes(b->session[0]) - wakes) / b->o.runs;
    const struct timed te = timed_of(enc_ns, b->o.runs), tc = timed_of(cross_ns, b->o.runs), tm = timed_of(mel_ns, b->o.runs);
    b->encode_ns = te.best;
    b->reached[STAGE_ENCODE] = te;
    b->reached[STAGE_CROSS] = tc;
    printf("  mel %.2f ms\n  encode %.1f ms, %.1f GFLOP: %.0f GFLOP/s, %.0f %% of the bound\n", tm.best * 1e-6, te.best * 1e-6,
           enc->flops * 1e-9, enc->flops / te.best, 100 * b->bound[STAGE_ENCODE].ns / te.best);
    printf("  cross keys and values %.1f ms, %.2f G multiply-adds: %.0f GFLOP/s\n", tc.best * 1e-6, cross->flops * 0.5e-9,
           cross->flops / tc.best);
    report_row(&b->out, "ms", tm, 1e-6, "mel_%dt", b->threads);
    report_row(&b->out, "ms", te, 1e-6, "encode_%dt", b->threads);
    report_rate(&b->out, "GFLOP/s", te, enc->flops, "encode_rate_%dt", b->threads);
    report_row(&b->out, "ms", tc, 1e-6, "cross_%dt", b->threads);
    report_rate(&b->out, "GFLOP/s", tc, cross->flops, "cross_rate_%dt", b->threads);
    report_row(&b->out, "wakes", counted(woken), 1, "wakes_encode_and_cross_%dt", b->threads);
}

/* Shares of the encoder's time by kind of op, and the share of the front end. */
static void bench_shares(struct bench *b)
{
    static const struct { const char *name; int kind; } part[] = {
        { "share_linear", OP_LINEAR }, { "share_attention", OP_ATTN }, { "share_other_norms", OP_NORM },
    };
    enum { PARTS = sizeof part / sizeof *part };
    steno_session *s = b->session[0];
    const struct plan *p = inside_plan(s->model, PLAN_ENCODER);
    double ns[PARTS + 1] = { 0 }, all = 0, enc, cross;
    steno_profile_enable(s, 1);
    struct op_time *time = inside_times(s, PLAN_ENCODER);
    memset(time, 0, p->n_ops * sizeof *time);
    for (int i = 0; i < b->o.runs; i++) encode(s, &enc, &cross);
    steno_profile_enable(s, 0);
    for (int i = 0; i < p->phase[PHASE_ENCODE].last; i++) {
        int k = 0;
        while (k < PARTS && part[k].kind != p->op[i].kind) k++;
        ns[k] += (double)time[i].ns;
        all += (double)time[i].ns;
    }
    const double mel = (double)steno_bench_phase(s, "mel", 1) * 1e3;
    printf("  of the encoder's time:");
    for (int k = 0; k <= PARTS; k++) {
        const char *name = k < PARTS ? part[k].name : "share_other_ops";
        printf(" %s %.1f %%", name + 6, 100 * ns[k] / all);
        report_row(&b->out, "%", (struct timed){ 100 * ns[k] / all, 100 * ns[k] / all, b->o.runs }, 1, "%s_%dt", name, b->threads);
    }
    printf("; the front end would be %.1f %%\n", 100 * mel / b->encode_ns);
    report_row(&b->out, "%", counted(100 * mel / b->encode_ns), 1, "share_other_front_end_%dt", b->threads);
}

/* ---- the decoder ---- */

static void bench_chains(struct bench *b)
{
    static const int length[] = { 1, 16, 64, 128 };
    enum { LENGTHS = sizeof length / sizeof *length };
    double ns[LENGTHS][RUNS_MAX];
    int32_t ids[LENGTHS][TOKENS];
    steno_session *s = b->session[0];
    const int64_t wakes = inside_wakes(s);
    for (int i = 0; i < b->o.runs; i++)
        for (int k = 0; k < LENGTHS; k++) ns[k][i] = chains(s, length[k], ids[k]);
    int64_t expected = 0;
    for (int k = 0; k < LENGTHS; k++) {
        const struct timed t = timed_of(ns[k], b->o.runs);
        printf("  chains of %3d: %.3f ms a token, %.1f tokens/s\n", length[k], t.best * 1e-6 / TOKENS, TOKENS * 1e9 / t.best);
        report_rate(&b->out, "tokens/s", t, TOKENS * 1e9, "chain_%d_%dt", length[k], b->threads);
        if (memcmp(ids[k], ids[0], sizeof *ids)) fail("chains", "tokens depend on their length");
        if (length[k] == TOKENS) b->step_ns = t.best / TOKENS;
        expected += TOKENS / length[k];
    }
    report_row(&b->out, "wakes", counted((double)(inside_wakes(s) - wakes) / (double)expected / b->o.runs), 1, "wakes_chain_%dt",
               b->threads);
}

/* Compare a step with the bytes it reads: weights, keys and values, after half of the tokens. */
static void bench_step(struct bench *b)
{
    const double bytes = b->work[STAGE_STEP].bytes;
    double ns[RUNS_MAX];
    int32_t ids[TOKENS];
    for (int i = 0; i < b->o.runs; i++) ns[i] = chains(b->session[0], TOKENS, ids) / TOKENS;
    const struct timed t = timed_of(ns, b->o.runs);
    b->reached[STAGE_STEP] = t;
    printf("  step %.3f ms: %.1f MB, %.1f GB/s, reading them alone %.3f ms (%.2f times)\n", t.best * 1e-6, bytes * 1e-6, bytes / t.best,
           b->bound[STAGE_STEP].reading * 1e-6, t.best / b->bound[STAGE_STEP].reading);
    report_row(&b->out, "ms", t, 1e-6, "step_%dt", b->threads);
    report_rate(&b->out, "GB/s", t, bytes, "step_read_%dt", b->threads);
}

struct nothing { steno_team *team; int barriers; };

static void nothing_thread(void *arg, int thread)
{
    const struct nothing *n = arg;
    (void)thread;
    for (int i = 0; i < n->barriers; i++) team_barrier(n->team);
}

/* Time in ns of a team run with this number of barriers. */
static struct timed team_cost(steno_team *team, int barriers, int rounds, int idle_us)
{
    static double ns[ROUNDS_MAX];
    struct nothing n = { team, barriers };
    for (int i = 0; i < rounds; i++) {
        if (idle_us) usleep((unsigned)idle_us);
        const double begin = clock_ns();
        team_run(team, nothing_thread, &n);
        ns[i] = clock_ns() - begin;
    }
    return timed_of(ns, rounds);
}

/* Barriers, waking, and the share of a step spent inside kernels: the time of the ops without their barriers. */
static void bench_team(struct bench *b)
{
    enum { BARRIERS = 2000, IDLE_US = 3000 }; /* workers fall asleep after 3 ms */
    steno_session *s = b->session[0];
    const struct plan *p = inside_plan(s->model, PLAN_DECODER);
    const struct timed barrier = team_cost(b->team, BARRIERS, 50, 0), hot = team_cost(b->team, 0, 300, 0);
    const struct timed parked = team_cost(b->team, 0, 50, IDLE_US);
    double inside[RUNS_MAX];
    int32_t ids[TOKENS];
    for (int i = 0; i < b->o.runs; i++) {
        double ns = 0;
        steno_profile_enable(s, 1);
        memset(inside_times(s, PLAN_DECODER), 0, p->n_ops * sizeof(struct op_time));
        const double all = chains(s, TOKENS, ids);
        for (int k = 0; k < p->n_ops; k++) ns += (double)inside_times(s, PLAN_DECODER)[k].ns;
        steno_profile_enable(s, 0);
        inside[i] = -100 * (ns - (double)p->n_ops * TOKENS * barrier.best / BARRIERS) / all; /* lower is better in timed_of */
    }
    struct timed in = timed_of(inside, b->o.runs);
    in.best = -in.best;
    in.median = -in.median;
    printf("  barrier %.0f ns; waking the team %.1f us while it spins, %.1f us when it sleeps; inside kernels %.1f %% of a step\n",
           barrier.best / BARRIERS, hot.best * 1e-3, parked.median * 1e-3, in.median);
    report_row(&b->out, "ns", barrier, 1.0 / BARRIERS, "barrier_%dt", b->threads);
    report_row(&b->out, "us", hot, 1e-3, "wake_spinning_%dt", b->threads);
    report_row(&b->out, "us", parked, 1e-3, "wake_sleeping_%dt", b->threads);
    report_row(&b->out, "%", in, 1, "step_inside_%dt", b->threads);
}

/* Ops without rows: only the walk over the list remains. */
static void bench_empty(struct bench *b)
{
    static struct op op[EMPTY_OPS];
    double ns[ROUNDS_MAX];
    struct cpu_exec *x = inside_cpu(b->session[0]);
    struct plan p = *inside_plan(b->model[0], PLAN_ENCODER);
    const struct op *norm = p.op;
    while (norm->kind != OP_NORM) norm++;
    for (int i = 0; i < EMPTY_OPS; i++) op[i] = *norm;
    p.op = op;
    p.n_ops = EMPTY_OPS;
    p.phase[0] = (struct phase){ "empty", 0, EMPTY_OPS };
    _Atomic int64_t *own = x->counter;
    x->counter = calloc(EMPTY_OPS, sizeof *x->counter);
    if (!x->counter) fail("empty plan", "no memory");
    for (int i = 0; i < 300; i++) {
        const double begin = clock_ns();
        inside_phases(b->session[0], &p, 0, 1, 0, 0);
        ns[i] = (clock_ns() - begin) / EMPTY_OPS * 100;
    }
    free((void *)x->counter);
    x->counter = own;
    const struct timed t = timed_of(ns, 300);
    printf("  a hundred ops without work: %.2f us\n", t.best * 1e-3);
    report_row(&b->out, "us", t, 1e-3, "empty_100_ops_%dt", b->threads);
}

/* ---- without ---- */

/* Tokens of a chain that computes the cross keys again for each token, as if they had no state. The decoder's slots overwrite the encoder's
 * output, which is restored before; that time is excluded. */
static void bench_recross(struct bench *b)
{
    enum { FEW = 8 };
    steno_session *s = b->session[0];
    const struct plan *p = inside_plan(s->model, PLAN_ENCODER);
    const struct slot *out = &p->slot[p->output];
    const size_t sz = (size_t)out->rows * out->ld * sizeof(float);
    double ns[RUNS_MAX], enc, cross;
    int32_t ids[TOKENS];
    float *kept = malloc(sz);
    void *nothing = calloc(1, inside_state_sz(s, STATE_CROSS));
    if (!kept || !nothing) fail("cross keys", "no memory");
    encode(s, &enc, &cross);
    memcpy(kept, inside_encoded(s), sz);
    chains(s, TOKENS, ids);
    for (int i = 0; i < b->o.runs; i++) {
        ns[i] = 0;
        must(s, inside_bench_lanes(s, TOKENS, 1, 1), "cross keys");
        inside_add(s, inside_tokens(s->model)->sot, 0, 0, ROW_SAMPLE);
        for (int k = 0; k < FEW; k++) {
            memcpy(inside_encoded(s), kept, sz);
            inside_state_set(s, STATE_CROSS, nothing);
            if (k) inside_advance(s);
            const double begin = clock_ns();
            inside_phases(s, p, PHASE_CROSS, ENCODER_PHASES, 0, (uint32_t)inside_audio_ctx(s->model));
            must(s, inside_replay(s, 1), "cross keys");
            ns[i] += (clock_ns() - begin) / FEW;
            if (inside_picked(s, 0)[k].id != ids[k]) fail("cross keys", "computed anew they give another token");
        }
    }
    free(kept);
    free(nothing);
    const struct timed t = timed_of(ns, b->o.runs);
    printf("  a token with cross keys computed anew: %.2f ms, %.1f times a step\n", t.best * 1e-6, t.best / b->step_ns);
    report_row(&b->out, "ms", t, 1e-6, "step_recomputed_cross_%dt", b->threads);
}

/* The same network with and without fusions, alternating. */
static void bench_unfused(struct bench *b)
{
    static const char *const name[] = { "fused", "unfused" };
    double enc[2][RUNS_MAX], step[2][RUNS_MAX], cross;
    int32_t ids[2][TOKENS];
    for (int i = 0; i < b->o.runs; i++)
        for (int k = 0; k < 2; k++) {
            encode(b->session[k], &enc[k][i], &cross);
            step[k][i] = chains(b->session[k], TOKENS, ids[k]) / TOKENS;
        }
    if (memcmp(ids[0], ids[1], sizeof *ids)) fail("fusions", "without them other tokens are chosen");
    for (int k = 0; k < 2; k++) {
        const struct plan *p = inside_plan(b->model[k], 0);
        const struct timed te = timed_of(enc[k], b->o.runs), ts = timed_of(step[k], b->o.runs);
        const double ops[2] = { p[PLAN_ENCODER].n_ops, p[PLAN_DECODER].n_ops };
        printf("  %-7s encoder %3.0f ops %.1f ms, decoder %3.0f ops %.3f ms a token\n", name[k], ops[0], te.best * 1e-6, ops[1],
               ts.best * 1e-6);
        for (int i = 0; i < 2 && b->threads == 1; i++)
            report_row(&b->out, "ops", counted(ops[i]), 1, "ops_%s_%s", p[i].name, name[k]);
        report_row(&b->out, "ms", te, 1e-6, "encode_%s_%dt", name[k], b->threads);
        report_row(&b->out, "ms", ts, 1e-6, "step_%s_%dt", name[k], b->threads);
    }
}

/* ---- bounds ---- */

static void bench_bounds(struct bench *b)
{
    work_of_stages(b->work, b->model[0]);
    for (int i = 0; i < STAGES; i++) b->bound[i] = bound_of(&b->work[i], &b->roofs);
}

/* Steps of several rows, and a prompt. They use another session, because a session of a single lane has smaller tables. */
static void bench_rows(struct bench *b)
{
    static const struct { enum stage stage; const char *phase; } of[] = {
        { STAGE_BEAMS, "beam5" }, { STAGE_WINDOWS, "batch" }, { STAGE_PROMPT, "prompt" },
    };
    enum { KINDS = sizeof of / sizeof *of };
    double ns[KINDS][RUNS_MAX], enc, cross;
    steno_batch *batch;
    steno_session *s = open_lanes(&batch, b->model[0], b->team);
    encode(s, &enc, &cross);
    for (int i = -1; i < b->o.runs; i++) /* the first run is not measured */
        for (int k = 0; k < KINDS; k++) {
            const int64_t us = steno_bench_phase(s, of[k].phase, TOKENS);
            must(s, us, of[k].phase);
            if (i >= 0) ns[k][i] = (double)us * 1e3 / TOKENS;
        }
    for (int k = 0; k < KINDS; k++) {
        b->reached[of[k].stage] = timed_of(ns[k], b->o.runs);
        report_row(&b->out, "ms", b->reached[of[k].stage], 1e-6, "%s_%dt", stage_name[of[k].stage], b->threads);
    }
    steno_session_close(s);
    steno_batch_close(batch);
}

/* More than 100 %: the last-level cache still held some of the bytes. */
static void bench_roofline(struct bench *b)
{
    printf("  %-12s %9s %9s %11s  %-18s %11s %6s\n", "roofline", "GFLOP", "MB", "bound ms", "by", "reached ms", "%");
    for (int i = 0; i < STAGES; i++) {
        const struct work *w = &b->work[i];
        const struct bound *limit = &b->bound[i];
        const struct timed t = b->reached[i];
        printf("  %-12s %9.3f %9.1f %11.3f  %-18s %11.3f %6.1f\n", stage_name[i], w->flops * 1e-9, w->bytes * 1e-6, limit->ns * 1e-6,
               limit->by, t.best * 1e-6, 100 * limit->ns / t.best);
        if (b->threads == 1) {
            report_row(&b->out, "GFLOP", counted(w->flops * 1e-9), 1, "%s_work", stage_name[i]);
            report_row(&b->out, "MB", counted(w->bytes * 1e-6), 1, "%s_bytes", stage_name[i]);
        }
        report_row(&b->out, "ms", counted(limit->ns * 1e-6), 1, "bound_%s_%dt", stage_name[i], b->threads);
        report_rate(&b->out, "%", t, 100 * limit->ns, "roof_%s_%dt", stage_name[i], b->threads);
    }
}

/* ---- all of it ---- */

static void bench_machine(struct bench *b)
{
    struct timed t;
    const int level = inside_kern(b->model[0])->level;
    printf("%d thread%s: peaks", b->threads, b->threads > 1 ? "s" : "");
    for (int of = 0; of < ROOFS; of++) {
        const double ops = roof_measure(&t, b->team, level, of);
        b->roofs.gops[of] = ops > 0 ? ops / t.best : 0;
        if (ops <= 0) continue;
        report_rate(&b->out, of == PEAK_F32 ? "GFLOP/s" : "GOP/s", t, ops, "peak_%s_%dt", roof_name(of), b->threads);
        printf(" %s %.1f", roof_name(of), b->roofs.gops[of]);
    }
    const double bytes = round_read(&t, b->team, level, b->pool, POOL, 8 << 20, 1);
    b->roofs.read = bytes / t.best;
    report_rate(&b->out, "GB/s", t, bytes, "read_%dt", b->threads);
    printf(" GOP/s, read %.1f GB/s\n", b->roofs.read);
    if (b->threads == 1) b->one_f32 = b->roofs.gops[PEAK_F32];
    else if (b->one_f32 > 0) printf("  f32 peak %.2f times that of one thread\n", b->roofs.gops[PEAK_F32] / b->one_f32);
}

static void bench_threads(struct bench *b, int threads)
{
    steno_session_params p;
    steno_error e;
    b->threads = threads;
    b->team = round_team(threads);
    steno_session_params_init(&p);
    for (int i = 0; i < 2; i++)
        if (steno_session_open(&b->session[i], b->model[i], b->team, &p, &e)) fail("session", e.text);
    bench_machine(b);
    bench_bounds(b);
    bench_encode(b);
    bench_shares(b);
    bench_chains(b);
    bench_step(b);
    bench_team(b);
    bench_empty(b);
    bench_recross(b);
    bench_unfused(b);
    bench_rows(b);
    bench_roofline(b);
    fflush(stdout);
    for (int i = 0; i < 2; i++) steno_session_close(b->session[i]);
    team_close(b->team);
}

int main(int argc, char **argv)
{
    static struct bench b;
    char machine[64], text[128];
    b.o = (struct opts){ .shape = "base", .type = "f16", .compute = "auto" };
    if (read_options(&b.o, argc, argv)) {
        fprintf(stderr, "usage: bench_plan [--tsv FILE] [--shape NAME] [--type TYPE] [--compute WORD] [--cpu LEVEL] [--runs 1..%d] "
                        "[--threads 1..%d]\n", RUNS_MAX, ROUND_THREADS_MAX);
        return 2;
    }
    if (report_open(&b.out, b.o.tsv, "plan")) return 6;
    for (int i = 0; i < 2; i++) b.model[i] = open_model(&b.o, i);
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(b.model[0], &info);
    cpu_model_name(machine, sizeof machine);
    report_head(&b.out, machine, info.cpu_level, b.o.threads);
    snprintf(text, sizeof text, "%s %s, compute %s", b.o.shape, b.o.type, info.compute);
    report_fact(&b.out, "model", text);
    printf("%s, level %s\n", text, info.cpu_level);
    b.pool = round_memory(POOL);
    memset(b.pool, 1, POOL);
    bench_threads(&b, 1);
    if (b.o.threads > 1) bench_threads(&b, b.o.threads);
    free(b.pool);
    for (int i = 0; i < 2; i++) steno_model_close(b.model[i]);
    return report_close(&b.out) ? 6 : 0;
}
