/* steno: the gain of draft tokens if an answer repeats its prompt. SPDX-License-Identifier: MIT
 *
 * The corrected form of a transcript repeats most of its words. Here a model, possibly with random weights, is forced to produce a given
 * text after another given text: its own choices are computed and then discarded. So the figures hold for this pair of texts and a model
 * of this shape. Runs with and without draft tokens alternate, so that both see the same machine state. */
#include "verbs/bench_text.h"
#include "models/machine.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/text_file.h"
#include <inttypes.h>
#include <string.h>

enum { FILE_MOST = 1 << 22, RUNS_MOST = 1000, N_WAYS = 4 };
static const int32_t ways[N_WAYS] = { 0, 4, 8, 15 }; /* maximum number of draft tokens */

struct ids { int32_t *at; int n; };
struct way { double ms[RUNS_MOST]; struct timed t; double runs, drafted, accepted; };

static int read_ids(struct ids *to, const steno_model *m, const char *file)
{
    char why[TEXT_FILE_WHY], *text = NULL;
    const enum text_file rc = text_file_read(&text, file, 1, FILE_MOST, why, sizeof why);
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

static int measure(struct way *all, steno_session *s, const struct ids *prompt, const struct ids *answer, int runs)
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

/* ---- printing ---------------------------------------------------------------------------------------------------------------- */

struct figures { const struct way *way; const steno_model_info *i; const char *name; int threads, n_prompt, n_answer; };

static void print_table(const struct figures *f)
{
    printf("model: %s, weights %s, level %s, %d threads\n", f->name, f->i->weight_type, f->i->cpu_level, f->threads);
    printf("a text of %d tokens after a prompt of %d\n\n", f->n_answer, f->n_prompt);
    printf("%-8s %8s %10s %9s %9s %11s %10s %7s %7s\n", "guesses", "runs", "tokens/run", "guessed", "right", "ms, median", "tokens/s",
           "gain", "best");
    for (int i = 0; i < N_WAYS; i++) {
        const struct way *w = &f->way[i];
        printf("%-8d %8.0f %10.2f %9.0f %9.0f %11.1f %10.1f %6.2fx %6.2fx\n", (int)ways[i], w->runs, (f->n_answer - 1) / w->runs,
               w->drafted, w->accepted, w->t.median, (f->n_answer - 1) * 1e3 / w->t.median, f->way->t.median / w->t.median,
               f->way->t.best / w->t.best);
    }
}

static void print_figures_json(const struct figures *f)
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

static void print_tsv(const struct figures *f)
{
    const struct report out = { .file = stdout, .program = "steno" };
    char machine[256];
    machine_name(machine, sizeof machine);
    report_head(&out, machine, f->i->cpu_level, f->threads);
    report_fact(&out, "model", f->name);
    report_fact(&out, "weights", f->i->weight_type);
    for (int i = 0; i < N_WAYS; i++) {
        const struct way *w = &f->way[i];
        report_rate(&out, "tokens/s", w->t, (f->n_answer - 1) * 1e3, "repeat_guesses%d_tokens", (int)ways[i]);
        report_row(&out, "tokens", counted((f->n_answer - 1) / w->runs), 1, "repeat_guesses%d_per_run", (int)ways[i]);
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
    if (code == EXIT_OK) code = measure(way, e->session, &prompt, &answer, runs);
    if (code == EXIT_OK) {
        const struct figures f = { way, &i, name ? name : i.name, steno_team_threads(e->team), prompt.n, answer.n };
        (format == BENCH_JSON ? print_figures_json : format == BENCH_TSV ? print_tsv : print_table)(&f);
        code = message_flush();
    }
    free(prompt.at);
    free(answer.at);
    free(way);
    return code;
}
