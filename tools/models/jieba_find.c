/* steno: search for jieba's dictionary. SPDX-License-Identifier: MIT */
#include "models/jieba_find.h"
#include "path.h"
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

static struct { const char *root, *below; } const place[] = { /* root: an environment variable, may be NULL */
    { "VIRTUAL_ENV", "lib/python3*/site-packages/jieba/dict.txt" },
    { "CONDA_PREFIX", "lib/python3*/site-packages/jieba/dict.txt" },
    { "HOME", ".local/lib/python3*/site-packages/jieba/dict.txt" },
    { NULL, "/usr/local/lib/python3*/[sd]*-packages/jieba/dict.txt" },
    { NULL, "/usr/lib/python3*/[sd]*-packages/jieba/dict.txt" },
    { NULL, "/usr/share/cppjieba/dict/jieba.dict.utf8" },
};

/* The newest Python version is last in order. */
static char *last_of(const char *pattern, int *no_memory)
{
    glob_t g;
    const int rc = glob(pattern, 0, NULL, &g);
    char *path = rc == 0 ? strdup(g.gl_pathv[g.gl_pathc - 1]) : NULL;
    if (rc == GLOB_NOSPACE || (rc == 0 && !path)) *no_memory = 1;
    if (rc == 0) globfree(&g);
    return path;
}

char *jieba_find(int *no_memory)
{
    char *path = NULL;
    for (size_t i = 0; i < sizeof place / sizeof *place && !path && !*no_memory; i++) {
        const char *root = place[i].root ? getenv(place[i].root) : "";
        if (!root || (place[i].root && !root[0])) continue;
        char *pattern = root[0] ? path_join(root, place[i].below) : strdup(place[i].below);
        if (!pattern) *no_memory = errno == ENOMEM;
        else path = last_of(pattern, no_memory);
        free(pattern);
    }
    return path;
}
