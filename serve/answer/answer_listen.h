/* steno-serve: a transcript of a file as Deepgram's API gives it. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ANSWER_LISTEN_H
#define STENO_SERVE_ANSWER_LISTEN_H
#include "transcript.h"
#include <jansson.h>

struct listen_reply {
    const char *id, *created; /* of the request; created: UTC, ISO 8601 */
    const char *model, *family;
    int has_utterances;       /* utterances=true */
    double utt_split_s;       /* a longer pause between words begins another utterance */
    int has_language;         /* detect_language=true */
};

/* A word: its comparison key and its text, which stands for an empty key. Takes start and end; probability NAN: null. @return NULL: out of
 * memory */
json_t *listen_word(const char *key, const char *text, json_t *start, json_t *end, double probability);

/* The object of a whole answer, malloc'd, [*n]; NULL: out of memory. There is one channel, the mix. */
char *answer_listen(const struct transcript *t, const struct listen_reply *r, size_t *n);
#endif
