/* steno-media: what the parts of this folder share. SPDX-License-Identifier: MIT
 *
 * media.c turns a path or a pipe into a seekable input; a backend turns the input into samples. */
#ifndef STENO_MEDIA_MEDIA_H
#define STENO_MEDIA_MEDIA_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "media_clock.h"
#include "steno_media.h"

#ifndef STENO_MEDIA_FFMPEG
#define STENO_MEDIA_FFMPEG 0
#endif

enum { MEDIA_RATE = 16000 };

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
    const uint8_t *head;   /* [head_sz]: stands before what fd has */
    int64_t head_sz;
    int64_t skip;          /* bytes of the file that it stands for */
    int64_t size;          /* with it */
    int track;             /* which sound of it, from 1; 0: the one that fits best. What changes it rewinds */
    int unclocked;         /* sound follows sound, whatever times the file gives */
    atomic_int *stop;      /* non-zero: give up */
    int (*ask)(void *user); /* the same, while the file is opened; may be NULL */
    void *user;
    struct media_live *live; /* a pipe that has not ended is behind it: size is more than there can be; NULL: all is there */
    int64_t (*pull)(struct media_live *live, int64_t at, int64_t want); /* until it has that number of bytes, or has ended; nothing before
                            * `at` will be read. @return those it has, or -errno */
};

int media_input_stopped(const struct media_input *in);

/* Read up to n bytes at `at`. @return bytes read, 0 at the end, or -errno */
int64_t media_input_read(const struct media_input *in, int64_t at, void *dst, size_t n);

/* Exactly n bytes at `at`. @return 1, or 0 where there are fewer */
int media_input_exactly(const struct media_input *in, int64_t at, void *dst, size_t n);

/* The file has n sounds, and another is asked for. @return the status */
int media_no_track(const struct media_input *in, int track, int n, int status, steno_error *e);

/* What has been read, and what was to be. */
struct media_heard {
    int ended;           /* some time the end of the sound was reached */
    int broken;          /* there, because nothing can be read behind damage */
    int64_t ms;          /* that were given up to there, or so far */
    int64_t promised_ms; /* that the container declares for this sound; estimates are none: -1 */
    int64_t slack_ms;    /* by which the two differ in whole files */
    int64_t damaged;     /* packets skipped */
    struct media_moved moved;
};

/* A way to decode. `in` outlives what open gives. Statuses are enum steno_status, with the reason in *e. */
struct media_backend {
    const char *text;                                                         /* names and versions */
    int (*probe)(const struct media_input *in, steno_error *e);               /* does a beginning look like sound? */
    int (*open)(void **d, const struct media_input *in, steno_error *e);      /* *d is NULL on failure */
    int64_t (*read)(void *d, float *pcm, int64_t n, steno_error *e);          /* 1..n samples, 0 at the end, < 0: status */
    int (*rewind)(void *d, steno_error *e);
    /* From the first sample to the n-th, or to one before it, so that the samples behind are the same. @return how far, or a status */
    int64_t (*skip)(void *d, int64_t n, steno_error *e);
    void (*select)(void *d, int channel);                                     /* from the next rewind on; a number, or STENO_MEDIA_MIX */
    void (*close)(void *d);                                                   /* NULL is allowed */
    int (*channels)(const void *d);                                           /* that the sound began with */
    int (*tracks)(const void *d);                                             /* sounds in the file */
    int64_t (*duration_ms)(const void *d);                                    /* -1: not known */
    void (*heard)(const void *d, struct media_heard *h);
};

extern const struct media_backend media_ffmpeg; /* where STENO_MEDIA_FFMPEG is 1 */
extern const struct media_backend media_wav;

/* Whether the input is an undamaged WAV file of 16-bit mono samples at 16 kHz: nothing to convert, so that FFmpeg's libraries (20 ms
 * and 25 MB of memory) need not be loaded. */
int media_wav_is_plain(const struct media_input *in);

/* A plain head, for files whose own misleads FFmpeg; see media_wav_head.c. @return where the samples begin behind which it stands, -1: the
 * file needs none */
enum { MEDIA_WAV_FORMAT_MAX = 1 << 10 };
struct media_wav_head {
    uint8_t bytes[MEDIA_WAV_FORMAT_MAX + 29];
    uint32_t size;
};
int64_t media_wav_mend(struct media_wav_head *out, const struct media_input *in);

/* How many of n bytes at `at` are there without waiting for more than `least` of them; of what is no pipe as many as there are. */
int64_t media_input_ready(const struct media_input *in, int64_t at, int64_t least, int64_t n);

/* A pipe that is copied as far as it is read. begin: none of it yet; end: to the end, as media_spool; close: what is not in *in, NULL is
 * allowed. once: it is read once, forward, and may have no end. Its beginning is kept in memory then, and on a disk only where more of it
 * is wanted before there is sound; from `forget` on what was read is dropped. */
int media_live_begin(struct media_input *in, int fd, const char *dir, int once, steno_error *e);
void media_live_forget(struct media_live *live);
int media_live_has_forgotten(const struct media_live *live);      /* NULL is allowed */
int media_live_error(const struct media_live *live, steno_error *e); /* why no more comes, as *e and a status; STENO_OK: nothing is wrong */
void media_live_own(struct media_live *live); /* fd is closed with it */
int media_live_end(struct media_input *in, const struct media_backend *backend, steno_error *e);
void media_live_close(struct media_live *live);

/* Put a copy of all that `fd` gives in *in, whose name and ways to stop are set. dir: where to, NULL: the system's folder. */
int media_spool(struct media_input *in, int fd, const char *dir, const struct media_backend *backend, steno_error *e);

/* Bytes that the file's own structure says it has, or -1 where it does not say. *begin: where its sound begins when as many bytes are as
 * much time everywhere, else 0. */
int64_t media_promised_size(const struct media_input *in, int64_t *begin);
/* Does one clock run through an Ogg file, or through the sound `pid` of a transport stream? 0: it is not known. */
int media_ogg_is_one(const struct media_input *in);
int media_ts_is_one(const struct media_input *in, int pid);

int media_size_is_open(uint32_t size); /* whether a chunk's size is one that writers put where they do not know it */
#endif
