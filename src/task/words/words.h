/* steno: times of the words of a window. SPDX-License-Identifier: MIT
 *
 * The tokens of a window are run once more, all at once, and the cross-attention of the alignment heads says at which frame each was
 * heard. Words are cut, timed, given their punctuation, and made to agree with the segments they belong to.
 * Reference: openai-whisper 20250625, whisper/timing.py and the parts of whisper/transcribe.py that depend on word times. */
#ifndef STENO_TASK_WORDS_WORDS_H
#define STENO_TASK_WORDS_WORDS_H
#include "task/session.h"
#include "text/words.h"

/* A segment of the window before it is kept. */
struct draft {
    double start, end;           /* seconds in the file */
    double said, silent;         /* the same as the model chose them, whatever its words do to them */
    int32_t first, n;            /* its tokens among the window's, timestamps included */
    int32_t first_word, n_words; /* among the window's words */
};

/* What words change of a window. */
struct window_drafts {
    struct draft *draft; /* [n], whose starts and ends are adjusted; drafts may be dropped */
    int n;
    double last_speech;  /* when the word before this window ended, seconds; then the last one of this window */
    int64_t seek;        /* where the next window begins: by the tokens, then by the words */
};

/* What is asked, the same for all windows of a request. */
struct words_options {
    const char *language;         /* code: some languages have no spaces */
    const char *prepend, *append; /* punctuation; NULL: WORDS_PREPEND, WORDS_APPEND */
    double silence;               /* hallucination_silence_threshold, NAN: none */
};

/* Where a window lies. */
struct words_window {
    struct steno_batch *b;  /* the session's, or the exact one beside it */
    uint16_t lane;          /* a lane of it whose state may be overwritten, and whose window's cross keys are at hand */
    int64_t seek;           /* first frame (10 ms) */
    int32_t frames;         /* of audio */
    int32_t full;           /* frames that a whole window has */
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
    int skipped; /* the window is left out for the silence it begins with: nothing of it counts, as if it had not been decoded */
    struct split split;
    struct buf jump; /* int32_t, of the texts of all drafts one after the other, as far as they were aligned, and of their end: first frame
                      * (20 ms) of each */
    struct buf ids, prob, timing; /* scratch */
};

void words_free(struct words *w);

/* Words of the drafts. Some may be dropped where q->silence is given; w->skipped says that the window counts for nothing. What is left to
 * the caller: drafts without text, or without length after this call, lose text, tokens and words. STENO_OK, STENO_ENOMEM, STENO_ECANCELED,
 * the reason in s->error */
int words_time(struct words *w, steno_session *s, const struct words_options *q, const struct words_window *at, struct window_drafts *d);

/* ---- between words.c, words_place.c and words_adjust.c ---- */

/* What an alignment tells about text ids. */
struct heard {
    const int32_t *ids;  /* [n + 1] text ids and end of text */
    int32_t n;           /* 0: nothing could be aligned */
    const float *prob;   /* [n] */
    const float *matrix; /* [n + 1, n_ctx]: the row that predicts ids[i] is row i; the last one predicts the end of text */
    size_t ld;           /* floats between its rows */
    int32_t n_ctx;       /* frames of 20 ms */
};

/* A word before it is kept; times from the window's start. */
struct timing {
    double start, end, probability;
};

/* Cut h->ids into w->split and find w->timing[n] of the words, the end of text left out, before and without punctuation merged.
 * STENO_ENOMEM or STENO_OK; *n: their number, 0 where nothing was aligned */
int words_find(struct words *w, const struct vocab *v, int32_t eot, const char *language, const struct heard *h, size_t *n);
/* The rest of words_time, once the alignment is known. STENO_ENOMEM or STENO_OK */
int words_place(struct words *w, const struct vocab *v, int32_t eot, const struct words_options *q, const struct words_window *at,
                const struct heard *h, struct window_drafts *d);
/* Ends of sentences are not spoken for long: n timings of split's words; *median: of the durations that are not 0, at most 0.7 s.
 * STENO_ENOMEM or STENO_OK */
int timing_trim(struct timing *t, const struct split *split, size_t n, double *median);
/* The draft's words w, one at least, against its start and end, which move too; median: see timing_trim. */
void draft_adjust(struct draft *d, struct word *w, double median, double last_speech);
/* Where the next window begins, by the words; drafts that look invented are dropped. @return 1: the window is to be skipped */
int words_seek(const struct words *w, double silence, const struct words_window *at, struct window_drafts *d);

/* x rounded to n / 100 as CPython's round(x, 2) does: the decimal nearest to the exact value, the even one of two. */
double round_cents(double x);
#endif
