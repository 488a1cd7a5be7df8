/* steno-hub: files of a repository in a folder of the caller's. SPDX-License-Identifier: MIT
 *
 * The folder holds the caller's own files, too, so nothing is replaced there that this program, or Hugging Face's client, has not put
 * there itself and that has not changed since. All targets are looked at before the first byte is fetched. Folders below it are reached
 * part by part from the open folder, and no part may be a link. */
#ifndef STENO_HUB_PLAIN_FOLDER_H
#define STENO_HUB_PLAIN_FOLDER_H
#include "pull.h"

/* What stands at the name of a file. */
enum plain_state {
    PLAIN_FREE = 1,    /* nothing */
    PLAIN_THERE = 2,   /* its bytes */
    PLAIN_REPLACED = 3 /* other bytes, which may be replaced */
};

/* Look at all that would be written for files of the list whose take[i] is not 0. @return HUB_OK, with take[i] an enum plain_state, or a
 * status, with the reason */
int plain_folder_look(const struct hub_pull *p, const struct hub_listing *list, char *take, struct hub_error *e);

/* Open the folder that the file lies in, and make what is missing of it. A name that is taken by now is an error unless it was
 * PLAIN_REPLACED. @return a descriptor, or -1 with *e */
int plain_folder_enter(const struct hub_pull *p, const struct hub_file *f, int state, struct hub_error *e);

/* Give the file `partial`, a path whose folder is `at`, the name that `f` has there. A name that is taken is left as it is, but with
 * `state` PLAIN_REPLACED where what stands there may still be replaced. */
int plain_folder_put(const struct hub_pull *p, int at, const char *partial, const struct hub_file *f, int state, struct hub_error *e);

/* Write down which bytes the file has, as Hugging Face's client does: it fetches nothing then that is here. */
int plain_folder_record(const struct hub_pull *p, const char *commit, const struct hub_file *f, struct hub_error *e);

/* The hash that was written down so. `file` is a path in the folder. @return 1, or 0: there is no such record */
int hub_plain_hash(char hash[HUB_HASH_SZ], const char *folder, const char *file);
#endif
