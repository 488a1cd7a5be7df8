/* steno-media: going on to a later sample with FFmpeg. SPDX-License-Identifier: MIT
 *
 * The samples behind have to be those of a decoder that has read everything. So only containers are taken whose times count samples, and
 * only decoders whose state is forgotten within a second: PCM and FLAC, which are sought, and MP3, whose packets are read on without being
 * decoded (its index is an estimate). All others are decoded from their start: AAC and Opus fill bands with noise whose generator is never
 * reset, times in Matroska, MPEG-TS and FLV are rounded, and in Ogg and MP4 the sound before may have gaps.
 *
 * The resampler is at the same phase at each whole second. It begins a second before the sample that is wanted, and what it gives in that
 * second is dropped, as its filter lacks what came before; the decoder begins a second before that. */
#include "media_ffmpeg.h"

#if STENO_MEDIA_FFMPEG
#include <string.h>

enum { PHASES_MOST = 1 << 10 /* of swr with exact ratios */, DECODER_S = 1, FILTER_S = 1 };

static int is_pcm(enum AVCodecID id)
{
    return id >= AV_CODEC_ID_FIRST_AUDIO && id < AV_CODEC_ID_ADPCM_IMA_QT;
}

enum way { WAY_NONE, WAY_SEEK, WAY_READ };

static enum way way_of(const struct ffmpeg *f)
{
    static const struct { const char *format; enum AVCodecID codec; enum way way; } rows[] = {
        { "wav", AV_CODEC_ID_NONE, WAY_SEEK }, { "w64", AV_CODEC_ID_NONE, WAY_SEEK }, { "aiff", AV_CODEC_ID_NONE, WAY_SEEK },
        { "au", AV_CODEC_ID_NONE, WAY_SEEK }, { "caf", AV_CODEC_ID_NONE, WAY_SEEK }, /* NONE: any PCM */
        { "flac", AV_CODEC_ID_FLAC, WAY_SEEK }, { "mp3", AV_CODEC_ID_MP3, WAY_READ },
    };
    const enum AVCodecID id = f->codec->codec_id;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(f->format->iformat->name, rows[i].format) && (rows[i].codec == id || (rows[i].codec == AV_CODEC_ID_NONE && is_pcm(id))))
            return rows[i].way;
    return WAY_NONE;
}

static int64_t divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Ticks of the stream's clock in a sample, 0: they are no whole number. */
static int64_t ticks_of(const struct ffmpeg *f)
{
    const AVRational unit = f->codec->pkt_timebase;
    return unit.num == 1 && unit.den > 0 && f->swr_rate > 0 && unit.den % f->swr_rate == 0 ? unit.den / f->swr_rate : 0;
}

int ffmpeg_skip_begin(struct ffmpeg *f, int64_t second)
{
    struct av *av = &f->av;
    const enum way way = way_of(f);
    const int64_t ticks = ticks_of(f), begin = second - FILTER_S;
    if (begin < DECODER_S || way == WAY_NONE || f->in->live || !ticks || f->first_pts == AV_NOPTS_VALUE || f->clock.is_on) return 0;
    if (MEDIA_RATE / divisor(f->swr_rate, MEDIA_RATE) > PHASES_MOST || second > INT64_MAX / f->codec->pkt_timebase.den - 1) return 0;
    const int64_t from = f->first_pts + (begin - DECODER_S) * f->codec->pkt_timebase.den;
    if (way == WAY_SEEK && av->av_seek_frame(f->format, f->stream, from, AVSEEK_FLAG_BACKWARD) < 0) return 0;
    av->avcodec_flush_buffers(f->codec);
    av->swr_free(&f->swr);
    av->av_packet_unref(f->packet);
    av->av_frame_unref(f->frame);
    f->packet_waits = f->frame_waits = f->out_pos = f->out_len = 0;
    f->stage = STAGE_PACKETS;
    f->skip = (struct ffmpeg_skip){ .is_on = 1, .packets = from, .sample = begin * f->swr_rate, .rate = f->swr_rate, .ticks = ticks };
    f->drop = FILTER_S * MEDIA_RATE;
    f->made = second * MEDIA_RATE;
    return 1;
}

int ffmpeg_skip_packet(const struct ffmpeg *f)
{
    const AVPacket *p = f->packet;
    return f->skip.is_on && p->pts != AV_NOPTS_VALUE && p->pts < f->skip.packets - p->duration;
}

int ffmpeg_skip_frame(struct ffmpeg *f)
{
    struct ffmpeg_skip *s = &f->skip;
    const AVFrame *in = f->frame;
    const int64_t pts = in->pts != AV_NOPTS_VALUE ? in->pts : in->best_effort_timestamp;
    if (!s->is_on) return 0;
    const int64_t ticks = pts != AV_NOPTS_VALUE ? pts - f->first_pts : -1, at = ticks / s->ticks;
    if (ticks < 0 || ticks % s->ticks || in->sample_rate != s->rate || at > s->sample) s->failed = 1;
    if (s->failed || at + in->nb_samples <= s->sample) return in->nb_samples;
    s->is_on = 0;
    return (int)(s->sample - at);
}

void ffmpeg_skip_planes(const uint8_t **plane, const struct ffmpeg *f, int n)
{
    const AVFrame *in = f->frame;
    const int is_planar = f->av.av_sample_fmt_is_planar(in->format), channels = in->ch_layout.nb_channels;
    const size_t bytes = (size_t)f->av.av_get_bytes_per_sample(in->format) * (size_t)(is_planar ? 1 : channels) * (size_t)n;
    for (int i = 0; i < (is_planar ? channels : 1); i++) plane[i] = in->extended_data[i] + bytes;
}
#else
typedef int media_ffmpeg_skip_is_left_out; /* a translation unit wants a declaration */
#endif
