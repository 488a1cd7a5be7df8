/* steno: the speed gain of a draft model, by acceptance rate. SPDX-License-Identifier: MIT
 *
 * A run with k draft tokens gives 1 + a + a^2 + ... + a^k tokens, if each draft token is correct with probability a after correct ones
 * (Leviathan et al. 2023). It costs k steps of the draft model and one run of k + 1 rows. Both are timed here. */
#include "verbs/bench_draft.h"
#include "models/machine.h"
#include "cli/report.h"
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16, STEPS = 64, SEED = 2 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median time of a phase in ms; *code: EXIT_OK, or the reason of a failure. */
static double phase_ms(steno_session *s, const char *phase, int n, int runs, int *code)
{
    double ms[1000] = { 0 };
    for (int k = -1; k < runs && *code == EXIT_OK; k++) { /* the first run is a warm-up */
        const int64_t us = steno_bench_phase(s, phase, n);
        if (us < 0) *code = us == STENO_ENOMEM ? EXIT_MEMORY : EXIT_USAGE;
        if (us < 0) message("--draft: %s", steno_last_error(s));
        if (k >= 0) ms[k] = (double)us / 1e3;
    }
    qsort(ms, (size_t)runs, sizeof *ms, by_value);
    return ms[runs / 2];
}

/* For one acceptance rate: the best number of draft tokens, tokens per run, and the time per token. */
struct gain { double acceptance, ms, ids; int guesses; };
enum { GAINS = 11 };

struct figures { double check[ROWS + 1], step, guess; struct gain gain[GAINS]; const struct bench_shapes *shapes; int threads; };

static void find_gains(struct figures *f)
{
    for (int i = 0; i < GAINS; i++) {
        struct gain *g = &f->gain[i];
        double ids = 1, chance = 1;
        *g = (struct gain){ .acceptance = 0.5 + 0.05 * i, .ms = f->step, .ids = 1 };
        for (int k = 1; k < ROWS; k++) {
            ids += chance *= g->acceptance;
            const double ms = (f->check[k + 1] + k * f->guess) / ids;
            if (ms < g->ms) g->ms = ms, g->guesses = k, g->ids = ids;
        }
    }
}

static void print_table(const struct figures *f)
{
    printf("model: %s, draft: %s, weights %s, %d threads\n", f->shapes->model, f->shapes->draft, f->shapes->type, f->threads);
    printf("step of the model %.3f ms, of the draft %.3f ms\n\n%-10s %12s %8s\n", f->step, f->guess, "rows", "ms/run", "steps");
    for (int n = 1; n <= ROWS; n++)
        if (n < 5 || n % 4 == 0 || n == 5) printf("%-10d %12.3f %8.2f\n", n, f->check[n], f->check[n] / f->step);
    printf("\n%-10s %8s %12s %12s %8s\n", "acceptance", "guesses", "tokens/run", "ms/token", "gain");
    for (int i = 0; i < GAINS; i++) {
        const struct gain *g = &f->gain[i];
        printf("%-10.2f %8d %12.2f %12.3f %7.2fx\n", g->acceptance, g->guesses, g->ids, g->ms, f->step / g->ms);
    }
}

static void print_figures_json(const struct figures *f)
{
    printf("{\"version\": \"%s\", \"shape\": \"%s\", \"draft\": \"%s\", \"type\": \"%s\", \"threads\": %d, ", steno_version(),
           f->shapes->model, f->shapes->draft, f->shapes->type, f->threads);
    printf("\"step_ms\": %.4f, \"draft_step_ms\": %.4f, \"run_ms\": [", f->step, f->guess);
    for (int n = 1; n <= ROWS; n++) printf("%s%.4f", n > 1 ? ", " : "", f->check[n]);
    printf("], \"gains\": [");
    for (int i = 0; i < GAINS; i++) {
        const struct gain *g = &f->gain[i];
        printf("%s{\"acceptance\": %.2f, \"guesses\": %d, \"tokens_per_run\": %.3f, \"ms_per_token\": %.4f, \"gain\": %.3f}",
               i ? ", " : "", g->acceptance, g->guesses, g->ids, g->ms, f->step / g->ms);
    }
    printf("]}\n");
}

static void print_tsv(const struct figures *f)
{
    const struct report out = { .file = stdout, .program = "steno" };
    char machine[256];
    machine_name(machine, sizeof machine);
    report_head(&out, machine, "-", f->threads);
    report_fact(&out, "model", f->shapes->model);
    report_fact(&out, "draft", f->shapes->draft);
    report_fact(&out, "weights", f->shapes->type);
    report_row(&out, "ms", counted(f->step), 1, "step");
    report_row(&out, "ms", counted(f->guess), 1, "draft_step");
    for (int n = 1; n <= ROWS; n++) report_row(&out, "ms", counted(f->check[n]), 1, "run_of_%d", n);
    for (int i = 0; i < GAINS; i++)
        report_row(&out, "ms", counted(f->gain[i].ms), 1, "token_accepted_%.0f", 100 * f->gain[i].acceptance);
}

int bench_draft(const struct engine *e, const steno_model_params *p, const struct bench_shapes *shapes, int runs, enum bench_format format)
{
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_error err = { 0 };
    struct figures f = { .shapes = shapes, .threads = steno_team_threads(e->team) };
    int rc = steno_model_open_random(&m, shapes->draft, shapes->type, SEED, p, &err), code = EXIT_OK;
    if (!rc) rc = steno_session_open(&s, m, e->team, NULL, &err);
    if (rc) code = message_model_error("--draft", rc, err.text);
    for (int n = 1; n <= ROWS && code == EXIT_OK; n++) f.check[n] = phase_ms(e->session, "check", n, runs, &code);
    f.step = code == EXIT_OK ? phase_ms(e->session, "decode", STEPS, runs, &code) / STEPS : 0;
    f.guess = code == EXIT_OK ? phase_ms(s, "decode", STEPS, runs, &code) / STEPS : 0;
    if (code == EXIT_OK) {
        find_gains(&f);
        (format == BENCH_JSON ? print_figures_json : format == BENCH_TSV ? print_tsv : print_table)(&f);
        code = message_flush();
    }
    steno_session_close(s);
    steno_model_close(m);
    return code;
}
