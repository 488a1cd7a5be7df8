/* steno: search for a voice-activity model. SPDX-License-Identifier: MIT */
#include "models/vad_find.h"
#include "hub_env.h"
#include "models/models.h"
#include "models/models_hub.h"
#include "path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONG_NAME "speech_fsmn_vad_zh-cn-16k-common-pytorch"

static int is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* dir/name, if it exists. @return malloc'd text, or NULL */
static char *there(const char *dir, const char *name)
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

static char *in_folder(const char *dir, struct called c)
{
    char *path = NULL;
    for (size_t i = 0; i < c.n && !path; i++) {
        path = there(dir, c.name[i]);
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
static char *beside(const char *model, struct called c)
{
    char *path = in_folder(model, c), *parent = path || errno == ENOMEM ? NULL : parent_of(model);
    if (!path && parent) path = in_folder(parent, c);
    free(parent);
    return path;
}

char *vad_place(int i)
{
    return i == 0 ? models_hub_cache(HUB_MS) : i == 1 ? models_hub_cache(HUB_HF) : NULL;
}

/* Search the caches of both hubs, in the places that all versions of their clients use. @return malloc'd path, or NULL, with errno
 * ENOMEM or ENOENT */
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
    static const char *const name[] = { "iic/" LONG_NAME, "funasr/fsmn-vad" };
    for (size_t i = 0; i < sizeof name / sizeof *name && !path && errno != ENOMEM; i++) path = in_hubs(name[i]);
    return path;
}

char *vad_find_silero(const char *model)
{
    errno = 0;
    char *path = model ? beside(model, silero) : NULL;
    for (int i = 0; i < N_MODEL_FOLDERS && !path && errno != ENOMEM; i++) {
        errno = 0;
        char *dir = models_folder(i);
        if (dir) path = in_folder(dir, silero);
        free(dir);
    }
    if (path || errno == ENOMEM) return path;
    int no_memory = 0;
    path = models_hub_file("ggml-org/whisper-vad", silero.name, silero.n, &no_memory);
    errno = no_memory ? ENOMEM : ENOENT;
    return path;
}
