/* steno: fuzzing of the reader of transcripts. SPDX-License-Identifier: MIT
 *
 * The first byte says the form, the rest is the file. Lines are never empty, have no white space at their ends, and lie in the file. */
#include <stdlib.h>
#include <string.h>
#include "transcript_lines.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const names[] = { "a.txt", "a.srt", "a.tsv", "a.csv", "a.lrc", "a.json", "a" };
    if (!n) return 0;
    char *text = malloc(n);
    if (!text) return 0;
    memcpy(text, data + 1, n - 1);
    text[n - 1] = '\0';
    const char *const end = text + strlen(text);
    struct transcript_lines l;
    struct transcript_line line;
    transcript_lines_begin(&l, transcript_form_of(names[data[0] % 7], text), text);
    for (size_t count = 0; transcript_line_next(&l, &line); count++) {
        size_t len = strlen(line.text);
        if (line.text < text || line.text + len > end || !len || count > n || line.number < 1) abort();
        if (utf8_strip(line.text, &len) != line.text || len != strlen(line.text)) abort();
    }
    free(text);
    return 0;
}
