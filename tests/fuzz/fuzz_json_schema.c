/* steno: fuzzing of JSON schemas. SPDX-License-Identifier: MIT
 *
 * What is taken makes rules that the grammars' reader takes, but for those that have no text or are too long; a refusal has a reason. */
#include <stdlib.h>
#include <string.h>
#include "search/grammar.h"
#include "search/json_schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct buf gbnf = { 0 };
    struct grammar *g = NULL;
    steno_error e = { 0 };
    char *own = malloc(n ? n : 1); /* so that reading past the end is seen */
    if (!own) return 0;
    if (n) memcpy(own, data, n);
    const int rc = json_schema_grammar(&gbnf, "root", own, n, &e);
    if (rc && !e.text[0]) abort();
    if (!rc && grammar_open(&g, gbnf.p, NULL, &e) && !strstr(e.text, "never ends") && !strstr(e.text, "begin with itself") &&
        !strstr(e.text, "longer than") && !strstr(e.text, "at most"))
        abort();
    grammar_close(g);
    buf_free(&gbnf);
    free(own);
    return 0;
}
