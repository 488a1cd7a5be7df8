/* steno: hot words. SPDX-License-Identifier: MIT
 *
 * Words or phrases that a speaker is likely to say get a push: at the start of a word the first ids of each hot word, inside a hot word
 * the ids that go on with it. It changes what is preferred, not what is read before the text, so it can never be echoed.
 *
 * How strong a push is depends on what speaks for the hot word. Inside one, what was heard so far does: the text ends with at least its
 * first character, and one word among few goes on like that. The ids that go on with it get the whole boost, odds times e^boost. At the
 * start nothing does but that the word is on the list, and a start is offered at every word of the recording, hundreds of times where it
 * is not said; so first ids get half the boost, odds times e^(boost / 2), and those that the sound does not make likely stay unlikely.
 * (At the default of 2 that is 7.4 and 2.7.) Ids that say nothing yet - white space alone, the first bytes of a character - are starts as
 * well, and white space alone is not pushed at all before it has been chosen.
 *
 * A word starts where an id brings its own space (" Phrase"), and bare ("Phrase") at the beginning of text and where no letter or digit
 * of a script that puts spaces between words stands on both sides; inside a character no word starts. An id gets one push a step, the
 * strongest. */
#ifndef STENO_SEARCH_HOTWORDS_H
#define STENO_SEARCH_HOTWORDS_H
#include "text/bpe.h"

struct hotwords; /* immutable, shared by threads */

enum { HOTWORD_IDS = 64,         /* of one phrase */
       HOTWORDS_IDS = 1 << 18 }; /* of all, in both spellings */

/* lines: one word or phrase a line, UTF-8, not kept; white space around it and blank lines do not count. b's vocabulary must outlive h.
 * STENO_EARG, naming the line: nothing in it, not UTF-8, a phrase too long, too many phrases, bytes or characters that are not in the
 * vocabulary (of a phrase with and without a space before it one may be missing); STENO_ENOMEM */
int hotwords_open(struct hotwords **out, const char *lines, const struct bpe *b, steno_error *e);
void hotwords_close(struct hotwords *h); /* NULL is allowed */

/* Push logits[n_vocab] after ids[n], the text chosen so far (ids that are no text end a word; times, which are no part of the text and end
 * nothing, are left out of ids by the caller). */
void hotwords_push(const struct hotwords *h, float *logits, const int32_t *ids, int32_t n, float boost);
/* The same, told one by one: every id once, in no order. */
void hotwords_each(const struct hotwords *h, const int32_t *ids, int32_t n, float boost, void (*push)(void *user, int32_t id, float by),
                   void *user);
/* What one id is pushed by there. */
float hotwords_push_of(const struct hotwords *h, int32_t id, const int32_t *ids, int32_t n, float boost);
#endif
