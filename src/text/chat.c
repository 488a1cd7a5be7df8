/* steno: prompts of chat models. SPDX-License-Identifier: MIT */
#include "text/chat.h"
#include <string.h>

/* A prompt under construction: one text whose parts are markers or message contents. */
struct chat {
    const struct tokenizer *t;
    const struct chat_form *f;
    struct buf text, parts;
};

static void put(struct chat *c, const char *s, size_t n, int special)
{
    const size_t n_parts = c->parts.len / sizeof(struct token_part);
    if (!n) return;
    buf_add(&c->text, s, n);
    const struct token_part part = { c->text.len, special };
    struct token_part last;
    if (n_parts) memcpy(&last, c->parts.p + (n_parts - 1) * sizeof last, sizeof last);
    if (n_parts && last.special == special) c->parts.len -= sizeof last;
    buf_add(&c->parts, &part, sizeof part);
}

static void put_marker(struct chat *c, const char *s) { put(c, s, strlen(s), 1); }

static void put_content(struct chat *c, const char *s, int trims)
{
    size_t n = strlen(s);
    if (trims) text_strip(&s, &n);
    put(c, s, n, 0);
}

/* Append a token by its id, if the model has it. */
static void put_token(struct chat *c, int32_t id)
{
    const uint8_t *s = NULL;
    const size_t n = tokenizer_piece(c->t, id, 1, &s);
    if (n) put(c, (const char *)s, n, 1);
}

static void put_begin(struct chat *c, const char *usual)
{
    if (c->f->traits & CHAT_BEGINS) put_token(c, tokenizer_bos(c->t));
    else put_marker(c, usual);
}

static const char role_tool[] = "tool_definition", role_call[] = "tool_call", role_result[] = "tool";

static int is_role(const steno_message *m, const char *role) { return !strcmp(m->role, role); }

static void put_turn(struct chat *c, const char *before, const char *role, const char *between, const char *content, const char *behind)
{
    put_marker(c, before);
    put_marker(c, role);
    put_marker(c, between);
    put_content(c, content, c->f->traits & CHAT_TRIMS);
    put_marker(c, behind);
}

/* ---- the formats */

static const char ml_start[] = "<|im_start|>", ml_end[] = "<|im_end|>\n";

/* The system text, with the definitions of tools that precede the messages. @return number of messages that were used */
static int put_ml_system(struct chat *c, const steno_message *m, int n)
{
    int n_tools = 0;
    while (n_tools < n && is_role(&m[n_tools], role_tool)) n_tools++;
    const int has_own = n_tools < n && is_role(&m[n_tools], "system");
    const char *system = has_own ? m[n_tools].content : c->f->system;
    if (!n_tools && (has_own || !system)) return 0;
    put_marker(c, "<|im_start|>system\n");
    if (system) put_content(c, system, has_own && c->f->traits & CHAT_TRIMS);
    if (n_tools) {
        if (system || c->f->tools.joins) put_marker(c, "\n\n");
        put_marker(c, c->f->tools.head);
        for (int i = 0; i < n_tools; i++) {
            put_marker(c, "\n");
            put_content(c, m[i].content, 0);
        }
        put_marker(c, c->f->tools.tail);
    }
    put_marker(c, ml_end);
    return n_tools + (n_tools && has_own);
}

/* A result of a tool: results that follow each other are one turn of the user. */
static void put_ml_result(struct chat *c, const steno_message *m, int is_first, int is_last)
{
    if (is_first) put_marker(c, "<|im_start|>user");
    put_marker(c, "\n<tool_response>\n");
    put_content(c, m->content, c->f->traits & CHAT_TRIMS);
    put_marker(c, "\n</tool_response>");
    if (is_last) put_marker(c, ml_end);
}

static void put_ml_calls(struct chat *c, const steno_message *m, int n, int has_text)
{
    for (int i = 0; i < n; i++) {
        put_marker(c, i || has_text ? "\n<tool_call>\n" : "<tool_call>\n");
        put_content(c, m[i].content, 0);
        put_marker(c, "\n</tool_call>");
    }
}

/* Position after the last question: a user's message that is no result of a tool. */
static int after_question(const steno_message *m, int n)
{
    static const char begin[] = "<tool_response>", end[] = "</tool_response>";
    for (int i = n; i; i--) {
        const char *s = m[i - 1].content;
        const size_t len = strlen(s);
        const int is_result = !strncmp(s, begin, sizeof begin - 1) && len >= sizeof end - 1 && !strcmp(s + len - (sizeof end - 1), end);
        if (is_role(&m[i - 1], "user") && !is_result) return i;
    }
    return n;
}

static const char *behind_last(const char *s, const char *end, const char *what)
{
    const char *found = s;
    for (const char *at = strstr(s, what); at && at < end; at = strstr(at, what)) found = at += strlen(what);
    return found;
}

/* Thoughts of an answer, between <think> and the first </think>. Empty ones are written if is_last. */
static void put_thoughts(struct chat *c, const char *s, int is_last)
{
    const char *to = strstr(s, "</think>"), *from = to ? behind_last(s, to, "<think>") : s;
    if (!to) to = from;
    while (to > from && to[-1] == '\n') to--;
    while (from < to && *from == '\n') from++;
    if (from == to && !is_last) return;
    put_marker(c, "<think>\n");
    put(c, from, (size_t)(to - from), 0);
    put_marker(c, "\n</think>\n\n");
}

/* The text of an answer. @return 1: a line end separates it from calls; 0: it is empty */
static int put_ml_text(struct chat *c, const char *s, int keeps, int is_last)
{
    const int trims = c->f->traits & CHAT_TRIMS, by_place = c->f->traits & CHAT_WHOLE_LAST;
    const int has_thoughts = c->f->traits & CHAT_FORGETS && (strstr(s, "</think>") || by_place) && !(by_place && is_last);
    const char *text = has_thoughts ? behind_last(s, s + strlen(s), "</think>") : s;
    if (keeps) put_thoughts(c, has_thoughts ? s : "", is_last);
    if (has_thoughts) text += strspn(text, "\n");
    put_content(c, keeps && is_last ? text + strspn(text, "\n") : text, trims);
    return by_place ? *s != '\0' : *text != '\0';
}

/* An assistant's turn: a text, calls, or both. @return number of messages */
static int put_ml_answer(struct chat *c, const steno_message *m, int n, int is_after)
{
    const int has_message = is_role(m, "assistant"), keeps = is_after && c->f->traits & CHAT_KEEPS;
    int n_calls = 0;
    while (has_message + n_calls < n && is_role(&m[has_message + n_calls], role_call)) n_calls++;
    put_marker(c, "<|im_start|>assistant\n");
    const int has_text = put_ml_text(c, has_message ? m->content : "", keeps, has_message + n_calls == n);
    put_ml_calls(c, m + has_message, n_calls, has_text);
    put_marker(c, ml_end);
    return has_message + n_calls;
}

static void encode_ml(struct chat *c, const steno_message *m, int n, unsigned flags)
{
    const int after = after_question(m, n);
    put_begin(c, "");
    for (int i = put_ml_system(c, m, n); i < n;) {
        if (is_role(&m[i], "assistant") || is_role(&m[i], role_call)) {
            i += put_ml_answer(c, m + i, n - i, i >= after);
            continue;
        }
        if (is_role(&m[i], role_result))
            put_ml_result(c, &m[i], !i || !is_role(&m[i - 1], role_result), i + 1 == n || !is_role(&m[i + 1], role_result));
        else put_turn(c, ml_start, m[i].role, "\n", m[i].content, ml_end);
        i++;
    }
    if (!(flags & CHAT_ANSWER)) return;
    put_marker(c, "<|im_start|>assistant\n");
    if (flags & CHAT_NO_THINKING && c->f->traits & CHAT_CAN_THINK) put_marker(c, "<think>\n\n</think>\n\n");
    if (c->f->traits & CHAT_THINKS) put_marker(c, "<think>\n");
}

static void encode_headers(struct chat *c, const steno_message *m, int n, unsigned flags, int dated)
{
    static const char dates[] = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";
    static const char start[] = "<|start_header_id|>", between[] = "<|end_header_id|>\n\n", end[] = "<|eot_id|>";
    put_begin(c, "<|begin_of_text|>");
    int i = 0;
    if (dated) {
        put_marker(c, "<|start_header_id|>system<|end_header_id|>\n\n");
        put_content(c, dates, 0);
        put_content(c, n && is_role(m, "system") ? m[i++].content : "", 1);
        put_marker(c, end);
    } else if (c->f->system && (!n || !is_role(m, "system"))) put_turn(c, start, "system", between, c->f->system, end);
    for (; i < n; i++) put_turn(c, start, m[i].role, between, m[i].content, end);
    if (flags & CHAT_ANSWER) put_marker(c, "<|start_header_id|>assistant<|end_header_id|>\n\n");
}

static void encode_turns(struct chat *c, const steno_message *m, int n, unsigned flags)
{
    const char *system = NULL;
    put_begin(c, "<bos>");
    for (int i = 0; i < n; i++) {
        if (is_role(&m[i], "system")) {
            system = m[i].content;
            continue;
        }
        put_marker(c, "<start_of_turn>");
        put_marker(c, is_role(&m[i], "assistant") ? "model\n" : "user\n");
        if (system) put_content(c, system, 0);
        if (system) put_content(c, "\n\n", 0);
        put_content(c, m[i].content, 1);
        put_marker(c, "<end_of_turn>\n");
        system = NULL;
    }
    if (flags & CHAT_ANSWER) put_marker(c, "<start_of_turn>model\n");
}

/* The user's content, preceded by the system text (may be NULL). */
static void put_asked(struct chat *c, const char *system, const char *content)
{
    const int trims = c->f->traits & CHAT_TRIMS, is_sys = c->f->inst.system == CHAT_SYSTEM_SYS;
    size_t n = strlen(content);
    const char *s = content;
    if (trims) text_strip(&s, &n);
    if (system) {
        if (is_sys) put_content(c, "<<SYS>>\n", 0);
        put_content(c, system, is_sys && trims);
        put_content(c, is_sys ? "\n<</SYS>>\n\n" : "\n\n", 0);
    }
    put(c, s, n, 0);
}

static void encode_inst(struct chat *c, const steno_message *m, int n)
{
    const struct chat_inst *f = &c->f->inst;
    const char *system = c->f->system;
    int i = 0, last = n - 1;
    if (n && is_role(m, "system")) system = m[i++].content;
    while (last > i && !is_role(&m[last], "user")) last--;
    const int asked = f->system == CHAT_SYSTEM_LAST ? last : i; /* the message that contains the system text */
    if (!f->bos_each) put_token(c, tokenizer_bos(c->t));
    if (system && f->system == CHAT_SYSTEM_TURN) {
        put_marker(c, f->system_before);
        put_content(c, system, 0);
        put_marker(c, f->system_behind);
        system = NULL;
    }
    for (; i < n; i++) {
        if (is_role(&m[i], "assistant")) {
            put_marker(c, f->answer_before);
            put_content(c, m[i].content, f->trims_answers);
            put_marker(c, f->answer_behind);
            put_token(c, tokenizer_eos(c->t));
            put_marker(c, f->answer_end);
            continue;
        }
        if (f->bos_each) put_token(c, tokenizer_bos(c->t));
        put_marker(c, f->before);
        put_asked(c, i == asked ? system : NULL, m[i].content);
        put_marker(c, f->behind);
    }
}

static int is_tool_role(const steno_message *m)
{
    return is_role(m, role_tool) || is_role(m, role_call) || is_role(m, role_result);
}

static int check_tool_role(const struct chat_form *f, const steno_message *m, int i, steno_error *e)
{
    if (!f->tools.head) return err_set(e, STENO_EARG, "this model's chat template has no tools that this version knows");
    if (is_role(&m[i], role_tool) && i && !is_role(&m[i - 1], role_tool))
        return err_set(e, STENO_EARG, "message %d: definitions of tools come before all other messages", i);
    return STENO_OK;
}

static int check_roles(const struct chat_form *f, const steno_message *m, int n, steno_error *e)
{
    int n_tools = 0;
    while (n_tools < n && is_role(&m[n_tools], role_tool)) n_tools++;
    const int has_none = f->format == CHAT_TURNS || (f->format == CHAT_INST && f->inst.system == CHAT_SYSTEM_NONE);
    for (int i = 0; i < n; i++) {
        const int is_system = is_role(&m[i], "system");
        const int rc = is_tool_role(&m[i]) ? check_tool_role(f, m, i, e) : STENO_OK;
        if (rc) return rc;
        if (is_tool_role(&m[i])) continue;
        if (is_system && has_none) return err_set(e, STENO_EARG, "this chat model has no system messages");
        if (is_system && i && f->format != CHAT_ML && f->format != CHAT_HEADERS)
            return err_set(e, STENO_EARG, "message %d: a system message comes first", i);
        if (!is_system && !is_role(&m[i], "user") && !is_role(&m[i], "assistant"))
            return err_set(e, STENO_EARG, "message %d: role '%.40s', want system, user or assistant", i, m[i].role);
    }
    if (f->system_computed && (n_tools == n || !is_role(&m[n_tools], "system")))
        return err_set(e, STENO_EARG, "the model's chat template writes a system message with a date or the like in it, which this version "
                                      "does not: begin with a system message");
    return STENO_OK;
}

int chat_encode(const struct tokenizer *t, const struct chat_form *f, const steno_message *m, int n, unsigned flags, struct buf *ids,
                steno_error *e)
{
    struct chat c = { .t = t, .f = f };
    int rc = check_roles(f, m, n, e);
    if (rc) return rc;
    switch (f->format) {
    case CHAT_ML: encode_ml(&c, m, n, flags); break;
    case CHAT_HEADERS: encode_headers(&c, m, n, flags, 0); break;
    case CHAT_HEADERS_DATED: encode_headers(&c, m, n, flags, 1); break;
    case CHAT_TURNS:
    case CHAT_TURNS_SYSTEM: encode_turns(&c, m, n, flags); break;
    case CHAT_INST: encode_inst(&c, m, n); break;
    default: return err_set(e, STENO_EARG, "the model has no chat format that is known");
    }
    if (c.text.err || c.parts.err) rc = err_nomem(e, c.text.len, "a prompt");
    const struct token_part *part = (const struct token_part *)(const void *)c.parts.p;
    if (!rc) rc = tokenizer_encode_parts(t, c.text.p, part, c.parts.len / sizeof *part, 0, ids, e);
    buf_free(&c.text);
    buf_free(&c.parts);
    return rc;
}
