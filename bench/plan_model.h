/* steno: the options of bench_plan and bench_shares, and models of random weights. SPDX-License-Identifier: MIT */
#ifndef STENO_BENCH_PLAN_MODEL_H
#define STENO_BENCH_PLAN_MODEL_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "convert/export.h"
#include "rounds.h"
#include "internal.h"

enum { SEED = 1, RUNS_MAX = 100 };

struct opts { const char *tsv, *shape, *type, *compute, *cpu; int runs, threads; };

/* Options that are not given keep their value in o. */
static inline int read_options(struct opts *o, int argc, char **argv)
{
    const char *runs = "5", *threads = os_cpus() > 1 ? "2" : "1";
    const struct { const char *name; const char **value; } option[] = {
        { "--tsv", &o->tsv }, { "--shape", &o->shape }, { "--type", &o->type }, { "--compute", &o->compute }, { "--cpu", &o->cpu },
        { "--runs", &runs }, { "--threads", &threads },
    };
    enum { OPTIONS = sizeof option / sizeof *option };
    for (int i = 1; i < argc; i += 2) {
        int k = 0;
        while (k < OPTIONS && strcmp(argv[i], option[k].name)) k++;
        if (k == OPTIONS || i + 1 == argc) return -1;
        *option[k].value = argv[i + 1];
    }
    o->runs = atoi(runs);
    o->threads = atoi(threads);
    return o->runs < 1 || o->runs > RUNS_MAX || o->threads < 1 || o->threads > ROUND_THREADS_MAX ? -1 : 0;
}

static inline void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

static const char *const compute_name[] = {
    [STENO_COMPUTE_AUTO] = "auto", [STENO_COMPUTE_F32] = "f32", [STENO_COMPUTE_BF16] = "bf16", [STENO_COMPUTE_INT8] = "int8",
    [STENO_COMPUTE_INT16] = "int16",
};
enum { COMPUTES = sizeof compute_name / sizeof *compute_name };

static inline steno_model *open_model(const struct opts *o, int unfused)
{
    steno_model_params p;
    steno_error e;
    struct random_file r;
    struct file f;
    struct arena a;
    steno_model *m = NULL;
    int type = 0, compute = STENO_COMPUTE_AUTO;
    while (type < DT_COUNT && strcmp(o->type, dtype_name((enum dtype)type))) type++;
    if (type == DT_COUNT) fail(o->type, "no such type");
    while (compute < COMPUTES && strcmp(o->compute, compute_name[compute])) compute++;
    if (compute == COMPUTES) fail(o->compute, "no such arithmetic: auto, f32, bf16, int16 or int8");
    steno_model_params_init(&p);
    p.cpu_level = o->cpu;
    p.compute = compute;
    arena_init(&a);
    if (export_random_file(&r, &f, &a, o->shape, (enum dtype)type, SEED, &e) ||
        inside_open(&m, &f, &p, unfused, &e))
        fail(o->shape, e.text);
    arena_free(&a);
    return m;
}
#endif
