/* steno tests: files of any container, from packets of small ones. SPDX-License-Identifier: MIT
 *
 * The packets of up to two files are written repeatedly, with times that the caller chooses. */
#ifndef STENO_TESTS_REMUX_HELP_H
#define STENO_TESTS_REMUX_HELP_H
#include <libavformat/avformat.h>
#include "harness.h"

struct part {
    const char *from;      /* a file, may be NULL */
    enum AVMediaType type; /* kind of the stream to copy */
    double start;          /* delay in seconds */
};

/* Map the time of a sound packet, in seconds; below 0: leave the packet out. n: number of packets before it */
typedef double (*remux_time)(double t, int64_t n);

struct remux_stream {
    AVFormatContext *in;
    int from;          /* index of the stream */
    AVPacket *p[2000]; /* [n] */
    int n, at;
    int64_t loops, all;
    double unit, lasts, start; /* in seconds: one tick, the duration of all packets, the delay */
};

static inline void remux_load(struct remux_stream *s, const struct part *part)
{
    s->in = NULL;
    assert_int_equal(avformat_open_input(&s->in, part->from, NULL, NULL), 0);
    assert_true(avformat_find_stream_info(s->in, NULL) >= 0);
    s->from = av_find_best_stream(s->in, part->type, -1, -1, NULL, 0);
    assert_true(s->from >= 0);
    s->n = s->at = 0;
    s->loops = s->all = 0;
    s->unit = av_q2d(s->in->streams[s->from]->time_base);
    s->start = part->start;
    AVPacket *p = av_packet_alloc();
    while (av_read_frame(s->in, p) >= 0) {
        assert_true(s->n < (int)(sizeof s->p / sizeof *s->p));
        if (p->stream_index == s->from) s->p[s->n++] = av_packet_clone(p);
        av_packet_unref(p);
    }
    av_packet_free(&p);
    assert_true(s->n > 2);
    if (part->type == AVMEDIA_TYPE_AUDIO) av_packet_free(&s->p[--s->n]); /* it may be shorter than the others */
    const AVPacket *last = s->p[s->n - 1];
    s->lasts = (double)(last->dts + (last->duration ? last->duration : last->dts - s->p[s->n - 2]->dts) - s->p[0]->dts) * s->unit;
}

static inline double remux_next(const struct remux_stream *s)
{
    return (double)s->p[s->at]->dts * s->unit + (double)s->loops * s->lasts + s->start;
}

static inline void remux_write(AVFormatContext *out, struct remux_stream *s, int to, remux_time time)
{
    AVPacket *p = av_packet_clone(s->p[s->at]);
    const double plain = remux_next(s), t = time ? time(plain, s->all) : plain;
    const double unit = av_q2d(out->streams[to]->time_base), behind = (double)(p->pts - p->dts) * s->unit;
    if (s->all) av_packet_free_side_data(p);
    p->stream_index = to;
    p->dts = llround(t / unit);
    p->pts = p->dts + llround(behind / unit);
    p->duration = llround((double)p->duration * s->unit / unit);
    if (t >= 0 || !time) assert_int_equal(av_interleaved_write_frame(out, p), 0);
    av_packet_free(&p);
    s->all++;
    if (++s->at < s->n) return;
    s->at = 0;
    s->loops++;
}

/* Write such a file of `seconds`; the last part is the sound. Its times are mapped by `time`, unless that is NULL. */
static inline void remux(const char *path, const char *muxer, const struct part part[2], double seconds, remux_time time)
{
    static struct remux_stream s[2];
    const int n = part[1].from ? 2 : 1;
    AVFormatContext *out = NULL;
    assert_true(avformat_alloc_output_context2(&out, NULL, muxer, path) >= 0);
    for (int i = 0; i < n; i++) {
        remux_load(&s[i], &part[i]);
        AVStream *to = avformat_new_stream(out, NULL);
        assert_non_null(to);
        assert_true(avcodec_parameters_copy(to->codecpar, s[i].in->streams[s[i].from]->codecpar) >= 0);
        to->codecpar->codec_tag = 0;
        to->time_base = s[i].in->streams[s[i].from]->time_base;
    }
    assert_true(avio_open(&out->pb, path, AVIO_FLAG_WRITE) >= 0);
    if (avformat_write_header(out, NULL) < 0) fail_msg("%s cannot hold %s", muxer, part[n - 1].from);
    for (;;) {
        const int i = n == 2 && remux_next(&s[1]) < remux_next(&s[0]);
        if (remux_next(&s[i]) >= seconds) break;
        remux_write(out, &s[i], i, i == n - 1 ? time : NULL);
    }
    assert_true(av_write_trailer(out) >= 0);
    avio_closep(&out->pb);
    avformat_free_context(out);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < s[i].n; k++) av_packet_free(&s[i].p[k]);
        avformat_close_input(&s[i].in);
    }
}
#endif
