/* steno-serve: texts and vectors of language models as objects of OpenAI's API. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ANSWER_CHAT_H
#define STENO_SERVE_ANSWER_CHAT_H
#include "api_error.h"

/* One of the texts of an answer. */
struct chat_choice {
    int index;
    int finish;          /* enum steno_finish; STENO_FINISH_NONE: the text goes on */
    const char *text;    /* [n_text] UTF-8; invalid bytes become U+FFFD */
    size_t n_text;
    const char *calls;   /* [n_calls] items of tool_calls; NULL: none. An answer without text then has no content */
    size_t n_calls;
    const char *logprobs; /* [n_logprobs] items of the list, as put_chat_logprob writes them; NULL: not asked for */
    size_t n_logprobs;
};

struct chat_reply {
    const char *id;      /* of the request: "chatcmpl-ID" in the object */
    const char *model;
    int64_t created;     /* Unix time */
    int64_t prompt_tokens, cached_tokens, text_tokens; /* prompt_tokens includes the cached ones */
};

/* The object of a whole answer, malloc'd, [*n]; NULL: out of memory. */
char *chat_body(const struct chat_reply *r, const struct chat_choice *choices, int n_choices, size_t *n);

/* Events of a streamed answer, "data: {...}" and an empty line: of each choice the role, pieces of the text, calls, and the reason of its
 * end; at last usage, if the client wants it (stream_options.include_usage). After them: ANSWER_STREAM_END of answer.h. A failure is
 * answer_stream_error. */
char *chat_event_role(const struct chat_reply *r, int index, size_t *n);
char *chat_event_text(const struct chat_reply *r, const struct chat_choice *c, size_t *n);
char *chat_event_calls(const struct chat_reply *r, const struct chat_choice *c, size_t *n); /* calls instead of text */
char *chat_event_end(const struct chat_reply *r, const struct chat_choice *c, size_t *n);
char *chat_event_usage(const struct chat_reply *r, size_t *n);

struct embed_reply {
    const char *model;
    const float *rows;   /* [count * width] */
    int count, width;
    int64_t prompt_tokens;
    int is_base64;       /* encoding_format: little-endian floats in base64 instead of a list */
};

char *embed_body(const struct embed_reply *r, size_t *n);
#endif
