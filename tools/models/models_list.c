/* steno: models list, models where. SPDX-License-Identifier: MIT */
#include "models/models_verbs.h"
#include "model_find.h"
#include "known.h"
#include "models/models.h"
#include "models/models_hub.h"
#include "models/models_plain.h"
#include "cli/print.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
            char told[32] = "";
            if (size) snprintf(told, sizeof told, "%.1f MB", (double)size / 1e6);
            else if (k.about_mb) snprintf(told, sizeof told, "~%d MB", k.about_mb);
            printf("%-48s %12s  not here; %s; languages: %s; licence: %s\n", k.name, told, k.family, k.languages, k.licence);
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
    if (models_hub_tell(c->name[0], &size) < 0)
        message("model %s: no such file or folder, and no model of that name; \"steno models list --all\" lists all names, and ORG/NAME "
                "names any model of a hub", c->name[0]);
    return EXIT_MODEL;
}
