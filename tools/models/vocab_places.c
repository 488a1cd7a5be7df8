/* steno: places of vocabularies for Whisper models. SPDX-License-Identifier: MIT */
#include "models/vocab_places.h"
#include "models/models_hub.h"
#include "path.h"
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct places {
    void (*each)(void *user, char *path, int64_t size);
    void *user;
    int *no_memory;
    char *(*folder)(int i);
    int n_folders;
};

/* Pass on a path if it is a file, otherwise free it. */
static void offer(const struct places *p, char *path)
{
    struct stat st;
    if (!path) *p->no_memory = 1;
    else if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) p->each(p->user, path, st.st_size);
    else free(path);
}

static void in_model_folders(const struct places *p)
{
    static const char *const names[] = { "gpt2.tiktoken", "multilingual.tiktoken" };
    for (int i = 0; i < p->n_folders; i++) {
        char *dir = p->folder(i);
        if (!dir && errno == ENOMEM) *p->no_memory = 1;
        for (size_t k = 0; dir && k < sizeof names / sizeof *names; k++) offer(p, path_join(dir, names[k]));
        free(dir);
    }
}

/* The text before the pattern is a literal folder, even if it has characters of a pattern. */
static void match(const struct places *p, const char *root, const char *pattern)
{
    glob_t found = { 0 };
    size_t n = 0;
    char *all = malloc(2 * strlen(root) + strlen(pattern) + 1);
    if (!all) {
        *p->no_memory = 1;
        return;
    }
    for (const char *c = root; *c; c++) {
        if (strchr("*?[\\", *c)) all[n++] = '\\';
        all[n++] = *c;
    }
    strcpy(all + n, pattern);
    const int rc = glob(all, 0, NULL, &found);
    if (rc == GLOB_NOSPACE) *p->no_memory = 1;
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) offer(p, strdup(found.gl_pathv[i]));
    globfree(&found);
    free(all);
}

static void in_packages(const struct places *p)
{
    static const struct { const char *variable, *pattern; } roots[] = {
        { "VIRTUAL_ENV", "/lib/python3*/site-packages" },
        { "CONDA_PREFIX", "/lib/python3*/site-packages" },
        { "HOME", "/.local/lib/python3*/site-packages" },
        { "HOME", "/.local/share/pipx/venvs/*/lib/python3*/site-packages" },
        { "HOME", "/.local/share/uv/tools/*/lib/python3*/site-packages" },
        { "HOME", "/.pyenv/versions/*/lib/python3*/site-packages" },
        { NULL, "/usr/local/lib/python3*/*-packages" },
        { NULL, "/usr/lib/python3*/*-packages" },
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        const char *root = roots[i].variable ? getenv(roots[i].variable) : "";
        char pattern[120] = "";
        if (!root || (roots[i].variable && !path_is_absolute(root))) continue;
        strcat(strcat(pattern, roots[i].pattern), "/whisper/assets/*.tiktoken");
        match(p, root, pattern);
    }
}

/* An incompletely downloaded model may still have its vocabulary. */
static void in_hub(const struct places *p)
{
    static const char *const files[] = { "vocab.json", "tokenizer.json" };
    static const char *const repos[] = { "openai/whisper-tiny.en", "openai/whisper-base.en", "openai/whisper-small.en",
                                         "openai/whisper-medium.en", "openai/whisper-tiny", "openai/whisper-base", "openai/whisper-small",
                                         "openai/whisper-medium", "openai/whisper-large-v2" };
    for (size_t i = 0; i < sizeof repos / sizeof *repos; i++) {
        char *path = models_hub_file(repos[i], files, sizeof files / sizeof *files, p->no_memory);
        if (path) offer(p, path);
    }
}

void vocab_places_each(char *(*folder)(int i), int n_folders, void (*each)(void *user, char *path, int64_t size), void *user,
                       int *no_memory)
{
    const struct places p = { each, user, no_memory, folder, n_folders };
    in_model_folders(&p);
    in_packages(&p);
    in_hub(&p);
}
