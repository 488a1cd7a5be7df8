/* steno: the prefix of the first window, for the Python package. SPDX-License-Identifier: MIT
 *
 * In faster-whisper a prefix is a part of the first window's result: its tokens have probability 1, and count in the text, in the number of
 * tokens, in the log-probability and in the compression ratio. steno_transcribe_params.prefix counts them in no figure. */
#ifndef STENO_PYTHON_PREFIX_H
#define STENO_PYTHON_PREFIX_H
#include <steno/steno.h>

typedef struct steno_prefix {
    const int32_t *ids;      /* [n] the first tokens of the window that begins at 0 */
    const int32_t *banned;   /* [n_banned] ids that are allowed there only */
    int32_t n, n_banned;
} steno_prefix;

/** A logits filter: at a token of the prefix it leaves no other choice. `user` is a steno_prefix. */
STENO_API void steno_prefix_filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n);
#endif
