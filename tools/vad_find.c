/* steno: finding a voice-activity model. SPDX-License-Identifier: MIT */
#include "vad_find.h"
#include "hf_cache.h"
#include "models.h"
#include "models_hub.h"
#include "path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONG_NAME "speech_fsmn_vad_zh-cn-16k-common-pytorch"

enum { CACHE_OF_HUB = N_MODEL_FOLDERS - 1 }; /* Hugging Face's among models_folder's */

static int is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* dir/name, where it is there. @return malloc'd text, or NULL */
static char *there(const char *dir, const char *name)
{
    char *path = path_join(dir, name);
    if (path && is_there(path)) return path;
    if (path) errno = ENOENT;
    free(path);
    return NULL;
}

/* What a model is called, best first. */
struct called { const char *const *name; size_t n; };
static const char *const fsmn_name[] = { "fsmn-vad", LONG_NAME, "fsmn-vad.gguf" };
static const char *const silero_name[] = { "ggml-silero-v6.2.0.bin", "ggml-silero-v5.1.2.bin", "silero_vad_16k_op15.onnx",
                                           "silero_vad.onnx",        "silero_vad_16k.safetensors" };
static const struct called fsmn = { fsmn_name, sizeof fsmn_name / sizeof *fsmn_name };
static const struct called silero = { silero_name, sizeof silero_name / sizeof *silero_name };

static char *in_folder(const char *dir, struct called c)
{
    char *path = NULL;
    for (size_t i = 0; i < c.n && !path; i++) {
        path = there(dir, c.name[i]);
        if (!path && errno == ENOMEM) return NULL;
    }
    return path;
}

/* The folder that holds path, as malloc'd text. */
static char *parent_of(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    while (n && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    return n ? strndup(path, n) : strdup(".");
}

/* In a model's folder, and in the one that holds the folder, or the file. */
static char *beside(const char *model, struct called c)
{
    char *path = in_folder(model, c), *parent = path || errno == ENOMEM ? NULL : parent_of(model);
    if (!path && parent) path = in_folder(parent, c);
    free(parent);
    return path;
}

char *vad_place(int i)
{
    const char *cache = getenv("MODELSCOPE_CACHE"), *home = getenv("HOME");
    errno = 0;
    if (i == 0 && cache && cache[0]) return strdup(cache);
    if (i == 0) return home && home[0] ? path_join(home, ".cache/modelscope") : NULL;
    return i == 1 ? models_folder(CACHE_OF_HUB) : NULL;
}

/* Below a cache of ModelScope's, as its versions lay it out. */
static char *in_modelscope(const char *cache)
{
    static const char *const sub[] = { "hub/models/iic/" LONG_NAME, "hub/iic/" LONG_NAME, "models/iic/" LONG_NAME, "iic/" LONG_NAME };
    char *path = NULL;
    errno = 0;
    for (size_t i = 0; i < sizeof sub / sizeof *sub && !path && errno != ENOMEM; i++) path = there(cache, sub[i]);
    return path;
}

/* Where "steno models pull NAME" puts it. */
static char *in_hubs(const char *name)
{
    int no_memory = 0;
    char *path = models_hub_find(name, &no_memory);
    errno = no_memory ? ENOMEM : ENOENT;
    return path;
}

char *vad_find(const char *model)
{
    errno = 0;
    char *path = model ? beside(model, fsmn) : NULL;
    for (int i = 0; i < N_VAD_PLACES && !path && errno != ENOMEM; i++) {
        int no_memory = 0;
        char *dir = vad_place(i);
        if (dir) path = i ? hf_cache_find(dir, "funasr/fsmn-vad", &no_memory) : in_modelscope(dir);
        free(dir);
        if (no_memory) errno = ENOMEM;
    }
    return path || errno == ENOMEM ? path : in_hubs("fsmn-vad");
}

char *vad_find_silero(const char *model)
{
    errno = 0;
    char *path = model ? beside(model, silero) : NULL;
    for (int i = 0; i < N_MODEL_FOLDERS && !path && errno != ENOMEM; i++) {
        int no_memory = 0;
        errno = 0;
        char *dir = models_folder(i);
        if (dir) path = in_folder(dir, silero);
        if (dir && !path && i == CACHE_OF_HUB) path = hf_cache_file(dir, "ggml-org/whisper-vad", silero.name, silero.n, &no_memory);
        free(dir);
        if (no_memory) errno = ENOMEM;
    }
    return path;
}
