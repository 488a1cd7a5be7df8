/* steno-serve: bodies of /v1/chat/completions as parameters of steno_generate. SPDX-License-Identifier: MIT */
#include "ask_chat.h"
#include "form.h"
#include "sink.h"
#include "tool_grammar.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields that need no model ------------------------------------------------------------------------------------------------- */

/* A value other than the harmless one would change the answer. */
static const struct { const char *name; double harmless; const char *why; } refused[] = {
    { "logit_bias", NAN, "this server has no biases of tokens; leave it out" }, { "functions", NAN, "this server knows tools only" },
    { "function_call", NAN, "this server knows tool_choice only" },
    { "audio", NAN, "this server does not speak; leave it out" }, { "prediction", NAN, "this server takes no predictions; leave it out" },
    { "web_search_options", NAN, "this server does not search; leave it out" },
};

static const char *const known[] = {
    "model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "stop",
    "presence_penalty", "frequency_penalty", "response_format", "json_schema", "grammar", "top_k", "min_p", "repeat_penalty",
    "repeat_last_n", "ignore_eos", "reasoning_effort", "chat_template_kwargs", "modalities", "n", "logprobs", "top_logprobs", "logit_bias",
    "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "audio", "prediction", "web_search_options", NULL,
};

static int read_stops(struct ask_chat *c, steno_generate_params *p, struct api_error *e)
{
    const json_t *stop = ask_json_get(c->root, "stop");
    const size_t n = json_is_array(stop) ? json_array_size(stop) : stop != NULL;
    if (n > CHAT_STOPS_MAX) return api_fail(e, API_invalid_value, "stop", "stop: %zu texts are more than %d", n, CHAT_STOPS_MAX);
    for (size_t i = 0; i < n; i++) {
        c->stop[i] = json_string_value(json_is_array(stop) ? json_array_get(stop, i) : stop);
        if (!c->stop[i]) return api_fail(e, API_invalid_value, "stop", "stop is neither a text nor a list of texts");
        if (!*c->stop[i]) return api_fail(e, API_invalid_value, "stop", "stop: text %zu is empty", i + 1);
    }
    p->stop = n ? c->stop : NULL;
    p->n_stop = (int32_t)n;
    return API_OK;
}

static int read_thinking(struct ask_chat *c, struct api_error *e)
{
    int effort = 1, think = 1;
    const json_t *kwargs = ask_json_get(c->root, "chat_template_kwargs");
    if (kwargs && !json_is_object(kwargs))
        return api_fail(e, API_invalid_value, "chat_template_kwargs", "chat_template_kwargs is not an object");
    ask_json_word(c->root, "reasoning_effort", CHAT_EFFORTS, &effort, e);
    ask_json_flag(kwargs, "enable_thinking", &think, e);
    c->no_thinking = effort == 0 || !think;
    if (effort && ask_json_get(c->root, "reasoning_effort")) ask_ignore(c->ignored, "reasoning_effort"); /* there is only on and off */
    return (int)e->code;
}

static int read_modalities(const struct ask_chat *c, struct api_error *e)
{
    const json_t *list = ask_json_get(c->root, "modalities");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text || strcmp(text, "text") != 0)
            return api_fail(e, API_invalid_value, "modalities", "modalities: this server writes text only");
    }
    return API_OK;
}

int ask_chat_read(struct ask_chat *c, const char *body, size_t n, int is_strict, struct api_error *e)
{
    int64_t n_choices = 1, n_top = 0;
    *c = (struct ask_chat){ .model = "" };
    c->root = ask_json_open(body, n, e);
    if (!c->root) return (int)e->code;
    const json_t *options = ask_json_get(c->root, "stream_options");
    if (options && !json_is_object(options))
        return api_fail(e, API_invalid_value, "stream_options", "stream_options is not an object");
    ask_json_text(c->root, "model", &c->model, e);
    ask_json_flag(c->root, "stream", &c->stream, e);
    ask_json_flag(options, "include_usage", &c->has_usage, e);
    ask_json_flag(c->root, "logprobs", &c->logprobs, e);
    ask_json_int(c->root, "n", 1, CHAT_CHOICES_MAX, &n_choices, e);
    ask_json_int(c->root, "top_logprobs", 0, CHAT_TOP_MAX, &n_top, e);
    c->top_logprobs = (int)n_top;
    if (e->code == API_OK && n_top && !c->logprobs)
        api_fail(e, API_invalid_value, "top_logprobs", "top_logprobs needs logprobs: true");
    c->n = (int)n_choices;
    if (e->code == API_OK && c->has_usage && !c->stream)
        api_fail(e, API_invalid_value, "stream_options", "stream_options needs stream: true");
    for (size_t i = 0; i < sizeof refused / sizeof *refused && e->code == API_OK; i++)
        ask_json_refuse(c->root, refused[i].name, refused[i].harmless, refused[i].why, e);
    if (e->code == API_OK) read_modalities(c, e);
    if (e->code == API_OK) read_thinking(c, e);
    if (e->code == API_OK) ask_tools_read(&c->tools, c->root, e);
    if (e->code == API_OK) ask_messages_read(&c->messages, c->root, &c->tools, e);
    return e->code == API_OK ? ask_json_unknown(c->root, known, c->ignored, is_strict, e) : (int)e->code;
}

void ask_chat_free(struct ask_chat *c)
{
    ask_messages_free(&c->messages);
    ask_tools_free(&c->tools);
    free(c->schema);
    free(c->ids);
    json_decref(c->root);
    memset(c, 0, sizeof *c);
}

/* ---- fields that need the model ------------------------------------------------------------------------------------------------ */

/* json_object: any JSON. json_schema: JSON that satisfies it. */
static int read_format(struct ask_chat *c, steno_generate_params *p, struct api_error *e)
{
    static const char name[] = "response_format";
    const char *text = NULL;
    const json_t *format = ask_json_get(c->root, name), *own = ask_json_get(c->root, "json_schema"), *wrap, *schema = own;
    int type = 0;
    if (format && !json_is_object(format)) return api_fail(e, API_invalid_value, name, "response_format is not an object");
    if (format && !ask_json_get(format, "type"))
        return api_fail(e, API_missing_required_parameter, name, "response_format has no type");
    if (ask_json_text(format, "type", &text, e) != API_OK) return (int)e->code;
    if (text && (type = word_index(text, "text|json_object|json_schema", "response_format.type", e)) < 0) return (int)e->code;
    if (own && type) return api_fail(e, API_invalid_value, name, "response_format and json_schema exclude each other");
    if (type == 2) {
        wrap = ask_json_get(format, "json_schema");
        schema = json_is_object(wrap) ? ask_json_get(wrap, "schema") : NULL;
        if (!schema) return api_fail(e, API_missing_required_parameter, name, "response_format has no json_schema.schema");
    }
    if (!schema && !type) return API_OK;
    if (schema && !json_is_object(schema)) return api_fail(e, API_invalid_value, own ? "json_schema" : name, "the schema is not an object");
    c->schema = schema ? json_dumps(schema, JSON_COMPACT) : strdup("{\"type\":\"object\"}");
    if (!c->schema) return api_fail(e, API_internal_error, name, "out of memory for the schema");
    p->json_schema = c->schema;
    return API_OK;
}

/* Calls have a form of their own. */
static int check_tool_form(const struct ask_chat *c, const steno_generate_params *p, struct api_error *e)
{
    const char *other = p->json_schema ? "response_format" : p->grammar ? "grammar" : NULL;
    if (c->tools.mode == TOOLS_OFF || !other) return API_OK;
    return api_fail(e, API_invalid_value, other, "%s: a text of that form cannot call tools; leave one of them out", other);
}

static int read_numbers(const struct ask_chat *c, steno_generate_params *p, struct api_error *e)
{
    int64_t tokens = p->max_tokens, other = -1, seed = (int64_t)p->seed, top_k = p->top_k, last_n = p->repeat_last_n;
    const json_t *o = c->root;
    ask_json_int(o, "max_tokens", 1, INT32_MAX, &tokens, e);
    ask_json_int(o, "max_completion_tokens", 1, INT32_MAX, &other, e);
    if (other > 0 && ask_json_get(o, "max_tokens") && other != tokens)
        api_fail(e, API_invalid_value, "max_tokens", "max_tokens and max_completion_tokens differ; send one of them");
    ask_json_int(o, "seed", 0, INT64_MAX, &seed, e);
    ask_json_int(o, "top_k", 0, INT32_MAX, &top_k, e);
    ask_json_int(o, "repeat_last_n", -1, INT32_MAX, &last_n, e);
    ask_json_number(o, "temperature", 0, 2, &p->temperature, e);
    ask_json_number(o, "top_p", 0, 1, &p->top_p, e);
    ask_json_number(o, "min_p", 0, 1, &p->min_p, e);
    ask_json_number(o, "repeat_penalty", 0.01, 100, &p->repeat_penalty, e);
    ask_json_number(o, "presence_penalty", -2, 2, &p->presence_penalty, e);
    ask_json_number(o, "frequency_penalty", -2, 2, &p->frequency_penalty, e);
    ask_json_flag(o, "ignore_eos", &p->ignore_eos, e);
    ask_json_text(o, "grammar", &p->grammar, e);
    p->top_logprobs = c->top_logprobs;
    p->max_tokens = (int32_t)(other > 0 ? other : tokens);
    p->seed = (uint64_t)seed;
    p->top_k = (int32_t)top_k;
    p->repeat_last_n = (int32_t)last_n;
    return (int)e->code;
}

/* At temperature 0 there is one text. */
static void ignore_sampling(struct ask_chat *c, const steno_generate_params *p)
{
    static const char *const sampling[] = { "seed", "top_p", "top_k", "min_p" };
    for (size_t i = 0; i < sizeof sampling / sizeof *sampling && !(p->temperature > 0); i++)
        if (ask_json_get(c->root, sampling[i])) ask_ignore(c->ignored, sampling[i]);
}

static const char *first_name(void *user, const char *field, int with_value)
{
    char *param = user;
    if (!*param) snprintf(param, 64, "%s", strcmp(field, "json_schema") ? field : "response_format");
    (void)with_value;
    return NULL;
}

/* In the words that clients look for. */
static int check_context(const struct ask_chat *c, const steno_model *m, struct api_error *e)
{
    steno_model_info info = { .size = sizeof info };
    if (steno_model_info_get(m, &info) || c->n_ids <= info.n_text_ctx) return API_OK;
    return api_fail(e, API_context_length_exceeded, "messages", "messages: they are %d tokens, and this model's maximum context length is "
                    "%d tokens; shorten them", c->n_ids, (int)info.n_text_ctx);
}

static int tokenize(struct ask_chat *c, const steno_model *m, struct api_error *e)
{
    steno_error err = { 0 };
    const uint32_t flags = STENO_CHAT_ANSWER | (c->no_thinking ? STENO_CHAT_NO_THINKING : 0);
    const struct ask_messages *all = &c->messages;
    const int n = steno_chat_tokenize(m, all->all, all->n, flags, NULL, 0, &err);
    const char *field = n == STENO_EARG && all->have_tools && strstr(err.text, "tools") ? "tools" : "messages";
    if (n == STENO_EARG) return api_fail(e, API_invalid_value, field, "%s: %s", field, err.text);
    if (n == STENO_ENOMEM || (n > 0 && !(c->ids = malloc((size_t)n * sizeof *c->ids))))
        return api_fail(e, API_internal_error, "messages", "out of memory for the messages");
    if (n <= 0) return api_fail(e, API_invalid_value, "model", "model: %s", err.text[0] ? err.text : steno_status_text(n));
    c->n_ids = steno_chat_tokenize(m, all->all, all->n, flags, c->ids, n, &err);
    return check_context(c, m, e);
}

/* Does the prompt end within thoughts? @return 1, 0, or a code in *e */
static int is_thinking(const struct ask_chat *c, const steno_model *m, struct api_error *e)
{
    static const char mark[] = "<think>\n";
    enum { TAIL = 16, N_MARK = sizeof mark - 1 }; /* ids that the mark has at most */
    steno_detokenizer *d = NULL;
    struct sink_memory memory = { 0 };
    struct sink s = sink_to_memory(&memory);
    if (steno_detokenizer_open(&d, m, 1, NULL)) s.failed = 1;
    for (int i = c->n_ids > TAIL ? c->n_ids - TAIL : 0; i < c->n_ids && !s.failed; i++) {
        const char *text = steno_detokenizer_push(d, c->ids[i], NULL);
        if (text) sink_text(&s, text);
        else s.failed = 1;
    }
    const int yes = !s.failed && memory.n >= N_MARK && !memcmp(memory.p + memory.n - N_MARK, mark, N_MARK);
    if (s.failed) api_fail(e, API_internal_error, "tools", "out of memory for the tools");
    steno_detokenizer_close(d);
    free(memory.p);
    return yes;
}

/* With `strict` or `required` calls have a grammar, which depends on how the prompt ends. */
static int hold_calls(struct ask_chat *c, steno_generate_params *p, const steno_model *m, struct api_error *e)
{
    struct ask_tools *t = &c->tools;
    if (t->mode == TOOLS_OFF || !t->is_held) return API_OK;
    const int has_begun = is_thinking(c, m, e);
    if (e->code != API_OK) return (int)e->code;
    if (tool_grammar_make(t, has_begun ? THOUGHTS_OPEN : c->no_thinking ? THOUGHTS_NONE : THOUGHTS_MAY, e) != API_OK) return (int)e->code;
    p->json_schema = t->schema;
    p->grammar = t->grammar;
    return API_OK;
}

int ask_chat_fill(struct ask_chat *c, steno_generate_params *p, const steno_model *m, struct api_error *e)
{
    char param[64] = "";
    const steno_param_names names = { .size = sizeof names, .user = param, .name = first_name };
    steno_error err = { 0 };
    if (read_numbers(c, p, e) != API_OK || read_stops(c, p, e) != API_OK || read_format(c, p, e) != API_OK ||
        check_tool_form(c, p, e) != API_OK)
        return (int)e->code;
    ignore_sampling(c, p);
    if (steno_params_check(m, STENO_CALL_GENERATE, p, &names, &err) != STENO_OK)
        return api_fail(e, API_invalid_value, param, "%s", err.text);
    return tokenize(c, m, e) == API_OK ? hold_calls(c, p, m, e) : (int)e->code;
}
