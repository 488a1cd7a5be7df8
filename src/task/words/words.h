/* steno: word times of a window. SPDX-License-Identifier: MIT
 *
 * The tokens of a window run once more, all at once, in one replay of the decoder's alignment plan. Besides the decoder's output it gives
 * the attention of the alignment heads over the audio: softmax over the frames of the window, normalised over the tokens for each head and
 * frame, median-filtered over seven frames, averaged over heads. It gives the frame of each token. The tokens are then split into words,
 * timed, merged with punctuation, and made consistent with their segments. Reference: openai-whisper 20250625, whisper/timing.py
 * (find_alignment) and the parts of whisper/transcribe.py that depend on word times. */
#ifndef STENO_TASK_WORDS_WORDS_H
#define STENO_TASK_WORDS_WORDS_H
#include "engine/session.h"
#include "text/words.h"

/* Where to align tokens. */
struct align_place {
    struct steno_batch *b; /* the session's batch, or its exact copy */
    uint16_t lane;         /* a lane that holds the window's cross keys; its self-attention state is overwritten */
    int32_t n_ctx;         /* number of encoder positions (20 ms) with audio */
};

/* Result of an alignment. */
struct alignment {
    const float *matrix;   /* [n, ld] attention averaged over heads; valid until the next run */
    size_t ld;
    float *prob;           /* [n], owned by the caller: for i > 0 the probability of ids[i] after ids[0 .. i-1], among ids less than
                            * end-of-text; prob[0] is 1; other ids get 0. May be NULL */
};

/* Aligns ids[n] (n <= the text context). @return STENO_OK, STENO_ECANCELED, STENO_EARG; the reason is in s->error */
int align_run(steno_session *s, const struct align_place *at, const int32_t *ids, int32_t n, struct alignment *out);

/* A segment of the window before it is added to the results. */
struct draft {
    double start, end;           /* seconds in the file */
    double model_start, model_end; /* start and end as the model chose them, before words adjust them */
    int32_t first, n;            /* its tokens within the window, including timestamps */
    int32_t first_word, n_words; /* its words within the window's words */
};

/* The part of a window that word times change. */
struct window_drafts {
    struct draft *draft; /* [n]; starts and ends are adjusted, and drafts may be dropped */
    int n;
    double last_speech;  /* end of the last word before this window, in seconds; then that of this window */
    int64_t seek;        /* start of the next window: set from the tokens, then from the words */
};

/* Options, the same for all windows of a request. */
struct words_options {
    const char *language;         /* code; some languages have no spaces */
    const char *prepend, *append; /* punctuation to merge; NULL selects WORDS_PREPEND, WORDS_APPEND */
    double silence;               /* hallucination_silence_threshold; NAN disables it */
};

/* Position of a window. */
struct words_window {
    struct steno_batch *b;  /* the session's batch, or its exact copy */
    uint16_t lane;          /* a lane that holds the window's cross keys; its self-attention state is overwritten */
    int64_t seek;           /* first frame (10 ms) */
    int32_t frames;         /* of audio */
    int32_t full;           /* frames of a full window */
    int64_t content_frames; /* length of the whole audio */
    const int32_t *head;    /* [n_head] start of transcript, language, task: the prompt without the no-timestamps token */
    int32_t n_head;
    const int32_t *ids; /* [n] tokens of the window */
    int32_t n;
    int single_end; /* the window ends with a single timestamp: all of it was used */
};

struct words {
    struct buf word; /* struct word, of the current window */
    struct buf text;
    int skipped; /* the window begins with silence and counts as not decoded */
    struct split split;
    struct buf jump; /* int32_t first frame (20 ms) of each aligned text id of all drafts in order, and of end-of-text */
    struct buf ids, prob, timing; /* scratch */
};

void words_free(struct words *w);

/* Finds the words of the drafts. With q->silence, drafts may be dropped, and w->skipped marks a window that does not count. The caller must
 * clear text, tokens and words of drafts that have no text, or no length after this call. STENO_OK, STENO_ENOMEM, STENO_ECANCELED; the
 * reason is in s->error */
int words_time(struct words *w, steno_session *s, const struct words_options *q, const struct words_window *at, struct window_drafts *d);

/* ---- internal to words.c and words_adjust.c ---- */

/* Alignment of text ids. */
struct word_attention {
    const int32_t *ids;  /* [n + 1] text ids and end-of-text */
    int32_t n;           /* 0: alignment was not possible */
    const float *prob;   /* [n] */
    const float *matrix; /* [n + 1, n_ctx]: row i predicts ids[i]; the last row predicts end-of-text */
    size_t ld;           /* distance between its rows, in floats */
    int32_t n_ctx;       /* frames of 20 ms */
};

/* Times of a word before it is added, from the window's start. */
struct timing {
    double start, end, probability;
};

/* Splits h->ids into w->split and finds w->timing[n] of the words, without end-of-text and before punctuation is merged. *n: their number,
 * 0 if alignment was not possible. STENO_ENOMEM or STENO_OK */
int words_find(struct words *w, const struct vocab *v, int32_t eot, const char *language, const struct word_attention *h, size_t *n);
/* The rest of words_time, after the alignment. STENO_ENOMEM or STENO_OK */
int words_place(struct words *w, const struct vocab *v, int32_t eot, const struct words_options *q, const struct words_window *at,
                const struct word_attention *h, struct window_drafts *d);
/* Shortens words at the ends of sentences. t: n timings of split's words. *median: median of the non-zero durations, at most 0.7 s.
 * STENO_ENOMEM or STENO_OK */
int timing_trim(struct timing *t, const struct split *split, size_t n, double *median);
/* Adjusts a draft and its words w, at least one, to each other. median: see timing_trim. */
void draft_adjust(struct draft *d, struct word *w, double median, double last_speech);
/* Computes the start of the next window from the words, and drops drafts that look hallucinated. @return 1: the window is skipped */
int words_seek(const struct words *w, double silence, const struct words_window *at, struct window_drafts *d);

/* Rounds x to n / 100 like CPython's round(x, 2): the decimal nearest to the exact value, ties to even. */
double round_cents(double x);
#endif
