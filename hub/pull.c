/* steno-hub: downloads a repository's files to a cache or a folder. SPDX-License-Identifier: MIT */
#include "pull.h"
#include "cache.h"
#include "download.h"
#include "hub_api.h"
#include "hub_error.h"
#include "listing.h"
#include "plain_folder.h"
#include "store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a repository without a listing ------------------------------------------------------------------------------------------ */

/* A mirror may serve files without a listing. Their names come from the caller, or from the data of the revision; size and hash of each
 * come from its own header fields. */

/* Requests size and hash of one file; an absent file is left out. */
static int ask_unlisted(struct hub_listing *l, struct hub_file *f, char commit[HUB_REV_SZ], const struct hub_pull *p, const char *rev,
                        struct hub_error *e)
{
    int there = 1;
    const int rc = hub_ask_file(f, commit, &there, p->http, p->env, p->id, rev, e);
    if (!there) return HUB_OK;
    return rc == HUB_OK ? hub_listing_add(l, f->path, f->size, f->hash, e) : rc;
}

/* Lists the files that p requests and that exist, on Hugging Face's hub. @param commit  of the revision `rev`; if "", receives it */
static int list_unlisted(struct hub_listing *l, char commit[HUB_REV_SZ], const struct hub_pull *p, const char *rev, struct hub_error *e)
{
    struct hub_listing all = { 0 };
    int rc = HUB_OK;
    *l = (struct hub_listing){ 0 };
    for (size_t i = 0; i < p->n_files && rc == HUB_OK; i++) rc = hub_listing_add(&all, p->files[i], -1, "", e);
    if (!p->n_files) rc = hub_ask_names(&all, commit, p->http, p->env, p->id, rev, e);
    char *take = calloc(all.n + 1, 1);
    if (!take && rc == HUB_OK) rc = hub_no_memory(e, "a list of files");
    if (rc == HUB_OK) rc = hub_select(take, &all, p->files, p->n_files, p->id, e);
    for (size_t i = 0; i < all.n && rc == HUB_OK; i++)
        if (take[i]) rc = ask_unlisted(l, &all.f[i], commit, p, rev, e);
    free(take);
    hub_listing_free(&all);
    return rc;
}

/* ---- a run ------------------------------------------------------------------------------------------------------------------- */

struct work {
    const struct hub_pull *p;
    struct hub_pulled *out;
    struct hub_listing own;
    const struct hub_listing *list; /* own, or the known one */
    char *take;                     /* [list->n]; in the user's folder, enum plain_state */
    int is_whole;                   /* own lists all files of the repository */
};

/* ---- one file ----------------------------------------------------------------------------------------------------------------- */

/* Does the content exist already? Its bytes are checked, because name and size prove nothing. */
static int is_there(const struct hub_pull *p, const struct hub_place *at, const struct hub_file *f)
{
    struct hub_error why;
    const char *path = at->target && !store_has(at->content, f->size) ? at->file : at->content;
    if (p->force || !store_has(path, f->size)) return 0;
    return file_verify(path, f->size, f->hash, p->stop, p->user, &why) == HUB_OK;
}

static int fetch(struct work *w, const struct hub_place *at, const struct hub_file *f, int folder, struct hub_error *e)
{
    const struct hub_pull *p = w->p;
    char *url = hub_file_url(p->env, p->hub, p->id, w->out->commit, f->path);
    if (!url) return hub_no_memory(e, "an address");
    const struct download d = { .url = url, .what = f->path, .hash = f->hash, .size = f->size, .partial = at->partial, .at = folder,
                                .progress = p->progress, .user = p->user };
    if (p->started) p->started(p->user, f->path, f->size);
    int rc = download(p->http, &d, e);
    free(url);
    return rc;
}

/* In the user's folder, `state` is that of the earlier check. In a cache, the new content replaces another. */
static int fetch_to_place(struct work *w, const struct hub_place *at, const struct hub_file *f, int state, struct hub_error *e)
{
    const int folder = w->p->to ? plain_folder_enter(w->p, f, state, e) : AT_FDCWD;
    if (folder == -1) return e->status;
    int rc = fetch(w, at, f, folder, e);
    if (rc == HUB_OK && w->p->to) rc = plain_folder_put(w->p, folder, at->partial, f, state, e);
    else if (rc == HUB_OK) rc = store_rename(at->partial, at->content, e);
    if (folder >= 0) close(folder);
    if (rc != HUB_OK && store_has(at->partial, -1)) w->out->partial = strdup(at->partial);
    return rc;
}

/* Creates the name that programs open, if it is not the content's own: a link, or the content itself on file systems without links. */
static int name_it(const struct hub_pull *p, const struct hub_place *at, struct hub_error *e)
{
    int rc = HUB_EARG;
    if (!at->target) return HUB_OK;
    if (!store_has(at->content, -1)) return HUB_OK; /* it was moved to its name earlier */
    if (!p->env->no_links) rc = store_link(at->file, at->target, e);
    return rc == HUB_EARG ? store_rename(at->content, at->file, e) : rc;
}

/* On a file system without locks, each run has its own partial file. */
static int own_partial(struct hub_place *at, struct hub_error *e)
{
    char host[65] = "host", *name;
    gethostname(host, sizeof host - 1);
    host[strcspn(host, "/")] = '\0';
    name = hub_format("%s.%s-%ld.steno.incomplete", at->content, host, (long)getpid());
    if (!name) return hub_no_memory(e, "a path");
    free(at->partial);
    at->partial = name;
    return HUB_OK;
}

/* Records the hash of a file that is in a cache under its own name, for later verification. */
static int record(const struct hub_pull *p, const char *commit, const struct hub_file *f, struct hub_error *e)
{
    char *repo = hub_repo_folder(p->env, p->hub, p->id), *path = repo ? hub_record_path(repo, commit, f->path) : NULL;
    char *text = hub_format("%s %lld\n", f->hash, (long long)f->size);
    const int rc = path && text ? store_text(path, text, e) : hub_no_memory(e, "a path");
    free(repo);
    free(path);
    free(text);
    return rc;
}

static int pull_file(struct work *w, const struct hub_file *f, int state, struct hub_error *e)
{
    const struct hub_pull *p = w->p;
    struct hub_place at;
    struct store_lock lock = { -1 };
    int64_t fetched = 0;
    int rc = hub_place_of(&at, p, w->out->commit, f, e);
    if (rc == HUB_OK && !p->to) rc = store_folders(at.content, e);
    if (rc == HUB_OK && !p->to) rc = store_folders(at.file, e);
    if (rc == HUB_OK) rc = store_lock(&lock, at.lock, p->stop, p->user, e);
    if (rc == HUB_OK && lock.fd < 0) rc = own_partial(&at, e);
    const int seen = p->to && state == PLAIN_THERE && store_has(at.file, f->size);
    if (rc == HUB_OK && !seen && !is_there(p, &at, f)) {
        rc = fetch_to_place(w, &at, f, state, e);
        fetched = f->size;
    }
    if (rc == HUB_OK) rc = name_it(p, &at, e);
    if (rc == HUB_OK && !p->to && (!at.target || !store_has(at.content, -1))) rc = record(p, w->out->commit, f, e);
    if (rc == HUB_OK && p->to) rc = plain_folder_record(p, w->out->commit, f, e);
    store_unlock(&lock);
    if (rc == HUB_OK) {
        w->out->n_bytes += fetched;
        if (p->done) p->done(p->user, f->path, at.file, fetched);
    }
    hub_place_free(&at);
    return rc;
}

/* ---- all files ---------------------------------------------------------------------------------------------------------------- */

/* Checks the free space for missing files before the first byte is fetched. */
static int check_room(struct work *w, struct hub_error *e)
{
    const char *where = w->p->to ? w->p->to : w->p->env->hub[w->p->hub].cache;
    int64_t need = 0;
    for (size_t i = 0; i < w->list->n; i++) {
        struct hub_place at;
        struct stat st;
        const struct hub_file *f = &w->list->f[i];
        if (!w->take[i]) continue;
        if (hub_place_of(&at, w->p, w->out->commit, f, e)) return e->status;
        if (w->p->force || !(store_has(at.content, f->size) || store_has(at.file, f->size)))
            need += f->size - (stat(at.partial, &st) == 0 && st.st_size <= f->size ? st.st_size : 0);
        hub_place_free(&at);
    }
    const int64_t room = store_room(where);
    if (room < 0 || need <= room) return HUB_OK;
    return hub_fail(e, HUB_EWRITE, "%s: %.1f MB are needed and %.1f MB are free; make room, or name another place with --to or HF_HOME",
                    where, (double)need / 1e6, (double)room / 1e6);
}

/* Sets the path for a loader: the single model file, or the folder. */
static int say_path(struct work *w, struct hub_error *e)
{
    const struct hub_pull *p = w->p;
    const char *single = NULL;
    int n = 0;
    for (size_t i = 0; i < w->list->n; i++)
        if (w->take[i]) n++, single = w->list->f[i].path;
    char *dir = p->to ? strdup(p->to) : hub_snapshot_folder(p->env, p->hub, p->id, w->out->commit);
    w->out->path = !dir ? NULL : n == 1 ? hub_format("%s/%s", dir, single) : strdup(dir);
    free(dir);
    return w->out->path ? HUB_OK : hub_no_memory(e, "a path");
}

/* The list of all files is written only if all have been fetched, because other clients then take the folder for complete. */
static int write_tree(struct work *w, const char *repo, struct hub_error *e)
{
    struct hub_text t = { 0 };
    if (!w->is_whole) return HUB_OK;
    for (size_t i = 0; i < w->list->n; i++)
        if (!w->take[i]) return HUB_OK;
    hub_text_add(&t, "{\"format_version\": 1, \"files\": {");
    for (size_t i = 0; i < w->list->n; i++) {
        const struct hub_file *it = &w->list->f[i];
        if (i) hub_text_add(&t, ", ");
        hub_text_json(&t, it->path);
        hub_text_add(&t, ": {\"size\": %lld, \"blob_id\": \"%s\"", (long long)it->size, it->blob);
        if (it->is_lfs) hub_text_add(&t, ", \"lfs_sha256\": \"%s\", \"lfs_size\": %lld", it->hash, (long long)it->size);
        else hub_text_add(&t, ", \"lfs_sha256\": null, \"lfs_size\": null");
        hub_text_add(&t, it->xet[0] ? ", \"xet_hash\": \"%s\"}" : ", \"xet_hash\": null}", it->xet);
    }
    hub_text_add(&t, "}}");
    char *path = hub_format("%s/trees/%s.json", repo, w->out->commit);
    const int rc = t.failed || !path ? hub_no_memory(e, "a list of files") : store_text(path, t.p, e);
    free(path);
    free(t.p);
    return rc;
}

static int write_ref(const char *repo, const char *ref, const char *commit, struct hub_error *e)
{
    char *path = hub_format("%s/refs/%s", repo, ref);
    const int rc = path ? store_text(path, commit, e) : hub_no_memory(e, "a path");
    free(path);
    return rc;
}

/* Called last. A commit that was requested by number becomes main's only if it is the current commit of main. */
static int publish(struct work *w, struct hub_error *e)
{
    const struct hub_pull *p = w->p;
    const char *rev = p->rev ? p->rev : "main";
    char *repo = hub_repo_folder(p->env, p->hub, p->id), now[HUB_REV_SZ];
    struct hub_error why;
    if (!repo) return hub_no_memory(e, "a path");
    int rc = write_tree(w, repo, e);
    if (rc == HUB_OK && !hub_is_commit(rev)) {
        rc = write_ref(repo, rev, w->out->commit, e);
    } else if (rc == HUB_OK && !(hub_ref_read(now, repo, "main") && strcmp(now, rev) == 0)) {
        rc = hub_ask_commit(now, p->http, p->env, p->hub, p->id, "main", &why);
        if (rc == HUB_ENOMEM || rc == HUB_ESTOPPED) *e = why;
        else if (rc == HUB_OK && strcmp(now, rev) == 0) rc = write_ref(repo, "main", now, e);
        else rc = HUB_OK;
    }
    free(repo);
    return rc;
}

/* Excludes the cache from backups. The program that creates a cache writes this file. */
static int tag_cache(const char *cache, struct hub_error *e)
{
    char *path = hub_format("%s/CACHEDIR.TAG", cache);
    int rc = path ? HUB_OK : hub_no_memory(e, "a path");
    if (path && !store_has(path, -1))
        rc = store_text(path, "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of models from hubs; see bford.info/cachedir\n", e);
    free(path);
    return rc;
}

/* Records which requested files are not in a commit, as Hugging Face's clients do. `note` 0: only reads the records. @return HUB_OK;
 * HUB_EABSENT: one file is recorded as absent */
static int known_absent(struct work *w, int note, struct hub_error *e)
{
    const struct hub_pull *p = w->p;
    int rc = HUB_OK;
    if (p->to || p->hub != HUB_HF || !hub_is_commit(w->out->commit) || (!note && p->force)) return HUB_OK;
    char *repo = hub_repo_folder(p->env, p->hub, p->id);
    if (!repo) return hub_no_memory(e, "a path");
    for (size_t i = 0; i < p->n_files && rc == HUB_OK; i++) {
        char *path = hub_absent_path(repo, w->out->commit, p->files[i]);
        if (!path) rc = hub_no_memory(e, "a path");
        else if (note && !hub_listing_find(w->list, p->files[i])) rc = store_text(path, "", e);
        else if (!note && store_has(path, 0))
            rc = hub_fail(e, HUB_EABSENT, "%s: there is no file %s at commit %.12s, by an earlier request; --force asks again", p->id,
                          p->files[i], w->out->commit);
        free(path);
    }
    free(repo);
    return rc;
}

static int ask_files(struct work *w, const char *rev, struct hub_error *e)
{
    const struct hub_pull *p = w->p;
    int rc = hub_ask_commit(w->out->commit, p->http, p->env, p->hub, p->id, rev, e);
    if (rc == HUB_OK && known_absent(w, 0, e)) return e->status;
    if (rc == HUB_OK) rc = hub_ask_listing(&w->own, p->http, p->env, p->hub, p->id, w->out->commit, e);
    w->is_whole = rc == HUB_OK;
    if (rc == HUB_OK || !e->unserved || p->hub != HUB_HF) return rc;
    hub_listing_free(&w->own);
    return list_unlisted(&w->own, w->out->commit, p, rev, e);
}

static int list_files(struct work *w, struct hub_error *e)
{
    const struct hub_pull *p = w->p;
    const char *rev = p->rev ? p->rev : p->hub == HUB_HF ? "main" : "master";
    int rc = HUB_OK;
    w->list = p->known ? p->known : &w->own;
    if (p->known) snprintf(w->out->commit, sizeof w->out->commit, "%s", rev);
    else rc = ask_files(w, rev, e);
    if (rc == HUB_OK && !(w->take = calloc(w->list->n + 1, 1))) rc = hub_no_memory(e, "a list of files");
    if (rc == HUB_OK && p->known) memset(w->take, 1, w->list->n);
    else if (rc == HUB_OK) rc = hub_select(w->take, w->list, p->files, p->n_files, p->id, e);
    if (rc == HUB_EABSENT && w->is_whole && p->n_files) {
        struct hub_error why;
        if (known_absent(w, 1, &why) == HUB_ENOMEM) *e = why, rc = e->status;
    }
    return rc;
}

int hub_pull(const struct hub_pull *p, struct hub_pulled *out, struct hub_error *e)
{
    struct work w = { .p = p, .out = out };
    const char *cache = p->env->hub[p->hub].cache;
    *out = (struct hub_pulled){ 0 };
    const char *fault = hub_id_fault(p->id);
    if (fault) return hub_fail(e, HUB_EARG, "%s: not a repository name: %s", p->id, fault);
    if (p->rev && (fault = hub_revision_fault(p->rev))) return hub_fail(e, HUB_EARG, "%s: not a revision: %s", p->rev, fault);
    if (!cache && !p->to) return hub_fail(e, HUB_EWRITE, "there is no folder for the cache: set HOME, HF_HOME or MODELSCOPE_CACHE");
    int rc = list_files(&w, e);
    if (rc == HUB_OK && p->to) rc = plain_folder_look(p, w.list, w.take, e);
    if (rc == HUB_OK) rc = check_room(&w, e);
    if (rc == HUB_OK && p->to) rc = store_folders(p->to, e);
    if (rc == HUB_OK && p->to && mkdir(p->to, 0777) && errno != EEXIST)
        rc = hub_fail(e, hub_write_status(errno), "%s: the folder cannot be made: %s", p->to, strerror(errno));
    if (rc == HUB_OK && !p->to && p->hub == HUB_HF) {
        char *inside = hub_format("%s/x", cache);
        rc = inside ? store_folders(inside, e) : hub_no_memory(e, "a path");
        free(inside);
        if (rc == HUB_OK) rc = tag_cache(cache, e);
    }
    for (size_t i = 0; rc == HUB_OK && i < w.list->n; i++)
        if (w.take[i]) rc = pull_file(&w, &w.list->f[i], w.take[i], e);
    if (rc == HUB_OK && !p->to && p->hub == HUB_HF) rc = publish(&w, e);
    if (rc == HUB_OK) rc = say_path(&w, e);
    free(w.take);
    hub_listing_free(&w.own);
    return rc;
}

void hub_pulled_free(struct hub_pulled *out)
{
    free(out->path);
    free(out->partial);
    *out = (struct hub_pulled){ 0 };
}
