/* steno: what a draft model would spare, by how often it is right. SPDX-License-Identifier: MIT
 *
 * A run of k guesses behind the newest token gives 1 + a + a^2 + ... + a^k tokens, where each guess is right with probability a when all
 * before it are (Leviathan et al. 2023). It costs k steps of the draft model and a run of k + 1 rows; both are timed here. */
#include "bench_draft.h"
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 16, STEPS = 64, SEED = 2 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of a phase, ms; *code: EXIT_OK, or why there is none. */
static double phase_ms(steno_session *s, const char *phase, int n, int runs, int *code)
{
    double ms[1000] = { 0 };
    for (int k = -1; k < runs && *code == EXIT_OK; k++) { /* once unmeasured */
        const int64_t us = steno_bench_phase(s, phase, n);
        if (us < 0) *code = us == STENO_ENOMEM ? EXIT_MEMORY : EXIT_USAGE;
        if (us < 0) message("--draft: %s", steno_last_error(s));
        if (k >= 0) ms[k] = (double)us / 1e3;
    }
    qsort(ms, (size_t)runs, sizeof *ms, by_value);
    return ms[runs / 2];
}

static void print_gains(const double check[ROWS + 1], double step, double guess)
{
    static const double acceptance[] = { 0.5, 0.6, 0.7, 0.8, 0.9, 0.95 };
    printf("\n%-10s %8s %12s %12s %8s\n", "acceptance", "guesses", "tokens/run", "ms/token", "gain");
    for (size_t i = 0; i < sizeof acceptance / sizeof *acceptance; i++) {
        double ids = 1, chance = 1, best = step, most = 1;
        int guesses = 0;
        for (int k = 1; k < ROWS; k++) {
            ids += chance *= acceptance[i];
            const double ms = (check[k + 1] + k * guess) / ids;
            if (ms < best) best = ms, guesses = k, most = ids;
        }
        printf("%-10.2f %8d %12.2f %12.3f %7.2fx\n", acceptance[i], guesses, most, best, step / best);
    }
}

int bench_draft(const struct engine *e, const steno_model_params *p, const char *shape, const char *draft, const char *type, int runs)
{
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_error err = { 0 };
    double check[ROWS + 1] = { 0 };
    int rc = steno_model_open_random(&m, draft, type, SEED, p, &err), code = EXIT_OK;
    if (!rc) rc = steno_session_open(&s, m, e->team, NULL, &err);
    if (rc) code = message_model_error("--draft", rc, err.text);
    for (int n = 1; n <= ROWS && code == EXIT_OK; n++) check[n] = phase_ms(e->session, "check", n, runs, &code);
    const double step = code == EXIT_OK ? phase_ms(e->session, "decode", STEPS, runs, &code) / STEPS : 0;
    const double guess = code == EXIT_OK ? phase_ms(s, "decode", STEPS, runs, &code) / STEPS : 0;
    if (code == EXIT_OK) {
        printf("model: %s, draft: %s, weights %s, %d threads\n", shape, draft, type, steno_team_threads(e->team));
        printf("step of the model %.3f ms, of the draft %.3f ms\n\n%-10s %12s %8s\n", step, guess, "rows", "ms/run", "steps");
        for (int n = 1; n <= ROWS; n++)
            if (n < 5 || n % 4 == 0 || n == 5) printf("%-10d %12.3f %8.2f\n", n, check[n], check[n] / step);
        print_gains(check, step, guess);
        code = message_flush();
    }
    steno_session_close(s);
    steno_model_close(m);
    return code;
}
