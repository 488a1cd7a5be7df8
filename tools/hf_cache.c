/* steno: models in Hugging Face's cache. SPDX-License-Identifier: MIT */
#include "hf_cache.h"
#include "atomic_file.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The first n - 1 bytes of dir/name as text. @return 1, or 0 when it cannot be read */
static int read_text(const char *dir, const char *name, char *text, size_t n)
{
    char *path = output_join(dir, name);
    FILE *f = path ? fopen(path, "rb") : NULL;
    free(path);
    if (!f) return 0;
    text[fread(text, 1, n - 1, f)] = '\0';
    fclose(f);
    return 1;
}

static int is_whisper(const char *folder)
{
    char text[1 << 14];
    const char *p = read_text(folder, "config.json", text, sizeof text) ? strstr(text, "\"model_type\"") : NULL;
    if (!p) return 0;
    p += strlen("\"model_type\"");
    p += strspn(p, " \t\r\n:");
    return strncmp(p, "\"whisper\"", 9) == 0;
}

/* snapshots/NAME if it has a config.json. */
static char *snapshot(const char *repository, const char *name)
{
    char *all = output_join(repository, "snapshots"), *path = all ? output_join(all, name) : NULL, text[2];
    free(all);
    if (path && read_text(path, "config.json", text, sizeof text)) return path;
    free(path);
    return NULL;
}

/* The revision that refs/main names, or else the last one by name. */
static char *newest(const char *repository)
{
    char revision[128], *best = NULL;
    if (read_text(repository, "refs/main", revision, sizeof revision)) {
        revision[strcspn(revision, "\r\n ")] = '\0';
        if (revision[0] && !strchr(revision, '/') && revision[0] != '.') best = snapshot(repository, revision);
    }
    if (best) return best;
    char *all = output_join(repository, "snapshots");
    DIR *d = all ? opendir(all) : NULL;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char *path = e->d_name[0] != '.' ? snapshot(repository, e->d_name) : NULL;
        const int better = path && (!best || strcmp(path, best) > 0);
        free(better ? best : path);
        if (better) best = path;
    }
    if (d) closedir(d);
    free(all);
    return best;
}

static char *find(const char *dir, const char *org, size_t n_org, const char *prefix, const char *name)
{
    char folder[NAME_MAX + 1];
    const int n = snprintf(folder, sizeof folder, "models--%.*s--%s%s", (int)n_org, org, prefix, name);
    if (n < 0 || n >= (int)sizeof folder) return NULL;
    char *repository = output_join(dir, folder), *path = repository ? newest(repository) : NULL;
    free(repository);
    return path;
}

char *hf_cache_find(const char *dir, const char *name)
{
    const char *slash = strchr(name, '/');
    if (slash) return slash > name && !strchr(slash + 1, '/') ? find(dir, name, (size_t)(slash - name), "", slash + 1) : NULL;
    char *path = find(dir, "openai", 6, "whisper-", name);
    return path ? path : find(dir, "openai", 6, "", name);
}

static int64_t weights_size(const char *folder)
{
    int64_t size = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        const size_t n = strlen(e->d_name);
        struct stat st;
        if (n < 12 || strcmp(e->d_name + n - 12, ".safetensors") != 0) continue;
        char *path = output_join(folder, e->d_name);
        if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode)) size += st.st_size;
        free(path);
    }
    if (d) closedir(d);
    return size;
}

void hf_cache_each(const char *dir, void (*each)(void *user, char *path, int64_t size), void *user)
{
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strncmp(e->d_name, "models--", 8) != 0) continue;
        char *repository = output_join(dir, e->d_name), *path = repository ? newest(repository) : NULL;
        const int64_t size = path && is_whisper(path) ? weights_size(path) : 0;
        free(repository);
        if (size > 0) each(user, path, size);
        else free(path);
    }
    if (d) closedir(d);
}
