/* steno: models list, where, verify and rm: models on this machine. SPDX-License-Identifier: MIT */
#include "cache.h"
#include "cli/message.h"
#include "cli/signals.h"
#include "hub_error.h"
#include "keep.h"
#include "known.h"
#include "model_name.h"
#include "models/models.h"
#include "models/models_hub.h"
#include "models/models_verbs.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- model files in the folders of programs ---------------------------------------------------------------------------------- */

static int plain_in_folder(const char *folder, int only_ggml,
                           int (*each)(void *user, const char *path, const char *file, struct hub_error *e), void *user,
                           struct hub_error *e)
{
    struct names files;
    int rc = names_of_folder(&files, folder, e);
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++) {
        const char *name = files.name[i], *end = strrchr(name, '.');
        const int is_model = end && (strcmp(end, ".bin") == 0 || strcmp(end, ".pt") == 0 || strcmp(end, ".gguf") == 0);
        if (!is_model || (only_ggml && strncmp(name, "ggml-", 5) != 0)) continue;
        char *path = hub_format("%s/%s", folder, name);
        rc = path ? each(user, path, name, e) : hub_no_memory(e, "a path");
        free(path);
    }
    names_free(&files);
    return rc;
}

/* Call `each` for every file in ./models, ~/.cache/steno, ~/.cache/whisper.cpp and ~/.cache/whisper whose name may be a model's. A
 * result other than HUB_OK stops the walk. */
static int models_plain_each(int (*each)(void *user, const char *path, const char *file, struct hub_error *e), void *user,
                             struct hub_error *e)
{
    int rc = HUB_OK;
    for (int i = 0; i < N_MODEL_FOLDERS - 1 && rc == HUB_OK; i++) { /* the last folder is the hub's cache */
        char *folder = models_folder(i);
        if (folder) rc = plain_in_folder(folder, strcmp(folder, "models") == 0, each, user, e);
        free(folder);
    }
    return rc;
}

static int plain_is_form(const char *file, const char *name)
{
    static const char *const end[] = { ".bin", ".pt", ".gguf", "" };
    const size_t n = strlen(name);
    if (strncmp(file, "ggml-", 5) == 0 && strncmp(file + 5, name, n) == 0 && strcmp(file + 5 + n, ".bin") == 0) return 1;
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        if (strncmp(file, name, n) == 0 && strcmp(file + n, end[i]) == 0) return 1;
    return 0;
}

/* Does a name mean this file, as with -m: ggml-NAME.bin, NAME.bin, NAME.pt, NAME.gguf or NAME, also for an alias in the table? */
static int models_plain_is(const char *file, const char *name)
{
    struct hub_known k;
    return plain_is_form(file, name) || (hub_known_find(&k, name) && (plain_is_form(file, k.name) || strcmp(file, k.file) == 0));
}

/* ---- models list, models where ----------------------------------------------------------------------------------------------- */

struct row { const char *name, *path; int64_t size; };
struct list { const struct models_call *c; size_t n; }; /* number of models printed */

static void print_row(struct list *l, const struct row *r)
{
    steno_kind k = { .size = sizeof k };
    steno_error e = { 0 };
    const int rc = steno_kind_get(r->path, &k, &e);
    const int opens = rc == STENO_OK && k.readable;
    const char *why = rc != STENO_OK ? e.text : k.advice;
    l->n++;
    if (l->c->o->json) {
        fputs("{\"name\": ", stdout);
        print_json(stdout, r->name);
        printf(", \"bytes\": %lld, \"format\": ", (long long)r->size);
        print_json(stdout, k.what);
        printf(", \"readable\": %s, \"why\": ", opens ? "true" : "false");
        print_json(stdout, opens ? "" : why);
        fputs(", \"path\": ", stdout);
        print_json(stdout, r->path);
        fputs("}\n", stdout);
        return;
    }
    print_name(stdout, r->name, 48);
    printf(" %9.1f MB  %s", (double)r->size / 1e6, k.what);
    if (!opens) fputs("; cannot be read: ", stdout);
    if (!opens) print_name(stdout, why, 0);
    fputs("\n    ", stdout);
    print_name(stdout, r->path, 0);
    putchar('\n');
}

/* Size of a folder's files in bytes: the space that its removal frees. */
static int64_t size_of(const char *path)
{
    struct stat st;
    struct names files;
    struct hub_error e;
    int64_t size = 0;
    if (stat(path, &st)) return 0;
    if (!S_ISDIR(st.st_mode)) return st.st_size;
    if (names_below(&files, path, &e) == HUB_OK) {
        for (size_t i = 0; i < files.n; i++) {
            char *at = hub_format("%s/%s", path, files.name[i]);
            if (at && stat(at, &st) == 0) size += st.st_size;
            free(at);
        }
    }
    names_free(&files);
    return size;
}

static int list_snapshot(struct list *l, const struct hub_snapshot *s, struct hub_error *e)
{
    struct names models;
    int rc = hub_models_in(&models, s->folder, e);
    for (size_t i = 0; i < models.n && rc == HUB_OK; i++) {
        const char *file = models.name[i];
        char *path = hub_format("%s%s%s", s->folder, file[0] ? "/" : "", file);
        char *name = hub_format("%s%s%s%s%s", s->id, s->is_main ? "" : "@", s->is_main ? "" : s->commit, file[0] ? ":" : "", file);
        const struct row r = { name, path, path ? size_of(path) : 0 };
        if (path && name) print_row(l, &r);
        else rc = hub_no_memory(e, "a path");
        free(path);
        free(name);
    }
    names_free(&models);
    return rc;
}

static int list_plain(void *user, const char *path, const char *file, struct hub_error *e)
{
    const struct row r = { file, path, size_of(path) };
    (void)e;
    print_row(user, &r);
    return HUB_OK;
}

/* Print the table's models that are not on this machine. */
static int list_known(const struct models_call *c)
{
    struct hub_known k;
    int no_memory = 0;
    for (size_t i = 0; hub_known_row(&k, i); i++) {
        char *path = hub_known_is_first(&k) ? models_hub_find(k.name, &no_memory) : NULL;
        const int here = path != NULL;
        free(path);
        if (no_memory) return HUB_ENOMEM;
        if (here || !hub_known_is_first(&k)) continue;
        int64_t size = 0;
        struct hub_known row;
        for (size_t r = i; hub_known_row(&row, r) && strcmp(row.name, k.name) == 0; r++) size += row.size > 0 ? row.size : 0;
        if (c->o->json) {
            printf("{\"name\": \"%s\", \"bytes\": %lld, \"known\": true, \"repo\": \"%s\", \"family\": \"%s\", \"languages\": \"%s\", "
                   "\"licence\": \"%s\", \"memory_mb\": %d, \"about_mb\": %d}\n",
                   k.name, (long long)size, k.repo, k.family, k.languages, k.licence, k.memory_mb, k.about_mb);
        } else {
            char reported[32] = "";
            if (size) snprintf(reported, sizeof reported, "%.1f MB", (double)size / 1e6);
            else if (k.about_mb) snprintf(reported, sizeof reported, "~%d MB", k.about_mb);
            printf("%-48s %12s  not here; %s; languages: %s; licence: %s\n", k.name, reported, k.family, k.languages, k.licence);
        }
    }
    return HUB_OK;
}

int models_list(const struct models_call *c)
{
    struct hub_error e = { 0 };
    struct hub_cache cache = { 0 };
    struct list l = { .c = c };
    int rc = models_plain_each(list_plain, &l, &e);
    if (rc == HUB_OK) rc = hub_cache_read(&cache, c->env, &e);
    for (size_t i = 0; i < cache.n && rc == HUB_OK; i++) rc = list_snapshot(&l, &cache.s[i], &e);
    hub_cache_free(&cache);
    if (rc == HUB_OK && c->o->all && list_known(c)) rc = hub_no_memory(&e, "a list of models");
    if (rc != HUB_OK) return models_failed(&e);
    if (!l.n && !c->o->quiet)
        message("no model is on this machine; \"steno models pull base\" gets one (148 MB)%s",
                c->o->all ? "" : ", \"steno models list --all\" shows all that have a name");
    return message_flush();
}

int models_where(const struct models_call *c)
{
    int64_t size;
    char *path = models_find(c->name[0]);
    if (path) {
        puts(path);
        free(path);
        return message_flush();
    }
    if (errno == ENOMEM) {
        message("out of memory while looking for model %s", c->name[0]);
        return EXIT_MEMORY;
    }
    if (models_hub_report(c->name[0], &size) < 0)
        message("model %s: no such file or folder, and no model of that name; \"steno models list --all\" lists all names, and ORG/NAME "
                "names any model of a hub", c->name[0]);
    return EXIT_MODEL;
}

/* ---- models verify, models rm ------------------------------------------------------------------------------------------------ */

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
