/* steno: output of the verb stream. SPDX-License-Identifier: MIT
 *
 * jsonl: one line per event. txt: final words on arrival, one line per turn. srt, vtt: the cues of a turn at its end. */
#ifndef STENO_TOOLS_STREAM_TEXT_H
#define STENO_TOOLS_STREAM_TEXT_H
#include "live.h"
#include "input/stream_sound.h"
#include <stddef.h>

enum stream_form { STREAM_JSONL, STREAM_TXT, STREAM_SRT, STREAM_VTT }; /* in the order of the values of --output-format */
#define STREAM_FORMS "jsonl|txt|srt|vtt"

struct stream_text {
    int form;                   /* enum stream_form */
    int code;                   /* EXIT_OK, or the code to end with, after a message */
    const struct stream_sound *sound;
    int has_text, n_cues, in_line;
};

void stream_text_begin(struct stream_text *t);
void stream_text_event(void *user, const struct live_event *e); /* user: struct stream_text */
#endif
