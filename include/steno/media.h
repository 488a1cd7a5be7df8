/* steno-media: any sound file to 16 kHz mono. SPDX-License-Identifier: MIT
 *
 * Opens any file that FFmpeg reads (built without it: WAV of 4 to 192 kHz, PCM or float, resampled by steno). Samples equal those of
 * `ffmpeg -i FILE -f s16le -ac 1 -acodec pcm_s16le -ar 16000 -` divided by 32768, the input of the Whisper reference. They are placed by
 * the container's clock: silence fills the time before the first sound of a film, and gaps of 0.1 s and more. The reference omits that
 * silence (steno_media_params.unclocked). Audio is decoded when it is read and never held as a whole.
 *
 * FFmpeg is loaded on first use, because its hundred libraries take 20 ms. It can read only the opened file, in a fixed list of container
 * formats. steno_media_open switches off FFmpeg's log (av_log_set_level), which is global to the process; a program that uses FFmpeg itself
 * may set it again. The stack of a call depends on FFmpeg (WAV, MP3, Matroska, MP4, Ogg, FLAC: 26 KiB); reserve 256 KiB. */
#ifndef STENO_MEDIA_H
#define STENO_MEDIA_H
#include <steno/steno.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct steno_media steno_media;

/** Open an audio file, or the audio of a video file.
 *
 * @param out   receives the reader; NULL on failure
 * @param path  a file, or "-" for standard input. Pipes and FIFOs are first spooled to an unlinked temporary file, so that an index at the
 *              end of the file is found and the audio can be read twice
 * @param stop  called regularly while a pipe is spooled; non-zero cancels; may be NULL
 * @param e     receives the reason of a failure; may be NULL
 * @return STENO_OK; STENO_EIO (missing, a directory, no permission, read error), STENO_EUNSUPPORTED (no audio in it, unknown format),
 *         STENO_EFORMAT (damaged), STENO_ENOMEM, STENO_ECANCELED (stop returned non-zero) */
STENO_API int steno_media_open(steno_media **out, const char *path, int (*stop)(void *user), void *user, steno_error *e);

/** Options of steno_media_open_params; filled by steno_media_params_init. */
typedef struct steno_media_params {
    uint32_t size;
    const char *spool_dir;    /**< folder for spooled pipes; NULL: /tmp, or /var/tmp if /tmp is not usable */
    int (*stop)(void *user);  /**< called regularly while the file is opened; non-zero cancels; may be NULL */
    void *user;
    int32_t live;             /**< 1: decode a pipe while its data arrives, if the container allows it (MP4 with its index at the end does
                               *   not, and is read to its end first). It is still spooled, to be read again */
    int32_t track;            /**< audio track of a file that has several (a film in two languages), counted from 1; 0: FFmpeg's choice.
                               *   STENO_EUNSUPPORTED if it does not exist */
    int (*open)(void *user, const char *path, steno_error *e); /**< opens a name that is not a path, such as a URL. Returns the
                               *   descriptor of a regular file, which the reader closes; STENO_MEDIA_PATH: it is a path;
                               *   STENO_MEDIA_FAILED: *e has the reason. NULL: all names are paths */
    const void *head;         /**< [head_sz] bytes that are read before those of the file: a header for raw samples. Must stay valid until
                               *   steno_media_close */
    int64_t head_sz;
    int32_t unclocked;        /**< 0: times count from the start of the file, as in a player. Silence is inserted if the audio starts later
                               *   than the file, and in gaps. Audio before time zero, or overlapping other audio, is dropped. 1: ignore the
                               *   container's times and join all audio, as the Whisper reference does */
    int32_t once;             /**< 1, with live: read once, no rewind. Data is discarded after reading, so memory and disk stay bounded for
                               *   an endless pipe. A container that needs the whole file first is spooled, and fails before the disk is
                               *   full */
} steno_media_params;

enum { STENO_MEDIA_PATH = -1, STENO_MEDIA_FAILED = -2 };

STENO_API void steno_media_params_init(steno_media_params *p);

/** As steno_media_open, with options. A pipe that does not begin like an audio file is refused after its first megabyte. */
STENO_API int steno_media_open_params(steno_media **out, const char *path, const steno_media_params *p, steno_error *e);

STENO_API void steno_media_close(steno_media *m); /**< NULL is allowed */

/** Fill `src` with a source that reads `m`; valid until steno_media_close. */
STENO_API void steno_media_source(steno_media *m, steno_source *src);

/** Skip from the first sample to sample n, or to an earlier one, without decoding the samples before it. The samples after it are the same
 * as without a skip, on the same clock:
 * - PCM in WAV, W64, AIFF, AU and CAF, FLAC: the reader seeks. MP3 and AAC without a container: packets are read, and not decoded. The
 *   samples are the same to the bit.
 * - MP4, Matroska, WebM, Ogg, MPEG-TS, MPEG program streams, AVI with a complete index, FLV, WMA, NUT and other CAF: the reader seeks if
 *   the times of frames agree with their numbers of samples. PCM, FLAC, ALAC, MP3, AAC and Vorbis give the same bits. Samples of Opus
 *   differ by at most 1 of 32768. Decoders of AAC and AC-3 draw noise for some bands: after a skip it is other noise of the same level.
 *   If earlier packets are missing, samples move by at most a tick of the container's clock (Matroska: 1 ms).
 * The reader skips whole seconds of audio. Other formats, files with a clock that is not even, joined Ogg files, transport and program
 * streams, and live pipes are decoded from the start. So is a reader that has given samples since it was opened, rewound or selected.
 * Damage in the skipped part is not reported.
 *
 * @param n  number of samples at 16 kHz
 * @return number of skipped samples, 0 to n; below 0: STENO_EARG (n is below 0), else as a failing rewind: steno_media_error has the
 *         reason */
STENO_API int64_t steno_media_skip(steno_media *m, int64_t n);

/** @return number of channels at the start of the audio, at least 1 */
STENO_API int steno_media_channels(const steno_media *m);

enum { STENO_MEDIA_MIX = -1 }; /* all channels, mixed to one */

/** Select a channel for all following reads, and go back to the first sample.
 *
 * @param channel  STENO_MEDIA_MIX, the default; or a channel number from 0, as in FFmpeg: that channel only, unchanged. If the audio
 *                 changes to one channel in the middle, that one is used. If the channel is missing, the source gives silence
 * @return STENO_OK; STENO_EARG (no such channel; the source is unchanged), else as a failing rewind: steno_media_error has the reason */
STENO_API int steno_media_select(steno_media *m, int channel);

/** @return number of audio tracks in the file, at least 1; a WAV file has one */
STENO_API int steno_media_tracks(const steno_media *m);

/** Select an audio track, counted from 1, with all channels mixed to one, and go back to its first sample.
 *
 * @return STENO_OK; STENO_EARG (no such track; the source is unchanged), else as a failing rewind: reads fail until another is selected */
STENO_API int steno_media_select_track(steno_media *m, int track);

/** Duration in ms as declared by the container, -1: not declared. A hint, for progress only. */
STENO_API int64_t steno_media_duration_ms(const steno_media *m);

/** Reason of the last failed read, rewind or selection, "" for none. A damaged packet in the middle is skipped and counted; audio that
 * cannot be decoded at all is a failure. */
STENO_API const char *steno_media_error(const steno_media *m);
STENO_API int steno_media_status(const steno_media *m); /**< status of that failure; the library returns STENO_ESOURCE for all of them */
STENO_API int64_t steno_media_damaged_packets(const steno_media *m); /**< as in steno_media_state */

/** Completeness of the audio. A truncated file gives the audio it has, then an ordinary end. */
typedef struct steno_media_state {
    uint32_t size;           /**< set by the caller: sizeof(steno_media_state) */
    int32_t ended;           /**< 1: the end was reached since the file was opened */
    int32_t truncated;       /**< 1: the end came before the declared length: bytes or samples are missing, or nothing can be read after
                              *   damage. An estimated length, as without a header, does not count */
    int64_t promised_ms;     /**< length that the container declares for this audio, -1: not declared */
    int64_t read_ms;         /**< length that was read so far */
    int64_t damaged_packets; /**< packets that could not be decoded and were skipped */
    int64_t start_ms;        /**< silence inserted at the start, because the audio begins later than the file; below 0: audio dropped there,
                              *   because it begins earlier. This and the following fields are 0 with unclocked */
    int64_t gaps;            /**< number of later gaps, filled with silence */
    int64_t gaps_ms;         /**< their total length */
    int64_t dropped_ms;      /**< audio dropped because it overlaps other audio */
    int64_t jumps;           /**< clock jumps that are not gaps (backward, or longer than the file): audio continues without silence */
} steno_media_state;

/** @return STENO_OK, or STENO_EARG (s is NULL, or its size is not set). A smaller size, of an older version, is accepted */
STENO_API int steno_media_state_get(const steno_media *m, steno_media_state *s);

/** Make the running and every later read of `m` return early; safe in a signal handler and from other threads. */
STENO_API void steno_media_interrupt(steno_media *m);

/* ---- raw samples that arrive in pieces --------------------------------------------------------------------------------------- */

/** Converts raw samples, such as those of a network stream, to 16 kHz mono. Pieces may have any size, and may end within a sample. The
 * result does not depend on their sizes. It equals that of `ffmpeg -f s16le -ar RATE -ac CHANNELS -i FILE -f s16le -ac 1 -ar 16000 -` for
 * the whole, divided by 32768. Built without FFmpeg, only one channel at 16 kHz is accepted. */
typedef struct steno_resampler steno_resampler;

enum steno_sample_type {
    STENO_SAMPLES_S16LE, /**< 16-bit integers, low byte first */
    STENO_SAMPLES_F32LE, /**< 32-bit floats, -1 to 1 */
    STENO_SAMPLES_S32LE,
    STENO_SAMPLES_U8,
    STENO_SAMPLES_ULAW,  /**< G.711, mu-law */
    STENO_SAMPLES_ALAW   /**< G.711, A-law */
};

/** @param type      enum steno_sample_type
 * @param rate      samples of each channel in a second, 8000 to 192000
 * @param channels  1 to 8, interleaved; they are mixed to one
 * @return STENO_OK; STENO_EARG (a value is out of range), STENO_EUNSUPPORTED (needs FFmpeg, which is missing), STENO_ENOMEM */
STENO_API int steno_resampler_open(steno_resampler **out, int32_t type, int32_t rate, int32_t channels, steno_error *e);

/** Push n bytes.
 *
 * @param pcm  receives the converted samples, -1 to 1; valid until the next call
 * @return their number; STENO_EARG (pushed after the end), STENO_ENOMEM, STENO_EFORMAT */
STENO_API int64_t steno_resampler_push(steno_resampler *r, const void *bytes, size_t n, const float **pcm, steno_error *e);

/** End the audio: the last samples. Bytes of an incomplete sample are dropped. @return as steno_resampler_push */
STENO_API int64_t steno_resampler_end(steno_resampler *r, const float **pcm, steno_error *e);

STENO_API void steno_resampler_close(steno_resampler *r); /**< NULL is allowed */

/** Names and versions of the decoding libraries, for reports; static. */
STENO_API const char *steno_media_backend(void);

#ifdef __cplusplus
}
#endif
#endif
