/* steno: finding a model. SPDX-License-Identifier: MIT
 *
 * Order: -m (a path, or a name in the caches), STENO_MODEL (likewise), then the largest file in the caches that opens. The caches are
 * those of this program and of its relatives, so that a model that is on the machine is found. The built-in model is never chosen
 * silently: it knows digits only. */
#include "models.h"
#include "out.h"
#include "say.h"
#include "u8.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
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
};

/* ---- folders ----------------------------------------------------------------------------------------------------------------- */

enum { N_CACHES = 4 };

/* Cache folder `i`, or NULL when there is no such one. The last is ./models, where only ggml-*.bin counts. */
static char *cache_dir(int i)
{
    static const char *const sub[N_CACHES - 1] = { "steno", "whisper.cpp", "whisper" };
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (i == N_CACHES - 1) return strdup("models");
    char *base = xdg && xdg[0] == '/' ? strdup(xdg) : home && home[0] ? out_join(home, ".cache") : NULL;
    char *dir = base ? out_join(base, sub[i]) : NULL;
    free(base);
    return dir;
}

static int is_model_name(const char *name, int only_ggml)
{
    const size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".bin") == 0 && (!only_ggml || strncmp(name, "ggml-", 5) == 0);
}

/* The first four bytes tell a whisper.cpp file from whatever else ends in .bin. */
static int has_magic(const char *path)
{
    char magic[4] = "";
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    const size_t n = fread(magic, 1, sizeof magic, f);
    fclose(f);
    return n == 4 && memcmp(magic, "lmgg", 4) == 0;
}

static void add(struct found *f, char *path)
{
    struct stat st;
    if (!path) return;
    if (f->n == f->cap) {
        const size_t cap = f->cap ? 2 * f->cap : 16;
        struct candidate *c = realloc(f->c, cap * sizeof *c);
        if (!c) {
            free(path);
            return;
        }
        f->c = c;
        f->cap = cap;
    }
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && has_magic(path)) f->c[f->n++] = (struct candidate){ path, st.st_size };
    else free(path);
}

/* Largest first; by name where sizes are equal, so that the choice does not depend on the order of a directory. */
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
        for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
            if (is_model_name(e->d_name, i == N_CACHES - 1)) add(f, out_join(dir, e->d_name));
        if (d) closedir(d);
        free(dir);
    }
    if (f->n) qsort(f->c, f->n, sizeof *f->c, by_size);
}

static void found_free(struct found *f)
{
    for (size_t i = 0; i < f->n; i++) free(f->c[i].path);
    free(f->c);
}

char *models_largest(void)
{
    struct found f;
    scan(&f);
    char *path = f.n ? strdup(f.c[0].path) : NULL;
    found_free(&f);
    return path;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

static int exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* "base" is ggml-base.bin, base.bin or base in one of the caches. @return malloc'd path, or NULL */
static char *find_name(const char *name)
{
    char file[NAME_MAX + 1];
    if (strchr(name, '/')) return NULL;
    for (int i = 0; i < N_CACHES; i++) {
        char *dir = cache_dir(i);
        for (int k = 0; dir && k < 3; k++) {
            const int n = k == 0 ? snprintf(file, sizeof file, "ggml-%s.bin", name)
                                 : snprintf(file, sizeof file, "%s%s", name, k == 1 ? ".bin" : "");
            char *path = n > 0 && n < (int)sizeof file ? out_join(dir, file) : NULL;
            if (path && exists(path)) {
                free(dir);
                return path;
            }
            free(path);
        }
        free(dir);
    }
    return NULL;
}

static int tell_missing(const char *name)
{
    struct found f;
    scan(&f);
    const char *best = NULL;
    int best_d = -1;
    for (size_t i = 0; i < f.n && !strchr(name, '/'); i++) {
        char stem[NAME_MAX + 1];
        const char *file = strrchr(f.c[i].path, '/') + 1;
        if (strncmp(file, "ggml-", 5) == 0) file += 5;
        snprintf(stem, sizeof stem, "%.*s", (int)strcspn(file, "."), file);
        const int d = u8_near(name, stem);
        if (d >= 0 && (best_d < 0 || d < best_d)) {
            best_d = d;
            best = f.c[i].path;
        }
    }
    if (best) say("model %s: no such file; did you mean %s?", name, best);
    else say("model %s: no such file, and no model of that name in the caches", name);
    found_free(&f);
    return EXIT_MODEL;
}

/* ---- the built-in model ------------------------------------------------------------------------------------------------------ */

/* "<parent of the program's folder, repeatedly>/name" for the first that exists: a build folder inside the source tree, or bin/. */
static char *find_upward(const char *name)
{
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = '\0';
    for (char *slash = strrchr(exe, '/'); slash; slash = strrchr(exe, '/')) {
        *slash = '\0';
        char *path = out_join(exe[0] ? exe : "/", name);
        if (path && exists(path)) return path;
        free(path);
    }
    return NULL;
}

static char *find_data(const char *installed, const char *in_tree)
{
    char *path = find_upward(installed);
    if (!path) path = find_upward(in_tree);
    if (path) return path;
    path = out_join(STENO_DATADIR, installed + strlen("share/steno/"));
    if (path && exists(path)) return path;
    free(path);
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

static int open_path(steno_model **out, char **path_out, char *path, const steno_model_params *p)
{
    steno_error e = { 0 };
    const int rc = steno_model_open(out, path, p, &e);
    const int code = rc == STENO_OK ? EXIT_OK : say_model_error(path, rc, e.text);
    if (path_out && code == EXIT_OK) *path_out = path;
    else free(path);
    return code;
}

static int open_largest(steno_model **out, char **path_out, const struct model_choice *c, const steno_model_params *p)
{
    const int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    struct found f;
    steno_error e = { 0 };
    int code = EXIT_MODEL;
    scan(&f);
    for (size_t i = 0; i < f.n && code != EXIT_OK; i++) {
        if (memory > 0 && f.c[i].size > memory) continue;
        const int rc = steno_model_open(out, f.c[i].path, p, &e);
        if (rc != STENO_OK) {
            if (rc == STENO_EARG) code = EXIT_USAGE;
            if (!c->quiet || rc == STENO_EARG) say_file(f.c[i].path, e.text);
            if (rc == STENO_EARG) break;
            continue;
        }
        code = EXIT_OK;
        if (!c->quiet) say("model: %s (the largest one found; -m chooses another)", f.c[i].path);
        if (path_out) *path_out = strdup(f.c[i].path);
    }
    found_free(&f);
    if (code == EXIT_MODEL) say("no model was found: " MODELS_ADVICE);
    return code;
}

int models_open(steno_model **out, char **path, const struct model_choice *c, const steno_model_params *p)
{
    const char *env = getenv("STENO_MODEL");
    const char *name = c->name ? c->name : env && env[0] ? env : NULL;
    *out = NULL;
    if (path) *path = NULL;
    if (c->demo) {
        char *demo = models_demo();
        if (c->name) {
            free(demo);
            return say_usage("--demo and -m exclude each other");
        }
        if (!demo) {
            say("the built-in model is not installed (models/whisper-digits/whisper-digits.bin)");
            return EXIT_MODEL;
        }
        if (!c->quiet) say("model: %s (the built-in one: it knows spoken digits only)", demo);
        return open_path(out, path, demo, p);
    }
    if (!name) return open_largest(out, path, c, p);
    char *file = exists(name) ? strdup(name) : find_name(name);
    if (!file) return tell_missing(name);
    if (!c->name && !c->quiet) say("model: %s (from STENO_MODEL)", file);
    return open_path(out, path, file, p);
}
