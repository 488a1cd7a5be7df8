/* steno-media: WAV without FFmpeg. SPDX-License-Identifier: MIT
 *
 * Always used for 16-bit mono files, which need no conversion, and for all WAV files in builds without FFmpeg.
 *
 * RIFF is a list of chunks, of which only `fmt ` and `data` matter. Sizes are often wrong (streams write 0 or -1, cut files are shorter
 * than declared), so the data chunk ends with the file at the latest. Samples are first converted to 16 bits, as in the reference. One
 * channel at 16 kHz equals FFmpeg's conversion bit for bit; several are averaged, or one of them is picked. */
#include "media.h"
#include "media_rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_PCM = 1, TAG_FLOAT = 3, TAG_EXTENSIBLE = 0xfffe, CHANNELS_MAX = 256, CHUNKS_MAX = 4096, CHUNK_SZ = 1 << 14 };

struct wav {
    const struct media_input *in;
    int64_t data, end, at; /* byte offsets: first sample, end of the last whole frame, next sample */
    int is_float, bytes;   /* of one sample */
    int channels, frame_sz, hz;
    struct media_rate *rate; /* NULL: the samples are at 16 kHz */
    int channel;           /* the selected channel, or STENO_MEDIA_MIX */
    int whole;             /* the data chunk's size is given and fits the file */
    int64_t promised;      /* bytes of samples that the file declares; -1: not declared */
    int64_t decoded;       /* bytes, the maximum over all passes */
    int ended;
    uint8_t chunk[CHUNK_SZ];
};

static uint32_t le16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
    return le16(p) | le16(p + 2) << 16;
}

static uint64_t le64(const uint8_t *p)
{
    return le32(p) | (uint64_t)le32(p + 4) << 32;
}

static int read_format(struct wav *w, int64_t at, uint32_t size, steno_error *e)
{
    const char *name = w->in->name;
    uint8_t f[26] = { 0 };
    if (size < 16 || !media_input_exactly(w->in, at, f, size < sizeof f ? 16 : sizeof f))
        return media_fail(e, STENO_EFORMAT, "%s: its format chunk is cut short", name);
    const uint32_t first_tag = le16(f), tag = first_tag == TAG_EXTENSIBLE && size >= sizeof f ? le16(f + 24) : first_tag;
    const uint32_t channels = le16(f + 2), rate = le32(f + 4), bits = le16(f + 14);
    const int pcm_ok = tag == TAG_PCM && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
    const int float_ok = tag == TAG_FLOAT && (bits == 32 || bits == 64);
    if (!pcm_ok && !float_ok)
        return media_fail(e, STENO_EUNSUPPORTED, "%s: WAV coding %u with %u bits needs a build with FFmpeg; PCM and float do not",
                          name, (unsigned)tag, (unsigned)bits);
    if (rate < MEDIA_RATE_LEAST || rate > MEDIA_RATE_MOST)
        return media_fail(e, STENO_EUNSUPPORTED, "%s: is sampled at %u Hz; a build without FFmpeg reads %d to %d Hz", name, (unsigned)rate,
                          MEDIA_RATE_LEAST, MEDIA_RATE_MOST);
    if (channels < 1 || channels > CHANNELS_MAX)
        return media_fail(e, STENO_EFORMAT, "%s: is damaged: its number of channels is %u", name, (unsigned)channels);
    w->is_float = float_ok;
    w->bytes = (int)bits / 8;
    w->channels = (int)channels;
    w->hz = (int)rate;
    w->frame_sz = w->bytes * w->channels; /* 2048 at most: fits the chunk */
    return STENO_OK;
}

static int wav_probe(const struct media_input *in, steno_error *e)
{
    uint8_t h[12];
    const int is_there = media_input_exactly(in, 0, h, 12) && !memcmp(h + 8, "WAVE", 4);
    if (is_there && (!memcmp(h, "RIFF", 4) || !memcmp(h, "RF64", 4) || !memcmp(h, "BW64", 4))) return STENO_OK;
    return media_fail(e, STENO_EUNSUPPORTED, "%s: is not a WAV file; this build has no FFmpeg and reads nothing else", in->name);
}

/* Walk the chunks up to the samples. */
static int read_header(struct wav *w, steno_error *e)
{
    const char *name = w->in->name;
    uint8_t h[16];
    const int known = wav_probe(w->in, e);
    if (known != STENO_OK) return known;
    uint64_t data_sz64 = 0; /* RF64 stores the true size before the samples */
    int64_t at = 12;
    for (int i = 0; i < CHUNKS_MAX && media_input_exactly(w->in, at, h, 8); i++) {
        const uint32_t size = le32(h + 4);
        const int64_t body = at + 8;
        if (!memcmp(h, "ds64", 4) && size >= 16 && media_input_exactly(w->in, body, h, 16)) data_sz64 = le64(h + 8);
        else if (!memcmp(h, "fmt ", 4)) {
            const int status = read_format(w, body, size, e);
            if (status != STENO_OK) return status;
        } else if (!memcmp(h, "data", 4)) {
            if (!w->channels) return media_fail(e, STENO_EFORMAT, "%s: its samples come before their format", name);
            const uint64_t left = (uint64_t)(w->in->size - body);
            const int in_front = size == 0xffffffffu && data_sz64;
            uint64_t n = in_front ? data_sz64 : size == 0 ? left : size;
            w->whole = size != 0 && n <= left;
            w->promised = (in_front && n < INT64_MAX) || !media_size_is_open(size) ? (int64_t)n : -1;
            if (n > left) n = left;
            w->data = w->at = body;
            w->end = body + (int64_t)(n - n % (uint64_t)w->frame_sz);
            if (w->end == body) return media_fail(e, STENO_EFORMAT, "%s: holds no samples", name);
            return STENO_OK;
        }
        at = body + (int64_t)size + (size & 1);
    }
    return media_fail(e, STENO_EFORMAT, "%s: has no data chunk; the file is damaged or cut short", name);
}

static double float_sample(const uint8_t *p, int bytes)
{
    const uint32_t lo = le32(p);
    if (bytes == 4) {
        float f;
        memcpy(&f, &lo, sizeof f);
        return f;
    }
    const uint64_t bits = le64(p);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* One sample as a 16-bit value, clipped like FFmpeg (NaN becomes the lowest). */
static int sample_s16(const struct wav *w, const uint8_t *p)
{
    if (w->is_float) {
        const double v = float_sample(p, w->bytes) * 32768.0;
        return v >= 32767.0 ? 32767 : v > -32768.0 ? (int)lrint(v) : -32768;
    }
    if (w->bytes == 1) return (p[0] - 128) * 256;
    return (int16_t)le16(p + w->bytes - 2); /* the upper 16 bits */
}

/* Read frames at the file's rate. @return as wav_read */
static int64_t frames_read(struct wav *w, float *pcm, int64_t n, steno_error *e)
{
    const int64_t left = (w->end - w->at) / w->frame_sz, fits = CHUNK_SZ / w->frame_sz;
    if (left <= 0) w->ended = 1;
    if (n > left) n = left;
    if (n > fits) n = fits;
    const int64_t ready = n > 0 && w->in->live ? media_input_ready(w->in, w->at, w->frame_sz, n * w->frame_sz) : n * w->frame_sz;
    if (ready < 0 && media_live_error(w->in->live, e)) return STENO_EIO;
    if (ready < 0) return media_fail(e, STENO_EIO, "%s: read error", w->in->name);
    n = ready / w->frame_sz;
    if (n <= 0 && left > 0) w->end = w->at, w->ended = 1; /* the pipe has ended */
    if (n <= 0) return 0;
    if (!media_input_exactly(w->in, w->at, w->chunk, (size_t)n * (size_t)w->frame_sz))
        return media_fail(e, STENO_EIO, "%s: read error, or the file shrank while it was read", w->in->name);
    w->at += n * w->frame_sz;
    if (w->at - w->data > w->decoded) w->decoded = w->at - w->data;
    const int first = w->channel == STENO_MEDIA_MIX ? 0 : w->channel, count = w->channel == STENO_MEDIA_MIX ? w->channels : 1;
    for (int64_t i = 0; i < n; i++) {
        const uint8_t *p = w->chunk + i * w->frame_sz + first * w->bytes;
        int sum = 0;
        for (int c = 0; c < count; c++, p += w->bytes) sum += sample_s16(w, p);
        const double mean = floor((double)sum / count + 0.5);
        pcm[i] = (float)(mean / 32768.0);
    }
    return n;
}

static int64_t wav_read(void *d, float *pcm, int64_t n, steno_error *e)
{
    struct wav *w = d;
    if (!w->rate) return frames_read(w, pcm, n, e);
    for (int is_over = 0;;) {
        const int64_t done = media_rate_take(w->rate, pcm, n);
        if (done || is_over) return done;
        float *in = media_rate_room(w->rate, CHUNK_SZ);
        if (!in) return media_nomem(e, CHUNK_SZ * sizeof *in, "samples");
        const int64_t got = frames_read(w, in, CHUNK_SZ, e);
        if (got < 0) return got;
        if (got) media_rate_add(w->rate, (size_t)got);
        else media_rate_end(w->rate), is_over = 1;
    }
}

static void wav_select(void *d, int channel)
{
    struct wav *w = d;
    w->channel = channel;
}

static int wav_channels(const void *d)
{
    const struct wav *w = d;
    return w->channels;
}

static int wav_tracks(const void *d)
{
    (void)d;
    return 1;
}

static void wav_close(void *d)
{
    struct wav *w = d;
    if (w) media_rate_close(w->rate);
    free(w);
}

/* The header alone: what is sampled at another rate gets its filter when it is opened for reading. */
static int wav_describe(struct wav *w, const struct media_input *in, steno_error *e)
{
    w->in = in;
    w->channel = STENO_MEDIA_MIX;
    const int status = read_header(w, e);
    return status == STENO_OK && in->track > 1 ? media_no_track(in, in->track, 1, STENO_EUNSUPPORTED, e) : status;
}

static int wav_open(void **d, const struct media_input *in, steno_error *e)
{
    struct wav *w = *d = calloc(1, sizeof *w);
    if (!w) return media_nomem(e, sizeof *w, "a WAV file");
    int status = wav_describe(w, in, e);
    if (status == STENO_OK && w->hz != MEDIA_RATE) status = media_rate_open(&w->rate, w->hz, in->name, e);
    if (status == STENO_OK) return STENO_OK;
    wav_close(w);
    *d = NULL;
    return status;
}

static int wav_rewind(void *d, steno_error *e)
{
    struct wav *w = d;
    (void)e;
    w->at = w->data;
    if (w->rate) media_rate_seek(w->rate, 0);
    return STENO_OK;
}

static int64_t wav_skip(void *d, int64_t n, steno_error *e)
{
    struct wav *w = d;
    const int64_t frames = (w->end - w->data) / w->frame_sz, all = w->rate ? media_rate_length(w->rate, frames) : frames;
    (void)e;
    if (w->in->live) return 0;
    if (n > all) n = all;
    const int64_t at = w->rate ? media_rate_seek(w->rate, n) : n;
    w->at = w->data + (at < frames ? at : frames) * w->frame_sz;
    if (w->at - w->data > w->decoded) w->decoded = w->at - w->data; /* the file holds what is skipped */
    return n;
}

static int64_t bytes_ms(const struct wav *w, int64_t n)
{
    return n / w->frame_sz * 1000 / w->hz;
}

static int64_t wav_duration_ms(const void *d)
{
    const struct wav *w = d;
    if (w->in->live) return w->promised < 0 ? -1 : bytes_ms(w, w->promised);
    return bytes_ms(w, w->end - w->data);
}

static void wav_decoded(const void *d, struct media_decoded *h)
{
    const struct wav *w = d;
    *h = (struct media_decoded){ .ended = w->ended, .ms = bytes_ms(w, w->decoded), .slack_ms = 10,
                               .promised_ms = w->promised < 0 ? -1 : bytes_ms(w, w->promised) };
}

int media_wav_is_plain(const struct media_input *in)
{
    struct wav *w = calloc(1, sizeof *w);
    const int plain = w && wav_describe(w, in, NULL) == STENO_OK && w->hz == MEDIA_RATE && !w->is_float && w->bytes == 2 &&
                      w->channels == 1 && (w->whole || in->live);
    free(w);
    return plain;
}

const struct media_backend media_wav = {
    .text = "built-in WAV reader",
    .probe = wav_probe,
    .open = wav_open,
    .read = wav_read,
    .rewind = wav_rewind,
    .skip = wav_skip,
    .select = wav_select,
    .close = wav_close,
    .channels = wav_channels,
    .tracks = wav_tracks,
    .duration_ms = wav_duration_ms,
    .decoded = wav_decoded,
};
