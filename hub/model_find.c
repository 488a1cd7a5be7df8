/* steno-hub: finds models in the caches of both hubs by name. SPDX-License-Identifier: MIT */
#include "model_find.h"
#include "place.h"
#include "wanted.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Any file with an extension of weights counts, even if no loader here supports it. Opening it then gives the reason. */
static int has_weights(const struct names *n)
{
    static const char *const end[] = { ".safetensors", ".pt", ".bin", ".npz" };
    for (size_t i = 0; i < n->n; i++) {
        const char *name = n->name[i];
        const size_t len = strlen(name);
        if (strchr(name, '/') || hub_is_single(name)) continue;
        for (size_t k = 0; k < sizeof end / sizeof *end; k++)
            if (len > strlen(end[k]) && strcmp(name + len - strlen(end[k]), end[k]) == 0) return 1;
    }
    return 0;
}

int hub_models_in(struct names *out, const char *folder, struct hub_error *e)
{
    struct names files;
    *out = (struct names){ 0 };
    int rc = names_below(&files, folder, e);
    const int settings = names_has(&files, "config.json") || names_has(&files, "config.yaml");
    if (rc == HUB_OK && settings && has_weights(&files)) rc = names_add(out, "", e);
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++)
        if (hub_is_single(files.name[i])) rc = names_add(out, files.name[i], e);
    names_free(&files);
    return rc;
}

int hub_spec_read(struct hub_spec *s, const char *name, struct hub_error *e)
{
    const char *at = strchr(name, '@'), *colon = strchr(name, ':');
    if (at && colon && at > colon) at = NULL; /* part of the file's name */
    const size_t n_id = at ? (size_t)(at - name) : colon ? (size_t)(colon - name) : strlen(name);
    const size_t n_rev = !at ? 0 : colon ? (size_t)(colon - at - 1) : strlen(at + 1);
    memset(s, 0, sizeof *s);
    if (n_id >= sizeof s->id || n_rev >= sizeof s->rev || (colon && strlen(colon + 1) >= sizeof s->file))
        return hub_fail(e, HUB_EARG, "%s: not a model name: it is too long", name);
    memcpy(s->id, name, n_id);
    if (at) memcpy(s->rev, at + 1, n_rev);
    if (colon) memcpy(s->file, colon + 1, strlen(colon + 1));
    const char *fault = hub_id_fault(s->id);
    if (!fault && at) fault = hub_revision_fault(s->rev);
    if (!fault && colon) fault = hub_path_fault(s->file);
    return fault ? hub_fail(e, HUB_EARG, "%s: not a model name, which is ORG/NAME, ORG/NAME@REVISION or ORG/NAME:FILE: %s", name, fault)
                 : HUB_OK;
}

/* The model in a snapshot: the file of that name, else the folder, else the only model file. */
static char *model_in(const struct hub_snapshot *s, const char *file, struct hub_error *e)
{
    struct names models;
    char *path = NULL;
    int wanted = -1;
    if (hub_models_in(&models, s->folder, e)) return NULL;
    if (!file[0] && (names_has(&models, "") || models.n == 1)) wanted = 0;
    if (file[0]) {
        struct names files;
        if (names_below(&files, s->folder, e) == HUB_OK && names_has(&files, file)) path = hub_format("%s/%s", s->folder, file);
        names_free(&files);
    } else if (wanted == 0) {
        path = hub_format("%s%s%s", s->folder, models.name[0][0] ? "/" : "", models.name[0]);
    }
    names_free(&models);
    return path;
}

char *hub_model_path(const struct hub_cache *c, const struct hub_spec *s, struct hub_error *e)
{
    char *path = NULL;
    e->status = HUB_OK;
    for (size_t i = 0; i < c->n && !path && e->status != HUB_ENOMEM; i++)
        if (strcmp(c->s[i].id, s->id) == 0 && hub_is_revision(&c->s[i], s->rev)) path = model_in(&c->s[i], s->file, e);
    return path;
}

int hub_model_is_absent(const struct hub_cache *c, const struct hub_spec *s)
{
    struct stat st;
    int is = 0;
    for (size_t i = 0; i < c->n && !is && s->file[0]; i++) {
        if (strcmp(c->s[i].id, s->id) != 0 || !hub_is_revision(&c->s[i], s->rev)) continue;
        char *path = hub_absent_path(c->s[i].repo, c->s[i].commit, s->file);
        is = path && stat(path, &st) == 0;
        free(path);
    }
    return is;
}
