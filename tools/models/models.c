/* steno: find and open a model. SPDX-License-Identifier: MIT
 *
 * Order: -m (a path, or a name in the caches), then STENO_MODEL (in the same form), then a model of the caches. That is the best one
 * that fits this machine (model_choice.h) and can be opened. The caches searched are those of steno and of related programs. The
 * built-in model recognises digits only, so it is never chosen silently. Its vocabulary is complete and serves multilingual models that
 * carry none. */
#include "models/models.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/words.h"
#include "hub_env.h"
#include "models/machine.h"
#include "models/model_choice.h"
#include "models/models_hub.h"
#include "path.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include "models/vocab_places.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef STENO_DATADIR
#define STENO_DATADIR "/usr/local/share/steno"
#endif

struct candidate {
    char *path;
    int64_t size;
};

struct found {
    struct candidate *c;
    size_t n, cap;
    int no_memory; /* 1: memory ran out, models may be missing */
};

/* ---- folders ----------------------------------------------------------------------------------------------------------------- */

enum { HERE = 3, HUB, N_CACHES = HUB }; /* ./models, where only ggml-*.bin counts; Hugging Face's cache has its own order */

/* Folder `i`; NULL if the environment names none, or with errno ENOMEM. */
static char *cache_dir(int i)
{
    static const char *const sub[N_MODEL_FOLDERS] = { "steno", "whisper.cpp", "whisper" };
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    errno = 0;
    if (i == HERE) return strdup("models");
    if (i == HUB) return models_hub_cache(HUB_HF);
    char *base = xdg && path_is_absolute(xdg) ? strdup(xdg) : home && home[0] ? path_join(home, ".cache") : NULL;
    char *dir = base ? path_join(base, sub[i]) : NULL;
    free(base);
    return dir;
}

char *models_folder(int i)
{
    return i >= 0 && i < N_MODEL_FOLDERS ? cache_dir(i) : NULL;
}

static int ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static int is_model_name(const char *name, int only_ggml)
{
    if (only_ggml) return ends_in(name, ".bin") && strncmp(name, "ggml-", 5) == 0;
    return ends_in(name, ".bin") || ends_in(name, ".pt");
}

/* Checks the content, because other files have the same endings. */
static int is_model(const char *path, int *no_memory)
{
    steno_kind k = { .size = sizeof k };
    const int rc = steno_kind_get(path, &k, NULL);
    if (rc == STENO_ENOMEM) *no_memory = 1;
    return rc == STENO_OK && k.readable;
}

static void add(void *user, char *path, int64_t size)
{
    struct found *f = user;
    if (f->n == f->cap) {
        const size_t cap = f->cap ? 2 * f->cap : 16;
        struct candidate *c = realloc(f->c, cap * sizeof *c);
        if (!c) {
            f->no_memory = 1;
            free(path);
            return;
        }
        f->c = c;
        f->cap = cap;
    }
    f->c[f->n++] = (struct candidate){ path, size };
}

static void add_file(struct found *f, char *path)
{
    struct stat st;
    if (!path) f->no_memory = 1;
    else if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && is_model(path, &f->no_memory)) add(f, path, st.st_size);
    else free(path);
}

/* Largest first. Equal sizes are sorted by name, so the choice does not depend on directory order. */
static int by_size(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? 1 : -1) : strcmp(x->path, y->path);
}

static void scan(struct found *f)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < N_CACHES; i++) {
        char *dir = cache_dir(i);
        DIR *d = dir ? opendir(dir) : NULL;
        if (!d && errno == ENOMEM) f->no_memory = 1;
        for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
            if (is_model_name(e->d_name, i == HERE)) add_file(f, path_join(dir, e->d_name));
        if (d) closedir(d);
        free(dir);
    }
    models_hub_each(add, f, &f->no_memory);
    if (f->n) qsort(f->c, f->n, sizeof *f->c, by_size);
}

static void found_free(struct found *f)
{
    for (size_t i = 0; i < f->n; i++) free(f->c[i].path);
    free(f->c);
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

static int exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* Find ggml-NAME.bin, NAME.bin, NAME.pt, NAME.gguf or NAME in folder `i`. @return malloc'd path, or NULL */
static char *find_in(int i, const char *name, int *no_memory)
{
    static const struct { const char *begin, *end; } form[] = {
        { "ggml-", ".bin" }, { "", ".bin" }, { "", ".pt" }, { "", ".gguf" }, { "", "" },
    };
    char file[NAME_MAX + 1];
    if (!name[0] || strchr(name, '/')) return NULL;
    char *dir = cache_dir(i), *path = NULL;
    if (!dir && errno == ENOMEM) *no_memory = 1;
    for (size_t k = 0; dir && !path && k < sizeof form / sizeof *form; k++) {
        const int n = snprintf(file, sizeof file, "%s%s%s", form[k].begin, name, form[k].end);
        if (n < 0 || n >= (int)sizeof file) continue;
        path = path_join(dir, file);
        if (!path) *no_memory = 1;
        else if (!exists(path)) free(path), path = NULL;
    }
    free(dir);
    return path;
}

/* Search order for "base": a file of that name in ./models and in steno's own folder; the hub clients' caches, where it also means
 * openai/whisper-base; the folders of other programs. @return malloc'd path, or NULL */
static char *find_name(const char *name, int *no_memory)
{
    static const int first[] = { HERE, 0 }, last[] = { 1, 2 };
    struct models_alias also; /* "turbo" also means ggml-large-v3-turbo.bin */
    char *path = NULL;
    models_hub_alias(&also, name);
    const char *const called[] = { name, also.name, also.file };
    for (size_t i = 0; i < 6 && !path; i++) path = find_in(first[i / 3], called[i % 3], no_memory);
    if (!path) path = models_hub_find(name, no_memory);
    for (size_t i = 0; i < 6 && !path; i++) path = find_in(last[i / 3], called[i % 3], no_memory);
    return path;
}

char *models_find(const char *name)
{
    int no_memory = 0;
    if (exists(name)) return strdup(name);
    char *path = find_name(name, &no_memory);
    if (!path) errno = no_memory ? ENOMEM : ENOENT;
    return path;
}

/* Call after models_find returned NULL. @return the exit code to end with, or EXIT_OK if the model was downloaded */
static int report_missing(const char *name)
{
    struct found f;
    if (errno == ENOMEM) {
        message("out of memory while looking for model %s", name);
        return EXIT_MEMORY;
    }
    scan(&f);
    const char *best = NULL;
    int best_d = -1;
    for (size_t i = 0; i < f.n && !strchr(name, '/'); i++) {
        char stem[NAME_MAX + 1];
        const char *file = strrchr(f.c[i].path, '/') + 1;
        if (strncmp(file, "ggml-", 5) == 0) file += 5;
        snprintf(stem, sizeof stem, "%.*s", (int)strcspn(file, "."), file);
        const int d = word_near(name, stem);
        if (d >= 0 && (best_d < 0 || d < best_d)) {
            best_d = d;
            best = f.c[i].path;
        }
    }
    int code = EXIT_MODEL;
    if (best) message("model %s: no such file; did you mean %s?", name, best);
    else if ((code = models_hub_offer(name)) < 0) {
        message("model %s: no such file or folder, and no model of that name in the caches", name);
        code = EXIT_MODEL;
    }
    found_free(&f);
    return code;
}

/* ---- the built-in model ------------------------------------------------------------------------------------------------------ */

/* Search "name" in each parent of the program's folder. This works for a build folder inside the source tree, and for bin/. */
static char *find_upward(const char *name)
{
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = '\0';
    for (char *slash = strrchr(exe, '/'); slash; slash = strrchr(exe, '/')) {
        *slash = '\0';
        char *path = path_join(exe[0] ? exe : "/", name);
        if (!path || exists(path)) return path;
        free(path);
    }
    return NULL;
}

/* @return malloc'd path, or NULL if there is none or errno is ENOMEM */
static char *find_data(const char *installed, const char *in_tree)
{
    errno = 0;
    char *path = find_upward(installed);
    if (!path && errno != ENOMEM) path = find_upward(in_tree);
    if (path || errno == ENOMEM) return path;
    path = path_join(STENO_DATADIR, installed + strlen("share/steno/"));
    if (!path || exists(path)) return path;
    free(path);
    errno = ENOENT;
    return NULL;
}

char *models_demo(void)
{
    return find_data("share/steno/models/whisper-digits/whisper-digits.bin", "models/whisper-digits/whisper-digits.bin");
}

char *models_demo_audio(void)
{
    return find_data("share/steno/demo.wav", "tests/data/demo.wav");
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* Collect possible vocabularies for a model that neither carries one nor has one beside it. Order: vocabulary files, model folders,
 * model files with small ones first, the built-in model. */
static void vocabularies(struct found *f)
{
    struct found alone = { .n = 0 };
    scan(f);
    vocab_places_each(models_folder, N_MODEL_FOLDERS, add, &alone, &alone.no_memory);
    struct candidate *c = f->c;
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (ends_in(c[i].path, ".pt")) free(c[i].path);
        else c[n++] = c[i];
    }
    f->n = n;
    for (size_t i = 0; i < n / 2; i++) {
        const struct candidate t = c[i];
        c[i] = c[n - 1 - i];
        c[n - 1 - i] = t;
    }
    char *demo = models_demo();
    if (demo) add(f, demo, 0);
    alone.no_memory |= f->no_memory;
    for (size_t i = 0; i < f->n; i++) add(&alone, f->c[i].path, f->c[i].size);
    free(f->c);
    *f = alone;
}

int models_open_file(steno_model **out, char **vocab, const char *path, const char *given, const steno_model_params *params, steno_error *e)
{
    steno_model_params p = *params;
    steno_error reason = { 0 };
    p.vocab = given;
    if (vocab) *vocab = NULL;
    int rc = steno_model_open(out, path, &p, e);
    if (rc != STENO_ENOVOCAB || given) return rc;
    struct found f;
    vocabularies(&f);
    for (size_t i = 0; i < f.n && rc != STENO_OK && rc != STENO_ENOMEM; i++) {
        p.vocab = f.c[i].path;
        rc = steno_model_open(out, path, &p, &reason);
        if (rc == STENO_OK && vocab) *vocab = strdup(f.c[i].path);
        if (rc != STENO_OK && !strstr(reason.text, f.c[i].path)) { /* the model is faulty, not the vocabulary */
            *e = reason;
            break;
        }
    }
    found_free(&f);
    return rc == STENO_OK || rc == STENO_ENOMEM ? rc : e->status;
}

/* The arithmetic to ask for. A look at the model's headers shows whether it has a choice; what is wrong with it is reported later. */
static int32_t compute_for(const char *path, const struct model_choice *c, const steno_model_params *params)
{
    steno_model_params p = *params;
    steno_model *m = NULL;
    char *vocab = NULL;
    steno_error unused = { 0 };
    if (p.compute != STENO_COMPUTE_AUTO || c->auto_compute == STENO_COMPUTE_AUTO) return p.compute;
    p.index_only = 1;
    if (models_open_file(&m, &vocab, path, c->vocab, &p, &unused) == STENO_OK && steno_serves(m, STENO_CALL_OPEN, "compute") &&
        steno_serves(m, STENO_CALL_TRANSCRIBE, "offset_ms"))
        p.compute = c->auto_compute;
    steno_model_close(m);
    free(vocab);
    return p.compute;
}

/* As models_open_file, in the arithmetic of the choice. */
static int open_chosen(steno_model **out, struct model_found *at, const char *path, const struct model_choice *c,
                       const steno_model_params *params, steno_error *e)
{
    steno_model_params p = *params;
    p.compute = at->compute = compute_for(path, c, params);
    return models_open_file(out, &at->vocab, path, c->vocab, &p, e);
}

static int open_path(steno_model **out, struct model_found *at, char *path, const struct model_choice *c, const steno_model_params *p)
{
    steno_error e = { 0 };
    const int rc = open_chosen(out, at, path, c, p, &e);
    at->path = path;
    if (rc == STENO_OK && at->vocab && !c->quiet)
        message("vocabulary: %s (the model has none; --vocab selects another)", at->vocab);
    if (rc == STENO_ENOVOCAB && !c->vocab) {
        const char *where = strstr(e.text, "openai-whisper"); /* applies to Whisper models only */
        message("%s: the model has no vocabulary, and none on this machine fits; give one with --vocab: a vocabulary file, a tokenizer "
                "folder or a model that has one%s%s", path, where ? "; " : "", where ? where : "");
        return EXIT_MODEL;
    }
    char reason[OPTION_TEXT_SZ];
    if (rc == STENO_EARG) return message_model_error(NULL, rc, option_reason(reason, c->given, e.text));
    return rc == STENO_OK ? EXIT_OK : message_model_error(path, rc, e.text); /* the path may begin with a word that is also an option */
}

/* All candidates, in the order in which they are tried. @return malloc'd list, or NULL */
static struct choice *in_order(const struct found *f, const steno_model_params *p)
{
    struct machine_speed is;
    struct choice_host host;
    struct choice *c = calloc(f->n + 1, sizeof *c);
    if (!c) return NULL;
    choice_host_get(&host);
    char *own = f->n > 1 ? cache_dir(0) : NULL; /* with a single model there is no choice to make */
    if (own && machine_speed_get(&is, own, p)) host.gflops = is.gflops, host.gbytes = is.gbytes;
    free(own);
    for (size_t i = 0; i < f->n; i++) choice_judge(&c[i], f->c[i].path, f->c[i].size, &host);
    qsort(c, f->n, sizeof *c, choice_order);
    return c;
}

int models_open_best(steno_model **out, struct model_found *at, const struct model_choice *choice, const steno_model_params *p,
                     void (*passed)(void *user, const char *path, int status, const char *reason), void *user)
{
    struct found f;
    scan(&f);
    struct choice *c = f.no_memory ? NULL : in_order(&f, p);
    int rc = c ? STENO_EIO : STENO_ENOMEM;
    for (size_t i = 0; c && i < f.n && rc != STENO_OK && rc != STENO_EARG; i++) {
        const char *path = c[i].path;
        steno_error e = { 0 };
        if (!c[i].fits) {
            char reason[96];
            snprintf(reason, sizeof reason, "it needs about %.1f GB, more than this machine has", (double)c[i].memory / 1e9);
            passed(user, path, STENO_ENOMEM, reason);
            continue;
        }
        rc = open_chosen(out, at, path, choice, p, &e);
        if (rc == STENO_OK) {
            at->path = strdup(path);
            at->speed = c[i].speed;
        } else {
            passed(user, path, rc, e.text[0] ? e.text : steno_status_text(rc));
        }
    }
    free(c);
    found_free(&f);
    return rc;
}

struct passed { int quiet, n; steno_error first; char path[PATH_MAX]; const struct args_given *given; };

/* A file that cannot be opened is reported at once. In quiet mode only the first reason is kept, and printed if no model opens. */
static void report_passed(void *user, const char *path, int status, const char *reason)
{
    struct passed *t = user;
    char reported[OPTION_TEXT_SZ];
    if (status == STENO_EARG) message("%s", option_reason(reported, t->given, reason));
    else if (!t->quiet) message_file(path, reason);
    else if (!t->n) {
        snprintf(t->first.text, sizeof t->first.text, "%s", reason);
        snprintf(t->path, sizeof t->path, "%s", path);
    }
    t->n++;
}

/* Small models are many times faster than speech, so their speed is not printed. */
static void report_choice(const struct model_found *at)
{
    const char *path = at->path ? at->path : "";
    char times[64] = "";
    if (at->speed < 10) snprintf(times, sizeof times, ", about %.1f times as fast", at->speed);
    if (at->speed < 1) message("model: %s (no local model keeps up with speech, this is the fastest%s; -m selects another)", path, times);
    else message("model: %s (the best local model that fits memory and keeps up with speech%s; -m selects another)", path, times);
}

static int open_best(steno_model **out, struct model_found *at, const struct model_choice *c, const steno_model_params *p)
{
    struct passed t = { .quiet = c->quiet, .given = c->given };
    const int rc = models_open_best(out, at, c, p, report_passed, &t);
    if (rc == STENO_EARG) return EXIT_USAGE;
    if (rc == STENO_OK) {
        if (!c->quiet) report_choice(at);
        if (!c->quiet && at->vocab) message("vocabulary: %s (the model has none; --vocab selects another)", at->vocab);
        return EXIT_OK;
    }
    if (rc == STENO_ENOMEM && !t.n) {
        message("out of memory while looking for models");
        return EXIT_MEMORY;
    }
    if (t.quiet && t.n) message_file(t.path, t.first.text);
    message("%s: " MODELS_ADVICE, t.n ? "no usable model was found" : "no model was found");
    return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_MODEL;
}

int models_open(steno_model **out, struct model_found *at, const struct model_choice *c, const steno_model_params *p)
{
    const char *env = path_typed(getenv("STENO_MODEL"));
    const char *name = c->name ? c->name : env && env[0] ? env : NULL;
    *out = NULL;
    *at = (struct model_found){ 0 };
    if (c->demo) {
        char *demo = models_demo();
        if (c->name) {
            free(demo);
            return message_usage("--demo and -m exclude each other");
        }
        if (!demo && errno == ENOMEM) {
            message("out of memory while looking for the built-in model");
            return EXIT_MEMORY;
        }
        if (!demo) {
            message("the built-in model is not installed here (Python's package is without it); name another with -m, such as -m base");
            return EXIT_MODEL;
        }
        if (!c->quiet) message("model: %s (the built-in one: it knows spoken digits only)", demo);
        return open_path(out, at, demo, c, p);
    }
    if (!name) return open_best(out, at, c, p);
    char *file = models_find(name);
    if (!file) {
        const int code = report_missing(name);
        if (code != EXIT_OK) return code;
        file = models_find(name);
        if (!file) return EXIT_MODEL;
    }
    if (!c->name && !c->quiet) message("model: %s (from STENO_MODEL)", file);
    return open_path(out, at, file, c, p);
}
