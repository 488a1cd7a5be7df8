/* steno: the names of all results of a run. SPDX-License-Identifier: MIT */
#include "out_names.h"
#include "address.h"
#include "out_name.h"
#include "writers.h"
#include <stdlib.h>
#include <string.h>

/* Name of an input without folder and extension, followed by the mark of the current result. */
static char *marked_stem(const char *input, const char *mark)
{
    char *stem = out_stem(input);
    if (!stem || !mark) return stem;
    const size_t n = strlen(stem), k = strlen(mark) + 1;
    char *marked = malloc(n + k);
    if (marked) {
        memcpy(marked, stem, n);
        memcpy(marked + n, mark, k);
    }
    free(stem);
    return marked;
}

/* Makes a name or a pattern from the words of an input. @return 0, or -1: no memory */
static int with_words(const struct out_naming *naming, const char *input, int format, const char *language,
                      int (*make)(void *made, const struct out_naming *naming, const struct out_words *words), void *made)
{
    char number[OUT_NUMBER_SZ], *stem = marked_stem(input, naming->mark), *path = address_path(input);
    char *dir = path ? out_dir_of(path) : NULL;
    out_number_text(number, naming->index, naming->n_inputs);
    const struct out_words words = { .stem = stem, .ext = path ? out_ext(path) : "", .format = writers[format].extension,
                                     .language = language, .dir = dir, .number = number, .date = naming->date, .time = naming->time,
                                     .model = naming->model };
    const int bad = !stem || !dir || make(made, naming, &words);
    free(stem);
    free(dir);
    free(path);
    return bad ? -1 : 0;
}

static int make_name(void *made, const struct out_naming *naming, const struct out_words *words)
{
    char **name = made;
    *name = out_name(naming->template ? naming->template : OUT_NAME_DEFAULT, words);
    return *name ? 0 : -1;
}

/* The name below the output folder. */
static char *name_of(const struct out_naming *naming, const char *input, int format, const char *language)
{
    char *name = NULL;
    return with_words(naming, input, format, language, make_name, &name) ? NULL : name;
}

struct pattern_of { struct out_pattern *pattern; int is_marked; };

static int make_pattern(void *made, const struct out_naming *naming, const struct out_words *words)
{
    const struct pattern_of *of = made;
    return out_pattern_make(of->pattern, naming->template, words, of->is_marked);
}

int out_names_pattern(struct out_pattern *p, const struct out_naming *naming, const char *input, int format)
{
    struct pattern_of of = { p, naming->mark != NULL };
    struct out_naming bare = *naming;
    *p = (struct out_pattern){ 0 };
    bare.mark = bare.date = bare.time = NULL;
    return with_words(&bare, input, format, NULL, make_pattern, &of);
}

char *out_names_one(size_t *below, const struct out_naming *naming, const char *input, int format, const char *language)
{
    char *name = name_of(naming, input, format, language), *path = NULL;
    if (below) *below = 0;
    if (!naming->dir || !name) return name;
    char *folder = out_folder(naming->dir, input);
    const size_t nd = folder ? strlen(folder) : 0, nn = strlen(name);
    const int slash = nd > 0 && folder[nd - 1] != '/';
    if (folder) path = malloc(nd + nn + 2);
    if (path) {
        memcpy(path, folder, nd);
        if (slash) path[nd] = '/';
        memcpy(path + nd + slash, name, nn + 1);
    }
    if (below) *below = nd + slash;
    free(folder);
    free(name);
    return path;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct out_names_entry *)a)->path, ((const struct out_names_entry *)b)->path);
}

static int judge(struct out_names *list)
{
    struct out_names_entry *e = list->entry;
    for (size_t i = 0; i < list->n; i++) {
        list->bad = e[i].path + e[i].below;
        if (out_name_fault(list->bad)) return OUT_NAMES_FAULT;
    }
    qsort(e, list->n, sizeof *e, by_path);
    for (size_t i = 1; i < list->n; i++) {
        list->bad = e[i].path;
        list->first = e[i - 1].input < e[i].input ? e[i - 1].input : e[i].input;
        list->second = e[i - 1].input < e[i].input ? e[i].input : e[i - 1].input;
        if (strcmp(e[i - 1].path, e[i].path) == 0) return list->first == list->second ? OUT_NAMES_TWO_FORMATS : OUT_NAMES_TWO_INPUTS;
    }
    list->bad = NULL;
    return OUT_NAMES_OK;
}

int out_names_list(struct out_names *list, const struct out_naming *naming, char *const *inputs, int n_inputs)
{
    *list = (struct out_names){ .entry = calloc((size_t)n_inputs * N_WRITERS, sizeof *list->entry) };
    if (!list->entry) return OUT_NAMES_NO_MEMORY;
    struct out_naming of = *naming;
    of.n_inputs = n_inputs;
    for (int i = 0; i < n_inputs; i++) {
        of.index = i;
        for (int format = 0; format < N_WRITERS; format++) {
            if (!(naming->formats >> format & 1)) continue;
            size_t below;
            char *path = out_names_one(&below, &of, inputs[i], format, NULL);
            if (!path) return OUT_NAMES_NO_MEMORY;
            list->entry[list->n++] = (struct out_names_entry){ path, below, i };
        }
    }
    return judge(list);
}

void out_names_free(struct out_names *list)
{
    for (size_t i = 0; i < list->n; i++) free(list->entry[i].path);
    free(list->entry);
    *list = (struct out_names){ 0 };
}
