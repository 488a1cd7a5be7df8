/* steno: models in Hugging Face's cache. SPDX-License-Identifier: MIT */
#include "hf_cache.h"
#include "path.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What was refused for want of memory is not there as far as anybody can see; *no_memory keeps it apart from what is not there. */
static void *noted(void *p, int *no_memory)
{
    if (!p && errno == ENOMEM) *no_memory = 1;
    return p;
}

static char *join(const char *dir, const char *name, int *no_memory)
{
    return noted(path_join(dir, name), no_memory);
}

/* The first n - 1 bytes of dir/name as text. @return 1, or 0 when it cannot be read */
static int read_text(const char *dir, const char *name, char *text, size_t n, int *no_memory)
{
    char *path = join(dir, name, no_memory);
    FILE *f = path ? noted(fopen(path, "rb"), no_memory) : NULL;
    free(path);
    if (!f) return 0;
    text[fread(text, 1, n - 1, f)] = '\0';
    fclose(f);
    return 1;
}

static int is_whisper(const char *folder, int *no_memory)
{
    char text[1 << 14];
    const char *p = read_text(folder, "config.json", text, sizeof text, no_memory) ? strstr(text, "\"model_type\"") : NULL;
    if (!p) return 0;
    p += strlen("\"model_type\"");
    p += strspn(p, " \t\r\n:");
    return strncmp(p, "\"whisper\"", 9) == 0;
}

/* One of these files is what a snapshot is looked for for. */
struct wanted { const char *const *file; size_t n; };
static const char *const settings[] = { "config.json", "config.yaml" };
static const struct wanted configuration = { settings, sizeof settings / sizeof *settings };

/* snapshots/NAME if it has what is wanted. */
static char *snapshot(const char *repository, const char *name, struct wanted w, int *no_memory)
{
    char *all = join(repository, "snapshots", no_memory), *path = all ? join(all, name, no_memory) : NULL, text[2];
    free(all);
    for (size_t i = 0; path && i < w.n; i++)
        if (read_text(path, w.file[i], text, sizeof text, no_memory)) return path;
    free(path);
    return NULL;
}

/* The revision that refs/main names, or else the last one by name. */
static char *newest(const char *repository, struct wanted w, int *no_memory)
{
    char revision[128], *best = NULL;
    if (read_text(repository, "refs/main", revision, sizeof revision, no_memory)) {
        revision[strcspn(revision, "\r\n ")] = '\0';
        if (revision[0] && !strchr(revision, '/') && revision[0] != '.') best = snapshot(repository, revision, w, no_memory);
    }
    if (best) return best;
    char *all = join(repository, "snapshots", no_memory);
    DIR *d = all ? noted(opendir(all), no_memory) : NULL;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char *path = e->d_name[0] != '.' ? snapshot(repository, e->d_name, w, no_memory) : NULL;
        const int better = path && (!best || strcmp(path, best) > 0);
        free(better ? best : path);
        if (better) best = path;
    }
    if (d) closedir(d);
    free(all);
    return best;
}

struct repository { const char *org; size_t n_org; const char *prefix, *name; };

static char *find(const char *dir, struct repository r, struct wanted w, int *no_memory)
{
    char folder[NAME_MAX + 1];
    const int n = snprintf(folder, sizeof folder, "models--%.*s--%s%s", (int)r.n_org, r.org, r.prefix, r.name);
    if (n < 0 || n >= (int)sizeof folder) return NULL;
    char *repository = join(dir, folder, no_memory), *path = repository ? newest(repository, w, no_memory) : NULL;
    free(repository);
    return path;
}

static char *find_named(const char *dir, const char *name, struct wanted w, int *no_memory)
{
    const char *slash = strchr(name, '/');
    if (!slash || slash == name || strchr(slash + 1, '/')) return NULL;
    return find(dir, (struct repository){ name, (size_t)(slash - name), "", slash + 1 }, w, no_memory);
}

char *hf_cache_find(const char *dir, const char *name, int *no_memory)
{
    const char *slash = strchr(name, '/');
    if (slash) return find_named(dir, name, configuration, no_memory);
    char *path = find(dir, (struct repository){ "openai", 6, "whisper-", name }, configuration, no_memory);
    return path ? path : find(dir, (struct repository){ "openai", 6, "", name }, configuration, no_memory);
}

char *hf_cache_file(const char *dir, const char *name, const char *const *file, size_t n, int *no_memory)
{
    char *folder = find_named(dir, name, (struct wanted){ file, n }, no_memory), *path = NULL, text[2];
    for (size_t i = 0; folder && i < n && !path; i++)
        if (read_text(folder, file[i], text, sizeof text, no_memory)) path = join(folder, file[i], no_memory);
    free(folder);
    return path;
}

static int64_t weights_size(const char *folder, int *no_memory)
{
    int64_t size = 0;
    DIR *d = noted(opendir(folder), no_memory);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        const size_t n = strlen(e->d_name);
        struct stat st;
        if (n < 12 || strcmp(e->d_name + n - 12, ".safetensors") != 0) continue;
        char *path = join(folder, e->d_name, no_memory);
        if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode)) size += st.st_size;
        free(path);
    }
    if (d) closedir(d);
    return size;
}

void hf_cache_each(const char *dir, void (*each)(void *user, char *path, int64_t size), void *user, int *no_memory)
{
    DIR *d = noted(opendir(dir), no_memory);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strncmp(e->d_name, "models--", 8) != 0) continue;
        char *repository = join(dir, e->d_name, no_memory), *path = repository ? newest(repository, configuration, no_memory) : NULL;
        const int64_t size = path && is_whisper(path, no_memory) ? weights_size(path, no_memory) : 0;
        free(repository);
        if (size > 0) each(user, path, size);
        else free(path);
    }
    if (d) closedir(d);
}
