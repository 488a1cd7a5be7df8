/* steno-media: decoding with FFmpeg. SPDX-License-Identifier: MIT
 *
 * The samples are to be those of `ffmpeg -i FILE -f s16le -ac 1 -acodec pcm_s16le -ar 16000 -`, so this file does what that program does:
 * the same choice of stream, packets decoded in file order, damaged ones skipped, one resampler to mono s16 with default options that is
 * made anew (its tail dropped) when the sound changes its form, and flushed once at the end. Timestamps do not move samples there either.
 * Where one channel is wanted the same resampler keeps them all, side by side, and that one is picked: `ffmpeg ... -ac N` and its samples.
 * The libraries are opened at run time, since linking them costs every start of a program 20 ms; their headers give the types. */
#include "media.h"

#if STENO_MEDIA_FFMPEG
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libswresample/swresample.h>

#define CALLS_UTIL(X)                                                                                                                \
    X(av_log_set_level) X(av_malloc) X(av_freep) X(av_dict_set) X(av_dict_free) X(av_strerror)                                        \
    X(av_frame_alloc) X(av_frame_free) X(av_frame_unref)                                                                              \
    X(av_channel_layout_default) X(av_channel_layout_copy) X(av_channel_layout_compare) X(av_channel_layout_uninit)
#define CALLS_CODEC(X)                                                                                                                \
    X(av_packet_alloc) X(av_packet_free) X(av_packet_unref) X(avcodec_find_decoder) X(avcodec_alloc_context3)                         \
    X(avcodec_parameters_to_context) X(avcodec_descriptor_get) X(avcodec_open2) X(avcodec_send_packet) X(avcodec_receive_frame)       \
    X(avcodec_free_context)
#define CALLS_FORMAT(X)                                                                                                              \
    X(avio_alloc_context) X(avio_context_free) X(av_probe_input_buffer2) X(avformat_alloc_context)                                    \
    X(avformat_open_input) X(avformat_find_stream_info) X(av_read_frame) X(avformat_close_input)
#define CALLS_RESAMPLE(X) X(swr_alloc_set_opts2) X(swr_init) X(swr_convert) X(swr_get_out_samples) X(swr_free)

/* The libraries' functions under their own names. */
struct av {
#define MEMBER(f) __typeof__(f) *f;
    CALLS_UTIL(MEMBER) CALLS_CODEC(MEMBER) CALLS_FORMAT(MEMBER) CALLS_RESAMPLE(MEMBER)
#undef MEMBER
};

enum { IO_SZ = 1 << 15, RATE_MIN = 100, RATE_MAX = 1 << 22 };

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
    int channels, channel;        /* that the sound began with; that is wanted, from 1, or MEDIA_MIX */
    int stream;
    enum stage stage;
    int packet_waits; /* the decoder did not take `packet` yet */
    int16_t *out;     /* [.., width] samples, those from out_pos to out_len are not given yet */
    size_t out_cap;   /* samples of all channels */
    int out_len, out_pos;
    int64_t made, damaged; /* samples given; packets skipped */
    int64_t heard;         /* the most of `made` of all passes */
    int ended, broken;     /* as in struct media_heard */
};

/* Containers that hold sound or video with sound, and cannot name other files: no playlists, no scripts, no devices. */
static const char FORMATS[] =
    "3gp,aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,asf_o,ast,au,avi,avr,caf,dsf,dts,dtshd,dv,eac3,flac,flv,gsm,gxf,iff,ircam,"
    "live_flv,loas,matroska,mlp,mov,mp3,mp4,mpc,mpc8,mpeg,mpegts,mxf,nistsphere,nut,ogg,oma,paf,pvf,qcp,rm,rso,sds,shn,sln,"
    "sox,swf,tak,truehd,tta,voc,vqf,w64,wav,webm,wsaud,wtv,wv,wve,xa,xwma";

/* ---- the libraries ----------------------------------------------------------------------------------------------------------- */

static void *symbol(void *lib, const char *name, const char **missing)
{
    void *p = dlsym(lib, name);
    if (!p) *missing = name;
    return p;
}

/* The loader does not say apart whether a library is missing or there is no memory for it; its words do, where errno does not. */
static int load_failed(int why, steno_error *e)
{
    static const char *const words[] = { "out of memory", "cannot allocate", "allocate memory", "cannot create shared object",
                                         "failed to map segment", "cannot map zero-fill", "cannot change memory protections" };
    const char *text = dlerror();
    if (!text) text = "no reason is given";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i])) why = ENOMEM;
    if (why == ENOMEM)
        return media_fail(e, STENO_ENOMEM, "out of memory while FFmpeg is loaded: %s", text);
    return media_fail(e, STENO_EUNSUPPORTED, "FFmpeg cannot be loaded: %s; install FFmpeg's libraries", text);
}

/* Is there address space for the libraries and all that they load in turn? One of these (GLib) calls itself without end when memory is
 * refused while it is loaded. So where address space is limited, room is asked for first: FFmpeg 5.1 of Debian 12 takes 184 MB. */
enum { LIBRARIES_ROOM = 192 << 20 };

static int has_room(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return 1;
    void *room = mmap(NULL, LIBRARIES_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return 0;
    munmap(room, LIBRARIES_ROOM);
    return 1;
}

/* Bind the functions. The libraries stay loaded: they do not support being unloaded, and the next file wants them again. */
static int av_load(struct av *av, steno_error *e)
{
    static const char *const names[] = {
        "libavutil.so." AV_STRINGIFY(LIBAVUTIL_VERSION_MAJOR),
        "libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR),
        "libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR),
        "libswresample.so." AV_STRINGIFY(LIBSWRESAMPLE_VERSION_MAJOR),
    };
    void *lib[4] = { dlopen(names[0], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) };
    if (!lib[0] && !has_room())
        return media_fail(e, STENO_ENOMEM,
                          "out of memory while FFmpeg is loaded: its libraries need %d MiB of address space, and the process may not have "
                          "so much (ulimit -v)",
                          LIBRARIES_ROOM >> 20);
    for (int i = 0; i < 4; i++) {
        errno = 0;
        lib[i] = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        if (!lib[i]) return load_failed(errno, e);
    }
    const char *missing = NULL;
    void *p;
#define BIND(f) p = symbol(lib[LIB], #f, &missing), memcpy(&av->f, &p, sizeof p);
#define LIB 0
    CALLS_UTIL(BIND)
#undef LIB
#define LIB 1
    CALLS_CODEC(BIND)
#undef LIB
#define LIB 2
    CALLS_FORMAT(BIND)
#undef LIB
#define LIB 3
    CALLS_RESAMPLE(BIND)
#undef LIB
#undef BIND
    if (missing) return media_fail(e, STENO_EUNSUPPORTED, "FFmpeg's libraries lack %s; install FFmpeg 5.1 or newer", missing);
    av->av_log_set_level(AV_LOG_QUIET);
    return STENO_OK;
}

/* ---- input ------------------------------------------------------------------------------------------------------------------- */

static int is_stopped(void *user)
{
    const struct ffmpeg *f = user;
    return media_input_stopped(f->in);
}

static int io_read(void *user, uint8_t *dst, int n)
{
    struct ffmpeg *f = user;
    if (is_stopped(f)) return AVERROR_EXIT;
    const int64_t got = n > 0 ? media_input_read(f->in, f->pos, dst, (size_t)n) : 0;
    if (got < 0 && !f->io_errno) f->io_errno = (int)-got;
    if (got < 0) return AVERROR((int)-got);
    f->pos += got;
    return got ? (int)got : AVERROR_EOF;
}

static int64_t io_seek(void *user, int64_t offset, int whence)
{
    struct ffmpeg *f = user;
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE) return f->in->size;
    const int64_t base = whence == SEEK_CUR ? f->pos : whence == SEEK_END ? f->in->size : 0;
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) return AVERROR(EINVAL);
    if (offset < -base || offset > INT64_MAX - base) return AVERROR(EINVAL);
    return f->pos = base + offset;
}

/* Called when a container wants to open another file: never. */
static int io_refuse(AVFormatContext *s, AVIOContext **pb, const char *url, int flags, AVDictionary **options)
{
    (void)s;
    (void)url;
    (void)flags;
    (void)options;
    *pb = NULL;
    return AVERROR(EPERM);
}

/* Does errno stay as it is while memory can be had? Where the heap cannot grow in its place the C library finds memory elsewhere and leaves
 * ENOMEM all the same. */
static int errno_tells(void)
{
    enum { N = 32, SZ = 1 << 16 }; /* more than a heap has at hand, each part too small for pages of its own */
    void *volatile part[N];
    errno = 0;
    for (int i = 0; i < N; i++) part[i] = malloc(SZ);
    const int tells = errno == 0;
    for (int i = 0; i < N; i++) free(part[i]);
    return tells;
}

/* FFmpeg hides want of memory behind other errors, behind the end of a file, or behind success with less in it. The C library leaves it
 * in errno, which is 0 before each call. */
static int is_starved(const struct ffmpeg *f, int av_status)
{
    return av_status == AVERROR(ENOMEM) || (errno == ENOMEM && (av_status < 0 || f->errno_tells));
}

static int reason(struct ffmpeg *f, steno_error *e, int status, const char *what, int av_status)
{
    const int starved = is_starved(f, av_status);
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    if (is_stopped(f)) return media_fail(e, STENO_ECANCELED, "%s: reading was canceled", f->in->name);
    if (f->io_errno) return media_fail(e, STENO_EIO, "%s: read error: %s", f->in->name, strerror(f->io_errno));
    if (starved) return media_fail(e, STENO_ENOMEM, "%s: out of memory while decoding", f->in->name);
    f->av.av_strerror(av_status, text, sizeof text);
    return media_fail(e, status, "%s: %s: %s", f->in->name, what, text);
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* Is one of the comma-separated `names` among FORMATS? */
static int is_allowed(const char *names)
{
    while (*names) {
        const size_t n = strcspn(names, ",");
        for (const char *p = FORMATS; *p;) {
            const size_t k = strcspn(p, ",");
            if (k == n && !memcmp(p, names, n)) return 1;
            p += k + (p[k] == ',');
        }
        names += n + (names[n] == ',');
    }
    return 0;
}

/* What does FFmpeg take the file for? */
static int open_probe(struct ffmpeg *f, const AVInputFormat **out, steno_error *e)
{
    struct av *av = &f->av;
    errno = 0;
    uint8_t *buffer = av->av_malloc(IO_SZ);
    if (buffer) f->io = av->avio_alloc_context(buffer, IO_SZ, 0, f, io_read, NULL, io_seek);
    if (!f->io) av->av_freep(&buffer);
    if (!f->io) return media_nomem(e, IO_SZ, "reading a sound file");
    const AVInputFormat *kind = NULL;
    const int r = av->av_probe_input_buffer2(f->io, &kind, f->in->name, NULL, 0, 0);
    if (is_starved(f, r)) return reason(f, e, STENO_EFORMAT, "cannot be read", r);
    if (r == AVERROR_INVALIDDATA || (r >= 0 && !kind))
        return media_fail(e, STENO_EUNSUPPORTED, "%s: is not a sound or video file that FFmpeg knows", f->in->name);
    if (r < 0) return reason(f, e, STENO_EFORMAT, "cannot be read", r);
    if (!is_allowed(kind->name))
        return media_fail(e, STENO_EUNSUPPORTED, "%s: is not a sound or video file (FFmpeg takes it for %s, which is not read)",
                          f->in->name, kind->long_name ? kind->long_name : kind->name);
    *out = kind;
    return STENO_OK;
}

static int open_format(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    const AVInputFormat *kind = NULL;
    const int status = open_probe(f, &kind, e);
    if (status != STENO_OK) return status;
    errno = 0;
    f->format = av->avformat_alloc_context();
    if (!f->format) return media_nomem(e, sizeof *f->format, "reading a sound file");
    f->format->pb = f->io;
    f->format->flags |= AVFMT_FLAG_CUSTOM_IO; /* closing must leave f->io to us, also when opening failed before it knew */
    f->format->io_open = io_refuse;
    f->format->interrupt_callback = (AVIOInterruptCB){ is_stopped, f };
    AVDictionary *options = NULL;
    int r = av->av_dict_set(&options, "format_whitelist", FORMATS, 0);
    if (r >= 0) r = av->av_dict_set(&options, "protocol_whitelist", "none", 0);
    if (r >= 0) r = av->av_dict_set(&options, "scan_all_pmts", "1", 0);
    if (r >= 0) r = av->avformat_open_input(&f->format, f->in->name, kind, &options); /* frees f->format on failure */
    av->av_dict_free(&options);
    if (r < 0 || is_starved(f, r)) return reason(f, e, STENO_EFORMAT, "is damaged or cut short", r);
    r = av->avformat_find_stream_info(f->format, NULL);
    if (r < 0 || is_starved(f, r)) return reason(f, e, STENO_EFORMAT, "is damaged: its streams cannot be read", r);
    return STENO_OK;
}

/* The program prefers streams that gave packets, then those marked as default, then more channels; the first of equals. */
static int choose_stream(const AVFormatContext *format)
{
    int best = -1;
    int64_t best_score = 0;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        const AVStream *s = format->streams[i];
        int64_t score = s->codecpar->ch_layout.nb_channels;
        if (s->event_flags & AVSTREAM_EVENT_FLAG_NEW_PACKETS) score += 100000000;
        if (s->disposition & AV_DISPOSITION_DEFAULT) score += 5000000;
        if (s->codecpar->codec_type != AVMEDIA_TYPE_AUDIO || score <= best_score) continue;
        best = (int)i;
        best_score = score;
    }
    return best;
}

static int open_codec(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    errno = 0;
    f->stream = choose_stream(f->format);
    if (f->stream < 0) return media_fail(e, STENO_EUNSUPPORTED, "%s: has no sound in it", f->in->name);
    for (unsigned i = 0; i < f->format->nb_streams; i++)
        f->format->streams[i]->discard = (int)i == f->stream ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    AVStream *stream = f->format->streams[f->stream];
    const AVCodec *decoder = av->avcodec_find_decoder(stream->codecpar->codec_id);
    if (!decoder) return media_fail(e, STENO_EUNSUPPORTED, "%s: this FFmpeg has no decoder for its sound", f->in->name);
    f->codec = av->avcodec_alloc_context3(decoder);
    f->packet = av->av_packet_alloc();
    f->frame = av->av_frame_alloc();
    if (!f->codec || !f->packet || !f->frame) return media_nomem(e, sizeof *f->codec, "decoding");
    int r = av->avcodec_parameters_to_context(f->codec, stream->codecpar);
    if (r < 0) return reason(f, e, STENO_EFORMAT, "is damaged: its sound is described wrongly", r);
    f->codec->pkt_timebase = stream->time_base;
    f->codec->thread_count = 1; /* a library starts no threads of its own */
    AVChannelLayout *layout = &f->codec->ch_layout;
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC) av->av_channel_layout_default(layout, layout->nb_channels);
    r = av->avcodec_open2(f->codec, decoder, NULL);
    if (r < 0 || is_starved(f, r)) return reason(f, e, STENO_EFORMAT, "is damaged: its decoder cannot be set up", r);
    return STENO_OK;
}

/* ---- decoding ---------------------------------------------------------------------------------------------------------------- */

/* Make the resampler for frames like f->frame, unless it is there already. What an old one still holds is dropped. */
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
        return media_fail(e, STENO_EFORMAT, "%s: is damaged: it says it is sampled at %d Hz", f->in->name, in->sample_rate);
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO, *out = f->channel == MEDIA_MIX ? &mono : layout;
    int r = av->av_channel_layout_copy(&f->swr_layout, layout);
    if (r >= 0)
        r = av->swr_alloc_set_opts2(&f->swr, out, AV_SAMPLE_FMT_S16, MEDIA_RATE, layout, in->format, in->sample_rate, 0, NULL);
    if (r >= 0) r = av->swr_init(f->swr);
    if (r < 0 || is_starved(f, r)) {
        av->swr_free(&f->swr);
        return reason(f, e, STENO_EUNSUPPORTED, out == &mono ? "its channels cannot be mixed to one" : "its channels cannot be parted", r);
    }
    if (!f->channels) f->channels = layout->nb_channels;
    f->swr_format = in->format;
    f->swr_rate = in->sample_rate;
    f->width = out->nb_channels;
    f->pick = f->width == 1 ? 0 : f->channel <= f->width ? f->channel - 1 : -1;
    return STENO_OK;
}

/* Resample n samples per channel, or flush with in NULL, into f->out. */
static int resample(struct ffmpeg *f, const uint8_t **in, int n, steno_error *e)
{
    f->out_pos = f->out_len = 0;
    errno = 0;
    const int most = f->av.swr_get_out_samples(f->swr, n);
    if (most < 0) return reason(f, e, STENO_EFORMAT, "resampling failed", most);
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
    if (got < 0 || is_starved(f, got)) return reason(f, e, STENO_EFORMAT, "resampling failed", got);
    f->out_len = got;
    f->made += got;
    if (f->made > f->heard) f->heard = f->made;
    return STENO_OK;
}

/* Give the decoder the next packet of the stream, or the end. */
static int feed(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    while (!f->packet_waits) {
        errno = 0;
        const int r = av->av_read_frame(f->format, f->packet);
        if (is_stopped(f) || f->io_errno || is_starved(f, r)) return reason(f, e, STENO_EIO, "read error", r);
        if (r == AVERROR(EAGAIN)) continue;
        if (r < 0) { /* the end, or damage that nothing can be read behind */
            if (r != AVERROR_EOF) f->damaged++, f->broken = 1;
            av->avcodec_send_packet(f->codec, NULL);
            f->stage = STAGE_DRAIN;
            return STENO_OK;
        }
        f->packet_waits = f->packet->stream_index == f->stream;
        if (!f->packet_waits) av->av_packet_unref(f->packet);
    }
    errno = 0;
    const int r = av->avcodec_send_packet(f->codec, f->packet);
    if (is_starved(f, r)) return reason(f, e, STENO_ENOMEM, "decoding", r);
    if (r == AVERROR(EAGAIN)) return STENO_OK; /* it has frames to give first; the packet waits */
    if (r < 0 && r != AVERROR_EOF) f->damaged++;
    av->av_packet_unref(f->packet);
    f->packet_waits = 0;
    return STENO_OK;
}

/* Take one frame from the decoder, if it has one. */
static int take(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    errno = 0;
    const int r = av->avcodec_receive_frame(f->codec, f->frame);
    if (is_starved(f, r)) return reason(f, e, STENO_ENOMEM, "decoding", r);
    if (r < 0) {
        if (r != AVERROR(EAGAIN) && r != AVERROR_EOF) {
            f->damaged++;
            av->av_packet_unref(f->packet); /* not offered again: a decoder that fails on and on must not hold us */
            f->packet_waits = 0;
        }
        if (f->stage == STAGE_DRAIN) f->stage = STAGE_TAIL;
        return f->stage == STAGE_PACKETS ? feed(f, e) : STENO_OK;
    }
    int status = STENO_OK;
    if (f->frame->nb_samples > 0) {
        status = swr_fit(f, e);
        if (status == STENO_OK) status = resample(f, (const uint8_t **)f->frame->extended_data, f->frame->nb_samples, e);
    }
    av->av_frame_unref(f->frame);
    return status;
}

/* Decode until f->out holds samples or the sound has ended. */
static int fill(struct ffmpeg *f, steno_error *e)
{
    int status = STENO_OK;
    while (status == STENO_OK && f->out_pos == f->out_len && f->stage != STAGE_END) {
        if (is_stopped(f)) return reason(f, e, STENO_ECANCELED, "", 0);
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

/* Everything but the functions, the input and what is wanted of it, so that decoding can begin again. */
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
    const struct ffmpeg fresh = { .av = f->av, .in = f->in, .errno_tells = f->errno_tells, .channels = f->channels, .channel = f->channel,
                                  .heard = f->heard, .ended = f->ended, .broken = f->broken };
    *f = fresh;
}

/* Decode up to the first samples, so that a file without any is refused at once. */
static int begin(struct ffmpeg *f, steno_error *e)
{
    int status = open_format(f, e);
    if (status == STENO_OK) status = open_codec(f, e);
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
    f->errno_tells = errno_tells();
    int status = av_load(&f->av, e);
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
    int status = av_load(&f.av, e);
    if (status != STENO_OK) return status;
    status = open_probe(&f, &kind, e);
    shut(&f);
    return status;
}

static int ffmpeg_rewind(void *d, steno_error *e)
{
    shut(d);
    const int status = begin(d, e);
    if (status != STENO_OK) shut(d); /* reads fail from here on */
    return status;
}

static int64_t ffmpeg_read(void *d, float *pcm, int64_t n, steno_error *e)
{
    struct ffmpeg *f = d;
    if (!f->format) return media_fail(e, STENO_EIO, "%s: an earlier rewind failed", f->in->name);
    const int status = fill(f, e);
    if (status != STENO_OK) return status;
    const int64_t have = f->out_len - f->out_pos;
    if (n > have) n = have;
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

static int64_t ffmpeg_duration_ms(const void *d)
{
    const struct ffmpeg *f = d;
    return f->format && f->format->duration > 0 ? f->format->duration / (AV_TIME_BASE / 1000) : -1;
}

/* Is there nothing beside the sound that may be longer? Pictures of a cover have no length. */
static int is_alone(const struct ffmpeg *f)
{
    for (unsigned i = 0; i < f->format->nb_streams; i++)
        if ((int)i != f->stream && !(f->format->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC)) return 0;
    return 1;
}

/* Length that a header declares, in ms, or -1. Estimates from the bit rate are none, nor are the times at the end of the file as it is. */
static int64_t declared_ms(const struct ffmpeg *f)
{
    if (!f->format || f->stream < 0 || f->format->duration_estimation_method != AVFMT_DURATION_FROM_STREAM || !is_alone(f)) return -1;
    const AVStream *s = f->format->streams[f->stream];
    if (s->duration <= 0 && f->format->duration > 0 && !strncmp(f->format->iformat->name, "matroska", 8))
        return f->format->duration / (AV_TIME_BASE / 1000); /* which tells the length of all streams at once */
    if (s->duration <= 0 || s->time_base.den <= 0 || !strcmp(f->format->iformat->name, "ogg") ||
        !strcmp(f->format->iformat->name, "avi")) /* the last page as it is; anything where the writer could not go back */
        return -1;
    const double ms = 1000.0 * (double)s->duration * s->time_base.num / s->time_base.den;
    return ms < 1e15 ? (int64_t)ms : -1;
}

static void ffmpeg_heard(const void *d, struct media_heard *h)
{
    const struct ffmpeg *f = d;
    enum { LOSSLESS_MS = 20, LOSSY_MS = 250 }; /* rounding; encoders' delays, and frames that are not full */
    const AVCodecDescriptor *kind = f->codec ? f->av.avcodec_descriptor_get(f->codec->codec_id) : NULL;
    const int lossless = kind && (kind->props & AV_CODEC_PROP_LOSSLESS) && !(kind->props & AV_CODEC_PROP_LOSSY);
    *h = (struct media_heard){ .ended = f->ended, .broken = f->broken, .ms = f->heard * 1000 / MEDIA_RATE, .promised_ms = declared_ms(f),
                               .slack_ms = lossless ? LOSSLESS_MS : LOSSY_MS, .damaged = f->damaged };
}

const struct media_backend media_ffmpeg = {
    .text = "FFmpeg (libavformat " AV_STRINGIFY(LIBAVFORMAT_VERSION) ", libavcodec " AV_STRINGIFY(LIBAVCODEC_VERSION)
            ", libswresample " AV_STRINGIFY(LIBSWRESAMPLE_VERSION) ")",
    .probe = ffmpeg_probe,
    .open = ffmpeg_open,
    .read = ffmpeg_read,
    .rewind = ffmpeg_rewind,
    .select = ffmpeg_select,
    .close = ffmpeg_close,
    .channels = ffmpeg_channels,
    .duration_ms = ffmpeg_duration_ms,
    .heard = ffmpeg_heard,
};
#else
typedef int media_ffmpeg_is_left_out; /* a translation unit wants a declaration */
#endif
