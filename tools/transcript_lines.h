/* steno: the lines of a transcript, read back. SPDX-License-Identifier: MIT
 *
 * What the writers write: subtitles of any form (out/sub_read.h reads them), tsv, csv, json (verbose_json, json_full, jsonl and funasr,
 * too) and plain text, each line of which is one. A line ends with LF, CR or both. */
#ifndef STENO_TOOLS_TRANSCRIPT_LINES_H
#define STENO_TOOLS_TRANSCRIPT_LINES_H
#include <stdint.h>
#include "json_scan.h"
#include "sub_read.h"

enum transcript_form { TRANSCRIPT_TEXT, TRANSCRIPT_CUES, TRANSCRIPT_TSV, TRANSCRIPT_CSV, TRANSCRIPT_JSON };

struct transcript_line {
    char *text;             /* without white space at its ends; lies in the file's text, or in the reader */
    int64_t t0_ms, t1_ms;   /* -1: the file does not say */
    int64_t number;         /* of the line of the file, of JSON and cues that of the segment; from 1 */
};

struct transcript_lines {
    enum transcript_form form;
    char *p;                /* what is left */
    int64_t number;
    struct sub_file cues;   /* of subtitles */
    struct json_scan json;
    int in_segments, ms;    /* of JSON: depth of the list at hand, 0: in none; its times are in milliseconds */
    int is_bad;             /* what follows is no such file */
    int has_no_memory, has_speakers; /* of tsv and csv: a column for them */
};

/* By the end of the name; where that says nothing, by how the text begins. */
enum transcript_form transcript_form_of(const char *name, const char *text);

/* Begin to read the text of a file, which is used up. Lines are valid up to transcript_lines_end. */
void transcript_lines_begin(struct transcript_lines *l, const char *name, char *text);
int transcript_line_next(struct transcript_lines *l, struct transcript_line *line); /* 0: no more lines, or is_bad, or has_no_memory */
void transcript_lines_end(struct transcript_lines *l);
#endif
