/* steno: how far a transcription is. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_PROGRESS_H
#define STENO_TOOLS_PROGRESS_H
#include <stdint.h>

enum progress_kind { PROGRESS_AUTO, PROGRESS_JSON, PROGRESS_LINES, PROGRESS_NONE }; /* in the order of PROGRESS_NAMES */
#define PROGRESS_NAMES "auto|json|lines|none"

struct progress {
    int kind; /* AUTO only while standard error is a terminal that can move its cursor */
    const char *file;
    int64_t begun_us, drawn_us;
    int64_t done_ms, total_ms;
    int percent; /* told last; -1: none yet */
};

int64_t progress_now_us(void); /* a clock that only goes forward */
void progress_begin(struct progress *p, int kind, int quiet, const char *file);
void progress_update(struct progress *p, int64_t done_ms, int64_t total_ms);
void progress_end(struct progress *p); /* wipes the bar */
#endif
