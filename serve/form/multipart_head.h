/* steno-serve: header fields of a form's parts. SPDX-License-Identifier: MIT
 *
 * Functions over text that is complete. Only multipart*.c use them. */
#ifndef STENO_SERVE_MULTIPART_HEAD_H
#define STENO_SERVE_MULTIPART_HEAD_H
#include "multipart.h"

/* The boundary in a Content-Type. @return NULL, or what is wrong with it */
const char *multipart_boundary(char boundary[MULTIPART_BOUNDARY_MAX + 1], const char *content_type);

/* A part's head: lines that end with CR LF, without the empty line. head[n] is changed. @return NULL, or what is wrong with it */
const char *multipart_head(struct multipart_part *p, char *head, size_t n);
#endif
