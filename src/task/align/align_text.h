/* steno: when the words of a known text are said. SPDX-License-Identifier: MIT
 *
 * The text is aligned with the audio window by window. How probable each word is after those before it, given the window, tells which of
 * the next words are said in it; those are aligned, with a few more behind them that soak up what follows; those that end well inside
 * the window are settled, and the next window begins where the last of them ended. */
#ifndef STENO_TASK_ALIGN_ALIGN_TEXT_H
#define STENO_TASK_ALIGN_ALIGN_TEXT_H
#include "task/mel_stream.h"
#include "task/words/words.h"

/* A word of the text, with its punctuation. */
struct known_word {
    double start, end, probability; /* seconds in the file; NAN: the audio seems to lack it */
    size_t text, len;               /* bytes of known_text.split.text */
    int32_t line;
    int32_t first, n;         /* of known_text.ids */
    int32_t spoken, n_spoken; /* of these without punctuation */
};

/* A text as words. */
struct known_text {
    struct buf ids;     /* int32_t */
    struct buf line_of; /* int32_t, line of each id */
    struct buf known;   /* struct known_word, in order, none without text */
    struct split split;
    int32_t n_lines; /* that are not blank */
};

void known_text_free(struct known_text *t);
/* Cut text[n] (any bytes) into lines and words. spaces: of the language; prepend, append: as in struct words_request.
 * STENO_OK, STENO_ENOMEM, STENO_EARG: there are no words, or too many */
int known_text_make(struct known_text *t, const steno_model *m, const char *text, size_t n, int spaces, const char *prepend,
                    const char *append, steno_error *e);
static inline int32_t known_word_count(const struct known_text *t)
{
    return (int32_t)(t->known.len / sizeof(struct known_word));
}
static inline struct known_word *known_words_of(const struct known_text *t)
{
    return (struct known_word *)(void *)t->known.p;
}

/* ---- align_rules.c: what to believe ---- */

enum { HEARD_ENOUGH = 1,     /* evidence that words are said */
       HEARD_SKIPPING = 8 }; /* the same where words before them are left out: far too likely for chance */

/* Which of n words in a row, whose probabilities are given, a window says: [*from, *to), empty (both 0): none. Each word speaks for it by
 * the logarithm of its probability over that of a word nobody said; all together they must say `enough`. */
void heard_range(const double *probability, int32_t n, double enough, int32_t *from, int32_t *to);

/* How many of the words w[n], aligned in a window together with those up to w[all], are settled: those that end by `limit` seconds, up to
 * where two words in a row or more are squeezed together or one is drawn out, as words are that were aligned with the wrong sound. Of
 * these the ones up to a pause, where there is one in their second half. A first word that is drawn out is cut short. */
int32_t settled_count(struct known_word *w, int32_t n, int32_t all, double limit);

/* The level above which frames of levels [n], in bels, are sound; INFINITY: it hardly changes. scratch has n places. */
double sound_level(const double *level, int32_t n, double *scratch);

/* Frames [*begin, *end) that hold all sound of n: what lasts, well above the quiet parts. Both n: there is none. */
void sound_find(int32_t *begin, int32_t *end, const double *level, int32_t n, double *scratch);

/* ---- align_windows.c ---- */

/* Find the times of t's words in the audio that mel has listened to, frames [from, to). q: language and punctuation.
 * STENO_OK, STENO_ENOMEM, STENO_ECANCELED, STENO_ESOURCE; the reason in s->error */
int text_align(steno_session *s, struct mel_stream *mel, struct known_text *t, const struct words_options *q,
               const struct speech_options *speech, int64_t from, int64_t to);

/* ---- the whole of it ---- */

/* Words of text and when they are said, as the session's results; parameters are complete. STENO_OK or as above, and STENO_EARG */
int text_align_source(steno_session *s, struct mel_stream *mel, const steno_source *src, const char *text,
                      const steno_transcribe_params *p);
#endif
