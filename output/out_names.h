/* steno: the names of all results of a run. SPDX-License-Identifier: MIT
 *
 * Each input gives a file per format. If an input has several results, a mark after the stem of the name distinguishes them. All names are
 * checked before any work is done: two results may not have the same name, and none may be outside the output folder. A word whose value is
 * not known yet is kept as it is. */
#ifndef STENO_OUT_OUT_NAMES_H
#define STENO_OUT_OUT_NAMES_H
#include "out_name.h"
#include <stddef.h>

struct out_naming {
    const char *dir;      /* the output folder, from out_folder; may be NULL */
    const char *template; /* NULL selects OUT_NAME_DEFAULT */
    const char *date, *time, *model; /* as in struct out_words */
    int n_inputs;         /* of the run */
    int index;            /* of the current input, from 0 */
    const char *mark;     /* of the current result, ".ch2"; may be NULL */
    unsigned formats;     /* bit set over `writers` */
};

/* Path of a result: the output folder and its name below it, or the name alone without a folder. @param below  receives the start of the
 * name; may be NULL @return malloc'd text, or NULL if memory runs out */
char *out_names_one(size_t *below, const struct out_naming *naming, const char *input, int format, const char *language);

/* The name below the output folder while language, date, time and mark are not known. @return 0, or -1: no memory */
int out_names_pattern(struct out_pattern *p, const struct out_naming *naming, const char *input, int format);

enum out_names_status { OUT_NAMES_OK, OUT_NAMES_NO_MEMORY, OUT_NAMES_FAULT, OUT_NAMES_TWO_FORMATS, OUT_NAMES_TWO_INPUTS };

struct out_names { /* {0} is empty */
    struct out_names_entry { char *path; size_t below; int input; } *entry; /* [n], by path */
    size_t n;
    int first, second; /* OUT_NAMES_TWO_INPUTS: the two inputs */
    const char *bad; /* what is refused: the name (out_name_fault has the reason), or the path that two formats or inputs share */
};

/* Lists the names of all results. Languages are not known yet. @return enum out_names_status; call out_names_free in any case */
int out_names_list(struct out_names *list, const struct out_naming *naming, char *const *inputs, int n_inputs);
void out_names_free(struct out_names *list);
#endif
