/* steno: words of passes over the same audio, and their local agreement. SPDX-License-Identifier: MIT
 *
 * The unit of agreement: a word between spaces, or a character in scripts without spaces between words (Chinese, Japanese, Thai, ...). Two
 * units are equal if they are equal in compatibility form (NFKC), ignoring case and surrounding punctuation.
 *
 * Each pass over a growing turn gives words. Words on which two consecutive passes agree, from the start on, are final. Final words never
 * change and are never removed, whatever later passes give (Machacek et al. 2023). */
#ifndef STENO_LIVE_LIVE_WORDS_H
#define STENO_LIVE_LIVE_WORDS_H
#include <stddef.h>
#include <steno/steno.h>

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

struct word {
    char *text;            /* as decoded, including the space before it */
    const char *key;       /* comparison key, after the text in the same block */
    int64_t t0_ms, t1_ms;  /* -1: not known */
    double probability;    /* NAN: not known */
};
struct words { struct word *w; size_t n, cap; };

/* Appends a copy of a word. @return STENO_OK, STENO_ENOMEM */
int live_words_add(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms);
/* Appends the units of a text. The first unit has the start time, the last has the end time. @return as above */
int live_words_add_units(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms);
/* The same for a separate text. A space is added before it if both scripts use spaces. @return as above */
int live_words_add_text(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms);
void live_words_rate(struct words *w, size_t from, double probability); /* of words from `from` on */
/* Appends words [from, end) of w. @return as above */
int live_words_add_range(struct words *to, const struct words *w, size_t from, size_t end);
void live_words_clear(struct words *w);
void live_words_free(struct words *w);
int live_word_same(const struct word *a, const struct word *b);

/* Finds where recent continues after known: the end of the shortest prefix of recent with the longest common subsequence with known. If
 * they have nothing in common, the first word that begins at after_ms or later. @return STENO_OK, STENO_ENOMEM */
int live_words_behind(size_t *at, const struct words *recent, const struct words *known, int64_t after_ms);

/* Words [from, end) as one text without spaces at its ends, malloc'd; NULL: no memory. */
char *live_words_text(const struct words *w, size_t from, size_t end);

/* The last bytes of words [0, end), `most` or fewer, from the start of a word if one begins there; malloc'd. NULL: no memory. */
char *live_words_tail(const struct words *w, size_t end, size_t most);

/* ---- prefixes ---------------------------------------------------------------------------------------------------------------- */

enum { LIVE_LANGUAGE = 16 /* bytes of a language's code */ };

/* The recogniser, its session after a pass, and the language that is asked for, may be NULL. */
struct live_prefixing { const steno_model *m; const steno_session *s; const char *language; };

/* What the next pass over a growing turn begins with: the text of this one without its last five tokens, and without the rest of a
 * character that they cut (qwen-asr 0.0.6, streaming). *out: malloc'd; NULL: nothing, because little is left, the text is too long or
 * loops, it has several clips, or its language is none that the model takes. language receives the language's code.
 * @return STENO_OK, STENO_ENOMEM */
int live_words_prefix(char **out, char language[LIVE_LANGUAGE], const struct live_prefixing *of);

/* Number of spaces between the text of words [from, end) of a and that of words [at, b->n) of b; 0 if there is no text on one side. */
int live_words_gap(const struct words *a, size_t from, size_t end, const struct words *b, size_t at);

/* ---- agreement --------------------------------------------------------------------------------------------------------------- */

struct agreement {
    struct words known, recent; /* final words; words of the last pass after them */
    size_t cut;                /* final words before the current cut */
    int64_t disagreements;     /* final words that the last passes of turns did not have; never reset */
};

void agreement_clear(struct agreement *a); /* begins another turn */
void agreement_free(struct agreement *a);

/* Adds the words of a pass over the audio after the cut; with is_last all become final. New final words are known.w[*first] and so on.
 * @return STENO_OK, STENO_ENOMEM */
int agreement_add(struct agreement *a, const struct words *w, int is_last, size_t *first);

/* Makes the words of the last pass final, without another pass. @return as above */
int agreement_end(struct agreement *a, size_t *first);

void agreement_forget(struct agreement *a); /* drops the final words before the cut, which are not compared any more */

int64_t agreement_end_ms(const struct agreement *a); /* end of the last final word with a time, -1: none */

/* Chooses a time after after_ms up to which audio is not decoded again. The last few final words stay after it, to align later passes.
 * @return the time, -1: no cut is possible */
int64_t agreement_cut(struct agreement *a, int64_t after_ms);
#endif
