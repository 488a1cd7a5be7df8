/* steno-media: replacement for WAV headers that FFmpeg misreads. SPDX-License-Identifier: MIT
 *
 * A recorder that was killed leaves sizes of 0 or -1. In RF64, BW64 and Wave64, FFmpeg uses these as they are and finds no sound. A
 * recorder of 24 bits in 32 stores the number of valid bits, which FFmpeg takes for the size of a sample. Some writers omit the padding
 * byte after an odd chunk. In all these files the samples are present, so a plain header replaces theirs. */
#include "media.h"

#include <string.h>

enum { CHUNKS_MAX = 4096, TAG_EXTENSIBLE = 0xfffe, LE_SZ = 8 };

/* The data of a file's own header. */
struct found {
    uint8_t format[MEDIA_WAV_FORMAT_MAX]; /* the body of `fmt ` */
    uint32_t format_sz;
    int64_t data, size; /* offset and bytes of the samples; -1: to the end */
    int is_long;        /* RF64, BW64, Wave64 */
    int is_open;        /* 1: and its 64-bit size is not valid */
    int is_odd;         /* 1: the padding byte after an odd chunk is missing */
};

static uint64_t le(const uint8_t *p, int n)
{
    uint64_t v = 0;
    while (n-- > 0) v = v << 8 | p[n];
    return v;
}

static void put_le(uint8_t *p, uint64_t v, int n)
{
    for (int i = 0; i < n; i++) p[i] = (uint8_t)(v >> 8 * i);
}

static int take_format(struct found *w, const struct media_input *in, int64_t at, uint64_t size)
{
    if (size < 16 || size > sizeof w->format || !media_input_exactly(in, at, w->format, (size_t)size)) return 0;
    w->format_sz = (uint32_t)size;
    return 1;
}

/* The size of the samples, or -1 if the stored value is not possible. */
static int64_t data_size(uint64_t size)
{
    return size == 0 || size >= (uint64_t)1 << 62 ? -1 : (int64_t)size;
}

static int is_name(const uint8_t *h)
{
    static const char *const names[] = { "data", "fmt ", "fact", "LIST", "ds64", "bext", "JUNK", "junk", "PAD ", "cue ", "id3 ", "smpl" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!memcmp(h, names[i], 4)) return 1;
    return 0;
}

/* The offset of the chunk after one that ends at `end`. */
static int64_t next_chunk(struct found *w, const struct media_input *in, int64_t end)
{
    uint8_t h[5];
    if (!(end & 1)) return end;
    const int is_odd = media_input_exactly(in, end, h, sizeof h) && is_name(h) && !is_name(h + 1);
    w->is_odd |= is_odd;
    return end + !is_odd;
}

static int find_riff(struct found *w, const struct media_input *in)
{
    uint8_t h[16];
    uint64_t long_size = 0;
    int64_t at = 12;
    for (int i = 0; i < CHUNKS_MAX && media_input_exactly(in, at, h, 8); i++) {
        const uint32_t size = (uint32_t)le(h + 4, 4);
        const int64_t body = at + 8;
        if (!memcmp(h, "data", 4)) {
            w->data = body;
            w->size = !media_size_is_open(size) ? (int64_t)size : w->is_long ? data_size(long_size) : -1;
            w->is_open = w->is_long && data_size(long_size) < 0;
            return w->format_sz != 0;
        }
        if (!memcmp(h, "ds64", 4) && size >= 16 && media_input_exactly(in, body, h, 16)) long_size = le(h + 8, 8);
        else if (!memcmp(h, "fmt ", 4) && !take_format(w, in, body, size)) return 0;
        at = next_chunk(w, in, body + (int64_t)size);
    }
    return 0;
}

/* Sony's Wave64: names are GUIDs that begin like those of RIFF, sizes of 64 bits count the head, and chunks begin at multiples of 8. */
static int find_wave64(struct found *w, const struct media_input *in)
{
    enum { HEAD = 24, FIRST = 40 };
    uint8_t h[HEAD];
    int64_t at = FIRST;
    for (int i = 0; i < CHUNKS_MAX && media_input_exactly(in, at, h, HEAD); i++) {
        const uint64_t size = le(h + 16, 8);
        const int64_t body = at + HEAD;
        if (!memcmp(h, "data", 4)) {
            w->data = body;
            w->size = size <= HEAD ? -1 : data_size(size - HEAD);
            w->is_open = w->size < 0;
            return w->format_sz != 0;
        }
        if (size < HEAD || size > (uint64_t)1 << 40) return 0;
        if (!memcmp(h, "fmt ", 4) && !take_format(w, in, body, size - HEAD)) return 0;
        at = (at + (int64_t)size + LE_SZ - 1) / LE_SZ * LE_SZ;
    }
    return 0;
}

/* Whether the number of valid bits, which FFmpeg uses, gives another sample size than the real one. */
static int bits_mislead(const uint8_t *f, uint32_t size)
{
    const uint64_t channels = le(f + 2, 2), frame = le(f + 12, 2), valid = size >= 20 ? le(f + 18, 2) : 0;
    if (le(f, 2) != TAG_EXTENSIBLE || size < 26 || !valid || !channels || frame % channels) return 0;
    return (le(f + 24, 2) == 1 || le(f + 24, 2) == 3) && (valid + 7) / 8 != frame / channels;
}

/* The chunks that both kinds of file have in common. */
static int look(struct found *w, const struct media_input *in)
{
    static const uint8_t wave64[16] = { 'r', 'i', 'f', 'f', 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 4, 0xc1, 0, 0 };
    uint8_t h[16];
    if (!media_input_exactly(in, 0, h, 16)) return 0;
    w->is_long = memcmp(h, "RIFF", 4) != 0;
    if (!memcmp(h, wave64, sizeof wave64)) return find_wave64(w, in);
    if (!memcmp(h, "RIFF", 4) || !memcmp(h, "RF64", 4) || !memcmp(h, "BW64", 4)) return !memcmp(h + 8, "WAVE", 4) && find_riff(w, in);
    return 0;
}

int64_t media_wav_mend(struct media_wav_head *out, const struct media_input *in)
{
    struct found w = { .format_sz = 0 };
    if (!look(&w, in)) return -1;
    const int misleads = bits_mislead(w.format, w.format_sz);
    if (!misleads && !w.is_open && !w.is_odd) return -1;
    if (misleads) put_le(w.format + 18, 8 * le(w.format + 12, 2) / le(w.format + 2, 2), 2);
    const uint32_t padded = w.format_sz + (w.format_sz & 1), size = w.size < 0 || w.size >= 0xfff00000 ? 0xffffffffu : (uint32_t)w.size;
    uint8_t *p = out->bytes;
    memcpy(p, "RIFF\xff\xff\xff\xffWAVEfmt ", 16);
    put_le(p + 16, w.format_sz, 4);
    memcpy(p + 20, w.format, w.format_sz);
    memset(p + 20 + w.format_sz, 0, padded - w.format_sz);
    memcpy(p + 20 + padded, "data", 4);
    put_le(p + 24 + padded, size, 4);
    out->size = 28 + padded;
    return w.data;
}
