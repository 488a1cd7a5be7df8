/* steno-hub: paths of a repository's files in a cache. SPDX-License-Identifier: MIT */
#include "place.h"
#include "sha.h"
#include <stdlib.h>
#include <string.h>

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
