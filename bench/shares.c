/* steno: shares of the machine's own peaks. SPDX-License-Identifier: MIT
 *
 *   bench_shares [--tsv FILE] [--shape NAME] [--type TYPE] [--compute WORD] [--cpu LEVEL] [--runs N] [--threads N]
 *
 * Encoders of several shapes, and decoder steps of one row, five beams and eight windows, with random weights. Each is compared with the
 * lower bound of its operations and bytes (roof.h). The peaks are measured in the same run, at the beginning and before each model.
 * --shape, --type and --compute choose some of the models. Rows of FILE (report.h) end in the level, because each level has its own
 * goals:
 *
 *   encode_SHAPE_COMPUTE            percent of the bound, and time_encode_SHAPE_COMPUTE in ms
 *   step_SHAPE_TYPE_COMPUTE_xROWS   the same of a step
 *   batch_SHAPE_TYPE_COMPUTE        tokens of eight windows together, for each token of one window
 *   kind_OPS_SHAPE_COMPUTE          percent of an encoder's time that ops of this kind take
 *   prompt_SHAPE_TYPE_COMPUTE       percent of the bound of a language model's prompt, kind_OPS_prompt_... as above */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stages.h"

enum { CLIP_S = 30,
       SETTLE = 1,
       READ_PART = 64 << 20,
       PROMPT = 405 /* ids: a clip of 30 s with its prompt */,
       STEPS_AFTER = 64 };

/* Encoders do not depend on how their weights are stored; decoders do. */
static const struct job {
    const char *shape, *type, *compute;
} jobs[] = {
    { "base", "f16", "auto" },
    { "base", "f16", "bf16" },
    { "base", "f16", "int8" },
    { "small", "f16", "auto" },
    { "small", "f16", "bf16" },
    { "small", "f16", "int8" },
    { "sensevoice", "f16", "auto" },
    { "sensevoice", "f16", "bf16" },
    { "sensevoice", "f16", "int8" },
    { "parakeet-tdt-0.6b-v3", "f16", "auto" },
    { "parakeet-tdt-0.6b-v3", "f16", "bf16" },
    { "parakeet-tdt-0.6b-v3", "f16", "int8" },
    { "base", "q8_0", "auto" },
    { "base", "q5_0", "auto" },
    { "base", "q5_k", "auto" },
    { "base", "q4_k", "auto" },
    { "base", "q4_0", "auto" },
    { "qwen3-asr-0.6b", "q8_0", "int8" },
    { "qwen3-0.6b", "q8_0", "auto" },
    { "qwen3-0.6b", "q4_0", "auto" },
};

struct bench {
    struct opts o;
    struct report out;
    struct roofs roofs;
    steno_team *team; /* NULL for one thread */
    char *pool;       /* [POOL] memory to read */
};

/* The best of all measurements counts, because other programs of the machine only slow them down. A round reads for as long as steps take:
 * for shorter times memory can be twice as fast. */
static void measure_peaks(struct bench *b, int level)
{
    struct timed t = { 1, 1, 0 };
    for (int of = 0; of < ROOFS; of++) {
        const double rate = roof_measure(&t, b->team, level, of) / t.best;
        if (rate > b->roofs.gops[of]) b->roofs.gops[of] = rate;
    }
    const double bytes = round_read(&t, b->team, level, b->pool, POOL, READ_PART, 1);
    if (bytes / t.best > b->roofs.read) b->roofs.read = bytes / t.best;
}

/* n: argument of the phase. */
static struct timed measure(const struct bench *b, steno_session *s, const char *phase, int n)
{
    double ns[RUNS_MAX];
    for (int i = -SETTLE; i < b->o.runs; i++) {
        const int64_t us = steno_bench_phase(s, phase, n);
        if (us < 0) fail(phase, steno_last_error(s));
        if (i >= 0) ns[i] = (double)us * 1e3;
    }
    return timed_of(ns, b->o.runs);
}

/* per: runs that the time is of. */
static void print_share(const struct bench *b, const char *name, const struct work *w, struct timed t, double per)
{
    const struct bound limit = bound_of(w, &b->roofs);
    t.best /= per;
    t.median /= per;
    printf("  %-44s %9.3f ms, bound %9.3f ms (%s): %5.1f %%\n", name, t.best * 1e-6, limit.ns * 1e-6, limit.by, 100 * limit.ns / t.best);
    report_rate(&b->out, "%", t, 100 * limit.ns, "%s", name);
    report_row(&b->out, "ms", t, 1e-6, "time_%s", name);
}

/* A phase of a plan whose ops are timed by their kind: ops [first, last), and the shape of the runs of the benchmark's phase. */
struct timed_phase {
    const char *name;
    int plan, first, last, n;
    struct shape shape;
};

/* Ops of a kind; linears also by n, k and activation (n: 0 for all kinds). */
struct kind {
    double ns, bound;
    const char *name;
    int kind;
    uint32_t n, k;
    enum act act;
};

static void kind_add(struct kind *k, double ns, double bound)
{
    k->ns += ns;
    k->bound += bound;
}

static void kind_print(const struct kind *k, double all)
{
    char name[64];
    if (!(k->ns > 0)) return;
    if (k->n) snprintf(name, sizeof name, "  %u x %u%s", k->n, k->k, k->act == ACT_NONE ? "" : k->act == ACT_SILU ? " SiLU"
                                                                                                                  : " act");
    else snprintf(name, sizeof name, "%s", k->name);
    printf("    %-20s %9.3f ms, %5.1f %% of the time", name, k->ns * 1e-6, 100 * k->ns / all);
    if (k->bound > 0) printf(", %5.1f %% of the bound, %6.2f ms above it", 100 * k->bound / k->ns, (k->ns - k->bound) * 1e-6);
    printf("\n");
}

/* Times of ops in the best of all runs. The caller's clock gives an op what it waited for in the op before, so times of several runs do
 * not mix. */
static void best_times(const struct bench *b, double *best, const struct plan *p, steno_session *s, const struct timed_phase *t)
{
    int64_t fastest = INT64_MAX;
    steno_profile_enable(s, 1);
    struct op_time *time = inside_times(s, t->plan);
    for (int run = 0; run < b->o.runs; run++) {
        memset(time, 0, p->n_ops * sizeof *time);
        const int64_t us = steno_bench_phase(s, t->name, t->n);
        if (us < 0) fail(t->name, steno_last_error(s));
        if (us >= fastest) continue;
        fastest = us;
        for (int i = t->first; i < t->last; i++) best[i] = (double)time[i].ns;
    }
    steno_profile_enable(s, 0);
}

/* Times of ops by their kind, and of linears by their shape, with the bounds of their products. The profile counts every op's barrier as
 * its own. */
static void print_kinds(const struct bench *b, const char *name, steno_model *m, steno_session *s, const struct timed_phase *t)
{
    enum { KINDS = 13,
           SHAPES = 24,
           OPS_MAX = 4096 };
    struct kind of[KINDS + SHAPES] = {
        { .name = "linear", .kind = OP_LINEAR },
        { .name = "attn", .kind = OP_ATTN },
        { .name = "attn_rel", .kind = OP_ATTN_REL },
        { .name = "kv_pack", .kind = OP_KV_PACK },
        { .name = "pack_distances", .kind = OP_PACK_DISTANCES },
        { .name = "distances", .kind = OP_DISTANCES },
        { .name = "stem2d", .kind = OP_STEM2D },
        { .name = "filter", .kind = OP_FSMN },
        { .name = "gate", .kind = OP_GLU },
        { .name = "norm", .kind = OP_NORM },
        { .name = "rotation", .kind = OP_ROPE },
        { .name = "logits", .kind = OP_LOGITS_APPROX },
        { .name = "other", .kind = OP_KINDS },
    };
    static double best[OPS_MAX];
    double all = 0;
    const struct plan *p = inside_plan(m, t->plan);
    if (p->n_ops > OPS_MAX) fail(name, "too many ops");
    best_times(b, best, p, s, t);
    for (int i = t->first; i < t->last; i++) {
        const struct work w = work_of(m, p, i, i + 1, &t->shape);
        const struct bind *c = &p->bind[p->op[i].bind];
        const double bound = w.flops > 0 ? bound_of(&w, &b->roofs).ns : 0;
        int k = 0, of_shape = KINDS;
        while (k + 1 < KINDS && of[k].kind != p->op[i].kind) k++;
        kind_add(&of[k], best[i], bound);
        all += best[i];
        if (k) continue;
        while (of_shape + 1 < KINDS + SHAPES && of[of_shape].n &&
               !(of[of_shape].n == c->n && of[of_shape].k == c->k && of[of_shape].act == (enum act)c->act)) of_shape++;
        of[of_shape].n = c->n, of[of_shape].k = c->k, of[of_shape].act = (enum act)c->act;
        kind_add(&of[of_shape], best[i], bound);
    }
    for (int k = 0; k < KINDS; k++) {
        kind_print(&of[k], all);
        for (int i = KINDS; !k && i < KINDS + SHAPES; i++) kind_print(&of[i], all);
        if (of[k].ns > 0) report_row(&b->out, "%", counted(100 * of[k].ns / all), 1, "kind_%s_%s", of[k].name, name);
    }
}

static void measure_windows(const struct bench *b, const struct job *j, steno_model *m)
{
    static const struct {
        const char *phase;
        enum stage stage;
        int rows;
    } step[] = {
        { "decode", STAGE_STEP, 1 },
        { "beam5", STAGE_BEAMS, BEAMS },
        { "batch", STAGE_WINDOWS, WINDOWS },
    };
    enum { STEPS = sizeof step / sizeof *step };
    struct work work[STAGES];
    struct timed t[STEPS];
    char name[96];
    steno_batch *batch;
    steno_session *s = open_lanes(&batch, m, b->team);
    work_of_stages(work, m);
    const struct timed encode = measure(b, s, "encode", 1);
    snprintf(name, sizeof name, "encode_%s_%s", j->shape, j->compute);
    if (!strcmp(j->type, "f16")) {
        const struct phase *of = &inside_plan(m, PLAN_ENCODER)->phase[PHASE_ENCODE];
        const struct timed_phase phase = { "encode", PLAN_ENCODER, of->first, of->last, 1, { .rows = inside_audio_ctx(m) } };
        print_share(b, name, &work[STAGE_ENCODE], encode, 1);
        print_kinds(b, name + sizeof "encode", m, s, &phase);
    }
    for (int i = 0; i < STEPS; i++) {
        t[i] = measure(b, s, step[i].phase, TOKENS);
        snprintf(name, sizeof name, "step_%s_%s_%s_x%d", j->shape, j->type, j->compute, step[i].rows);
        print_share(b, name, &work[step[i].stage], t[i], TOKENS);
    }
    const struct timed gain = { WINDOWS * t[0].best / t[STEPS - 1].best, WINDOWS * t[0].median / t[STEPS - 1].median, b->o.runs };
    printf("  eight windows: %.2f times the tokens of one\n", gain.best);
    report_row(&b->out, "times", gain, 1, "batch_%s_%s_%s", j->shape, j->type, j->compute);
    steno_session_close(s);
    steno_batch_close(batch);
}

/* A step of a language model reads more than one of Whisper's, and a machine may read short parts faster than long ones: the rate over
 * all of the pool, each byte once. */
static struct roofs sustained(const struct bench *b, int level)
{
    const size_t part = POOL / (size_t)team_threads(b->team);
    struct roofs r = b->roofs;
    struct timed t;
    const double bytes = round_read(&t, b->team, level, b->pool, POOL, part, 1);
    r.read = bytes / t.best;
    return r;
}

/* Prompts of a language model, with the logits of their last row, and steps after them. */
static void measure_texts(const struct bench *b, const struct job *j, steno_model *m, steno_session *s, int plan)
{
    const struct plan *p = inside_plan(m, plan);
    const struct timed_phase prompt = { "prompt", plan, 0, p->n_ops, PROMPT, { PROMPT, 1, 1, 1, PROMPT / 2.0, PROMPT, 0 } };
    const double after = STEPS_AFTER * 1.5;
    const struct work work = work_of(m, p, 0, p->n_ops, &prompt.shape);
    const struct work step = work_of(m, p, 0, p->n_ops, &(struct shape){ 1, 1, 1, 1, after, after, 0 });
    struct bench long_reads = *b;
    long_reads.roofs = sustained(b, inside_kern(m)->level);
    char name[96], of[80];
    snprintf(of, sizeof of, "%s_%s_%s", j->shape, j->type, j->compute);
    snprintf(name, sizeof name, "prompt_%s", of);
    print_share(b, name, &work, measure(b, s, "prompt", PROMPT), 1);
    print_kinds(b, name, m, s, &prompt);
    snprintf(name, sizeof name, "step_%s_x1", of);
    const struct timed took = measure(b, s, "decode", STEPS_AFTER);
    printf("  reading %zu MB at a time: %.1f GB/s\n", (size_t)POOL >> 20, long_reads.roofs.read);
    print_share(&long_reads, name, &step, took, STEPS_AFTER);
}

static void measure_clips(const struct bench *b, const struct job *j, steno_model *m, steno_session *s)
{
    char name[96];
    const struct timed t = measure(b, s, "encode", CLIP_S);
    const struct phase *of = &inside_plan(m, PLAN_ENCODER)->phase[PHASE_ENCODE];
    const struct timed_phase encode = { "encode", PLAN_ENCODER, of->first, of->last, CLIP_S, { .rows = inside_n_rows(s) } };
    const struct work w = work_of_encoder(m, inside_n_rows(s));
    snprintf(name, sizeof name, "encode_%s_%s", j->shape, j->compute);
    print_share(b, name, &w, t, 1);
    print_kinds(b, name + sizeof "encode", m, s, &encode);
}

static void measure_session(const struct bench *b, const struct job *j, steno_model *m)
{
    steno_session_params p;
    steno_session *s;
    steno_error e;
    const int writes = !strcmp(inside_family(m)->task, "lm");
    steno_session_params_init(&p);
    if (steno_session_open(&s, m, b->team, &p, &e)) fail("session", e.text);
    if (!writes) measure_clips(b, j, m, s);
    if (writes || inside_family(m)->audio_lm) measure_texts(b, j, m, s, writes ? 0 : PLAN_DECODER);
    steno_session_close(s);
}

static void measure_model(struct bench *b, const struct job *j)
{
    const struct opts o = { .shape = j->shape, .type = j->type, .compute = j->compute, .cpu = b->o.cpu };
    steno_model *m = open_model(&o, 0);
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(m, &info);
    const int level = inside_kern(m)->level;
    measure_peaks(b, level);
    printf("%s %s, compute %s, level %s: peaks", j->shape, j->type, info.compute, info.cpu_level);
    for (int of = 0; of < ROOFS; of++)
        if (b->roofs.gops[of] > 0) printf(" %s %.0f", roof_name(of), b->roofs.gops[of]);
    printf(" GOP/s, read %.1f GB/s\n", b->roofs.read);
    if (steno_serves(m, STENO_CALL_TRANSCRIBE, "condition_on_previous_text")) measure_windows(b, j, m);
    else measure_session(b, j, m);
    fflush(stdout);
    steno_model_close(m);
}

static int is_chosen(const char *asked, const char *name)
{
    return !asked || !strcmp(asked, name);
}

int main(int argc, char **argv)
{
    enum { JOBS = sizeof jobs / sizeof *jobs };
    static struct bench b;
    char machine[64];
    int n = 0;
    if (read_options(&b.o, argc, argv)) {
        fprintf(stderr, "usage: bench_shares [--tsv FILE] [--shape NAME] [--type TYPE] [--compute WORD] [--cpu LEVEL] [--runs 1..%d] "
                        "[--threads 1..%d]\n",
                RUNS_MAX, ROUND_THREADS_MAX);
        return 2;
    }
    const int level = b.o.cpu ? cpu_level_from_name(b.o.cpu) : cpu_level_best();
    if (level < 0 || !cpu_level_usable(level)) fail(b.o.cpu, "this processor has no such level");
    if (report_open(&b.out, b.o.tsv, "shares")) return 6;
    snprintf(b.out.suffix, sizeof b.out.suffix, "@%s", cpu_level_name(level));
    cpu_model_name(machine, sizeof machine);
    report_head(&b.out, machine, cpu_level_name(level), b.o.threads);
    b.team = round_team(b.o.threads);
    b.pool = round_memory(POOL);
    memset(b.pool, 1, POOL);
    measure_peaks(&b, level);
    for (int i = 0; i < JOBS; i++) {
        const struct job *j = &jobs[i];
        if (!is_chosen(b.o.shape, j->shape) || !is_chosen(b.o.type, j->type) || !is_chosen(b.o.compute, j->compute)) continue;
        measure_model(&b, j);
        n++;
    }
    free(b.pool);
    team_close(b.team);
    if (!n) fail("--shape, --type, --compute", "no such model is measured here; the head of bench/shares.c names them");
    return report_close(&b.out) ? 6 : 0;
}
