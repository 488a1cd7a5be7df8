/* steno: detects windows without speech by level and spectrum. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_SOUND_CHECKS_H
#define STENO_TASK_AR_SOUND_CHECKS_H
#include "task/ar/window_decoder.h"
#include <math.h>

void window_levels(struct window_decoder *w, const float *mel);   /* from the window's scaled log-mel; also sets w->window.voiceless */
/* Do the spectra of the window stay the same most of the time, as those of notes do and those of speech do not? mel: [frames, n_mels],
 * scaled log-mel */
int spectra_stand(const float *mel, int32_t frames, int n_mels);
/* Does the sound consist of strokes only (clicks, knocks, claps, drums), none of which is held like a vowel? */
int sound_strikes(const float *mel, int32_t frames, int n_mels);
int sound_whistles(const float *mel, int32_t frames, int n_mels); /* is there no energy below 1 kHz, as in birds and beeps? */
/* Is the level of frames [from, to) of the audio steady? Speech is never steady. The frames lie in the current window. */
int window_steady(const struct window_decoder *w, int64_t from, int64_t to);

/* Seconds to milliseconds. A result near half a millisecond does not depend on the rounding of the product. */
static inline int64_t ms_of(double s)
{
    return (int64_t)nearbyint(s * 1000);
}

/* Sets w->window.mute for those of the n drafts that lie where the level is steady. */
void drafts_judge(struct window_decoder *w, int n);
/* Clamps segments to the end of the audio in the window. A segment that begins after that end is moved before it with its length, but not
 * into the previous segment. The reference writes the times that the model chose. */
void drafts_end_with_sound(struct decoder_content *window, int64_t seek, int n);
/* A sentence of a grammar is kept or dropped as a whole. It is dropped if all of it lies on silence: 1. */
int drafts_mute(const struct decoder_content *window, int n);
#endif
