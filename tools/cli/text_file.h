/* steno: text files named by options and operands, whole or line by line. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TEXT_FILE_H
#define STENO_TOOLS_TEXT_FILE_H
#include <stddef.h>
#include <sys/types.h>

enum { TEXT_FILE_WHY = 160 };

enum text_file { TEXT_FILE_READ, TEXT_FILE_UNREADABLE, TEXT_FILE_TOO_LONG, TEXT_FILE_NO_TEXT, TEXT_FILE_NO_MEMORY };

/* Read the file at path into malloc'd memory, at most `most` bytes of UTF-8, with a NUL at the end. With `dash`, "-" is standard input.
 * Reading stops early at bytes that are not text, or above the limit. A FIFO without a writer is not waited for. A byte order mark
 * (U+FEFF) is removed. why[n] receives the reason, without the file's name. */
enum text_file text_file_read(char **text, const char *path, int dash, size_t most, char *why, size_t n);

/* As text_file_read, for any encoding: *len bytes, none of them zero, and a NUL after them. After TEXT_FILE_NO_TEXT they are those read so
 * far, with the zero and without the NUL; the caller frees them. */
enum text_file text_file_bytes(char **bytes, size_t *len, const char *path, int dash, size_t most, char *why, size_t n);

/* Check *text of `len` bytes, as read above, and remove its byte order mark. If it is not UTF-8, it is freed and set to NULL. */
enum text_file text_file_utf8(char **text, size_t len, char *why, size_t n);

size_t text_file_mark(const char *text); /* size of the byte order mark at the start: 0 or 3 */

/* ---- line by line, for input that may continue as long as the program runs: one line is in memory ---------------------------- */

enum { TEXT_LINE_MAX = 1 << 24 /* maximum bytes of a line of text; a book is shorter */ };

struct text_lines {
    int fd, is_fifo, has_begun, has_ended;
    size_t most;       /* maximum bytes of a line */
    char *bytes;       /* [cap] bytes at..n are unread; the first `seen` of them contain no line end */
    size_t at, n, seen, cap;
    long long number;  /* number of the last line returned, from 1 */
    long long passed;  /* bytes of the file before bytes[0] */
    long long end;     /* set by the caller: bytes of the file to read at most; -1: all */
    int is_cut;        /* the last line returned has no line end */
};

/* Open the file at `path`; with `dash`, "-" is standard input. Results and `why` are as in text_file_read. */
enum text_file text_lines_open(struct text_lines *l, const char *path, int dash, size_t most, char *why, size_t n);

/* The next line without its end and without a byte order mark, valid until the next call; NULL at the end. A line that is too long or
 * has a NUL is reported as soon as that is read. */
enum text_file text_lines_next(struct text_lines *l, char **line, char *why, size_t n);

long long text_lines_at(const struct text_lines *l); /* bytes of the file before the next line */

void text_lines_close(struct text_lines *l); /* {0} is allowed */
#endif
