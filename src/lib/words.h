/* steno: times of the words of a window. SPDX-License-Identifier: MIT
 *
 * The tokens of a window are run once more, all at once, and the cross-attention of the alignment heads says at which frame each was
 * heard. Words are cut, timed, given their punctuation, and made to agree with the segments they belong to.
 * Reference: openai-whisper 20250625, whisper/timing.py and the parts of whisper/transcribe.py that depend on word times. */
#ifndef STENO_LIB_WORDS_H
#define STENO_LIB_WORDS_H
#include "lib/lib.h"

/* A segment of the window before it is kept. */
struct draft {
    double start, end;           /* seconds in the file */
    int32_t first, n;            /* its tokens among the window's, timestamps included */
    int32_t first_word, n_words; /* among the window's words */
};

/* What is asked, the same for all windows of a call. */
struct words_request {
    const char *language;         /* code: some languages have no spaces */
    const char *prepend, *append; /* punctuation */
    double silence;               /* hallucination_silence_threshold, NAN: none */
};

/* Where a window lies. */
struct words_window {
    uint16_t lane;          /* a lane whose state may be overwritten, and whose window's cross keys are at hand */
    int64_t seek;           /* first frame (10 ms) */
    int32_t frames;         /* of audio */
    int64_t content_frames; /* of the whole audio */
    const int32_t *head;    /* [n_head] start of transcript, language, task: what stood before the text, without timestamps' ban */
    int32_t n_head;
    const int32_t *ids; /* [n] tokens of the window */
    int32_t n;
    int single_end; /* the window ends with one timestamp alone: all of it was used */
};

struct words {
    struct buf word; /* struct word, of the window at hand */
    struct buf text;
    struct buf scratch[4];
};

void words_free(struct words *w);

/* Words of drafts[*n_drafts], whose starts and ends are adjusted. last_speech: when the word before this window ended, seconds; updated.
 * *seek: in: where the next window begins by the tokens; out: by the words. Drafts may be dropped (*n_drafts falls) where
 * q->silence is given. STENO_OK, STENO_ENOMEM, STENO_ECANCELED, the reason in s->error */
int words_time(struct words *w, steno_session *s, const struct words_request *q, const struct words_window *at, struct draft *drafts,
               int *n_drafts, double *last_speech, int64_t *seek);
#endif
