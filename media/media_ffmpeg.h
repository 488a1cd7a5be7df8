/* steno-media: declarations shared by the FFmpeg files. SPDX-License-Identifier: MIT
 *
 * media_ffmpeg_open.c binds the libraries and opens a file, media_ffmpeg.c decodes it. */
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

/* The libraries' functions by their own names. */
struct av {
#define MEMBER(f) __typeof__(f) *f;
    CALLS_UTIL(MEMBER) CALLS_CODEC(MEMBER) CALLS_FORMAT(MEMBER) CALLS_RESAMPLE(MEMBER)
#undef MEMBER
};

enum { CHANNELS_MAX = 64 /* limit of the resampler */ };

enum { FFMPEG_STAMPS = 256 };

/* Stamps of consecutive frames, compared with the number of samples before each. */
struct ffmpeg_stamps {
    int64_t n;           /* samples so far; the first frame had `first` */
    int64_t first;
    int64_t step;        /* divides the number of samples of each later frame */
    int64_t frames;      /* frames compared: all after the first */
    float off[FFMPEG_STAMPS]; /* for the last frames: the stamp in samples, minus the number of samples before it, minus `base` */
    double base;
    int is_bad;          /* a frame has no stamp, or differs in kind from the first */
};

/* State of a skip to a later sample. */
struct ffmpeg_skip {
    int is_on, failed;   /* failed: the sample cannot be found */
    int by_stamps;       /* sample numbers come from the stamps of many frames, because single stamps are rounded */
    int64_t packets;     /* stream time before which packets are not decoded */
    int64_t last;        /* stamp of the last packet */
    int64_t sample;      /* first decoder sample to resample; ticks: clock ticks per sample */
    int64_t ticks;
    int rate;            /* sample rate at the start of the sound */
    struct ffmpeg_stamps here; /* stamps of frames decoded during the skip */
};

enum stage { STAGE_PACKETS, STAGE_DRAIN, STAGE_TAIL, STAGE_END };

struct ffmpeg {
    struct av av;
    const struct media_input *in;
    int64_t pos;     /* offset of FFmpeg's next read */
    int io_errno;    /* of the first read that failed */
    int named;       /* 1: the format is known from the file's name alone */
    AVIOContext *io;
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    SwrContext *swr;
    int swr_format, swr_rate;     /* input format of swr, with swr_layout */
    AVChannelLayout swr_layout;
    int width, pick;              /* output channels of swr; index of the selected one; -1: silence instead */
    int errno_is_memory;          /* 1: errno reports missing memory, and nothing else */
    int channels, channel;        /* channels at the start of the sound; selected channel, or STENO_MEDIA_MIX */
    int stream, track, tracks;    /* index among the file's streams, index among its sounds (as in media_input), number of sounds */
    enum stage stage;
    int packet_waits; /* 1: the decoder has not accepted `packet` yet */
    int frame_waits;  /* 1: `frame` is decoded, but not resampled yet */
    int frame_is_put; /* 1: the clock has its position */
    struct media_clock clock;
    double zero;      /* the file's zero, in seconds of its clock */
    int64_t first_pts; /* of the first frame, by the stream's clock; AV_NOPTS_VALUE: not known */
    struct ffmpeg_stamps start; /* stamps of the sound's first second */
    struct ffmpeg_skip skip;
    int64_t silence, drop; /* samples of silence before `frame`; samples to drop from it and later frames */
    struct media_moved moved; /* of the pass that reached furthest */
    int16_t *out;     /* [.., width] samples; those from out_pos to out_len are not yet returned */
    size_t out_cap;   /* samples of all channels */
    int out_len, out_pos;
    int64_t made, damaged; /* samples returned; packets skipped */
    int64_t decoded;       /* the maximum of `made` over all passes */
    int ended, broken;     /* as in struct media_decoded */
};

/* Bind the functions. The libraries stay loaded: they do not support unloading, and the next file needs them again. */
int ffmpeg_load(struct av *av, steno_error *e);

/* Find FFmpeg's format for the file. Opens f->io. */
int ffmpeg_open_probe(struct ffmpeg *f, const AVInputFormat **out, steno_error *e);

int ffmpeg_open_format(struct ffmpeg *f, steno_error *e);
int ffmpeg_open_codec(struct ffmpeg *f, steno_error *e); /* opens the selected stream */

/* Set the start of the file's clock, and its length. */
void ffmpeg_open_clock(struct ffmpeg *f);

/* Move to sample n of the output, or to a slightly earlier one, if that can be done exactly. @return the value of f->made, where decoding
 * continues; 0: nothing has changed, but reading must not continue */
enum { FFMPEG_MAY_SKIP = 1, FFMPEG_READS_START };
int ffmpeg_skip_may(const struct ffmpeg *f, int64_t n); /* call before any further read; 0: not possible */
int64_t ffmpeg_skip_begin(struct ffmpeg *f, int64_t n);
void ffmpeg_skip_count(struct ffmpeg *f);        /* call for each new f->frame that is not part of a skip */
int ffmpeg_skip_packet(struct ffmpeg *f);  /* @return 1: f->packet is before the target */
int ffmpeg_skip_frame(struct ffmpeg *f);         /* @return samples at the start of f->frame before the target */
/* [CHANNELS_MAX] planes of f->frame after its first n samples */
void ffmpeg_skip_planes(const uint8_t **plane, const struct ffmpeg *f, int n);

/* FFmpeg hides missing memory behind other errors, behind the end of a file, or behind a success with fewer results. The C library records
 * it in errno, which is 0 before each call. */
int ffmpeg_is_starved(const struct ffmpeg *f, int av_status);
int ffmpeg_errno_is_memory(void); /* for f->errno_is_memory */

/* Record why a call of FFmpeg failed: stopped, the input, missing memory, or `what` and FFmpeg's text. @return a status */
int ffmpeg_reason(struct ffmpeg *f, steno_error *e, int status, const char *what, int av_status);
#endif
#endif
