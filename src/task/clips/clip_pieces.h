/* steno: segments and words of a clip from pieces with times. SPDX-License-Identifier: MIT
 *
 * For vocabularies of SentencePiece. A piece that begins with a space begins a word; a punctuation mark joins the word before it. A segment
 * ends after a word that ends a sentence. */
#ifndef STENO_TASK_CLIPS_CLIP_PIECES_H
#define STENO_TASK_CLIPS_CLIP_PIECES_H
#include "task/clips/clip_session.h"

/* Rows of the clip. mute: 1 if there is no speech near the piece, so that it is left out with its word; PIECE_OPEN: not judged yet */
struct piece_rows { int32_t begin, end, mute; };
enum { PIECE_OPEN = -1 };

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

/* Judges piece i, which the model wrote at row `row` of the window: a mark belongs to the piece before it. */
void clip_piece_judge(const steno_session *s, const struct clip_window *w, struct piece_rows *rows, int32_t i, int32_t id, int32_t row);

/* Adds the segments, with their words if the request asks for word times. scratch: memory that is reused. Words of
 * mute pieces alone are left out, and mute pieces at the end of a word. A status */
int clip_pieces_add(steno_session *s, const struct clip_window *w, const struct clip_pieces *p, struct buf *scratch);
#endif
