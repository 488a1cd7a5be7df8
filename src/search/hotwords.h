/* steno: hot words. SPDX-License-Identifier: MIT
 *
 * Words or phrases that a speaker is likely to use are boosted: at the start of a word the first ids of each hot word, inside a hot word
 * the ids that continue it. Boosting changes the choice of tokens and adds no prompt, so hot words cannot be echoed from one.
 *
 * The boost depends on the evidence. Inside a hot word, the text ends with at least its first character, which few words share. Ids that
 * continue it get the whole boost: odds times e^boost. At the start there is no evidence except the list itself. A start is possible at
 * every word of the recording, and mostly the hot word is not spoken there. First ids therefore get half the boost, odds times e^(boost /
 * 2), and unlikely ones stay unlikely. (At the default of 2 these factors are 7.4 and 2.7.) Ids without visible text, white space alone or
 * the first bytes of a character, are starts as well. White space alone is not boosted before it has been chosen.
 *
 * A word starts with an id that contains its space (" Phrase"). It starts bare ("Phrase") at the beginning of text, and where not both
 * sides are letters or digits of a script that puts spaces between words. No word starts inside a character. An id gets one push per step,
 * the strongest. */
#ifndef STENO_SEARCH_HOTWORDS_H
#define STENO_SEARCH_HOTWORDS_H
#include "text/bpe.h"
#include "text/vocab.h"

/* ---- possible beginnings of words -------------------------------------------------------------------------------------------- */

/* Code that appends ids to text checks the seam: an unfinished character, or two letters that would become one word. */

/* Letters and digits of a script that puts spaces between words: no word begins between two of them. */
int char_joins(uint32_t cp);

enum { CHAR_OPEN = -1 /* its bytes are incomplete */, CHAR_BROKEN = -2 };

/* The last character of the text ids at the end of ids[n]; ' ' if there are none. */
int32_t last_char(const struct vocab *v, const int32_t *ids, int32_t n);

/* Whether the id begins with a character that joins. If it holds only a part, the lowest character with these bytes is used. */
int id_joins(const struct vocab *v, int32_t id);

/* ---- hot words --------------------------------------------------------------------------------------------------------------- */

struct hotwords; /* immutable, shared by threads */

enum { HOTWORD_IDS = 64,         /* limit of one phrase */
       HOTWORDS_IDS = 1 << 18 }; /* limit of all phrases, in both spellings */

/* lines: one word or phrase per line, UTF-8, not kept; surrounding white space and blank lines are ignored. The vocabulary of b must
 * outlive h. STENO_EARG names the line: no words at all, not UTF-8, a phrase too long, too many phrases, bytes or characters missing in the
 * vocabulary (one of the spellings with and without a space may be missing); STENO_ENOMEM */
int hotwords_open(struct hotwords **out, const char *lines, const struct bpe *b, steno_error *e);
void hotwords_close(struct hotwords *h); /* h may be NULL */

/* Add the push to logits[n_vocab] after ids[n], the text chosen so far. Ids that are not text end a word. The caller leaves out timestamps,
 * which are not part of the text and do not end a word. */
void hotwords_push(const struct hotwords *h, float *logits, const int32_t *ids, int32_t n, float boost);
/* The same by callback: every id once, in no order. */
void hotwords_each(const struct hotwords *h, const int32_t *ids, int32_t n, float boost, void (*push)(void *user, int32_t id, float by),
                   void *user);
/* The push of one id there. */
float hotwords_push_of(const struct hotwords *h, int32_t id, const int32_t *ids, int32_t n, float boost);
#endif
