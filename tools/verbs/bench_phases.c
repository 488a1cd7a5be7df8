/* steno: which phases of a model are timed. SPDX-License-Identifier: MIT */
#include "verbs/bench_phases.h"
#include <string.h>

enum { CLIP_TOKENS = 180 };

/* Models that decode windows token by token. */
static const struct phase window_phases[N_WINDOW_PHASES] = {
    { "load", "load_ms", "load", 1, 1, NULL, 0 },
    { "mel", "mel_ms", "mel", 1, 1, NULL, 0 },
    { "encode", "encode_ms", "encode", 1, 1, NULL, 0 },
    { "cross", "cross_ms", "cross", 1, 1, NULL, 0 },
    { "prompt", "prompt_ms_per_token", "prompt", N_TOKENS, N_TOKENS, NULL, 0 },
    { "decode", "decode_ms_per_token", "step", N_TOKENS, N_TOKENS, NULL, 0 },
    { "beam5", "beam5_ms_per_step", "step_beam5", N_TOKENS, N_TOKENS, NULL, 0 },
    { "batch", "batch8_ms_per_step", "step_batch8", N_TOKENS, N_TOKENS, NULL, 0 },
    { "total", "total_ms", "total", 1, TOTAL_TOKENS, NULL, 0 }, /* speech has about this number of tokens in a window */
};

/* Models that decode clips with a CTC head, or all tokens at once; clips of 30 s are timed. */
#define LOAD_ROW { "load", "load_ms", "load", 1, 1, NULL, 0 }
#define SECONDS_ROW(name, s, sum) { name, name "_" #s "s_ms", name "_" #s "s", 1, s, sum, 0 }
#define CTC_ROWS(s) \
    SECONDS_ROW("features", s, NULL), SECONDS_ROW("encode", s, "recognise_" #s "s"), SECONDS_ROW("ctc", s, "recognise_" #s "s")
#define CIF_ROWS(s, sum) SECONDS_ROW("features", s, NULL), SECONDS_ROW("encode", s, sum), SECONDS_ROW("cif", s, sum)
static const struct phase ctc_phases[] = { LOAD_ROW, CTC_ROWS(10), CTC_ROWS(30), CTC_ROWS(60) };
static const struct phase cif_phases[] = {
    LOAD_ROW, CIF_ROWS(10, NULL), CIF_ROWS(60, NULL), CIF_ROWS(30, "recognise_30s"),
    { "decode", "decode_180_tokens_ms", "decode_180_tokens", 1, CLIP_TOKENS, "recognise_30s", 0 },
};

/* Models that decode clips row by row; speech has about four tokens a second. */
#define TRANSDUCER_ROWS(s) SECONDS_ROW("features", s, NULL), SECONDS_ROW("encode", s, NULL)
static const struct phase transducer_phases[] = {
    LOAD_ROW, TRANSDUCER_ROWS(10), TRANSDUCER_ROWS(60), TRANSDUCER_ROWS(120), SECONDS_ROW("features", 30, NULL),
    SECONDS_ROW("encode", 30, "recognise_30s"), { "decode", "decode_120_tokens_ms", "decode_120_tokens", 1, 120, "recognise_30s", 0 },
};

/* Models of streams: 56 rows in chunks of 80, 160, 560 and 1120 ms. One stream, and eight beside each other. */
#define STREAM_ROWS(rows, ms)                                                                                                        \
    { "stream", "stream_chunk_" #ms "_ms", "stream_chunk_" #ms, 56 / rows, rows, NULL, ms },                                           \
    { "streams", "streams8_chunk_" #ms "_ms", "streams8_chunk_" #ms, 56 / rows, rows, NULL, WINDOWS * ms }
static const struct phase stream_phases[] = { LOAD_ROW, STREAM_ROWS(1, 80), STREAM_ROWS(2, 160), STREAM_ROWS(7, 560),
                                              STREAM_ROWS(14, 1120) };

/* Language models. */
static const struct phase text_phases[N_TEXT_PHASES] = {
    LOAD_ROW,
    { "prompt", "prompt128_ms_per_token", "prompt128", TEXT_SHORT, TEXT_SHORT, NULL, 0 },
    { "prompt", "prompt512_ms_per_token", "prompt512", TEXT_LONG, TEXT_LONG, NULL, 0 },
    { "decode", "decode_ms_per_token", "step", TEXT_STEPS, TEXT_STEPS, NULL, 0 },
    { "batch", "batch8_ms_per_step", "step_batch8", TEXT_STEPS, TEXT_STEPS, NULL, 0 },
};

/* Embedding models: one text, and eight short texts together. */
static const struct phase vector_phases[] = {
    LOAD_ROW,
    { "encode", "encode128_ms_per_token", "encode128", TEXT_SHORT, TEXT_SHORT, NULL, 0 },
    { "encode", "encode512_ms_per_token", "encode512", TEXT_LONG, TEXT_LONG, NULL, 0 },
    { "batch", "batch8_32_ms_per_text", "batch8_32", WINDOWS, TEXT_STEPS, NULL, 0 },
};

/* Audio language models: a clip of s seconds, whose prompt has n ids and rows, and whole clips with four tokens a second. */
#define AUDIO_LM_ROWS(s, n)                                                                                                          \
    LOAD_ROW, SECONDS_ROW("features", s, NULL), SECONDS_ROW("encode", s, "hear_" #s "s"), SECONDS_ROW("adapt", s, "hear_" #s "s"),    \
    { "prompt", "prompt_" #s "s_ms", "prompt_" #s "s", 1, n, "hear_" #s "s", 0 },                                                         \
    { "decode", "decode_ms_per_token", "step", TEXT_STEPS, TEXT_STEPS, NULL, 0 },                                                         \
    { "batch", "batch8_ms_per_step", "step_batch8", TEXT_STEPS, TEXT_STEPS, NULL, 0 },                                                    \
    { "clip", "clip_" #s "s_ms", "clip_" #s "s", 1, s, NULL, s * 1000 },                                                               \
    { "clips", "clips8_" #s "s_ms", "clips8_" #s "s", 1, s, NULL, WINDOWS * s * 1000 }
/* Fun-ASR-Nano: 23 ids and an eighth of the rows. Qwen3-ASR: 15 ids and 13 rows a second. */
static const struct phase nano_phases[] = { AUDIO_LM_ROWS(15, 23 + 32) };
static const struct phase audio_lm_phases[] = { AUDIO_LM_ROWS(30, 15 + 390) };

/* Voice-activity models, on one minute of sound. */
static const struct phase vad_phases[] = { LOAD_ROW, SECONDS_ROW("features", 60, "find_60s"), SECONDS_ROW("encode", 60, "find_60s") };

/* Punctuation models: a block of 20 words, the size that texts are split into, and the largest block of a run. */
static const struct phase mark_phases[] = {
    LOAD_ROW,
    { "mark", "mark20_ms_per_word", "mark20", 20, 20, NULL, 0 },
    { "mark", "mark200_ms_per_word", "mark200", 200, 200, NULL, 0 },
};

#define PHASES(table, kind) (struct phases){ table, sizeof(table) / sizeof *(table), kind }

static int serves(const steno_model *m, const char *parameter) { return steno_serves(m, STENO_CALL_TRANSCRIBE, parameter); }

struct phases phases_of(const steno_model *m, const steno_model_info *i)
{
    if (steno_serves(m, STENO_CALL_FIND_SPEECH, NULL)) return PHASES(vad_phases, BENCH_OTHER);
    if (steno_serves(m, STENO_CALL_PUNCTUATE, NULL)) return PHASES(mark_phases, BENCH_OTHER);
    if (i->n_text_ctx > 0 && !i->n_mels && !i->token_bytes) return PHASES(vector_phases, BENCH_OTHER);
    if (i->n_text_ctx > 0 && !i->n_mels) return PHASES(text_phases, BENCH_TEXTS);
    if (serves(m, "condition_on_previous_text")) return PHASES(window_phases, BENCH_WINDOWS);
    if (i->n_text_ctx > 0 && serves(m, "initial_prompt")) return PHASES(audio_lm_phases, BENCH_OTHER);
    if (i->n_text_ctx > 0) return PHASES(nano_phases, BENCH_CLIPS);
    if (serves(m, "lookahead")) return PHASES(stream_phases, BENCH_STREAMS);
    if (!strcmp(i->name, "tdt") || !strcmp(i->name, "rnnt")) return PHASES(transducer_phases, BENCH_CONFORMER);
    if (i->n_text_layer > 0) return PHASES(cif_phases, BENCH_CLIPS);
    return PHASES(ctc_phases, serves(m, "itn") ? BENCH_CLIPS : BENCH_CONFORMER);
}
