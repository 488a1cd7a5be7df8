/* steno: the verb doctor: what this machine offers, and what is wrong. SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "engine.h"
#include "machine.h"
#include "num.h"
#include "signals.h"
#include "u8.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct opts {
    int json;
};

static const struct arg rows[] = {
    { NULL, 0, ARG_GROUP, 0, 0, NULL, NULL, 0, 0, "Output" },
    { "json", 0, ARG_FLAG, 0, offsetof(struct opts, json), NULL, NULL, 0, 0, "an object instead of lines" },
    { 0 },
};

static const struct args doctor_args = {
    "doctor", "[OPTION]...",
    "Print what this machine offers, what steno would use, and what is wrong\n(exit code 1 if anything is).", rows
};

struct report {
    int json, n_lines, n_problems;
    char problems[8][2048]; /* fixed: a reason is at most a steno_error's text */
};

static void line(struct report *r, const char *key, const char *value)
{
    char clean[2048];
    u8_printable(clean, sizeof clean, value);
    if (!r->json) {
        printf("%s: %s\n", key, clean);
        return;
    }
    printf(r->n_lines++ ? ", " : "{");
    u8_json(stdout, key);
    fputs(": ", stdout);
    u8_json(stdout, clean);
}

static void problem(struct report *r, const char *what, const char *reason)
{
    if (r->n_problems < (int)(sizeof r->problems / sizeof *r->problems))
        snprintf(r->problems[r->n_problems++], sizeof r->problems[0], "%s%s%s", what, reason[0] ? ": " : "", reason);
}

static void report_levels(struct report *r)
{
    const char *name, *best = "c";
    char key[64], chosen[128];
    for (int i = 0; (name = steno_cpu_level_name(i)) != NULL; i++) {
        snprintf(key, sizeof key, "level %s", name);
        line(r, key, steno_cpu_level_usable(i) ? "usable" : "not on this machine");
        if (steno_cpu_level_usable(i)) best = name;
    }
    snprintf(chosen, sizeof chosen, "%s (the highest usable level; --cpu lowers it)", best);
    line(r, "level used", chosen);
}

static void report_threads(struct report *r)
{
    steno_team *team = NULL;
    steno_error e = { 0 };
    char n[32];
    if (steno_team_open(&team, 0, &e) != STENO_OK) problem(r, "threads cannot be started", e.text);
    else {
        snprintf(n, sizeof n, "%d", steno_team_threads(team));
        line(r, "threads", n);
    }
    steno_team_close(team);
}

/* Open a model only to see that it opens. */
static void report_model(struct report *r, const char *key, const char *path)
{
    steno_model *m = NULL;
    steno_error e = { 0 };
    steno_model_info i = { .size = sizeof i };
    char value[1536];
    const int rc = steno_model_open(&m, path, NULL, &e);
    if (rc == STENO_OK) {
        steno_model_info_get(m, &i);
        snprintf(value, sizeof value, "%.1000s (%s %s, %s)", path, i.family, i.name, i.weight_type);
    } else {
        snprintf(value, sizeof value, "%.1000s does not open", path);
        problem(r, key, e.text[0] ? e.text : steno_status_text(rc));
    }
    line(r, key, value);
    steno_model_close(m);
}

static void report_models(struct report *r)
{
    const char *env = getenv("STENO_MODEL");
    char *demo = models_demo(), *largest = models_largest();
    if (env && env[0] && strchr(env, '/')) report_model(r, "default model", env);
    else if (env && env[0]) line(r, "default model", env);
    else if (largest) report_model(r, "default model", largest);
    else line(r, "default model", "none; " MODELS_ADVICE);
    if (demo) report_model(r, "demo model", demo);
    else line(r, "demo model", "not installed");
    if (!demo && !largest && !(env && env[0])) problem(r, "no model at all", "");
    free(demo);
    free(largest);
}

/* Sound from a pipe is spooled there. */
static void report_temp(struct report *r)
{
    const char *env = getenv("TMPDIR"), *dir = env && env[0] ? env : "/tmp";
    char path[1024];
    const int n = snprintf(path, sizeof path, "%s/.steno-XXXXXX", dir);
    const int fd = n > 0 && n < (int)sizeof path ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0) {
        snprintf(path, sizeof path, "temporary folder %.900s cannot be written", dir);
        problem(r, path, strerror(errno));
    } else {
        unlink(path);
        close(fd);
    }
    line(r, "temporary folder", dir);
}

static void report_problems(struct report *r)
{
    if (r->json) {
        fputs(", \"problems\": [", stdout);
        for (int i = 0; i < r->n_problems; i++) {
            if (i) fputs(", ", stdout);
            u8_json(stdout, r->problems[i]);
        }
        puts("]}");
        return;
    }
    for (int i = 0; i < r->n_problems; i++) line(r, "problem", r->problems[i]);
    if (!r->n_problems) line(r, "problems", "none");
}

int cmd_doctor(int argc, char **argv)
{
    struct opts o = { 0 };
    struct report r = { 0 };
    char name[256];
    int n;
    const int code = args_parse(&doctor_args, &o, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n) return say_usage("doctor takes no operands");
    r.json = o.json;
    machine_name(name, sizeof name);
    line(&r, "steno", steno_version());
    line(&r, "processor", name);
    report_levels(&r);
    report_threads(&r);
    line(&r, "decoding", steno_media_backend());
    line(&r, "compiler", __VERSION__);
    report_models(&r);
    report_temp(&r);
    report_problems(&r);
    const int flushed = say_flush();
    return flushed != EXIT_OK ? flushed : r.n_problems ? EXIT_SOME : EXIT_OK;
}
