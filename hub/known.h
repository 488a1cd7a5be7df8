/* steno-hub: models that have a name. SPDX-License-Identifier: MIT
 *
 * The table is models/known.tsv; the build makes an array of its lines. models/openai.tsv has what openai-whisper fetches. */
#ifndef STENO_HUB_KNOWN_H
#define STENO_HUB_KNOWN_H
#include "listing.h"

struct hub_known {
    size_t row;            /* of its first file */
    char text[640];        /* what the others point into */
    const char *name, *aliases, *repo, *commit, *file, *family, *languages, *licence; /* "" is nothing */
    const char *sha256;
    int hub;               /* enum hub_kind */
    int64_t size;          /* of this file, -1: not known */
    int about_mb;          /* of all files, where no size is known; 0: there is no such figure */
    int memory_mb;
};

/* Row `i` of the table. @return 1, or 0 behind the last */
int hub_known_row(struct hub_known *k, size_t i);
/* The model of that name or alias, in any case of its letters. @return 1, or 0: there is none */
int hub_known_find(struct hub_known *k, const char *name);
/* The first row of a model that a file of that name may be. */
int hub_known_file(struct hub_known *k, const char *file);
int hub_known_is_first(const struct hub_known *k); /* the row describes a model */

/* All its files, where their hashes are known. @return 1, or 0: the hub has to be asked; or -1 with an error */
int hub_known_files(struct hub_listing *l, const struct hub_known *k, struct hub_error *e);

/* The hash that a file of this name has wherever it lies: ggml-*.bin of the table, and openai-whisper's.
 * @param size  receives -1 where that is not known
 * @return 1, or 0: it may be anything */
int hub_known_digest(char hash[HUB_HASH_SZ], int64_t *size, const char *file);

extern const char *const hub_known_lines[], *const hub_openai_lines[]; /* up to a NULL */
#endif
