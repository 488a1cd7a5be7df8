/* steno: the lines of a transcript, read back. SPDX-License-Identifier: MIT
 *
 * What the writers write: srt, vtt, tsv, csv, lrc, json (verbose_json, json_full, jsonl and funasr, too) and plain text, each line of
 * which is one. A file's text is walked once, and nothing of it is kept. */
#ifndef STENO_TOOLS_TRANSCRIPT_LINES_H
#define STENO_TOOLS_TRANSCRIPT_LINES_H
#include <stdint.h>
#include "json_scan.h"

enum transcript_form { TRANSCRIPT_TEXT, TRANSCRIPT_CUES, TRANSCRIPT_TSV, TRANSCRIPT_CSV, TRANSCRIPT_LRC, TRANSCRIPT_JSON };

struct transcript_line {
    char *text;             /* without white space at its ends; lies in the file's text */
    int64_t t0_ms, t1_ms;   /* -1: the file does not say */
    int64_t number;         /* of the line of the file, of JSON and cues that of the segment; from 1 */
};

struct transcript_lines {
    enum transcript_form form;
    char *p;                /* what is left */
    int64_t number;
    struct json_scan json;
    int in_segments, ms;    /* of JSON: depth of the list at hand, 0: in none; its times are in milliseconds */
    int is_bad;             /* what follows is no such file */
};

/* By the end of the name; where that says nothing, by how the text begins. text is used up. */
enum transcript_form transcript_form_of(const char *name, const char *text);
void transcript_lines_begin(struct transcript_lines *l, enum transcript_form form, char *text);
int transcript_line_next(struct transcript_lines *l, struct transcript_line *line); /* 0: there are no more, or is_bad */
#endif
