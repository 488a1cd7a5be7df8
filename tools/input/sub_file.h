/* steno: files of subtitles and of other transcripts, before they are read. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SUB_FILE_H
#define STENO_TOOLS_SUB_FILE_H
#include "cli/text_file.h"

/* As text_file_bytes and text_file_read with `dash`. A format of subtitles or documents that is not read is named in why[n], also where
 * its bytes are not text in UTF-8: TEXT_FILE_NO_TEXT. */
enum text_file sub_file_bytes(char **bytes, size_t *len, const char *path, size_t most, char *why, size_t n);
enum text_file sub_file_text(char **text, const char *path, size_t most, char *why, size_t n);
#endif
