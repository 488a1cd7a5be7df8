/* steno: one line per token: its text, a tab, its probability. SPDX-License-Identifier: MIT
 *
 * Timestamps are written as <|1.23|>. A token that ends inside a character is U+FFFD. Control characters are written as \xNN, so a token is
 * always one line. */
#include "utf8.h"
#include "write.h"
#include <stdio.h>

enum { TEXT_SZ = 1024, PRINTED_SZ = 4 * TEXT_SZ };

void write_score(struct sink *f, const struct transcript *t)
{
    char text[TEXT_SZ], printed[PRINTED_SZ];
    for (int i = 0; i < t->n; i++) {
        for (int32_t k = 0; t->tokens && k < t->segs[i].n_tokens; k++) {
            const steno_token *tok = &t->tokens[t->first_token[i] + k];
            text[0] = '\0';
            if (t->first_timestamp >= 0 && tok->id >= t->first_timestamp)
                snprintf(text, sizeof text, "<|%.2f|>", (tok->id - t->first_timestamp) * 0.02);
            else if (t->model) steno_detokenize(t->model, &tok->id, 1, text, sizeof text);
            utf8_printable(printed, sizeof printed, text);
            sink_format(f, "%s\t%g\n", printed, (double)tok->p);
        }
    }
}
