/* steno: what --compute auto takes. SPDX-License-Identifier: MIT */
#include "models/auto_compute.h"
#include "atomic_file.h"
#include "cli/progress.h"
#include "models/machine.h"
#include "path.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL, BF16, N_SIDES, N_FIGURES = 3 };

int auto_takes_bf16(const struct auto_figures *f)
{
    return f->level_ms > AUTO_MARGIN * f->bf16_ms;
}

static void figures_key(char key[FIGURES_KEY_SZ + 32], const char *cpu_level)
{
    char machine[FIGURES_KEY_SZ];
    machine_key(machine, cpu_level);
    snprintf(key, FIGURES_KEY_SZ + 32, "%s, auto and bf16", machine);
}

int auto_figures_find(struct auto_figures *f, const char *folder, const char *cpu_level)
{
    char key[FIGURES_KEY_SZ + 32], *path = folder ? path_join(folder, FIGURES_FILE) : NULL;
    double v[N_FIGURES];
    figures_key(key, cpu_level);
    const int found = path && figures_find(v, N_FIGURES, path, key);
    if (found) *f = (struct auto_figures){ v[0], v[1], (int)v[2] };
    free(path);
    return found;
}

static void best_add(double best[AUTO_BEST], double ms)
{
    for (int i = 0; i < AUTO_BEST; i++) {
        const double old = best[i];
        if (old > 0 && old <= ms) continue;
        best[i] = ms;
        ms = old;
        if (ms <= 0) return;
    }
}

static int is_settled(const double best[AUTO_BEST])
{
    return best[AUTO_BEST - 1] > 0 && best[AUTO_BEST - 1] <= 1.1 * best[0];
}

int auto_round_add(struct auto_rounds *r, double level_ms, double bf16_ms)
{
    best_add(r->level_ms, level_ms);
    best_add(r->bf16_ms, bf16_ms);
    return ++r->n >= AUTO_LEAST && is_settled(r->level_ms) && is_settled(r->bf16_ms);
}

/* Encode in turn, so that other load meets both. @return 1, or 0 with a reason */
static int measure(struct auto_rounds *r, steno_session *const *session, int64_t most_us, steno_error *e)
{
    const int64_t begun = progress_now_us();
    int rc = STENO_OK;
    for (int i = -1; i < AUTO_MOST && (i < AUTO_LEAST || progress_now_us() - begun < most_us); i++) {
        int64_t us[N_SIDES];
        for (int k = 0; k < N_SIDES && rc == STENO_OK; k++) {
            us[k] = steno_bench_phase(session[k], "encode", 1);
            if (us[k] < 0) rc = (int)us[k];
        }
        if (rc != STENO_OK) break;
        if (i >= 0 && auto_round_add(r, (double)us[LEVEL] / 1000, (double)us[BF16] / 1000)) return 1; /* the first warms the caches */
    }
    const char *busy = "other programs use the processor, and rounds differ by more than a tenth: measure again when it is idle";
    snprintf(e->text, sizeof e->text, "%s", rc ? steno_status_text(rc) : busy);
    return 0;
}

/* @return 0 with a reason */
static int not_kept(const char *folder, steno_error *e)
{
    const char *why = folder ? strerror(errno) : "HOME is not set";
    snprintf(e->text, sizeof e->text, "the figures cannot be kept in %s: %s", folder ? folder : "~/.cache/steno", why);
    return 0;
}

static int keep(const struct auto_figures *f, const char *folder, steno_error *e)
{
    char key[FIGURES_KEY_SZ + 32], *path = path_join(folder, FIGURES_FILE);
    figures_key(key, NULL);
    const int kept = path && figures_keep(path, key, (const double[N_FIGURES]){ f->level_ms, f->bf16_ms, f->threads }, N_FIGURES);
    free(path);
    return kept ? 1 : not_kept(folder, e);
}

int auto_figures_measure(struct auto_figures *f, const char *folder, const char *shape, int64_t most_us, steno_error *e)
{
    static const int32_t compute[N_SIDES] = { [LEVEL] = STENO_COMPUTE_AUTO, [BF16] = STENO_COMPUTE_BF16 };
    steno_team *team = NULL;
    steno_model *model[N_SIDES] = { NULL };
    steno_session *session[N_SIDES] = { NULL };
    struct auto_rounds r = { .n = 0 };
    if (!folder || atomic_file_prepare(folder)) return not_kept(folder, e); /* before the time is spent */
    int rc = steno_team_open(&team, 0, e);
    for (int k = 0; k < N_SIDES && rc == STENO_OK; k++) {
        steno_model_params p;
        steno_model_params_init(&p);
        p.compute = compute[k];
        p.team = team;
        rc = steno_model_open_random(&model[k], shape, "f16", 1, &p, e);
        if (rc == STENO_OK) rc = steno_session_open(&session[k], model[k], team, NULL, e);
    }
    const int measured = rc == STENO_OK && measure(&r, session, most_us, e);
    for (int k = 0; k < N_SIDES; k++) {
        steno_session_close(session[k]);
        steno_model_close(model[k]);
    }
    *f = (struct auto_figures){ r.level_ms[0], r.bf16_ms[0], steno_team_threads(team) };
    steno_team_close(team);
    return measured && keep(f, folder, e);
}
