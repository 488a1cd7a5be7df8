/* steno: speed of this machine with a model. SPDX-License-Identifier: MIT */
#include "models/machine_speed.h"
#include "atomic_file.h"
#include "models/machine.h"
#include "path.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SZ = 512, MOST_LINES = 64, ROUNDS = 3, STEPS = 24 };
static const double tiny_gflop = 36, tiny_mb = 30; /* work of a window's encoder and of a decoder step, as in model_choice.c */

int machine_speed_line(struct machine_speed *s, const char *line, const char *key)
{
    const size_t n = strlen(key);
    char end[2] = "";
    if (strncmp(line, key, n) != 0 || line[n] != '\t') return 0;
    if (sscanf(line + n + 1, "%lf\t%lf%1s", &s->gflops, &s->gbytes, end) != 2) return 0;
    return s->gflops > 0.01 && s->gflops < 1e6 && s->gbytes > 0.01 && s->gbytes < 1e5;
}

/* Version, processor, level and threads identify the figures. */
static void key_of(char key[LINE_SZ], const steno_model_params *p, int n_threads)
{
    char name[256];
    const char *level = p->cpu_level;
    machine_name(name, sizeof name);
    for (int i = 0; !p->cpu_level && steno_cpu_level_name(i); i++)
        if (steno_cpu_level_usable(i)) level = steno_cpu_level_name(i);
    for (char *c = name; *c; c++)
        if (*c == '\t' || *c == '\n') *c = ' ';
    snprintf(key, LINE_SZ, "steno %s, %s, %s, %d threads, compute %d", steno_version(), name, level ? level : "", n_threads,
             (int)p->compute);
}

static int find_kept(struct machine_speed *s, const char *path, const char *key)
{
    char line[LINE_SZ];
    FILE *f = fopen(path, "rb");
    int found = 0;
    while (f && !found && fgets(line, sizeof line, f)) found = machine_speed_line(s, line, key);
    if (f) fclose(f);
    return found;
}

/* Lines of other machines that share the folder are kept. @return 1, or 0 if it cannot be written */
static int keep(const char *path, const char *key, const struct machine_speed *s)
{
    struct atomic_file out;
    char line[LINE_SZ];
    FILE *old = fopen(path, "rb");
    int ok = atomic_file_open(&out, path) == 0;
    for (int i = 0; ok && old && i < MOST_LINES && fgets(line, sizeof line, old); i++)
        if (strchr(line, '\n') && strncmp(line, key, strlen(key)) != 0) fputs(line, out.f);
    if (old) fclose(old);
    if (!ok) return 0;
    fprintf(out.f, "%s\t%.4g\t%.4g\n", key, s->gflops, s->gbytes);
    return atomic_file_commit(&out) == 0;
}

/* The best of a few rounds, because other load only slows a round down. @return microseconds, or a negative status */
static int64_t best_of(steno_session *s, const char *phase, int n)
{
    int64_t best = steno_bench_phase(s, phase, n); /* the first round also warms the caches */
    for (int i = 1; i < ROUNDS && best >= 0; i++) {
        const int64_t us = steno_bench_phase(s, phase, n);
        if (us < best) best = us;
    }
    return best;
}

static int measure(struct machine_speed *s, const steno_model_params *p, steno_team *team)
{
    steno_model *m = NULL;
    steno_session *session = NULL;
    int64_t encode = -1, steps = -1;
    int rc = steno_model_open_random(&m, "tiny", "f16", 1, p, NULL);
    if (rc == STENO_OK) rc = steno_session_open(&session, m, team, NULL, NULL);
    if (rc == STENO_OK) encode = best_of(session, "encode", 1);
    if (rc == STENO_OK) steps = best_of(session, "decode", STEPS);
    steno_session_close(session);
    steno_model_close(m);
    if (encode <= 0 || steps <= 0) return 0;
    s->gflops = tiny_gflop * 1e6 / (double)encode;
    s->gbytes = tiny_mb * 1e-3 * STEPS * 1e6 / (double)steps;
    return 1;
}

int machine_speed_get(struct machine_speed *s, const char *folder, const steno_model_params *p)
{
    char key[LINE_SZ], *path = folder ? path_join(folder, "speed.tsv") : NULL;
    steno_team *own = NULL;
    int ok = path != NULL;
    if (ok && !p->team) ok = steno_team_open(&own, 0, NULL) == STENO_OK;
    if (ok) {
        steno_team *team = p->team ? p->team : own;
        key_of(key, p, steno_team_threads(team));
        struct machine_speed kept;
        if (find_kept(&kept, path, key)) *s = kept;
        else ok = measure(&kept, p, team) && keep(path, key, &kept) && find_kept(s, path, key);
    }
    steno_team_close(own);
    free(path);
    return ok;
}
