/* steno-hub: the caches of both hubs: paths of files, and the snapshots that exist. SPDX-License-Identifier: MIT */
#include "cache.h"
#include "digest.h"
#include "folder.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where a file belongs ---------------------------------------------------------------------------------------------------- */

/* Converts "ORG/NAME" to "ORG--NAME". */
static char *folder_name(const char *id)
{
    const char *slash = strchr(id, '/');
    return slash ? hub_format("%.*s--%s", (int)(slash - id), id, slash + 1) : strdup(id);
}

char *hub_repo_folder(const struct hub_env *env, int hub, const char *id)
{
    char *name = folder_name(id);
    char *path = name ? hub_format(hub == HUB_HF ? "%s/models--%s" : "%s/models/%s", env->hub[hub].cache, name) : NULL;
    free(name);
    return path;
}

char *hub_snapshot_folder(const struct hub_env *env, int hub, const char *id, const char *commit)
{
    char *repo = hub_repo_folder(env, hub, id), *path = repo ? hub_format("%s/snapshots/%s", repo, commit) : NULL;
    free(repo);
    return path;
}

/* "../../blobs/HASH", with one more ../ for each folder of the path. */
static char *link_target(const char *path, const char *hash)
{
    char *up = strdup("");
    for (const char *p = path; up && (p = strchr(p, '/')); p++) {
        char *more = hub_format("../%s", up);
        free(up);
        up = more;
    }
    char *target = up ? hub_format("%s../../blobs/%s", up, hash) : NULL;
    free(up);
    return target;
}

/* Path of the record of a file whose name is not its hash: a text with hash and size, beside the snapshots. */
char *hub_record_path(const char *repo, const char *commit, const char *path)
{
    return hub_format("%s/.steno/%s/%s", repo, commit, path);
}

char *hub_absent_path(const char *repo, const char *commit, const char *path)
{
    return hub_format("%s/.no_exist/%s/%s", repo, commit, path);
}

char *hub_plain_record_path(const char *folder, const char *path)
{
    return hub_format("%s/.cache/huggingface/download/%s.metadata", folder, path);
}

static void place_hf(struct hub_place *at, const struct hub_pull *p, const char *commit, const struct hub_file *f)
{
    char *repo = hub_repo_folder(p->env, HUB_HF, p->id), *name = folder_name(p->id);
    if (repo && name) {
        at->content = hub_format("%s/blobs/%s", repo, f->hash);
        at->partial = hub_format("%s/blobs/%s.steno.incomplete", repo, f->hash);
        at->lock = hub_format("%s/.locks/models--%s/%s.lock", p->env->hub[HUB_HF].cache, name, f->hash);
        at->file = hub_format("%s/snapshots/%s/%s", repo, commit, f->path);
        at->target = link_target(f->path, f->hash);
    }
    free(repo);
    free(name);
}

/* ModelScope's client uses a hash of the locked parts, separated by NULs. */
static char *ms_lock(const char *cache, const char *id, const char *path)
{
    char digest[SHA_HEX_SZ];
    const char *const part[] = { "modelscope-hub-download-lock-v2", "file", "model", id, path };
    struct sha s;
    sha_init(&s, SHA_256);
    for (int i = 0; i < 5; i++) sha_push(&s, part[i], strlen(part[i]) + (i < 4));
    sha_hex(digest, &s);
    return hub_format("%s/.lock/file_%s.lock", cache, digest);
}

static void place_ms(struct hub_place *at, const struct hub_pull *p, const char *commit, const struct hub_file *f)
{
    char *repo = hub_repo_folder(p->env, HUB_MS, p->id);
    if (repo) {
        at->content = hub_format("%s/snapshots/%s/%s", repo, commit, f->path);
        at->partial = hub_format("%s/snapshots/%s/%s.steno.incomplete", repo, commit, f->path);
        at->lock = ms_lock(p->env->hub[HUB_MS].cache, p->id, f->path);
        at->file = at->content ? strdup(at->content) : NULL;
    }
    free(repo);
}

/* The folder itself is locked, so no lock file remains in it. */
static void place_folder(struct hub_place *at, const struct hub_pull *p, const struct hub_file *f)
{
    at->content = hub_format("%s/%s", p->to, f->path);
    at->partial = hub_format("%s/%s.steno.incomplete", p->to, f->path);
    at->lock = strdup(p->to);
    at->file = at->content ? strdup(at->content) : NULL;
}

int hub_place_of(struct hub_place *at, const struct hub_pull *p, const char *commit, const struct hub_file *f, struct hub_error *e)
{
    memset(at, 0, sizeof *at);
    if (p->to) place_folder(at, p, f);
    else if (p->hub == HUB_HF) place_hf(at, p, commit, f);
    else place_ms(at, p, commit, f);
    if (at->content && at->partial && at->lock && at->file && (at->target || p->to || p->hub != HUB_HF)) return HUB_OK;
    hub_place_free(at);
    return hub_no_memory(e, "a path");
}

void hub_place_free(struct hub_place *at)
{
    free(at->content);
    free(at->partial);
    free(at->lock);
    free(at->file);
    free(at->target);
    memset(at, 0, sizeof *at);
}

/* ---- links to contents ------------------------------------------------------------------------------------------------------- */

int hub_blob_of_link(char hash[HUB_HASH_SZ], const char *path)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0) return 0;
    target[n] = '\0';
    const char *name = strrchr(target, '/');
    if (!name || name - target < 5 || strncmp(name - 5, "blobs", 5) != 0) return 0;
    if (!hub_is_hex(name + 1, 64) && !hub_is_hex(name + 1, 40)) return 0;
    snprintf(hash, HUB_HASH_SZ, "%s", name + 1);
    return 1;
}

/* ---- the snapshots that exist ------------------------------------------------------------------------------------------------ */

int hub_ref_read(char commit[HUB_REV_SZ], const char *repo, const char *ref)
{
    char *path = hub_format("%s/refs/%s", repo, ref);
    FILE *f = path ? regular_read(path) : NULL;
    free(path);
    if (!f) return 0;
    const size_t n = fread(commit, 1, HUB_REV_SZ - 1, f);
    fclose(f);
    commit[n] = '\0';
    commit[strcspn(commit, "\r\n \t")] = '\0'; /* some clients write a line */
    return commit[0] && !strchr(commit, '/') && commit[0] != '.';
}

int hub_is_revision(const struct hub_snapshot *s, const char *rev)
{
    char commit[HUB_REV_SZ];
    if (!rev[0] || strcmp(s->commit, rev) == 0) return 1;
    return hub_ref_read(commit, s->repo, rev) && strcmp(s->commit, commit) == 0;
}

/* `folder` NULL: derived from its commit. */
static int add_snapshot(struct hub_cache *c, const struct hub_snapshot *s, const char *folder, struct hub_error *e)
{
    struct stat st;
    if (c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 16;
        struct hub_snapshot *p = realloc(c->s, cap * sizeof *p);
        if (!p) return hub_no_memory(e, "a list of models");
        c->s = p;
        c->cap = cap;
    }
    struct hub_snapshot *to = &c->s[c->n];
    *to = *s;
    to->repo = strdup(s->repo);
    to->folder = folder ? strdup(folder) : hub_format("%s/snapshots/%s", s->repo, s->commit);
    if (!to->repo || !to->folder) {
        free(to->repo);
        free(to->folder);
        return hub_no_memory(e, "a list of models");
    }
    if (stat(to->folder, &st) == 0 && S_ISDIR(st.st_mode)) c->n++;
    else free(to->repo), free(to->folder);
    return HUB_OK;
}

static int add_repo(struct hub_cache *c, int hub, const char *id, char *repo, struct hub_error *e)
{
    struct hub_snapshot s = { .hub = hub, .repo = repo, .n_root = (size_t)(strrchr(repo, '/') - repo) };
    struct names commits;
    char main_commit[HUB_REV_SZ] = "", *all = hub_format("%s/snapshots", repo);
    if (!all) return hub_no_memory(e, "a path");
    snprintf(s.id, sizeof s.id, "%s", id);
    hub_ref_read(main_commit, repo, "main");
    int rc = names_of_folder(&commits, all, e);
    if (commits.n && !names_has(&commits, main_commit)) snprintf(main_commit, sizeof main_commit, "%s", commits.name[commits.n - 1]);
    for (int want = 1; want >= 0; want--)
        for (size_t i = 0; i < commits.n && rc == HUB_OK; i++) {
            s.is_main = strcmp(commits.name[i], main_commit) == 0;
            if (s.is_main != want || commits.name[i][0] == '.' || strlen(commits.name[i]) >= sizeof s.commit) continue;
            snprintf(s.commit, sizeof s.commit, "%s", commits.name[i]);
            rc = add_snapshot(c, &s, NULL, e);
        }
    names_free(&commits);
    free(all);
    return rc;
}

/* Converts "ORG--NAME" to "ORG/NAME". @return 0: it has another form */
static int id_of(char id[HUB_ID_SZ], const char *name)
{
    const char *dashes = strstr(name, "--");
    if (!dashes || strlen(name) >= HUB_ID_SZ) return 0;
    snprintf(id, HUB_ID_SZ, "%.*s/%s", (int)(dashes - name), name, dashes + 2);
    return !hub_id_fault(id);
}

/* ModelScope clients before 1.38: ORG/NAME as two folders, with ___ for each dot, and the files inside. */
static int add_old(struct hub_cache *c, const char *dir, struct hub_error *e)
{
    struct names orgs;
    int rc = names_of_folder(&orgs, dir, e);
    for (size_t i = 0; i < orgs.n && rc == HUB_OK; i++) {
        struct names repos;
        if (orgs.name[i][0] == '.' || strstr(orgs.name[i], "--")) continue;
        if (strcmp(orgs.name[i], "models") == 0 || strcmp(orgs.name[i], "hub") == 0) continue; /* handled separately */
        char *org = hub_format("%s/%s", dir, orgs.name[i]);
        if (!org) {
            rc = hub_no_memory(e, "a path");
            break;
        }
        rc = names_of_folder(&repos, org, e);
        for (size_t k = 0; k < repos.n && rc == HUB_OK; k++) {
            struct hub_snapshot s = { .hub = HUB_MS, .commit = "master", .n_root = strlen(dir), .is_main = 1 };
            char name[HUB_ID_SZ];
            size_t n = 0;
            for (const char *p = repos.name[k]; *p && n < sizeof name - 1; n++) {
                const int dot = strncmp(p, "___", 3) == 0;
                name[n] = (char)(dot ? '.' : *p);
                p += dot ? 3 : 1;
            }
            name[n] = '\0';
            const int n_id = snprintf(s.id, sizeof s.id, "%s/%s", orgs.name[i], name);
            if (n_id < 0 || n_id >= (int)sizeof s.id) continue;
            s.repo = hub_format("%s/%s", org, repos.name[k]);
            rc = s.repo ? (hub_id_fault(s.id) ? HUB_OK : add_snapshot(c, &s, s.repo, e)) : hub_no_memory(e, "a path");
            free(s.repo);
        }
        names_free(&repos);
        free(org);
    }
    names_free(&orgs);
    return rc;
}

static int add_old_caches(struct hub_cache *c, const char *cache, struct hub_error *e)
{
    static const char *const sub[] = { "/models", "/hub/models", "/hub", "" };
    int rc = HUB_OK;
    for (size_t i = 0; i < sizeof sub / sizeof *sub && rc == HUB_OK; i++) {
        char *dir = hub_format("%s%s", cache, sub[i]);
        rc = dir ? add_old(c, dir, e) : hub_no_memory(e, "a path");
        free(dir);
    }
    return rc;
}

int hub_cache_read(struct hub_cache *c, const struct hub_env *env, struct hub_error *e)
{
    int rc = HUB_OK;
    *c = (struct hub_cache){ 0 };
    for (int hub = 0; hub < N_HUBS && rc == HUB_OK; hub++) {
        struct names repos;
        const char *prefix = hub == HUB_HF ? "models--" : "";
        if (!env->hub[hub].cache) continue;
        char *dir = hub_format(hub == HUB_HF ? "%s" : "%s/models", env->hub[hub].cache);
        if (!dir) return hub_no_memory(e, "a path");
        rc = names_of_folder(&repos, dir, e);
        for (size_t i = 0; i < repos.n && rc == HUB_OK; i++) {
            char id[HUB_ID_SZ];
            if (strncmp(repos.name[i], prefix, strlen(prefix)) != 0 || !id_of(id, repos.name[i] + strlen(prefix))) continue;
            char *repo = hub_format("%s/%s", dir, repos.name[i]);
            rc = repo ? add_repo(c, hub, id, repo, e) : hub_no_memory(e, "a path");
            free(repo);
        }
        names_free(&repos);
        free(dir);
    }
    return rc == HUB_OK && env->hub[HUB_MS].cache ? add_old_caches(c, env->hub[HUB_MS].cache, e) : rc;
}

void hub_cache_free(struct hub_cache *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->s[i].repo);
        free(c->s[i].folder);
    }
    free(c->s);
    *c = (struct hub_cache){ 0 };
}
