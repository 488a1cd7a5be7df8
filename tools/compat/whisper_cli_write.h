/* steno: what whisper.cpp's whisper-cli writes: files, and standard output. SPDX-License-Identifier: MIT
 *
 * The files are byte for byte the same in the cases of tests/data/compat: texts are the model's, with leading spaces; times have hours.
 * Everyone else uses the writers of output/. */
#ifndef STENO_TOOLS_WHISPER_CLI_WRITE_H
#define STENO_TOOLS_WHISPER_CLI_WRITE_H
#include "compat/whisper_cli_view.h"
#include "transcript.h"
#include <stdint.h>

enum whisper_cli_bits {
    WCLI_TXT = 1 << 0, WCLI_VTT = 1 << 1, WCLI_SRT = 1 << 2, WCLI_WTS = 1 << 3, WCLI_CSV = 1 << 4, WCLI_JSON = 1 << 5, WCLI_LRC = 1 << 6,
    WCLI_SCORE = 1 << 7, /* files, in the order in which they are written */
    WCLI_FULL = 1 << 8, WCLI_DIARIZE = 1 << 9, WCLI_TURNS = 1 << 10, WCLI_BARE = 1 << 11, WCLI_SPECIAL = 1 << 12, WCLI_COLORS = 1 << 13,
    WCLI_CONFIDENCE = 1 << 14, WCLI_TRANSLATE = 1 << 15, WCLI_QUIET = 1 << 16, WCLI_CUT = 1 << 17, WCLI_DETECT = 1 << 18,
    WCLI_GRAMMAR = 1 << 19, WCLI_RULE = 1 << 20, WCLI_HELP = 1 << 21, WCLI_VERSION = 1 << 22, WCLI_VAD = 1 << 23,
};

/* A transcript and the command line. */
struct whisper_cli_result {
    const struct transcript *t; /* of a view (whisper_cli_view.h) */
    uint64_t given;       /* enum whisper_cli_bits */
    const char *input, *model, *language, *font; /* as typed */
    int64_t n_samples;    /* length of the sound */
    int32_t offset_n;
};

struct whisper_cli_writer {
    unsigned bit;
    const char *extension; /* appended to the name, which keeps its own ending */
    void (*write)(struct sink *f, const struct whisper_cli_result *r);
};

extern const struct whisper_cli_writer whisper_cli_writers[]; /* ends with a NULL extension */

void whisper_cli_json(struct sink *f, const struct whisper_cli_result *r);

/* ---- standard output --------------------------------------------------------------------------------------------------------- */

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
