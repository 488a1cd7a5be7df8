/* steno-media: raw samples in pieces of any size, to 16 kHz mono. SPDX-License-Identifier: MIT
 *
 * Samples become numbers of the type that FFmpeg's raw decoders give, then go through one resampler to mono s16, as in media_ffmpeg.c. One
 * channel at 16 kHz needs only the rounding to 16 bits, which is done here, so FFmpeg is not loaded. */
#include "media_ffmpeg.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_LEAST = 8000, RATE_MAX = 192000, INPUT_CHANNELS_MAX = 8, SAMPLE_MAX = 4 /* bytes */, BLOCK = 4096 /* of each channel */ };

struct steno_resampler {
    int type, rate, channels, is_over;
    uint8_t part[SAMPLE_MAX * INPUT_CHANNELS_MAX]; /* of a sample of all channels that is not complete */
    size_t n_part;
    union { int16_t s16[BLOCK * INPUT_CHANNELS_MAX]; int32_t s32[BLOCK * INPUT_CHANNELS_MAX]; float f32[BLOCK * INPUT_CHANNELS_MAX];
            uint8_t u8[BLOCK * INPUT_CHANNELS_MAX]; } in; /* samples as numbers */
    int16_t *mono; /* [mono_cap] converted by FFmpeg */
    int mono_cap;
    float *out;
    size_t n_out, cap;
#if STENO_MEDIA_FFMPEG
    struct av av;
    SwrContext *swr; /* NULL: not needed */
#endif
};

/* ---- samples as numbers ------------------------------------------------------------------------------------------------------ */

static uint32_t le32(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* ITU-T G.711: segments of 16 steps, each twice as wide as the one before. */
static int16_t ulaw(uint8_t code)
{
    enum { BIAS = 0x84 };
    const int c = ~code & 0xff, t = (((c & 0xf) << 3) + BIAS) << ((c & 0x70) >> 4);
    return (int16_t)(c & 0x80 ? BIAS - t : t - BIAS);
}

static int16_t alaw(uint8_t code)
{
    const int c = code ^ 0x55, segment = (c & 0x70) >> 4, step = c & 0xf;
    const int t = segment ? (2 * step + 1 + 32) << (segment + 2) : (2 * step + 1) << 3;
    return (int16_t)(c & 0x80 ? t : -t);
}

static void number_s16(steno_resampler *r, const uint8_t *b, size_t i)
{
    r->in.s16[i] = (int16_t)(b[0] | b[1] << 8);
}

static void number_s32(steno_resampler *r, const uint8_t *b, size_t i)
{
    r->in.s32[i] = (int32_t)le32(b);
}

/* A value that is no number is silence. */
static void number_f32(steno_resampler *r, const uint8_t *b, size_t i)
{
    const uint32_t bits = le32(b);
    memcpy(&r->in.f32[i], &bits, sizeof bits);
    if (!isfinite(r->in.f32[i])) r->in.f32[i] = 0;
}

static void number_u8(steno_resampler *r, const uint8_t *b, size_t i)
{
    r->in.u8[i] = *b;
}

static void number_ulaw(steno_resampler *r, const uint8_t *b, size_t i)
{
    r->in.s16[i] = ulaw(*b);
}

static void number_alaw(steno_resampler *r, const uint8_t *b, size_t i)
{
    r->in.s16[i] = alaw(*b);
}

/* Numbers as 16 bits, rounded as FFmpeg does. */
static int16_t short_s16(const steno_resampler *r, size_t i)
{
    return r->in.s16[i];
}

static int16_t short_s32(const steno_resampler *r, size_t i)
{
    return (int16_t)(r->in.s32[i] >> 16);
}

static int16_t short_f32(const steno_resampler *r, size_t i)
{
    const float x = r->in.f32[i] * 32768;
    return x >= INT16_MAX ? INT16_MAX : x <= INT16_MIN ? INT16_MIN : (int16_t)lrintf(x);
}

static int16_t short_u8(const steno_resampler *r, size_t i)
{
    return (int16_t)((r->in.u8[i] - 128) * 256);
}

#if STENO_MEDIA_FFMPEG
#define AS(type) AV_SAMPLE_FMT_##type
#else
#define AS(type) 0
#endif

static const struct kind {
    size_t size;
    int format; /* FFmpeg's */
    void (*number)(steno_resampler *r, const uint8_t *b, size_t i);
    int16_t (*as_short)(const steno_resampler *r, size_t i);
} kinds[] = {
    [STENO_SAMPLES_S16LE] = { 2, AS(S16), number_s16, short_s16 }, [STENO_SAMPLES_F32LE] = { 4, AS(FLT), number_f32, short_f32 },
    [STENO_SAMPLES_S32LE] = { 4, AS(S32), number_s32, short_s32 }, [STENO_SAMPLES_U8] = { 1, AS(U8), number_u8, short_u8 },
    [STENO_SAMPLES_ULAW] = { 1, AS(S16), number_ulaw, short_s16 }, [STENO_SAMPLES_ALAW] = { 1, AS(S16), number_alaw, short_s16 },
};

/* ---- conversion -------------------------------------------------------------------------------------------------------------- */

static int needs_ffmpeg(const steno_resampler *r)
{
    return r->rate != MEDIA_RATE || r->channels != 1;
}

/* @return space for n more samples, or NULL */
static float *room(steno_resampler *r, size_t n)
{
    if (!r->out || r->n_out + n > r->cap) {
        const size_t cap = 2 * (r->n_out + n) + 64;
        float *grown = realloc(r->out, cap * sizeof *grown);
        if (!grown) return NULL;
        r->out = grown;
        r->cap = cap;
    }
    return r->out + r->n_out;
}

static int out_of_memory(steno_error *e)
{
    return media_nomem(e, BLOCK * sizeof(float), "samples");
}

static int convert_here(steno_resampler *r, size_t n, steno_error *e)
{
    float *to = room(r, n);
    if (!to) return out_of_memory(e);
    for (size_t i = 0; i < n; i++) to[i] = (float)kinds[r->type].as_short(r, i) / 32768;
    r->n_out += n;
    return STENO_OK;
}

#if STENO_MEDIA_FFMPEG
static int converter_open(steno_resampler *r, steno_error *e)
{
    const int status = ffmpeg_load(&r->av, e);
    if (status) return status;
    AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO, in;
    errno = 0;
    r->av.av_channel_layout_default(&in, r->channels);
    int rc = r->av.swr_alloc_set_opts2(&r->swr, &mono, AV_SAMPLE_FMT_S16, MEDIA_RATE, &in, kinds[r->type].format, r->rate, 0, NULL);
    if (rc >= 0) rc = r->av.swr_init(r->swr);
    r->av.av_channel_layout_uninit(&in);
    if (rc >= 0) return STENO_OK;
    if (rc == AVERROR(ENOMEM) || errno == ENOMEM) return out_of_memory(e);
    return media_fail(e, STENO_EUNSUPPORTED, "this FFmpeg cannot convert %d channels at %d Hz", r->channels, r->rate);
}

/* Converts n samples of each channel; in NULL: the rest. */
static int convert_swr(steno_resampler *r, const uint8_t *in, int n, steno_error *e)
{
    errno = 0;
    const int most = r->av.swr_get_out_samples(r->swr, n);
    if (most > r->mono_cap) {
        int16_t *grown = realloc(r->mono, (size_t)most * sizeof *grown);
        if (!grown) return out_of_memory(e);
        r->mono = grown;
        r->mono_cap = most;
    }
    uint8_t *plane = (uint8_t *)r->mono;
    const int got = most <= 0 ? most : r->av.swr_convert(r->swr, &plane, most, in ? &in : NULL, n);
    if (got < 0) return got == AVERROR(ENOMEM) || errno == ENOMEM ? out_of_memory(e) : media_fail(e, STENO_EFORMAT, "resampling failed");
    float *to = room(r, (size_t)got);
    if (!to) return out_of_memory(e);
    for (int i = 0; i < got; i++) to[i] = (float)r->mono[i] / 32768;
    r->n_out += (size_t)got;
    return STENO_OK;
}

static void converter_close(steno_resampler *r)
{
    if (r->swr) r->av.swr_free(&r->swr);
}
#else
static int converter_open(steno_resampler *r, steno_error *e)
{
    return media_fail(e, STENO_EUNSUPPORTED, "%d channels at %d Hz: the conversion needs FFmpeg, and this build has none: send "
                                             "one channel at %d Hz", r->channels, r->rate, MEDIA_RATE);
}

static int convert_swr(steno_resampler *r, const uint8_t *in, int n, steno_error *e)
{
    (void)r, (void)in, (void)n;
    return media_fail(e, STENO_EUNSUPPORTED, "this build has no FFmpeg");
}

static void converter_close(steno_resampler *r)
{
    (void)r;
}
#endif

/* Converts n complete samples of all channels, at most BLOCK. */
static int block(steno_resampler *r, const uint8_t *bytes, size_t n, steno_error *e)
{
    const struct kind *k = &kinds[r->type];
    for (size_t i = 0; i < n * (size_t)r->channels; i++) k->number(r, bytes + i * k->size, i);
    return needs_ffmpeg(r) ? convert_swr(r, r->in.u8, (int)n, e) : convert_here(r, n, e);
}

/* ---- the public calls -------------------------------------------------------------------------------------------------------- */

int steno_resampler_open(steno_resampler **out, int32_t type, int32_t rate, int32_t channels, steno_error *e)
{
    if (!out) return media_fail(e, STENO_EARG, "steno_resampler_open: out is NULL");
    *out = NULL;
    if (type < 0 || type >= (int32_t)(sizeof kinds / sizeof *kinds))
        return media_fail(e, STENO_EARG, "steno_resampler_open: type is %d, not one of enum steno_sample_type", type);
    if (rate < RATE_LEAST || rate > RATE_MAX)
        return media_fail(e, STENO_EARG, "the sample rate is %d Hz, not %d to %d", rate, RATE_LEAST, RATE_MAX);
    if (channels < 1 || channels > INPUT_CHANNELS_MAX)
        return media_fail(e, STENO_EARG, "the number of channels is %d, not 1 to %d", channels, INPUT_CHANNELS_MAX);
    steno_resampler *r = calloc(1, sizeof *r);
    if (!r) return media_nomem(e, sizeof *r, "samples");
    r->type = type;
    r->rate = rate;
    r->channels = channels;
    const int status = needs_ffmpeg(r) ? converter_open(r, e) : STENO_OK;
    if (status) steno_resampler_close(r);
    else *out = r;
    return status;
}

int64_t steno_resampler_push(steno_resampler *r, const void *bytes, size_t n, const float **pcm, steno_error *e)
{
    const uint8_t *b = bytes;
    if (!r || !pcm || (n && !b)) return media_fail(e, STENO_EARG, "steno_resampler_push: a parameter is NULL");
    if (r->is_over) return media_fail(e, STENO_EARG, "steno_resampler_push: the audio has ended");
    const size_t size = kinds[r->type].size * (size_t)r->channels;
    int status = STENO_OK;
    r->n_out = 0;
    if (r->n_part && n) {
        const size_t some = n < size - r->n_part ? n : size - r->n_part;
        memcpy(r->part + r->n_part, b, some);
        r->n_part += some;
        b += some;
        n -= some;
        if (r->n_part == size) {
            r->n_part = 0;
            status = block(r, r->part, 1, e);
        }
    }
    while (n >= size && !status) {
        const size_t whole = n / size, some = whole < BLOCK ? whole : BLOCK;
        status = block(r, b, some, e);
        b += some * size;
        n -= some * size;
    }
    if (status) return status;
    if (n) memcpy(r->part + r->n_part, b, n);
    r->n_part += n;
    *pcm = r->out;
    return (int64_t)r->n_out;
}

int64_t steno_resampler_end(steno_resampler *r, const float **pcm, steno_error *e)
{
    if (!r || !pcm) return media_fail(e, STENO_EARG, "steno_resampler_end: a parameter is NULL");
    if (r->is_over) return media_fail(e, STENO_EARG, "steno_resampler_end: the audio has ended");
    r->is_over = 1;
    r->n_out = 0;
    const int status = needs_ffmpeg(r) ? convert_swr(r, NULL, 0, e) : STENO_OK;
    *pcm = r->out;
    return status ? status : (int64_t)r->n_out;
}

void steno_resampler_close(steno_resampler *r)
{
    if (!r) return;
    converter_close(r);
    free(r->mono);
    free(r->out);
    free(r);
}
