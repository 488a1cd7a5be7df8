/* steno: which language is spoken. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_LANGUAGE_H
#define STENO_TASK_LANGUAGE_H
#include "task/mel_stream.h"
#include "task/session.h"

/* Which language has been heard in how many windows; the best one's probabilities. */
struct language_vote {
    int n, over, best;
    int first; /* windows without any sound before the first that counts */
    int times[MAX_LANGUAGES];
    float kept[MAX_LANGUAGES];
};

/* The language asked for by name, in *lang: -1 where the audio or an English-only model tells it. STENO_EARG: the model knows none such */
int language_asked(steno_session *s, const char *name, int *lang);

/* Of the audio that `mel` has listened to; index or status. probs: [n] receives probabilities, NULL: nobody asks */
int language_detect(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, int segments, double threshold, float *probs, int n);

/* Of the window that is encoded in the decode slot, whose first lane is used; *probability: of that language. Index or status */
int language_of_slot(steno_session *s, uint32_t at, double *probability);

/* One step towards the language of a request: *lang where that is known, else what is heard, one window at a time, in *lang then. When it
 * is known the session's result says which. STENO_OK, STREAM_WAITS, or an error */
void language_vote_begin(struct language_vote *v);
int language_choose(steno_session *s, struct mel_stream *mel, uint32_t decode_slot, const steno_transcribe_params *p,
                    struct language_vote *v, int32_t *lang);
#endif
