/* steno: settings and tokenizer files of a transformers folder. SPDX-License-Identifier: MIT */
#ifndef STENO_CONVERT_WHISPER_FOLDER_H
#define STENO_CONVERT_WHISPER_FOLDER_H
#include "model/align_heads.h"
#include "model/token_roles.h"
#include "text/vocab.h"

/* Input of the files; all fields are set. */
struct whisper_folder {
    const struct whisper_dims *d;
    const struct token_roles *roles;
    const struct vocab *vocab;      /* including special ids */
    const int32_t (*merge)[2];      /* [n_merges] pairs of ids, in merge order */
    uint32_t n_merges;
    const int32_t *quiet;           /* [n_quiet] non-speech ids, in ascending order */
    uint32_t n_quiet;
    const struct align_heads *heads;
    const char *weights;            /* type of most weights: "float16" */
};

/* A file of the folder. put: appends its content to *out */
struct whisper_folder_file { const char *name; void (*put)(struct buf *out, const struct whisper_folder *f); };
extern const struct whisper_folder_file whisper_folder_files[]; /* the last one has no name */
#endif
