/* steno: files of a batch's results, beside its JSON lines. SPDX-License-Identifier: MIT
 *
 * A name follows from the manifest's line alone, so all processes of a batch, and a run that continues another, use the same names; {date}
 * and {time} are those of the journal's first line. Names are compared over the whole manifest before work begins: no two results have the
 * same name, and none replaces an input, the manifest or the journal. How many tracks and
 * channels an input has is not known then: with --audio-track all and --channels split, a name stands for those of all of them. Files are
 * written before the line of their result: an input with a result has its files, and one that was interrupted gets them again. */
#ifndef STENO_TOOLS_BATCH_OUT_FILES_H
#define STENO_TOOLS_BATCH_OUT_FILES_H
#include "batch/ids.h"
#include "batch/journal.h"
#include "batch/manifest.h"
#include "result_files.h"

struct batch_files {
    struct result_files files; /* naming.dir NULL: no files. path_guard: the manifest, the journal and models */
    int has_tracks;            /* an input has a result for each track */
    int is_split;              /* an input, or each of its tracks, has a result for each channel, unless its line names one */
    struct id_set names;       /* of inputs and results */
    char *folder, *real;       /* the last folder that was looked up, and its path without links */
    const char *reason;        /* why the files of an input were not written */
};

/* Check the options, and create the folder. @return an exit code, after a message, as below */
int batch_files_open(struct batch_files *f);
int batch_files_keep(struct batch_files *f, const char *path); /* no result may have this name; "-" is none */

int batch_files_count(const struct batch_files *f);     /* 1: names have the number of the input */
int batch_files_are_dated(const struct batch_files *f); /* 1: names have the date or the time */
int batch_files_name_model(const struct batch_files *f); /* 1: names have that of the model, files.naming.model */

/* Enter the names of an input of the manifest. */
struct batch_line { const struct manifest_item *it; long long line; int64_t number; /* among the inputs, from 1 */ };
int batch_files_plan(struct batch_files *f, const struct batch_line *at);

/* Write the transcript of an input, or of a track or channel of it. @return STENO_OK, STENO_ENOMEM or STENO_EIO with f->reason; a failure
 * leaves other files of it */
int batch_files_write(struct batch_files *f, const struct manifest_item *it, const struct transcript *t, int64_t number,
                      const struct batch_audio *of);

void batch_files_free(struct batch_files *f);
#endif
