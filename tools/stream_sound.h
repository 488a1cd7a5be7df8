/* steno: the sound that somebody hears while it comes. SPDX-License-Identifier: MIT
 *
 * A sound file, samples of another program, at the speed they can be had or at their own; a microphone. */
#ifndef STENO_TOOLS_STREAM_SOUND_H
#define STENO_TOOLS_STREAM_SOUND_H
#include "args.h"
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

enum { STREAM_PIECE = 1600 }; /* samples: most of a piece */

struct stream_sound;

/* What does not go together. @return EXIT_OK or EXIT_USAGE, after a message */
int stream_sound_check(const struct stream_sound_opts *o);

/* file: NULL for standard input, or the microphone that is the default. @return a status, with the reason in *e */
int stream_sound_open(struct stream_sound **out, const struct stream_sound_opts *o, const char *file, steno_error *e);
void stream_sound_close(struct stream_sound *s); /* NULL is allowed */

/* The next piece, waiting for it. @return its samples, 0 at the end or after a signal, a status < 0 with the reason in *e */
int64_t stream_sound_read(struct stream_sound *s, float pcm[STREAM_PIECE], steno_error *e);

/* How long what was read last has been waiting. */
int64_t stream_sound_late_ms(const struct stream_sound *s);

int stream_sound_lost(const struct stream_sound *s); /* how often a microphone had to drop some */

/* Print the notes on it: where the clock of its file moved it, and how loud it is where there is no text. */
void stream_sound_notes(const struct stream_sound *s, const char *file, int has_text);

/* How long ago the sound at t1_ms was spoken: by the clock, where the sound has its speed by itself (a microphone, --realtime) or comes
 * through a pipe, where it counts as spoken when it came; else in time of the sound, of which now_ms was read. */
int64_t stream_sound_latency_ms(const struct stream_sound *s, int64_t t1_ms, int64_t now_ms);
#endif
