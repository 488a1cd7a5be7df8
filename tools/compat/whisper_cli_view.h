/* steno: a transcript in whisper.cpp's form. SPDX-License-Identifier: MIT
 *
 * The segments are the same. Their tokens differ in three ways: the start timestamp of a segment is not listed, except 0.00; the end
 * token of a text without times is listed; and times are estimated as in whisper.cpp (whisper_cli_times.h). With special tokens in
 * texts, the start timestamp is a segment of its own, or the first word of a later segment, and a timestamp after the last segment of a
 * window is one more segment. Segments above the maximum length are cut before a token, at that token's start time. */
#ifndef STENO_TOOLS_WHISPER_CLI_VIEW_H
#define STENO_TOOLS_WHISPER_CLI_VIEW_H
#include "job.h"
#include "transcript.h"
#include "compat/whisper_cli_times.h"

/* Where the tokens of a window end. */
struct whisper_cli_end {
    int64_t at_ms, next_ms; /* its start, and the start of the next window by its last timestamp, which is that timestamp */
    int32_t n_tokens;
};

struct whisper_cli_rules {
    const struct whisper_cli_sound *sound; /* levels must be computed; NULL: tokens have no times */
    double threshold;
    int32_t max_len;   /* maximum characters of a segment; 0: no limit */
    int special;       /* 1: special tokens are part of texts, unless segments are cut */
    int by_words;      /* 1: cut only before tokens that begin with a space */
    const struct whisper_cli_end *ends; /* [n_ends] windows that have timestamps, in order */
    int n_ends;
    const struct join *join; /* not NULL: timestamps are times of the joined speech */
};

struct whisper_cli_view {
    struct transcript t;
    steno_segment *segs;
    steno_token *tokens;
    int32_t *ids, *first_token, *speakers;
    char *text;
};

/* @return 0, or -1 if out of memory; free the view in both cases. Uncut texts still belong to `t` */
int whisper_cli_view(struct whisper_cli_view *v, const struct transcript *t, const struct whisper_cli_rules *rules);
void whisper_cli_view_free(struct whisper_cli_view *v);
#endif
