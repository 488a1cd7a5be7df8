/* steno: model files in the folders of programs. SPDX-License-Identifier: MIT */
#include "models/models_plain.h"
#include "cached.h"
#include "known.h"
#include "models/models.h"
#include <stdlib.h>
#include <string.h>

static int in_folder(const char *folder, int only_ggml, int (*each)(void *user, const char *path, const char *file, struct hub_error *e),
                     void *user, struct hub_error *e)
{
    struct names files;
    int rc = names_of_folder(&files, folder, e);
    for (size_t i = 0; i < files.n && rc == HUB_OK; i++) {
        const char *name = files.name[i], *end = strrchr(name, '.');
        const int is_model = end && (strcmp(end, ".bin") == 0 || strcmp(end, ".pt") == 0 || strcmp(end, ".gguf") == 0);
        if (!is_model || (only_ggml && strncmp(name, "ggml-", 5) != 0)) continue;
        char *path = hub_format("%s/%s", folder, name);
        rc = path ? each(user, path, name, e) : hub_no_memory(e, "a path");
        free(path);
    }
    names_free(&files);
    return rc;
}

int models_plain_each(int (*each)(void *user, const char *path, const char *file, struct hub_error *e), void *user, struct hub_error *e)
{
    int rc = HUB_OK;
    for (int i = 0; i < N_MODEL_FOLDERS - 1 && rc == HUB_OK; i++) { /* the last folder is the hub's cache */
        char *folder = models_folder(i);
        if (folder) rc = in_folder(folder, strcmp(folder, "models") == 0, each, user, e);
        free(folder);
    }
    return rc;
}

static int is_form(const char *file, const char *name)
{
    static const char *const end[] = { ".bin", ".pt", ".gguf", "" };
    const size_t n = strlen(name);
    if (strncmp(file, "ggml-", 5) == 0 && strncmp(file + 5, name, n) == 0 && strcmp(file + 5 + n, ".bin") == 0) return 1;
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        if (strncmp(file, name, n) == 0 && strcmp(file + n, end[i]) == 0) return 1;
    return 0;
}

int models_plain_is(const char *file, const char *name)
{
    struct hub_known k;
    return is_form(file, name) || (hub_known_find(&k, name) && (is_form(file, k.name) || strcmp(file, k.file) == 0));
}
