/* steno: forced alignment of a known text. SPDX-License-Identifier: MIT
 *
 * The text is aligned with the audio window by window. The probability of each word, given the window and the words before it, selects the
 * words that are in the window. These words are aligned together with a few following words, which absorb the rest of the sound. Words that
 * end well inside the window are settled. The next window begins where the last settled word ends. */
#ifndef STENO_TASK_ALIGN_ALIGN_TEXT_H
#define STENO_TASK_ALIGN_ALIGN_TEXT_H
#include "audio/mel_stream.h"
#include "task/words/words.h"

/* A word of the text, including its punctuation. */
struct known_word {
    double start, end, probability; /* seconds in the file; NAN: the word was not found in the audio */
    size_t text, len;               /* bytes of known_text.split.text */
    int32_t line;
    int32_t first, n;         /* range in known_text.ids */
    int32_t spoken, n_spoken; /* the part of that range without punctuation */
};

/* A text split into words. */
struct known_text {
    struct buf ids;     /* int32_t */
    struct buf line_of; /* int32_t, line number of each id */
    struct buf known;   /* struct known_word, in order; words without text are left out */
    struct split split;
    int32_t n_lines; /* lines that are not blank */
};

void known_text_free(struct known_text *t);
/* Splits text[n] (any bytes) into lines and words. spaces: 1 if the language separates words with spaces. prepend and append are as in
 * struct words_request. Returns STENO_OK, STENO_ENOMEM, or STENO_EARG if the text has no words or too many words. */
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

/* ---- align_rules.c: which words to accept ---- */

enum { HEARD_ENOUGH = 1,     /* evidence that words are in the window */
       HEARD_SKIPPING = 8 }; /* the same if words before them are skipped: far above chance */

/* Finds which of n consecutive words are in the window, from their probabilities: [*from, *to), both 0 if none are. The evidence of a word
 * is the log of its probability over that of a word that was not spoken. The summed evidence must reach `enough`. */
void spoken_range(const double *probability, int32_t n, double enough, int32_t *from, int32_t *to);

/* Number of words of w[n] that are settled. They were aligned in one window together with the words up to w[all]. Settled words end by
 * `limit` seconds. They stop before two or more squeezed words in a row or a stretched word, because such words were aligned with the wrong
 * sound. If there is a pause in the second half of them, they stop at that pause. A stretched first word is cut short. */
int32_t settled_count(struct known_word *w, int32_t n, int32_t all, double limit);

/* Level above which a frame counts as sound. level: [n], in bels. Returns INFINITY if the level hardly changes. scratch: [n]. */
double sound_level(const double *level, int32_t n, double *scratch);

/* Frames [*begin, *end) that contain all sound of n frames: sound that lasts and is well above the quiet parts. Both are n if there is
 * none. */
void sound_find(int32_t *begin, int32_t *end, const double *level, int32_t n, double *scratch);

/* ---- align_windows.c ---- */

/* Finds the times of t's words in frames [from, to) of the audio that mel has read. q: language and punctuation. Returns STENO_OK,
 * STENO_ENOMEM, STENO_ECANCELED or STENO_ESOURCE; the reason is in s->error. */
int text_align(steno_session *s, struct mel_stream *mel, struct known_text *t, const struct words_options *q,
               const struct speech_options *speech, int64_t from, int64_t to);

/* ---- the public call ---- */

/* Aligns `text` with the audio of src. The words and their times become the session's results. p is complete. Returns the statuses above,
 * or STENO_EARG. */
int text_align_source(steno_session *s, struct mel_stream *mel, const steno_source *src, const char *text,
                      const steno_transcribe_params *p);
#endif
