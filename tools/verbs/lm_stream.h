/* steno: the text of a language model while it is generated. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_LM_STREAM_H
#define STENO_TOOLS_LM_STREAM_H
#include <steno/steno.h>

struct lm_stream { int is_silent, ends_line; };
struct lm_stream lm_stream_begin(int is_silent);

/* Callback for steno_generate_params.on_token: prints each token at once to standard output. user: struct lm_stream */
int lm_stream_token(void *user, const steno_token *tok, const char *text, size_t n);
void lm_stream_end(const struct lm_stream *out); /* prints a line end if the text has none */
#endif
