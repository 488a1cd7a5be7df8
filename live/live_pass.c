/* steno: parameters of the passes over a turn. SPDX-License-Identifier: MIT */
#include "live_pass.h"
#include "live_words.h"

enum { RATE = 16000, PER_MS = RATE / 1000, POSITION = RATE / 50, STEP_CTX = 50 /* positions: a second */,
       BRIEF_MS = 250 /* the least speech of Silero VAD in files */,
       TOKENS_LEAST = 40, TOKENS_S = 50 /* above fast speech in scripts of which a letter has several */ };

int32_t pass_ctx(int64_t n, int64_t padding_ms, int32_t audio_ctx)
{
    const int64_t padded = n + padding_ms * PER_MS, steps = (padded + STEP_CTX * POSITION - 1) / (STEP_CTX * POSITION);
    return padding_ms && steps * STEP_CTX < audio_ctx ? (int32_t)steps * STEP_CTX : 0;
}

void pass_shorten(steno_transcribe_params *p, int64_t n, int64_t padding_ms, int32_t audio_ctx)
{
    if (!p->audio_ctx && !p->chunk_ms) p->audio_ctx = pass_ctx(n, padding_ms, audio_ctx);
}

int pass_is_greedy(const steno_transcribe_params *p)
{
    return !p->beam_size && !(p->temperature > 0) && !p->n_best;
}

int pass_is_doubtful(const steno_session *s)
{
    const uint32_t doubts = STENO_FLAG_NO_SPEECH | STENO_FLAG_REPETITION | STENO_FLAG_LOW_CONFIDENCE | STENO_FLAG_UNFINISHED;
    const int n = steno_segment_count(s);
    steno_segment g = { .size = sizeof g };
    for (int i = 0; i < n; i++)
        if (steno_segment_get(s, i, &g) != STENO_OK || g.flags & doubts) return 1;
    return n < 1;
}

int pass_words(struct words *to, const steno_session *s, int64_t off_ms, int keeps_repetition)
{
    const uint32_t doubts = STENO_FLAG_NO_SPEECH | (keeps_repetition ? 0 : STENO_FLAG_REPETITION);
    int rc = STENO_OK;
    live_words_clear(to);
    for (int i = 0; i < steno_segment_count(s) && !rc; i++) {
        steno_segment seg = { .size = sizeof seg };
        steno_segment_get(s, i, &seg);
        if (seg.flags & doubts) break;
        for (int32_t k = 0; k < seg.n_words && !rc; k++) {
            steno_word w = { .size = sizeof w };
            steno_word_get(s, i, k, &w);
            const size_t from = to->n;
            rc = live_words_add_units(to, w.text, off_ms + w.t0_ms, off_ms + w.t1_ms);
            live_words_rate(to, from, w.probability);
        }
        if (!seg.n_words && seg.text[0]) rc = live_words_add_text(to, seg.text, off_ms + seg.t0_ms, off_ms + seg.t1_ms);
    }
    return rc;
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
