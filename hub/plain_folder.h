/* steno-hub: a repository's files in the user's folder. SPDX-License-Identifier: MIT
 *
 * The folder may hold the user's own files, too. So a file is replaced only if this program, or Hugging Face's client, has put it there and
 * it has not changed since. All targets are checked before the first byte is fetched. Folders below it are opened part by part from the
 * open folder, and no part may be a link. */
#ifndef STENO_HUB_PLAIN_FOLDER_H
#define STENO_HUB_PLAIN_FOLDER_H
#include "pull.h"

/* State of a target file. */
enum plain_state {
    PLAIN_FREE = 1,    /* does not exist */
    PLAIN_THERE = 2,   /* has the right bytes */
    PLAIN_REPLACED = 3 /* has other bytes, and may be replaced */
};

/* Checks the targets of all files in the list with non-zero take[i]. @return HUB_OK, with take[i] an enum plain_state, or a status with the
 * reason */
int plain_folder_look(const struct hub_pull *p, const struct hub_listing *list, char *take, struct hub_error *e);

/* Opens the folder of the file, and creates missing folders. If the name exists by now, it is an error, unless the state was
 * PLAIN_REPLACED. @return a descriptor, or -1 with *e */
int plain_folder_enter(const struct hub_pull *p, const struct hub_file *f, int state, struct hub_error *e);

/* Renames `partial`, a path in folder `at`, to the file's name. An existing file is not replaced, unless `state` is PLAIN_REPLACED and it
 * may still be replaced. */
int plain_folder_put(const struct hub_pull *p, int at, const char *partial, const struct hub_file *f, int state, struct hub_error *e);

/* Records the hash of the file, as Hugging Face's client does, which then does not fetch it again. */
int plain_folder_record(const struct hub_pull *p, const char *commit, const struct hub_file *f, struct hub_error *e);

/* Reads that hash. `file` is a path in the folder. @return 1, or 0: there is no such record */
int hub_plain_hash(char hash[HUB_HASH_SZ], const char *folder, const char *file);
#endif
