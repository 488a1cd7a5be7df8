/* steno-serve: transcripts as bodies of responses. SPDX-License-Identifier: MIT
 *
 * srt, vtt, text and tsv are the bytes of libsteno-output's writers, verbose_json is their object. The objects have the keys of OpenAI's
 * API; `notes`, why a result is empty or doubtful, and `flags`, audio that is missing, are added to them. */
#ifndef STENO_SERVE_ANSWER_H
#define STENO_SERVE_ANSWER_H
#include "ask.h"
#include "transcript.h"

/* Of a whole answer the seconds of audio count, of a streamed one the tokens. */
struct answer_usage { int64_t audio_ms, audio_tokens, prompt_tokens, text_tokens; };

/* From a transcript; prompt_tokens is the number of ids of the prompt, which it does not know. */
void answer_usage_take(struct answer_usage *u, const struct transcript *t, int64_t prompt_tokens);

const char *answer_type(enum ask_format f); /* Content-Type */

/* The whole body, malloc'd, [*n]; NULL: out of memory. */
char *answer_body(const struct transcript *t, const struct ask *a, const struct answer_usage *u, size_t *n);

/* {"detected_language": NAME, "language_code": CODE, "confidence": P}: the answer to a request for the language only, as
 * whisper-asr-webservice gives it. */
char *answer_language(const struct transcript *t, size_t *n);

/* ---- events of a streamed response ------------------------------------------------------------------------------------------- */

/* The text that was sent. Joined deltas are the text of the done event, without white space at its ends. */
struct answer_stream {
    int holds;    /* set by the caller; 1: a punctuation model changes the text at its end, so that there is one delta, before `done` */
    size_t sent;  /* bytes of the text so far */
    int n;        /* number of segments so far */
};

/* What the text so far has after the parts that were sent, [*n]; they count as sent. */
const char *answer_news(struct answer_stream *st, const char *text, size_t *n);

/* Lines "data: {...}" with an empty line, malloc'd, [*n]; *n 0: there is nothing to send; NULL: out of memory. answer_delta is called
 * within on_segment, in whose call steno_text has the text so far; in verbose_json a delta also has `start` and `end` of the segment.
 * answer_done sends what no delta has sent, then the done event. */
char *answer_delta(struct answer_stream *st, const steno_session *s, const steno_segment *seg, const steno_model *m, const struct ask *a,
                   size_t *n);
char *answer_done(struct answer_stream *st, const struct transcript *t, const struct ask *a, const struct answer_usage *u, size_t *n);
char *answer_stream_error(const struct api_error *e, size_t *n);
#define ANSWER_STREAM_TYPE "text/event-stream; charset=utf-8"
#define ANSWER_STREAM_END "data: [DONE]\n\n"
#define ANSWER_STREAM_ALIVE ": steno\n\n"
#endif
