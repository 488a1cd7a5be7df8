/* steno: selects the cross-attention heads for word times. SPDX-License-Identifier: MIT
 *
 * While heads are selected, they are a table with one byte per head and layer. So the order and repetitions in a list do not matter. */
#include "model/align_heads.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Published by OpenAI for each model (openai-whisper 20250625, whisper/__init__.py). */
static const struct { const char *name, *heads; } official[] = {
    { "tiny.en", "1,0 2,0 2,5 3,0 3,1 3,2 3,3 3,4" },
    { "tiny", "2,2 3,0 3,2 3,3 3,4 3,5" },
    { "base.en", "3,3 4,7 5,1 5,5 5,7" },
    { "base", "3,1 4,2 4,3 4,7 5,1 5,2 5,4 5,6" },
    { "small.en", "6,6 7,0 7,3 7,8 8,2 8,5 8,7 9,0 9,4 9,8 9,10 10,0 10,1 10,2 10,3 10,6 10,11 11,2 11,4" },
    { "small", "5,3 5,9 8,0 8,4 8,7 8,8 9,0 9,7 9,9 10,5" },
    { "medium.en", "11,4 14,1 14,12 14,14 15,4 16,0 16,4 16,9 17,12 17,14 18,7 18,10 18,15 20,0 20,3 20,9 20,14 21,12" },
    { "medium", "13,15 15,4 15,15 16,1 20,0 23,4" },
    { "large-v1", "9,19 11,2 11,4 11,17 22,7 22,11 22,17 23,2 23,15" },
    { "large-v2", "10,12 13,17 16,11 16,12 16,13 17,15 17,16 18,4 18,11 18,19 19,11 21,2 21,3 22,3 22,9 22,12 23,5 23,7 23,13 25,5 "
                  "26,1 26,12 27,15" },
    { "large-v3", "7,0 10,17 12,18 13,12 16,1 17,14 19,11 21,4 24,1 25,6" },
    { "turbo", "2,4 2,11 3,3 3,6 3,11 3,14" },
};
enum { N_OFFICIAL = sizeof official / sizeof *official, HEAD_TEXT = 12 /* "255,2047 " */ };

struct choice {
    uint8_t *set; /* [layers, heads] */
    uint32_t layers, heads, n;
};

static const char *official_list(const char *name)
{
    for (int i = 0; i < N_OFFICIAL; i++)
        if (!strcmp(official[i].name, name)) return official[i].heads;
    return NULL;
}

static void choose_none(struct choice *c)
{
    memset(c->set, 0, (size_t)c->layers * c->heads);
    c->n = 0;
}

/* @return 0: there is no such head */
static int choose(struct choice *c, uint64_t layer, uint64_t head)
{
    if (layer >= c->layers || head >= c->heads) return 0;
    uint8_t *it = &c->set[layer * c->heads + head];
    c->n += !*it;
    *it = 1;
    return 1;
}

/* Selects all heads of layers [from, layers). */
static void choose_layers(struct choice *c, uint32_t from)
{
    for (uint32_t l = from; l < c->layers; l++)
        for (uint32_t h = 0; h < c->heads; h++) choose(c, l, h);
}

/* If there are more heads than a plan supports, those of the lowest layers are dropped. */
static void drop_lowest(struct choice *c)
{
    for (size_t i = 0; c->n > HEADS_MAX; i++) {
        c->n -= c->set[i];
        c->set[i] = 0;
    }
}

/* Selects all heads of the upper half of the layers: openai-whisper's default for a model without a list. */
static void choose_half(struct choice *c)
{
    choose_none(c);
    choose_layers(c, c->layers / 2);
    drop_lowest(c);
}

/* Reads decimal digits at *s and moves past them. Numbers too large for any model stay too large. @return 0: there are no digits */
static int number(const char **s, uint32_t *v)
{
    const char *from = *s;
    for (*v = 0; **s >= '0' && **s <= '9'; (*s)++)
        if (*v < 1000000) *v = *v * 10 + (uint32_t)(**s - '0');
    return *s > from;
}

enum list_verdict { FITS, UNREADABLE, NO_SUCH_HEAD };

/* Parses "LAYER,HEAD LAYER,HEAD ...". bad: receives the first pair that the model does not have. */
static enum list_verdict choose_listed(struct choice *c, const char *s, struct head *bad)
{
    choose_none(c);
    for (;;) {
        uint32_t layer, head;
        while (*s == ' ' || *s == '\t') s++;
        if (!*s) return c->n ? FITS : UNREADABLE;
        if (!number(&s, &layer) || *s++ != ',' || !number(&s, &head) || (*s && *s != ' ' && *s != '\t')) return UNREADABLE;
        if (choose(c, layer, head)) continue;
        *bad = (struct head){ (uint16_t)(layer < UINT16_MAX ? layer : UINT16_MAX), (uint16_t)(head < UINT16_MAX ? head : UINT16_MAX) };
        return NO_SUCH_HEAD;
    }
}

/* Reads a list of pairs from the settings under `key`, whose entries are in list order. @return 0: there is no list that fits */
static int choose_from_settings(struct choice *c, const struct meta *m, const char *key)
{
    const size_t n_key = strlen(key);
    uint32_t layer = 0, n_values = 0;
    choose_none(c);
    for (uint32_t i = 0; i < m->n; i++) {
        struct meta_entry it = m->entry[i];
        if (strncmp(it.key, key, n_key) != 0) continue;
        const char *s = it.key + n_key;
        uint32_t pair, at;
        if (!number(&s, &pair) || *s++ != '.' || !number(&s, &at) || *s) return 0; /* not a list of lists */
        if (pair != n_values / 2 || at != n_values % 2 || !meta_is_whole(&it) || it.i < 0 || it.i > UINT16_MAX) return 0;
        if (!at) layer = (uint32_t)it.i;
        else if (!choose(c, layer, (uint64_t)it.i)) return 0;
        n_values++;
    }
    return c->n && n_values % 2 == 0;
}

/* Reads MLX's table [n, 2] among the tensors. All heads of the upper half are what MLX's converter writes for an unknown model. @return 0:
 * there is no table that fits */
static int choose_from_table(struct choice *c, const struct meta *m)
{
    const struct meta_list *l = meta_find_list(m, "array.alignment_heads");
    const uint32_t half = c->layers / 2;
    choose_none(c);
    if (!l || l->n % 2) return 0;
    for (uint64_t i = 0; i < l->n; i += 2) {
        double pair[2];
        if (meta_list_numbers(l, i, 2, pair, NULL) || pair[0] < 0 || pair[1] < 0 || pair[0] > UINT16_MAX || pair[1] > UINT16_MAX) return 0;
        if (!choose(c, (uint64_t)pair[0], (uint64_t)pair[1])) return 0;
    }
    uint32_t lower = 0;
    for (size_t i = 0; i < (size_t)half * c->heads; i++) lower += c->set[i];
    return c->n && (lower || c->n < (c->layers - half) * c->heads);
}

static int unreadable(const char *requested, uint32_t layers, steno_error *e)
{
    char names[160] = "";
    for (int i = 0; i < N_OFFICIAL; i++) {
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", official[i].name);
    }
    return err_set(e, STENO_EARG, "alignment_heads is '%.60s', want \"LAYER,HEAD ...\", \"half\", \"top:N\" with N up to %u, or one of %s",
                   requested, layers, names);
}

static int choose_requested(struct choice *c, const char *requested, steno_error *e)
{
    const char *list = official_list(requested), *s = requested + 4;
    struct head bad = { 0 };
    uint32_t top;
    if (!strcmp(requested, "half")) {
        choose_half(c);
        return STENO_OK;
    }
    if (!strncmp(requested, "top:", 4)) {
        if (!number(&s, &top) || *s || top < 1 || top > c->layers) return unreadable(requested, c->layers, e);
        choose_layers(c, c->layers - top);
    } else {
        const enum list_verdict v = choose_listed(c, list ? list : requested, &bad);
        if (v == UNREADABLE) return unreadable(requested, c->layers, e);
        if (v == NO_SUCH_HEAD)
            return err_set(e, STENO_EARG, "alignment_heads is '%.60s', but layer %u, head %u is not one of this model's: layers 0..%u, "
                           "heads 0..%u", requested, bad.layer, bad.head, c->layers - 1, c->heads - 1);
    }
    if (c->n <= HEADS_MAX) return STENO_OK;
    return err_set(e, STENO_EARG, "alignment_heads is '%.60s', %u heads, want at most %d", requested, c->n, HEADS_MAX);
}

/* @return 0: no list fits, and the upper half was selected */
static int choose_usual(struct choice *c, const char *shape, const struct meta *settings)
{
    struct head bad;
    const char *list = official_list(shape);
    int fits = choose_from_settings(c, settings, "generation.alignment_heads.") || choose_from_table(c, settings) ||
               choose_from_settings(c, settings, "alignment_heads."); /* CTranslate2 */
    if (!fits) fits = list && choose_listed(c, list, &bad) == FITS;
    if (!fits) choose_half(c);
    drop_lowest(c);
    return fits;
}

static int write_list(struct align_heads *out, struct arena *a, const struct choice *c, steno_error *e)
{
    const size_t n_text = (size_t)c->n * HEAD_TEXT;
    char *text = arena_alloc(a, n_text);
    out->head = arena_array(a, c->n, sizeof *out->head);
    if (!text || !out->head) return err_nomem(e, n_text, "alignment heads");
    size_t at = 0;
    for (uint32_t l = 0; l < c->layers; l++)
        for (uint32_t h = 0; h < c->heads; h++) {
            if (!c->set[(size_t)l * c->heads + h]) continue;
            at += (size_t)snprintf(text + at, n_text - at, "%s%u,%u", out->n ? " " : "", l, h);
            out->head[out->n++] = (struct head){ (uint16_t)l, (uint16_t)h };
        }
    out->text = text;
    return STENO_OK;
}

int align_heads_find(struct align_heads *out, struct arena *a, const struct whisper_dims *d, const char *shape, const char *requested,
                     const struct meta *settings, steno_error *e)
{
    *out = (struct align_heads){ 0 };
    struct choice c = { .layers = (uint32_t)d->n_text_layer, .heads = (uint32_t)d->n_text_head };
    c.set = calloc((size_t)c.layers * c.heads, 1);
    if (!c.set) return err_nomem(e, (size_t)c.layers * c.heads, "alignment heads");
    int rc = STENO_OK;
    if (requested) rc = choose_requested(&c, requested, e);
    else out->unsure = !choose_usual(&c, shape, settings) && whisper_shape_is_shared(d);
    if (!rc) rc = write_list(out, a, &c, e);
    free(c.set);
    return rc;
}
