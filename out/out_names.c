/* steno: the names of all results of a run. SPDX-License-Identifier: MIT */
#include "out_names.h"
#include "out_name.h"
#include "steno_out.h"
#include <stdlib.h>
#include <string.h>

/* Name of an input without folder and extension, with the mark of the result in hand. */
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

char *out_names_one(const struct out_naming *naming, const char *input, int format, const char *language)
{
    char *stem = marked_stem(input, naming->mark);
    const char *template = naming->template ? naming->template : OUT_NAME_DEFAULT;
    char *name = stem ? out_name(template, stem, writers[format].extension, language) : NULL;
    free(stem);
    return name;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct out_names_entry *)a)->name, ((const struct out_names_entry *)b)->name);
}

static int judge(struct out_names *list)
{
    struct out_names_entry *e = list->entry;
    for (size_t i = 0; i < list->n; i++) {
        list->bad = e[i].name;
        if (out_name_fault(list->bad)) return OUT_NAMES_FAULT;
    }
    qsort(e, list->n, sizeof *e, by_name);
    for (size_t i = 1; i < list->n; i++) {
        list->bad = e[i].name;
        if (strcmp(e[i - 1].name, e[i].name) == 0) return e[i - 1].input == e[i].input ? OUT_NAMES_TWO_FORMATS : OUT_NAMES_TWO_INPUTS;
    }
    list->bad = NULL;
    return OUT_NAMES_OK;
}

int out_names_list(struct out_names *list, const struct out_naming *naming, char *const *inputs, int n_inputs)
{
    *list = (struct out_names){ calloc((size_t)n_inputs * N_WRITERS, sizeof *list->entry), 0, NULL };
    if (!list->entry) return OUT_NAMES_NO_MEMORY;
    for (int i = 0; i < n_inputs; i++)
        for (int format = 0; format < N_WRITERS; format++) {
            if (!(naming->formats >> format & 1)) continue;
            char *name = out_names_one(naming, inputs[i], format, "{language}");
            if (!name) return OUT_NAMES_NO_MEMORY;
            list->entry[list->n++] = (struct out_names_entry){ name, i };
        }
    return judge(list);
}

void out_names_free(struct out_names *list)
{
    for (size_t i = 0; i < list->n; i++) free(list->entry[i].name);
    free(list->entry);
    *list = (struct out_names){ 0 };
}
