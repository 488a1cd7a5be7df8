/* steno-hub: the files of a repository, as a hub lists them. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_LISTING_H
#define STENO_HUB_LISTING_H
#include "hub_error.h"
#include "hub_name.h"
#include <stddef.h>
#include <stdint.h>

struct hub_file {
    char *path;              /* inside the repository; hub_path_fault finds nothing */
    int64_t size;
    char hash[HUB_HASH_SZ];  /* 64 digits: sha256 of the content; 40: git's sha1 of it */
    char blob[41];           /* git's own name of it, "": not known; of a large file that of what stands for it */
    char xet[HUB_HASH_SZ];   /* another name, which others write down */
    int is_lfs;
};

struct hub_listing {
    struct hub_file *f;
    size_t n, cap;
};

/* What a caller may give to a repository: more files are no model. */
enum { HUB_MOST_FILES = 20000 };

int hub_listing_add(struct hub_listing *l, const char *path, int64_t size, const char *hash, struct hub_error *e);
const struct hub_file *hub_listing_find(const struct hub_listing *l, const char *path);
void hub_listing_free(struct hub_listing *l);

/* Add what an answer lists; `text` is used up. `from` is whose answer it is, for messages.
 * Files whose names could lead out of a folder are an error, not left out: such a repository is not to be trusted. */
int hub_listing_hf(struct hub_listing *l, char *text, const char *from, struct hub_error *e);
int hub_listing_ms(struct hub_listing *l, char *text, const char *from, struct hub_error *e);

/* The commit in Hugging Face's answer about a revision. */
int hub_commit_hf(char commit[41], char *text, const char *from, struct hub_error *e);

/* The commit and the names of all files in that answer; sizes are -1, hashes "". */
int hub_names_hf(struct hub_listing *l, char commit[41], char *text, const char *from, struct hub_error *e);

/* Names of repositories in the answer to a search. */
struct hub_hit { char id[HUB_ID_SZ]; int64_t downloads, likes; };
/* @return how many, at most `most`; -1 with an error */
int hub_hits_hf(struct hub_hit *h, int most, char *text, const char *from, struct hub_error *e);
int hub_hits_ms(struct hub_hit *h, int most, char *text, const char *from, struct hub_error *e);
#endif
