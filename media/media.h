/* steno-media: declarations shared by the files of this folder. SPDX-License-Identifier: MIT
 *
 * media.c turns a path or a pipe into a seekable input; a backend turns the input into samples. */
#ifndef STENO_MEDIA_MEDIA_H
#define STENO_MEDIA_MEDIA_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "media_clock.h"
#include <steno/media.h>

#ifndef STENO_MEDIA_FFMPEG
#define STENO_MEDIA_FFMPEG 0
#endif

enum { MEDIA_RATE = 16000 };

/* Record a reason in *e as one line of valid UTF-8, and return status. e may be NULL. */
int media_fail(steno_error *e, int status, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
int media_nomem(steno_error *e, size_t need, const char *what);

/* Bytes with random access: a file, or memory (for tests and fuzzers). */
struct media_input {
    const char *name;      /* for messages */
    const uint8_t *mem;    /* [size]; NULL: read from fd */
    int fd;
    const uint8_t *head;   /* [head_sz] a header placed before the bytes of fd */
    int64_t head_sz;
    int64_t skip;          /* bytes of the file that the header replaces */
    int64_t size;          /* total size, including the header */
    int track;             /* the sound to decode, from 1; 0: the one that fits best. Set it, then rewind */
    int unclocked;         /* 1: ignore the times in the file; sounds follow each other directly */
    atomic_int *stop;      /* non-zero: stop */
    int (*ask)(void *user); /* a callback with the same result, used while the file is opened; may be NULL */
    void *user;
    struct media_live *live; /* source of a pipe that has not ended; size is then larger than any pipe. NULL: all bytes are available */
    /* Waits until at least `want` bytes have arrived, or the pipe has ended. Bytes before `at` will not be read again. @return bytes
     * available, or -errno */
    int64_t (*pull)(struct media_live *live, int64_t at, int64_t want);
};

int media_input_stopped(const struct media_input *in);

/* Read up to n bytes at `at`. @return bytes read, 0 at the end, or -errno */
int64_t media_input_read(const struct media_input *in, int64_t at, void *dst, size_t n);

/* Read exactly n bytes at `at`. @return 1, or 0 if there are fewer */
int media_input_exactly(const struct media_input *in, int64_t at, void *dst, size_t n);

/* Report that the file has n sounds and none of this number. @return the status */
int media_no_track(const struct media_input *in, int track, int n, int status, steno_error *e);

/* The result of reading, compared with what the file declares. */
struct media_decoded {
    int ended;           /* 1: some pass reached the end of the sound */
    int broken;          /* 1: that end was damage that cannot be skipped */
    int64_t ms;          /* length read up to there, or so far */
    int64_t promised_ms; /* length that the container declares for this sound; -1: none, or only an estimate */
    int64_t slack_ms;    /* tolerated difference of the two in complete files */
    int64_t damaged;     /* packets skipped */
    struct media_moved moved;
};

/* A decoder. `in` must outlive the object from open. Statuses are enum steno_status, with the reason in *e. */
struct media_backend {
    const char *text;                                                         /* names and versions */
    int (*probe)(const struct media_input *in, steno_error *e);               /* does the beginning look like sound? */
    int (*open)(void **d, const struct media_input *in, steno_error *e);      /* *d is NULL on failure */
    int64_t (*read)(void *d, float *pcm, int64_t n, steno_error *e);          /* 1..n samples, 0 at the end, < 0: status */
    int (*rewind)(void *d, steno_error *e);
    /* Move from the first sample to sample n, or to an earlier one if only that is exact. @return the sample reached, or a status */
    int64_t (*skip)(void *d, int64_t n, steno_error *e);
    /* takes effect at the next rewind; a number, or STENO_MEDIA_MIX */
    void (*select)(void *d, int channel);
    void (*close)(void *d);                                                   /* d may be NULL */
    int (*channels)(const void *d);                                           /* channels at the start of the sound */
    int (*tracks)(const void *d);                                             /* sounds in the file */
    int64_t (*duration_ms)(const void *d);                                    /* -1: not known */
    void (*decoded)(const void *d, struct media_decoded *h);
};

extern const struct media_backend media_ffmpeg; /* where STENO_MEDIA_FFMPEG is 1 */
extern const struct media_backend media_wav;

/* Whether the input is an undamaged WAV file of 16-bit mono samples at 16 kHz. It needs no conversion, so FFmpeg's libraries (20 ms and 25
 * MB of memory) are not loaded. */
int media_wav_is_plain(const struct media_input *in);

/* Make a plain header for a file whose own header misleads FFmpeg; see media_wav_head.c. @return the offset of the samples that follow the
 * header, -1: the file needs no header */
enum { MEDIA_WAV_FORMAT_MAX = 1 << 10 };
struct media_wav_head {
    uint8_t bytes[MEDIA_WAV_FORMAT_MAX + 29];
    uint32_t size;
};
int64_t media_wav_mend(struct media_wav_head *out, const struct media_input *in);

/* The number of the n bytes at `at` that can be read without waiting for more than `least` of them. For inputs other than pipes: the number
 * present. */
int64_t media_input_ready(const struct media_input *in, int64_t at, int64_t least, int64_t n);

/* A pipe that is copied as far as it is read. begin: copies nothing yet; end: copies the rest, as media_spool; close: frees memory outside
 * of *in, live may be NULL. once: the pipe is read once, forward, and may be endless. Its beginning is kept in memory, and moved to a disk
 * only if more of it is needed before there is sound. From `forget` on, bytes that were read are dropped. */
int media_live_begin(struct media_input *in, int fd, const char *dir, int once, steno_error *e);
void media_live_forget(struct media_live *live);
int media_live_has_forgotten(const struct media_live *live);      /* live may be NULL */
int media_live_error(const struct media_live *live, steno_error *e); /* why reading stopped, as *e and a status; STENO_OK: no error */
void media_live_own(struct media_live *live); /* makes close also close fd */
int media_live_end(struct media_input *in, const struct media_backend *backend, steno_error *e);
void media_live_close(struct media_live *live);

/* Copy all bytes of `fd` to *in, whose name and stop members are set. dir: folder of the copy; NULL: the system's folder. */
int media_spool(struct media_input *in, int fd, const char *dir, const struct media_backend *backend, steno_error *e);

/* The file size that the file's own structure declares, or -1. *begin: offset of the samples if the byte rate is constant, else 0. */
int64_t media_promised_size(const struct media_input *in, int64_t *begin);
/* Whether one clock covers an Ogg file, or the sound `pid` of a transport stream. 0: no, or unknown. */
int media_ogg_is_one(const struct media_input *in);
int media_ts_is_one(const struct media_input *in, int pid);
int media_ps_is_one(const struct media_input *in); /* an MPEG program stream */

/* AVI: whether only lists and chunks without sound lie in bytes [from, to); whether a chunk of `size` bytes is at `at`; whether the first
 * chunk of the file is there. */
int media_avi_has_no_sound(const struct media_input *in, int64_t from, int64_t to);
int media_avi_is_chunk(const struct media_input *in, int64_t at, int64_t size);
int media_avi_is_first(const struct media_input *in, int64_t at);

int media_size_is_open(uint32_t size); /* whether a chunk's size is one that writers use for an unknown size */
#endif
