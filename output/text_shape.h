/* steno: display width of text, and places where lines may end. SPDX-License-Identifier: MIT
 *
 * A character is a grapheme cluster: a letter with its marks, an emoji of several code points. A cell is the width of a Latin letter;
 * ideographs, kana, Hangul and emoji take two. Lines may end where UAX 14 allows it (libunistring), with three additional rules. A
 * character is never split. Punctuation without a word stays with the word beside it. In scripts without spaces that need a dictionary
 * (Thai, Lao, Khmer, Burmese), any character may end a line if there is no better place. */
#ifndef STENO_OUT_TEXT_SHAPE_H
#define STENO_OUT_TEXT_SHAPE_H
#include <stddef.h>
#include <stdint.h>

/* Measures of a text, whose lines are separated by newlines. */
struct text_size {
    int64_t cells;      /* of all lines, including spaces */
    int64_t widest;     /* cells of the widest line */
    int64_t lines;      /* 0: there is no text */
    int64_t half_words; /* two for each word between spaces, one for each wide character */
};

/* Text is valid UTF-8. An invalid byte counts as a character of one cell. */
struct text_size text_measure(const char *s, size_t n);
int64_t text_cells(const char *s, size_t n); /* of a line */

/* White space at which text may be split, and which is not shown there. Non-breaking spaces are excluded. */
int text_is_space(int32_t c);

/* A piece of text inside which no line ends. */
struct text_piece {
    size_t from, to; /* bytes, without surrounding white space */
    int space;       /* white space precedes it */
    int rough;       /* a line should end after it only if there is no better place */
};

/* Fills may[n]: 0, 1 if a line may end after byte i, 2 if only if necessary. s is valid UTF-8. */
void text_breaks(char *may, const char *s, size_t n);

/* The next piece from byte *at on. @return 0: there is none */
int text_piece_next(struct text_piece *p, const char *s, size_t n, const char *may, size_t *at);

/* Does s[n] contain a letter, a digit or a symbol, that is, anything readable except punctuation? */
int text_is_readable(const char *s, size_t n);

/* Does s[n] begin, after its punctuation, with a lower-case letter? Then it continues a sentence. */
int text_goes_on(const char *s, size_t n);

/* How a piece ends: a sentence, a phrase (comma, colon, dash), or neither. */
enum text_end { TEXT_ENDS_WORD, TEXT_ENDS_PHRASE, TEXT_ENDS_SENTENCE };
enum text_end text_end(const char *s, size_t n);
#endif
