/* steno-hub: names of models, as typed or as URLs of web pages, and models in the caches. SPDX-License-Identifier: MIT */
#include "model_name.h"
#include "cache.h"
#include "listing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names, and models in the caches ----------------------------------------------------------------------------------------- */

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

/* The model that a snapshot's name means: the folder, else the only file that is not NeMo's, else the only file. NULL: it names none */
static const char *main_of(const struct names *models)
{
    const char *other = NULL;
    int others = 0;
    if (names_has(models, "")) return "";
    for (size_t i = 0; i < models->n; i++)
        if (!hub_is_nemo(models->name[i])) other = models->name[i], others++;
    return others == 1 ? other : models->n == 1 ? models->name[0] : NULL;
}

/* The model in a snapshot: the file of that name, else the one that the snapshot's name means. */
static char *model_in(const struct hub_snapshot *s, const char *file, struct hub_error *e)
{
    struct names models;
    char *path = NULL;
    if (hub_models_in(&models, s->folder, e)) return NULL;
    const char *own = main_of(&models);
    if (file[0]) {
        struct names files;
        if (names_below(&files, s->folder, e) == HUB_OK && names_has(&files, file)) path = hub_format("%s/%s", s->folder, file);
        names_free(&files);
    } else if (own) {
        path = hub_format("%s%s%s", s->folder, own[0] ? "/" : "", own);
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

/* ---- URLs of a hub's web pages ----------------------------------------------------------------------------------------------- */

enum { MOST_PARTS = HUB_MOST_DEPTH + 8, MOST_PATH = 4096 };

static const struct { const char *host; int hub; } hosts[] = {
    { "huggingface.co", HUB_HF }, { "www.huggingface.co", HUB_HF }, { "hf.co", HUB_HF },         { "hf-mirror.com", HUB_HF },
    { "modelscope.cn", HUB_MS },  { "www.modelscope.cn", HUB_MS },  { "modelscope.ai", HUB_MS }, { "www.modelscope.ai", HUB_MS },
};

/* Parts of a URL between a model's page and a revision or a file. */
static const struct { int hub; const char *way; int has_rev, has_file; } ways[] = {
    { HUB_HF, "tree", 1, 0 },   { HUB_HF, "commit", 1, 0 }, { HUB_HF, "commits", 1, 0 },   { HUB_HF, "blob", 1, 1 },
    { HUB_HF, "resolve", 1, 1 }, { HUB_HF, "raw", 1, 1 },   { HUB_MS, "summary", 0, 0 },   { HUB_MS, "quickstart", 0, 0 },
    { HUB_MS, "files", 0, 0 },  { HUB_MS, "tree", 1, 0 },   { HUB_MS, "file/view", 1, 1 }, { HUB_MS, "resolve", 1, 1 },
    { HUB_MS, "blob", 1, 1 },
};

static int hex_value(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes %XX in place. @return 0, or -1: a NUL, or invalid digits */
static int unescape(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++) {
        if (*p != '%') {
            *to++ = *p;
            continue;
        }
        const int high = hex_value(p[1]), low = high < 0 ? -1 : hex_value(p[2]);
        if (low < 0 || !(high | low)) return -1;
        *to++ = (char)(high << 4 | low);
        p += 2;
    }
    *to = '\0';
    return 0;
}

/* Finds the hub, and the start of the path. @return hub, or -1 */
static int hub_of(const struct hub_env *env, const char *url, const char **path)
{
    char origin[HUB_ORIGIN_SZ], other[HUB_ORIGIN_SZ], host[HUB_ORIGIN_SZ];
    const char *scheme = strstr(url, "://");
    if (!scheme || hub_origin(origin, url)) return -1;
    *path = scheme + 3 + strcspn(scheme + 3, "/?#");
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        for (int secure = 0; secure < 2; secure++) {
            snprintf(host, sizeof host, "%s://%s:%d", secure ? "https" : "http", hosts[i].host, secure ? 443 : 80);
            if (strcmp(origin, host) == 0) return hosts[i].hub;
        }
    for (int hub = 0; hub < N_HUBS; hub++) {
        const char *end = env->hub[hub].endpoint;
        const size_t n = strlen(end);
        if (hub_origin(other, end) || strcmp(origin, other) != 0) continue;
        if (strncmp(url, end, n) == 0 && strchr("/?#", url[n])) *path = url + n; /* the endpoint may have a path of its own */
        return hub == HUB_HF && strncmp(*path, "/models/", 8) == 0 ? HUB_MS : hub;
    }
    return -1;
}

/* Joins part[from] and the parts after it with slashes. @return 0, or -1: too long */
static int join_parts(char *out, size_t size, char *const *part, int from, int n)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = from; i < n; i++) {
        const int k = snprintf(out + at, size - at, "%s%s", i > from ? "/" : "", part[i]);
        if (k < 0 || (size_t)k >= size - at) return -1;
        at += (size_t)k;
    }
    return 0;
}

static int copy_text(char *out, size_t size, const char *text)
{
    const int n = snprintf(out, size, "%s", text);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* Parses the part after ORG/NAME. */
static const char *read_way(struct hub_spec *s, int hub, char *const *part, int n)
{
    const int is_view = n > 1 && strcmp(part[0], "file") == 0 && strcmp(part[1], "view") == 0;
    const char *way = is_view ? "file/view" : n ? part[0] : "";
    for (size_t i = 0; n && i < sizeof ways / sizeof *ways; i++) {
        if (ways[i].hub != hub || strcmp(ways[i].way, way) != 0) continue;
        const int at = 1 + is_view + ways[i].has_rev;
        const char *rev = ways[i].has_rev && n >= at ? part[at - 1] : "";
        if (strcmp(rev, hub == HUB_HF ? "main" : "master") != 0 && copy_text(s->rev, sizeof s->rev, rev)) return "its revision is too long";
        if (n > at && !ways[i].has_file) return "it shows a folder; a model is pulled by its page, and one file by the page of the file";
        if (join_parts(s->file, sizeof s->file, part, at < n ? at : n, n)) return "the name of its file is too long";
        return NULL;
    }
    return n ? "it is not the page of a model, of its files (tree) or of one file (blob, resolve)" : NULL;
}

static const char *read_path(struct hub_spec *s, int hub, char *path)
{
    static const char *const others[] = { "datasets", "spaces", "studios", "collections", "papers", "organization", "docs", "blog" };
    char *part[MOST_PARTS];
    int n = 0;
    for (char *save = NULL, *p = strtok_r(path, "/", &save); p; p = strtok_r(NULL, "/", &save)) {
        if (n == MOST_PARTS) return "it has too many parts";
        if (unescape(p)) return "it has a % without two digits after it";
        part[n++] = p;
    }
    for (size_t i = 0; n && i < sizeof others / sizeof *others; i++)
        if (strcmp(part[0], others[i]) == 0) return "it is not the page of a model";
    const int from = hub == HUB_MS && n && strcmp(part[0], "models") == 0;
    if (n < from + 2) return "it does not name a model, as ORG/NAME";
    if (join_parts(s->id, sizeof s->id, part, from, from + 2)) return "its ORG/NAME is too long";
    return read_way(s, hub, part + from + 2, n - from - 2);
}

/* Finds fileName=model.pt in the query. */
static const char *read_query(struct hub_spec *s, const char *query)
{
    static const char key[] = "fileName=";
    for (const char *p = query; p; p = strchr(p, '&')) {
        p += *p == '?' || *p == '&';
        if (strncmp(p, key, sizeof key - 1) != 0) continue;
        const char *from = p + sizeof key - 1;
        const size_t n = strcspn(from, "&#");
        if (n >= sizeof s->file) return "the name of its file is too long";
        snprintf(s->file, sizeof s->file, "%.*s", (int)n, from);
        return unescape(s->file) ? "it has a % without two digits after it" : NULL;
    }
    return NULL;
}

const char *hub_page_read(struct hub_spec *s, int *hub, const struct hub_env *env, const char *url)
{
    const char *from;
    *s = (struct hub_spec){ .id = "" };
    *hub = hub_of(env, url, &from);
    if (*hub < 0) return "it is not a page of Hugging Face's hub or of ModelScope, where models are downloaded";
    char path[MOST_PATH];
    const size_t n = strcspn(from, "?#");
    if (n >= sizeof path) return "it is too long";
    memcpy(path, from, n);
    path[n] = '\0';
    const char *fault = read_path(s, *hub, path);
    if (!fault && *hub == HUB_MS && !s->file[0] && from[n] == '?') fault = read_query(s, from + n);
    if (!fault) fault = hub_id_fault(s->id);
    if (!fault && s->rev[0]) fault = hub_revision_fault(s->rev);
    if (!fault && s->file[0]) fault = hub_path_fault(s->file);
    return fault;
}
