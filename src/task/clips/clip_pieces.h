/* steno: segments and words of a clip from pieces with times. SPDX-License-Identifier: MIT
 *
 * For vocabularies of SentencePiece. A piece that begins with a space begins a word; a punctuation mark joins the word before it. A segment
 * ends after a word that ends a sentence. */
#ifndef STENO_TASK_CLIPS_CLIP_PIECES_H
#define STENO_TASK_CLIPS_CLIP_PIECES_H
#include "task/clips/clip_session.h"

struct piece_rows { int32_t begin, end; }; /* rows of the clip */

/* The decoded pieces of a clip. Marks already have the times that their model gives them. */
struct clip_pieces {
    const int32_t *ids;
    const struct sampled_token *tokens;
    const struct piece_rows *rows;
    int32_t n, row_ms;
    const char *source;  /* of the times: a static text */
    const char *language; /* of the segments; NULL: unknown */
};

/* The number of leading pieces that later pieces do not change: whole words or, with `sentences`, whole segments. */
int32_t clip_pieces_whole(const steno_session *s, const struct clip_pieces *p, int sentences);

/* Adds the segments, with their words if the request asks for word times. scratch: memory that is reused. A status */
int clip_pieces_add(steno_session *s, const struct clip_window *w, const struct clip_pieces *p, struct buf *scratch);
#endif
