/* steno: how text is seen: how wide it is, and where a line of it may end. SPDX-License-Identifier: MIT
 *
 * A character is what a reader takes for one (a grapheme cluster): a letter with its marks, an emoji of several code points. A cell is the
 * width of a Latin letter; ideographs, kana, Hangul and emoji take two. Lines end where UAX 14 lets them, as libunistring knows it, with
 * three rules of our own: a character is never cut, a mark without a word stays with the word beside it, and in writing without spaces
 * that only a dictionary could cut (Thai, Lao, Khmer, Burmese) any character may end a line where nothing better does. */
#ifndef STENO_OUT_TEXT_SHAPE_H
#define STENO_OUT_TEXT_SHAPE_H
#include <stddef.h>
#include <stdint.h>

/* What is measured of text: lines are separated by newlines. */
struct text_size {
    int64_t cells;      /* of all lines, spaces in them included */
    int64_t widest;     /* cells of the widest line */
    int64_t lines;      /* 0: there is no text */
    int64_t half_words; /* two for a word between spaces, one for a wide character */
};

/* Text is valid UTF-8; a byte that is not counts as a character of one cell. */
struct text_size text_measure(const char *s, size_t n);
int64_t text_cells(const char *s, size_t n); /* of a line */

/* White space at which text may be cut and that is not shown: not that which holds words together. */
int text_is_space(int32_t c);

/* A piece of text that no line ends inside. */
struct text_piece {
    size_t from, to; /* bytes, without the white space around */
    int space;       /* white space stands before it */
    int rough;       /* behind it a line should only end where nothing better does */
};

/* Fill may[n]: 0, or 1 where a line may end behind byte i, 2 where only at need. s is valid UTF-8. */
void text_breaks(char *may, const char *s, size_t n);

/* The next piece from byte *at on. @return 0: there is none */
int text_piece_next(struct text_piece *p, const char *s, size_t n, const char *may, size_t *at);

/* Whether s[n] has a letter, a digit or a symbol: something to read that is no punctuation. */
int text_says_something(const char *s, size_t n);

/* Whether s[n] begins, behind its marks, with a small letter: it goes on with a sentence. */
int text_goes_on(const char *s, size_t n);

/* How a piece ends: a sentence, a part of one (comma, colon, dash), or nothing of the kind. */
enum text_end { TEXT_ENDS_WORD, TEXT_ENDS_PHRASE, TEXT_ENDS_SENTENCE };
enum text_end text_end(const char *s, size_t n);
#endif
