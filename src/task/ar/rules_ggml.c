/* steno: the decoding rules of whisper.cpp. SPDX-License-Identifier: MIT
 *
 * Reference: whisper.cpp v1.8, src/whisper.cpp, whisper_full_with_state. */
#include "task/ar/decoding_rules.h"
#include "text/bpe.h"

enum {
    CLIP_LAST_FRAMES = 10, /* a tenth of a second */
    SHORT_FRAMES = 500,
    WINDOW_FRAMES = 3000
};

/* The last 200 samples are left out, which usually makes one frame less (n_len_org there). The division rounds towards zero. */
static int64_t audio_end(const struct mel_stream *mel)
{
    enum { HALF_A_WINDOW = 200 };
    return 1 + (mel->samples - HALF_A_WINDOW) / MEL_HOP;
}

/* A prompt is tokenized without changing its spaces. */
static int prompt_encode(steno_session *s, const char *text, struct buf *ids)
{
    longest_encode(&s->model->vocab, text, ids);
    return ids->err ? err_nomem(&s->error, ids->len, "the prompt") : STENO_OK;
}

static int64_t context_past(int64_t n_past, int64_t room)
{
    return room <= 0 ? 0 : n_past < room ? n_past : room;
}

/* Beams sample at any temperature. Above temperature 0 the number of beams is the number of candidates. */
static struct ar_params search_of(const struct window_decoder *w)
{
    const steno_transcribe_params *p = &w->request->p;
    const int beams = p->beam_size > 1, hot = w->attempts.now.temperature > 0, n = hot ? p->best_of : p->beam_size;
    const struct sequence_score_rules score = { .on = 1, .draws = beams ? p->beam_size : 0, .half = WINDOW_FRAMES / 4,
                                               .is_last = w->position.seek + WINDOW_FRAMES + CLIP_LAST_FRAMES >= w->position.end,
                                               .before = w->attempts.now.sequence, .entropy = p->entropy_threshold };
    return (struct ar_params){ .n_lanes = n > 1 ? n : 1, .beams = beams, .max_finished = 1, .length_penalty = p->length_penalty,
                               .score = score };
}

/* A timestamp within a tenth of a second of the audio's end ends the text. */
static int32_t last_time(const struct window_decoder *w)
{
    if (w->options.without_timestamps) return 0;
    const int64_t left = w->position.end - w->position.seek - CLIP_LAST_FRAMES, frames = 2 * (int64_t)window_ctx(w);
    const int64_t at = left > 1 ? (left + 1) / 2 : 1;
    return at <= frames ? w->s->model->tokens.timestamp_begin + (int32_t)at : 0;
}

/* An attempt fails if the search failed, or if its text is improbable and the window may contain speech. */
static int attempt_fails(const struct limits *l, const struct attempt *a)
{
    return a->is_bad || (a->avg_logprob < l->logprob && a->no_speech_prob < l->no_speech);
}

const struct decoding_rules rules_ggml = {
    .audio_end = audio_end,
    .clip_last_frames = CLIP_LAST_FRAMES,
    .mel_floor = 1,
    .prompt_encode = prompt_encode,
    .context_marks = 1,
    .context_past = context_past,
    .carried_is_previous = 1,
    .context_temperature = 0.5,
    .context_frames = SHORT_FRAMES,
    .search = search_of,
    .last_time = last_time,
    .fails = attempt_fails,
    .remembers_windows = 1,
    .forgets_unread = 1,
};
