/* steno: parameters of the passes over a turn. SPDX-License-Identifier: MIT */
#include "live_pass.h"

enum { RATE = 16000, PER_MS = RATE / 1000, POSITION = RATE / 50, STEP_CTX = 50 /* positions: a second */,
       BRIEF_MS = 250 /* the least speech of Silero VAD in files */,
       TOKENS_LEAST = 40, TOKENS_S = 50 /* above fast speech in scripts of which a letter has several */ };

int32_t pass_ctx(int64_t n, int64_t padding_ms, int32_t audio_ctx)
{
    const int64_t padded = n + padding_ms * PER_MS, steps = (padded + STEP_CTX * POSITION - 1) / (STEP_CTX * POSITION);
    return padding_ms && steps * STEP_CTX < audio_ctx ? (int32_t)steps * STEP_CTX : 0;
}

int pass_is_brief(int64_t n)
{
    return n < BRIEF_MS * PER_MS;
}

void pass_fill_once(steno_transcribe_params *p)
{
    p->temperature_increment_on_fallback = p->n_fallback_temperatures = 0;
    if (!(p->temperature > 0)) p->best_of = 0; /* then nothing is drawn */
}

void pass_limit(steno_transcribe_params *p, int64_t n, int32_t sample_len)
{
    const int32_t most = (int32_t)(TOKENS_LEAST + n * TOKENS_S / RATE);
    if (most < (p->sample_len ? p->sample_len : sample_len)) p->sample_len = most;
}
