/* steno: standard output of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_WHISPER_CLI_CONSOLE_H
#define STENO_TOOLS_WHISPER_CLI_CONSOLE_H
#include "transcript.h"
#include <stdint.h>

struct whisper_cli_console {
    uint64_t given;      /* enum whisper_cli_bits */
    const steno_model *model;
    int hidden;          /* an output file goes to standard output */
    int late;            /* 1: segments change after they arrive, so they are shown at the end */
    int begun;           /* 1: a segment was shown */
};

void whisper_cli_console_begin(struct whisper_cli_console *c, uint64_t given, const steno_model *m, int hidden);
void whisper_cli_console_segment(struct whisper_cli_console *c, const steno_session *s, const steno_segment *seg, const int32_t *who);
void whisper_cli_console_all(struct whisper_cli_console *c, const struct transcript *t); /* shows all segments at the end */
#endif
