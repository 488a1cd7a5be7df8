/* steno: the output files of whisper.cpp's whisper-cli. SPDX-License-Identifier: MIT
 *
 * The files are byte for byte the same in the cases of tests/data/compat: texts are the model's, with leading spaces; times have hours.
 * Everyone else uses the writers of output/. */
#ifndef STENO_TOOLS_WHISPER_CLI_WRITE_H
#define STENO_TOOLS_WHISPER_CLI_WRITE_H
#include "token_text.h"
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

/* Name of a token: its text, or a name in brackets. @return out */
enum { WCLI_TOKEN_SZ = TOKEN_TEXT_SZ };
const char *whisper_cli_token(char out[WCLI_TOKEN_SZ], const steno_model *m, int32_t id);

/* The speaker. @return "" if speakers are off */
const char *whisper_cli_speaker(const int32_t *who); /* "(speaker 0)" */
char whisper_cli_speaker_letter(const struct transcript *t, int seg); /* '0'; call only if speakers are on */

void whisper_cli_json(struct sink *f, const struct whisper_cli_result *r);
void whisper_cli_wts(struct sink *f, const struct whisper_cli_result *r);
#endif
