/* steno: prompts of chat models. SPDX-License-Identifier: MIT */
#include "text/chat.h"
#include <string.h>

enum chat_format chat_recognise(const char *program)
{
    if (!program) return CHAT_NONE;
    if (strstr(program, "<|im_start|>")) return CHAT_ML;
    if (strstr(program, "<|start_header_id|>")) return strstr(program, "Cutting Knowledge") ? CHAT_HEADERS_DATED : CHAT_HEADERS;
    if (strstr(program, "<start_of_turn>")) return strstr(program, "ystem role") ? CHAT_TURNS : CHAT_TURNS_SYSTEM; /* which it refuses */
    return strstr(program, "[INST]") ? CHAT_INST : CHAT_NONE;
}

/* A prompt being made. */
struct chat {
    const struct tokenizer *t;
    struct buf *ids;
    struct buf text; /* of a system that goes before what comes next */
    int status;
    steno_error *e;
};

static void put(struct chat *c, const char *s, size_t n, unsigned flags)
{
    if (!c->status) c->status = tokenizer_encode(c->t, s, n, flags, c->ids, c->e);
}

static void put_marker(struct chat *c, const char *s)
{
    put(c, s, strlen(s), TOKENIZE_SPECIAL);
}

static void put_content(struct chat *c, const char *s, int trims)
{
    size_t n = strlen(s);
    if (trims) text_strip(&s, &n);
    if (!c->text.len) {
        put(c, s, n, 0);
        return;
    }
    buf_add(&c->text, s, n);
    if (c->text.err) c->status = err_nomem(c->e, n, "a prompt");
    else put(c, c->text.p, c->text.len, 0);
    buf_clear(&c->text);
}

static int is_role(const steno_message *m, const char *role) { return !strcmp(m->role, role); }

static void put_turn(struct chat *c, const char *before, const char *role, const char *between, const steno_message *m,
                     const char *behind)
{
    put_marker(c, before);
    put_marker(c, role);
    put_marker(c, between);
    put_content(c, m->content, 1);
    put_marker(c, behind);
}

/* ---- the formats */

static void encode_ml(struct chat *c, const steno_message *m, int n, unsigned flags)
{
    for (int i = 0; i < n; i++) {
        put_marker(c, "<|im_start|>");
        put_marker(c, m[i].role);
        put_marker(c, "\n");
        put_content(c, m[i].content, 0);
        put_marker(c, "<|im_end|>\n");
    }
    if (!(flags & CHAT_ANSWER)) return;
    put_marker(c, "<|im_start|>assistant\n");
    if (flags & CHAT_NO_THINKING) put_marker(c, "<think>\n\n</think>\n\n");
}

static void encode_headers(struct chat *c, const steno_message *m, int n, unsigned flags, int dated)
{
    static const char dates[] = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";
    put_marker(c, "<|begin_of_text|>");
    int i = 0;
    if (dated) {
        put_marker(c, "<|start_header_id|>system<|end_header_id|>\n\n");
        buf_str(&c->text, dates);
        put_content(c, n && is_role(m, "system") ? m[i++].content : "", 1);
        put_marker(c, "<|eot_id|>");
    }
    for (; i < n; i++) put_turn(c, "<|start_header_id|>", m[i].role, "<|end_header_id|>\n\n", &m[i], "<|eot_id|>");
    if (flags & CHAT_ANSWER) put_marker(c, "<|start_header_id|>assistant<|end_header_id|>\n\n");
}

static void encode_turns(struct chat *c, const steno_message *m, int n, unsigned flags)
{
    put_marker(c, "<bos>");
    for (int i = 0; i < n; i++) {
        if (is_role(&m[i], "system")) {
            buf_str(&c->text, m[i].content);
            buf_str(&c->text, "\n\n");
        } else put_turn(c, "<start_of_turn>", is_role(&m[i], "assistant") ? "model" : m[i].role, "\n", &m[i], "<end_of_turn>\n");
    }
    if (flags & CHAT_ANSWER) put_marker(c, "<start_of_turn>model\n");
}

/* Markers are text, so that a turn is one text. */
static void encode_inst(struct chat *c, const steno_message *m, int n)
{
    struct buf turn = { 0 };
    for (int i = 0; i < n && !c->status; i++) {
        const int is_answer = is_role(&m[i], "assistant"), is_system = is_role(&m[i], "system");
        const char *s = m[i].content;
        size_t len = strlen(s);
        text_strip(&s, &len);
        if (is_system) {
            buf_str(&c->text, "<<SYS>>\n");
            buf_add(&c->text, s, len);
            buf_str(&c->text, "\n<</SYS>>\n\n");
            continue;
        }
        buf_clear(&turn);
        if (!is_answer) buf_str(&turn, "[INST] ");
        if (c->text.len) buf_add(&turn, c->text.p, c->text.len);
        buf_add(&turn, s, len);
        if (!is_answer) buf_str(&turn, " [/INST]");
        buf_clear(&c->text);
        if (!is_answer) put_marker(c, "<s>");
        if (turn.err) c->status = err_nomem(c->e, len, "a prompt");
        put(c, turn.p, turn.len, 0);
        if (is_answer) put_marker(c, "</s>");
    }
    buf_free(&turn);
}

static int check_roles(enum chat_format f, const steno_message *m, int n, steno_error *e)
{
    for (int i = 0; i < n; i++) {
        const int is_system = is_role(&m[i], "system");
        if (is_system && f == CHAT_TURNS) return err_set(e, STENO_EARG, "this chat model has no system messages");
        if (is_system && i && f != CHAT_ML && f != CHAT_HEADERS)
            return err_set(e, STENO_EARG, "message %d: a system message comes first", i);
        if (!is_system && !is_role(&m[i], "user") && !is_role(&m[i], "assistant"))
            return err_set(e, STENO_EARG, "message %d: role '%.40s', want system, user or assistant", i, m[i].role);
    }
    return STENO_OK;
}

int chat_encode(const struct tokenizer *t, enum chat_format f, const steno_message *m, int n, unsigned flags, struct buf *ids,
                steno_error *e)
{
    struct chat c = { .t = t, .ids = ids, .e = e, .status = check_roles(f, m, n, e) };
    if (c.status) return c.status;
    switch (f) {
    case CHAT_ML: encode_ml(&c, m, n, flags); break;
    case CHAT_HEADERS: encode_headers(&c, m, n, flags, 0); break;
    case CHAT_HEADERS_DATED: encode_headers(&c, m, n, flags, 1); break;
    case CHAT_TURNS:
    case CHAT_TURNS_SYSTEM: encode_turns(&c, m, n, flags); break;
    case CHAT_INST: encode_inst(&c, m, n); break;
    default: c.status = err_set(e, STENO_EARG, "the model has no chat format that is known");
    }
    if (!c.status && (c.text.err || ids->err)) c.status = err_nomem(e, ids->len, "a prompt");
    buf_free(&c.text);
    return c.status;
}
