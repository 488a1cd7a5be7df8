/* steno: the speed gain of draft tokens. SPDX-License-Identifier: MIT
 *
 * Repeated text: the corrected form of a transcript repeats most of its words. Here a model, possibly with random weights, is forced to
 * produce a given text after another given text: its own choices are computed and then discarded. So the figures hold for this pair of
 * texts and a model of this shape. Runs with and without draft tokens alternate, so that both see the same machine state.
 *
 * A draft model: a run with k draft tokens gives 1 + a + a^2 + ... + a^k tokens, if each draft token is correct with probability a after
 * correct ones (Leviathan et al. 2023). It costs k steps of the draft model and one run of k + 1 rows. Both are timed here. */
#include "verbs/bench_draft.h"
#include "cli/message.h"
#include "cli/report.h"
#include "cli/text_file.h"
#include "models/machine.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- an answer that repeats its prompt --------------------------------------------------------------------------------------- */

enum { FILE_MAX = 1 << 22, RUNS_MAX = 1000, N_WAYS = 4 };
static const int32_t ways[N_WAYS] = { 0, 4, 8, 15 }; /* maximum number of draft tokens */

struct ids { int32_t *at; int n; };
struct way { double ms[RUNS_MAX]; struct timed t; double runs, drafted, accepted; };

static int read_ids(struct ids *to, const steno_model *m, const char *file)
{
    char why[TEXT_FILE_WHY], *text = NULL;
    const enum text_file rc = text_file_read(&text, file, 1, FILE_MAX, why, sizeof why);
    if (rc == TEXT_FILE_NO_MEMORY) message("out of memory for %s", file);
    else if (rc != TEXT_FILE_READ) message("%s: %s", file, why);
    if (rc != TEXT_FILE_READ) return rc == TEXT_FILE_NO_MEMORY ? EXIT_MEMORY : EXIT_INPUT;
    to->n = steno_tokenize(m, text, NULL, 0);
    if (to->n > 0) to->at = calloc((size_t)to->n, sizeof *to->at);
    if (to->at) steno_tokenize(m, text, to->at, to->n);
    free(text);
    if (to->at) return EXIT_OK;
    message("%s: %s", file, !to->n ? "it is empty" : to->n > 0 ? "out of memory" : "the tokenizer cannot read it");
    return to->n > 0 ? EXIT_MEMORY : EXIT_INPUT;
}

/* Tokenize both files with the model's own tokenizer or another model's. */
static int read_both(struct ids *prompt, struct ids *answer, const struct engine *e, const struct bench_text_opts *o)
{
    steno_model *m = NULL;
    steno_model_params p;
    steno_error err = { 0 };
    steno_model_params_init(&p);
    p.index_only = 1;
    const int rc = o->tokenizer ? steno_model_open(&m, o->tokenizer, &p, &err) : STENO_OK;
    if (rc) return message_model_error("--tokenizer", rc, err.text);
    int code = read_ids(prompt, m ? m : e->model, o->prompt);
    if (code == EXIT_OK) code = read_ids(answer, m ? m : e->model, o->answer);
    steno_model_close(m);
    return code;
}

static int ways_measure(struct way *all, steno_session *s, const struct ids *prompt, const struct ids *answer, int runs)
{
    for (int k = -1; k < runs; k++) /* the first run is a warm-up */
        for (int i = 0; i < N_WAYS; i++) {
            steno_timings t = { .size = sizeof t };
            steno_timings_reset(s);
            const int64_t us = steno_bench_text(s, prompt->at, prompt->n, answer->at, answer->n, ways[i]);
            if (us < 0) {
                message("%s", steno_last_error(s));
                return us == STENO_ENOMEM ? EXIT_MEMORY : EXIT_USAGE;
            }
            if (k < 0) continue;
            steno_timings_get(s, &t);
            all[i].ms[k] = (double)us / 1e3;
            all[i].runs += (double)t.n_steps / runs;
            all[i].drafted += (double)t.n_drafted / runs;
            all[i].accepted += (double)t.n_accepted / runs;
        }
    for (int i = 0; i < N_WAYS; i++) all[i].t = timed_of(all[i].ms, runs);
    return EXIT_OK;
}

struct way_figures { const struct way *way; const steno_model_info *i; const char *name; int threads, n_prompt, n_answer; };

static void print_ways(const struct way_figures *f)
{
    printf("model: %s, weights %s, level %s, %d threads\n", f->name, f->i->weight_type, f->i->cpu_level, f->threads);
    printf("a text of %d tokens after a prompt of %d\n\n", f->n_answer, f->n_prompt);
    printf("%-9s %8s %10s %9s %9s %11s %10s %7s %7s\n", "draft-max", "runs", "tokens/run", "drafted", "right", "ms, median", "tokens/s",
           "gain", "best");
    for (int i = 0; i < N_WAYS; i++) {
        const struct way *w = &f->way[i];
        printf("%-8d %8.0f %10.2f %9.0f %9.0f %11.1f %10.1f %6.2fx %6.2fx\n", (int)ways[i], w->runs, (f->n_answer - 1) / w->runs,
               w->drafted, w->accepted, w->t.median, (f->n_answer - 1) * 1e3 / w->t.median, f->way->t.median / w->t.median,
               f->way->t.best / w->t.best);
    }
}

static void print_ways_json(const struct way_figures *f)
{
    printf("{\"version\": \"%s\", \"level\": \"%s\", \"shape\": ", steno_version(), f->i->cpu_level);
    print_json(stdout, f->name);
    printf(", \"type\": \"%s\", \"threads\": %d, \"prompt_tokens\": %d, \"tokens\": %d, \"ways\": [", f->i->weight_type, f->threads,
           f->n_prompt, f->n_answer);
    for (int i = 0; i < N_WAYS; i++) {
        const struct way *w = &f->way[i];
        printf("%s{\"draft_max\": %d, \"runs\": %.1f, \"drafted\": %.1f, \"accepted\": %.1f, \"tokens_per_run\": %.3f, ", i ? ", " : "",
               (int)ways[i], w->runs, w->drafted, w->accepted, (f->n_answer - 1) / w->runs);
        printf("\"ms\": {\"median\": %.3f, \"min\": %.3f}, \"gain\": %.3f}", w->t.median, w->t.best, f->way->t.median / w->t.median);
    }
    printf("]}\n");
}

static void print_ways_tsv(const struct way_figures *f)
{
    const struct report out = { .file = stdout, .program = "steno" };
    char machine[256];
    machine_name(machine, sizeof machine);
    report_head(&out, machine, f->i->cpu_level, f->threads);
    report_fact(&out, "model", f->name);
    report_fact(&out, "weights", f->i->weight_type);
    for (int i = 0; i < N_WAYS; i++) {
        const struct way *w = &f->way[i];
        report_rate(&out, "tokens/s", w->t, (f->n_answer - 1) * 1e3, "repeat_draft%d_tokens", (int)ways[i]);
        report_row(&out, "tokens", counted((f->n_answer - 1) / w->runs), 1, "repeat_draft%d_per_run", (int)ways[i]);
    }
}

int bench_text_check(const struct bench_text_opts *o)
{
    if (o->prompt && !o->answer) return message_usage("--prompt needs --answer");
    if (o->answer && !o->prompt) return message_usage("--answer needs --prompt");
    if (o->tokenizer && !o->answer) return message_usage("--tokenizer needs --prompt and --answer");
    return EXIT_OK;
}

int bench_text(const struct engine *e, const struct bench_text_opts *o, const char *name, int runs, enum bench_format format)
{
    struct ids prompt = { 0 }, answer = { 0 };
    steno_model_info i = { .size = sizeof i };
    struct way *way = calloc(N_WAYS, sizeof *way);
    if (!way) message("out of memory for %d runs", runs);
    steno_model_info_get(e->model, &i);
    int code = way ? read_both(&prompt, &answer, e, o) : EXIT_MEMORY;
    if (code == EXIT_OK && answer.n < 2) code = message_usage("--answer: the text has fewer than two tokens");
    if (code == EXIT_OK) code = ways_measure(way, e->session, &prompt, &answer, runs);
    if (code == EXIT_OK) {
        const struct way_figures f = { way, &i, name ? name : i.name, steno_team_threads(e->team), prompt.n, answer.n };
        (format == BENCH_JSON ? print_ways_json : format == BENCH_TSV ? print_ways_tsv : print_ways)(&f);
        code = message_flush();
    }
    free(prompt.at);
    free(answer.at);
    free(way);
    return code;
}

/* ---- a draft model, by acceptance rate --------------------------------------------------------------------------------------- */

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
struct gain { double acceptance, ms, ids; int draft; };
enum { GAINS = 11 };

struct draft_figures { double check[ROWS + 1], step, draft_step; struct gain gain[GAINS]; const struct bench_shapes *shapes; int threads; };

static void find_gains(struct draft_figures *f)
{
    for (int i = 0; i < GAINS; i++) {
        struct gain *g = &f->gain[i];
        double ids = 1, chance = 1;
        *g = (struct gain){ .acceptance = 0.5 + 0.05 * i, .ms = f->step, .ids = 1 };
        for (int k = 1; k < ROWS; k++) {
            ids += chance *= g->acceptance;
            const double ms = (f->check[k + 1] + k * f->draft_step) / ids;
            if (ms < g->ms) g->ms = ms, g->draft = k, g->ids = ids;
        }
    }
}

static void print_gains(const struct draft_figures *f)
{
    printf("model: %s, draft: %s, weights %s, %d threads\n", f->shapes->model, f->shapes->draft, f->shapes->type, f->threads);
    printf("step of the model %.3f ms, of the draft %.3f ms\n\n%-10s %12s %8s\n", f->step, f->draft_step, "rows", "ms/run", "steps");
    for (int n = 1; n <= ROWS; n++)
        if (n < 5 || n % 4 == 0 || n == 5) printf("%-10d %12.3f %8.2f\n", n, f->check[n], f->check[n] / f->step);
    printf("\n%-10s %8s %12s %12s %8s\n", "acceptance", "draft-max", "tokens/run", "ms/token", "gain");
    for (int i = 0; i < GAINS; i++) {
        const struct gain *g = &f->gain[i];
        printf("%-10.2f %8d %12.2f %12.3f %7.2fx\n", g->acceptance, g->draft, g->ids, g->ms, f->step / g->ms);
    }
}

static void print_gains_json(const struct draft_figures *f)
{
    printf("{\"version\": \"%s\", \"shape\": \"%s\", \"draft\": \"%s\", \"type\": \"%s\", \"threads\": %d, ", steno_version(),
           f->shapes->model, f->shapes->draft, f->shapes->type, f->threads);
    printf("\"step_ms\": %.4f, \"draft_step_ms\": %.4f, \"run_ms\": [", f->step, f->draft_step);
    for (int n = 1; n <= ROWS; n++) printf("%s%.4f", n > 1 ? ", " : "", f->check[n]);
    printf("], \"gains\": [");
    for (int i = 0; i < GAINS; i++) {
        const struct gain *g = &f->gain[i];
        printf("%s{\"acceptance\": %.2f, \"draft_tokens\": %d, \"tokens_per_run\": %.3f, \"ms_per_token\": %.4f, \"gain\": %.3f}",
               i ? ", " : "", g->acceptance, g->draft, g->ids, g->ms, f->step / g->ms);
    }
    printf("]}\n");
}

static void print_gains_tsv(const struct draft_figures *f)
{
    const struct report out = { .file = stdout, .program = "steno" };
    char machine[256];
    machine_name(machine, sizeof machine);
    report_head(&out, machine, "-", f->threads);
    report_fact(&out, "model", f->shapes->model);
    report_fact(&out, "draft", f->shapes->draft);
    report_fact(&out, "weights", f->shapes->type);
    report_row(&out, "ms", counted(f->step), 1, "step");
    report_row(&out, "ms", counted(f->draft_step), 1, "draft_step");
    for (int n = 1; n <= ROWS; n++) report_row(&out, "ms", counted(f->check[n]), 1, "run_of_%d", n);
    for (int i = 0; i < GAINS; i++)
        report_row(&out, "ms", counted(f->gain[i].ms), 1, "token_accepted_%.0f", 100 * f->gain[i].acceptance);
}

int bench_draft(const struct engine *e, const steno_model_params *p, const struct bench_shapes *shapes, int runs, enum bench_format format)
{
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_error err = { 0 };
    struct draft_figures f = { .shapes = shapes, .threads = steno_team_threads(e->team) };
    int rc = steno_model_open_random(&m, shapes->draft, shapes->type, SEED, p, &err), code = EXIT_OK;
    if (!rc) rc = steno_session_open(&s, m, e->team, NULL, &err);
    if (rc) code = message_model_error("--draft", rc, err.text);
    for (int n = 1; n <= ROWS && code == EXIT_OK; n++) f.check[n] = phase_ms(e->session, "check", n, runs, &code);
    f.step = code == EXIT_OK ? phase_ms(e->session, "decode", STEPS, runs, &code) / STEPS : 0;
    f.draft_step = code == EXIT_OK ? phase_ms(s, "decode", STEPS, runs, &code) / STEPS : 0;
    if (code == EXIT_OK) {
        find_gains(&f);
        (format == BENCH_JSON ? print_gains_json : format == BENCH_TSV ? print_gains_tsv : print_gains)(&f);
        code = message_flush();
    }
    steno_session_close(s);
    steno_model_close(m);
    return code;
}
