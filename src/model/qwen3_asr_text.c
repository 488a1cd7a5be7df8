/* steno: Qwen3-ASR: its languages and its output. SPDX-License-Identifier: MIT
 *
 * The model writes "language English<asr_text>Hello.", or "language None<asr_text>" if there is no speech. Texts that repeat themselves are
 * shortened first. Reference: qwen-asr 0.0.6, inference/utils.py (parse_asr_output, detect_and_fix_repetitions). */
#include <string.h>
#include "base/buf.h"
#include "base/utf8.h"
#include "model/qwen3_asr.h"

/* ---- languages */

/* Languages of the model, by steno's codes. */
static const struct { const char *code, *name; } languages[] = {
    { "zh", "Chinese" }, { "en", "English" }, { "yue", "Cantonese" }, { "ar", "Arabic" }, { "de", "German" }, { "fr", "French" },
    { "es", "Spanish" }, { "pt", "Portuguese" }, { "id", "Indonesian" }, { "it", "Italian" }, { "ko", "Korean" }, { "ru", "Russian" },
    { "th", "Thai" }, { "vi", "Vietnamese" }, { "ja", "Japanese" }, { "tr", "Turkish" }, { "hi", "Hindi" }, { "ms", "Malay" },
    { "nl", "Dutch" }, { "sv", "Swedish" }, { "da", "Danish" }, { "fi", "Finnish" }, { "pl", "Polish" }, { "cs", "Czech" },
    { "tl", "Filipino" }, { "fa", "Persian" }, { "el", "Greek" }, { "ro", "Romanian" }, { "hu", "Hungarian" }, { "mk", "Macedonian" },
};
enum { N_KNOWN = sizeof languages / sizeof *languages };

static const char *code_at(int i)
{
    return languages[i].code;
}

static int index_of(const char *language)
{
    const int known = language_find(language);
    const char *code = known < 0 ? language : language_code(known);
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(code, languages[i].code) || !strcmp(language, languages[i].name)) return i;
    return -1;
}

int qwen3_asr_refuse_language(const char *language, steno_error *e)
{
    return language_refuse(e, language, code_at, N_KNOWN);
}

int qwen3_asr_language_index(const steno_model *m, const char *language)
{
    (void)m;
    return language_is_auto(language) ? -1 : index_of(language);
}

const char *qwen3_asr_language(const char *language)
{
    const int i = qwen3_asr_language_index(NULL, language);
    return i < 0 ? NULL : languages[i].name;
}

/* ---- repetitions */

enum { TIMES = 20, GROUP_MAX = 20 };

/* Characters of a text: at[i] is the offset of character i, at[n] the end. */
struct chars { const char *s; const uint32_t *at; size_t n; };

static int are_equal(const struct chars *c, size_t a, size_t b, size_t n)
{
    const size_t from = c->at[a], to = c->at[b], len = c->at[a + n] - from;
    return c->at[b + n] - to == len && !memcmp(c->s + from, c->s + to, len);
}

static void put(struct buf *out, const struct chars *c, size_t from, size_t n)
{
    buf_add(out, c->s + c->at[from], c->at[from + n] - c->at[from]);
}

/* Offsets of the characters of s[n], as uint32_t in *at. @return 0: no memory */
static int chars_of(struct chars *c, struct buf *at, const char *s, size_t n)
{
    buf_clear(at);
    for (uint32_t i = 0; i < n; i++)
        if (!utf8_is_inside((uint8_t)s[i])) buf_add(at, &i, sizeof i);
    const uint32_t end = (uint32_t)n;
    buf_add(at, &end, sizeof end);
    if (at->err) return 0;
    *c = (struct chars){ s, (const uint32_t *)(const void *)at->p, at->len / sizeof end - 1 };
    return 1;
}

/* Characters that repeat more than TIMES times in a row become one. */
static void fix_characters(const struct chars *c, struct buf *out)
{
    for (size_t i = 0, n; i < c->n; i += n) {
        for (n = 1; i + n < c->n && are_equal(c, i, i + n, 1); n++) {}
        put(out, c, i, n > TIMES ? 1 : n);
    }
}

/* Length of the shortest group at i that repeats TIMES times; 0: none. */
static size_t group_at(const struct chars *c, size_t i)
{
    for (size_t k = 1; k <= GROUP_MAX && i + k * TIMES <= c->n; k++) {
        size_t n = 1;
        while (n < TIMES && are_equal(c, i, i + n * k, k)) n++;
        if (n == TIMES) return k;
    }
    return 0;
}

static void fix_groups(const struct chars *c, struct buf *out)
{
    for (size_t i = 0; i < c->n;) {
        const size_t k = i + 2 * TIMES <= c->n ? group_at(c, i) : 0;
        put(out, c, i, k ? k : 1);
        const size_t first = i;
        i += k ? k * TIMES : 1;
        while (k && i + k <= c->n && are_equal(c, first, i, k)) i += k;
    }
}

void qwen3_asr_unloop(const char *s, size_t n, struct buf *out)
{
    struct buf at = { 0 }, mid = { 0 };
    struct chars c;
    const int has_all = chars_of(&c, &at, s, n);
    if (has_all) fix_characters(&c, &mid);
    if (has_all && chars_of(&c, &at, mid.p ? mid.p : "", mid.len)) fix_groups(&c, out);
    if (at.err || mid.err) out->err = 1;
    buf_free(&at);
    buf_free(&mid);
}

/* ---- language and text */

struct span { const char *s; size_t n; };

/* Removes white space at both ends. */
static struct span stripped(struct span t)
{
    text_strip(&t.s, &t.n);
    return t;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int begins(struct span t, const char *with)
{
    const size_t n = strlen(with);
    for (size_t i = 0; i < n; i++)
        if (i >= t.n || lower(t.s[i]) != with[i]) return 0;
    return 1;
}

static int contains(struct span t, const char *what)
{
    for (; t.n; t.s++, t.n--)
        if (begins(t, what)) return 1;
    return 0;
}

/* Adds a name as "English": its first letter as a capital, the others small. A name that is then unknown stays as it is. */
static void put_language(struct buf *language, struct span name)
{
    char text[64];
    if (name.n >= sizeof text) return;
    for (size_t i = 0; i < name.n; i++) text[i] = lower(name.s[i]);
    text[name.n] = 0;
    if (name.n && text[0] >= 'a' && text[0] <= 'z') text[0] = (char)(text[0] - 'a' + 'A');
    if (qwen3_asr_language(text)) buf_str(language, text);
    else buf_add(language, name.s, name.n);
}

/* The language in the lines before the tag: that of the first line that begins with "language". */
static void read_language(struct buf *language, struct span meta)
{
    static const char word[] = "language ";
    while (meta.n) {
        const char *stop = memchr(meta.s, '\n', meta.n);
        const size_t n = stop ? (size_t)(stop - meta.s) : meta.n, used = stop ? n + 1 : n;
        const struct span line = stripped((struct span){ meta.s, n });
        meta.s += used;
        meta.n -= used;
        if (!begins(line, word)) continue;
        const struct span name = stripped((struct span){ line.s + sizeof word - 1, line.n - (sizeof word - 1) });
        if (name.n) put_language(language, name);
        return;
    }
}

static const char *find_tag(struct span t)
{
    static const char tag[] = "<asr_text>";
    for (; t.n >= sizeof tag - 1; t.s++, t.n--)
        if (!memcmp(t.s, tag, sizeof tag - 1)) return t.s;
    return NULL;
}

void qwen3_asr_text(const char *s, size_t n, const char *forced, struct buf *text, struct buf *language)
{
    enum { TAG = sizeof "<asr_text>" - 1 };
    struct buf once = { 0 };
    const struct span all = stripped((struct span){ s, n });
    qwen3_asr_unloop(all.s, all.n, &once);
    const struct span t = { once.p ? once.p : "", once.len };
    const char *tag = forced ? NULL : find_tag(t);
    const struct span meta = { t.s, tag ? (size_t)(tag - t.s) : 0 };
    const struct span rest = tag ? stripped((struct span){ tag + TAG, t.n - meta.n - TAG }) : t;
    buf_add(text, rest.s, rest.n);
    if (forced && rest.n) buf_str(language, forced);
    if (tag && !contains(meta, "language none")) read_language(language, meta);
    if (once.err) text->err = 1;
    buf_free(&once);
}
