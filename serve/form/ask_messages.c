/* steno-serve: the messages of a chat. SPDX-License-Identifier: MIT */
#include "ask_messages.h"
#include "form.h"
#include "json_text.h"
#include "sink.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The texts of a list of parts, one after another. @return malloc'd; NULL: failed */
static char *join_parts(const json_t *parts, const char *name, struct api_error *e)
{
    struct sink_memory memory = { 0 };
    struct sink s = sink_to_memory(&memory);
    size_t i;
    json_t *part;
    json_array_foreach(parts, i, part) {
        const char *type = "text", *text = NULL;
        if (!json_is_object(part)) api_fail(e, API_invalid_value, name, "%s: part %zu is not an object", name, i);
        else if (ask_json_text(part, "type", &type, e) == API_OK && strcmp(type, "text") != 0)
            api_fail(e, API_invalid_value, name, "%s: part %zu is of type %.40s; this server reads text only", name, i, type);
        else if (e->code == API_OK && ask_json_text(part, "text", &text, e) == API_OK && !text)
            api_fail(e, API_missing_required_parameter, name, "%s: part %zu has no text", name, i);
        if (e->code != API_OK) break;
        sink_text(&s, text);
    }
    if (e->code == API_OK && s.failed) api_fail(e, API_internal_error, name, "out of memory for the messages");
    if (e->code == API_OK) return memory.p ? memory.p : strdup("");
    free(memory.p);
    return NULL;
}

/* A message to come, whose content is a text of the body, or made: malloc'd. */
static void add(struct ask_messages *m, const char *role, const char *content, char *made)
{
    m->made[m->n] = made;
    m->all[m->n++] = (steno_message){ role, made ? made : content };
}

/* has_calls: an assistant's message may then be without a text. */
static int read_content(struct ask_messages *m, int i, const char *role, const json_t *message, int has_calls, struct api_error *e)
{
    char name[64], *made = NULL;
    const json_t *content = ask_json_get(message, "content");
    snprintf(name, sizeof name, "messages[%d].content", i);
    if (json_is_string(content) || (!content && has_calls)) add(m, role, content ? json_string_value(content) : "", NULL);
    else if (!json_is_array(content)) api_fail(e, API_invalid_value, name, "%s is neither a text nor a list of parts", name);
    else if ((made = join_parts(content, name, e)) != NULL) add(m, role, NULL, made);
    return (int)e->code;
}

/* ---- calls and their results ----------------------------------------------------------------------------------------------------- */

/* The arguments of a call, which are JSON as a text; an empty one has none. @return a value of the caller's, or NULL with a code in *e */
static json_t *arguments_of(const json_t *function, const char *name, struct api_error *e)
{
    const char *text = json_string_value(ask_json_get(function, "arguments"));
    if (!text) api_fail(e, API_missing_required_parameter, name, "%s has no function.arguments, which are JSON in a text", name);
    if (!text) return NULL;
    json_t *v = *text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : json_object();
    if (json_is_object(v)) return v;
    json_decref(v);
    api_fail(e, API_invalid_value, name, "%s: function.arguments is not a JSON object in a text", name);
    return NULL;
}

static int read_call(struct ask_messages *m, const json_t *call, const char *name, struct api_error *e)
{
    const char *type = "function", *text = NULL;
    if (!json_is_object(call)) return api_fail(e, API_invalid_value, name, "%s is not an object", name);
    if (!json_is_string(ask_json_get(call, "id"))) return api_fail(e, API_missing_required_parameter, name, "%s has no id", name);
    if (ask_json_text(call, "type", &type, e) != API_OK) return (int)e->code;
    if (strcmp(type, "function") != 0)
        return api_fail(e, API_invalid_value, name, "%s is of type %.40s; this server knows functions only", name, type);
    const json_t *f = ask_json_get(call, "function");
    if (!f || !(text = json_string_value(ask_json_get(f, "name"))))
        return api_fail(e, API_missing_required_parameter, name, "%s has no function.name", name);
    json_t *arguments = arguments_of(f, name, e), *whole = arguments ? json_pack("{s:s, s:O}", "name", text, "arguments", arguments) : NULL;
    struct sink_memory memory = { 0 };
    struct sink s = sink_to_memory(&memory);
    if (whole) put_json_text(&s, whole);
    json_decref(whole);
    if (arguments && (!whole || s.failed)) api_fail(e, API_internal_error, name, "out of memory for the messages");
    json_decref(arguments);
    if (e->code == API_OK) add(m, "tool_call", NULL, memory.p);
    else free(memory.p);
    return (int)e->code;
}

static int read_calls(struct ask_messages *m, int i, const json_t *calls, struct api_error *e)
{
    char name[64];
    for (size_t k = 0; k < json_array_size(calls) && e->code == API_OK; k++) {
        snprintf(name, sizeof name, "messages[%d].tool_calls[%zu]", i, k);
        read_call(m, json_array_get(calls, k), name, e);
    }
    m->have_tools |= json_array_size(calls) > 0;
    return (int)e->code;
}

/* A result belongs to a call of the assistant's last message that has some. */
static int check_result(const json_t *message, int i, const json_t *calls, struct api_error *e)
{
    char name[64];
    snprintf(name, sizeof name, "messages[%d].tool_call_id", i);
    const char *id = json_string_value(ask_json_get(message, "tool_call_id"));
    if (!id) return api_fail(e, API_missing_required_parameter, name, "%s is missing", name);
    for (size_t k = 0; k < json_array_size(calls); k++) {
        const char *of = json_string_value(json_object_get(json_array_get(calls, k), "id"));
        if (of && !strcmp(of, id)) return API_OK;
    }
    return api_fail(e, API_invalid_value, name, "%s: no call of an earlier message has the id %.60s", name, id);
}

/* ---- all ------------------------------------------------------------------------------------------------------------------------- */

static int role_of(const json_t *message, int i, struct api_error *e)
{
    char name[64];
    const json_t *role = ask_json_get(message, "role");
    snprintf(name, sizeof name, "messages[%d].role", i);
    if (!role) api_fail(e, API_missing_required_parameter, name, "%s is missing", name);
    else if (!json_is_string(role)) api_fail(e, API_invalid_value, name, "%s is not a text", name);
    return e->code == API_OK ? word_index(json_string_value(role), CHAT_ROLES, name, e) : -1;
}

/* calls: of the last message that had some. */
static int read_message(struct ask_messages *m, int i, const json_t *message, const json_t **calls, struct api_error *e)
{
    static const char *const roles[] = { "system", "system", "user", "assistant", "tool" };
    enum { ASSISTANT = 3, RESULT = 4 };
    char name[64];
    snprintf(name, sizeof name, "messages[%d]", i);
    if (!json_is_object(message)) return api_fail(e, API_invalid_value, name, "%s is not an object", name);
    if (ask_json_refuse(message, "function_call", NAN, "this server knows tool_calls only", e) != API_OK) return (int)e->code;
    const int role = role_of(message, i, e);
    const json_t *own = ask_json_get(message, "tool_calls");
    if (role < 0) return (int)e->code;
    if (own && (!json_is_array(own) || json_array_size(own) > CHAT_CALLS_MAX || (json_array_size(own) && role != ASSISTANT)))
        return api_fail(e, API_invalid_value, name, "%s: tool_calls is a list of at most %d calls, of the assistant", name, CHAT_CALLS_MAX);
    if (role == RESULT && check_result(message, i, *calls, e) != API_OK) return (int)e->code;
    if (json_array_size(own)) *calls = own;
    m->have_tools |= role == RESULT;
    if (read_content(m, i, roles[role], message, json_array_size(own) > 0, e) != API_OK) return (int)e->code;
    return read_calls(m, i, own, e);
}

int ask_messages_read(struct ask_messages *m, const json_t *root, const struct ask_tools *tools, struct api_error *e)
{
    static const char name[] = "messages";
    const json_t *list = ask_json_get(root, name), *calls = NULL;
    const size_t n = json_array_size(list);
    const int n_tools = tools->mode == TOOLS_OFF ? 0 : tools->n;
    size_t total = n + (size_t)n_tools;
    *m = (struct ask_messages){ .have_tools = n_tools > 0 };
    if (!list) return api_fail(e, API_missing_required_parameter, name, "messages is missing: send a list of at least one message");
    if (!json_is_array(list) || !n) return api_fail(e, API_invalid_value, name, "messages is not a list of at least one message");
    if (n > CHAT_MESSAGES_MAX) return api_fail(e, API_invalid_value, name, "messages: %zu are more than %d", n, CHAT_MESSAGES_MAX);
    for (size_t i = 0; i < n; i++) total += json_array_size(json_object_get(json_array_get(list, i), "tool_calls"));
    m->all = calloc(total, sizeof *m->all);
    m->made = calloc(total, sizeof *m->made);
    if (!m->all || !m->made) return api_fail(e, API_internal_error, name, "out of memory for the messages");
    for (int i = 0; i < n_tools; i++) add(m, "tool_definition", tools->definition[i], NULL);
    for (int i = 0; i < (int)n && e->code == API_OK; i++) read_message(m, i, json_array_get(list, (size_t)i), &calls, e);
    return (int)e->code;
}

void ask_messages_free(struct ask_messages *m)
{
    for (int i = 0; m->made && i < m->n; i++) free(m->made[i]);
    free(m->made);
    free(m->all);
}
