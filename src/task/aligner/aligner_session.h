/* steno: state of a forced aligner. SPDX-License-Identifier: MIT
 *
 * Clips pass through the encoder. The rows of each and the spoken words of its text are the prompt of a language model, which runs once.
 * Its head gives a class of time at each of the two marks behind a word. The segments of transcripts are clips that share runs. Longer
 * audio is a chain of clips (search/align_chain.h). Nothing is queued: a call does its work at once. */
#ifndef STENO_TASK_ALIGNER_ALIGNER_SESSION_H
#define STENO_TASK_ALIGNER_ALIGNER_SESSION_H
#include "engine/task.h"
#include "model/parts.h"
#include "search/align_chain.h"
#include "task/clips/clip_session.h"
#include "text/spoken_words.h"

struct aligner_session {
    struct fbank_stream stream; /* reads audio, and makes the rows of a clip */
    struct buf pcm;             /* float, samples from `at` on */
    int64_t at;
    int64_t keep;               /* samples from here on are not dropped */
    struct spoken_words words;  /* of the current line or segment */
    struct buf prompt;          /* int32_t: ids of all words of the texts, and marks */
    struct buf ends;            /* int32_t: where each word ends in the prompt, behind its marks */
    struct buf clip_ms, clip_probability; /* int32_t, float: of each mark of the clips of a run */
    struct buf ms, probability; /* the same of each mark of a text that is a chain of clips */
    struct chain_kept kept;
    struct buf text, scratch;
};

/* Some words of the texts. */
struct aligner_words { size_t first, n; };

/* A clip of a run. */
struct aligner_clip {
    struct aligner_words words;
    int64_t n;      /* samples */
    int goes_on;    /* the audio goes on behind the clip, which is then alone in its run */
    int transcript, segment; /* the caller's: whose text it has */
    uint32_t rows;
    size_t mark;    /* the first of its marks among those of the run */
};

/* State in a batch. */
struct aligner_batch {
    struct clip_batch clips;
    struct aligner_clip *clip; /* [n_windows] of the run, each in the lane of its number */
    uint32_t n, blocks;        /* clips of the run; blocks of keys and values that their prompts take */
    float *rows;               /* [rows of a run, d] output of the adaptor */
};

static inline struct aligner_session *aligner_of(const steno_session *s) { return s->part; }
static inline struct aligner_batch *aligner_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct aligner_model *aligner_model_of(const steno_model *m) { return m->part; }
static inline int64_t aligner_most_samples(const steno_model *m) { return fbank_samples_of_rows(fbank_bank_of(m), m->audio_ctx); }

/* ---- aligner_audio.c: the audio of clips */

void aligner_audio_begin(steno_session *s, const steno_source *src);
/* Samples [from, to) of the source, or as many as there are: *pcm[*n], valid until the next call. The source goes back to its beginning if
 * the range begins before the last one and before a->keep. A status. */
int aligner_audio_get(steno_session *s, int64_t from, int64_t to, const float **pcm, int64_t *n);
/* Reads the source to its end, which is then a->stream.samples. A status. */
int aligner_audio_end(steno_session *s);

/* ---- aligner_run.c: clips that run together */

/* Begins texts, and adds the words in a->words to them: all, or none if it fails. */
void aligner_text_begin(struct aligner_session *a);
int aligner_text_add(steno_session *s);
static inline size_t aligner_text_words(const struct aligner_session *a) { return a->ends.len / sizeof(int32_t); }

void aligner_run_begin(steno_session *s);
/* Adds a clip: words of the texts, and pcm[c->n], 0 < c->n <= aligner_most_samples. *fits 0: the run has no room for it beside the others.
 * With goes_on the last words may be left out: those that do not fit. A status. */
int aligner_run_add(steno_session *s, const float *pcm, const struct aligner_clip *c, int *fits);
/* Aligns the clips of the run: fills a->clip_ms, times from the beginning of each clip that do not fall, and a->clip_probability. With
 * goes_on the words behind the first ones at the end of the clip are left out, and words.n is the number of words that were aligned. A
 * status. */
int aligner_run(steno_session *s);

/* ---- aligner_text.c: the whole text */

/* A range of the source, in samples. */
struct aligner_range { int64_t from, to; };
/* Aligns the only text with the range, of which n samples exist (to INT64_MAX: up to the end of the source): fills a->ms, times from
 * r->from on that do not fall, and a->probability, or nothing if n is 0. p: its progress is reported behind each clip; may be NULL. A
 * status. */
int aligner_text_run(steno_session *s, const struct aligner_range *r, const steno_transcribe_params *p, int64_t *n);

/* ---- aligner_align.c: a known text */

/* Checks the parameters of a call, and if the model can align. A status */
int aligner_check(steno_session *s, const steno_transcribe_params *p);

/* Where the words of a line or a segment are written to. */
struct aligner_place {
    double at, end;           /* seconds in the file: of its clip */
    const struct buf *ms, *probability; /* of marks; ms empty: no times */
    size_t mark;              /* the first of its marks */
    struct buf *text, *words; /* results */
};
/* Adds the words in a->words, which are those of `text`, to g, and sets the times of g. */
void aligner_words_add(const struct aligner_session *a, const char *text, const struct aligner_place *to, struct segment *g);

/* ---- the calls */

int aligner_align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p);
int aligner_align_results(steno_session *s, struct align_result *results, int n); /* aligner_results.c */
#endif
