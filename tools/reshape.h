/* steno: segments cut into shorter ones. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_RESHAPE_H
#define STENO_TOOLS_RESHAPE_H
#include "transcript.h"

/* Cut the segments of a transcript so that a piece has at most max_len code points (> 0), the space it begins with included; what cannot
 * be cut may have more. Pieces are segments: their texts one after the other are the text as it was, tokens and words go with them, ids
 * count on, and only the last piece of a segment keeps its speaker_turn.
 *
 * With word times cuts fall before words, else before tokens that begin a character; by_words: only before those that begin with a
 * space. A piece begins when its first word or token does, and the one before it ends there; where that is not known, time is shared
 * by length. t->model is what tokens are spelled with.
 *
 * @return 0, or -1 in want of memory, and then nothing has changed. The new arrays belong to the store, the old ones in it are freed. */
int reshape(struct transcript *t, struct transcript_store *store, int32_t max_len, int by_words);
#endif
