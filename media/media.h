/* steno-media: what the parts of this folder share. SPDX-License-Identifier: MIT
 *
 * media.c turns a path or a pipe into a seekable input; a backend turns the input into samples. */
#ifndef STENO_MEDIA_MEDIA_H
#define STENO_MEDIA_MEDIA_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "steno_media.h"

#ifndef STENO_MEDIA_FFMPEG
#define STENO_MEDIA_FFMPEG 0
#endif

enum { MEDIA_RATE = 16000, MEDIA_MIX = 0 }; /* MEDIA_MIX: in place of a channel's number, all channels mixed to one */

/* Record a reason in *e (NULL: nothing) as one line of valid UTF-8 and return status. */
int media_fail(steno_error *e, int status, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
int media_nomem(steno_error *e, size_t need, const char *what);

/* Bytes that can be read at any place: a file, or memory (tests and fuzzers). */
struct media_input {
    const char *name;      /* for messages */
    const uint8_t *mem;    /* [size], or NULL: fd is read */
    int fd;
    int64_t size;
    atomic_int *stop;      /* non-zero: give up */
};

/* Read up to n bytes at `at`. @return bytes read, 0 at the end, or -errno */
int64_t media_input_read(const struct media_input *in, int64_t at, void *dst, size_t n);

/* A way to decode. `in` outlives what open gives. Statuses are enum steno_status, with the reason in *e. */
struct media_backend {
    const char *text;                                                         /* names and versions */
    int (*open)(void **d, const struct media_input *in, steno_error *e);      /* *d is NULL on failure */
    int64_t (*read)(void *d, float *pcm, int64_t n, steno_error *e);          /* 1..n samples, 0 at the end, < 0: status */
    int (*rewind)(void *d, steno_error *e);
    void (*select)(void *d, int channel);                                     /* MEDIA_MIX or 1..channels; counts from the next rewind on */
    void (*close)(void *d);                                                   /* NULL is allowed */
    int (*channels)(const void *d);                                           /* that the sound began with */
    int64_t (*duration_ms)(const void *d);                                    /* -1: not known */
    int64_t (*damaged)(const void *d);                                        /* packets skipped since open or rewind */
};

extern const struct media_backend media_ffmpeg; /* where STENO_MEDIA_FFMPEG is 1 */
extern const struct media_backend media_wav;

/* Whether the input is an undamaged WAV file of 16-bit mono samples at 16 kHz: nothing to convert, so that FFmpeg's libraries (20 ms
 * and 25 MB of memory) need not be loaded. */
int media_wav_is_plain(const struct media_input *in);
#endif
