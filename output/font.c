/* steno: the name of a font in its file. SPDX-License-Identifier: MIT
 *
 * Subtitles refer to fonts by name, so the name must be read from the file. Names are in its table "name" (OpenType specification).
 * Renderers compare the full name in Microsoft's encoding (UTF-16, big-endian). */
#include "font.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_TABLES = 1024, NAME_TABLE_MAX = 1 << 20 };

int font_is_file(const char *text)
{
    const char *dot = strrchr(text, '.');
    return strchr(text, '/') || (dot && (strcasecmp(dot, ".ttf") == 0 || strcasecmp(dot, ".otf") == 0 || strcasecmp(dot, ".ttc") == 0));
}

static unsigned u16_at(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static uint32_t u32_at(const unsigned char *p)
{
    return (uint32_t)u16_at(p) << 16 | u16_at(p + 2);
}

static int read_at(FILE *f, uint32_t at, unsigned char *to, size_t n)
{
    return fseek(f, (long)at, SEEK_SET) == 0 && fread(to, 1, n, f) == n;
}

/* Finds the table "name". @return 1, or 0 if the file is not a font or has no such table */
static int find_names(FILE *f, uint32_t *at, uint32_t *n)
{
    unsigned char head[16];
    uint32_t base = 0;
    if (!read_at(f, 0, head, 16)) return 0;
    if (memcmp(head, "ttcf", 4) == 0) {
        base = u32_at(head + 12);
        if (!read_at(f, base, head, 12)) return 0;
    }
    if (u32_at(head) != 0x00010000 && memcmp(head, "OTTO", 4) != 0 && memcmp(head, "true", 4) != 0) return 0;
    const unsigned n_tables = u16_at(head + 4);
    if (n_tables > MAX_TABLES || base > INT32_MAX / 2) return 0;
    for (unsigned i = 0; i < n_tables; i++) {
        if (!read_at(f, base + 12 + 16 * i, head, 16)) return 0;
        if (memcmp(head, "name", 4) != 0) continue;
        *at = u32_at(head + 8);
        *n = u32_at(head + 12);
        return *at <= INT32_MAX / 2 && *n >= 6 && *n <= NAME_TABLE_MAX;
    }
    return 0;
}

/* Decodes the text of one record: s[n] in UTF-16, or one byte per character. Characters that would break a line of subtitles are left out.
 * @return length */
static size_t decode(char name[FONT_NAME_SZ], const unsigned char *s, size_t n, int wide)
{
    size_t k = 0;
    for (size_t i = 0; i + (wide ? 2 : 1) <= n && k + 5 < FONT_NAME_SZ; i += wide ? 2 : 1) {
        uint32_t c = wide ? u16_at(s + i) : s[i];
        if (wide && c >= 0xD800 && c < 0xDC00 && i + 4 <= n) {
            const unsigned low = u16_at(s + i + 2);
            if (low < 0xDC00 || low > 0xDFFF) continue;
            c = 0x10000 + ((c & 0x3FF) << 10) + (low & 0x3FF);
            i += 2;
        }
        if (c < 0x20 || c == ',' || c == 0x7F || (c >= 0xD800 && c <= 0xDFFF) || (!wide && c > 0x7F)) continue;
        if (c >= 0x10000) name[k++] = (char)(0xF0 | c >> 18);
        if (c >= 0x800) name[k++] = (char)(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3F) : 0xE0 | c >> 12);
        if (c >= 0x80) name[k++] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3F) : 0xC0 | c >> 6);
        name[k++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
    }
    name[k] = '\0';
    return k;
}

/* Chooses the best record of a table of n bytes: full name before family name, Microsoft's before others, English before others. */
static int choose(char name[FONT_NAME_SZ], const unsigned char *p, size_t n)
{
    enum { MICROSOFT = 3, MACINTOSH = 1, FAMILY = 1, FULL = 4, ENGLISH = 0x409 };
    const size_t count = u16_at(p + 2), store = u16_at(p + 4);
    int best = 0;
    for (size_t i = 0; i < count && 6 + 12 * (i + 1) <= n; i++) {
        const unsigned char *r = p + 6 + 12 * i;
        const unsigned platform = u16_at(r), id = u16_at(r + 6);
        const size_t len = u16_at(r + 8), at = store + u16_at(r + 10);
        char text[FONT_NAME_SZ];
        if ((id != FAMILY && id != FULL) || (platform != MICROSOFT && platform != MACINTOSH) || at > n || len > n - at) continue;
        const int score = 1 + 4 * (platform == MICROSOFT) + 2 * (id == FULL) + (u16_at(r + 4) == ENGLISH);
        if (score <= best || decode(text, p + at, len, platform == MICROSOFT) == 0) continue;
        memcpy(name, text, sizeof text);
        best = score;
    }
    return best > 0;
}

const char *font_name(char name[FONT_NAME_SZ], const char *path)
{
    uint32_t at, n;
    FILE *f = fopen(path, "rb");
    if (!f) return "it cannot be read";
    const char *fault = find_names(f, &at, &n) ? NULL : "it is not a TrueType or OpenType font";
    unsigned char *p = fault ? NULL : malloc(n);
    if (!fault && !p) fault = "out of memory";
    if (!fault && (!read_at(f, at, p, n) || !choose(name, p, n))) fault = "the font in it has no name";
    free(p);
    fclose(f);
    return fault;
}
