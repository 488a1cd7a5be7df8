/* steno: was there a sound that moves? SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_TEXT_CHECKS_H
#define STENO_TASK_AR_TEXT_CHECKS_H
#include "task/ar/window_decoder.h"
#include <math.h>

void window_levels(struct window_decoder *w, const float *mel);   /* of the frames at hand, from their scaled log-mel; and w->voiceless */
/* Do the spectra of a window, [frames, n_mels] of scaled log-mel, stand for most of the time, as notes do and speech does not? */
int spectra_stand(const float *mel, int32_t frames, int n_mels);
/* Is it strokes alone, as clicks, knocks, claps and drums are: is none of its sounds held as a vowel is? */
int sound_strikes(const float *mel, int32_t frames, int n_mels);
int sound_whistles(const float *mel, int32_t frames, int n_mels); /* is there nothing below 1 kHz, as of birds and beeps? */
/* Is the level of frames [from, to) of the audio, which lie in the window at hand, steady, as speech never is? */
int window_steady(const struct window_decoder *w, int64_t from, int64_t to);

/* Half a second of a millisecond does not hang on how a product was rounded. */
static inline int64_t ms_of(double s)
{
    return (int64_t)nearbyint(s * 1000);
}

/* Which of the n drafts lie where the level is steady: w->mute. */
void drafts_judge(struct window_decoder *w, int n);
#endif
