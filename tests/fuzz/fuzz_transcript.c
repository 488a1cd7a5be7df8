/* steno: fuzzing of the reader of transcripts. SPDX-License-Identifier: MIT
 *
 * The first byte selects the form, the rest is the file. Lines are never empty, have no white space at their ends, and lie in the file. */
#include <stdlib.h>
#include <string.h>
#include "input/transcript_lines.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const names[] = { "a.txt", "a.srt", "a.tsv", "a.csv", "a.lrc", "a.json", "a", "a.vtt", "a.ass", "a.sbv", "a.wts" };
    enum { N_NAMES = sizeof names / sizeof *names };
    if (!n) return 0;
    char *text = malloc(n);
    if (!text) return 0;
    memcpy(text, data + 1, n - 1);
    text[n - 1] = '\0';
    struct transcript_lines l;
    struct transcript_line line;
    transcript_lines_begin(&l, names[data[0] % N_NAMES], text);
    const char *const from = l.form == TRANSCRIPT_CUES ? l.cues.text : text;
    const char *const end = from + (l.form == TRANSCRIPT_CUES ? l.cues.text_n : n);
    for (size_t count = 0; transcript_line_next(&l, &line); count++) {
        size_t len = strlen(line.text);
        if (line.text < from || line.text + len > end || !len || count > n || line.number < 1) abort();
        if (utf8_strip(line.text, &len) != line.text || len != strlen(line.text)) abort();
    }
    transcript_lines_end(&l);
    free(text);
    return 0;
}
