/* steno: segments cut into shorter ones. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_RESHAPE_H
#define STENO_OUT_RESHAPE_H
#include "transcript.h"

/* Why segments are cut. */
struct reshape_rules {
    int32_t max_len; /* most code points of a piece, the space it begins with included; 0: any number. What cannot be cut may have more */
    int by_words;    /* such cuts fall only before what begins with a space */
    int (*speaker)(const void *user, int64_t t0_ms, int64_t t1_ms); /* who says the words there, below 0: not known; a piece has one
                                                                     * speaker then. NULL: nobody asks */
    const void *user;
};

/* Cut the segments of a transcript by the rules. Pieces are segments: their texts one after the other are the text as it was, tokens and
 * words go with them, ids count on, and only the last piece of a segment keeps its speaker_turn.
 *
 * With word times cuts fall before words, else before tokens that begin a character; between speakers only before what begins a word, as
 * far as spaces tell. A piece begins when its first word or token does, and the one before it ends there; where that is not known, time
 * is shared by length. t->model is what tokens are spelled with.
 *
 * @return 0, or -1 in want of memory, and then nothing has changed. The new arrays belong to the store, the old ones in it are freed. */
int reshape(struct transcript *t, struct transcript_store *store, const struct reshape_rules *rules);
#endif
