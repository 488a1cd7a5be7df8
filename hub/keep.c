/* steno-hub: verifies and removes models of a cache. SPDX-License-Identifier: MIT */
#include "keep.h"
#include "cache.h"
#include "download.h"
#include "folder.h"
#include "json_scan.h"
#include "known.h"
#include "plain_folder.h"
#include "store.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- verification ------------------------------------------------------------------------------------------------------------ */

static int hash_of_record(char hash[HUB_HASH_SZ], int64_t *size, const struct hub_snapshot *s, const char *file)
{
    char *path = hub_record_path(s->repo, s->commit, file);
    long long n = -1;
    FILE *f = path ? regular_read(path) : NULL;
    free(path);
    if (!f) return 0;
    const int got = fscanf(f, "%64s %lld", hash, &n);
    fclose(f);
    *size = n;
    return got == 2 && (hub_is_hex(hash, 64) || hub_is_hex(hash, 40)) && n >= 0;
}

/* Reads a hash from another client's list of the whole repository. */
static int hash_of_tree(char hash[HUB_HASH_SZ], const struct hub_snapshot *s, const char *file)
{
    enum { MOST = 8 << 20 };
    char *path = hub_format("%s/trees/%s.json", s->repo, s->commit), *text = malloc(MOST), *at = NULL, *lfs = NULL;
    FILE *f = path && text ? regular_read(path) : NULL;
    int found = 0;
    if (f) {
        text[fread(text, 1, MOST - 1, f)] = '\0';
        fclose(f);
        at = hub_format("files.%s.blob_id", file);
        lfs = hub_format("files.%s.lfs_sha256", file);
    }
    if (at && lfs) {
        struct json_path j;
        json_path_begin(&j, text);
        while (json_path_next(&j)) {
            const char *sha256 = json_path_text(&j, lfs), *sha1 = json_path_text(&j, at);
            if (sha256 && hub_is_hex(sha256, 64)) found = 2, memcpy(hash, sha256, 65);
            if (sha1 && found < 2 && hub_is_hex(sha1, 40)) found = 1, memcpy(hash, sha1, 41);
        }
    }
    free(path);
    free(text);
    free(at);
    free(lfs);
    return found;
}

static int judge_file(struct hub_verified *v, const char *path, int known, const char *hash, int64_t size, const struct hub_judge *j,
                      struct hub_error *e)
{
    struct hub_error why = { 0 };
    const int found = known ? file_verify(path, size, hash, j->stop, j->user, &why) : HUB_OK;
    if (found == HUB_ESTOPPED || found == HUB_ENOMEM) return *e = why, found;
    if (!known) v->n_unknown++;
    else if (found == HUB_OK) v->n_right++;
    else v->n_wrong++, j->wrong(j->user, why.text);
    return HUB_OK;
}

int hub_verify(struct hub_verified *v, const struct hub_snapshot *s, const char *file, const struct hub_judge *j, struct hub_error *e)
{
    struct names files, folders;
    int rc = names_walk(&files, &folders, s->folder, e);
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++) {
        char hash[HUB_HASH_SZ], *path;
        int64_t size = -1;
        if (file[0] && strcmp(files.name[i], file) != 0) continue;
        if (!(path = hub_format("%s/%s", s->folder, files.name[i]))) {
            rc = hub_no_memory(e, "a path");
            break;
        }
        const int known = hub_blob_of_link(hash, path) || hash_of_record(hash, &size, s, files.name[i]) ||
                          hash_of_tree(hash, s, files.name[i]);
        rc = judge_file(v, path, known, hash, size, j, e);
        free(path);
    }
    names_free(&files);
    names_free(&folders);
    return rc;
}

/* Verifies a file by its path in a folder, which may be all that is known of it. */
static int verify_in(struct hub_verified *v, const char *folder, const char *file, const struct hub_judge *j, struct hub_error *e)
{
    char hash[HUB_HASH_SZ], *path = hub_format("%s/%s", folder, file);
    const char *slash = strrchr(file, '/');
    int64_t size = -1;
    if (!path) return hub_no_memory(e, "a path");
    const int known = hub_plain_hash(hash, folder, file) || hub_known_digest(hash, &size, slash ? slash + 1 : file);
    const int rc = judge_file(v, path, known, hash, size, j, e);
    free(path);
    return rc;
}

static int verify_folder(struct hub_verified *v, const char *path, const struct hub_judge *j, struct hub_error *e)
{
    struct names files;
    int rc = names_below(&files, path, e);
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++)
        if (strncmp(files.name[i], ".cache/", 7) != 0) rc = verify_in(v, path, files.name[i], j, e); /* skip the records themselves */
    names_free(&files);
    return rc;
}

int hub_verify_plain(struct hub_verified *v, const char *path, const struct hub_judge *j, struct hub_error *e)
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return verify_folder(v, path, j, e);
    char *folder = slash ? hub_format("%.*s", (int)(slash - path), path) : strdup(".");
    const int rc = folder ? verify_in(v, folder, slash ? slash + 1 : path, j, e) : hub_no_memory(e, "a path");
    free(folder);
    return rc;
}

/* ---- removal ----------------------------------------------------------------------------------------------------------------- */

/* Paths with `root` in their name are below that folder, which lists models; others are absolute. */
struct work {
    const struct hub_env *env;
    const struct hub_spec *spec;
    int dry, root;
    struct hub_removed *out;
    struct names blobs; /* contents of removed names */
    struct names links; /* links to folders that are, or would be, removed */
    int (*stop)(void *user);
    void *user;
};

static const char *below_root(const struct hub_snapshot *s, const char *path)
{
    return path + s->n_root + 1;
}

static int gone(const struct work *w, const char *root_path, struct hub_error *e)
{
    if (w->dry || folder_unlink(w->root, root_path) == 0) return HUB_OK;
    return hub_fail(e, hub_write_status(errno), "%s: cannot be removed: %s", root_path, strerror(errno));
}

static int take_file(struct work *w, const struct hub_snapshot *s, const char *path, struct hub_error *e)
{
    char blob[HUB_HASH_SZ];
    struct stat st;
    const char *root_path = below_root(s, path);
    w->out->n++;
    if (hub_blob_of_link(blob, path)) {
        const int rc = names_add(&w->blobs, blob, e);
        if (rc != HUB_OK) return rc;
    } else if (folder_look(w->root, root_path, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1) {
        w->out->freed += st.st_size;
    }
    return gone(w, root_path, e);
}

/* Removes folders that have become empty, innermost first. */
static void drop_folders(const struct work *w, const char *root_path, const struct names *folders)
{
    for (size_t i = folders->n; i-- > 0 && !w->dry;) {
        char *path = hub_format("%s%s%s", root_path, folders->name[i][0] ? "/" : "", folders->name[i]);
        if (path) folder_rmdir(w->root, path);
        free(path);
    }
}

/* Removes a folder of records about a snapshot, with its content. */
static int drop_notes(const struct work *w, const char *root_path, struct hub_error *e)
{
    struct names files, folders;
    int rc = names_walk_at(&files, &folders, w->root, root_path, e);
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++) {
        char *path = hub_format("%s/%s", root_path, files.name[i]);
        rc = path ? gone(w, path, e) : hub_no_memory(e, "a path");
        free(path);
    }
    drop_folders(w, root_path, &folders);
    names_free(&files);
    names_free(&folders);
    return rc;
}

/* If a folder of the model is a link, only the link is removed, and only if no more than the request covers. */
static int take_link(struct work *w, const struct hub_snapshot *s, const char *root_link, struct hub_error *e)
{
    const int is_own = strlen(root_link) >= strlen(below_root(s, s->repo));
    const int is_asked = !w->spec->file[0] && is_own && (!w->spec->rev[0] || strcmp(root_link, below_root(s, s->folder)) == 0);
    if (!is_asked)
        return hub_fail(e, HUB_EWRITE, "%.*s/%s is a link, and the target of a link is not "
                                       "removed%s%s%s", (int)s->n_root, s->repo, root_link,
                        is_own ? "; \"steno models rm " : "; remove its target by other means", is_own ? s->id : "",
                        is_own ? "\" removes the link itself" : "");
    if (names_has(&w->links, root_link)) return HUB_OK;
    w->out->n++;
    w->out->n_links++;
    const int rc = names_add(&w->links, root_link, e);
    return rc == HUB_OK ? gone(w, root_link, e) : rc;
}

static int take_files(struct work *w, const struct hub_snapshot *s, struct hub_error *e)
{
    struct names files, folders;
    const char *root_folder = below_root(s, s->folder);
    int rc = names_walk_at(&files, &folders, w->root, root_folder, e), n = 0;
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++) {
        if (w->spec->file[0] && strcmp(files.name[i], w->spec->file) != 0) continue;
        char *path = hub_format("%s/%s", s->folder, files.name[i]), *own = hub_record_path(s->repo, s->commit, files.name[i]);
        rc = path && own ? take_file(w, s, path, e) : hub_no_memory(e, "a path");
        if (own && !w->dry) folder_unlink(w->root, below_root(s, own));
        free(path);
        free(own);
        n++;
    }
    if (rc == HUB_OK && n) drop_folders(w, root_folder, &folders);
    names_free(&files);
    names_free(&folders);
    return rc;
}

static int take_snapshot(struct work *w, const struct hub_snapshot *s, struct hub_error *e)
{
    char *record = hub_record_path(s->repo, s->commit, ""), *tree = hub_format("%s/trees/%s.json", s->repo, s->commit);
    char *absent = hub_absent_path(s->repo, s->commit, ""), *link = folder_first_link(w->root, below_root(s, s->folder));
    int rc = record && tree && absent && (link || errno != ENOMEM) ? HUB_OK : hub_no_memory(e, "a path");
    const int before = w->out->n;
    if (rc == HUB_OK) rc = link ? take_link(w, s, link, e) : take_files(w, s, e);
    if (rc == HUB_OK && !w->dry && w->out->n > before) {
        record[strlen(record) - 1] = absent[strlen(absent) - 1] = '\0'; /* remove the trailing slashes */
        folder_unlink(w->root, below_root(s, tree)); /* it lists a whole snapshot */
        if (!w->spec->file[0]) rc = drop_notes(w, below_root(s, absent), e);
        if (rc == HUB_OK && !w->spec->file[0]) rc = drop_notes(w, below_root(s, record), e);
    }
    free(record);
    free(tree);
    free(absent);
    free(link);
    return rc;
}

/* Removes references to snapshots that no longer exist. */
static int drop_refs(const struct work *w, const struct hub_snapshot *s, struct hub_error *e)
{
    struct names refs, folders;
    struct stat st;
    char *root = hub_format("%s/refs", s->repo);
    int rc = root ? HUB_OK : hub_no_memory(e, "a path");
    if (rc != HUB_OK) return rc;
    if (!w->spec->rev[0] && !w->spec->file[0] && folder_look(w->root, below_root(s, root), &st) == 0 && S_ISLNK(st.st_mode))
        rc = gone(w, below_root(s, root), e);
    if (rc == HUB_OK) rc = names_walk_at(&refs, &folders, w->root, below_root(s, root), e);
    else refs = folders = (struct names){ 0 };
    for (size_t i = 0; i < refs.n && rc == HUB_OK; i++) {
        char commit[HUB_REV_SZ];
        if (!hub_ref_read(commit, s->repo, refs.name[i])) continue;
        char *folder = hub_format("%s/snapshots/%s", s->repo, commit), *path = hub_format("%s/%s", root, refs.name[i]);
        if (!folder || !path) rc = hub_no_memory(e, "a path");
        else if (stat(folder, &st)) rc = gone(w, below_root(s, path), e);
        free(folder);
        free(path);
    }
    drop_folders(w, below_root(s, root), &folders);
    names_free(&refs);
    names_free(&folders);
    free(root);
    return rc;
}

/* Collects the blobs that a snapshot still uses, without the files being removed. A snapshot behind a link also counts. */
static int used_by(const struct work *w, struct names *used, const struct hub_snapshot *s, struct hub_error *e)
{
    struct names files, folders;
    int rc = names_walk(&files, &folders, s->folder, e);
    const int goes = w->dry && hub_is_revision(s, w->spec->rev);
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++) {
        char blob[HUB_HASH_SZ], *path = hub_format("%s/%s", s->folder, files.name[i]);
        if (!path) rc = hub_no_memory(e, "a path");
        else if (hub_blob_of_link(blob, path) && !(goes && (!w->spec->file[0] || strcmp(files.name[i], w->spec->file) == 0)))
            rc = names_add(used, blob, e);
        free(path);
    }
    names_free(&files);
    names_free(&folders);
    return rc;
}

static int used_blobs(const struct work *w, struct names *used, const struct hub_snapshot *of, struct hub_error *e)
{
    struct names commits;
    char *root = hub_format("%s/snapshots", of->repo);
    *used = (struct names){ 0 };
    int rc = root ? names_of_folder(&commits, root, e) : hub_no_memory(e, "a path");
    if (!root) return rc;
    for (size_t i = 0; i < commits.n && rc == HUB_OK; i++) {
        struct hub_snapshot s = { .repo = of->repo, .folder = hub_format("%s/%s", root, commits.name[i]) };
        const size_t n = strlen(commits.name[i]);
        memcpy(s.commit, commits.name[i], n < sizeof s.commit ? n : 0);
        rc = s.folder ? used_by(w, used, &s, e) : hub_no_memory(e, "a path");
        free(s.folder);
    }
    names_free(&commits);
    free(root);
    return rc;
}

static int take_blob(struct work *w, const struct hub_snapshot *s, const char *hash, struct hub_error *e)
{
    const struct hub_pull p = { .env = w->env, .hub = HUB_HF, .id = w->spec->id };
    struct hub_file f = { .path = "x" };
    struct hub_place at;
    struct store_lock lock = { -1 };
    struct stat st;
    memcpy(f.hash, hash, strlen(hash) + 1);
    char *blob = hub_format("%s/blobs/%s", s->repo, hash);
    int rc = blob ? hub_place_of(&at, &p, "x", &f, e) : hub_no_memory(e, "a path");
    if (rc == HUB_OK && folder_look(w->root, below_root(s, blob), &st) == 0 && !S_ISDIR(st.st_mode)) {
        if (!w->dry) rc = store_lock(&lock, at.lock, w->stop, w->user, e);
        w->out->freed += S_ISREG(st.st_mode) && st.st_nlink == 1 ? st.st_size : 0;
        if (rc == HUB_OK) rc = gone(w, below_root(s, blob), e);
        store_unlock(&lock);
    }
    if (rc == HUB_OK) hub_place_free(&at);
    free(blob);
    return rc;
}

static int take_blobs(struct work *w, const struct hub_snapshot *s, struct hub_error *e)
{
    struct names used;
    int rc = used_blobs(w, &used, s, e);
    for (size_t i = 0; i < w->blobs.n && rc == HUB_OK; i++) {
        if (names_has(&used, w->blobs.name[i])) continue;
        rc = take_blob(w, s, w->blobs.name[i], e);
        if (rc == HUB_OK) rc = names_add(&used, w->blobs.name[i], e); /* counted once */
    }
    names_free(&used);
    return rc;
}

/* ModelScope's older clients use one folder per owner, and one in it per model. Other folders can look the same. */
static int is_models_own(const struct hub_snapshot *s, struct hub_error *e)
{
    static const char *const notes[] = { ".msc", ".mdl", ".mv", "configuration.json" };
    struct names files;
    e->status = HUB_OK;
    int rc = strcmp(s->repo, s->folder) == 0 ? names_of_folder(&files, s->folder, e) : 1, is = rc == 1;
    if (rc == 1) return 1;
    for (size_t i = 0; i < sizeof notes / sizeof *notes && !is; i++) is = names_has(&files, notes[i]);
    names_free(&files);
    if (rc == HUB_OK && !is && (rc = hub_models_in(&files, s->folder, e)) == HUB_OK) is = files.n > 0, names_free(&files);
    if (rc == HUB_OK && !is) hub_fail(e, HUB_EWRITE, "%s: nothing in it identifies it as a model's, so it stays", s->folder);
    return is;
}

static int remove_snapshot(struct work *w, const struct hub_snapshot *s, struct hub_error *e)
{
    char *root = hub_format("%.*s", (int)s->n_root, s->repo);
    if (!root) return hub_no_memory(e, "a path");
    if (w->root >= 0) close(w->root);
    w->root = folder_open(root);
    free(root);
    if (w->root < 0) return hub_fail(e, hub_write_status(errno), "%.*s: cannot be opened: %s", (int)s->n_root, s->repo, strerror(errno));
    return is_models_own(s, e) ? take_snapshot(w, s, e) : e->status;
}

int hub_remove(struct hub_removed *out, const struct hub_env *env, const struct hub_cache *c, const struct hub_spec *s, int dry,
               int (*stop)(void *user), void *user, struct hub_error *e)
{
    struct work w = { .env = env, .spec = s, .dry = dry, .root = -1, .out = out, .stop = stop, .user = user };
    const struct hub_snapshot *blobs = NULL;
    int rc = HUB_OK;
    *out = (struct hub_removed){ 0 };
    for (int hub = N_HUBS - 1; hub >= 0; hub--) /* w.root must be that of the blobs at the end */
        for (size_t i = 0; i < c->n && rc == HUB_OK; i++) {
            if (c->s[i].hub != hub || strcmp(c->s[i].id, s->id) != 0 || !hub_is_revision(&c->s[i], s->rev)) continue;
            if (hub == HUB_HF) blobs = &c->s[i];
            rc = remove_snapshot(&w, &c->s[i], e);
        }
    if (rc == HUB_OK && blobs && !dry) rc = drop_refs(&w, blobs, e);
    if (rc == HUB_OK && blobs) rc = take_blobs(&w, blobs, e);
    if (w.root >= 0) close(w.root);
    names_free(&w.blobs);
    names_free(&w.links);
    return rc;
}
