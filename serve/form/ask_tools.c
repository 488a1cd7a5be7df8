/* steno-serve: tools of chats. SPDX-License-Identifier: MIT */
#include "ask_tools.h"
#include "form.h"
#include "json_text.h"
#include <stdlib.h>
#include <string.h>

static int is_name(const char *s)
{
    const size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return n && !s[n] && n <= TOOL_NAME_MAX;
}

int ask_tools_allow(const struct ask_tools *t, const char *name)
{
    for (int i = 0; i < t->n_names; i++)
        if (!strcmp(t->name[i], name)) return 1;
    return 0;
}

/* The inner object of {"type": "function", "function": {...}} at v. @return NULL: a code is in *e */
static const json_t *function_of(const json_t *v, const char *name, struct api_error *e)
{
    const char *type = NULL;
    if (!json_is_object(v)) api_fail(e, API_invalid_value, name, "%s is not an object", name);
    else if (ask_json_text(v, "type", &type, e) == API_OK && (!type || strcmp(type, "function") != 0))
        api_fail(e, API_invalid_value, name, "%s is of type %.40s; this server knows functions only", name, type ? type : "null");
    if (e->code != API_OK) return NULL;
    const json_t *f = ask_json_get(v, "function");
    if (!json_is_object(f)) api_fail(e, API_missing_required_parameter, name, "%s has no object `function`", name);
    return e->code == API_OK ? f : NULL;
}

static const char *name_of(const json_t *function, const char *name, struct api_error *e)
{
    const char *text = json_string_value(ask_json_get(function, "name"));
    if (!text) api_fail(e, API_missing_required_parameter, name, "%s has no function.name", name);
    else if (!is_name(text))
        api_fail(e, API_invalid_value, name, "%s: a function's name has 1 to %d letters, digits, - and _", name, TOOL_NAME_MAX);
    return e->code == API_OK ? text : NULL;
}

static int read_tool(struct ask_tools *t, const json_t *tool, struct api_error *e)
{
    char name[32];
    snprintf(name, sizeof name, "tools[%d]", t->n);
    const json_t *f = function_of(tool, name, e);
    const char *text = f ? name_of(f, name, e) : NULL;
    if (!text) return (int)e->code;
    if (ask_tools_allow(t, text)) return api_fail(e, API_invalid_value, name, "%s: there are two functions %s", name, text);
    const json_t *parameters = ask_json_get(f, "parameters"), *type = ask_json_get(parameters, "type");
    const char *type_name = json_string_value(json_array_size(type) == 1 ? json_array_get(type, 0) : type);
    if (parameters && (!json_is_object(parameters) || (type && (!type_name || strcmp(type_name, "object") != 0))))
        return api_fail(e, API_invalid_value, name, "%s: function.parameters is not a JSON schema of an object", name);
    const json_t *strict = ask_json_get(f, "strict");
    if (strict && !json_is_boolean(strict))
        return api_fail(e, API_invalid_value, name, "%s: function.strict is neither true nor false", name);
    t->is_held |= json_is_true(strict);
    struct sink_memory memory = { 0 };
    struct sink s = sink_to_memory(&memory);
    put_json_text(&s, tool);
    t->definition[t->n] = memory.p;
    t->name[t->n_names++] = text;
    t->function[t->n++] = f;
    return s.failed ? api_fail(e, API_internal_error, name, "out of memory for the tools") : API_OK;
}

static int read_tools(struct ask_tools *t, const json_t *root, struct api_error *e)
{
    const json_t *list = ask_json_get(root, "tools");
    const size_t n = json_array_size(list);
    if (list && !json_is_array(list)) return api_fail(e, API_invalid_value, "tools", "tools is not a list");
    if (n > TOOLS_MAX) return api_fail(e, API_invalid_value, "tools", "tools: %zu are more than %d", n, TOOLS_MAX);
    for (size_t i = 0; i < n && e->code == API_OK; i++) read_tool(t, json_array_get(list, i), e);
    return (int)e->code;
}

/* ---- tool_choice ----------------------------------------------------------------------------------------------------------------- */

static int take_name(const char *names[], int *n, const struct ask_tools *t, const json_t *choice, const char *at, struct api_error *e)
{
    const json_t *f = function_of(choice, at, e);
    const char *text = f ? name_of(f, at, e) : NULL;
    if (!text) return (int)e->code;
    if (!ask_tools_allow(t, text)) return api_fail(e, API_invalid_value, at, "%s: tools has no function %s", at, text);
    names[(*n)++] = text;
    return API_OK;
}

/* {"type": "allowed_tools", "allowed_tools": {"mode": ..., "tools": [...]}} */
static int read_allowed(struct ask_tools *t, const json_t *choice, struct api_error *e)
{
    static const char at[] = "tool_choice";
    const json_t *allowed = ask_json_get(choice, "allowed_tools"), *list = ask_json_get(allowed, "tools");
    const char *names[TOOLS_MAX];
    int mode = -1, n = 0;
    if (!json_is_object(allowed)) return api_fail(e, API_missing_required_parameter, at, "tool_choice has no object `allowed_tools`");
    if (ask_json_word(allowed, "mode", "auto|required", &mode, e) != API_OK) return (int)e->code;
    if (mode < 0) return api_fail(e, API_missing_required_parameter, at, "tool_choice has no allowed_tools.mode");
    if (!json_array_size(list) || json_array_size(list) > TOOLS_MAX)
        return api_fail(e, API_invalid_value, at, "tool_choice: allowed_tools.tools is not a list of 1 to %d tools", TOOLS_MAX);
    for (size_t i = 0; i < json_array_size(list) && e->code == API_OK; i++) take_name(names, &n, t, json_array_get(list, i), at, e);
    if (e->code != API_OK) return (int)e->code;
    memcpy(t->name, names, (size_t)n * sizeof *names);
    t->n_names = n;
    t->mode = mode ? TOOLS_REQUIRED : TOOLS_AUTO;
    t->is_held = 1;
    return API_OK;
}

static int read_choice(struct ask_tools *t, const json_t *root, struct api_error *e)
{
    static const char at[] = "tool_choice";
    const json_t *choice = ask_json_get(root, at);
    int mode = TOOLS_AUTO, n = 0;
    if (json_is_object(choice)) {
        const char *type = json_string_value(ask_json_get(choice, "type")), *name[1];
        if (type && !strcmp(type, "allowed_tools")) return read_allowed(t, choice, e);
        if (take_name(name, &n, t, choice, at, e) != API_OK) return (int)e->code;
        t->name[0] = *name;
        t->n_names = 1;
        mode = TOOLS_REQUIRED;
    } else if (ask_json_word(root, at, TOOL_CHOICES, &mode, e) != API_OK) return (int)e->code;
    if (mode == TOOLS_REQUIRED && !t->n) return api_fail(e, API_invalid_value, at, "tool_choice requires a call, but there are no tools");
    t->mode = t->n ? (enum tools_mode)mode : TOOLS_OFF;
    t->is_held |= t->mode == TOOLS_REQUIRED;
    return API_OK;
}

int ask_tools_read(struct ask_tools *t, const json_t *root, struct api_error *e)
{
    int parallel = 1;
    *t = (struct ask_tools){ 0 };
    if (read_tools(t, root, e) != API_OK || read_choice(t, root, e) != API_OK) return (int)e->code;
    ask_json_flag(root, "parallel_tool_calls", &parallel, e);
    t->is_single = !parallel;
    return (int)e->code;
}

void ask_tools_free(struct ask_tools *t)
{
    for (int i = 0; i < t->n; i++) free(t->definition[i]);
    free(t->schema);
    free(t->grammar);
}
