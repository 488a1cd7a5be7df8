/* steno: automatic choice of a model. SPDX-License-Identifier: MIT */
#include "models/model_choice.h"
#include "models/host.h"
#include <ctype.h>
#include <steno/steno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TOKENS = 100 /* tokens in a window of fast speech */, WINDOW_S = 30 };

/* Per window: encoder operations in 10^9; bytes read per token and total memory, in 10^6; file size in f16. Names are searched in this
 * order. Quality follows published error rates: large-v3, large-v2, turbo, large-v1, distilled models, medium and so on. */
static const struct size {
    const char *word;
    int quality, gflop, mb_token, mb_memory, mb_file;
} sizes[] = {
    { "distil-large", 80, 2260, 130, 1650, 1520 }, { "distil-medium", 55, 1130, 110, 900, 790 }, { "distil-small", 45, 340, 80, 500, 340 },
    { "turbo", 90, 2260, 172, 1700, 1625 }, { "large-v3", 100, 2260, 910, 2770, 3095 }, { "large-v2", 95, 2260, 910, 2770, 3095 },
    { "large-v1", 85, 2260, 910, 2770, 3095 }, { "large", 95, 2260, 910, 2770, 3095 }, { "medium", 70, 1130, 460, 1450, 1534 },
    { "small", 60, 340, 154, 530, 488 }, { "base", 50, 85, 52, 200, 148 }, { "tiny", 40, 36, 30, 120, 78 },
};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* 10^9 operations per second of one thread in the encoder of base, by the first letters of the level's name. */
static const struct { const char *level; int gflops; } levels[] = {
    { "amx", 200 }, { "avx512bf16", 150 }, { "avx512vnni", 110 }, { "avx512", 90 },
    { "avx", 55 },  { "sse", 15 },         { "neon", 30 },        { "c", 2 },
};

void choice_host_get(struct choice_host *h)
{
    struct host is;
    int gflops = 2, threads = 1;
    host_get(&is);
    for (int i = 0; steno_cpu_level_name(i); i++) {
        if (!steno_cpu_level_usable(i)) continue;
        for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
            if (strncmp(steno_cpu_level_name(i), levels[k].level, strlen(levels[k].level)) != 0) continue;
            if (levels[k].gflops > gflops) gflops = levels[k].gflops;
            break;
        }
    }
    if (is.allowed > threads) threads = is.allowed;
    if (is.quota > 0 && is.quota < threads) threads = is.quota < 1 ? 1 : (int)is.quota;
    h->gflops = (double)gflops * threads;
    h->gbytes = threads < 4 ? 8.0 * threads : 24.0; /* memory bandwidth does not grow with more threads */
    h->memory = is.memory_limit && (!is.memory || is.memory_limit < is.memory) ? is.memory_limit : is.memory;
}

/* The file's name; for a folder in Hugging Face's cache, the name of its repository. */
static void name_of(char out[256], const char *path)
{
    const char *end = path + strlen(path), *begin = end;
    const char *snapshots = strstr(path, "/snapshots/");
    if (snapshots && !strchr(snapshots + 11, '/')) end = snapshots;
    for (begin = end; begin > path && begin[-1] != '/'; begin--) {}
    snprintf(out, 256, "%.*s", (int)(end - begin), begin);
}

static int has_word(const char *name, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = name; *p; p++)
        if (strncasecmp(p, word, n) == 0 && (p == name || !isalnum((unsigned char)p[-1])) && !isalnum((unsigned char)p[n])) return 1;
    return 0;
}

/* Choose by name, else by file size, assuming f16. */
static const struct size *size_of(const char *name, int64_t size)
{
    for (int i = 0; i < N_SIZES; i++)
        if (has_word(name, sizes[i].word)) return &sizes[i];
    for (int i = N_SIZES - 1; i >= N_SIZES - 5; i--) /* from tiny to large */
        if (size <= (int64_t)sizes[i].mb_file * 1050000) return &sizes[i];
    return &sizes[N_SIZES - 5];
}

void choice_judge(struct choice *c, const char *path, int64_t size, const struct choice_host *h)
{
    char name[256];
    name_of(name, path);
    const struct size *s = size_of(name, size);
    const int english = has_word(name, "en"); /* base.en: English only */
    const double window_s = s->gflop / h->gflops + TOKENS * s->mb_token / 1000.0 / h->gbytes;
    *c = (struct choice){ .quality = 2 * s->quality - english, .speed = WINDOW_S / window_s, .size = size, .path = path };
    c->memory = (int64_t)s->mb_memory * 1000000;
    if (c->memory < size) c->memory = size;
    c->fits = h->memory <= 0 || c->memory <= h->memory / 10 * 9;
}

int choice_order(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    const int x_up = x->speed >= 1, y_up = y->speed >= 1;
    if (x->fits != y->fits) return y->fits - x->fits;
    if (x_up != y_up) return y_up - x_up;
    if (!x_up && x->speed != y->speed) return x->speed < y->speed ? 1 : -1;
    if (x->quality != y->quality) return y->quality - x->quality;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return strcmp(x->path, y->path);
}
