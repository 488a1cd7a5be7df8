/* steno: look up models in the caches of the hubs. SPDX-License-Identifier: MIT */
#include "models/models_hub.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/words.h"
#include "folder.h"
#include "json_scan.h"
#include "known.h"
#include "listing.h"
#include "model_name.h"
#include "models/models_verbs.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Find ggml-NAME.bin, NAME.gguf or NAME in any snapshot. */
static char *find_file(const struct hub_cache *c, const char *name, struct hub_error *e)
{
    static const struct { const char *begin, *end; } form[] = { { "ggml-", ".bin" }, { "", ".bin" }, { "", ".gguf" }, { "", "" } };
    struct stat st;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < sizeof form / sizeof *form; k++) {
            char *path = hub_format("%s/%s%s%s", c->s[i].folder, form[k].begin, name, form[k].end);
            if (!path) return hub_no_memory(e, "a path"), NULL;
            if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) return path;
            free(path);
        }
    return NULL;
}

/* Find ORG/NAME for any ORG, because the two hubs have the same models under different organisations (iic, FunAudioLLM). */
static char *find_name(const struct hub_cache *c, const char *name, struct hub_error *e)
{
    char *path = NULL;
    for (size_t i = 0; i < c->n && !path && e->status != HUB_ENOMEM; i++) {
        const struct hub_snapshot *s = &c->s[i];
        struct hub_spec spec = { .id = "" };
        if (!s->is_main || strcmp(strchr(s->id, '/') + 1, name) != 0) continue;
        snprintf(spec.id, sizeof spec.id, "%s", s->id);
        path = hub_model_path(c, &spec, e);
    }
    return path;
}

/* Find a Whisper model by the repositories of its publisher and of faster-whisper. */
static char *find_whisper(const struct hub_cache *c, const char *name, struct hub_error *e)
{
    static const char *const repo[][2] = { /* begin of the name, which is left out; repository with the rest of it */
        { "", "openai/whisper-%s" },
        { "", "openai/%s" },
        { "", "Systran/faster-whisper-%s" },
        { "distil-", "Systran/faster-distil-whisper-%s" },
        { "large-v3-turbo", "mobiuslabsgmbh/faster-whisper-large-v3-turbo%s" },
        { "large-v3-turbo", "dropbox-dash/faster-whisper-large-v3-turbo%s" },
    };
    char *path = NULL;
    for (size_t i = 0; i < sizeof repo / sizeof *repo && !path && e->status != HUB_ENOMEM; i++) {
        struct hub_spec spec = { .id = "" };
        const size_t n_begin = strlen(repo[i][0]);
        if (strncmp(name, repo[i][0], n_begin) != 0) continue;
        const int n = snprintf(spec.id, sizeof spec.id, repo[i][1], name + n_begin);
        if (n > 0 && n < (int)sizeof spec.id) path = hub_model_path(c, &spec, e);
    }
    return path;
}

/* Whether the repository's name alone, of any organisation, may stand for the file. Repositories of .gguf and ggml files hold several
 * models; of others, the folder or the only file in them is taken to be the model, without a look at what it is. */
static int holds_one(const char *file)
{
    return !hub_is_single(file) || hub_is_nemo(file);
}

static char *find_in(const struct hub_cache *c, const char *name, struct hub_error *e)
{
    struct hub_spec spec = { .id = "" };
    struct hub_known known;
    char *path = NULL;
    e->status = HUB_OK;
    if (strchr(name, '/')) return hub_spec_read(&spec, name, e) == HUB_OK ? hub_model_path(c, &spec, e) : NULL;
    const int is_known = hub_known_find(&known, name);
    if (is_known) {
        snprintf(spec.id, sizeof spec.id, "%s", known.repo);
        if (hub_is_single(known.file)) snprintf(spec.file, sizeof spec.file, "%s", known.file);
        path = hub_model_path(c, &spec, e);
    }
    if (!path && e->status != HUB_ENOMEM) path = find_file(c, name, e);
    if (!path && e->status != HUB_ENOMEM) path = find_whisper(c, name, e);
    if (!path && e->status != HUB_ENOMEM && is_known) path = find_whisper(c, known.name, e);
    if (!path && e->status != HUB_ENOMEM) path = find_name(c, name, e);
    if (!path && e->status != HUB_ENOMEM && is_known && holds_one(known.file)) path = find_name(c, strchr(known.repo, '/') + 1, e);
    return path;
}

/* Read both caches. @return 0 after out of memory, which *no_memory records */
static int read_caches(struct hub_cache *c, int *no_memory)
{
    struct hub_env env;
    struct hub_error e = { 0 };
    *c = (struct hub_cache){ 0 };
    int rc = hub_env_read(&env, &e);
    if (rc == HUB_OK) rc = hub_cache_read(c, &env, &e);
    hub_env_free(&env);
    if (rc == HUB_ENOMEM) *no_memory = 1;
    return rc == HUB_OK;
}

char *models_hub_find(const char *name, int *no_memory)
{
    struct hub_cache c;
    struct hub_error e = { 0 };
    char *path = read_caches(&c, no_memory) ? find_in(&c, name, &e) : NULL;
    if (!path && e.status == HUB_ENOMEM) *no_memory = 1;
    hub_cache_free(&c);
    return path;
}

void models_hub_alias(struct models_alias *out, const char *name)
{
    struct hub_known k;
    *out = (struct models_alias){ .name = "" };
    if (!hub_known_find(&k, name)) return;
    snprintf(out->name, sizeof out->name, "%s", k.name);
    if (hub_is_single(k.file)) snprintf(out->file, sizeof out->file, "%s", k.file);
}

/* Models of other tasks have other names. */
static int may_be_whisper(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const size_t n = strlen(name);
    return n > 9 && strncmp(name, "ggml-", 5) == 0 && strcmp(name + n - 4, ".bin") == 0 && !strstr(name, "silero");
}

char *models_hub_file(const char *repo, const char *const *file, size_t n, int *no_memory)
{
    struct hub_cache c;
    struct hub_error e = { 0 };
    struct hub_spec spec = { .id = "" };
    char *path = NULL;
    const int there = read_caches(&c, no_memory);
    snprintf(spec.id, sizeof spec.id, "%s", repo);
    for (size_t i = 0; there && i < n && !path && e.status != HUB_ENOMEM; i++) {
        snprintf(spec.file, sizeof spec.file, "%s", file[i]);
        path = hub_model_path(&c, &spec, &e);
    }
    if (!path && e.status == HUB_ENOMEM) *no_memory = 1;
    hub_cache_free(&c);
    return path;
}

char *models_hub_cache(int hub)
{
    struct hub_env env;
    struct hub_error e = { 0 };
    char *dir = NULL;
    const int rc = hub_env_read(&env, &e);
    if (rc == HUB_OK && env.hub[hub].cache) dir = strdup(env.hub[hub].cache);
    hub_env_free(&env);
    errno = rc == HUB_ENOMEM ? ENOMEM : dir ? 0 : ENOENT;
    return dir;
}

/* Does the folder hold a Whisper model? The first bytes of its Hugging Face or MLX settings name the family; those of CTranslate2 have a
 * list of ids that only its Whisper models have. */
static int is_whisper(const char *folder, int *no_memory)
{
    char text[1 << 14], *path = hub_format("%s/config.json", folder);
    struct json_path j;
    FILE *f = path ? regular_read(path) : NULL;
    int is = 0;
    if (!path || (!f && errno == ENOMEM)) *no_memory = 1;
    free(path);
    if (!f) return 0;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    json_path_begin(&j, text);
    while (!is && json_path_next(&j)) {
        const char *family = json_path_text(&j, "model_type");
        is = (family && strcmp(family, "whisper") == 0) || json_path_is(&j, "n_audio_ctx") || json_path_is(&j, "lang_ids");
    }
    return is;
}

/* model.fp32*: a second copy of the same weights */
static int is_weights(const char *name)
{
    static const char *const whole[] = { "weights.safetensors", "weights.npz", "model.bin" }, end[] = ".safetensors";
    const size_t n = strlen(name), m = sizeof end - 1;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0) return 1;
    return strncmp(name, "model", 5) == 0 && strncmp(name, "model.fp32", 10) != 0 && n >= m && strcmp(name + n - m, end) == 0;
}

/* Size of the weights that a loader reads, in bytes. */
static int64_t weights_size(const char *folder, int *no_memory)
{
    struct names files;
    struct hub_error e;
    int64_t size = 0;
    if (names_of_folder(&files, folder, &e)) *no_memory = 1;
    for (size_t i = 0; i < files.n; i++) {
        struct stat st;
        if (!is_weights(files.name[i])) continue;
        char *path = hub_format("%s/%s", folder, files.name[i]);
        if (!path) *no_memory = 1;
        else if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) size += st.st_size;
        free(path);
    }
    names_free(&files);
    return size;
}

/* Pass on a Whisper model of a snapshot: a ggml file, or the folder, with "" as its name. */
static void report_whisper(const struct hub_snapshot *s, const char *file, void (*each)(void *user, char *path, int64_t size), void *user,
                           int *no_memory)
{
    struct stat st;
    int64_t size = 0;
    if (file[0] ? !may_be_whisper(file) : !is_whisper(s->folder, no_memory)) return;
    char *path = hub_format("%s%s%s", s->folder, file[0] ? "/" : "", file);
    if (!path) *no_memory = 1;
    else if (!file[0]) size = weights_size(path, no_memory);
    else if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) size = st.st_size;
    if (path && size > 0) each(user, path, size);
    else free(path);
}

void models_hub_each(void (*each)(void *user, char *path, int64_t size), void *user, int *no_memory)
{
    struct hub_cache c;
    struct hub_error e = { 0 };
    const int there = read_caches(&c, no_memory);
    for (size_t i = 0; there && i < c.n; i++) {
        struct names models;
        if (!c.s[i].is_main) continue;
        if (hub_models_in(&models, c.s[i].folder, &e)) *no_memory = 1;
        for (size_t k = 0; k < models.n; k++) report_whisper(&c.s[i], models.name[k], each, user, no_memory);
        names_free(&models);
    }
    hub_cache_free(&c);
}

static int ask(const char *name, int64_t bytes)
{
    char line[16] = "", size[32] = "";
    if (!isatty(STDIN_FILENO) || !progress_can_redraw()) return 0;
    if (bytes > 0) snprintf(size, sizeof size, " (%.0f MB)", (double)bytes / 1e6);
    fprintf(stderr, "steno: fetch %s%s now? [y/N] ", name, size);
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static int fetch(const char *name)
{
    char *names[] = { strdup(name) };
    struct models_opts o = { .retries = 5, .no_path = 1 };
    struct hub_env env;
    struct hub_error e = { 0 };
    int code = EXIT_MEMORY, none = -1;
    if (names[0] && hub_env_read(&env, &e) == HUB_OK) {
        const struct models_call c = { &o, &env, 1, names, &none };
        o.offline = env.offline;
        code = models_pull(&c);
        hub_env_free(&env);
    }
    free(names[0]);
    signals_defer(0);
    return code;
}

/* Size of all files that the table has for the model, in bytes. */
static int64_t size_of(const struct hub_known *k)
{
    struct hub_known row;
    int64_t size = 0;
    for (size_t i = k->row; hub_known_row(&row, i) && strcmp(row.name, k->name) == 0; i++) size += row.size > 0 ? row.size : 0;
    return size;
}

/* Find the table's name that is most similar to a mistyped one. @return 1, or 0 if there is none */
static int find_near(struct hub_known *near, const char *name)
{
    struct hub_known known;
    int best = -1;
    for (size_t i = 0; hub_known_row(&known, i); i++) {
        const int d = hub_known_is_first(&known) ? word_near(name, known.name) : -1;
        if (d < 0 || (best >= 0 && d >= best)) continue;
        best = d;
        hub_known_row(near, i);
    }
    return best >= 0;
}

/* If the name is a file name, its length without the ending; else 0. */
static int stem_length(const char *file)
{
    static const char *const end[] = { ".bin", ".pt", ".gguf", ".onnx", ".safetensors" };
    const size_t n = strlen(file);
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        if (n > strlen(end[i]) && strcmp(file + n - strlen(end[i]), end[i]) == 0) return (int)(n - strlen(end[i]));
    return 0;
}

/* For a file that another program stores, such as "models/ggml-base.en.bin": find the table's model. @return 1, or 0 if there is none */
static int find_of_file(struct hub_known *k, const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char stem[128];
    const int n = stem_length(file);
    if (!n || n >= (int)sizeof stem) return 0;
    snprintf(stem, sizeof stem, "%.*s", n, file);
    return hub_known_find(k, stem) || (strncmp(stem, "ggml-", 5) == 0 && hub_known_find(k, stem + 5));
}

int models_hub_report(const char *name, int64_t *size)
{
    struct hub_known known;
    struct hub_spec spec;
    struct hub_error e;
    const int has_slash = strchr(name, '/') != NULL;
    *size = 0;
    if (find_of_file(&known, name)) {
        message("model %s: no such file; \"steno models pull %s\" gets such a model, and -m %s takes it", name, known.name, known.name);
        return 0;
    }
    if (has_slash && stem_length(name)) return -1;
    if (has_slash && (name[0] == '.' || name[0] == '/' || hub_spec_read(&spec, name, &e))) return -1;
    if (has_slash || hub_known_find(&known, name)) {
        char reported[48] = "";
        if (!has_slash) *size = size_of(&known);
        if (*size) snprintf(reported, sizeof reported, " (%.1f MB)", (double)*size / 1e6);
        else if (!has_slash && known.about_mb) snprintf(reported, sizeof reported, " (about %d MB)", known.about_mb);
        message("model %s: is not on this machine; this gets it%s: steno models pull %s", name, reported, name);
        return 1;
    }
    if (!find_near(&known, name)) return -1;
    message("model %s: no such file, and no model of that name; did you mean %s? If it is not here, \"steno models pull %s\" gets it", name,
            known.name, known.name);
    return 0;
}

int models_hub_offer(const char *name)
{
    int64_t size;
    const int is = models_hub_report(name, &size);
    if (is < 0) return -1;
    return is && ask(name, size) ? fetch(name) : EXIT_MODEL;
}
