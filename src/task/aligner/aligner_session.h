/* steno: state of a forced aligner. SPDX-License-Identifier: MIT
 *
 * A clip passes through the encoder. Its rows and the spoken words of its text are the prompt of a language model, which runs once. Its
 * head gives a class of time at each of the two marks behind a word. Nothing is queued: a call does its work at once. */
#ifndef STENO_TASK_ALIGNER_ALIGNER_SESSION_H
#define STENO_TASK_ALIGNER_ALIGNER_SESSION_H
#include "engine/session.h"
#include "model/parts.h"
#include "task/clips/clip_session.h"
#include "text/spoken_words.h"

struct aligner_session {
    struct fbank_stream stream; /* reads audio, and makes the rows of a clip */
    struct buf pcm;             /* float, samples from `at` on */
    int64_t at;
    struct spoken_words words;  /* of the current line or segment */
    struct buf prompt;          /* int32_t: ids of the words of the clip, and marks */
    struct buf ms, probability; /* int32_t, float: of each mark of the clip */
    struct buf text, scratch;
};

/* State in a batch. */
struct aligner_batch {
    struct clip_batch clips;
    float *rows; /* [rows of a run, d] output of the adaptor */
};

static inline struct aligner_session *aligner_of(const steno_session *s) { return s->part; }
static inline struct aligner_batch *aligner_batch_of(const struct steno_batch *b) { return b->part; }
static inline const struct aligner_model *aligner_model_of(const steno_model *m) { return m->part; }
static inline int64_t aligner_most_samples(const steno_model *m) { return fbank_samples_of_rows(fbank_bank_of(m), m->audio_ctx); }

/* ---- aligner_run.c: one clip */

/* Begins a clip's text, and adds the words in a->words to it. */
void aligner_text_begin(struct aligner_session *a);
int aligner_text_add(steno_session *s);
/* Aligns the text with pcm[n], 0 < n <= aligner_most_samples: fills a->ms, times from the clip's beginning that do not fall, and
 * a->probability. A status. */
int aligner_run(steno_session *s, const float *pcm, int64_t n);

/* ---- aligner_audio.c: the audio of clips */

void aligner_audio_begin(steno_session *s, const steno_source *src);
/* Samples [from, to) of the source, or as many as there are: *pcm[*n], valid until the next call. The source goes back to its beginning if
 * the range begins before the last one. A status. */
int aligner_audio_get(steno_session *s, int64_t from, int64_t to, const float **pcm, int64_t *n);

/* ---- the calls */

int aligner_align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p);
int aligner_align_result(steno_session *s, struct result *r, const steno_source *src, const steno_transcribe_params *p);
#endif
