/* steno: a transcript as writers see it, taken out of a session. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TRANSCRIPT_H
#define STENO_TOOLS_TRANSCRIPT_H
#include "write.h"

/* What a struct transcript points at. */
struct transcript_store {
    steno_segment *segs;
    steno_word *words;
    steno_token *tokens;
    int32_t *first_word, *first_token, *speakers;
    char *text; /* of segments that were cut */
};

/* Fill t->{segs, n, words, first_word, tokens, first_token, text, language, duration_ms} with what the session holds; texts and ids go on
 * belonging to it. t->word_times is switched off where there is text but no word has come.
 *
 * @return 0, or -1 in want of memory; transcript_free the store in any case */
int transcript_take(struct transcript *t, struct transcript_store *store, const steno_session *s);
void transcript_free(struct transcript_store *store); /* {0} is allowed */
#endif
