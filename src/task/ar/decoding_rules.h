/* steno: the rules by which windows are decoded: those of the reference or those of whisper.cpp. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_DECODING_RULES_H
#define STENO_TASK_AR_DECODING_RULES_H
#include "audio/mel_stream.h"
#include "search/ar.h"
#include "task/ar/window_decoder.h"

struct decoding_rules {
    /* The audio. */
    int64_t (*audio_end)(const struct mel_stream *mel); /* frame at the end of the audio */
    int32_t clip_last_frames;    /* no window begins in the last frames of a clip */
    int mel_floor;               /* the rest of a short window is: 0: zero; 1: the level of silence */

    /* The prompt. */
    int (*prompt_encode)(steno_session *s, const char *text, struct buf *ids); /* appends the token ids of an initial prompt. A status */
    int holds_prefix;            /* 0.00 is placed before a prefix, and the text includes the prefix */
    int32_t context_marks;       /* tokens of max_context that are not earlier text: the start-of-previous token */
    int64_t (*context_past)(int64_t n_past, int64_t room); /* number of tokens of earlier text after a carried prompt; room: see prompt.c */
    int carried_is_previous;     /* a carried prompt counts as previous text */
    double context_temperature;  /* attempts at this temperature and above have no previous text */
    int32_t context_frames;      /* the last window has no previous text if it is at most this long; 0: it has */

    /* The search and its attempts. */
    struct ar_params (*search)(const struct window_decoder *w);
    int32_t (*last_time)(const struct window_decoder *w); /* first timestamp that ends the text; 0: none does */
    int keeps_best;              /* with guards, the best attempt is kept; 0: only with STENO_GUARDS_RETRY */
    int (*fails)(const struct limits *l, const struct attempt *a); /* without retries: is another attempt needed? NULL: the flags decide */

    /* The segments, and the text for the next window. */
    int drops_instants;          /* a segment whose end is its start loses its text */
    int remembers_windows;       /* 1: the next window's context gets the tokens of the window; 0: those of its segments */
    int forgets_unread;          /* earlier text that was not in the prompt is forgotten */
    int forgets_unsure;          /* earlier text is forgotten after an attempt at a high temperature, or one that failed */
};

extern const struct decoding_rules rules_openai, rules_ggml;

static inline const struct decoding_rules *rules_by(int32_t decoding)
{
    return decoding == STENO_DECODING_GGML ? &rules_ggml : &rules_openai;
}

static inline const struct decoding_rules *rules_of(const struct window_decoder *w)
{
    return rules_by(w->options.decoding);
}
#endif
