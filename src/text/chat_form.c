/* steno: forms of chat prompts. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "text/chat.h"
#include "text/chat_template.h"

static struct chat_inst const with_sys = { .before = "[INST] ", .behind = " [/INST]", .answer_before = " ", .answer_behind = " ",
                                           .answer_end = "", .bos_each = 1, .trims_answers = 1, .system = CHAT_SYSTEM_SYS };

struct chat_form chat_usual(enum chat_format format)
{
    const unsigned traits = format == CHAT_ML ? CHAT_CAN_THINK : CHAT_TRIMS;
    return (struct chat_form){ .format = format, .traits = traits, .inst = with_sys };
}

static unsigned begins(const char *text) { return strchr(text, CHAT_BOS) ? CHAT_BEGINS : 0u; }
static int has(const char *text, const char *what) { return strstr(text, what) != NULL; }

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
    return !has(text, "<end_of_utterance>") && !has(text, "[INST]");
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

static int recognise_ml(struct chat_form *out, const char *program, const char *text, struct arena *a, steno_error *e)
{
    if (!ml_markers_known(text) || !ml_turns_known(text)) return STENO_OK;
    *out = (struct chat_form){ .format = CHAT_ML, .system_computed = out->system_computed };
    const int can = has(program, "enable_thinking"), thinks = has(text, "<|im_start|>assistant\n<think>\n");
    out->traits = begins(text) | (has(text, "\n\5<|im_end|>") ? CHAT_TRIMS : 0u) |
                  (can ? CHAT_CAN_THINK : 0u) | (thinks && !can ? CHAT_THINKS : 0u);
    return take_system(out, text, "<|im_start|>system\n", "<|im_end|>", a, e);
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
                to->system = has(program, "loop.last and system_message") ? CHAT_SYSTEM_LAST : CHAT_SYSTEM_FIRST;
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
    const int is_sys = has(text, "<<SYS>>\n") && has(text, "\n<</SYS>>\n\n");
    if (has(text, "<<SYS>>") && !is_sys) return STENO_OK;
    if (is_sys) inst.system = CHAT_SYSTEM_SYS;
    if (has(text, "<|") || !take_user(&inst, text, program) || !take_answer(&inst, text) || !take_system_turn(&inst, text))
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
    if (!has(text, "<|end_header_id|>") || has(text, "<|im_") || has(text, "[INST]")) return STENO_OK;
    out->format = has(text, "Cutting Knowledge") ? CHAT_HEADERS_DATED : CHAT_HEADERS;
    out->traits = (has(text, "\5<|eot_id|>") ? CHAT_TRIMS : 0u) | begins(text);
    out->system_computed = 0;
    return out->format == CHAT_HEADERS ? take_system(out, text, system, "<|eot_id|>", a, e) : STENO_OK;
}

static int recognise(struct chat_form *out, const char *program, const struct chat_skeleton *s, struct arena *a, steno_error *e)
{
    const char *text = s->text.p ? s->text.p : "";
    out->format = CHAT_UNKNOWN;
    out->system_computed = s->system_computed;
    if (has(text, "<|im_start|>")) {
        int rc = recognise_ml(out, program, text, a, e);
        if (rc || out->format != CHAT_ML || out->system || !s->system.p) return rc;
        out->system = arena_strdup(a, s->system.p, s->system.len);
        return out->system ? STENO_OK : err_nomem(e, s->system.len, "a chat template");
    }
    if (has(text, "<|start_header_id|>")) return recognise_headers(out, text, a, e);
    if (has(text, "<start_of_turn>") && !has(text, "<|")) {
        out->format = has(program, "ystem role") ? CHAT_TURNS : CHAT_TURNS_SYSTEM; /* the program refuses this role */
        out->traits = CHAT_TRIMS | begins(text);
        out->system_computed = 0;
        return STENO_OK;
    }
    return has(text, "[INST]") ? recognise_inst(out, program, text, s->system.p, a, e) : STENO_OK;
}

int chat_recognise(struct chat_form *out, const char *program, struct arena *a, steno_error *e)
{
    struct chat_skeleton s;
    *out = (struct chat_form){ 0 };
    if (!program) return STENO_OK;
    chat_skeleton_read(&s, program);
    int rc = s.text.err || s.system.err ? err_nomem(e, strlen(program), "a chat template") : STENO_OK;
    if (!rc) rc = recognise(out, program, &s, a, e);
    buf_free(&s.text);
    buf_free(&s.system);
    return rc;
}
