/* steno: models that accompany another model. SPDX-License-Identifier: MIT */
#include "models/default_model.h"
#include "models/models.h"
#include "models/models_hub.h"
#include "path.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct companion_name const punctuation[] = { /* same names in both hubs */
    { "iic/punc_ct-transformer_cn-en-common-vocab471067-large", "ct-punc" }, { "funasr/ct-punc", "ct-punc" },
    { "iic/punc_ct-transformer_zh-cn-common-vocab272727-pytorch", "ct-punc-c" }, { 0 },
};
const struct companion companion_punctuation = { punctuation };

static char *noted(char *path, int *no_memory)
{
    if (!path && errno == ENOMEM) *no_memory = 1;
    return path;
}

static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Find dir/name or dir/name.gguf, if it is a readable model. */
static char *model_in(const char *dir, const char *name, int *no_memory)
{
    static const char *const end[] = { "", ".gguf" };
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
        char file[NAME_MAX + 1];
        steno_kind k = { .size = sizeof k };
        const int n = snprintf(file, sizeof file, "%s%s", name, end[i]);
        char *path = n > 0 && n < (int)sizeof file ? noted(path_join(dir, file), no_memory) : NULL;
        const int rc = path ? steno_kind_get(path, &k, NULL) : STENO_EIO;
        if (rc == STENO_OK && k.readable) return path;
        if (rc == STENO_ENOMEM) *no_memory = 1;
        free(path);
    }
    return NULL;
}

/* Search beside a model: inside it if it is a folder, and in its parent folder. */
static char *find_beside(const char *model, const char *name, int *no_memory)
{
    struct stat st;
    char *path = stat(model, &st) == 0 && S_ISDIR(st.st_mode) ? model_in(model, name, no_memory) : NULL;
    char *dir = path ? NULL : noted(strdup(model), no_memory);
    if (!dir) return path;
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') dir[--n] = '\0';
    char *slash = strrchr(dir, '/');
    if (slash) slash[slash == dir] = '\0';
    path = model_in(slash ? dir : ".", name, no_memory);
    free(dir);
    return path;
}

static char *find_caches(const char *name, int *no_memory)
{
    char *own = noted(models_folder(0), no_memory), *path = own ? model_in(own, base_of(name), no_memory) : NULL;
    free(own);
    return path ? path : models_hub_find(name, no_memory);
}

char *companion_find(const struct companion *k, const char *beside, int *no_memory)
{
    char *path = NULL;
    for (const struct companion_name *n = k->name; beside && !path && n->name; n++) {
        path = find_beside(beside, base_of(n->name), no_memory);
        if (!path) path = find_beside(beside, n->alias, no_memory);
    }
    for (const struct companion_name *n = k->name; !path && n->name; n++) path = find_caches(n->name, no_memory);
    return path;
}

char *companion_named(const struct companion *k, const char *name, int *no_memory)
{
    for (const struct companion_name *n = k->name; n->name; n++) {
        const int is_it = !strcmp(name, n->name) || !strcmp(name, base_of(n->name)) || !strcmp(name, n->alias);
        char *path = is_it ? find_caches(n->name, no_memory) : NULL;
        if (path) return path;
    }
    return NULL;
}
