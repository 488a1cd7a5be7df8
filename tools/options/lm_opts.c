/* steno: options of the verbs that generate text with a language model. SPDX-License-Identifier: MIT */
#include "options/lm_opts.h"
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/text_file.h"
#include "path.h"
#include "utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { RULES_MAX = 4 << 20 };

static int no_memory(void)
{
    message("out of memory for the prompt");
    return EXIT_MEMORY;
}

/* ---- parameters -------------------------------------------------------------------------------------------------------------- */

/* Read the texts of --stop, in place. */
static int read_stops(struct lm_params *out, const char *text)
{
    char *to = out->stops = strdup(text);
    if (!to) return no_memory();
    out->p.stop = out->stop;
    out->stop[out->p.n_stop++] = to;
    for (const char *p = text; *p; p++) {
        if (*p == '|') {
            if (out->p.n_stop == (int)(sizeof out->stop / sizeof *out->stop)) return message_usage("--stop: at most 16 texts");
            *to++ = '\0';
            out->stop[out->p.n_stop++] = to;
        } else if (*p == '\\' && p[1] && strchr("nt|\\", p[1])) {
            *to++ = *++p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
        } else *to++ = *p;
    }
    *to = '\0';
    for (int32_t i = 0; i < out->p.n_stop; i++)
        if (!*out->stop[i]) return message_usage("--stop: text %d is empty", (int)i + 1);
    return EXIT_OK;
}

static int read_file(struct lm_params *out, const char *option, const char *path)
{
    char why[TEXT_FILE_WHY];
    switch (text_file_read(&out->text, path, 1, RULES_MAX, why, sizeof why)) {
    case TEXT_FILE_READ: return EXIT_OK;
    case TEXT_FILE_NO_MEMORY: return no_memory();
    default: return message_usage("--%s %s: %s", option, path, why);
    }
}

/* A grammar has "::=" and a schema begins with a brace or is true or false: other text is the name of a file if there is one. */
static int check_no_file(const char *option, const char *text, int is_rules)
{
    if (!text || is_rules || access(text, F_OK) != 0) return EXIT_OK;
    return message_usage("--%s takes the text itself: for the file %s write --%s-file", option, text, option);
}

/* Read the grammar or the schema; at most one of them is given. */
static int read_rules(struct lm_params *out, const struct lm_opts *o)
{
    const int n = (o->grammar != NULL) + (o->grammar_file != NULL) + (o->json_schema != NULL) + (o->json_schema_file != NULL);
    if (n > 1) return message_usage("--grammar, --grammar-file, --json-schema and --json-schema-file exclude each other");
    int code = check_no_file("grammar", o->grammar, o->grammar && strstr(o->grammar, "::="));
    if (code == EXIT_OK)
        code = check_no_file("json-schema", o->json_schema, o->json_schema && o->json_schema[strspn(o->json_schema, " \t\r\n")] == '{');
    if (code != EXIT_OK) return code;
    out->p.grammar = o->grammar;
    out->p.json_schema = o->json_schema;
    if (o->grammar_file) {
        code = read_file(out, "grammar-file", o->grammar_file);
        out->p.grammar = out->text;
    }
    if (o->json_schema_file) {
        code = read_file(out, "json-schema-file", o->json_schema_file);
        out->p.json_schema = out->text;
    }
    return code;
}

int lm_params_open(struct lm_params *out, const struct lm_opts *o, const struct args_given *given, const steno_model *m)
{
    *out = (struct lm_params){ 0 };
    steno_generate_params *p = &out->p;
    steno_generate_params_init(p);
    p->max_tokens = (int32_t)o->max_tokens;
    p->temperature = o->temperature;
    p->top_k = (int32_t)o->top_k;
    p->top_p = o->top_p;
    p->min_p = o->min_p;
    p->repeat_penalty = o->repeat_penalty;
    p->repeat_last_n = (int32_t)o->repeat_last_n;
    p->frequency_penalty = o->frequency_penalty;
    p->presence_penalty = o->presence_penalty;
    p->samplers = o->samplers;
    p->ignore_eos = o->ignore_eos;
    p->draft_max = (int32_t)o->draft_max;
    p->seed = (uint64_t)o->seed;
    if (o->seed < 0 && getrandom(&p->seed, sizeof p->seed, 0) < 0) p->seed = (uint64_t)(uintptr_t)out;
    if (!o->draft_max && option_was_given(given, "draft")) return message_usage("--draft and --draft-max 0 exclude each other");
    int code = o->system ? lm_check_text("--system", o->system) : EXIT_OK;
    if (code == EXIT_OK && o->stop) code = read_stops(out, o->stop);
    if (code == EXIT_OK) code = read_rules(out, o);
    return code == EXIT_OK ? option_check(given, m, STENO_CALL_GENERATE, p) : code;
}

void lm_params_close(struct lm_params *p)
{
    free(p->text);
    free(p->stops);
}

int lm_check_text(const char *what, const char *text)
{
    const int64_t bad = utf8_invalid_at(text);
    return bad < 0 ? EXIT_OK : message_usage("%s is not valid UTF-8 at byte %lld", what, (long long)bad);
}

/* ---- prompts ----------------------------------------------------------------------------------------------------------------- */

struct ids { int32_t *at; int n, cap; };

/* Make room for n more ids. @return EXIT_OK, or EXIT_MEMORY after a message */
static int ids_room(struct ids *to, int n)
{
    if (n <= to->cap - to->n) return EXIT_OK;
    const int cap = 2 * to->cap + n;
    int32_t *more = realloc(to->at, (size_t)cap * sizeof *more);
    if (!more) return no_memory();
    to->at = more;
    to->cap = cap;
    return EXIT_OK;
}

static int tokens_failed(int rc)
{
    if (rc == STENO_ENOMEM) return no_memory();
    message("the prompt has no tokens: %s", rc == STENO_EUNSUPPORTED ? "the model has no tokenizer" : steno_status_text(rc));
    return EXIT_MODEL;
}

static int add_text(struct ids *to, const steno_model *m, const char *text, size_t n, uint32_t flags)
{
    const int needed = steno_tokenize_text(m, text, n, flags, NULL, 0);
    if (needed < 0) return tokens_failed(needed);
    const int code = ids_room(to, needed);
    if (code == EXIT_OK) to->n += steno_tokenize_text(m, text, n, flags, to->at + to->n, needed);
    return code;
}

/* The flag of a format name, 0 if unknown. */
static uint32_t format_of(const char *name)
{
    static const struct { const char *name; uint32_t flag; } all[] = {
        { "chatml", STENO_CHAT_AS_CHATML }, { "llama2", STENO_CHAT_AS_LLAMA2 }, { "llama3", STENO_CHAT_AS_LLAMA3 },
        { "gemma", STENO_CHAT_AS_GEMMA },
    };
    for (size_t i = 0; name && i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) return all[i].flag;
    return 0;
}

static int add_conversation(struct ids *to, const steno_model *m, const struct lm_opts *o, const steno_message *msg, int n)
{
    steno_error e = { 0 };
    const uint32_t flags = STENO_CHAT_ANSWER | (o->think ? 0 : STENO_CHAT_NO_THINKING) | format_of(o->prompt_template);
    const int needed = steno_chat_tokenize(m, msg, n, flags, NULL, 0, &e);
    if (needed < 0) {
        if (needed == STENO_ENOMEM) return no_memory();
        message("%s%s", e.text, strstr(e.text, "begin with a system message") ? ", with --system TEXT" : "");
        return needed == STENO_EUNSUPPORTED ? EXIT_MODEL : EXIT_USAGE;
    }
    const int code = ids_room(to, needed);
    if (code == EXIT_OK) to->n += steno_chat_tokenize(m, msg, n, flags, to->at + to->n, needed, &e);
    return code;
}

/* A prompt made with the user's own template. Markers are parsed in the template's pieces, but not in the texts between them. */
struct parts { steno_text_part *at; int n, cap; };

static int add_part(struct parts *to, const char *text, size_t n, uint32_t flags)
{
    if (!n) return EXIT_OK;
    if (to->n == to->cap) {
        const int cap = 2 * to->cap + 16;
        steno_text_part *more = realloc(to->at, (size_t)cap * sizeof *more);
        if (!more) return no_memory();
        to->at = more;
        to->cap = cap;
    }
    to->at[to->n++] = (steno_text_part){ text, n, flags };
    return EXIT_OK;
}

/* Each user turn is the template with the prompt in place; the assistant's answer follows it. */
static int add_turn(struct parts *to, const char *form, const char *system, const char *prompt)
{
    int code = EXIT_OK;
    while (*form && code == EXIT_OK) {
        const char *at = strchr(form, '{');
        while (at && strncmp(at, "{prompt}", 8) != 0 && strncmp(at, "{system}", 8) != 0) at = strchr(at + 1, '{');
        code = add_part(to, form, at ? (size_t)(at - form) : strlen(form), STENO_TOKENIZE_SPECIAL);
        if (!at || code != EXIT_OK) return code;
        const char *text = at[1] == 'p' ? prompt : system;
        code = add_part(to, text, strlen(text), 0);
        form = at + 8;
    }
    return code;
}

/* Copy the template with escapes replaced by line ends. */
static char *without_escapes(const char *form)
{
    char *text = strdup(form), *to = text;
    for (const char *p = form; text && *p; p++) {
        const int is_escape = p[0] == '\\' && p[1] == 'n';
        *to++ = is_escape ? '\n' : *p;
        p += is_escape;
    }
    if (text) *to = '\0';
    return text;
}

/* The tokens that the model puts before a text are not added if the template already begins with them. */
static uint32_t whole_flag(const steno_model *m, const char *form)
{
    int32_t empty[2], begun[2];
    const steno_text_part part = { form, strlen(form), STENO_TOKENIZE_SPECIAL };
    const int n = steno_tokenize_parts(m, NULL, 0, STENO_TOKENIZE_WHOLE, empty, 2);
    return n > 0 && steno_tokenize_parts(m, &part, 1, 0, begun, 2) > 0 && begun[0] == empty[0] ? 0 : STENO_TOKENIZE_WHOLE;
}

static int add_parts(struct ids *to, const steno_model *m, const struct parts *p, uint32_t flags)
{
    const int needed = steno_tokenize_parts(m, p->at, p->n, flags, NULL, 0);
    if (needed < 0) return tokens_failed(needed);
    const int code = ids_room(to, needed);
    if (code == EXIT_OK) to->n += steno_tokenize_parts(m, p->at, p->n, flags, to->at + to->n, needed);
    return code;
}

static int add_by_template(struct ids *to, const steno_model *m, const char *form, const steno_message *msg, int n)
{
    const char *system = "";
    struct parts p = { 0 };
    int code = EXIT_OK;
    if (!strstr(form, "{prompt}"))
        return message_usage("--prompt-template: it is not chatml, llama2, llama3 or gemma, and has no {prompt}");
    char *text = without_escapes(form);
    if (!text) return no_memory();
    for (int i = 0; i < n && code == EXIT_OK; i++) {
        if (!strcmp(msg[i].role, "system")) system = msg[i].content;
        else if (!strcmp(msg[i].role, "assistant")) code = add_part(&p, msg[i].content, strlen(msg[i].content), 0);
        else code = add_turn(&p, text, system, msg[i].content);
    }
    if (code == EXIT_OK) code = add_parts(to, m, &p, whole_flag(m, text));
    free(text);
    free(p.at);
    return code;
}

int lm_prompt(int32_t **out, const steno_model *m, const struct lm_opts *o, const steno_message *msg, int n, int raw, int *code)
{
    struct ids ids = { 0 };
    const char *form = o->prompt_template;
    if (raw) *code = add_text(&ids, m, msg[0].content, strlen(msg[0].content), STENO_TOKENIZE_WHOLE);
    else if (form && !format_of(form)) *code = add_by_template(&ids, m, form, msg, n);
    else *code = add_conversation(&ids, m, o, msg, n);
    *out = ids.at;
    if (*code == EXIT_OK) return ids.n;
    free(ids.at);
    *out = NULL;
    return -1;
}

int lm_check_turns(const steno_model *m, const struct lm_opts *o)
{
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    if (o->prompt_template || strcmp(i.chat, "unknown") != 0) return EXIT_OK;
    message("this version does not know the model's chat template: --prompt-template TEXT sets the form of its turns, --raw continues the "
            "text as it is");
    return EXIT_MODEL;
}

/* Does the model have a chat template, or does --prompt-template give one? */
static int has_turns(const steno_model *m, const struct lm_opts *o)
{
    steno_model_info i = { .size = sizeof i };
    return o->prompt_template || (steno_model_info_get(m, &i) == STENO_OK && i.chat[0]);
}

int lm_make_prompt(int32_t **ids, int *n, const steno_model *m, const struct lm_opts *o, int raw, const char *text)
{
    const int as_it_is = raw || !has_turns(m, o);
    const steno_message turns[] = { { "system", o->system ? o->system : "" }, { "user", text } };
    int code = EXIT_OK;
    if (as_it_is && !raw && o->system)
        return message_usage("--system: the model has no chat template; --prompt-template sets one");
    if (as_it_is && !*text) return message_usage("the prompt is empty");
    *n = as_it_is || !o->system ? lm_prompt(ids, m, o, turns + 1, 1, as_it_is, &code) : lm_prompt(ids, m, o, turns, 2, 0, &code);
    return code;
}

int lm_check_named(const struct engine_opts *o, const char *verb)
{
    const char *env = path_typed(getenv("STENO_MODEL"));
    if (o->model || (env && *env)) return EXIT_OK;
    return message_usage("%s needs a language model: -m MODEL, such as a Qwen3, Llama or Gemma in GGUF", verb);
}

int lm_check_model(const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    const int goes_on = steno_serves(m, STENO_CALL_GENERATE, NULL);
    if (goes_on && steno_tokenize_text(m, "", 0, STENO_TOKENIZE_WHOLE, NULL, 0) != STENO_EUNSUPPORTED) return EXIT_OK;
    steno_model_info_get(m, &i);
    return message_usage("-m: a %s model; it takes a language model (Llama, Qwen, Gemma) with its tokenizer", i.family);
}

/* ---- results ----------------------------------------------------------------------------------------------------------------- */

/* The option that gave the grammar or the schema, which the library treats as a grammar; may be NULL. */
static const char *rules_option(const struct args_given *given)
{
    static const char *const all[] = { "grammar", "grammar-file", "json-schema", "json-schema-file" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (option_was_given(given, all[i])) return all[i];
    return NULL;
}

int lm_failed(const steno_session *s, const struct args_given *given, int rc)
{
    char reason[OPTION_TEXT_SZ];
    const char *why = steno_last_error(s), *option = rules_option(given);
    const size_t n = strspn(why, "abcdefghijklmnopqrstuvwxyz_");
    const int is_rules = (n == 7 && !strncmp(why, "grammar", n)) || (n == 11 && !strncmp(why, "json_schema", n));
    if (option && is_rules) {
        message("--%s%s", option, why + n);
        return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_USAGE;
    }
    message("%s", option_reason(reason, given, why));
    return rc == STENO_ENOMEM ? EXIT_MEMORY : rc == STENO_EARG ? EXIT_USAGE : EXIT_MODEL;
}

const char *lm_finish(const steno_session *s)
{
    switch (steno_generate_finish(s)) {
    case STENO_FINISH_LENGTH: return "length";
    case STENO_FINISH_CALLER:
    case STENO_FINISH_CANCELED: return "canceled";
    default: return "stop";
    }
}
