/* steno: chat templates of model files. SPDX-License-Identifier: MIT */
#include "text/chat_template.h"
#include <string.h>

static int is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static int is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

static void put_code(struct buf *b, enum chat_code code)
{
    const char c = (char)code;
    buf_add(b, &c, 1);
}

/* ---- expressions */

enum template_piece { PIECE_END, PIECE_TEXT, PIECE_WORD, PIECE_SIGN };
struct scan {
    const char *p, *end;
    enum template_piece kind, before; /* this piece, and the previous one */
    const char *s;           /* its bytes; for a text those between the quotes */
    size_t n;
};

/* Whether the piece is this word or sign. */
static int is(const struct scan *c, const char *what)
{
    return c->kind != PIECE_TEXT && c->n == strlen(what) && !memcmp(c->s, what, c->n);
}

static void next(struct scan *c)
{
    c->before = c->kind;
    while (c->p < c->end && is_white(*c->p)) c->p++;
    c->s = c->p;
    c->n = 1;
    c->kind = PIECE_END;
    if (c->p == c->end) return;
    if (*c->p == '\'' || *c->p == '"') {
        const char quote = *c->p++;
        c->s = c->p;
        while (c->p < c->end && *c->p != quote) c->p += *c->p == '\\' && c->p + 1 < c->end ? 2 : 1;
        c->n = (size_t)(c->p - c->s);
        c->p += c->p < c->end;
        c->kind = PIECE_TEXT;
        return;
    }
    if (!is_word(*c->p)) {
        c->p++;
        c->kind = PIECE_SIGN;
        return;
    }
    while (c->p < c->end && is_word(*c->p)) c->p++;
    c->n = (size_t)(c->p - c->s);
    c->kind = PIECE_WORD;
}

/* Skip to the bracket that closes the current one. */
static void skip_brackets(struct scan *c)
{
    for (int depth = 1; depth && c->kind != PIECE_END;) {
        next(c);
        if (c->kind != PIECE_SIGN) continue;
        depth += strchr("([{", *c->s) != NULL;
        depth -= strchr(")]}", *c->s) != NULL;
    }
}

static void put_literal(struct buf *b, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '\\' && i + 1 < n) {
            c = s[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
        if (c > 0 && c <= CHAT_TRIMMED) c = '?';
        buf_add(b, &c, 1);
    }
}

static void put_word(struct buf *b, const struct scan *c, char sign)
{
    const int trims = is(c, "trim") || is(c, "strip");
    if (sign == '.' || sign == '|') { /* of the previous value */
        if (trims && b->len && b->p[b->len - 1] == CHAT_VALUE) b->p[b->len - 1] = CHAT_TRIMMED;
        return;
    }
    put_code(b, is(c, "bos_token") ? CHAT_BOS : is(c, "eos_token") ? CHAT_EOS : CHAT_VALUE);
}

/* The parts of an expression: texts unchanged, and a code for each value. For "A if B else C": A and C. */
static void put_expression(struct buf *b, const char *p, const char *end)
{
    struct scan c = { .p = p, .end = end };
    char sign = '+'; /* before the operand */
    for (next(&c); c.kind != PIECE_END; next(&c)) {
        const int has_operand = c.before == PIECE_WORD || c.before == PIECE_TEXT || sign == ')';
        if (c.kind == PIECE_SIGN && (*c.s == '[' || *c.s == '{' || (*c.s == '(' && has_operand))) {
            skip_brackets(&c);
            sign = ')';
            c.kind = PIECE_WORD;
        } else if (c.kind == PIECE_SIGN) sign = *c.s == '(' ? '+' : *c.s;
        else if (is(&c, "if")) {
            while (c.kind != PIECE_END && !is(&c, "else")) next(&c);
            c.kind = PIECE_SIGN;
            sign = '+';
        } else if (c.kind == PIECE_TEXT) {
            if (sign == '+' || sign == '~') put_literal(b, c.s, c.n);
            sign = ' ';
        } else {
            put_word(b, &c, sign);
            sign = ' ';
        }
    }
}

/* ---- statements */

/* {% set NAME = EXPRESSION %} */
static void take_set(struct chat_skeleton *b, struct scan *c)
{
    struct buf text = { 0 };
    int of_system = 0;
    for (next(c); c->kind != PIECE_END && !is(c, "="); next(c))
        for (size_t i = 0; i + 6 <= c->n; i++) of_system |= !memcmp(c->s + i, "system", 6);
    put_expression(&text, c->p, c->end);
    if (text.len) buf_add(&b->text, text.p, text.len);
    b->text.err |= text.err;
    const int has_value = text.len && strpbrk(text.p, "\1\5") != NULL;
    if (of_system && text.len && !has_value && !b->system.len) buf_add(&b->system, text.p, text.len);
    for (size_t i = 0; of_system && has_value && i < text.len; i++)
        if (is_word(text.p[i])) b->system_computed = 1;
    buf_free(&text);
}

static void take_statement(struct chat_skeleton *b, const char *p, const char *end)
{
    struct scan c = { .p = p, .end = end };
    put_code(&b->text, CHAT_STEP);
    next(&c);
    if (!is(&c, "set")) return;
    take_set(b, &c);
    put_code(&b->text, CHAT_STEP);
}

/* The end of the block whose contents begin at p, which is the closing mark. */
static const char *block_end(const char *p, char kind)
{
    const char *const close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    char quote = 0;
    for (; *p; p++) {
        if (quote && *p == '\\' && p[1]) p++;
        else if (quote) quote = *p == quote ? 0 : quote;
        else if (kind != '#' && (*p == '\'' || *p == '"')) quote = *p;
        else if (p[0] == close[0] && p[1] == close[1]) return p;
    }
    return p;
}

/* Text outside of blocks, between a block of kind before (0: none) and one of kind behind; '-' marks a block that strips white space. As in
 * transformers' use of Jinja, the line end after a statement and the indentation before it are removed. */
static void put_outside(struct buf *b, const char *s, size_t n, char before, char behind)
{
    while (before == '-' && n && is_white(*s)) s++, n--;
    if ((before == '%' || before == '#') && n && *s == '\n') s++, n--;
    while (behind == '-' && n && is_white(s[n - 1])) n--;
    size_t indent = n;
    while (indent && (s[indent - 1] == ' ' || s[indent - 1] == '\t')) indent--;
    if ((behind == '%' || behind == '#') && (!indent || s[indent - 1] == '\n')) n = indent;
    for (size_t i = 0; i < n; i++) {
        const char c = s[i] > 0 && s[i] <= CHAT_TRIMMED ? '?' : s[i];
        buf_add(b, &c, 1);
    }
}

void chat_skeleton_read(struct chat_skeleton *b, const char *program)
{
    char before = 0;
    *b = (struct chat_skeleton){ 0 };
    for (const char *p = program; *p;) {
        const char *open = strchr(p, '{');
        while (open && (!open[1] || !strchr("{%#", open[1]))) open = strchr(open + 1, '{');
        if (!open) {
            put_outside(&b->text, p, strlen(p), before, 0);
            return;
        }
        put_outside(&b->text, p, (size_t)(open - p), before, open[2] == '-' ? '-' : open[1]);
        const char kind = open[1], *from = open + 2 + (open[2] == '-'), *end = block_end(from, kind);
        const int takes = end > from && end[-1] == '-';
        if (kind == '{') put_expression(&b->text, from, end - takes);
        if (kind == '%') take_statement(b, from, end - takes);
        before = takes ? '-' : kind;
        p = *end ? end + 2 : end;
    }
}
