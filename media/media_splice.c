/* steno-media: checks for one clock in a whole file. SPDX-License-Identifier: MIT
 *
 * Ogg files, transport streams and program streams may be joined at any place, where times restart. In such a file a time is not a
 * position. A sample of the file's bytes shows whether it is joined. If in doubt, the answer is no, and the file is decoded from its
 * start. */
#include "media.h"

#include <string.h>

/* ---- Ogg --------------------------------------------------------------------------------------------------------------------- */

enum { OGG_HEAD_SZ = 27, OGG_STREAMS_MAX = 16, OGG_PLACES = 64, OGG_SEARCH_SZ = 1 << 18, OGG_FIRST = 2 };

struct ogg_stream {
    uint8_t serial[4];
    int64_t last; /* the largest time of its pages so far */
};

struct ogg {
    struct ogg_stream stream[OGG_STREAMS_MAX];
    int n;
};

/* Pages that begin a stream are together at the start. @return 0: too many, or none */
static int ogg_read_streams(struct ogg *o, const struct media_input *in)
{
    uint8_t h[OGG_HEAD_SZ + 255];
    int64_t at = 0;
    while (media_input_exactly(in, at, h, OGG_HEAD_SZ) && !memcmp(h, "OggS", 4) && h[5] & OGG_FIRST) {
        if (o->n == OGG_STREAMS_MAX || !media_input_exactly(in, at + OGG_HEAD_SZ, h + OGG_HEAD_SZ, h[26])) return 0;
        memcpy(o->stream[o->n++].serial, h + 14, 4);
        at += OGG_HEAD_SZ + h[26];
        for (int i = 0; i < h[26]; i++) at += h[OGG_HEAD_SZ + i];
    }
    return o->n > 0;
}

/* Whether the page continues the previous ones. */
static int ogg_goes_on(struct ogg *o, const uint8_t h[OGG_HEAD_SZ])
{
    int64_t time = 0;
    int i = 0;
    for (int k = 7; k >= 0; k--) time = (int64_t)((uint64_t)time << 8 | h[6 + k]);
    while (i < o->n && memcmp(o->stream[i].serial, h + 14, 4)) i++;
    if (i == o->n) return 0;
    if (time == -1) return 1; /* no packet ends in it */
    if (time < o->stream[i].last) return 0;
    o->stream[i].last = time;
    return 1;
}

/* Check the next pages from *at on; *at: the offset after them. @return 0: a page does not continue */
static int ogg_look(struct ogg *o, const struct media_input *in, int64_t *at)
{
    uint8_t window[4096];
    const int64_t end = *at + OGG_SEARCH_SZ;
    int pages = 0;
    while (*at < end && !pages) {
        const int64_t got = media_input_read(in, *at, window, sizeof window);
        if (got < OGG_HEAD_SZ) return 1;
        for (int64_t i = 0; i + OGG_HEAD_SZ <= got; i++) {
            if (memcmp(window + i, "OggS", 4)) continue;
            if (!ogg_goes_on(o, window + i)) return 0;
            pages++;
        }
        *at += got - OGG_HEAD_SZ + 1;
    }
    return pages > 0;
}

/* Pages from many places have the streams of the first pages, and increasing times. */
int media_ogg_is_one(const struct media_input *in)
{
    struct ogg o = { .n = 0 };
    int64_t at = 0;
    if (!ogg_read_streams(&o, in)) return 0;
    for (int i = 0; i < OGG_PLACES; i++) {
        const int64_t place = in->size / OGG_PLACES * i + in->size / OGG_PLACES / 2;
        if (place > at) at = place;
        if (media_input_stopped(in) || !ogg_look(&o, in, &at)) return 0;
    }
    return 1;
}

/* ---- MPEG-TS ----------------------------------------------------------------------------------------------------------------- */

enum { TS_SZ = 188, TS_SYNC = 0x47, TS_WINDOW = 20, SEARCH_SZ = 4 << 20, STEP_LEAST = 1 << 14, STEP_MAX = 1 << 28 };

struct ts {
    const struct media_input *in;
    int64_t phase; /* offset of the first packet */
    int sz;        /* of a packet, including the bytes between packets */
    int pid;       /* of the sound */
};

static int ts_find(struct ts *t)
{
    static const int sizes[] = { 188, 192, 204 };
    uint8_t head[204 * 6];
    if (!media_input_exactly(t->in, 0, head, sizeof head)) return 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int at = 0; at < sizes[k]; at++) {
            int n = 0;
            while (n < 5 && head[at + n * sizes[k]] == TS_SYNC) n++;
            if (n < 5) continue;
            t->phase = at;
            t->sz = sizes[k];
            return 1;
        }
    return 0;
}

/* The stamp at the start of a packet of the sound, or -1. */
static int64_t ts_stamp(const uint8_t p[TS_SZ], int pid)
{
    const int has_more = p[3] >> 5 & 1, has_data = p[3] >> 4 & 1, at = 4 + (has_more ? 1 + p[4] : 0);
    if (((p[1] & 0x1f) << 8 | p[2]) != pid || !(p[1] & 0x40) || !has_data || at + 14 > TS_SZ) return -1;
    const uint8_t *h = p + at;
    if (h[0] || h[1] || h[2] != 1 || !(h[7] & 0x80)) return -1;
    return (int64_t)(h[9] >> 1 & 7) << 30 | (int64_t)h[10] << 22 | (int64_t)(h[11] >> 1) << 15 | (int64_t)h[12] << 7 | h[13] >> 1;
}

/* The first stamp of the sound in the packet at *at, or after it; *at: its position. -1: none near, or damage */
static int64_t ts_next(const void *user, int64_t *at)
{
    const struct ts *t = user;
    uint8_t window[204 * TS_WINDOW];
    const int64_t most = *at + SEARCH_SZ;
    while (*at < most) {
        const int64_t got = media_input_read(t->in, *at, window, (size_t)t->sz * TS_WINDOW);
        if (got < TS_SZ) return -1;
        for (int64_t i = 0; i + TS_SZ <= got; i += t->sz, *at += t->sz) {
            if (window[i] != TS_SYNC) return -1;
            const int64_t stamp = ts_stamp(window + i, t->pid);
            if (stamp >= 0) return stamp;
        }
    }
    return -1;
}

/* ---- MPEG program streams ------------------------------------------------------------------------------------------------------ */

enum { PS_HEAD_SZ = 10, PS_WINDOW = 4096 };

/* The clock reference in a pack header, MPEG-2's or MPEG-1's, or -1. */
static int64_t ps_stamp(const uint8_t h[PS_HEAD_SZ])
{
    const uint8_t *p = h + 4;
    if (h[0] || h[1] || h[2] != 1 || h[3] != 0xba) return -1;
    if ((p[0] & 0xc4) == 0x44 && p[2] & 4 && p[4] & 4 && p[5] & 1)
        return (int64_t)(p[0] >> 3 & 7) << 30 | (int64_t)(p[0] & 3) << 28 | (int64_t)p[1] << 20 | (int64_t)(p[2] >> 3) << 15 |
               (int64_t)(p[2] & 3) << 13 | (int64_t)p[3] << 5 | p[4] >> 3;
    if ((p[0] & 0xf1) == 0x21 && p[2] & 1 && p[4] & 1)
        return (int64_t)(p[0] >> 1 & 7) << 30 | (int64_t)p[1] << 22 | (int64_t)(p[2] >> 1) << 15 | (int64_t)p[3] << 7 | p[4] >> 1;
    return -1;
}

/* As ts_next, for any pack. */
static int64_t ps_next(const void *user, int64_t *at)
{
    const struct media_input *in = user;
    uint8_t window[PS_WINDOW];
    const int64_t most = *at + SEARCH_SZ;
    while (*at < most) {
        const int64_t got = media_input_read(in, *at, window, sizeof window);
        if (got < PS_HEAD_SZ) return -1;
        for (int64_t i = 0; i + PS_HEAD_SZ <= got; i++) {
            const int64_t stamp = ps_stamp(window + i);
            *at += stamp >= 0 ? i : 0;
            if (stamp >= 0) return stamp;
        }
        *at += got - PS_HEAD_SZ + 1;
    }
    return -1;
}

/* ---- both ---------------------------------------------------------------------------------------------------------------------- */

/* Whether the stamps from `next` increase, by less than a splice would, from place to place up to the end. Places are `sz` bytes apart, or
 * a multiple of that. */
static int is_one(const struct media_input *in, int64_t at, int sz, int64_t (*next_stamp)(const void *user, int64_t *at), const void *user)
{
    enum { HZ = 90000, CLOCK_BITS = 33 };
    const double most_s = 0.9 * MEDIA_CLOCK_SPLICE;
    int64_t step = 1 << 16, last = next_stamp(user, &at);
    if (last < 0) return 0;
    for (;;) {
        int64_t next = at + (step + sz - 1) / sz * sz;
        const int64_t stamp = next < in->size && !media_input_stopped(in) ? next_stamp(user, &next) : -1;
        if (stamp < 0 && step <= STEP_LEAST) return next >= in->size - SEARCH_SZ;
        const int64_t forward = stamp < 0 ? 0 : (stamp - last) & (((int64_t)1 << CLOCK_BITS) - 1);
        if (forward >> (CLOCK_BITS - 1)) return 0; /* it decreases */
        const double s = (double)forward / HZ;
        if (stamp < 0 || s > most_s) {
            if (step <= STEP_LEAST) return 0;
            step /= 2;
            continue;
        }
        at = next;
        last = stamp;
        if (s < most_s / 3 && step < STEP_MAX) step *= 2;
    }
}

int media_ts_is_one(const struct media_input *in, int pid)
{
    struct ts t = { .in = in, .pid = pid };
    return ts_find(&t) && is_one(in, t.phase, t.sz, ts_next, &t);
}

int media_ps_is_one(const struct media_input *in)
{
    return is_one(in, 0, 1, ps_next, in);
}

/* ---- AVI ---------------------------------------------------------------------------------------------------------------------- */

/* Size of the chunk with this head: its name, then its size. */
static int64_t avi_size(const uint8_t h[8])
{
    return (int64_t)((uint32_t)h[4] | (uint32_t)h[5] << 8 | (uint32_t)h[6] << 16 | (uint32_t)h[7] << 24);
}

int media_avi_has_no_sound(const struct media_input *in, int64_t from, int64_t to)
{
    enum { HEAD_SZ = 8, CHUNKS_MAX = 1000 };
    uint8_t h[HEAD_SZ];
    int64_t at = from;
    for (int i = 0; at < to && i < CHUNKS_MAX; i++) {
        if (!media_input_exactly(in, at, h, sizeof h)) return 0;
        const int64_t size = avi_size(h);
        const int is_list = !memcmp(h, "LIST", 4) || !memcmp(h, "RIFF", 4);
        if (!memcmp(h + 2, "wb", 2) && size) return 0;
        at += is_list ? HEAD_SZ + 4 : HEAD_SZ + size + (size & 1);
    }
    return at == to;
}

int media_avi_is_chunk(const struct media_input *in, int64_t at, int64_t size)
{
    uint8_t h[8];
    return media_input_exactly(in, at, h, sizeof h) && size == avi_size(h);
}

int media_avi_is_first(const struct media_input *in, int64_t at)
{
    uint8_t h[16];
    if (at < (int64_t)sizeof h || !media_input_exactly(in, at - (int64_t)sizeof h, h, sizeof h)) return 0;
    return !memcmp(h + 12, "movi", 4) || (!memcmp(h + 12, "rec ", 4) && !memcmp(h, "movi", 4));
}
