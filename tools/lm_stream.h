/* steno: the text of a language model while it is generated. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_LM_STREAM_H
#define STENO_TOOLS_LM_STREAM_H
#include <steno/steno.h>

struct lm_stream { int is_silent, ends_line; };
struct lm_stream lm_stream_begin(int is_silent);

/* As steno_generate_params.on_token: characters to standard output, at once. user: struct lm_stream */
int lm_stream_token(void *user, const steno_token *tok, const char *text, size_t n);
void lm_stream_end(const struct lm_stream *out); /* the line's end, where there was none */
#endif
