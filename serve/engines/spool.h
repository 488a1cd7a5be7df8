/* steno-serve: temporary files without a name, under one limit. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_SPOOL_H
#define STENO_SERVE_SPOOL_H
#include <stddef.h>
#include <stdint.h>
#include <steno/steno.h>

struct spool;
int spool_open(struct spool **out, const char *dir, int64_t max_bytes, steno_error *e); /* dir NULL: TMPDIR is the caller's matter: /tmp */
void spool_close(struct spool *s); /* after its last file */
int64_t spool_bytes(const struct spool *s); /* in use now */
int64_t spool_max(const struct spool *s);

struct spool_file; /* unlinked at once: it goes with its last descriptor */
int spool_file_open(struct spool_file **out, struct spool *s);
/* Append. @return STENO_OK, STENO_EFULL (limit or disk), STENO_EIO */
enum { STENO_EFULL = -100 };
int spool_write(struct spool_file *f, const void *bytes, size_t n);
int spool_read(const struct spool_file *f, void *bytes, size_t n, int64_t at); /* all n. @return STENO_OK, STENO_EIO; any thread */
int64_t spool_size(const struct spool_file *f);
int spool_fd(const struct spool_file *f);
void spool_file_close(struct spool_file *f); /* NULL is allowed; gives its bytes back */
#endif
