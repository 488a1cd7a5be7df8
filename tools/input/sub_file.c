/* steno: files of subtitles and of other transcripts, before they are read. SPDX-License-Identifier: MIT */
#include "input/sub_file.h"
#include "sub_read.h"
#include <stdio.h>
#include <stdlib.h>

enum text_file sub_file_bytes(char **bytes, size_t *len, const char *path, size_t most, char *why, size_t n)
{
    enum text_file how = text_file_bytes(bytes, len, path, 1, most, why, n);
    const char *other = *bytes ? sub_unread_form(*bytes, *len) : NULL;
    if (other) {
        snprintf(why, n, "it is %s, which steno does not read; save it as .srt or .vtt", other);
        how = TEXT_FILE_NO_TEXT;
    }
    if (how == TEXT_FILE_READ) return how;
    free(*bytes);
    *bytes = NULL;
    return how;
}

enum text_file sub_file_text(char **text, const char *path, size_t most, char *why, size_t n)
{
    size_t len;
    const enum text_file how = sub_file_bytes(text, &len, path, most, why, n);
    return how == TEXT_FILE_READ ? text_file_utf8(text, len, why, n) : how;
}
