/* steno: texts of tokens, in whole characters. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_TOKEN_TEXT_H
#define STENO_OUT_TOKEN_TEXT_H
#include <steno/steno.h>

enum { TOKEN_TEXT_SZ = 512 };

/* Text of the first of ids[n], n > 0, or of as many ids as are needed to complete a character. Ids from `end` on (-1: none) are not text.
 * @return the number of tokens used, 1 if their bytes are not a character; or a negative status of steno_detokenize, with an empty text */
int token_text(char text[TOKEN_TEXT_SZ], const steno_model *m, int32_t end, const int32_t *ids, int n);
#endif
