/* steno: bounded JSON reader. SPDX-License-Identifier: MIT
 *
 * One event per call and no tree: a file costs only its own size. Strings are decoded in place, since no escape is shorter than its
 * character, and nesting is a word of bits. RFC 8259 to the letter; U+0000 is refused, so that every string ends in a NUL. The common
 * libraries lose characters when memory runs out, and build a tree of many times the size. */
#ifndef STENO_LOAD_JSON_READER_H
#define STENO_LOAD_JSON_READER_H
#include "base/arena.h"
#include "base/file.h"

enum json_event {
    JSON_FAILED, JSON_EOF, JSON_OBJECT, JSON_ARRAY, JSON_CLOSE, /* CLOSE: of the innermost object or array */
    JSON_KEY, JSON_TEXT, JSON_INT, JSON_NUM, JSON_BOOL, JSON_NULL
};

enum { JSON_DEPTH = 64 };

struct json_reader {
    const char *name;     /* of the file */
    char *text;           /* [n + 1], from the arena; overwritten during reading */
    size_t n, at;
    uint64_t base;        /* offset of text in the file */
    uint32_t line;
    int depth, want;
    uint64_t is_object;   /* bit d: level d is an object */
    const char *why;      /* NULL, or the error in the text; sticky */

    size_t start;         /* of the last event, for messages */
    char *s;              /* KEY, TEXT: well-formed UTF-8 with a NUL at its end; stays valid */
    size_t len;
    int64_t i;            /* INT, BOOL */
    double x;             /* NUM, INT; a whole number beyond 64 bits is NUM */
};

/* Read n bytes of the file at off. */
int json_open(struct json_reader *j, const struct file *f, uint64_t off, uint64_t n, struct arena *a, steno_error *e);
enum json_event json_next(struct json_reader *j);
/* Skip to the end of the value whose first event was `kind`. */
void json_skip(struct json_reader *j, enum json_event kind);
/* STENO_EFORMAT with file, line and byte: the error in the text if there is one, otherwise this message. */
int json_fail(const struct json_reader *j, steno_error *e, const char *fmt, ...) PRINTF_LIKE(3, 4);
#endif
