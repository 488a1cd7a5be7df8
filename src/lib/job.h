/* steno: one call that transcribes, between the files that carry it out. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_JOB_H
#define STENO_LIB_JOB_H
#include "lib/lib.h"

#define INCREMENT_LEAST 0.01 /* of temperature: at most 101 attempts and their number fits the streams of random numbers */

/* What a decoded window is held against; NAN: nothing. */
struct limits { double ratio, logprob, no_speech, entropy; };

/* One decoding of a window and how it came out. */
struct attempt {
    int index, with_previous;
    double temperature, avg_logprob, no_speech_prob, ratio, entropy;
    int32_t n_tokens;
    uint32_t flags;          /* enum steno_flag, by the full limits */
};

/* From the parameters to the place where the next window begins. */
struct job {
    steno_session *s;
    const steno_transcribe_params *p;
    struct speech_request request;
    struct limits limits;    /* as the caller set them */
    struct limits full;      /* with the defaults for those switched off */
    int64_t seek, end;       /* frames */
    /* of the window at hand */
    int frames;              /* of audio in it */
    struct attempt kept;     /* its tokens: s->ids, s->run.lane[0].out */
};

/* params.c: ranges and combinations, whatever the model. STENO_EARG names the parameter. */
int params_check(steno_session *s, const steno_transcribe_params *p);

/* prompt.c: what stands before the tokens of a window. */
int prompt_begin(struct job *j);                          /* the initial prompt */
int32_t prompt_make(struct job *j, int previous, int *sot); /* into s->prompt; previous 0: without the text of earlier windows */
int prompt_has_previous(const struct job *j);
void history_add(steno_session *s, const int32_t *ids, int32_t n);
void history_forget(steno_session *s);

/* attempt.c: decode the window whose cross keys are at hand until an attempt passes; j->kept. */
void limits_init(struct job *j);
int window_decode(struct job *j);
int is_silence(const struct job *j);                      /* nobody spoke, and the text is not sure enough to say otherwise */
/* Text of ids below end-of-text, into s->text. */
void text_of(steno_session *s, const int32_t *ids, int32_t n);

/* guard.c: measures of a text. */
double token_entropy(const int32_t *ids, int32_t n);      /* nats, of the ids among the last 32 */
int tokens_loop(const int32_t *ids, int32_t n, int32_t text_end); /* the same few ids below text_end over and over */
/* Is the level of frames [from, to) of the audio, which lie in the window at hand, steady, as speech never is? */
int window_steady(const steno_session *s, int64_t from, int64_t to);
#endif
