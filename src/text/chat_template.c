/* steno: chat templates of model files. SPDX-License-Identifier: MIT
 *
 * A model's file has a Jinja program that writes its prompts. steno does not run it. It reads the program into a skeleton of its output,
 * and compares the whole skeleton with known forms. A program that is not known as a whole is unknown. */
#include "text/chat_tools.h"
#include <stdlib.h>
#include <string.h>

/* ---- the skeleton of a program ----------------------------------------------------------------------------------------------- */

struct chat_skeleton {
    struct buf text;     /* NUL-terminated */
    struct buf system;   /* the text that such a variable is set to; not terminated if empty */
    int system_computed; /* 1: such a variable is set to a text that contains values */
    int leaves_sets;     /* 1: the text has no values of variables that are set, and one CHAT_STEP for statements that follow each other */
};

static int is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static int is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

static void put_code(struct buf *b, enum chat_code code)
{
    const char c = (char)code;
    buf_add(b, &c, 1);
}

/* ---- expressions */

enum template_piece { PIECE_END, PIECE_TEXT, PIECE_WORD, PIECE_SIGN };
struct template_scan {
    const char *p, *end;
    enum template_piece kind, before; /* this piece, and the previous one */
    const char *s;           /* its bytes; for a text those between the quotes */
    size_t n;
};

/* Whether the piece is this word or sign. */
static int piece_is(const struct template_scan *c, const char *what)
{
    return c->kind != PIECE_TEXT && c->n == strlen(what) && !memcmp(c->s, what, c->n);
}

static void piece_next(struct template_scan *c)
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
static void skip_brackets(struct template_scan *c)
{
    for (int depth = 1; depth && c->kind != PIECE_END;) {
        piece_next(c);
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

static void put_word(struct buf *b, const struct template_scan *c, char sign)
{
    const int trims = piece_is(c, "trim") || piece_is(c, "strip");
    if (sign == '.' || sign == '|') { /* of the previous value */
        if (trims && b->len && b->p[b->len - 1] == CHAT_VALUE) b->p[b->len - 1] = CHAT_TRIMMED;
        return;
    }
    put_code(b, piece_is(c, "bos_token") ? CHAT_BOS : piece_is(c, "eos_token") ? CHAT_EOS : CHAT_VALUE);
}

/* The parts of an expression: texts unchanged, and a code for each value. For "A if B else C": A and C. */
static void put_expression(struct buf *b, const char *p, const char *end)
{
    struct template_scan c = { .p = p, .end = end };
    char sign = '+'; /* before the operand */
    for (piece_next(&c); c.kind != PIECE_END; piece_next(&c)) {
        const int has_operand = c.before == PIECE_WORD || c.before == PIECE_TEXT || sign == ')';
        if (c.kind == PIECE_SIGN && (*c.s == '[' || *c.s == '{' || (*c.s == '(' && has_operand))) {
            skip_brackets(&c);
            sign = ')';
            c.kind = PIECE_WORD;
        } else if (c.kind == PIECE_SIGN) sign = *c.s == '(' ? '+' : *c.s;
        else if (piece_is(&c, "if")) {
            while (c.kind != PIECE_END && !piece_is(&c, "else")) piece_next(&c);
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
static void take_set(struct chat_skeleton *b, struct template_scan *c)
{
    struct buf text = { 0 };
    int of_system = 0;
    for (piece_next(c); c->kind != PIECE_END && !piece_is(c, "="); piece_next(c))
        for (size_t i = 0; i + 6 <= c->n; i++) of_system |= !memcmp(c->s + i, "system", 6);
    put_expression(&text, c->p, c->end);
    if (text.len && !b->leaves_sets) buf_add(&b->text, text.p, text.len);
    b->text.err |= text.err;
    const int has_value = text.len && strpbrk(text.p, "\1\5") != NULL;
    if (of_system && text.len && !has_value && !b->system.len) buf_add(&b->system, text.p, text.len);
    for (size_t i = 0; of_system && has_value && i < text.len; i++)
        if (is_word(text.p[i])) b->system_computed = 1;
    buf_free(&text);
}

static void put_step(struct chat_skeleton *b)
{
    const struct buf *t = &b->text;
    if (!b->leaves_sets || !t->len || t->p[t->len - 1] != CHAT_STEP) put_code(&b->text, CHAT_STEP);
}

static void take_statement(struct chat_skeleton *b, const char *p, const char *end)
{
    struct template_scan c = { .p = p, .end = end };
    put_step(b);
    piece_next(&c);
    if (!piece_is(&c, "set")) return;
    take_set(b, &c);
    put_step(b);
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

/* Accepts any text; b->text.err and b->system.err report missing memory. The caller frees both. */
static void chat_skeleton_read(struct chat_skeleton *b, const char *program, int leaves_sets)
{
    char before = 0;
    *b = (struct chat_skeleton){ .leaves_sets = leaves_sets };
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

/* ---- known forms ------------------------------------------------------------------------------------------------------------- */

static struct chat_inst const with_sys = { .before = "[INST] ", .behind = " [/INST]", .answer_before = " ", .answer_behind = " ",
                                           .answer_end = "", .bos_each = 1, .trims_answers = 1, .system = CHAT_SYSTEM_SYS };

struct chat_form chat_usual(enum chat_format format)
{
    const unsigned traits = format == CHAT_ML ? CHAT_CAN_THINK : CHAT_TRIMS;
    return (struct chat_form){ .format = format, .traits = traits, .inst = with_sys };
}

static unsigned bos_trait(const char *text) { return strchr(text, CHAT_BOS) ? CHAT_BEGINS : 0u; }
static int text_has(const char *text, const char *what) { return strstr(text, what) != NULL; }

/* Read into *system a text that the program writes between two others, without values in it: its default system text. */
static int take_system(struct chat_form *out, const char *text, const char *before, const char *behind, struct arena *a, steno_error *e)
{
    for (const char *at = strstr(text, before); at && !out->system; at = strstr(at, before)) {
        at += strlen(before);
        const char *end = strstr(at, behind);
        const size_t n = strcspn(at, "\1\2\3\4\5");
        if (!end || end == at || (size_t)(end - at) > n) continue;
        out->system = arena_strdup(a, at, (size_t)(end - at));
        if (!out->system) return err_nomem(e, (size_t)(end - at), "a chat template");
    }
    return STENO_OK;
}

/* ---- ChatML */

static int is_one_of(const char *s, size_t n, const char *const *all)
{
    for (; *all; all++)
        if (strlen(*all) == n && !memcmp(s, *all, n)) return 1;
    return 0;
}

/* Every marker belongs to ChatML, or is one for images, sounds and tools, which text prompts do not use. */
static int ml_markers_known(const char *text)
{
    static const char *const own[] = { "im_start", "im_end", "endoftext", "startoftext", NULL };
    static const char *const others[] = { "vision", "image", "video", "audio", "AUDIO", "tool", "object", "box", "action", "plugin",
                                          "interpreter", "quad", "python", "fim", "repo", "file", NULL };
    for (const char *at = strstr(text, "<|"); at; at = strstr(at, "<|")) {
        at += 2;
        const size_t n = strcspn(at, "|>\n\1\2\3\4\5");
        int known = is_one_of(at, n, own);
        for (const char *const *k = others; *k; k++) known |= !strncmp(at, *k, strlen(*k));
        if (at[n] == '|' && !known) return 0;
    }
    return !text_has(text, "<end_of_utterance>") && !text_has(text, "[INST]");
}

/* Each turn has a role and a line end before the content, and nothing else. */
static int ml_turns_known(const char *text)
{
    static const char *const roles[] = { "", "system", "user", "assistant", "tool", "function", "developer", "observation", "environment",
                                         "ipython", "tool_response", NULL };
    static const char start[] = "<|im_start|>", end[] = "<|im_end|>";
    for (const char *at = strstr(text, start); at; at = strstr(at, start)) {
        at += strlen(start);
        const size_t n = strcspn(at, "\n\1\2\3\4\5 |<");
        if (!is_one_of(at, n, roles) || (at[n] && strchr(" |<", at[n]))) return 0;
        if (at[n] == CHAT_VALUE && at[n + 1] && !strchr("\n\1\4", at[n + 1])) return 0;
    }
    for (const char *at = strstr(text, end); at; at = strstr(at, end)) {
        at += strlen(end);
        if (*at && !strchr("\n\1\3\4\5<", *at)) return 0;
    }
    return 1;
}

static int take_tools(struct chat_form *out, const char *program, struct arena *a, steno_error *e)
{
    struct chat_skeleton s;
    chat_skeleton_read(&s, program, 1);
    int rc = s.text.err || s.system.err ? err_nomem(e, strlen(program), "a chat template") : STENO_OK;
    if (!rc) rc = chat_take_tools(out, program, s.text.p ? s.text.p : "", a, e);
    buf_free(&s.text);
    buf_free(&s.system);
    return rc;
}

/* What becomes of the thoughts of earlier answers. */
static unsigned memory_traits(const char *program, const char *text)
{
    if (!text_has(program, "split('</think>')[-1]")) return 0;
    const int keeps = text_has(program, "last_query_index") && text_has(text, "\n<think>\n\5\n</think>\n\n");
    return CHAT_FORGETS | (keeps ? CHAT_KEEPS : 0u);
}

static int recognise_ml(struct chat_form *out, const char *program, const char *text, struct arena *a, steno_error *e)
{
    if (!ml_markers_known(text) || !ml_turns_known(text)) return STENO_OK;
    *out = (struct chat_form){ .format = CHAT_ML, .system_computed = out->system_computed };
    const int can = text_has(program, "enable_thinking"), thinks = text_has(text, "<|im_start|>assistant\n<think>\n");
    out->traits = bos_trait(text) | (text_has(text, "\n\5<|im_end|>") ? CHAT_TRIMS : 0u) |
                  (can ? CHAT_CAN_THINK : 0u) | (thinks && !can ? CHAT_THINKS : 0u) | memory_traits(program, text);
    const int whole = out->traits & CHAT_FORGETS ? chat_has_condition(program, "{%ifnotloop.last%}{%setcontent=", e) : 0;
    if (whole < 0) return whole;
    if (whole) out->traits |= CHAT_WHOLE_LAST;
    const int rc = take_tools(out, program, a, e);
    return rc ? rc : take_system(out, text, "<|im_start|>system\n", "<|im_end|>", a, e);
}

/* ---- [INST] */

/* The first of the texts that occurs before end; NULL: none. */
static const char *text_before(const char *from, const char *end, const char *const *all)
{
    for (; *all; all++) {
        const size_t n = strlen(*all);
        if ((size_t)(end - from) >= n && !memcmp(end - n, *all, n)) return *all;
    }
    return NULL;
}

static const char *text_at(const char *s, const char *const *all)
{
    for (; *all; all++)
        if (!strncmp(s, *all, strlen(*all))) return *all;
    return NULL;
}

#define A_VALUE "\1\5"

/* [INST] VALUE [/INST], with an optional system text and two line ends before the value. */
static int take_user(struct chat_inst *to, const char *text, const char *program)
{
    static const char *const befores[] = { " [INST] ", "[INST] ", " [INST]", "[INST]", NULL };
    static const char *const behinds[] = { " [/INST] ", " [/INST]", "[/INST] ", "[/INST]", NULL };
    const char *at = strstr(text, "[INST]");
    const char *end = at + strcspn(at, A_VALUE);
    const char *from = at - (at > text && at[-1] == ' ');
    to->before = text_before(from, end, befores);
    to->bos_each = from > text && from[-1] == CHAT_BOS;
    if (!to->before || strlen(to->before) != (size_t)(end - from) || !*end) return 0;
    for (at = end; *at && strchr(A_VALUE, *at); at = end) {
        end = at + 1;
        if (!strncmp(end, "\n\n", 2) && end[2] && strchr(A_VALUE, end[2])) {
            end += 2;
            if (to->system == CHAT_SYSTEM_NONE)
                to->system = text_has(program, "loop.last and system_message") ? CHAT_SYSTEM_LAST : CHAT_SYSTEM_FIRST;
        }
    }
    to->behind = text_at(end, behinds);
    return to->behind != NULL;
}

/* VALUE eos, with spaces. */
static int take_answer(struct chat_inst *to, const char *text)
{
    static const char *const spaces[] = { " ", "", NULL };
    for (const char *eos = strchr(text, CHAT_EOS); eos; eos = strchr(eos + 1, CHAT_EOS)) {
        const char *gap = eos;
        while (gap > text && gap[-1] == ' ') gap--;
        if (gap == text || !strchr(A_VALUE, gap[-1])) continue;
        const char *value = gap - 1, *before = value;
        while (before > text && before[-1] == ' ') before--;
        if (before > text && before[-1] >= ' ') continue;
        if (value - before > 1 || eos - gap > 1) return 0;
        to->answer_before = spaces[value == before];
        to->answer_behind = spaces[gap == eos];
        to->answer_end = spaces[eos[1] != ' '];
        to->trims_answers = *value == CHAT_TRIMMED;
        return 1;
    }
    return 0;
}

static int take_system_turn(struct chat_inst *to, const char *text)
{
    static const char *const befores[] = { "[SYSTEM_PROMPT] ", "[SYSTEM_PROMPT]", NULL };
    static const char *const behinds[] = { "[/SYSTEM_PROMPT]", " [/SYSTEM_PROMPT]", NULL };
    const char *at = strstr(text, "[SYSTEM_PROMPT]"), *end = strstr(text, "[/SYSTEM_PROMPT]");
    if (!at || !end || end < at) return !at;
    to->system = CHAT_SYSTEM_TURN;
    to->system_before = text_at(at, befores);
    to->system_behind = behinds[end[-1] == ' '];
    return 1;
}

static int recognise_inst(struct chat_form *out, const char *program, const char *text, const char *system, struct arena *a,
                          steno_error *e)
{
    struct chat_inst inst = { 0 };
    const int is_sys = text_has(text, "<<SYS>>\n") && text_has(text, "\n<</SYS>>\n\n");
    if (text_has(text, "<<SYS>>") && !is_sys) return STENO_OK;
    if (is_sys) inst.system = CHAT_SYSTEM_SYS;
    if (text_has(text, "<|") || !take_user(&inst, text, program) || !take_answer(&inst, text) || !take_system_turn(&inst, text))
        return STENO_OK;
    const char *user = strstr(text, "[INST]");
    const int trims = strchr(user, CHAT_TRIMMED) && strcspn(user, "\5") < strcspn(user, "\4\3");
    *out = (struct chat_form){ .format = CHAT_INST, .traits = trims ? CHAT_TRIMS : 0, .inst = inst,
                               .system_computed = inst.system != CHAT_SYSTEM_SYS && out->system_computed };
    if (!system || inst.system == CHAT_SYSTEM_SYS) return STENO_OK; /* Llama 2's own default text was withdrawn by its authors */
    out->system = arena_strdup(a, system, strlen(system));
    return out->system ? STENO_OK : err_nomem(e, strlen(system), "a chat template");
}

/* ---- all of them */

static int recognise_headers(struct chat_form *out, const char *text, struct arena *a, steno_error *e)
{
    static const char system[] = "<|start_header_id|>system<|end_header_id|>\n\n";
    if (!text_has(text, "<|end_header_id|>") || text_has(text, "<|im_") || text_has(text, "[INST]")) return STENO_OK;
    out->format = text_has(text, "Cutting Knowledge") ? CHAT_HEADERS_DATED : CHAT_HEADERS;
    out->traits = (text_has(text, "\5<|eot_id|>") ? CHAT_TRIMS : 0u) | bos_trait(text);
    out->system_computed = 0;
    return out->format == CHAT_HEADERS ? take_system(out, text, system, "<|eot_id|>", a, e) : STENO_OK;
}

static int form_recognise(struct chat_form *out, const char *program, const struct chat_skeleton *s, struct arena *a, steno_error *e)
{
    const char *text = s->text.p ? s->text.p : "";
    out->format = CHAT_UNKNOWN;
    out->system_computed = s->system_computed;
    if (text_has(text, "<|im_start|>")) {
        int rc = recognise_ml(out, program, text, a, e);
        if (rc || out->format != CHAT_ML || out->system || !s->system.p) return rc;
        out->system = arena_strdup(a, s->system.p, s->system.len);
        return out->system ? STENO_OK : err_nomem(e, s->system.len, "a chat template");
    }
    if (text_has(text, "<|start_header_id|>")) return recognise_headers(out, text, a, e);
    if (text_has(text, "<start_of_turn>") && !text_has(text, "<|")) {
        out->format = text_has(program, "ystem role") ? CHAT_TURNS : CHAT_TURNS_SYSTEM; /* the program refuses this role */
        out->traits = CHAT_TRIMS | bos_trait(text);
        out->system_computed = 0;
        return STENO_OK;
    }
    return text_has(text, "[INST]") ? recognise_inst(out, program, text, s->system.p, a, e) : STENO_OK;
}

int chat_recognise(struct chat_form *out, const char *program, struct arena *a, steno_error *e)
{
    struct chat_skeleton s;
    *out = (struct chat_form){ 0 };
    if (!program) return STENO_OK;
    chat_skeleton_read(&s, program, 0);
    int rc = s.text.err || s.system.err ? err_nomem(e, strlen(program), "a chat template") : STENO_OK;
    if (!rc) rc = form_recognise(out, program, &s, a, e);
    buf_free(&s.text);
    buf_free(&s.system);
    return rc;
}
