/* steno: texts of tokens, in whole characters. SPDX-License-Identifier: MIT
 *
 * A token may end inside a character. Its bytes alone are then not valid UTF-8. */
#include "token_text.h"
#include <string.h>

/* A character has at most four bytes, and a token at least one. */
enum { MAX_JOINED = 4 };

/* Text of ids[n]. @return 1, 0 if it ends inside a character, or a negative status */
static int spell(char text[TOKEN_TEXT_SZ], const steno_model *m, const int32_t *ids, int n)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const int64_t len = steno_detokenize(m, ids, n, text, TOKEN_TEXT_SZ);
    if (len < 0) {
        text[0] = '\0';
        return (int)len;
    }
    const size_t k = strlen(text);
    return k < 3 || memcmp(text + k - 3, replacement, 3) != 0;
}

int token_text(char text[TOKEN_TEXT_SZ], const steno_model *m, int32_t end, const int32_t *ids, int n)
{
    for (int k = 1; k <= n && k <= MAX_JOINED && (k == 1 || end < 0 || ids[k - 1] < end); k++) {
        const int rc = spell(text, m, ids, k);
        if (rc) return rc < 0 ? rc : k;
    }
    const int rc = spell(text, m, ids, 1);
    return rc < 0 ? rc : 1;
}
