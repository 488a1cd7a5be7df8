/* steno-hub: the table of named models. SPDX-License-Identifier: MIT
 *
 * The table is models/known.tsv; the build converts it to an array of lines. models/openai.tsv lists the files of openai-whisper. */
#ifndef STENO_HUB_KNOWN_H
#define STENO_HUB_KNOWN_H
#include "listing.h"

struct hub_known {
    size_t row;            /* index of its first file */
    char text[640];        /* memory of the texts below */
    const char *name, *aliases, *repo, *commit, *file, *family, *languages, *licence; /* "" if absent */
    const char *sha256;
    int hub;               /* enum hub_kind */
    int64_t size;          /* of this file, -1: not known */
    int about_mb;          /* of all files, if sizes are not known; 0: no figure */
    int memory_mb;
};

/* Row `i` of the table. @return 1, or 0 after the last */
int hub_known_row(struct hub_known *k, size_t i);
/* The model with that name or alias, case-insensitive. @return 1, or 0: there is none */
int hub_known_find(struct hub_known *k, const char *name);
/* The first row of a model that can have a file of that name. */
int hub_known_file(struct hub_known *k, const char *file);
int hub_known_is_first(const struct hub_known *k); /* the row describes a model */

/* All its files, if their hashes are known. @return 1, or 0: the hub must be asked; or -1 with an error */
int hub_known_files(struct hub_listing *l, const struct hub_known *k, struct hub_error *e);

/* The hash of any file with this name: ggml-*.bin of the table, and openai-whisper's files. @param size  receives -1 if not known @return
 * 1, or 0: the name has no fixed content */
int hub_known_digest(char hash[HUB_HASH_SZ], int64_t *size, const char *file);

extern const char *const hub_known_lines[], *const hub_openai_lines[]; /* end with NULL */
#endif
