/* steno-hub: models out of a cache. SPDX-License-Identifier: MIT */
#include "remove.h"
#include "place.h"
#include "store.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct work {
    const struct hub_env *env;
    const struct hub_spec *spec;
    int dry, n;
    int64_t freed;
    struct names blobs; /* that names which are gone stood for */
    int (*stop)(void *user);
    void *user;
};

/* The name of the blob that a link points at; "": it is none. */
static void blob_of(char name[HUB_HASH_SZ], const char *path)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof target - 1);
    name[0] = '\0';
    if (n <= 0) return;
    target[n] = '\0';
    const char *slash = strrchr(target, '/');
    if (slash && (hub_is_hex(slash + 1, 64) || hub_is_hex(slash + 1, 40))) memcpy(name, slash + 1, strlen(slash + 1) + 1);
}

static int gone(const char *path, struct hub_error *e)
{
    if (unlink(path) == 0 || errno == ENOENT) return HUB_OK;
    return hub_fail(e, HUB_EWRITE, "%s: cannot be removed: %s", path, strerror(errno));
}

static int take_file(struct work *w, const char *path, struct hub_error *e)
{
    char blob[HUB_HASH_SZ];
    struct stat st;
    blob_of(blob, path);
    w->n++;
    if (blob[0]) {
        const int rc = names_add(&w->blobs, blob, e);
        if (rc != HUB_OK) return rc;
    } else if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        w->freed += st.st_size;
    }
    return w->dry ? HUB_OK : gone(path, e);
}

/* Folders that have become empty, the innermost first. */
static void drop_folders(const char *root, const struct names *folders)
{
    for (size_t i = folders->n; i-- > 0;) {
        char *path = hub_format("%s/%s", root, folders->name[i]);
        if (path) rmdir(path);
        free(path);
    }
}

/* What is written down of files that a snapshot has not. */
static int drop_absent(const struct hub_snapshot *s, struct hub_error *e)
{
    struct names files, folders;
    char *root = hub_absent_path(s->repo, s->commit, "");
    int rc = root ? names_walk(&files, &folders, root, 0, e) : hub_no_memory(e, "a path");
    for (size_t i = 0; root && i < files.n && rc == HUB_OK; i++) {
        char *path = hub_format("%s%s", root, files.name[i]);
        rc = path ? gone(path, e) : hub_no_memory(e, "a path");
        free(path);
    }
    if (root) {
        drop_folders(root, &folders);
        names_free(&files);
        names_free(&folders);
    }
    free(root);
    return rc;
}

static int take_snapshot(struct work *w, const struct hub_snapshot *s, struct hub_error *e)
{
    struct names files, folders;
    char *record = hub_record_path(s->repo, s->commit, ""), *tree = hub_format("%s/trees/%s.json", s->repo, s->commit);
    int rc = record && tree ? names_walk(&files, &folders, s->folder, 0, e) : hub_no_memory(e, "a path");
    if (record && tree) {
        for (size_t i = 0; i < files.n && rc == HUB_OK; i++) {
            if (w->spec->file[0] && strcmp(files.name[i], w->spec->file) != 0) continue;
            char *path = hub_format("%s/%s", s->folder, files.name[i]), *own = hub_record_path(s->repo, s->commit, files.name[i]);
            rc = path && own ? take_file(w, path, e) : hub_no_memory(e, "a path");
            if (own && !w->dry) unlink(own);
            free(path);
            free(own);
        }
        if (rc == HUB_OK && !w->dry) {
            unlink(tree); /* it speaks of a whole snapshot */
            drop_folders(s->folder, &folders);
            drop_folders(record, &folders);
            if (!w->spec->file[0]) rc = drop_absent(s, e);
        }
        names_free(&files);
        names_free(&folders);
    }
    free(record);
    free(tree);
    return rc;
}

/* References to snapshots that are there no more. */
static int drop_refs(const char *repo, struct hub_error *e)
{
    struct names refs, folders;
    struct stat st;
    char *root = hub_format("%s/refs", repo);
    int rc = root ? names_walk(&refs, &folders, root, 0, e) : hub_no_memory(e, "a path");
    for (size_t i = 0; root && i < refs.n && rc == HUB_OK; i++) {
        char commit[HUB_REV_SZ];
        if (!hub_ref_read(commit, repo, refs.name[i])) continue;
        char *folder = hub_format("%s/snapshots/%s", repo, commit), *path = hub_format("%s/%s", root, refs.name[i]);
        if (!folder || !path) rc = hub_no_memory(e, "a path");
        else if (stat(folder, &st)) rc = gone(path, e);
        free(folder);
        free(path);
    }
    if (root) {
        drop_folders(root, &folders);
        names_free(&refs);
        names_free(&folders);
    }
    free(root);
    return rc;
}

/* The blobs that any snapshot of the repository, but for those that go, still names. */
static int used_blobs(struct work *w, struct names *used, const char *repo, struct hub_error *e)
{
    struct names files, folders;
    char *root = hub_format("%s/snapshots", repo);
    *used = (struct names){ 0 };
    int rc = root ? names_walk(&files, &folders, root, 0, e) : hub_no_memory(e, "a path");
    for (size_t i = 0; root && i < files.n && rc == HUB_OK; i++) {
        char blob[HUB_HASH_SZ], *path = hub_format("%s/%s", root, files.name[i]);
        const char *file = strchr(files.name[i], '/');
        if (!path) {
            rc = hub_no_memory(e, "a path");
            break;
        }
        blob_of(blob, path);
        free(path);
        const struct hub_snapshot s = { .repo = (char *)repo };
        struct hub_snapshot one = s;
        const size_t n = file ? (size_t)(file - files.name[i]) : 0;
        memcpy(one.commit, files.name[i], n < sizeof one.commit ? n : 0);
        const int goes = w->dry && file && hub_is_revision(&one, w->spec->rev) &&
                         (!w->spec->file[0] || strcmp(file + 1, w->spec->file) == 0);
        if (blob[0] && !goes) rc = names_add(used, blob, e);
    }
    if (root) {
        names_free(&files);
        names_free(&folders);
    }
    free(root);
    return rc;
}

static int take_blobs(struct work *w, const char *repo, struct hub_error *e)
{
    struct names used;
    int rc = used_blobs(w, &used, repo, e);
    for (size_t i = 0; i < w->blobs.n && rc == HUB_OK; i++) {
        const struct hub_pull p = { .env = w->env, .hub = HUB_HF, .id = w->spec->id };
        struct hub_file f = { .path = "x" };
        struct hub_place at;
        struct store_lock lock = { -1 };
        struct stat st;
        if (names_has(&used, w->blobs.name[i])) continue;
        memcpy(f.hash, w->blobs.name[i], strlen(w->blobs.name[i]) + 1);
        rc = hub_place_of(&at, &p, "x", &f, e);
        if (rc != HUB_OK) break;
        if (!w->dry) rc = store_lock(&lock, at.lock, w->stop, w->user, e);
        if (rc == HUB_OK && lstat(at.content, &st) == 0) {
            w->freed += S_ISREG(st.st_mode) ? st.st_size : 0;
            if (!w->dry) rc = gone(at.content, e);
        }
        store_unlock(&lock);
        hub_place_free(&at);
        if (rc == HUB_OK) rc = names_add(&used, w->blobs.name[i], e); /* counted once */
    }
    names_free(&used);
    return rc;
}

int hub_remove(const struct hub_env *env, const struct hub_cache *c, const struct hub_spec *s, int dry, int64_t *freed,
               int (*stop)(void *user), void *user, struct hub_error *e)
{
    struct work w = { .env = env, .spec = s, .dry = dry, .stop = stop, .user = user };
    const char *repo = NULL;
    int rc = HUB_OK;
    for (size_t i = 0; i < c->n && rc == HUB_OK; i++) {
        if (strcmp(c->s[i].id, s->id) != 0 || !hub_is_revision(&c->s[i], s->rev)) continue;
        if (c->s[i].hub == HUB_HF) repo = c->s[i].repo;
        rc = take_snapshot(&w, &c->s[i], e);
    }
    if (rc == HUB_OK && repo && !dry) rc = drop_refs(repo, e);
    if (rc == HUB_OK && repo) rc = take_blobs(&w, repo, e);
    names_free(&w.blobs);
    *freed = w.freed;
    return rc == HUB_OK ? w.n : -1;
}
