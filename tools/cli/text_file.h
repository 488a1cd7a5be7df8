/* steno: text files named by options and operands. SPDX-License-Identifier: MIT */
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

/* As text_file_read, for any encoding: *len bytes, none of them zero, and a NUL after them. */
enum text_file text_file_bytes(char **bytes, size_t *len, const char *path, int dash, size_t most, char *why, size_t n);

/* ---- also used for reading lines ------ */

/* @return a descriptor, STDIN_FILENO for "-", or -1 with errno set */
int text_file_open(const char *path, int dash, int *is_fifo);

/* Read the bytes available now, at most n. Waits for a connected writer, and briefly for a writer that may still come. @return as read() */
ssize_t text_file_some(int fd, char *to, size_t n, int is_fifo, int has_begun);

int text_file_is_utf16(const char *bytes, size_t n); /* does a text with this start look like UTF-16? */
size_t text_file_mark(const char *text);             /* size of the byte order mark: 0 or 3 */
extern const char text_file_no_writer[], text_file_utf16[];
#endif
