/* steno-hub: verifies the hashes of cached files. SPDX-License-Identifier: MIT */
#include "verify.h"
#include "blob_link.h"
#include "download.h"
#include "folder.h"
#include "json_path.h"
#include "known.h"
#include "place.h"
#include "plain_folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int judge(struct hub_verified *v, const char *path, int known, const char *hash, int64_t size, const struct hub_judge *j,
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
        rc = judge(v, path, known, hash, size, j, e);
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
    const int rc = judge(v, path, known, hash, size, j, e);
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
