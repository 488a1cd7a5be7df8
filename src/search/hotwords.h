/* steno: hot words. SPDX-License-Identifier: MIT
 *
 * Words or phrases that a speaker is likely to say get a push: at the start of a word the first ids of each hot word, inside a hot word
 * the ids that go on with it. It changes what is preferred, not what is read before the text, so it can never be echoed. */
#ifndef STENO_SEARCH_HOTWORDS_H
#define STENO_SEARCH_HOTWORDS_H
#include "text/bpe.h"

struct hotwords; /* immutable, shared by threads */

/* lines: one word or phrase a line, UTF-8; blank lines do not count. STENO_EARG: nothing in it, or a phrase too long; STENO_ENOMEM */
int hotwords_open(struct hotwords **out, const char *lines, const struct bpe *b, steno_error *e);
void hotwords_close(struct hotwords *h); /* NULL is allowed */

/* Push logits[n_vocab] after ids[n], the text chosen so far (ids that are no text end a word). */
void hotwords_push(const struct hotwords *h, float *logits, const int32_t *ids, int32_t n, float boost);
#endif
