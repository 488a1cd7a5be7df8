/* steno-media: decoding with FFmpeg. SPDX-License-Identifier: MIT
 *
 * The samples must equal those of `ffmpeg -i FILE -f s16le -ac 1 -acodec pcm_s16le -ar 16000 -`, so this file follows that program: the
 * same choice of stream, packets decoded in file order, damaged ones skipped. One resampler to mono s16 with default options is recreated
 * (its tail dropped) when the sound changes its format, and flushed once at the end. In that program timestamps move no samples. Here they
 * do, unless media_input.unclocked is set: gaps in the file's clock become silence (media_clock.h), and the resampler is flushed there.
 * If one channel is selected, the same resampler keeps all channels interleaved, and that one is picked: the samples of `ffmpeg ... -ac N`.
 * media_ffmpeg_open.c opens the file. */
#include "media_ffmpeg.h"

#if STENO_MEDIA_FFMPEG
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_MIN = 100, RATE_MAX = 1 << 22 };

/* ---- decoding ---------------------------------------------------------------------------------------------------------------- */

/* Mix channels without known positions with equal weights. */
static int mix_alike(struct ffmpeg *f, int channels)
{
    double matrix[CHANNELS_MAX];
    for (int i = 0; i < channels; i++) matrix[i] = 1.0 / channels;
    return f->av.swr_set_matrix(f->swr, matrix, channels);
}

/* Create the resampler for frames like f->frame, unless it exists already. Samples left in an old one are dropped. */
static int swr_fit(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    AVFrame *in = f->frame;
    AVChannelLayout *layout = &in->ch_layout;
    errno = 0;
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC) av->av_channel_layout_default(layout, layout->nb_channels);
    if (f->swr && in->format == f->swr_format && in->sample_rate == f->swr_rate && !av->av_channel_layout_compare(layout, &f->swr_layout))
        return STENO_OK;
    av->swr_free(&f->swr);
    if (in->sample_rate < RATE_MIN || in->sample_rate > RATE_MAX)
        return media_fail(e, STENO_EFORMAT, "%s: is damaged: its sample rate is %d Hz", f->in->name, in->sample_rate);
    if (layout->nb_channels > CHANNELS_MAX)
        return media_fail(e, STENO_EUNSUPPORTED, "%s: has %d channels, and at most %d are read", f->in->name, layout->nb_channels,
                          CHANNELS_MAX);
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO, *out = f->channel == STENO_MEDIA_MIX ? &mono : layout;
    int r = av->av_channel_layout_copy(&f->swr_layout, layout);
    if (r >= 0)
        r = av->swr_alloc_set_opts2(&f->swr, out, AV_SAMPLE_FMT_S16, MEDIA_RATE, layout, in->format, in->sample_rate, 0, NULL);
    if (r >= 0 && out == &mono && layout->order == AV_CHANNEL_ORDER_UNSPEC) r = mix_alike(f, layout->nb_channels);
    if (r >= 0) r = av->swr_init(f->swr);
    if (r < 0 || ffmpeg_is_starved(f, r)) {
        av->swr_free(&f->swr);
        return ffmpeg_reason(f, e, STENO_EUNSUPPORTED,
                             out == &mono ? "its channels cannot be mixed to one" : "its channels cannot be parted", r);
    }
    f->swr_format = in->format;
    f->swr_rate = in->sample_rate;
    f->width = out->nb_channels;
    f->pick = f->width == 1 ? 0 : f->channel < f->width ? f->channel : -1;
    return STENO_OK;
}

static void count_made(struct ffmpeg *f, int64_t n)
{
    f->made += n;
    if (f->made < f->decoded) return;
    f->decoded = f->made;
    f->moved = f->clock.moved;
}

/* Resample n samples per channel into f->out; in NULL: flush. */
static int resample(struct ffmpeg *f, const uint8_t **in, int n, steno_error *e)
{
    f->out_pos = f->out_len = 0;
    errno = 0;
    const int most = f->av.swr_get_out_samples(f->swr, n);
    if (most < 0) return ffmpeg_reason(f, e, STENO_EFORMAT, "resampling failed", most);
    const int room = most > 4096 ? most : 4096;
    const size_t need = (size_t)room * (size_t)f->width;
    if (need > f->out_cap) {
        int16_t *grown = realloc(f->out, need * sizeof *grown);
        if (!grown) return media_nomem(e, need * sizeof *grown, "resampling");
        f->out = grown;
        f->out_cap = need;
    }
    uint8_t *plane = (uint8_t *)f->out;
    const int got = f->av.swr_convert(f->swr, &plane, room, in, n);
    if (got < 0 || ffmpeg_is_starved(f, got)) return ffmpeg_reason(f, e, STENO_EFORMAT, "resampling failed", got);
    f->out_len = got;
    f->out_pos = f->drop < got ? (int)f->drop : got;
    f->drop -= f->out_pos;
    count_made(f, got - f->out_pos);
    return STENO_OK;
}

/* Send the next packet of the stream, or the end, to the decoder. */
static int feed(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    while (!f->packet_waits) {
        errno = 0;
        const int r = av->av_read_frame(f->format, f->packet);
        if (media_input_stopped(f->in) || f->io_errno || ffmpeg_is_starved(f, r)) return ffmpeg_reason(f, e, STENO_EIO, "read error", r);
        if (r == AVERROR(EAGAIN)) continue;
        if (r < 0) { /* the end, or damage that cannot be skipped */
            if (r != AVERROR_EOF) f->damaged++, f->broken = 1;
            av->avcodec_send_packet(f->codec, NULL);
            f->stage = STAGE_DRAIN;
            return STENO_OK;
        }
        f->packet_waits = f->packet->stream_index == f->stream;
        if (f->packet_waits && ffmpeg_skip_packet(f)) f->packet_waits = 0;
        if (!f->packet_waits) av->av_packet_unref(f->packet);
    }
    errno = 0;
    const int r = av->avcodec_send_packet(f->codec, f->packet);
    if (ffmpeg_is_starved(f, r)) return ffmpeg_reason(f, e, STENO_ENOMEM, "decoding", r);
    if (r == AVERROR(EAGAIN)) return STENO_OK; /* it has frames to return first; the packet waits */
    if (r < 0 && r != AVERROR_EOF) f->damaged++;
    av->av_packet_unref(f->packet);
    f->packet_waits = 0;
    return STENO_OK;
}

/* Find the position of the frame on the file's clock. Samples in the resampler come before a gap. @return a status; *wait: sound or silence
 * must be returned first */
static int put_frame(struct ffmpeg *f, int *wait, steno_error *e)
{
    const AVFrame *in = f->frame;
    const AVRational unit = f->codec->pkt_timebase;
    const int64_t pts = in->pts != AV_NOPTS_VALUE ? in->pts : in->best_effort_timestamp;
    const double lasts = in->sample_rate > 0 ? (double)in->nb_samples / in->sample_rate : 0;
    *wait = 0;
    if (f->frame_is_put) return STENO_OK;
    if (pts == AV_NOPTS_VALUE || unit.den <= 0) media_clock_put_untimed(&f->clock, lasts);
    else {
        const double t = (double)pts * unit.num / unit.den - f->zero;
        if (f->swr && media_clock_step(&f->clock, t) == MEDIA_MOVES) {
            const int status = resample(f, NULL, 0, e);
            f->av.swr_free(&f->swr);
            *wait = 1;
            return status;
        }
        const int64_t n = media_clock_put(&f->clock, t, lasts, f->made - f->drop, MEDIA_RATE), ahead = f->drop - n;
        f->silence = ahead < 0 ? -ahead : 0; /* samples dropped from a gap are silence */
        f->drop = ahead > 0 ? ahead : 0;
        count_made(f, f->silence);
    }
    f->frame_is_put = 1;
    *wait = f->silence > 0;
    return STENO_OK;
}

/* Position the current frame and resample it. */
static int use_frame(struct ffmpeg *f, steno_error *e)
{
    const int left_out = ffmpeg_skip_frame(f), n = f->frame->nb_samples - left_out;
    const uint8_t *plane[CHANNELS_MAX];
    int wait, status = n ? put_frame(f, &wait, e) : STENO_OK;
    if (status == STENO_OK && n && wait) return STENO_OK;
    if (status == STENO_OK && n) status = swr_fit(f, e);
    if (status == STENO_OK && left_out && n) ffmpeg_skip_planes(plane, f, left_out);
    if (status == STENO_OK && n) status = resample(f, left_out ? plane : (const uint8_t **)f->frame->extended_data, n, e);
    f->frame_waits = 0;
    f->av.av_frame_unref(f->frame);
    return status;
}

/* Process one frame: the current one, or the next one of the decoder. */
static int take(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    if (f->frame_waits) return use_frame(f, e);
    errno = 0;
    const int r = av->avcodec_receive_frame(f->codec, f->frame);
    if (ffmpeg_is_starved(f, r)) return ffmpeg_reason(f, e, STENO_ENOMEM, "decoding", r);
    if (r < 0) {
        if (r != AVERROR(EAGAIN) && r != AVERROR_EOF) {
            f->damaged++;
            av->av_packet_unref(f->packet); /* not sent again: a decoder that always fails must not loop here */
            f->packet_waits = 0;
        }
        if (f->stage == STAGE_DRAIN) f->stage = STAGE_TAIL;
        return f->stage == STAGE_PACKETS ? feed(f, e) : STENO_OK;
    }
    f->frame_waits = f->frame->nb_samples > 0;
    f->frame_is_put = 0;
    if (f->frame_waits && !f->channels) f->channels = f->frame->ch_layout.nb_channels; /* silence may be returned before it is resampled */
    if (f->frame_waits) ffmpeg_skip_count(f);
    if (f->frame_waits) return use_frame(f, e);
    av->av_frame_unref(f->frame);
    return STENO_OK;
}

/* Decode until f->out holds samples, there is silence, or the sound has ended. */
static int fill(struct ffmpeg *f, steno_error *e)
{
    int status = STENO_OK;
    while (status == STENO_OK && f->out_pos == f->out_len && !f->silence && f->stage != STAGE_END && !f->skip.failed) {
        if (media_input_stopped(f->in)) return ffmpeg_reason(f, e, STENO_ECANCELED, "", 0);
        if (f->stage != STAGE_TAIL) {
            status = take(f, e);
            continue;
        }
        f->out_pos = f->out_len = 0;
        if (f->swr) status = resample(f, NULL, 0, e);
        if (status == STENO_OK && f->out_len == 0) f->stage = STAGE_END;
    }
    if (f->stage == STAGE_END) f->ended = 1;
    if (status == STENO_OK && f->stage == STAGE_END && f->made == 0)
        return media_fail(e, STENO_EFORMAT, "%s: holds no sound that can be decoded (damaged packets: %" PRId64 ")", f->in->name,
                          f->damaged);
    return status;
}

/* ---- the backend ------------------------------------------------------------------------------------------------------------- */

/* Free everything but the functions, the input and its settings, so that decoding can begin again. */
static void shut(struct ffmpeg *f)
{
    struct av *av = &f->av;
    av->swr_free(&f->swr);
    av->av_channel_layout_uninit(&f->swr_layout);
    av->avcodec_free_context(&f->codec);
    av->av_packet_free(&f->packet);
    av->av_frame_free(&f->frame);
    av->avformat_close_input(&f->format);
    if (f->io) av->av_freep(&f->io->buffer);
    av->avio_context_free(&f->io);
    free(f->out);
    const struct ffmpeg fresh = { .av = f->av, .in = f->in, .errno_is_memory = f->errno_is_memory, .channels = f->channels,
                                  .channel = f->channel, .decoded = f->decoded, .ended = f->ended, .broken = f->broken,
                                  .track = f->track, .tracks = f->tracks, .moved = f->moved };
    *f = fresh;
}

/* Decode up to the first samples, so that a file without any is refused at once. */
static int begin(struct ffmpeg *f, steno_error *e)
{
    int status = ffmpeg_open_format(f, e);
    if (status == STENO_OK) status = ffmpeg_open_codec(f, e);
    f->first_pts = AV_NOPTS_VALUE;
    if (status == STENO_OK) ffmpeg_open_clock(f);
    if (status == STENO_OK) status = fill(f, e);
    return status;
}

static void ffmpeg_close(void *d)
{
    if (!d) return;
    shut(d);
    free(d);
}

static int ffmpeg_open(void **d, const struct media_input *in, steno_error *e)
{
    *d = NULL;
    struct ffmpeg *f = calloc(1, sizeof *f);
    if (!f) return media_nomem(e, sizeof *f, "decoding");
    f->in = in;
    f->channel = STENO_MEDIA_MIX;
    f->errno_is_memory = ffmpeg_errno_is_memory();
    int status = ffmpeg_load(&f->av, e);
    if (status != STENO_OK) {
        free(f);
        return status;
    }
    status = begin(f, e);
    if (status == STENO_OK) *d = f;
    else ffmpeg_close(f);
    return status;
}

static int ffmpeg_probe(const struct media_input *in, steno_error *e)
{
    const AVInputFormat *kind;
    struct ffmpeg f = { .in = in };
    int status = ffmpeg_load(&f.av, e);
    if (status != STENO_OK) return status;
    status = ffmpeg_open_probe(&f, &kind, e);
    shut(&f);
    return status;
}

static int ffmpeg_rewind(void *d, steno_error *e)
{
    struct ffmpeg *f = d;
    shut(f);
    if (f->track != f->in->track) {
        f->decoded = f->channels = f->ended = f->broken = 0;
        f->moved = (struct media_moved){ 0 };
    }
    const int status = begin(f, e);
    if (status != STENO_OK) shut(f); /* later reads fail */
    return status;
}

/* Decode the sound's first second. Its stamps determine how those of later frames are interpreted. */
static int read_start(struct ffmpeg *f, steno_error *e)
{
    int status = STENO_OK;
    while (status == STENO_OK && f->stage == STAGE_PACKETS && !f->start.is_bad && f->start.n < 2 * (int64_t)f->swr_rate) {
        f->silence = 0;
        f->out_pos = f->out_len;
        status = fill(f, e);
    }
    return status;
}

/* Damage in skipped sound is ignored; a decoder that begins in the middle reports its first packets as damaged. */
static int64_t ffmpeg_skip_to(void *d, int64_t n, steno_error *e)
{
    struct ffmpeg *f = d;
    const int64_t damaged = f->damaged, decoded = f->decoded;
    const int may = f->format ? ffmpeg_skip_may(f, n) : 0;
    if (!may) return 0;
    int status = may == FFMPEG_READS_START ? read_start(f, e) : STENO_OK;
    const int64_t at = status == STENO_OK ? ffmpeg_skip_begin(f, n) : 0;
    if (at) status = fill(f, e);
    if (status != STENO_OK && (media_input_stopped(f->in) || status == STENO_ENOMEM)) return status;
    const int is_there = at && status == STENO_OK && !f->skip.failed && !f->skip.is_on && f->stage == STAGE_PACKETS;
    f->damaged = damaged;
    if (is_there) return at;
    f->decoded = decoded;
    f->ended = 0;
    return ffmpeg_rewind(f, e);
}

static int64_t ffmpeg_read(void *d, float *pcm, int64_t n, steno_error *e)
{
    struct ffmpeg *f = d;
    if (!f->format) return media_fail(e, STENO_EIO, "%s: an earlier rewind failed", f->in->name);
    const int status = fill(f, e);
    if (status != STENO_OK) return status;
    const int is_sound = f->out_pos < f->out_len;
    const int64_t have = is_sound ? f->out_len - f->out_pos : f->silence;
    if (n > have) n = have;
    if (!is_sound) {
        if (n > 0) memset(pcm, 0, (size_t)n * sizeof *pcm);
        f->silence -= n;
        return n;
    }
    const int16_t *from = f->out + (size_t)f->out_pos * (size_t)f->width + (f->pick < 0 ? 0 : f->pick);
    for (int64_t i = 0; i < n; i++) pcm[i] = f->pick < 0 ? 0 : (float)from[i * f->width] / 32768.0f;
    f->out_pos += (int)n;
    return n;
}

static void ffmpeg_select(void *d, int channel)
{
    struct ffmpeg *f = d;
    f->channel = channel;
}

static int ffmpeg_channels(const void *d)
{
    const struct ffmpeg *f = d;
    return f->channels;
}

static int ffmpeg_tracks(const void *d)
{
    const struct ffmpeg *f = d;
    return f->tracks;
}

static int64_t ffmpeg_duration_ms(const void *d)
{
    const struct ffmpeg *f = d;
    return f->format && f->format->duration > 0 ? f->format->duration / (AV_TIME_BASE / 1000) : -1;
}

/* Whether no other stream can be longer than the sound. Cover pictures have no length. */
static int is_alone(const struct ffmpeg *f)
{
    for (unsigned i = 0; i < f->format->nb_streams; i++)
        if ((int)i != f->stream && !(f->format->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC)) return 0;
    return 1;
}

/* The length that a header declares, in ms, or -1. Estimates from the bit rate, and times from the actual end of the file, do not count. */
static int64_t declared_ms(const struct ffmpeg *f)
{
    const int64_t zero_ms = f->clock.is_on ? (int64_t)(f->zero * 1000) : 0, start_ms = f->moved.start * 1000 / MEDIA_RATE;
    if (!f->format || f->stream < 0 || f->format->duration_estimation_method != AVFMT_DURATION_FROM_STREAM || !is_alone(f)) return -1;
    const AVStream *s = f->format->streams[f->stream];
    if (s->duration <= 0 && f->format->duration > 0 && !strncmp(f->format->iformat->name, "matroska", 8))
        return f->format->duration / (AV_TIME_BASE / 1000) - zero_ms; /* the length of all streams together */
    if (s->duration <= 0 || s->time_base.den <= 0 || !strcmp(f->format->iformat->name, "ogg") ||
        !strcmp(f->format->iformat->name, "avi")) /* they give the actual last page, or any value if the writer could not seek */
        return -1;
    const double ms = 1000.0 * (double)s->duration * s->time_base.num / s->time_base.den;
    return ms < 1e15 ? (int64_t)ms + start_ms : -1;
}

static void ffmpeg_decoded(const void *d, struct media_decoded *h)
{
    const struct ffmpeg *f = d;
    enum { LOSSLESS_MS = 20, LOSSY_MS = 250 }; /* rounding; encoder delays and incomplete frames */
    const AVCodecDescriptor *kind = f->codec ? f->av.avcodec_descriptor_get(f->codec->codec_id) : NULL;
    const int lossless = kind && (kind->props & AV_CODEC_PROP_LOSSLESS) && !(kind->props & AV_CODEC_PROP_LOSSY);
    *h = (struct media_decoded){ .ended = f->ended, .broken = f->broken, .ms = f->decoded * 1000 / MEDIA_RATE,
                                 .promised_ms = declared_ms(f), .slack_ms = lossless ? LOSSLESS_MS : LOSSY_MS, .damaged = f->damaged,
                                 .moved = f->moved };
}

const struct media_backend media_ffmpeg = {
    .text = "FFmpeg (libavformat " AV_STRINGIFY(LIBAVFORMAT_VERSION) ", libavcodec " AV_STRINGIFY(LIBAVCODEC_VERSION)
            ", libswresample " AV_STRINGIFY(LIBSWRESAMPLE_VERSION) ")",
    .probe = ffmpeg_probe,
    .open = ffmpeg_open,
    .read = ffmpeg_read,
    .rewind = ffmpeg_rewind,
    .skip = ffmpeg_skip_to,
    .select = ffmpeg_select,
    .close = ffmpeg_close,
    .channels = ffmpeg_channels,
    .tracks = ffmpeg_tracks,
    .duration_ms = ffmpeg_duration_ms,
    .decoded = ffmpeg_decoded,
};
#else
typedef int media_ffmpeg_is_left_out; /* a translation unit needs a declaration */
#endif
