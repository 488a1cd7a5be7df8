/* steno-serve: reader of multipart/form-data (RFC 7578), in pieces of any size. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_MULTIPART_H
#define STENO_SERVE_MULTIPART_H
#include <stddef.h>

enum { MULTIPART_BOUNDARY_MAX = 70, MULTIPART_HEAD_MAX = 8192, MULTIPART_NAME_SZ = 256, MULTIPART_PARTS_MAX = 256 };

struct multipart_part {
    char name[MULTIPART_NAME_SZ];
    char file[MULTIPART_NAME_SZ]; /* what is behind the last slash of either kind, without control characters; for messages only */
    int has_file;                 /* the part has a file name */
};

/* Each returns 0, or non-zero to stop. */
struct multipart_events {
    int (*part)(void *user, const struct multipart_part *p);
    int (*data)(void *user, const char *bytes, size_t n);
    int (*part_end)(void *user);
    void *user;
};

struct multipart;

/* @param content_type  value of the header. @return NULL with *why: not multipart/form-data, no boundary, too long, out of memory */
struct multipart *multipart_open(const char *content_type, const struct multipart_events *ev, const char **why);
int multipart_add(struct multipart *m, const char *bytes, size_t n); /* @return 0, or -1: failed (multipart_why), or a callback stopped */
int multipart_end(struct multipart *m);  /* @return 0, or -1: the body ended too early */
const char *multipart_why(const struct multipart *m); /* reason of a failure; NULL: none, or a callback stopped */
void multipart_close(struct multipart *m);
#endif
