/* steno: results as bytes. SPDX-License-Identifier: MIT
 *
 * The writers of libsteno-output, which the program, servers and bindings share, so a result has the same bytes everywhere. The library
 * uses public headers only. Nothing in it prints, ends the process or reads the environment. Copy a transcript from a session
 * (transcript.h), split it if necessary (reshape.h), and pass it to a writer with your own sink (sink.h).
 *
 * The bytes of txt, srt, vtt, tsv and json equal those of openai-whisper's writers, csv and lrc those of whisper.cpp. verbose_json is the
 * OpenAI API's object. jsonl has one record per line: the job, each input, the totals. wts is a script that burns words into a video as
 * they are spoken, and ass has the subtitles in it. score has a line per token. json_full is whisper.cpp's object with tokens. funasr is
 * the list that FunASR's generate() returns. */
#ifndef STENO_OUT_WRITERS_H
#define STENO_OUT_WRITERS_H
#include "reshape.h"
#include "sink.h"
#include "transcript.h"

struct writer {
    const char *name; /* of the format */
    const char *extension; /* of its files */
    void (*write)(struct sink *f, const struct transcript *t);
    int ends_line; /* does the file end with a newline, or is it empty? */
    void (*begin)(struct sink *f, const struct transcript_source *job); /* may be NULL; writes what comes once before the first transcript
                                                                         * of a file or of standard output */
    void (*end)(struct sink *f, const struct transcript_sums *sums); /* may be NULL; writes the totals of a job after its last transcript */
};

extern const struct writer writers[]; /* in the order of WRITER_NAMES; ends with a NULL name */
#define WRITER_NAMES "txt|srt|vtt|tsv|json|verbose_json|jsonl|csv|lrc|wts|ass|score|json_full|funasr"
enum { WRITER_TXT, WRITER_SRT, WRITER_VTT, WRITER_TSV, WRITER_JSON, WRITER_VERBOSE_JSON, WRITER_JSONL, WRITER_CSV, WRITER_LRC, WRITER_WTS,
       WRITER_ASS, WRITER_SCORE, WRITER_JSON_FULL, WRITER_FUNASR, N_WRITERS };
enum { N_WRITERS_ALL = 5 }; /* "all" means the reference's five formats */
#endif
