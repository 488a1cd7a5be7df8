/* steno: spoken language detection. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_WINDOW_LANGUAGE_H
#define STENO_TASK_WINDOW_LANGUAGE_H
#include "audio/mel_stream.h"
#include "engine/session.h"

/* Votes: the language of each window; the probabilities of the best one. */
struct language_vote {
    int n, over, best;
    int first; /* silent windows before the first one that counts */
    int times[MAX_LANGUAGES];
    float kept[MAX_LANGUAGES];
};

/* Looks up the requested language; *lang: -1 if it must be detected or the model is English-only. STENO_EARG: the model does not have it */
int language_asked(steno_session *s, const char *name, int *lang);

/* Detects the language of the audio that `mel` has read. Returns its index or a status. probs: [n], may be NULL */
int language_detect(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, int segments, double threshold, float *probs, int n);

/* Detects the language of the window that is encoded in the decode slot, using the slot's first lane. *probability: of that language.
 * Returns its index or a status */
int language_of_slot(steno_session *s, uint32_t at, double *probability);

/* One step of language detection for a request, one window at a time. *lang is set when the language is known, and then the session's
 * result has it. STENO_OK, STREAM_WAITS, or an error */
void language_vote_begin(struct language_vote *v);
int language_choose(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, const steno_transcribe_params *p,
                    struct language_vote *v, int32_t *lang);
#endif
