/* steno: writers of results, one file each. SPDX-License-Identifier: MIT
 *
 * Their bytes equal those of openai-whisper's writers. A writer does not look at errors of the stream: whoever owns the stream does. */
#ifndef STENO_TOOLS_WRITE_H
#define STENO_TOOLS_WRITE_H
#include <steno/steno.h>
#include <stdio.h>

struct transcript {
    const steno_segment *segs; /* [n] */
    int n;
    const char *text;     /* of the whole file */
    const char *language; /* code */
    int32_t first_timestamp; /* id of the token that means 0.00 s */
    int32_t index_offset;    /* added to the numbers of subtitles */
};

struct writer {
    const char *name; /* of the format, and the extension of its files */
    void (*write)(FILE *f, const struct transcript *t);
};

extern const struct writer writers[]; /* in the order of WRITER_NAMES; ends with a NULL name */
#define WRITER_NAMES "txt|srt|vtt|tsv|json"
enum { N_WRITERS = 5 };

void write_txt(FILE *f, const struct transcript *t);
void write_srt(FILE *f, const struct transcript *t);
void write_vtt(FILE *f, const struct transcript *t);
void write_tsv(FILE *f, const struct transcript *t);
void write_json(FILE *f, const struct transcript *t);

/* What the formats share. */
void write_stripped(FILE *f, const char *text);                   /* without white space at the ends */
void write_cue_text(FILE *f, const char *text);                   /* stripped, with "-->" as "->" */
void write_time(FILE *f, int64_t ms, int always_hours, char sep); /* [HH:]MM:SS<sep>mmm */

/* Start and end in seconds, in the very doubles that the reference computes. */
void write_seconds(const steno_segment *s, int32_t first_timestamp, double *start, double *end);
#endif
