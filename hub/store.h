/* steno-hub: writes cache files so that others never see an incomplete one. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_STORE_H
#define STENO_HUB_STORE_H
#include "hub_error.h"
#include <stdint.h>

/* Calls return HUB_OK or a status with the reason in *e. */

int store_folders(const char *path, struct hub_error *e); /* creates the folders above `path` */
int store_has(const char *path, int64_t size);            /* is it a regular file, after links? size < 0: any size */

/* Writes `text` as a complete file, and replaces an older one. */
int store_text(const char *path, const char *text, struct hub_error *e);
/* The same in an open folder; `path` is its name in messages. */
int store_text_at(int at, const char *name, const char *path, const char *text, struct hub_error *e);

/* Creates a link to `target`, and replaces what exists. @return HUB_OK; HUB_EARG: the file system has no links */
int store_link(const char *path, const char *target, struct hub_error *e);

int store_rename(const char *from, const char *to, struct hub_error *e);

/* Free space at `path`, or at the first existing folder above it; -1: not known */
int64_t store_room(const char *path);

/* A lock that all clients of a hub take on the same file. The file stays, as with other clients. An existing folder can be locked, too. */
struct store_lock { int fd; }; /* -1: no lock, because the file system has none */
int store_lock(struct store_lock *l, const char *path, int (*stop)(void *user), void *user, struct hub_error *e);
void store_unlock(struct store_lock *l);
#endif
