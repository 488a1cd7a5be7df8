/* steno: the location of a model. SPDX-License-Identifier: MIT
 *
 * A model is one file, or a folder of files that belong together: weights, configuration, vocabulary. Files in the same folder as the given
 * file may be read as well. Bytes in memory or behind callbacks have no neighbouring files. */
#ifndef STENO_LOAD_MODEL_SOURCE_H
#define STENO_LOAD_MODEL_SOURCE_H
#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"

struct model_source {
    const char *name;   /* as given, for messages; not owned */
    struct file file;   /* the model file; empty when the source is a folder */
    int is_folder;
    const char *inner;  /* a subfolder that is searched for files missing beside the model; may be NULL */
    char *dir;          /* the folder of neighbouring files, with the separator at its end; may be NULL; owned */
    struct buf *opened; /* receives the path of every opened file, each followed by a NUL; may be NULL */
};

/* path is kept, not copied; opened may be NULL */
int model_source_open(struct model_source *p, const char *path, struct buf *opened, steno_error *e);
void model_source_of_file(struct model_source *p, const struct file *f);         /* one file without neighbours; source_close closes it */
void model_source_close(struct model_source *p);                                 /* p may be zeroed or closed */

/* Open file `name` of the source, or of its subfolder `inner`. Names may come from model files: a name that leads out of the folder is
 * STENO_EFORMAT. A link to a missing file, as in a hub's cache that lost its blobs, is STENO_EIO.
 * @return 1: open, its name taken from the arena; 0: no such file; or a negative status */
int model_source_find(const struct model_source *p, const char *name, struct arena *a, struct file *f, steno_error *e);
/* As model_source_find, for a file that the model can do without: a link to a missing file counts as no file. */
int model_source_find_extra(const struct model_source *p, const char *name, struct arena *a, struct file *f, steno_error *e);
/* As model_source_find, of the first of the names [n] that is there; NULL is passed over, and so is a link to a missing file
 * before one of them. */
int model_source_find_first(const struct model_source *p, const char *const *name, size_t n, struct arena *a, struct file *f,
                            steno_error *e);
/* The subfolder `name` as a source; its memory comes from the arena. STENO_EFORMAT: not a valid folder name */
int model_source_inner(const struct model_source *p, const char *name, struct arena *a, struct model_source *out, steno_error *e);
/* A whole file as text, NUL-terminated, from the arena; STENO_EFORMAT when it is larger than max_sz. */
int file_text(const struct file *f, uint64_t max_sz, struct arena *a, const char **text, steno_error *e);
#endif
