/* steno: text files that options and operands name. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TEXT_FILE_H
#define STENO_TOOLS_TEXT_FILE_H
#include <stddef.h>
#include <sys/types.h>

enum { TEXT_FILE_WHY = 160 };

enum text_file { TEXT_FILE_READ, TEXT_FILE_UNREADABLE, TEXT_FILE_TOO_LONG, TEXT_FILE_NO_TEXT, TEXT_FILE_NO_MEMORY };

/* All of the file at path (with `dash`, "-" is standard input), UTF-8 of `most` bytes at most, ended by a NUL, in malloc'd memory. What is
 * no text, or goes on and on, is not read to its end; a FIFO that nobody writes to is not waited for. The mark that some editors set
 * before a text (U+FEFF) is left out. why[n]: the reason, without the file's name. */
enum text_file text_file_read(char **text, const char *path, int dash, size_t most, char *why, size_t n);

/* The same, in whatever encoding: *len bytes without a zero among them, and one behind them. */
enum text_file text_file_bytes(char **bytes, size_t *len, const char *path, int dash, size_t most, char *why, size_t n);

/* ---- what lines are read with, too ---- */

/* @return a descriptor, STDIN_FILENO for "-", or -1 with errno set */
int text_file_open(const char *path, int dash, int *is_fifo);

/* What is to be had now, at most n bytes; waits for a writer that is there, and a little for one that may come. As read() */
ssize_t text_file_some(int fd, char *to, size_t n, int is_fifo, int has_begun);

int text_file_is_utf16(const char *bytes, size_t n); /* does a text that begins so seem to be UTF-16? */
size_t text_file_mark(const char *text);             /* bytes of the mark before a text: 0 or 3 */
extern const char text_file_no_writer[], text_file_utf16[];
#endif
