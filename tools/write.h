/* steno: writers of results, one file each. SPDX-License-Identifier: MIT
 *
 * The bytes of txt, srt, vtt, tsv and json equal those of openai-whisper's writers, csv and lrc whisper.cpp's; verbose_json is the OpenAI
 * API's object and jsonl a line per input. A writer does not look at errors of the stream: whoever owns the stream does. */
#ifndef STENO_TOOLS_WRITE_H
#define STENO_TOOLS_WRITE_H
#include <steno/steno.h>
#include <stdio.h>

/* What a line of jsonl says beside the transcript. */
struct write_record {
    const char *input;  /* as it was named */
    const char *sha256; /* of the input file in hex, NULL: not known (a pipe) */
    const char *model;  /* path, NULL: not known */
    const char *error;  /* why there is no transcript, NULL: there is one */
    void (*options)(FILE *f, const void *opts); /* writes an object; NULL: none is known */
    const void *opts;
};

struct transcript {
    const steno_segment *segs; /* [n] */
    int n;
    const int32_t *speakers;    /* [n] 0, 1, ... or -1 for not known; NULL: nobody asked */
    const char *text;     /* of the whole file */
    const char *language; /* code */
    int32_t first_timestamp; /* id of the token that means 0.00 s, -1: the model has no such tokens */
    int32_t index_offset;    /* added to the numbers of subtitles */
    int32_t task;            /* enum steno_task */
    int64_t duration_ms;     /* of the audio */
    const struct write_record *record; /* jsonl only */
};

struct writer {
    const char *name; /* of the format, and the extension of its files */
    void (*write)(FILE *f, const struct transcript *t);
    int ends_line; /* whether the file ends with a newline, or is empty */
};

extern const struct writer writers[]; /* in the order of WRITER_NAMES; ends with a NULL name */
#define WRITER_NAMES "txt|srt|vtt|tsv|json|verbose_json|jsonl|csv|lrc"
enum { WRITER_TXT = 0, WRITER_JSONL = 6, N_WRITERS = 9, N_WRITERS_ALL = 5 }; /* "all" means the reference's five */

void write_txt(FILE *f, const struct transcript *t);
void write_srt(FILE *f, const struct transcript *t);
void write_vtt(FILE *f, const struct transcript *t);
void write_tsv(FILE *f, const struct transcript *t);
void write_json(FILE *f, const struct transcript *t);
void write_verbose_json(FILE *f, const struct transcript *t);
void write_jsonl(FILE *f, const struct transcript *t); /* t->record must be set; of a failed input only the record is read */
void write_csv(FILE *f, const struct transcript *t);
void write_lrc(FILE *f, const struct transcript *t);

/* What the formats share. */
void write_stripped(FILE *f, const char *text);                   /* without white space at the ends */
void write_cue_text(FILE *f, const char *text);                   /* stripped, with "-->" as "->" */
void write_time(FILE *f, int64_t ms, int always_hours, char sep); /* [HH:]MM:SS<sep>mmm */

/* The segments as a JSON list. What is no number, or a time that is not known, reads NaN as the reference writes it, or null. */
enum write_nan { WRITE_NAN, WRITE_NULL };
void write_json_segments(FILE *f, const struct transcript *t, enum write_nan nan);
void write_json_number(FILE *f, double value, enum write_nan nan);
void write_json_stripped(FILE *f, const char *text); /* a string without white space at the ends */

/* Start and end in seconds, in the very doubles that the reference computes. */
void write_seconds(const steno_segment *s, int32_t first_timestamp, double *start, double *end);
#endif
