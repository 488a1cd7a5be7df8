/* steno: parameters of the passes over a turn. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_LIVE_PASS_H
#define STENO_LIVE_LIVE_PASS_H
#include <steno/steno.h>

struct words;

/* Encoder positions of a pass over n samples and some silence after them. Most of a window is silence behind a turn, and a pass needs
 * little of it. audio_ctx: those of a window. @return 0: the whole window */
int32_t pass_ctx(int64_t n, int64_t padding_ms, int32_t audio_ctx);

/* Makes it a pass that encodes these positions, unless the caller has chosen some, or clips. */
void pass_shorten(steno_transcribe_params *p, int64_t n, int64_t padding_ms, int32_t audio_ctx);

int pass_is_greedy(const steno_transcribe_params *p); /* an update with these parameters decodes as a last pass does */
/* No text, or one that repeats itself, is improbable, or may be no speech. A short last pass is not enough then */
int pass_is_doubtful(const steno_session *s);

/* Replaces the words of `to` by those of the session's result, except those that the guards reject. Text that people repeat is kept, as in
 * files, by the last pass. off_ms: start of the decoded audio. @return STENO_OK, STENO_ENOMEM */
int pass_words(struct words *to, const steno_session *s, int64_t off_ms, int keeps_repetition);

/* Only the last pass of a turn uses temperature fallback, and not if there is too little audio for a word. */
int pass_is_brief(int64_t n);

void pass_fill_once(steno_transcribe_params *p); /* a pass without temperature fallback */

/* The text of n samples has at most the tokens that speech of this length can have, so that loops over short turns end early. sample_len:
 * the model's maximum */
void pass_limit(steno_transcribe_params *p, int64_t n, int32_t sample_len);
#endif
