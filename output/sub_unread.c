/* steno: subtitles and documents that are not read. SPDX-License-Identifier: MIT */
#include "sub_read.h"
#include <string.h>
#include <strings.h>

enum { SEEN = 4096 /* bytes in which an XML document names what it is */ };

/* Does s[n] begin with the word, in any case? */
static int begins(const char *s, size_t n, const char *word)
{
    const size_t len = strlen(word);
    return n >= len && !strncasecmp(s, word, len);
}

static int has_tag(const char *s, size_t n, const char *tag)
{
    const size_t len = strlen(tag);
    for (size_t i = 0; i + len < n; i++)
        if (!strncasecmp(s + i, tag, len) && strchr(" \t\r\n>:", s[i + len])) return 1;
    return 0;
}

/* "{120}{180}text": MicroDVD counts frames. */
static int is_microdvd(const char *s, size_t n)
{
    for (int k = 0; k < 2; k++) {
        size_t i = 1;
        if (!n || *s != '{') return 0;
        while (i < n && s[i] >= '0' && s[i] <= '9') i++;
        if (i < 2 || i == n || s[i] != '}') return 0;
        s += i + 1;
        n -= i + 1;
    }
    return 1;
}

/* Copy UTF-16, with a mark or from its first '<' or '{' on, as ASCII with question marks for all others. @return bytes; 0: it is none */
static size_t narrow(char out[SEEN], const char *s, size_t n)
{
    const int has_mark = n >= 2 && (!memcmp(s, "\xff\xfe", 2) || !memcmp(s, "\xfe\xff", 2));
    const size_t low = n >= 2 && (has_mark ? s[0] == '\xfe' : !s[0]); /* place of the low byte in a pair */
    size_t k = 0;
    if (n < 2 || (!has_mark && (s[1 - low] || !memchr("<{", s[low], 2)))) return 0;
    for (size_t i = has_mark ? 2 : 0; i + 1 < n && k < SEEN; i += 2)
        out[k++] = s[i + 1 - low] || s[i + low] & '\x80' ? '?' : s[i + low];
    return k;
}

/* The same for bytes in an encoding that contains ASCII. */
static const char *form_of(const char *bytes, size_t n)
{
    static const struct { const char *begin, *name; } known[] = {
        { "<SAMI", "SAMI subtitles" }, { "Scenarist_SCC", "Scenarist closed captions (SCC)" }, { "{\\rtf", "an RTF document" },
        { "%PDF-", "a PDF document" }, { "PK\3\4", "a ZIP archive, such as a Word document" }, { "<!DOCTYPE html", "a page of HTML" },
        { "<html", "a page of HTML" },
    };
    if (n > 11 && (!memcmp(bytes + 3, "STL25.01", 8) || !memcmp(bytes + 3, "STL30.01", 8))) return "EBU subtitles (STL)";
    if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) bytes += 3, n -= 3;
    for (; n && strchr(" \t\r\n", *bytes) && *bytes; bytes++) n--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins(bytes, n, known[i].begin)) return known[i].name;
    if (is_microdvd(bytes, n)) return "MicroDVD subtitles";
    if (!begins(bytes, n, "<?xml") && !begins(bytes, n, "<tt")) return NULL;
    const size_t seen = n < SEEN ? n : SEEN;
    if (has_tag(bytes, seen, "<tt") || has_tag(bytes, seen, "<tt:tt")) return "TTML subtitles (also .dfxp, .itt)";
    return begins(bytes, n, "<?xml") ? "an XML document" : NULL;
}

const char *sub_unread_form(const char *bytes, size_t n)
{
    char ascii[SEEN];
    const size_t k = narrow(ascii, bytes, n);
    return k ? form_of(ascii, k) : form_of(bytes, n);
}
