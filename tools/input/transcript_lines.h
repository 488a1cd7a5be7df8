/* steno: reader for transcripts. SPDX-License-Identifier: MIT
 *
 * Reads all formats that the writers write: subtitles (output/sub_read.h), tsv, csv, json (also verbose_json, json_full, jsonl and funasr)
 * and plain text, with one entry per line. A line ends with LF, CR or both. */
#ifndef STENO_TOOLS_TRANSCRIPT_LINES_H
#define STENO_TOOLS_TRANSCRIPT_LINES_H
#include <stdint.h>
#include "json_scan.h"
#include "sub_read.h"

enum transcript_form { TRANSCRIPT_TEXT, TRANSCRIPT_CUES, TRANSCRIPT_TSV, TRANSCRIPT_CSV, TRANSCRIPT_JSON };

struct transcript_line {
    char *text;             /* without white space at both ends; points into the file's text or the reader */
    int64_t t0_ms, t1_ms;   /* -1: not in the file */
    int64_t number;         /* line number in the file; for JSON and cues the number of the segment; from 1 */
};

struct transcript_lines {
    enum transcript_form form;
    char *p;                /* remaining text */
    int64_t number;
    struct sub_file cues;   /* for subtitles */
    struct json_scan json;
    int in_segments, ms;    /* for JSON: depth of the current list, 0: none; ms: its times are in milliseconds */
    int is_bad;             /* the remaining text is not in the file's format */
    int has_no_memory, has_speakers; /* has_speakers: tsv or csv with a column for them */
};

/* Choose the form by the name's ending; if that is unknown, by the first bytes of the text. */
enum transcript_form transcript_form_of(const char *name, const char *text);

/* Begin to read the text of a file; the text is modified. Lines are valid up to transcript_lines_end. */
void transcript_lines_begin(struct transcript_lines *l, const char *name, char *text);
int transcript_line_next(struct transcript_lines *l, struct transcript_line *line); /* 0: no more lines, or is_bad, or has_no_memory */
void transcript_lines_end(struct transcript_lines *l);

/* The text of all lines of a file's text, which is modified; each has a line end. @return malloc'd text; NULL: *why is the reason,
 * or NULL for no memory */
char *transcript_lines_text(const char *name, char *text, const char **why);
#endif
