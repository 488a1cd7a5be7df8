/* steno-hub: a repository's files in the user's folder. SPDX-License-Identifier: MIT */
#include "plain_folder.h"
#include "cache.h"
#include "download.h"
#include "folder.h"
#include "store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char remedy[] = "name another folder with --to, or replace it with --force";

/* ---- checks ------------------------------------------------------------------------------------------------------------------- */

/* Checks that none of the folders above `path` is a link or a file. */
static int look_at_way(const struct hub_pull *p, int at, const char *path, struct hub_error *e)
{
    struct stat st;
    char *way = strdup(path), *slash = way ? strrchr(way, '/') : NULL, *link = NULL;
    if (!way) return hub_no_memory(e, "a path");
    int rc = HUB_OK;
    if (slash) *slash = '\0';
    if (slash && folder_look(at, path, &st) && errno != ENOENT) { /* some part cannot be entered */
        const int why = errno;
        link = folder_first_link(at, way);
        if (!link && errno == ENOMEM) rc = hub_no_memory(e, "a path");
        else if (link) rc = hub_fail(e, HUB_EWRITE, "%s/%s: is a symbolic link, and files are only put into real folders; remove it, or "
                                     "name another folder with --to", p->to, link);
        else rc = hub_fail(e, HUB_EWRITE, "%s/%s: cannot be written there: %s; name another folder with --to", p->to, path,
                           why == ENOTDIR ? "a part of the path is not a folder" : strerror(why));
    }
    free(link);
    free(way);
    return rc;
}

/* Has the file this hash and size (-1: any)? A link at the name itself is followed, because nothing is written here. @return 1 or 0;
 * negative: a negated status */
static int has_bytes(const struct hub_pull *p, const char *file, int64_t size, const char *hash, struct hub_error *e)
{
    struct hub_error why;
    char *path = hub_format("%s/%s", p->to, file);
    const int rc = path ? file_verify(path, size, hash, p->stop, p->user, &why) : hub_no_memory(&why, "a path");
    free(path);
    if (rc == HUB_ESTOPPED || rc == HUB_ENOMEM) *e = why;
    return rc == HUB_OK ? 1 : rc == HUB_ESTOPPED || rc == HUB_ENOMEM ? -rc : 0;
}

/* Did a client put it there, and is it unchanged? @return as has_bytes */
static int is_as_recorded(const struct hub_pull *p, const char *file, struct hub_error *e)
{
    char hash[HUB_HASH_SZ];
    return hub_plain_hash(hash, p->to, file) ? has_bytes(p, file, -1, hash, e) : 0;
}

/* @return enum plain_state; negative: a negated status */
static int look_at_target(const struct hub_pull *p, int at, const struct hub_file *f, struct hub_error *e)
{
    struct stat st;
    if (folder_look(at, f->path, &st)) {
        if (errno == ENOENT) return PLAIN_FREE;
        return -hub_fail(e, hub_write_status(errno), "%s/%s: cannot be read: %s", p->to, f->path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) return -hub_fail(e, HUB_EWRITE, "%s/%s: is a folder; name another one with --to", p->to, f->path);
    if (p->force) return PLAIN_REPLACED;
    int is = has_bytes(p, f->path, f->size, f->hash, e);
    if (is) return is < 0 ? is : PLAIN_THERE;
    is = S_ISREG(st.st_mode) ? is_as_recorded(p, f->path, e) : 0;
    if (is) return is < 0 ? is : PLAIN_REPLACED;
    return -hub_fail(e, HUB_EWRITE, "%s/%s: exists with other content, and is not replaced; %s", p->to, f->path, remedy);
}

/* A partial file can be resumed if it is a regular file with a single name. */
static int look_at_partial(const struct hub_pull *p, int at, const struct hub_file *f, struct hub_error *e)
{
    struct stat st;
    char *name = hub_format("%s.steno.incomplete", f->path);
    if (!name) return hub_no_memory(e, "a path");
    const int is = folder_look(at, name, &st) == 0;
    const char *fault = is ? partial_fault(&st) : NULL;
    const int rc = fault ? hub_fail(e, HUB_EWRITE, "%s/%s: %s; remove it, or name another folder with --to", p->to, name, fault) : HUB_OK;
    free(name);
    return rc;
}

static int look_at_record(const struct hub_pull *p, int at, const struct hub_file *f, struct hub_error *e)
{
    struct stat st;
    char hash[HUB_HASH_SZ], *path = hub_plain_record_path(p->to, f->path);
    if (!path) return hub_no_memory(e, "a path");
    const char *name = path + strlen(p->to) + 1;
    int rc = look_at_way(p, at, name, e);
    if (rc == HUB_OK && folder_look(at, name, &st) == 0 && !p->force && (!S_ISREG(st.st_mode) || !hub_plain_hash(hash, p->to, f->path)))
        rc = hub_fail(e, HUB_EWRITE, "%s: exists with other content, and is not replaced; %s", path, remedy);
    free(path);
    return rc;
}

int plain_folder_look(const struct hub_pull *p, const struct hub_listing *list, char *take, struct hub_error *e)
{
    const int at = folder_open(p->to);
    int rc = HUB_OK;
    if (at < 0 && errno != ENOENT) return hub_fail(e, hub_write_status(errno), "%s: cannot be entered: %s", p->to, strerror(errno));
    for (size_t i = 0; i < list->n && rc == HUB_OK; i++) {
        const struct hub_file *f = &list->f[i];
        if (!take[i]) continue;
        if (at < 0) {
            take[i] = PLAIN_FREE;
            continue;
        }
        rc = look_at_way(p, at, f->path, e);
        if (rc == HUB_OK) rc = look_at_partial(p, at, f, e);
        if (rc == HUB_OK) rc = look_at_record(p, at, f, e);
        const int state = rc == HUB_OK ? look_at_target(p, at, f, e) : 0;
        if (state < 0) rc = -state;
        else if (rc == HUB_OK) take[i] = (char)state;
    }
    if (at >= 0) close(at);
    return rc;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------ */

/* Opens the folder of `path`, a path below p->to. */
static int enter(const struct hub_pull *p, const char *path, struct hub_error *e)
{
    const int at = folder_open(p->to);
    const int fd = at >= 0 ? folder_make_parent(at, path) : -1, why = errno;
    if (at >= 0) close(at);
    if (fd >= 0) return fd;
    hub_fail(e, hub_write_status(why), "%s/%s: its folder cannot be made or entered: %s", p->to, path, strerror(why));
    return -1;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int taken(const struct hub_pull *p, const struct hub_file *f, struct hub_error *e)
{
    return hub_fail(e, HUB_EWRITE, "%s/%s: another program has put a file there in the meantime, which is not replaced; %s", p->to, f->path,
                    remedy);
}

int plain_folder_enter(const struct hub_pull *p, const struct hub_file *f, int state, struct hub_error *e)
{
    struct stat st;
    const int at = enter(p, f->path, e);
    if (at < 0 || state == PLAIN_REPLACED || fstatat(at, last_part(f->path), &st, AT_SYMLINK_NOFOLLOW)) return at;
    close(at);
    taken(p, f, e);
    return -1;
}

/* Renames a file without replacing another. File systems without such a rename use a link, or else a check followed by a rename. @return 0,
 * or -1: errno is EEXIST if the name exists */
static int rename_free(int at, const char *from, const char *to)
{
    struct stat st;
    if (renameat2(at, from, at, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    if (linkat(at, from, at, to, 0) == 0) return unlinkat(at, from, 0);
    if (errno == EEXIST) return -1;
    if (fstatat(at, to, &st, AT_SYMLINK_NOFOLLOW) == 0) return errno = EEXIST, -1;
    return renameat(at, from, at, to);
}

int plain_folder_put(const struct hub_pull *p, int at, const char *partial, const struct hub_file *f, int state, struct hub_error *e)
{
    const char *to = last_part(f->path), *from = last_part(partial);
    int may_replace = 0;
    if (state == PLAIN_REPLACED) {
        may_replace = p->force ? 1 : is_as_recorded(p, f->path, e);
        if (may_replace < 0) return -may_replace;
    }
    if ((may_replace ? renameat(at, from, at, to) : rename_free(at, from, to)) == 0) {
        fsync(at); /* some file systems do not support it for folders */
        return HUB_OK;
    }
    if (errno == EEXIST) return taken(p, f, e);
    return hub_fail(e, hub_write_status(errno), "%s/%s: cannot be put in place: %s", p->to, f->path, strerror(errno));
}

int plain_folder_record(const struct hub_pull *p, const char *commit, const struct hub_file *f, struct hub_error *e)
{
    static const char ignore[] = ".cache/huggingface/.gitignore";
    struct stat st;
    char *path = hub_plain_record_path(p->to, f->path);
    char *text = hub_format("%s\n%s\n%lld.0\n", commit, f->hash, (long long)time(NULL));
    int rc = path && text ? HUB_OK : hub_no_memory(e, "a path");
    if (rc == HUB_OK) {
        const int at = enter(p, path + strlen(p->to) + 1, e);
        rc = at < 0 ? e->status : store_text_at(at, last_part(path), path, text, e);
        if (at >= 0) close(at);
    }
    free(path);
    free(text);
    if (rc != HUB_OK) return rc;
    const int at = enter(p, ignore, e);
    if (at < 0) return e->status;
    if (fstatat(at, last_part(ignore), &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
        rc = store_text_at(at, last_part(ignore), ignore, "*", e);
    close(at);
    return rc;
}

int hub_plain_hash(char hash[HUB_HASH_SZ], const char *folder, const char *file)
{
    char *path = hub_plain_record_path(folder, file);
    FILE *f = path ? regular_read(path) : NULL;
    free(path);
    if (!f) return 0;
    const int got = fscanf(f, "%*255s %64s", hash);
    fclose(f);
    return got == 1 && (hub_is_hex(hash, 64) || hub_is_hex(hash, 40));
}
