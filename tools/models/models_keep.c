/* steno: models rm, models verify. SPDX-License-Identifier: MIT */
#include "models/models_verbs.h"
#include "models/models_plain.h"
#include "cli/print.h"
#include "remove.h"
#include "cli/signals.h"
#include "verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_wrong(void *user, const char *why)
{
    (void)user;
    puts(why);
}

/* What to verify or remove. */
struct look {
    const char *name; /* NULL: all models */
    struct hub_verified v;
    struct hub_judge judge;
    int n; /* number of models found */
};

static int verify_plain(void *user, const char *path, const char *file, struct hub_error *e)
{
    struct look *l = user;
    if (l->name && !models_plain_is(file, l->name)) return HUB_OK;
    l->n++;
    return hub_verify_plain(&l->v, path, &l->judge, e);
}

static int verify_snapshots(struct look *l, const struct hub_cache *cache, const struct hub_spec *spec, struct hub_error *e)
{
    int rc = HUB_OK;
    for (size_t i = 0; i < cache->n && rc == HUB_OK; i++) {
        const struct hub_snapshot *s = &cache->s[i];
        if (l->name && (strcmp(s->id, spec->id) != 0 || !hub_is_revision(s, spec->rev))) continue;
        rc = hub_verify(&l->v, s, spec->file, &l->judge, e);
        l->n++;
    }
    return rc;
}

/* Verify a path, or a name in every place where it is found. */
static int verify_one(struct look *l, const struct hub_cache *cache, struct hub_error *e)
{
    struct hub_spec spec = { .id = "" };
    struct stat st;
    l->n = 0;
    if (l->name && stat(l->name, &st) == 0) return hub_verify_plain(&l->v, l->name, &l->judge, e);
    int rc = models_plain_each(verify_plain, l, e);
    if (rc != HUB_OK) return rc;
    if (l->name && (rc = models_spec(&spec, l->name, e)) != HUB_OK) return l->n ? HUB_OK : rc;
    rc = verify_snapshots(l, cache, &spec, e);
    return rc == HUB_OK && l->name && !l->n ? hub_fail(e, HUB_EABSENT, "%s: is not in the caches", l->name) : rc;
}

int models_verify(const struct models_call *c)
{
    struct hub_error e = { 0 };
    struct hub_cache cache;
    struct look l = { .judge = { signals_stop, print_wrong, NULL } };
    const struct hub_verified *v = &l.v;
    if (!c->n && !c->o->all) return message_usage("models verify needs the name of a model, or --all");
    if (c->n && c->o->all) return message_usage("models verify takes names or --all, not both");
    signals_defer(1);
    int rc = hub_cache_read(&cache, c->env, &e);
    for (int i = 0; rc == HUB_OK && i < (c->o->all ? 1 : c->n); i++) {
        l.name = c->o->all ? NULL : c->name[i];
        rc = verify_one(&l, &cache, &e);
    }
    hub_cache_free(&cache);
    if (rc != HUB_OK) return models_failed(&e);
    if (!c->o->quiet) {
        message("%d files are right, %d are not%s", v->n_right, v->n_wrong, v->n_wrong ? "; models pull fetches them again" : "");
        if (v->n_unknown) message("no hash is known of %d files", v->n_unknown);
    }
    const int flushed = message_flush();
    return v->n_wrong ? EXIT_MODEL : flushed;
}

/* Ask if there is a terminal; otherwise --yes is required. */
static int may_remove(const struct models_call *c, const char *name, int n, int64_t bytes)
{
    char line[16] = "";
    if (c->o->yes) return 1;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        message("%s: %d files, %.1f MB; nothing was removed: give --yes", name, n, (double)bytes / 1e6);
        return 0;
    }
    fprintf(stderr, "steno: remove %s, %d files, %.1f MB? [y/N] ", name, n, (double)bytes / 1e6);
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static int remove_one(const struct models_call *c, const char *name, struct hub_error *e)
{
    struct hub_spec spec;
    struct hub_cache cache = { 0 };
    struct hub_removed is = { 0 };
    int code = EXIT_OK, rc = models_spec(&spec, name, e);
    if (rc == HUB_OK) rc = hub_cache_read(&cache, c->env, e);
    if (rc == HUB_OK) rc = hub_remove(&is, c->env, &cache, &spec, 1, signals_stop, NULL, e);
    if (rc == HUB_OK && !is.n) rc = hub_fail(e, HUB_EABSENT, "%s: is not in the caches", name);
    if (rc == HUB_OK && c->o->dry_run) {
        print_name(stdout, name, 0);
        printf(": %d files, %lld bytes would be removed\n", is.n, (long long)is.freed);
    } else if (rc == HUB_OK && !may_remove(c, name, is.n, is.freed)) {
        code = EXIT_USAGE;
    } else if (rc == HUB_OK) {
        rc = hub_remove(&is, c->env, &cache, &spec, 0, signals_stop, NULL, e);
        if (rc == HUB_OK) {
            print_name(stdout, name, 0);
            printf(": %d files, %lld bytes removed\n", is.n, (long long)is.freed);
        }
    }
    if (rc == HUB_OK && is.n_links)
        message("%s: it is a link to a folder; what lies there %s", name, c->o->dry_run ? "would stay" : "stays");
    hub_cache_free(&cache);
    return rc == HUB_OK ? code : models_failed(e);
}

int models_rm(const struct models_call *c)
{
    struct hub_error e = { 0 };
    int code = EXIT_OK;
    signals_defer(1);
    for (int i = 0; i < c->n && code == EXIT_OK; i++) code = remove_one(c, c->name[i], &e);
    const int flushed = message_flush();
    return code == EXIT_OK ? flushed : code;
}
