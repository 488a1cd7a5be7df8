/* steno: parameters of the passes over a turn. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_LIVE_PASS_H
#define STENO_LIVE_LIVE_PASS_H
#include <steno/steno.h>

/* Encoder positions of an update over n samples and some silence after them. Most of a window is silence behind a turn, and an update needs
 * little of it. audio_ctx: those of a window. @return 0: the whole window */
int32_t pass_ctx(int64_t n, int64_t padding_ms, int32_t audio_ctx);

/* Only the last pass of a turn uses temperature fallback, and not if there is too little audio for a word. */
int pass_is_brief(int64_t n);

void pass_fill_once(steno_transcribe_params *p); /* a pass without temperature fallback */

/* The text of n samples has at most the tokens that speech of this length can have, so that loops over short turns end early. sample_len:
 * the model's maximum */
void pass_limit(steno_transcribe_params *p, int64_t n, int32_t sample_len);
#endif
