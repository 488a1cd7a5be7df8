/* steno: where a model lives. SPDX-License-Identifier: MIT
 *
 * A model is one file, or a folder of files that belong together: weights, configuration, vocabulary. Files that stand beside the one
 * that was named may be looked into as well; bytes in memory or behind callbacks have nothing beside them. */
#ifndef STENO_LOAD_PLACE_H
#define STENO_LOAD_PLACE_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"

struct place {
    const char *name;   /* as given, for messages; not owned */
    struct file file;   /* the model file; empty when the place is a folder */
    int is_folder;
    char *dir;          /* folder of the files beside it, with the separator at its end; NULL: there is none; owned */
    struct buf *opened; /* receives the path of every file that is opened, a NUL behind each; NULL: nobody asks */
};

/* path is kept, not copied; opened may be NULL */
int place_open(struct place *p, const char *path, struct buf *opened, steno_error *e);
void place_of_file(struct place *p, const struct file *f);         /* one file without neighbours; place_close closes it */
void place_close(struct place *p);                                 /* a zeroed or closed place is allowed */

/* Open file `name` of the place. A name that leads out of the folder is STENO_EFORMAT: names also come from model files.
 * @return 1: open, its name taken from the arena; 0: there is no such file; or a negative status */
int place_find(const struct place *p, const char *name, struct arena *a, struct file *f, steno_error *e);
/* The whole of a file as text, NUL-terminated, from the arena; STENO_EFORMAT when it is larger than most. */
int file_text(const struct file *f, uint64_t most, struct arena *a, const char **text, steno_error *e);
#endif
