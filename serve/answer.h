/* steno-serve: transcripts as bodies of responses. SPDX-License-Identifier: MIT
 *
 * srt, vtt, text and tsv are the bytes of libsteno-output's writers. The objects have the keys of OpenAI's API. */
#ifndef STENO_SERVE_ANSWER_H
#define STENO_SERVE_ANSWER_H
#include "ask.h"
#include "transcript.h"

struct answer_usage { int64_t audio_ms, audio_tokens, prompt_tokens, text_tokens; };

const char *answer_type(enum ask_format f); /* Content-Type */

/* The whole body, malloc'd, [*n]; NULL: out of memory. */
char *answer_body(const struct transcript *t, const struct ask *a, const struct answer_usage *u, size_t *n);

/* Events of a streamed response: lines "data: {...}" with an empty line, malloc'd, [*n]; NULL: out of memory. A delta's text continues
 * that of the deltas before it: joined they are the text of the done event. *first: 1 before the first delta; set to 0. */
char *answer_delta(const steno_session *s, const steno_segment *seg, const steno_model *m, const struct ask *a, int *first, size_t *n);
char *answer_done(const struct transcript *t, const struct ask *a, const struct answer_usage *u, size_t *n);
char *answer_stream_error(const struct api_error *e, size_t *n);
#define ANSWER_STREAM_END "data: [DONE]\n\n"
#define ANSWER_STREAM_ALIVE ": steno\n\n"
#endif
