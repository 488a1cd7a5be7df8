/* steno-hub: the files of a repository, from a hub's response, and which of them to download. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_LISTING_H
#define STENO_HUB_LISTING_H
#include "hub_error.h"
#include "hub_name.h"
#include <stddef.h>
#include <stdint.h>

/* ---- from a response --------------------------------------------------------------------------------------------------------- */

struct hub_file {
    char *path;              /* inside the repository; checked with hub_path_fault */
    int64_t size;
    char hash[HUB_HASH_SZ];  /* 64 digits: sha256 of the content; 40: git's sha1 of it */
    char blob[41];           /* git's name of the file, "": not known; of a large file, that of its pointer */
    char xet[HUB_HASH_SZ];   /* an additional name, which other clients record */
    int is_lfs;
};

struct hub_listing {
    struct hub_file *f;
    size_t n, cap;
};

/* Maximum number of files in a repository; no model has more. */
enum { HUB_MOST_FILES = 20000 };

int hub_listing_add(struct hub_listing *l, const char *path, int64_t size, const char *hash, struct hub_error *e);
const struct hub_file *hub_listing_find(const struct hub_listing *l, const char *path);
void hub_listing_free(struct hub_listing *l);

/* Adds the files of a response; `text` is overwritten. `from`: the sender, for messages. A file name that could lead out of a folder is an
 * error, because such a repository cannot be trusted. */
int hub_listing_hf(struct hub_listing *l, char *text, const char *from, struct hub_error *e);
int hub_listing_ms(struct hub_listing *l, char *text, const char *from, struct hub_error *e);

/* The commit in Hugging Face's data of a revision. */
int hub_commit_hf(char commit[41], char *text, const char *from, struct hub_error *e);

/* The commit and the names of all files in these data; sizes are -1, hashes "". */
int hub_names_hf(struct hub_listing *l, char commit[41], char *text, const char *from, struct hub_error *e);

/* Names of repositories in a search response. */
struct hub_hit { char id[HUB_ID_SZ]; int64_t downloads, likes; };
/* @return their number, at most `most`; -1 with an error */
int hub_hits_hf(struct hub_hit *h, int most, char *text, const char *from, struct hub_error *e);
int hub_hits_ms(struct hub_hit *h, int most, char *text, const char *from, struct hub_error *e);

/* ---- which files to download ------------------------------------------------------------------------------------------------- */

/* Selects the files requested by name. Without names, selects those that a loader reads, by exact names, because a repository may hold the
 * same weights three times. @param take  [l->n], receives 1 for each selected file @return HUB_OK; HUB_EABSENT: there is no such file, no
 * model, or several of which one must be named */
int hub_select(char *take, const struct hub_listing *l, const char *const *files, size_t n_files, const char *id, struct hub_error *e);

/* Is it a single-file model, by its name? */
int hub_is_single(const char *path);
/* Is it NeMo's, by its name? Beside one single file of another form, the other is taken. */
int hub_is_nemo(const char *path);
#endif
