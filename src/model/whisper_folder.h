/* steno: what lies beside the weights in a folder of transformers. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_WHISPER_FOLDER_H
#define STENO_MODEL_WHISPER_FOLDER_H
#include "model/align_heads.h"
#include "model/token_roles.h"
#include "text/vocab.h"

/* What the files say; all of it is there. */
struct whisper_folder {
    const struct whisper_dims *d;
    const struct token_roles *roles;
    const struct vocab *vocab;      /* special ids, too */
    const int32_t (*merge)[2];      /* [n_merges] pairs of ids that are joined, in this order */
    uint32_t n_merges;
    const int32_t *quiet;           /* [n_quiet] ids that are not text of speech, in rising order */
    uint32_t n_quiet;
    const struct align_heads *heads;
    const char *weights;            /* the type that most of them have: "float16" */
};

/* A file of the folder. put: appends it to *out */
struct whisper_folder_file { const char *name; void (*put)(struct buf *out, const struct whisper_folder *f); };
extern const struct whisper_folder_file whisper_folder_files[]; /* the last one has no name */
#endif
