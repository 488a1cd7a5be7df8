/* steno-hub: files of a cache, written so that others never see half of one. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_STORE_H
#define STENO_HUB_STORE_H
#include "hub_error.h"
#include <stdint.h>

/* Calls return HUB_OK or a status with the reason in *e. */

int store_folders(const char *path, struct hub_error *e); /* those that `path` lies in */
int store_has(const char *path, int64_t size);            /* a regular file, links followed; size < 0: of any size */

/* `text` as a whole file, over an older one. */
int store_text(const char *path, const char *text, struct hub_error *e);
/* The same in an open folder; `path` is what it is called in messages. */
int store_text_at(int at, const char *name, const char *path, const char *text, struct hub_error *e);

/* A link that points at `target`, over what is there. @return HUB_OK; HUB_EARG: this file system has no links */
int store_link(const char *path, const char *target, struct hub_error *e);

int store_rename(const char *from, const char *to, struct hub_error *e);

/* Bytes that may still be written where `path`, or the first folder above it that exists, lies; -1: it is not known */
int64_t store_room(const char *path);

/* A lock that all clients of a hub take at the same file. It stays there, as theirs does. A folder that is there can be locked, too. */
struct store_lock { int fd; }; /* -1: none was to be had, because the file system has no locks */
int store_lock(struct store_lock *l, const char *path, int (*stop)(void *user), void *user, struct hub_error *e);
void store_unlock(struct store_lock *l);
#endif
