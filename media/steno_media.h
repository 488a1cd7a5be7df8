/* steno-media: any sound file to 16 kHz mono. SPDX-License-Identifier: MIT
 *
 * A small companion of libsteno: it opens whatever FFmpeg reads (or, built without FFmpeg, WAV at 16 kHz) and hands out a
 * steno_source. Samples equal those of `ffmpeg -i FILE -f s16le -ac 1 -acodec pcm_s16le -ar 16000 -` divided by 32768, which is what
 * the Whisper reference transcribes. They lie where the clock of the container puts them: silence stands where a film has no sound yet, and
 * in gaps of 0.1 s and more; the reference leaves that out (steno_media_params.unclocked). Audio is decoded as it is pulled and never held
 * whole. FFmpeg is loaded on first use, because its hundred libraries take 20 ms; it sees nothing but the opened file and only a list of
 * container formats. Its log, which belongs to the whole process, is switched off (av_log_set_level) by steno_media_open: a program that
 * uses FFmpeg itself may set it again. How much stack a call takes is FFmpeg's affair (WAV, MP3, Matroska, MP4, Ogg, FLAC: 26 KiB); leave
 * 256 KiB for it. */
#ifndef STENO_MEDIA_H
#define STENO_MEDIA_H
#include <steno/steno.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct steno_media steno_media;

/** Open a sound file, or the sound of a video file.
 *
 * @param out   receives the reader; NULL on failure
 * @param path  a file, or "-" for standard input. What cannot be rewound (pipes, FIFOs) is first spooled to an unlinked temporary
 *              file, so that indexes at the end of a file are found and the audio can be read twice
 * @param e     receives the reason of a failure, may be NULL
 * @return STENO_OK; STENO_EIO (missing, a directory, no permission, read error), STENO_EUNSUPPORTED (no sound in it, unknown format),
 *         STENO_EFORMAT (damaged), STENO_ENOMEM, STENO_ECANCELED (stop asked so while spooling)
 * @param stop  asked now and then while a pipe is spooled; non-zero gives up; may be NULL */
STENO_API int steno_media_open(steno_media **out, const char *path, int (*stop)(void *user), void *user, steno_error *e);

/** How to open; filled by steno_media_params_init. */
typedef struct steno_media_params {
    uint32_t size;
    const char *spool_dir;    /**< folder for what pipes give; NULL: /tmp, or /var/tmp where that is of no use */
    int (*stop)(void *user);  /**< asked now and then while the file is opened; non-zero gives up; may be NULL */
    void *user;
    int32_t live;             /**< 1: what comes from a pipe is decoded as it comes, where the container can be read so (MP4 whose index
                               *   is at its end cannot, and is read to its end first); it is spooled all the same, to be read again */
    int32_t track;            /**< which sound of a file that has several (a film in two languages), counted from 1; 0: the one that
                               *   FFmpeg would choose. STENO_EUNSUPPORTED where it is not there */
    int (*open)(void *user, const char *path, steno_error *e); /**< what a name stands for that is no path, such as an address: a
                               *   descriptor of a regular file, which the reader closes; STENO_MEDIA_PATH: it is a path;
                               *   STENO_MEDIA_FAILED: *e says why not. NULL: all names are paths */
    const void *head;         /**< bytes that stand before those of the file, as if they were its own: a header for samples alone. Kept
                               *   by the caller until steno_media_close */
    int64_t head_sz;
    int32_t unclocked;        /**< 0: times count from the start of the file, as a player shows them. Silence is put where the sound begins
                               *   later than the file and where it has gaps; sound before the file's zero, or under other sound, is
                               *   left out. 1: sound follows sound, whatever times the container gives, as in the Whisper reference */
    int32_t once;             /**< 1, with live: it is read once and cannot be rewound. What was read is kept no more, so that memory and
                               *   disk stay bounded where a pipe has no end. A container that wants all of it before there is sound is
                               *   spooled, and is an error before the disk is full */
} steno_media_params;

enum { STENO_MEDIA_PATH = -1, STENO_MEDIA_FAILED = -2 };

STENO_API void steno_media_params_init(steno_media_params *p);

/** The same as steno_media_open, with what a program may want to choose. A pipe that does not begin like a sound file is refused after
 * its first megabyte. */
STENO_API int steno_media_open_params(steno_media **out, const char *path, const steno_media_params *p, steno_error *e);

STENO_API void steno_media_close(steno_media *m); /**< NULL is allowed */

/** Fill `src` with a source that reads `m`; valid until steno_media_close. */
STENO_API void steno_media_source(steno_media *m, steno_source *src);

/** Go on from the first sample to the n-th, or to an earlier one, without decoding what comes before. The samples behind are the same to
 * the bit as those of a source that was read up to there: so PCM in WAV, W64, AIFF, AU and CAF files, FLAC and MP3 go on, at whole
 * seconds; others, pipes that are read as they come, and a reader that has given samples since it was opened or since it went back to the
 * first one (rewind, selection) stay where they are. Damage before that sample is not looked for.
 *
 * @param n  number of samples at 16 kHz
 * @return the number of samples that were left out, 0 to n; below 0: STENO_EARG (n is below 0), else as a failing rewind:
 *         steno_media_error says why */
STENO_API int64_t steno_media_skip(steno_media *m, int64_t n);

/** @return number of channels that the sound began with, at least 1 */
STENO_API int steno_media_channels(const steno_media *m);

enum { STENO_MEDIA_MIX = -1 }; /* in place of a channel's number: all of them mixed to one */

/** Say which channel the source gives from now on, and go back to the first sample.
 *
 * @param channel  STENO_MEDIA_MIX, as at first; or the number of one, counted from 0 as FFmpeg does: that one alone, as it is. Where the
 *                 sound changes to one channel in the middle, that stands for each; where the channel is missing there is silence
 * @return STENO_OK; STENO_EARG (no such channel; the source stays as it is), else as a failing rewind: steno_media_error says why */
STENO_API int steno_media_select(steno_media *m, int channel);

/** @return number of sounds in the file, at least 1; a WAV file has one */
STENO_API int steno_media_tracks(const steno_media *m);

/** Say which of them the source gives from now on, counted from 1, and go back to its first sample: all channels, mixed to one.
 *
 * @return STENO_OK; STENO_EARG (no such track; the source stays as it is), else as a failing rewind: reads fail until another is chosen */
STENO_API int steno_media_select_track(steno_media *m, int track);

/** Duration the container declares in ms, or -1 when it does not say. A hint, for progress only. */
STENO_API int64_t steno_media_duration_ms(const steno_media *m);

/** Reason of the last failed read, rewind or selection, "" when there was none. A damaged packet in the middle is skipped and counted;
 * audio that cannot be decoded at all is a failure. */
STENO_API const char *steno_media_error(const steno_media *m);
STENO_API int steno_media_status(const steno_media *m); /**< of that failure: the library tells STENO_ESOURCE for all of them */
STENO_API int64_t steno_media_damaged_packets(const steno_media *m); /**< as in steno_media_state */

/** Whether all of the sound was there. Files that were cut give what they hold and then an ordinary end. */
typedef struct steno_media_state {
    uint32_t size;           /**< set by the caller: sizeof(steno_media_state) */
    int32_t ended;           /**< 1: the end was reached since the file was opened */
    int32_t truncated;       /**< 1: it was, before all that the container promises: the file lacks bytes, or samples, or nothing can be
                              *   read behind some damage. Lengths that are estimates, as without a header, promise nothing */
    int64_t promised_ms;     /**< length that the container declares for this sound, -1: it does not say */
    int64_t read_ms;         /**< length that was read, up to the end or so far */
    int64_t damaged_packets; /**< packets that could not be decoded and were skipped */
    int64_t start_ms;        /**< silence before the first sound, because it begins later than the file; below 0: sound that was left out
                              *   there, because it begins earlier. This and what follows: 0 with unclocked */
    int64_t gaps;            /**< gaps in the sound behind that, which are filled with silence */
    int64_t gaps_ms;         /**< their length, in all */
    int64_t dropped_ms;      /**< sound that was left out because it lies under other sound */
    int64_t jumps;           /**< jumps of the clock that are no gaps (farther than the file is long, or back): sound goes on at once */
} steno_media_state;

/** @return STENO_OK, or STENO_EARG (s is NULL, or its size is not set). A smaller size, of an older version, is served */
STENO_API int steno_media_state_get(const steno_media *m, steno_media_state *s);

/** Make the running and every later read of `m` return early; safe in a signal handler and from other threads. */
STENO_API void steno_media_interrupt(steno_media *m);

/** Names and versions of the decoding libraries, for reports; static. */
STENO_API const char *steno_media_backend(void);

#ifdef __cplusplus
}
#endif
#endif
