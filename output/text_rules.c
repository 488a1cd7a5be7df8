/* steno: characters of a text in each format. SPDX-License-Identifier: MIT */
#include "text_rules.h"
#include "utf8.h"
#include <string.h>

/* Kinds of characters that are special in some format. */
enum kind {
    PLAIN,
    BREAK,     /* ends a line for some readers: LF, VT, FF, CR, NEL, U+2028, U+2029 */
    TAB,
    CONTROL,   /* other C0, DEL and C1: terminals interpret them */
    DIRECTION, /* changes the direction of the text after it */
    BAD,       /* a byte that is not UTF-8 */
    N_KINDS
};

#define UNSEEN "\xef\xbf\xbd" /* U+FFFD replaces a character */
#define JOINER "\xe2\x81\xa0" /* U+2060 has no width */

enum flag {
    IS_CELL = 1,      /* spreadsheets must not take it for a formula */
    HAS_TIMES = 2,    /* "[00:" or "<00:" would be a time */
    IS_CODED = 4,     /* a line end or a control character becomes a number: \u001b */
};

/* Replacement of each kind; NULL: unchanged. Some single characters have replacements of their own. */
static const struct text_rules {
    const char *kind[N_KINDS];
    struct { char c; const char *as; } special[8];
    int flags;
} rules[N_TEXT_FORMS] = {
    [TEXT_LINE] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN } },
    [TEXT_LINES] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN }, .special = { { '\n', "\n" } } },
    [TEXT_SRT] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN } },
    [TEXT_VTT] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN }, .special = { { '&', "&amp;" }, { '<', "&lt;" } } },
    [TEXT_VTT_NAME] = { .kind = { [BREAK] = " ", [TAB] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN },
                        .special = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" } } },
    [TEXT_CSS] = { .kind = { [BREAK] = " ", [TAB] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN },
                   .special = { { '"', "\\\"" }, { '\\', "\\\\" }, { '<', "\\3c " }, { '>', "\\3e " }, { '&', "\\26 " } } },
    [TEXT_TSV] = { .kind = { [BREAK] = " ", [TAB] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN }, .flags = IS_CELL },
    [TEXT_CSV] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN }, .special = { { '"', "\"\"" } }, .flags = IS_CELL },
    [TEXT_LRC] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [BAD] = UNSEEN }, .flags = HAS_TIMES },
    [TEXT_ASS] = { .kind = { [BREAK] = "\\N", [TAB] = " ", [CONTROL] = UNSEEN, [DIRECTION] = UNSEEN, [BAD] = UNSEEN },
                   .special = { { '{', "\\{" }, { '}', "\\}" }, { '\\', "\\" JOINER } } },
    [TEXT_ASS_NAME] = { .kind = { [BREAK] = " ", [TAB] = " ", [CONTROL] = UNSEEN, [DIRECTION] = UNSEEN, [BAD] = UNSEEN },
                        .special = { { ',', " " } } },
    [TEXT_JSON] = { .kind = { [BAD] = UNSEEN }, .special = { { '"', "\\\"" }, { '\\', "\\\\" }, { '\n', "\\n" }, { '\r', "\\r" },
                                                             { '\t', "\\t" }, { '\b', "\\b" }, { '\f', "\\f" } }, .flags = IS_CODED },
    [TEXT_PIECE] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN } },
    [TEXT_TOKEN] = { .kind = { [BREAK] = " ", [TAB] = " ", [CONTROL] = UNSEEN } },
    [TEXT_DRAWTEXT] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [DIRECTION] = UNSEEN },
                        .special = { { '\'', "\xe2\x80\x99" }, { '"', "\\\"" }, { '$', "\\$" }, { '`', "\\`" },
                                     { '\\', "\\\\\\\\\\\\\\\\" }, { ':', "\\\\:" }, { '%', "\\\\\\\\%" } } },
    [TEXT_SCREEN] = { .kind = { [BREAK] = " ", [CONTROL] = UNSEEN, [DIRECTION] = UNSEEN, [BAD] = UNSEEN } },
    [TEXT_TERMINAL] = { .kind = { [BREAK] = UNSEEN, [CONTROL] = UNSEEN, [DIRECTION] = UNSEEN, [BAD] = UNSEEN },
                        .special = { { '\n', "\n" } } },
};

static enum kind kind_of(int32_t c)
{
    if (c == UTF8_BAD) return BAD;
    if (c == '\t') return TAB;
    if ((c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029) return BREAK;
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return CONTROL;
    return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ? DIRECTION : PLAIN;
}

/* Does s[n] begin like a formula? True for '=' or '@', and for '+' or '-' if a call follows. "- Yes." and "-5 (five)" are text. */
static int is_formula(const char *s, size_t n)
{
    while (n && memchr(" \t\r\n", *s, 4)) s++, n--;
    if (!n || !memchr("=@+-", *s, 4)) return 0;
    return *s == '=' || *s == '@' || memchr(s, '|', n) || memchr(s, '!', n);
}

/* Does s begin with "[12:" or "<1:"? */
static int is_time(const char *s, size_t n)
{
    size_t i = 1;
    if (*s != '[' && *s != '<') return 0;
    while (i < n && s[i] >= '0' && s[i] <= '9') i++;
    return i > 1 && i < n && s[i] == ':';
}

static const char *special_of(const struct text_rules *r, char c)
{
    for (size_t i = 0; i < sizeof r->special / sizeof *r->special && r->special[i].as; i++)
        if (r->special[i].c == c) return r->special[i].as;
    return NULL;
}

void text_put(struct sink *f, enum text_form form, const char *s, size_t n)
{
    const struct text_rules *r = &rules[form];
    size_t from = 0, used; /* start of the text that is not written yet */
    if (r->flags & IS_CELL && is_formula(s, n)) sink_text(f, "'");
    for (size_t i = 0; i < n; i += used) {
        const int32_t c = utf8_decode(s + i, n - i, &used);
        const char *as = used == 1 ? special_of(r, s[i]) : NULL;
        char code[8];
        if (!as) as = r->kind[kind_of(c)];
        if (!as && r->flags & IS_CODED && (kind_of(c) == CONTROL || kind_of(c) == BREAK)) {
            snprintf(code, sizeof code, "\\u%04x", (unsigned)c);
            as = code;
        }
        const int joins = r->flags & HAS_TIMES && is_time(s + i, n - i);
        if (!as && !joins) continue;
        sink_bytes(f, s + from, i - from);
        if (as) sink_text(f, as);
        else sink_bytes(f, s + i, used);
        if (joins) sink_text(f, JOINER);
        from = i + used;
    }
    sink_bytes(f, s + from, n - from);
}

void text_put_shell(struct sink *f, const char *s)
{
    const size_t n = strlen(s);
    size_t used;
    sink_char(f, '\'');
    for (size_t i = 0; i < n; i += used) {
        const enum kind kind = kind_of(utf8_decode(s + i, n - i, &used));
        if (s[i] == '\'') sink_text(f, "'\\''");
        else if (kind == PLAIN || kind == TAB || s[i] == '\n') sink_bytes(f, s + i, used); /* $( ) would remove a newline */
        else for (size_t k = 0; k < used; k++) sink_format(f, "'\"$(printf '\\%03o')\"'", (unsigned)(unsigned char)s[i + k]);
    }
    sink_char(f, '\'');
}

static int gate_write(void *user, const char *bytes, size_t n)
{
    const struct text_gate *gate = user;
    text_put(gate->to, gate->form, bytes, n);
    return gate->to->failed;
}

struct sink text_through(struct text_gate *gate)
{
    return (struct sink){ .write = gate_write, .user = gate };
}
