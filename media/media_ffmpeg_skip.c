/* steno-media: skipping to a later sample with FFmpeg. SPDX-License-Identifier: MIT
 *
 * The samples after a skip are those of a decoder that has read everything.
 *
 * If times count samples (PCM, FLAC), a time is the number of a sample. Packets of MP3 and of AAC without a container are read and not
 * decoded, because their index is an estimate.
 *
 * In other containers times are rounded, and files have gaps. The stamps of the first second and those of the second before the target are
 * compared with the number of samples in the frames. Frames have a fixed size, so the stamps give the number of a frame's first sample. If
 * they disagree, everything is decoded. Only containers are accepted whose index, or whose stamps at many places, show one even clock.
 *
 * The resampler is at the same phase at each whole second of audio. It begins a second before the target, and its output of that second is
 * dropped, because its filter lacks the samples before. The decoder begins a second or two before that. */
#include "media_ffmpeg.h"

#if STENO_MEDIA_FFMPEG
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES_MAX = 1 << 10 /* of swr with exact ratios */, FILTER_S = 1, DECODER_S = 1, STAMPS_S = 2, SECONDS_MAX = 1 << 30,
       AVI_STREAMS_MAX = 64, AVI_EACH = 64, /* of this number of chunks, one is looked at */
       OGG_S = 5 /* FFmpeg estimates the times of the first page after a seek */ };

/* Tolerance of a stamp from the middle of a second's stamps, and of that from another second's: in ticks, and additional samples. */
static const double STAMP_OFF = 1.1, SECOND_OFF = 0.3, SAMPLES_OFF = 0.5;
static const double GAP_S = 0.05; /* a frame with this offset follows a gap */

static int is_pcm(enum AVCodecID id)
{
    return id >= AV_CODEC_ID_FIRST_AUDIO && id < AV_CODEC_ID_ADPCM_IMA_QT;
}

enum way { WAY_NONE, WAY_SEEK, WAY_READ, WAY_STAMPS };

static int is_named(const AVInputFormat *format, const char *name)
{
    const size_t n = strcspn(format->name, ",");
    return strlen(name) == n && !memcmp(name, format->name, n);
}

static enum way way_of(const struct ffmpeg *f)
{
    static const struct { const char *format; enum AVCodecID codec; enum way way; } rows[] = {
        { "wav", AV_CODEC_ID_FIRST_AUDIO, WAY_SEEK }, { "w64", AV_CODEC_ID_FIRST_AUDIO, WAY_SEEK },
        { "aiff", AV_CODEC_ID_FIRST_AUDIO, WAY_SEEK }, { "au", AV_CODEC_ID_FIRST_AUDIO, WAY_SEEK },
        { "caf", AV_CODEC_ID_FIRST_AUDIO, WAY_SEEK }, /* FIRST_AUDIO: any PCM */
        { "flac", AV_CODEC_ID_FLAC, WAY_SEEK }, { "mp3", AV_CODEC_ID_MP3, WAY_READ }, { "aac", AV_CODEC_ID_AAC, WAY_READ },
        { "mov", AV_CODEC_ID_NONE, WAY_STAMPS }, { "matroska", AV_CODEC_ID_NONE, WAY_STAMPS }, /* NONE: any codec */
        { "ogg", AV_CODEC_ID_NONE, WAY_STAMPS }, { "mpegts", AV_CODEC_ID_NONE, WAY_STAMPS },
        { "asf", AV_CODEC_ID_NONE, WAY_STAMPS }, { "flv", AV_CODEC_ID_NONE, WAY_STAMPS }, { "nut", AV_CODEC_ID_NONE, WAY_STAMPS },
        { "caf", AV_CODEC_ID_NONE, WAY_STAMPS }, { "avi", AV_CODEC_ID_NONE, WAY_STAMPS }, { "mpeg", AV_CODEC_ID_NONE, WAY_STAMPS },
    };
    const enum AVCodecID id = f->codec->codec_id;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_named(f->format->iformat, rows[i].format) &&
            (rows[i].codec == id || rows[i].codec == AV_CODEC_ID_NONE || (rows[i].codec == AV_CODEC_ID_FIRST_AUDIO && is_pcm(id))))
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

/* ---- stamps ------------------------------------------------------------------------------------------------------------------ */

static int64_t stamp_of(const AVFrame *in)
{
    return in->pts != AV_NOPTS_VALUE ? in->pts : in->best_effort_timestamp;
}

/* Samples in a tick of the stream's clock. */
static double tick_of(const struct ffmpeg *f)
{
    const AVRational unit = f->codec->pkt_timebase;
    return (double)unit.num * f->swr_rate / unit.den;
}

/* The position of the frame by its stamp, in samples after the first one. */
static double place_of(const struct ffmpeg *f)
{
    return (double)(stamp_of(f->frame) - f->first_pts) * tick_of(f);
}

static void stamps_add(struct ffmpeg_stamps *s, const struct ffmpeg *f, int rate)
{
    const AVFrame *in = f->frame;
    if (stamp_of(in) == AV_NOPTS_VALUE || in->sample_rate != rate) s->is_bad = 1;
    if (s->is_bad) return;
    if (!s->n) s->first = in->nb_samples;
    if (s->n) {
        const double off = place_of(f) - (double)s->n;
        if (!s->frames) s->base = off;
        s->off[s->frames++ % FFMPEG_STAMPS] = (float)(off - s->base);
        s->step = divisor(in->nb_samples, s->step);
    }
    s->n += in->nb_samples;
}

static int in_order(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The offset of a second's stamps from the number of samples: the mean of those that agree. In Ogg some do not, next to blocks of another
 * size. @return 1: most of them agree */
static int stamps_mean(double *mean, const struct ffmpeg_stamps *s, const struct ffmpeg *f)
{
    float off[FFMPEG_STAMPS];
    const int n = s->frames < FFMPEG_STAMPS ? (int)s->frames : FFMPEG_STAMPS;
    const double apart = STAMP_OFF * tick_of(f) + SAMPLES_OFF;
    double sum = 0;
    int agree = 0;
    if (s->is_bad || n < 2 || s->n < f->swr_rate) return 0;
    memcpy(off, s->off, (size_t)n * sizeof *off);
    qsort(off, (size_t)n, sizeof *off, in_order);
    for (int i = 0; i < n; i++)
        if (fabs((double)off[i] - (double)off[n / 2]) <= apart) agree++, sum += (double)off[i];
    if (agree < n - n / 4) return 0;
    *mean = s->base + sum / agree;
    return 1;
}

/* The index of the first sample of `here`, or -1. The first frame may be short. All others have a number of samples that is a multiple of
 * `step`, and the stamps must determine which one. */
static int64_t stamps_place(const struct ffmpeg *f)
{
    const struct ffmpeg_stamps *start = &f->start, *here = &f->skip.here;
    double from, to;
    if (!stamps_mean(&from, start, f) || !stamps_mean(&to, here, f)) return -1;
    const int64_t step = divisor(divisor(start->step, here->step), here->first);
    const int counts_frames = is_named(f->format->iformat, "avi") && tick_of(f) >= (double)step; /* its times are not rounded */
    const double off = (counts_frames ? 0 : SECOND_OFF * tick_of(f)) + SAMPLES_OFF, at = to - from;
    if ((double)step < 4 * off || at < (double)start->first) return -1;
    const int64_t n = start->first + llround((at - (double)start->first) / (double)step) * step;
    return fabs(at - (double)n) <= off ? n : -1;
}

void ffmpeg_skip_count(struct ffmpeg *f)
{
    if (!f->start.n && !f->start.is_bad) f->first_pts = stamp_of(f->frame);
    if (f->first_pts == AV_NOPTS_VALUE || f->codec->pkt_timebase.den <= 0) f->start.is_bad = 1;
    if (f->skip.is_on || f->start.is_bad || (f->swr && f->start.n > 2 * (int64_t)f->swr_rate)) return;
    if (!f->swr_rate) f->swr_rate = f->frame->sample_rate;
    stamps_add(&f->start, f, f->swr_rate);
}

/* ---- where to -------------------------------------------------------------------------------------------------------------------- */

/* Ticks of the stream's clock per sample, 0: not a whole number. */
static int64_t ticks_of(const struct ffmpeg *f)
{
    const AVRational unit = f->codec->pkt_timebase;
    return unit.num == 1 && unit.den > 0 && f->swr_rate > 0 && unit.den % f->swr_rate == 0 ? unit.den / f->swr_rate : 0;
}

/* The whole second of sound from which output sample n is computed. */
static int64_t second_of(const struct ffmpeg *f, int64_t n)
{
    return (n - f->clock.moved.start) / MEDIA_RATE;
}

int ffmpeg_skip_may(const struct ffmpeg *f, int64_t n)
{
    const enum way way = way_of(f);
    const int64_t second = second_of(f, n);
    if (way == WAY_NONE || f->in->live || f->first_pts == AV_NOPTS_VALUE || f->swr_rate <= 0) return 0;
    if (second < FILTER_S + (way == WAY_STAMPS ? STAMPS_S + DECODER_S : DECODER_S)) return 0;
    if (MEDIA_RATE / divisor(f->swr_rate, MEDIA_RATE) > PHASES_MAX) return 0;
    const AVRational unit = f->codec->pkt_timebase;
    if (unit.num <= 0 || unit.den <= 0 || second > SECONDS_MAX) return 0;
    return way == WAY_STAMPS ? FFMPEG_READS_START : ticks_of(f) && !f->clock.is_on ? FFMPEG_MAY_SKIP : 0;
}

/* Times of the index increase from entry to entry, as with one clock from the start to the end of the file. */
static int is_index_in_order(const struct ffmpeg *f, AVStream *stream)
{
    const int n = f->av.avformat_index_get_entries_count(stream);
    for (int i = 1; i < n; i++)
        if (f->av.avformat_index_get_entry(stream, i)->pos < f->av.avformat_index_get_entry(stream, i - 1)->pos) return 0;
    return 1;
}

/* All samples of a movie before `from` are as long as the first one, so there is no gap; samples of PCM differ. */
static int is_movie_even(const struct ffmpeg *f, AVStream *stream, int64_t from)
{
    const int n = f->av.avformat_index_get_entries_count(stream);
    int64_t last = 0, step = 0;
    for (int i = 0; i < n && !is_pcm(f->codec->codec_id); i++) {
        const int64_t t = f->av.avformat_index_get_entry(stream, i)->timestamp;
        if (i == 1) step = t - last;
        if (i > 1 && t - last != step) return t > from;
        last = t;
    }
    return 1;
}

/* The next chunk of an AVI file in the indexes of all streams, in file order; at: the number of entries of each that are passed. */
static const AVIndexEntry *next_chunk(const struct ffmpeg *f, int at[AVI_STREAMS_MAX])
{
    const AVIndexEntry *first = NULL;
    unsigned of = 0;
    for (unsigned i = 0; i < f->format->nb_streams; i++) {
        AVStream *s = f->format->streams[i];
        const AVIndexEntry *e = f->av.avformat_index_get_entry(s, at[i]);
        if (e && (!first || e->pos < first->pos)) first = e, of = i;
    }
    if (first) at[of]++;
    return first;
}

/* The indexes of an AVI file name all chunks from the first one on, and sizes agree with the chunks. AVI has no stamps: a time is the sum
 * of all that precedes it in the index. */
static int is_avi_whole(const struct ffmpeg *f)
{
    enum { HEAD_SZ = 8 };
    int at[AVI_STREAMS_MAX] = { 0 };
    int64_t end = -1, n = 0;
    if (f->format->nb_streams > AVI_STREAMS_MAX) return 0;
    for (const AVIndexEntry *e; (e = next_chunk(f, at)) != NULL; n++) {
        if (end < 0 ? !media_avi_is_first(f->in, e->pos) : e->pos < end || !media_avi_has_no_sound(f->in, end, e->pos)) return 0;
        if (n % AVI_EACH == 0 && (media_input_stopped(f->in) || !media_avi_is_chunk(f->in, e->pos, e->size))) return 0;
        end = e->pos + HEAD_SZ + e->size + (e->size & 1);
    }
    return end >= 0;
}

/* In Matroska the index refers to the video stream, if there is one. */
static int seek_matroska(struct ffmpeg *f, int64_t from)
{
    for (int pictures = 1; pictures >= 0; pictures--)
        for (unsigned i = 0; i < f->format->nb_streams; i++) {
            AVStream *s = f->format->streams[i];
            const AVRational own = f->codec->pkt_timebase, unit = s->time_base;
            if (s->codecpar->codec_type != AVMEDIA_TYPE_VIDEO && pictures) continue;
            if ((int)i != f->stream && !pictures) continue;
            if (s->disposition & AV_DISPOSITION_ATTACHED_PIC || unit.num != own.num || unit.den != own.den) continue;
            if (f->av.av_seek_frame(f->format, (int)i, from, AVSEEK_FLAG_BACKWARD) < 0) continue;
            if (!is_index_in_order(f, s)) return 0;
            if (f->av.avformat_index_get_entry_from_timestamp(s, from, AVSEEK_FLAG_BACKWARD)) return 1;
        }
    return 0;
}

/* Seek to a packet at or before `from`. @return 1: done */
static int seek(struct ffmpeg *f, int64_t from)
{
    const AVInputFormat *format = f->format->iformat;
    if (is_named(format, "matroska")) return seek_matroska(f, from);
    if (is_named(format, "mov") && !is_movie_even(f, f->format->streams[f->stream], from)) return 0;
    if (is_named(format, "ogg") && !media_ogg_is_one(f->in)) return 0;
    if (is_named(format, "mpegts") && !media_ts_is_one(f->in, f->format->streams[f->stream]->id)) return 0;
    if (is_named(format, "avi") && !is_avi_whole(f)) return 0;
    if (is_named(format, "mpeg") && !media_ps_is_one(f->in)) return 0;
    const AVRational unit = f->codec->pkt_timebase;
    const int64_t before = is_named(format, "ogg") ? OGG_S * unit.den / unit.num : 0;
    return f->av.av_seek_frame(f->format, f->stream, from - before, AVSEEK_FLAG_BACKWARD) >= 0;
}

/* Whether the clock so far is that of the first frame alone, and the file extends to `second`. */
static int is_clock_plain(const struct ffmpeg *f, double second)
{
    const struct media_moved *m = &f->clock.moved;
    const double at = (double)m->start / MEDIA_RATE + second;
    if (m->gaps || m->dropped || m->jumps) return 0;
    return !f->clock.is_on || (f->clock.longest >= 0 && at <= f->clock.longest);
}

int64_t ffmpeg_skip_begin(struct ffmpeg *f, int64_t n)
{
    struct av *av = &f->av;
    const enum way way = way_of(f);
    const int by_stamps = way == WAY_STAMPS;
    const int64_t second = second_of(f, n), begin = second - FILTER_S, first = begin - (by_stamps ? STAMPS_S : DECODER_S);
    const AVRational unit = f->codec->pkt_timebase;
    const int64_t from = f->first_pts + (int64_t)((double)first * unit.den / unit.num);
    double off;
    if (by_stamps && (!stamps_mean(&off, &f->start, f) || !is_clock_plain(f, (double)second))) return 0;
    if (way == WAY_SEEK && av->av_seek_frame(f->format, f->stream, from, AVSEEK_FLAG_BACKWARD) < 0) return 0;
    if (by_stamps && !seek(f, from)) return 0;
    av->avcodec_flush_buffers(f->codec);
    av->swr_free(&f->swr);
    av->av_packet_unref(f->packet);
    av->av_frame_unref(f->frame);
    f->packet_waits = f->frame_waits = f->out_pos = f->out_len = 0;
    f->stage = STAGE_PACKETS;
    f->skip = (struct ffmpeg_skip){ .is_on = 1, .by_stamps = by_stamps, .packets = from, .last = INT64_MIN, .sample = begin * f->swr_rate,
                                    .rate = f->swr_rate, .ticks = ticks_of(f) };
    f->silence = 0;
    f->drop = FILTER_S * MEDIA_RATE;
    f->made = second * MEDIA_RATE + f->clock.moved.start;
    return f->made;
}

/* ---- on the way ------------------------------------------------------------------------------------------------------------------ */

int ffmpeg_skip_packet(struct ffmpeg *f)
{
    struct ffmpeg_skip *s = &f->skip;
    const AVPacket *p = f->packet;
    if (!s->is_on) return 0;
    if (s->by_stamps && (p->pts == AV_NOPTS_VALUE || (p->pts < s->last && s->here.n))) s->failed = 1;
    s->last = p->pts;
    return p->pts != AV_NOPTS_VALUE && p->pts < s->packets - p->duration;
}

/* @return index of the frame's first sample, or -1 */
static int64_t number_of(struct ffmpeg *f)
{
    const struct ffmpeg_skip *s = &f->skip;
    const int64_t pts = stamp_of(f->frame), ticks = pts != AV_NOPTS_VALUE ? pts - f->first_pts : -1;
    return ticks < 0 || ticks % s->ticks || f->frame->sample_rate != s->rate ? -1 : ticks / s->ticks;
}

/* The same by stamps. 0: the frame is far from the target, and there are not enough stamps yet. */
static int64_t number_by_stamps(struct ffmpeg *f)
{
    struct ffmpeg_skip *s = &f->skip;
    const int64_t before = s->here.n;
    stamps_add(&s->here, f, s->rate);
    if (s->here.is_bad) return -1;
    const double at = place_of(f);
    if (at + 2 * f->frame->nb_samples + 4 * tick_of(f) < (double)s->sample) return 0;
    const int64_t place = stamps_place(f);
    if (place < 0 || fabs(at - f->start.base - (double)(place + before)) > GAP_S * s->rate) return -1;
    return place + before;
}

/* Continue at sample `at` of the output as if the clock had been running until there. */
static void set_clock(struct ffmpeg *f, int64_t at)
{
    const AVRational unit = f->codec->pkt_timebase;
    f->clock.next = (double)f->first_pts * unit.num / unit.den - f->zero - f->clock.shift + (double)at / f->skip.rate;
}

int ffmpeg_skip_frame(struct ffmpeg *f)
{
    struct ffmpeg_skip *s = &f->skip;
    const AVFrame *in = f->frame;
    if (!s->is_on) return 0;
    const int64_t at = s->by_stamps ? number_by_stamps(f) : number_of(f);
    if (at < 0 || at > s->sample) s->failed = 1;
    if (s->failed || at + in->nb_samples <= s->sample) return in->nb_samples;
    s->is_on = 0;
    if (s->by_stamps) set_clock(f, at);
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
typedef int media_ffmpeg_skip_is_left_out; /* a translation unit needs a declaration */
#endif
