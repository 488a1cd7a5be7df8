/* steno: where a model lives. SPDX-License-Identifier: MIT
 *
 * A model is one file, or a folder of files that belong together: weights, configuration, vocabulary. Files that stand beside the one
 * that was named may be looked into as well; bytes in memory or behind callbacks have nothing beside them. */
#ifndef STENO_LOAD_MODEL_SOURCE_H
#define STENO_LOAD_MODEL_SOURCE_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"

struct model_source {
    const char *name;   /* as given, for messages; not owned */
    struct file file;   /* the model file; empty when the place is a folder */
    int is_folder;
    const char *inner;  /* a folder in it, where files are looked for that are not beside the model; NULL: there is none */
    char *dir;          /* folder of the files beside it, with the separator at its end; NULL: there is none; owned */
    struct buf *opened; /* receives the path of every file that is opened, a NUL behind each; NULL: nobody asks */
};

/* path is kept, not copied; opened may be NULL */
int model_source_open(struct model_source *p, const char *path, struct buf *opened, steno_error *e);
void model_source_of_file(struct model_source *p, const struct file *f);         /* one file without neighbours; source_close closes it */
void model_source_close(struct model_source *p);                                 /* a zeroed or closed place is allowed */

/* Open file `name` of the place, or of a folder in it. A name that leads out of the folder is STENO_EFORMAT: names also come from model
 * files.
 * @return 1: open, its name taken from the arena; 0: there is no such file; or a negative status */
int model_source_find(const struct model_source *p, const char *name, struct arena *a, struct file *f, steno_error *e);
/* The folder `name` in it, as a place; its memory from the arena. STENO_EFORMAT: that is no name of one */
int model_source_inner(const struct model_source *p, const char *name, struct arena *a, struct model_source *out, steno_error *e);
/* The whole of a file as text, NUL-terminated, from the arena; STENO_EFORMAT when it is larger than max_sz. */
int file_text(const struct file *f, uint64_t max_sz, struct arena *a, const char **text, steno_error *e);
#endif
