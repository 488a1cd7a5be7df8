/* steno: live sound input. SPDX-License-Identifier: MIT
 *
 * Sources are a sound file, raw samples of another program, and a microphone. Files and samples are read as fast as possible or in real
 * time. */
#ifndef STENO_TOOLS_STREAM_SOUND_H
#define STENO_TOOLS_STREAM_SOUND_H
#include "cli/args.h"
#include <steno/steno.h>

enum stream_raw { RAW_NONE, RAW_S16LE, RAW_F32LE, RAW_U8, RAW_S24LE, RAW_S32LE, RAW_ALAW, RAW_MULAW };

struct stream_sound_opts { int raw, realtime, mic; int64_t rate, channels; };

#define STREAM_SOUND_ROWS(T) \
    ARG_HEADING("Sound"), \
    { .name = "raw", .kind = ARG_WORD, .at = offsetof(T, sound.raw), .value = "none|s16le|f32le|u8|s24le|s32le|alaw|mulaw", \
      .dflt = "none", .help = "FILE is raw samples of this type; none: an audio file" }, \
    { .name = "raw-rate", .kind = ARG_INT, .at = offsetof(T, sound.rate), .value = "HZ", .dflt = "16000", .lo = 1000, .hi = 384000, \
      .help = "samples of --raw per second" }, \
    { .name = "raw-channels", .kind = ARG_INT, .at = offsetof(T, sound.channels), .value = "N", .dflt = "1", .lo = 1, .hi = 64, \
      .help = "interleaved channels of --raw; they are mixed to one" }, \
    { .name = "realtime", .kind = ARG_FLAG, .at = offsetof(T, sound.realtime), \
      .help = "read FILE at its own speed, like live audio; latency_ms is then measured by the clock" }, \
    { .name = "mic", .kind = ARG_FLAG, .at = offsetof(T, sound.mic), \
      .help = "read a microphone until Ctrl-C: FILE is the name of the ALSA device, by default \"default\"" }

enum { STREAM_PIECE = 1600 }; /* maximum number of samples of a piece */

struct stream_sound;

/* Check for options that exclude each other. @return EXIT_OK or EXIT_USAGE, after a message */
int stream_sound_check(const struct stream_sound_opts *o);

/* file: NULL selects standard input, or the default microphone. @return a status, with the reason in *e */
int stream_sound_open(struct stream_sound **out, const struct stream_sound_opts *o, const char *file, steno_error *e);
void stream_sound_close(struct stream_sound *s); /* may be NULL */

/* Read the next piece; waits for it. @return the number of samples, 0 at the end or after a signal, or a status < 0 with the reason in
 * *e */
int64_t stream_sound_read(struct stream_sound *s, float pcm[STREAM_PIECE], steno_error *e);

/* How long the last piece had been waiting, in milliseconds. */
int64_t stream_sound_late_ms(const struct stream_sound *s);

int stream_sound_lost(const struct stream_sound *s); /* how often a microphone dropped samples */

/* Print the notes on the sound: where the clock of its file shifted it, and its loudness if there is no text. */
void stream_sound_notes(const struct stream_sound *s, const char *file, int has_text);

/* Time since the sound at t1_ms was spoken. Sources in real time (a microphone, --realtime) and pipes use the clock; the sound of a pipe
 * counts as spoken on arrival. For other sources it is a duration of sound, of which now_ms was read. */
int64_t stream_sound_latency_ms(const struct stream_sound *s, int64_t t1_ms, int64_t now_ms);
#endif
