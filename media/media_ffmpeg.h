/* steno-media: what the files about FFmpeg share. SPDX-License-Identifier: MIT
 *
 * media_ffmpeg_load.c binds the libraries, media_ffmpeg_open.c opens a file, media_ffmpeg.c decodes it. */
#ifndef STENO_MEDIA_MEDIA_FFMPEG_H
#define STENO_MEDIA_MEDIA_FFMPEG_H
#include "media.h"
#include "media_clock.h"

#if STENO_MEDIA_FFMPEG
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libswresample/swresample.h>

#define CALLS_UTIL(X)                                                                                                                \
    X(av_log_set_level) X(av_malloc) X(av_freep) X(av_dict_set) X(av_dict_free) X(av_strerror)                                        \
    X(av_frame_alloc) X(av_frame_free) X(av_frame_unref)                                                                              \
    X(av_channel_layout_default) X(av_channel_layout_copy) X(av_channel_layout_compare) X(av_channel_layout_uninit)    \
    X(av_sample_fmt_is_planar) X(av_get_bytes_per_sample)
#define CALLS_CODEC(X)                                                                                                                \
    X(av_packet_alloc) X(av_packet_free) X(av_packet_unref) X(avcodec_find_decoder) X(avcodec_alloc_context3)                         \
    X(avcodec_parameters_to_context) X(avcodec_descriptor_get) X(avcodec_open2) X(avcodec_send_packet) X(avcodec_receive_frame)       \
    X(avcodec_free_context) X(avcodec_flush_buffers)
#define CALLS_FORMAT(X)                                                                                                              \
    X(avio_alloc_context) X(avio_context_free) X(av_probe_input_buffer2) X(avformat_alloc_context)                                    \
    X(avformat_open_input) X(avformat_find_stream_info) X(av_read_frame) X(av_seek_frame) X(avformat_close_input)                      \
    X(avformat_index_get_entries_count) X(avformat_index_get_entry) X(avformat_index_get_entry_from_timestamp)
#define CALLS_RESAMPLE(X) X(swr_alloc_set_opts2) X(swr_set_matrix) X(swr_init) X(swr_convert) X(swr_get_out_samples) X(swr_free)

/* The libraries' functions under their own names. */
struct av {
#define MEMBER(f) __typeof__(f) *f;
    CALLS_UTIL(MEMBER) CALLS_CODEC(MEMBER) CALLS_FORMAT(MEMBER) CALLS_RESAMPLE(MEMBER)
#undef MEMBER
};

enum { CHANNELS_MOST = 64 /* of the resampler */ };

enum { FFMPEG_STAMPS = 256 };

/* Stamps of frames that follow each other, compared with the number of samples before each. */
struct ffmpeg_stamps {
    int64_t n;           /* samples so far, of which the first frame had `first` */
    int64_t first;
    int64_t step;        /* divides the number of samples of each frame behind the first */
    int64_t frames;      /* that were compared: all behind the first */
    float off[FFMPEG_STAMPS]; /* of the last of them: the stamp, in samples, less the number of samples before it, less `base` */
    double base;
    int is_bad;          /* one has no stamp, or is unlike the first */
};

/* On the way to a later sample. */
struct ffmpeg_skip {
    int is_on, failed;   /* failed: it cannot be found */
    int by_stamps;       /* samples are numbered by the stamps of many frames, which are rounded */
    int64_t packets;     /* time, by the stream's clock, before which packets are not decoded */
    int64_t last;        /* stamp of the last packet */
    int64_t sample;      /* of the decoder, before which none is resampled; ticks of the clock in one */
    int64_t ticks;
    int rate;            /* of the sound at its start */
    struct ffmpeg_stamps here; /* of what was decoded on the way */
};

enum stage { STAGE_PACKETS, STAGE_DRAIN, STAGE_TAIL, STAGE_END };

struct ffmpeg {
    struct av av;
    const struct media_input *in;
    int64_t pos;     /* of the next byte that FFmpeg wants */
    int io_errno;    /* of the first read that failed */
    AVIOContext *io;
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    SwrContext *swr;
    int swr_format, swr_rate;     /* what swr takes, with swr_layout */
    AVChannelLayout swr_layout;
    int width, pick;              /* channels that swr gives, and which of them is wanted, from 0; -1: silence instead */
    int errno_tells;              /* of missing memory, and of nothing else */
    int channels, channel;        /* that the sound began with; that is wanted, or STENO_MEDIA_MIX */
    int stream, track, tracks;    /* that is heard, of the file's streams and of its sounds (as in media_input); sounds it has */
    enum stage stage;
    int packet_waits; /* the decoder did not take `packet` yet */
    int frame_waits;  /* `frame` is decoded, and not resampled yet */
    int frame_is_put; /* the clock has its place */
    struct media_clock clock;
    double zero;      /* the file's, in seconds of its own clock */
    int64_t first_pts; /* of the first frame, by the stream's clock; AV_NOPTS_VALUE: not known */
    struct ffmpeg_stamps start; /* of the sound's first second */
    struct ffmpeg_skip skip;
    int64_t silence, drop; /* samples that come before `frame`; of it and of what follows that are left out */
    struct media_moved moved; /* of the pass that came furthest */
    int16_t *out;     /* [.., width] samples, those from out_pos to out_len are not given yet */
    size_t out_cap;   /* samples of all channels */
    int out_len, out_pos;
    int64_t made, damaged; /* samples given; packets skipped */
    int64_t heard;         /* the most of `made` of all passes */
    int ended, broken;     /* as in struct media_heard */
};

/* Bind the functions. The libraries stay loaded: they do not support being unloaded, and the next file wants them again. */
int ffmpeg_load(struct av *av, steno_error *e);

/* What does FFmpeg take the file for? Opens f->io. */
int ffmpeg_open_probe(struct ffmpeg *f, const AVInputFormat **out, steno_error *e);

int ffmpeg_open_format(struct ffmpeg *f, steno_error *e);
int ffmpeg_open_codec(struct ffmpeg *f, steno_error *e); /* of the stream that is heard */

/* Where the file's clock begins, and how far it goes. */
void ffmpeg_open_clock(struct ffmpeg *f);

/* Be at sample n of what is given, or a little before it, where that can be done exactly. @return where f->made is, and decoding goes on
 * there, or 0: nothing has changed, but what was read may not be read on */
enum { FFMPEG_MAY_SKIP = 1, FFMPEG_READS_START };
int ffmpeg_skip_may(const struct ffmpeg *f, int64_t n); /* before anything was read on; 0: there is no way */
int64_t ffmpeg_skip_begin(struct ffmpeg *f, int64_t n);
void ffmpeg_skip_count(struct ffmpeg *f);        /* f->frame is new, and not on the way */
int ffmpeg_skip_packet(struct ffmpeg *f);  /* @return whether f->packet is before the target */
int ffmpeg_skip_frame(struct ffmpeg *f);         /* @return number of samples at the start of f->frame that do */
void ffmpeg_skip_planes(const uint8_t **plane, const struct ffmpeg *f, int n); /* [CHANNELS_MOST] f->frame behind its first n samples */

/* FFmpeg hides want of memory behind other errors, behind the end of a file, or behind success with less in it. The C library leaves it
 * in errno, which is 0 before each call. */
int ffmpeg_is_starved(const struct ffmpeg *f, int av_status);
int ffmpeg_errno_tells(void); /* for f->errno_tells */

/* Record why a call of FFmpeg has failed: stopped, the input, want of memory, or `what` and FFmpeg's words. @return a status */
int ffmpeg_reason(struct ffmpeg *f, steno_error *e, int status, const char *what, int av_status);
#endif
#endif
