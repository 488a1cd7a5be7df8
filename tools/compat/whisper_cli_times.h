/* steno: token times as whisper.cpp estimates them. SPDX-License-Identifier: MIT
 *
 * Times are estimated from likely timestamps at each token, from the length of its text, and from the loudness of the sound. They count
 * in hundredths of a second. As in whisper.cpp, the loudness is always read from the start of the file, as if every segment began there. */
#ifndef STENO_TOOLS_WHISPER_CLI_TIMES_H
#define STENO_TOOLS_WHISPER_CLI_TIMES_H
#include <steno/steno.h>
#include <stddef.h>

/* Samples kept from the start of the sound: the longest segment, twice. */
enum { WCLI_SOUND_MAX = 64 * 16000 };
struct whisper_cli_sound {
    float *pcm;    /* [n] */
    float *level;  /* [n] mean of |sample| over 65 samples, valid after whisper_cli_levels */
    size_t n, cap;
};

/* Add samples [at, at + n) of the input. @return 0, or -1 if out of memory */
int whisper_cli_keep(struct whisper_cli_sound *s, int64_t at, const float *pcm, int64_t n);
int whisper_cli_levels(struct whisper_cli_sound *s); /* @return 0, or -1 if out of memory */
void whisper_cli_sound_free(struct whisper_cli_sound *s);

/* State carried from segment to segment. */
struct whisper_cli_clock { int64_t begin, last; int32_t last_id; };

struct whisper_cli_token {
    steno_token of;  /* its t0_ms and t1_ms receive the result */
    double vlen;
    int64_t t0, t1;
    char is_text;
};

/* Estimate the times of the tokens of a segment [t0, t1). */
void whisper_cli_times(struct whisper_cli_token *tok, int n, int64_t t0, int64_t t1, struct whisper_cli_clock *clock,
                       int32_t first_timestamp, double threshold, const struct whisper_cli_sound *sound);
double whisper_cli_voice_length(const char *text);
#endif
