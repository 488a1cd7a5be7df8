/* steno: the names of all results of a run. SPDX-License-Identifier: MIT
 *
 * Each input gives a file per format, and some give several: each result has a mark then, which stands behind the stem of its names. Names
 * are judged together before any work is done: two results may not have one, and none may leave the output folder. */
#ifndef STENO_OUT_OUT_NAMES_H
#define STENO_OUT_OUT_NAMES_H
#include <stddef.h>

struct out_naming {
    const char *template; /* NULL: OUT_NAME_DEFAULT */
    const char *mark;     /* of the result in hand, ".ch2"; NULL: none */
    unsigned formats;     /* bit set over `writers` */
};

/* Name of a result below the output folder. @return malloc'd text, or NULL in want of memory */
char *out_names_one(const struct out_naming *naming, const char *input, int format, const char *language);

enum out_names_status { OUT_NAMES_OK, OUT_NAMES_NO_MEMORY, OUT_NAMES_FAULT, OUT_NAMES_TWO_FORMATS, OUT_NAMES_TWO_INPUTS };

struct out_names { /* {0} is empty */
    struct out_names_entry { char *name; int input; } *entry; /* [n], by name */
    size_t n;
    const char *bad; /* the name that is refused: out_name_fault says why, or it is that of two formats or inputs */
};

/* List the names of all results. Languages are not known yet: their place is kept by the word itself.
 * @return enum out_names_status; out_names_free in any case */
int out_names_list(struct out_names *list, const struct out_naming *naming, char *const *inputs, int n_inputs);
void out_names_free(struct out_names *list);
#endif
