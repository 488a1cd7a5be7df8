/* steno: models and dictionaries that accompany another model. SPDX-License-Identifier: MIT */
#include "models/default_model.h"
#include "hub_env.h"
#include "models/models.h"
#include "models/models_hub.h"
#include "path.h"
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct default_model_name const punctuation[] = { /* same names in both hubs */
    { "iic/punc_ct-transformer_cn-en-common-vocab471067-large", "ct-punc" }, { "funasr/ct-punc", "ct-punc" },
    { "iic/punc_ct-transformer_zh-cn-common-vocab272727-pytorch", "ct-punc-c" }, { 0 },
};
const struct default_model default_model_punctuation = { punctuation };

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
static char *default_model_beside(const char *model, const char *name, int *no_memory)
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

static char *default_model_in_caches(const char *name, int *no_memory)
{
    char *own = noted(models_folder(0), no_memory), *path = own ? model_in(own, base_of(name), no_memory) : NULL;
    free(own);
    return path ? path : models_hub_find(name, no_memory);
}

char *default_model_find(const struct default_model *k, const char *beside, int *no_memory)
{
    char *path = NULL;
    for (const struct default_model_name *n = k->name; beside && !path && n->name; n++) {
        path = default_model_beside(beside, base_of(n->name), no_memory);
        if (!path) path = default_model_beside(beside, n->alias, no_memory);
    }
    for (const struct default_model_name *n = k->name; !path && n->name; n++) path = default_model_in_caches(n->name, no_memory);
    return path;
}

char *default_model_named(const struct default_model *k, const char *name, int *no_memory)
{
    for (const struct default_model_name *n = k->name; n->name; n++) {
        const int is_it = !strcmp(name, n->name) || !strcmp(name, base_of(n->name)) || !strcmp(name, n->alias);
        char *path = is_it ? default_model_in_caches(n->name, no_memory) : NULL;
        if (path) return path;
    }
    return NULL;
}

/* ---- voice activity ---------------------------------------------------------------------------------------------------------- */

#define LONG_NAME "speech_fsmn_vad_zh-cn-16k-common-pytorch"

static int is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* dir/name, if it exists. @return malloc'd text, or NULL */
static char *path_there(const char *dir, const char *name)
{
    char *path = path_join(dir, name);
    if (path && is_there(path)) return path;
    if (path) errno = ENOENT;
    free(path);
    return NULL;
}

/* Names of a model, best first. */
struct called { const char *const *name; size_t n; };
static const char *const fsmn_name[] = { "fsmn-vad", LONG_NAME, "fsmn-vad.gguf" };
static const char *const silero_name[] = { "ggml-silero-v6.2.0.bin", "ggml-silero-v5.1.2.bin", "silero_vad_16k_op15.onnx",
                                           "silero_vad.onnx",        "silero_vad_16k.safetensors" };
static const struct called fsmn = { fsmn_name, sizeof fsmn_name / sizeof *fsmn_name };
static const struct called silero = { silero_name, sizeof silero_name / sizeof *silero_name };

static char *vad_in_folder(const char *dir, struct called c)
{
    char *path = NULL;
    for (size_t i = 0; i < c.n && !path; i++) {
        path = path_there(dir, c.name[i]);
        if (!path && errno == ENOMEM) return NULL;
    }
    return path;
}

/* The folder that contains path, as malloc'd text. */
static char *parent_of(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    while (n && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    return n ? strndup(path, n) : strdup(".");
}

/* Search in a model's folder, and in the folder that contains the folder or file. */
static char *vad_beside(const char *model, struct called c)
{
    char *path = vad_in_folder(model, c), *parent = path || errno == ENOMEM ? NULL : parent_of(model);
    if (!path && parent) path = vad_in_folder(parent, c);
    free(parent);
    return path;
}

char *vad_place(int i)
{
    return i == 0 ? models_hub_cache(HUB_MS) : i == 1 ? models_hub_cache(HUB_HF) : NULL;
}

/* Search the caches of both hubs, in the places that all versions of their clients use. @return malloc'd path, or NULL, with errno
 * ENOMEM or ENOENT */
static char *vad_in_hubs(const char *name)
{
    int no_memory = 0;
    char *path = models_hub_find(name, &no_memory);
    errno = no_memory ? ENOMEM : ENOENT;
    return path;
}

char *vad_find(const char *model)
{
    errno = 0;
    char *path = model ? vad_beside(model, fsmn) : NULL;
    static const char *const name[] = { "iic/" LONG_NAME, "funasr/fsmn-vad" };
    for (size_t i = 0; i < sizeof name / sizeof *name && !path && errno != ENOMEM; i++) path = vad_in_hubs(name[i]);
    return path;
}

char *vad_find_silero(const char *model)
{
    errno = 0;
    char *path = model ? vad_beside(model, silero) : NULL;
    for (int i = 0; i < N_MODEL_FOLDERS && !path && errno != ENOMEM; i++) {
        errno = 0;
        char *dir = models_folder(i);
        if (dir) path = vad_in_folder(dir, silero);
        free(dir);
    }
    if (path || errno == ENOMEM) return path;
    int no_memory = 0;
    path = models_hub_file("ggml-org/whisper-vad", silero.name, silero.n, &no_memory);
    errno = no_memory ? ENOMEM : ENOENT;
    return path;
}

/* ---- jieba's dictionary ------------------------------------------------------------------------------------------------------ */

static struct { const char *root, *below; } const jieba_place[] = { /* root: an environment variable, may be NULL */
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
    for (size_t i = 0; i < sizeof jieba_place / sizeof *jieba_place && !path && !*no_memory; i++) {
        const char *root = jieba_place[i].root ? getenv(jieba_place[i].root) : "";
        if (!root || (jieba_place[i].root && !root[0])) continue;
        char *pattern = root[0] ? path_join(root, jieba_place[i].below) : strdup(jieba_place[i].below);
        if (!pattern) *no_memory = errno == ENOMEM;
        else path = last_of(pattern, no_memory);
        free(pattern);
    }
    return path;
}
