/* steno: a transcript as whisper.cpp has it. SPDX-License-Identifier: MIT
 *
 * The same segments, with three differences in their tokens: the time that a segment begins with is not listed, but for 0.00; the end of a
 * text without times is listed; and times are estimated as there (whisper_cli_times.h). With special tokens in texts the time that a
 * segment begins with is a segment of its own, or of a later one the first word. Where segments are to be shorter they are cut before a
 * token, when that one begins. */
#ifndef STENO_TOOLS_WHISPER_CLI_VIEW_H
#define STENO_TOOLS_WHISPER_CLI_VIEW_H
#include "transcript.h"
#include "whisper_cli_times.h"

struct whisper_cli_rules {
    const struct whisper_cli_sound *sound; /* with levels; NULL: tokens have no times */
    double threshold;
    int32_t max_len;   /* most characters of a segment; 0: any number */
    int special;       /* 1: special tokens stand in texts, where these are not cut */
    int by_words;      /* it is cut before what begins with a space */
};

struct whisper_cli_view {
    struct transcript t;
    steno_segment *segs;
    steno_token *tokens;
    int32_t *ids, *first_token, *speakers;
    char *text;
};

/* @return 0, or -1 in want of memory; to be freed in any case. Texts that are not cut stay those of `t` */
int whisper_cli_view(struct whisper_cli_view *v, const struct transcript *t, const struct whisper_cli_rules *rules);
void whisper_cli_view_free(struct whisper_cli_view *v);
#endif
