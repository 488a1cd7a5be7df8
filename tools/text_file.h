/* steno: text files that options and operands name. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TEXT_FILE_H
#define STENO_TOOLS_TEXT_FILE_H
#include <stddef.h>

enum { TEXT_FILE_WHY = 160 };

enum text_file { TEXT_FILE_READ, TEXT_FILE_UNREADABLE, TEXT_FILE_TOO_LONG, TEXT_FILE_NO_TEXT, TEXT_FILE_NO_MEMORY };

/* All of the file at path (with `dash`, "-" is standard input), UTF-8 of `most` bytes at most, ended by a NUL, in malloc'd memory. What is
 * no text, or goes on and on, is not read to its end; a FIFO that nobody writes to is not waited for. why[n]: the reason, without the
 * file's name. */
enum text_file text_file_read(char **text, const char *path, int dash, size_t most, char *why, size_t n);

/* The same, in whatever encoding: *len bytes without a zero among them, and one behind them. */
enum text_file text_file_bytes(char **bytes, size_t *len, const char *path, int dash, size_t most, char *why, size_t n);
#endif
