/* steno: splits segments into shorter ones. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_RESHAPE_H
#define STENO_OUT_RESHAPE_H
#include "transcript.h"

/* Reasons to split segments. */
struct reshape_rules {
    int32_t max_len; /* maximum code points of a piece, including its leading space; 0: no limit. Text that cannot be split may be longer */
    int by_words;    /* such splits are only made before text that begins with a space */
    int (*speaker)(const void *user, int64_t t0_ms, int64_t t1_ms); /* speaker at that time, below 0: not known; then each piece has one
                                                                     * speaker. May be NULL */
    const void *user;
};

/* Splits the segments of a transcript by the rules. Pieces are segments: their concatenated texts are the original text, their tokens and
 * words move with them, and ids are consecutive. Only the last piece of a segment keeps its speaker_turn.
 *
 * With word times, splits are made before words, otherwise before tokens that begin a character. Between speakers, they are made only
 * before the start of a word, as far as spaces show it. A piece begins at its first word or token, and the previous one ends there. If that
 * time is not known, it is interpolated by length. t->model is used for the texts of tokens.
 *
 * @return 0, or -1 if memory runs out; then nothing has changed. The store owns the new arrays, and its old ones are freed. */
int reshape(struct transcript *t, struct transcript_store *store, const struct reshape_rules *rules);
#endif
