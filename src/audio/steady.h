/* steno: levels of frames, and whether a sound is steady. SPDX-License-Identifier: MIT
 *
 * The level of a frame is the mean of log10 of its bands, in bels, so it changes with a voice that fills some bands only. The level of
 * speech varies by 7 dB and more even in loud noise; that of silence, tones, hum and steady noise by less than 3 dB. */
#ifndef STENO_AUDIO_STEADY_H
#define STENO_AUDIO_STEADY_H
#include "audio/fbank.h"

enum { LEVELS_PER_B = 100, LEVEL_BINS = 2048 };

int level_bin(double b);                              /* of a level in bels; those of -10 and less are in bin 0 */
int level_at(const int32_t *count, int64_t rank);     /* level of the frame of this rank, in bins; count: [LEVEL_BINS] frames per bin */

/* Is the fifth level from above less than 4 dB above the 10th percentile? A sound has at least five frames, so the others are background.
 * Five frames or fewer: 1 */
int levels_are_steady(const float *level, int64_t n);

/* Level of a frame, in bels. peak: mean of the loudest eight adjacent bands above noise of the last of 16 bits, less 0.6 */
struct frame_level { float mean, peak; };

/* Is no mean of peaks over 50 ms above 0, so that nothing is louder than noise of the last of 16 bits? Speech of three steps is. n 0 proves
 * nothing: 0 */
int levels_lack_sound(const struct frame_level *level, int64_t n);
/* Is there no speech in n frames? So it is if there is no sound, or if they are two seconds or more and their means over 50 ms are even:
 * the fifth mean from above is less than 1.4 dB above the 10th percentile, and that of the peaks less than 6.5 dB; less than 3 dB if the
 * sound is faint, with peaks below 1.2. */
int levels_lack_speech(const struct frame_level *level, int64_t n);

/* Level of a frame from its logarithms of the bands, as the bank writes them before they are shifted, scaled or normalised. */
struct frame_level level_of_frame(const struct fbank_bank *b, const float *x);

/* Sets b->last_bit and b->last_power. weight: [n_mels, fft / 2 + 1] of the bands; window: [n] */
struct level_window { const float *weight, *window; int n, fft; };
void level_init(struct fbank_bank *b, const struct level_window *w);
#endif
