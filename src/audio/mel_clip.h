/* steno: log-mel rows of a whole clip. SPDX-License-Identifier: MIT
 *
 * The frames of mel.h without padding to 30 seconds: the audio is mirrored at both ends, there are floor(n / 160) frames, and the largest
 * value of the clip limits the others. A clip that is too short is filled with zeros. Samples whose peak is above 1 are divided by it.
 * Reference: WhisperFeatureExtractor of transformers without padding; qwen-asr 0.0.6 for the peak and the shortest clip. */
#ifndef STENO_AUDIO_MEL_CLIP_H
#define STENO_AUDIO_MEL_CLIP_H
#include "audio/fbank.h"

enum { MEL_CLIP_LEAST = 8000 /* samples: half a second */ };

struct mel_clip { const struct fbank_bank *bank; struct mel_clip_thread *threads; };

void mel_clip_take(struct mel_clip *c, struct arena_take *t, const struct fbank_bank *bank, const steno_team *team);
/* The rows of pcm[n], n > 0, ld floats apart. @return their number, mel_clip_count(bank, n) */
int64_t mel_clip_rows(const struct mel_clip *c, steno_team *team, const float *pcm, int64_t n, float *out, size_t ld);
int64_t mel_clip_count(const struct fbank_bank *b, int64_t n);
size_t mel_clip_at(const struct fbank_bank *b, int64_t t, size_t ld); /* floats before frame t in rows that are ld floats apart */
#endif
