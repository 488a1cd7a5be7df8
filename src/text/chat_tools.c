/* steno: tools in chat templates of model files. SPDX-License-Identifier: MIT */
#include "text/chat_tools.h"
#include <string.h>

/* ---- conditions */

static int ends_with(const struct buf *b, const char *what)
{
    const size_t n = strlen(what);
    return b->len >= n && !memcmp(b->p + b->len - n, what, n);
}

/* A program without white space, brackets and signs that strip white space; its quotes are single ones. */
static void put_dense(struct buf *b, const char *s)
{
    static const char index[] = "loop.index0==0";
    for (; *s; s++) {
        if (strchr(" \t\n\v\f\r()", *s)) continue;
        if (*s == '-' && (ends_with(b, "{%") || ends_with(b, "{{") || s[1] == '%' || s[1] == '}')) continue;
        buf_add(b, *s == '"' ? "'" : s, 1);
        if (!ends_with(b, index)) continue;
        b->len -= strlen(index);
        buf_str(b, "loop.first");
    }
}

static int dense_of(struct buf *b, const char *program, steno_error *e)
{
    *b = (struct buf){ 0 };
    put_dense(b, program);
    buf_str(b, "");
    return b->err ? err_nomem(e, strlen(program), "a chat template") : STENO_OK;
}

static int text_has(const struct buf *b, const char *what) { return b->p && strstr(b->p, what) != NULL; }

int chat_has_condition(const char *program, const char *condition, steno_error *e)
{
    struct buf dense;
    int rc = dense_of(&dense, program, e);
    if (!rc) rc = text_has(&dense, condition);
    buf_free(&dense);
    return rc;
}

/* Each definition is a whole tool, results that follow each other share a turn, and calls are on lines of their own. */
static int conditions_known(const struct buf *dense, int joins)
{
    static const char *const all[] = { "{%fortoolintools%}{{'", "'}}{{tool|tojson}}{%endfor%}",
                                       "{%ifloop.firstormessages[loop.index0-1].role!='tool'%}{{'<|im_start|>user'}}",
                                       "{%ifloop.lastormessages[loop.index0+1].role!='tool'%}{{'<|im_end|>", NULL };
    for (const char *const *it = all; *it; it++)
        if (!text_has(dense, *it)) return 0;
    if (joins) return text_has(dense, "{%ifmessage.content%}{{'");
    return text_has(dense, "{%ifloop.firstandcontentornotloop.first%}{{'") ||
           text_has(dense, "{%ifloop.firstandmessage.contentornotloop.first%}{{'");
}

/* ---- the output */

static int skip(const char **at, const char *what)
{
    const size_t n = strlen(what);
    if (strncmp(*at, what, n) != 0) return 0;
    *at += n;
    return 1;
}

/* Texts of the program at the place where it is read; none contains a code. */
struct tool_texts {
    const char *system, *head, *tail;
    size_t n_system, n_head, n_tail;
    int joins; /* 1: two line ends precede the head in any case, and each call */
};

static size_t text_length(const char *s) { return strcspn(s, "\1\2\3\4\5"); }

/* The system turn, with tools and without them. */
static int skip_system(const char **at, struct tool_texts *t)
{
    static const char lines[] = "\4\n\1\4\n</tools>", stop[] = "<|im_end|>";
    if (!skip(at, "\4<|im_start|>system\n\4\1")) return 0;
    t->joins = !skip(at, "\n\n\4");
    if (t->joins) {
        if (!skip(at, "\4")) return 0;
        t->system = *at;
        t->n_system = strncmp(*at, "\n\n", 2) ? text_length(*at) : 0;
        *at += t->n_system;
        if ((t->n_system && !skip(at, "\4")) || !skip(at, "\n\n")) return 0;
    }
    t->head = *at;
    t->n_head = text_length(*at);
    *at += t->n_head;
    if (!t->n_head || *t->head == '\n' || !skip(at, lines)) return 0;
    t->tail = *at - strlen("\n</tools>");
    const char *end = strstr(t->tail, stop);
    if (!end || (size_t)(end - t->tail) > text_length(t->tail)) return 0;
    t->n_tail = (size_t)(end - t->tail);
    *at = end;
    if (!skip(at, "<|im_end|>\n\4<|im_start|>system\n\1<|im_end|>\n\4")) return 0;
    if (!t->n_system) return 1;
    if (!skip(at, "<|im_start|>system\n") || strncmp(*at, t->system, t->n_system) != 0) return 0;
    *at += t->n_system;
    return skip(at, "<|im_end|>\n\4");
}

static int skip_answer(const char **at, int joins)
{
    static const char whole[] = "<|im_start|>\1\n\1<|im_end|>\n\4", text[] = "<|im_start|>\1\n\1\4";
    if (!skip(at, whole)) return 0;
    if (joins) {
        skip(at, whole); /* an answer without calls */
        return skip(at, "<|im_start|>\1\4\n\1\4\n");
    }
    const int has_thoughts = skip(at, "<|im_start|>\1\n<think>\n\5\n</think>\n\n\1\4");
    if (!skip(at, text)) return 0;
    if (has_thoughts) skip(at, text); /* also of an answer to an earlier question */
    return skip(at, "\n\4");
}

static int skip_call(const char **at)
{
    return skip(at, "<tool_call>\n{\"name\": \"\1\", \"arguments\": ") && (skip(at, "\4\1\4\1\4") || skip(at, "\1")) &&
           skip(at, "}\n</tool_call>\4<|im_end|>\n\4");
}

static int output_known(const char *at, struct tool_texts *t)
{
    static const char result[] = "<|im_start|>user\4\n<tool_response>\n\1\n</tool_response>\4<|im_end|>\n\4";
    if (!skip_system(&at, t) || !skip_answer(&at, t->joins) || !skip_call(&at) || !skip(&at, result)) return 0;
    if (!skip(&at, "<|im_start|>assistant\n")) return 0;
    if (!skip(&at, "<think>\n")) skip(&at, "\4<think>\n\n</think>\n\n");
    return !strcmp(at, "\4");
}

int chat_take_tools(struct chat_form *out, const char *program, const char *output, struct arena *a, steno_error *e)
{
    struct tool_texts t = { 0 };
    struct buf dense;
    if (!output_known(output, &t)) return STENO_OK;
    const int rc = dense_of(&dense, program, e), known = !rc && conditions_known(&dense, t.joins);
    buf_free(&dense);
    if (!known) return rc;
    out->tools = (struct chat_tools){ arena_strdup(a, t.head, t.n_head), arena_strdup(a, t.tail, t.n_tail), t.joins };
    return out->tools.head && out->tools.tail ? STENO_OK : err_nomem(e, t.n_head + t.n_tail, "a chat template");
}
