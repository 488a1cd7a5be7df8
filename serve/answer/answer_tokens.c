/* steno-serve: what bodies share: the end of a body, tokens with their log-probabilities. SPDX-License-Identifier: MIT */
#include "answer_tokens.h"
#include "utf8.h"
#include "write.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *body_taken(const struct sink *f, struct sink_memory *m, size_t *n)
{
    *n = f->failed ? 0 : m->n;
    if (!f->failed) return m->p ? m->p : calloc(1, 1);
    free(m->p);
    return NULL;
}

enum { USUAL_SZ = 512 };

/* Timestamps, languages, ends: ids from the end of text on, or names in marks. */
static int is_special(const steno_model *m, int32_t id, const char *bytes, size_t n)
{
    const int32_t end = steno_token_id(m, STENO_TOKEN_END);
    if ((end >= 0 && id >= end) || steno_token_ends(m, id)) return 1;
    return n > 4 && !memcmp(bytes, "<|", 2) && !memcmp(bytes + n - 2, "|>", 2);
}

static void put_start(struct sink *f, const steno_token *tok, const char *bytes, size_t n)
{
    sink_text(f, "{\"token\": ");
    utf8_json_part(f, bytes, n); /* a byte of a cut character becomes U+FFFD */
    sink_text(f, ", \"logprob\": ");
    write_json_number(f, round(1e6 * (double)tok->logprob) / 1e6);
    sink_text(f, ", \"bytes\": [");
    for (size_t i = 0; i < n; i++) sink_format(f, i ? ", %d" : "%d", (unsigned char)bytes[i]);
    sink_char(f, ']');
}

/* The item of a token, without its last brace. n: number of items before it. @return 1: it is an item of the list */
static int put_token(struct sink *f, const steno_model *m, const steno_token *tok, int n, int is_speech)
{
    char usual[USUAL_SZ], *bytes = usual;
    const int64_t len = m ? steno_token_bytes(m, tok->id, usual, sizeof usual) : 0;
    if (len <= 0) return 0;
    if (len > USUAL_SZ) {
        bytes = malloc((size_t)len);
        if (!bytes) f->failed = 1;
        else steno_token_bytes(m, tok->id, bytes, (size_t)len);
    }
    const int is_item = bytes && !(is_speech && is_special(m, tok->id, bytes, (size_t)len));
    if (is_item && n) sink_text(f, ", ");
    if (is_item) put_start(f, tok, bytes, (size_t)len);
    if (bytes != usual) free(bytes);
    return is_item;
}

void put_logprob(struct sink *f, const steno_model *m, const steno_token *tok, int *n)
{
    const int is_item = put_token(f, m, tok, *n, 1);
    if (is_item) sink_char(f, '}');
    *n += is_item;
}

void put_chat_logprob(struct sink *f, const steno_model *m, const steno_session *s, int i, const steno_token *tok, int *n)
{
    steno_token top = { .size = sizeof top };
    int n_tops = 0;
    if (!put_token(f, m, tok, *n, 0)) return;
    sink_text(f, ", \"top_logprobs\": [");
    for (int k = 0; steno_generated_top(s, i, k, &top) == STENO_OK; k++) {
        if (!put_token(f, m, &top, n_tops, 0)) continue;
        sink_char(f, '}');
        n_tops++;
    }
    sink_text(f, "]}");
    ++*n;
}
