/* steno: results as bytes. SPDX-License-Identifier: MIT
 *
 * The writers of libsteno-output, which the program, a server and bindings share, so that a result has the same bytes wherever it is asked
 * for. It sees the public headers only; nothing in it prints, ends the process or reads the environment. Take a transcript out of a session
 * (transcript.h), cut it where it is to be cut (reshape.h), and give it to a writer with a sink of your own (sink.h).
 *
 * The bytes of txt, srt, vtt, tsv and json equal those of openai-whisper's writers, csv and lrc whisper.cpp's; verbose_json is the OpenAI
 * API's object; jsonl is a record in each line: the job, then each input, then the sums. wts is a script that burns words into a picture
 * as they are said, ass the subtitles in it, and score has a line per token; json_full is whisper.cpp's object with them. funasr is the
 * list that FunASR's generate() returns. */
#ifndef STENO_OUT_WRITERS_H
#define STENO_OUT_WRITERS_H
#include "reshape.h"
#include "sink.h"
#include "transcript.h"

struct writer {
    const char *name; /* of the format */
    const char *extension; /* of its files */
    void (*write)(struct sink *f, const struct transcript *t);
    int ends_line; /* whether the file ends with a newline, or is empty */
    void (*begin)(struct sink *f, const struct transcript_source *job); /* NULL, or writes what stands once before the first transcript of
                                                                         * a file or of standard output */
    void (*end)(struct sink *f, const struct transcript_sums *sums); /* NULL, or writes the sums of a job behind its last transcript */
};

extern const struct writer writers[]; /* in the order of WRITER_NAMES; ends with a NULL name */
#define WRITER_NAMES "txt|srt|vtt|tsv|json|verbose_json|jsonl|csv|lrc|wts|ass|score|json_full|funasr"
enum { WRITER_TXT, WRITER_SRT, WRITER_VTT, WRITER_TSV, WRITER_JSON, WRITER_VERBOSE_JSON, WRITER_JSONL, WRITER_CSV, WRITER_LRC, WRITER_WTS,
       WRITER_ASS, WRITER_SCORE, WRITER_JSON_FULL, WRITER_FUNASR, N_WRITERS };
enum { N_WRITERS_ALL = 5 }; /* "all" means the reference's five */
#endif
