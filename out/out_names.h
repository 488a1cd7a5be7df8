/* steno: the names of all results of a run. SPDX-License-Identifier: MIT
 *
 * Each input gives a file per format, and some give several: each result has a mark then, which stands behind the stem of its names. Names
 * are judged together before any work is done: two results may not have one, and none may leave the output folder. What is not known yet
 * keeps its place by the word itself. */
#ifndef STENO_OUT_OUT_NAMES_H
#define STENO_OUT_OUT_NAMES_H
#include <stddef.h>

struct out_naming {
    const char *dir;      /* the output folder, as of out_folder; NULL: none */
    const char *template; /* NULL: OUT_NAME_DEFAULT */
    const char *date, *time, *model; /* as of struct out_words */
    int n_inputs;         /* of the run */
    int index;            /* of the input in hand, from 0 */
    const char *mark;     /* of the result in hand, ".ch2"; NULL: none */
    unsigned formats;     /* bit set over `writers` */
};

/* Where a result goes: the output folder and its name below it; the name alone without a folder.
 * @param below  receives where the name begins; may be NULL
 * @return malloc'd text, or NULL in want of memory */
char *out_names_one(size_t *below, const struct out_naming *naming, const char *input, int format, const char *language);

enum out_names_status { OUT_NAMES_OK, OUT_NAMES_NO_MEMORY, OUT_NAMES_FAULT, OUT_NAMES_TWO_FORMATS, OUT_NAMES_TWO_INPUTS };

struct out_names { /* {0} is empty */
    struct out_names_entry { char *path; size_t below; int input; } *entry; /* [n], by path */
    size_t n;
    int first, second; /* OUT_NAMES_TWO_INPUTS: which inputs */
    const char *bad; /* what is refused: the name, out_name_fault says why; or the path of two formats or inputs */
};

/* List the names of all results. Languages are not known yet. @return enum out_names_status; out_names_free in any case */
int out_names_list(struct out_names *list, const struct out_naming *naming, char *const *inputs, int n_inputs);
void out_names_free(struct out_names *list);
#endif
