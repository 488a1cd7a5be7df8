/* steno-media: FFmpeg's libraries, loaded on first use, and opening a file with them. SPDX-License-Identifier: MIT
 *
 * FFmpeg reads through the functions here and opens nothing by itself. Only containers with sound are accepted. The stream is the one that
 * the program ffmpeg would choose. */
#include "media_ffmpeg.h"

#if STENO_MEDIA_FFMPEG
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* ---- libraries --------------------------------------------------------------------------------------------------------------- */

/* They are opened at run time, because linking them would cost every start of a program 20 ms. Their headers give the types. */

static void *find_symbol(void *lib, const char *name, const char **missing)
{
    void *p = dlsym(lib, name);
    if (!p) *missing = name;
    return p;
}

/* The loader does not distinguish a missing library from missing memory. Its message does, if errno does not. */
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

/* Whether there is address space for the libraries and all their dependencies. One of them (GLib) recurses without end when memory is
 * refused while it is loaded. If address space is limited, the room is therefore tested first: FFmpeg 5.1 of Debian 12 takes 184 MB. */
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

int ffmpeg_load(struct av *av, steno_error *e)
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
                          "out of memory while FFmpeg is loaded: its libraries need %d MiB of address space, and the process is limited to "
                          "less (ulimit -v)",
                          LIBRARIES_ROOM >> 20);
    for (int i = 0; i < 4; i++) {
        errno = 0;
        lib[i] = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        if (!lib[i]) return load_failed(errno, e);
    }
    const char *missing = NULL;
    void *p;
#define BIND(f) p = find_symbol(lib[LIB], #f, &missing), memcpy(&av->f, &p, sizeof p);
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

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

enum { IO_SZ = 1 << 15 };

/* Containers that hold sound, or video with sound, and cannot refer to other files: no playlists, no scripts, no devices. */
static const char FORMATS[] =
    "3gp,aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,asf_o,ast,au,avi,avr,caf,dsf,dts,dtshd,dv,eac3,flac,flv,gsm,gxf,iff,ircam,"
    "live_flv,loas,matroska,mlp,mov,mp3,mp4,mpc,mpc8,mpeg,mpegts,mxf,nistsphere,nut,ogg,oma,paf,pvf,qcp,rm,rso,sds,shn,sln,"
    "sox,swf,tak,truehd,tta,voc,vqf,w64,wav,webm,wsaud,wtv,wv,wve,xa,xwma";

/* ---- input ------------------------------------------------------------------------------------------------------------------- */

static int is_stopped(void *user)
{
    const struct ffmpeg *f = user;
    return media_input_stopped(f->in);
}

static int io_read(void *user, uint8_t *dst, int n)
{
    struct ffmpeg *f = user;
    if (media_input_stopped(f->in)) return AVERROR_EXIT;
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
    /* 0: not known; FFmpeg would compare a size with the one in an MP3 header */
    if (whence == AVSEEK_SIZE) return f->in->live ? 0 : f->in->size;
    const int64_t base = whence == SEEK_CUR ? f->pos : whence == SEEK_END ? f->in->size : 0;
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) return AVERROR(EINVAL);
    if (offset < -base || offset > INT64_MAX - base) return AVERROR(EINVAL);
    return f->pos = base + offset;
}

/* Called when a container tries to open another file: always refused. */
static int io_refuse(AVFormatContext *s, AVIOContext **pb, const char *url, int flags, AVDictionary **options)
{
    (void)s;
    (void)url;
    (void)flags;
    (void)options;
    *pb = NULL;
    return AVERROR(EPERM);
}

/* Whether errno stays unchanged while memory is available. If the heap cannot grow in place, the C library finds memory elsewhere and
 * leaves ENOMEM nevertheless. */
int ffmpeg_errno_is_memory(void)
{
    enum { N = 32, SZ = 1 << 16 }; /* more than a heap has free, each part too small for pages of its own */
    void *volatile part[N];
    errno = 0;
    for (int i = 0; i < N; i++) part[i] = malloc(SZ);
    const int is = errno == 0;
    for (int i = 0; i < N; i++) free(part[i]);
    return is;
}

/* FFmpeg also returns ENOMEM for sizes in a file that it does not try to allocate. Then errno is unchanged. */
int ffmpeg_is_starved(const struct ffmpeg *f, int av_status)
{
    return errno == ENOMEM && (av_status < 0 || f->errno_is_memory);
}

int ffmpeg_reason(struct ffmpeg *f, steno_error *e, int status, const char *what, int av_status)
{
    const int starved = ffmpeg_is_starved(f, av_status);
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    if (media_input_stopped(f->in)) return media_fail(e, STENO_ECANCELED, "%s: reading was canceled", f->in->name);
    if (f->io_errno && media_live_error(f->in->live, e)) return STENO_EIO;
    if (f->io_errno) return media_fail(e, STENO_EIO, "%s: read error: %s", f->in->name, strerror(f->io_errno));
    if (starved) return media_fail(e, STENO_ENOMEM, "%s: out of memory while decoding", f->in->name);
    if (av_status == AVERROR(ENOMEM)) snprintf(text, sizeof text, "it states a size that is too large");
    else f->av.av_strerror(av_status, text, sizeof text);
    return media_fail(e, status, "%s: %s: %s", f->in->name, what, text);
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

enum { SCORE_OF_NAME = 1 /* FFmpeg's score of a format that the file's name suggests, and nothing in its bytes */ };

/* Whether one of the comma-separated `names` is in FORMATS. */
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

static int not_known(const struct ffmpeg *f, steno_error *e)
{
    return media_fail(e, STENO_EUNSUPPORTED, "%s: is not a sound or video file that FFmpeg knows", f->in->name);
}

int ffmpeg_open_probe(struct ffmpeg *f, const AVInputFormat **out, steno_error *e)
{
    struct av *av = &f->av;
    errno = 0;
    uint8_t *buffer = av->av_malloc(IO_SZ);
    if (buffer) f->io = av->avio_alloc_context(buffer, IO_SZ, 0, f, io_read, NULL, io_seek);
    if (f->io && f->in->live) f->io->seekable = 0; /* its end is unknown */
    if (!f->io) av->av_freep(&buffer);
    if (!f->io) return media_nomem(e, IO_SZ, "reading a sound file");
    const AVInputFormat *kind = NULL;
    const int r = av->av_probe_input_buffer2(f->io, &kind, f->in->name, NULL, 0, 0);
    if (ffmpeg_is_starved(f, r)) return ffmpeg_reason(f, e, STENO_EFORMAT, "cannot be read", r);
    if (r == AVERROR_INVALIDDATA || (r >= 0 && !kind)) return not_known(f, e);
    f->named = r == SCORE_OF_NAME;
    if (r < 0) return ffmpeg_reason(f, e, STENO_EFORMAT, "cannot be read", r);
    if (!is_allowed(kind->name))
        return media_fail(e, STENO_EUNSUPPORTED, "%s: is not a sound or video file (FFmpeg takes it for %s, which is not read)",
                          f->in->name, kind->long_name ? kind->long_name : kind->name);
    *out = kind;
    return STENO_OK;
}

int ffmpeg_open_format(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    const AVInputFormat *kind = NULL;
    const int status = ffmpeg_open_probe(f, &kind, e);
    if (status != STENO_OK) return status;
    errno = 0;
    f->format = av->avformat_alloc_context();
    if (!f->format) return media_nomem(e, sizeof *f->format, "reading a sound file");
    f->format->pb = f->io;
    f->format->flags |= AVFMT_FLAG_CUSTOM_IO; /* closing must not free f->io, even if opening fails early */
    f->format->io_open = io_refuse;
    f->format->interrupt_callback = (AVIOInterruptCB){ is_stopped, f };
    AVDictionary *options = NULL;
    int r = av->av_dict_set(&options, "format_whitelist", FORMATS, 0);
    if (r >= 0) r = av->av_dict_set(&options, "protocol_whitelist", "none", 0);
    if (r >= 0) r = av->av_dict_set(&options, "scan_all_pmts", "1", 0);
    if (r >= 0) r = av->avformat_open_input(&f->format, f->in->name, kind, &options); /* frees f->format on failure */
    av->av_dict_free(&options);
    if (r < 0 && f->named && !f->io_errno && !ffmpeg_is_starved(f, r) && !media_input_stopped(f->in)) return not_known(f, e);
    if (r < 0 || ffmpeg_is_starved(f, r)) return ffmpeg_reason(f, e, STENO_EFORMAT, "is damaged or cut short", r);
    r = av->avformat_find_stream_info(f->format, NULL);
    if (r < 0 || ffmpeg_is_starved(f, r)) return ffmpeg_reason(f, e, STENO_EFORMAT, "is damaged: its streams cannot be read", r);
    return STENO_OK;
}

/* As in the program ffmpeg: prefer streams that gave packets, then those marked as default, then more channels, then the first. */
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

/* The stream of sound number `track`, or -1; *n: the number of sounds. */
static int find_track(int *n, const AVFormatContext *format, int track)
{
    int stream = -1;
    *n = 0;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        if (format->streams[i]->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) continue;
        if (++*n == track) stream = (int)i;
    }
    return stream;
}

int ffmpeg_open_codec(struct ffmpeg *f, steno_error *e)
{
    struct av *av = &f->av;
    errno = 0;
    f->track = f->in->track;
    f->stream = find_track(&f->tracks, f->format, f->track);
    if (!f->track) f->stream = choose_stream(f->format);
    if (f->tracks && f->stream < 0 && f->track) return media_no_track(f->in, f->track, f->tracks, STENO_EUNSUPPORTED, e);
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
    if (r < 0) return ffmpeg_reason(f, e, STENO_EFORMAT, "is damaged: its sound is described wrongly", r);
    f->codec->pkt_timebase = stream->time_base;
    f->codec->thread_count = 1; /* a library starts no threads on its own */
    AVChannelLayout *layout = &f->codec->ch_layout;
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC) av->av_channel_layout_default(layout, layout->nb_channels);
    r = av->avcodec_open2(f->codec, decoder, NULL);
    if (r < 0 || ffmpeg_is_starved(f, r)) return ffmpeg_reason(f, e, STENO_EFORMAT, "is damaged: its decoder cannot be set up", r);
    return STENO_OK;
}

/* ---- the clock --------------------------------------------------------------------------------------------------------------- */

/* Containers that store times; for the others FFmpeg counts samples. */
static int has_clock(const AVInputFormat *format)
{
    static const char *const names[] = { "matroska", "mov", "mpegts", "mpeg", "flv", "live_flv", "ogg", "asf", "nut", "mxf", "wtv", "avi" };
    const size_t n = strcspn(format->name, ",");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && !memcmp(names[i], format->name, n)) return 1;
    return 0;
}

/* A movie's time begins at 0, by its edit lists, unless it is fragmented: fragments may be the later ones of a broadcast. In other
 * containers the zero is the start of the first stream. Below 0 there is only encoder padding, unless clocks begin anywhere. */
static double zero_of(const AVFormatContext *format, const AVStream *stream)
{
    const int is_movie = !strncmp(format->iformat->name, "mov", 3) && stream->nb_frames > 0;
    if (format->start_time == AV_NOPTS_VALUE || is_movie) return 0;
    const double start = (double)format->start_time / AV_TIME_BASE;
    return start > 0 || format->iformat->flags & AVFMT_TS_DISCONT ? start : 0;
}

void ffmpeg_open_clock(struct ffmpeg *f)
{
    const AVFormatContext *format = f->format;
    const int is_exact = format->duration > 0 && format->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE;
    f->zero = zero_of(format, format->streams[f->stream]);
    f->clock = (struct media_clock){ .is_on = !f->in->unclocked && has_clock(format->iformat),
                                     .splices = (format->iformat->flags & AVFMT_TS_DISCONT) != 0,
                                     .longest = is_exact ? (double)format->duration / AV_TIME_BASE : -1 };
}
#else
typedef int media_ffmpeg_open_is_left_out; /* a translation unit needs a declaration */
#endif
