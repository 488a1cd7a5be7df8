/* steno-media: the length that a file declares. SPDX-License-Identifier: MIT
 *
 * Containers give the size of their parts; a part that reaches beyond the end of the file was cut. Only parts with sound count. Sizes that
 * writers leave open (pipes, live streams) are ignored. This data is not needed to decode a file, so a file that is not understood counts
 * as complete. */
#include "media.h"

#include <string.h>

enum { PARTS_MAX = 100000, TAIL_SZ = 1 << 17, XING_SLACK = 2000 };

static uint64_t le(const uint8_t *p, int n)
{
    uint64_t v = 0;
    while (n-- > 0) v = v << 8 | p[n];
    return v;
}

static uint64_t be(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++) v = v << 8 | p[i];
    return v;
}

/* The end of a part of `size` bytes at `at`, or -1. */
static int64_t end_of(int64_t at, uint64_t size)
{
    return size < (uint64_t)1 << 62 ? at + (int64_t)size : -1;
}

int media_size_is_open(uint32_t size)
{
    return size == 0 || size >= 0xffff0000u || (size >= 0x7ff00000u && size <= 0x80000000u); /* values that writers to pipes use */
}

/* ---- lists of chunks --------------------------------------------------------------------------------------------------------- */

/* RIFF and RF64 (WAV, AVI), or with `big` FORM (AIFF): name, size, body, for one header after the other. */
static int64_t riff(const struct media_input *in, int big, int64_t *begin)
{
    uint8_t h[28];
    uint64_t long_size = 0;
    int64_t at = 0;
    for (int i = 0; i < PARTS_MAX && media_input_exactly(in, at, h, 12); i++) {
        const int is_list = !memcmp(h, "RIFF", 4) || !memcmp(h, "RF64", 4) || !memcmp(h, "BW64", 4) || !memcmp(h, "FORM", 4);
        const uint32_t size = (uint32_t)(big ? be(h + 4, 4) : le(h + 4, 4));
        if (is_list) {
            at += 12;
            continue;
        }
        if (!memcmp(h, "ds64", 4) && media_input_exactly(in, at, h, 24)) long_size = le(h + 16, 8);
        const int has_sound = !memcmp(h, "data", 4) || !memcmp(h, "SSND", 4) || (!memcmp(h, "LIST", 4) && !memcmp(h + 8, "movi", 4));
        const int is_long = !memcmp(h, "data", 4) && size == 0xffffffffu && long_size;
        if (has_sound && !is_long && media_size_is_open(size)) return -1;
        const int64_t end = end_of(at + 8, is_long ? long_size : size);
        if (has_sound && memcmp(h, "LIST", 4)) *begin = at + 8;
        if (end < 0 || (has_sound && end > in->size)) return end;
        at = end + (end & 1);
    }
    return -1;
}

/* Sony's Wave64: names are GUIDs whose first four bytes are those of RIFF; sizes of 64 bits include the header. */
static int64_t wave64(const struct media_input *in, int64_t *begin)
{
    uint8_t h[24];
    int64_t at = 40;
    for (int i = 0; i < PARTS_MAX && media_input_exactly(in, at, h, 24); i++) {
        const uint64_t size = le(h + 16, 8);
        if (size < 24) return -1;
        const int64_t end = end_of(at, size);
        if (!memcmp(h, "data", 4)) *begin = at + 24;
        if (end < 0 || !memcmp(h, "data", 4)) return end;
        at = (end + 7) & ~(int64_t)7;
    }
    return -1;
}

/* Apple's CAF: name, signed size of 64 bits, body. */
static int64_t caf(const struct media_input *in, int64_t *begin)
{
    uint8_t h[12];
    int64_t at = 8;
    for (int i = 0; i < PARTS_MAX && media_input_exactly(in, at, h, 12); i++) {
        const int64_t end = end_of(at + 12, be(h + 4, 8));
        if (!memcmp(h, "data", 4)) *begin = at + 12;
        if (end < 0 || !memcmp(h, "data", 4)) return end;
        at = end;
    }
    return -1;
}

/* ISO media (MP4, MOV, 3GP): size, name; 1: the size follows in 64 bits, 0: up to the end of the file. */
static int64_t boxes(const struct media_input *in)
{
    uint8_t h[16];
    int64_t at = 0;
    for (int i = 0; i < PARTS_MAX && media_input_exactly(in, at, h, 8); i++) {
        uint64_t size = be(h, 4);
        if (size == 1 && media_input_exactly(in, at + 8, h + 8, 8)) size = be(h + 8, 8);
        if (size < 8) return -1;
        const int64_t end = end_of(at, size);
        if (end < 0 || (end > in->size && (!memcmp(h + 4, "mdat", 4) || !memcmp(h + 4, "moof", 4) || !memcmp(h + 4, "moov", 4))))
            return end;
        at = end;
    }
    return -1;
}

/* ---- others ------------------------------------------------------------------------------------------------------------------ */

/* An EBML size at h: the leading zeros give its length; all ones mean an open size. @return its bytes, 0: none */
static int ebml_size(uint64_t *size, const uint8_t *h)
{
    int n = 1;
    while (n <= 8 && !(h[0] >> (8 - n) & 1)) n++;
    if (n > 8) return 0;
    const uint64_t mask = ((uint64_t)1 << (7 * n)) - 1;
    *size = be(h, n) & mask;
    return *size == mask ? 0 : n;
}

/* Matroska and WebM: a header, then a segment that holds everything. */
static int64_t matroska(const struct media_input *in)
{
    uint8_t h[12];
    uint64_t size;
    int64_t at = 0;
    for (int i = 0; i < 8 && media_input_exactly(in, at, h, 12); i++) {
        const int is_segment = be(h, 4) == 0x18538067u, is_header = be(h, 4) == 0x1a45dfa3u;
        const int n_id = is_segment || is_header ? 4 : h[0] == 0xec ? 1 : 0; /* 0xec: filler */
        const int n = n_id ? ebml_size(&size, h + n_id) : 0;
        if (!n) return -1;
        const int64_t end = end_of(at + n_id + n, size);
        if (end < 0 || is_segment) return end;
        at = end;
    }
    return -1;
}

/* Windows Media: a header of objects, which include the file's properties, then an object of data. */
static int64_t asf(const struct media_input *in)
{
    static const uint8_t properties[16] = { 0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0, 0xc0, 0x0c, 0x20, 0x53, 0x65 };
    uint8_t h[92];
    if (!media_input_exactly(in, 0, h, 30)) return -1;
    const int64_t end = end_of(0, le(h + 16, 8));
    for (int64_t at = 30; at > 0 && at < end && media_input_exactly(in, at, h, 24); at = end_of(at, le(h + 16, 8))) {
        if (le(h + 16, 8) < 24) return -1;
        if (memcmp(h, properties, 16) || !media_input_exactly(in, at, h, 92)) continue;
        if (h[88] & 1) return -1; /* a live stream: the length is unknown */
    }
    if (end < 0 || !media_input_exactly(in, end, h, 24) || le(h + 16, 8) < 50) return -1;
    return end_of(end, le(h + 16, 8));
}

/* The first "OggS" from `at` on, or -1. */
static int64_t ogg_page(const struct media_input *in, int64_t at)
{
    uint8_t window[4096];
    for (int64_t got; (got = media_input_read(in, at, window, sizeof window)) >= 4; at += got - 3)
        for (int64_t i = 0; i + 4 <= got; i++)
            if (!memcmp(window + i, "OggS", 4)) return at + i;
    return -1;
}

/* Ogg: the last page is complete, and no packet continues after it. An end-of-stream mark is not required: some recorders write none. */
static int64_t ogg(const struct media_input *in)
{
    uint8_t h[27 + 255];
    int64_t at = in->size > TAIL_SZ ? in->size - TAIL_SZ : 0;
    const int64_t more = in->size + TAIL_SZ; /* an unknown number of bytes */
    int64_t end = in->size; /* of the last page */
    int goes_on = 0;
    while ((at = ogg_page(in, at)) >= 0) {
        if (!media_input_exactly(in, at, h, 27) || !media_input_exactly(in, at + 27, h + 27, h[26])) return more;
        at += 27 + h[26];
        for (int i = 0; i < h[26]; i++) at += h[27 + i];
        if (at > in->size) return more;
        end = at;
        goes_on = h[26] && h[26 + h[26]] == 255;
    }
    return goes_on || (end < in->size && in->size - end < 27) ? more : -1;
}

/* MP3: the first frame may have a Xing or LAME header with the number of bytes. */
static int64_t mp3(const struct media_input *in, int64_t at)
{
    uint8_t h[64];
    if (!media_input_exactly(in, at, h, sizeof h) || h[0] != 0xff || (h[1] & 0xe0) != 0xe0) return -1;
    for (int i = 4; i + 16 <= (int)sizeof h; i++) {
        if (memcmp(h + i, "Xing", 4) && memcmp(h + i, "Info", 4)) continue;
        const uint64_t flags = be(h + i + 4, 4), bytes = be(h + i + (flags & 1 ? 12 : 8), 4);
        return (flags & 2) && bytes > XING_SLACK ? end_of(at, bytes - XING_SLACK) : -1;
    }
    return -1;
}

static int64_t behind_id3(const struct media_input *in)
{
    uint8_t h[10];
    if (!media_input_exactly(in, 0, h, 10) || memcmp(h, "ID3", 3)) return 0;
    return 10 + ((int64_t)(h[6] & 127) << 21 | (h[7] & 127) << 14 | (h[8] & 127) << 7 | (h[9] & 127));
}

int64_t media_promised_size(const struct media_input *in, int64_t *begin)
{
    uint8_t h[16];
    *begin = 0;
    if (!media_input_exactly(in, 0, h, sizeof h)) return -1;
    if (!memcmp(h, "RIFF", 4) || !memcmp(h, "RF64", 4) || !memcmp(h, "BW64", 4)) return riff(in, 0, begin);
    if (!memcmp(h, "FORM", 4)) return riff(in, 1, begin);
    if (!memcmp(h, "riff\x2e\x91\xcf\x11", 8)) return wave64(in, begin);
    if (!memcmp(h, "caff", 4)) return caf(in, begin);
    if (!memcmp(h, ".snd", 4)) return be(h + 8, 4) == 0xffffffffu || !be(h + 8, 4) ? -1 : end_of((int64_t)be(h + 4, 4), be(h + 8, 4));
    if (!memcmp(h, "OggS", 4)) return ogg(in);
    if (be(h, 4) == 0x1a45dfa3u) return matroska(in);
    if (!memcmp(h, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", 8)) return asf(in);
    if (!memcmp(h + 4, "ftyp", 4) || !memcmp(h + 4, "moov", 4) || !memcmp(h + 4, "mdat", 4) || !memcmp(h + 4, "free", 4) ||
        !memcmp(h + 4, "skip", 4) || !memcmp(h + 4, "wide", 4) || !memcmp(h + 4, "styp", 4))
        return boxes(in);
    return mp3(in, behind_id3(in));
}
