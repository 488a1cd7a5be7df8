/* steno: writers of results, one file each. SPDX-License-Identifier: MIT
 *
 * The bytes of txt, srt, vtt, tsv and json equal those of openai-whisper's writers, csv and lrc whisper.cpp's; verbose_json is the OpenAI
 * API's object and jsonl a line per input. wts is a script that burns words into a picture as they are said, ass the subtitles in it, and
 * score has a line per token; json_full is whisper.cpp's object with them. A writer does not look at errors of the stream: whoever owns the
 * stream does. */
#ifndef STENO_TOOLS_WRITE_H
#define STENO_TOOLS_WRITE_H
#include "font.h"
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

/* How subtitles are laid out; a limit of 0 is none. */
struct write_layout {
    int32_t max_line_width;     /* code points of a line */
    int32_t max_line_count;     /* lines of a cue; with a width, cues run on from segment to segment */
    int32_t max_words_per_line; /* words of a cue */
    int32_t highlight_words;    /* 1: srt and vtt underline each word while it is said */
    char font[FONT_NAME_SZ];    /* ass and wts: by name, "" is sans-serif */
    const char *font_file;      /* where that font is; NULL: installed */
};

enum { WRITE_SPEAKER_UNKNOWN = -1 };

struct transcript {
    const steno_segment *segs; /* [n] */
    int n;
    const char *text;     /* of the whole file */
    const char *language; /* code */
    int32_t first_timestamp; /* id of the token that means 0.00 s, -1: the model has no such tokens */
    int32_t index_offset;    /* added to the numbers of subtitles */
    int32_t task;            /* enum steno_task */
    int32_t word_times;      /* 1: subtitles are made of words, and JSON lists them */
    int32_t token_times;     /* 1: JSON has the times of tokens */
    int64_t duration_ms;     /* of the audio */
    uint32_t lost;           /* bits of what could not be heard of it, in the order of write_json_lost's words */
    const steno_word *words;    /* of all segments, in order */
    const int32_t *first_word;  /* [n] where those of a segment begin; it has segs[i].n_words */
    const steno_token *tokens;  /* of all segments, in order; score only */
    const int32_t *first_token; /* [n] where those of a segment begin; it has segs[i].n_tokens */
    const int32_t *speakers;    /* [n] 0, 1, ... or WRITE_SPEAKER_UNKNOWN; NULL: nobody asked */
    const steno_model *model;   /* what tokens say; score only */
    const struct write_layout *layout; /* NULL: no limits */
    const struct write_record *record; /* jsonl, and the input's name for wts */
};

struct writer {
    const char *name; /* of the format */
    const char *extension; /* of its files */
    void (*write)(FILE *f, const struct transcript *t);
    int ends_line; /* whether the file ends with a newline, or is empty */
};

extern const struct writer writers[]; /* in the order of WRITER_NAMES; ends with a NULL name */
#define WRITER_NAMES "txt|srt|vtt|tsv|json|verbose_json|jsonl|csv|lrc|wts|ass|score|json_full"
enum { WRITER_TXT, WRITER_SRT, WRITER_VTT, WRITER_TSV, WRITER_JSON, WRITER_VERBOSE_JSON, WRITER_JSONL, WRITER_CSV, WRITER_LRC, WRITER_WTS,
       WRITER_ASS, WRITER_SCORE, WRITER_JSON_FULL, N_WRITERS };
enum { N_WRITERS_ALL = 5 }; /* "all" means the reference's five */

void write_txt(FILE *f, const struct transcript *t);
void write_srt(FILE *f, const struct transcript *t);
void write_vtt(FILE *f, const struct transcript *t);
void write_tsv(FILE *f, const struct transcript *t);
void write_json(FILE *f, const struct transcript *t);
void write_verbose_json(FILE *f, const struct transcript *t);
void write_jsonl(FILE *f, const struct transcript *t); /* t->record must be set; of a failed input only the record is read */
void write_csv(FILE *f, const struct transcript *t);
void write_lrc(FILE *f, const struct transcript *t);
void write_wts(FILE *f, const struct transcript *t);
void write_ass(FILE *f, const struct transcript *t);
void write_score(FILE *f, const struct transcript *t);
void write_json_full(FILE *f, const struct transcript *t);

/* What the formats share. */
void write_stripped(FILE *f, const char *text);                   /* without white space at the ends */
void write_time(FILE *f, int64_t ms, int always_hours, char sep); /* [HH:]MM:SS<sep>mmm */

/* Who speaks: "(speaker 0) ", "(speaker ?) " where that is not known, nothing where nobody asked. */
void write_speaker(FILE *f, const int32_t *speaker);
void write_speaker_column(FILE *f, const struct transcript *t, int seg, char sep); /* "0", "?" and the separator, or nothing */
const int32_t *write_speaker_of(const struct transcript *t, int seg); /* @return NULL: nobody asked */
#define WRITE_SPEAKER_TURN " [SPEAKER_TURN]" /* behind a segment that another speaker goes on after */

/* The segments as a JSON list. What is no number, or a time that is not known, reads null.  */
void write_json_segments(FILE *f, const struct transcript *t);
void write_json_lost(FILE *f, const struct transcript *t, int always); /* what of the sound is missing; always: also nothing */
void write_json_number(FILE *f, double value);
void write_json_stripped(FILE *f, const char *text); /* a string without white space at the ends */

/* Start and end in seconds, in the very doubles that the reference computes. */
void write_seconds(const steno_segment *s, int32_t first_timestamp, double *start, double *end);
#endif
