/* steno: the verb generate: a language model continues a text. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cli/text_file.h"
#include "cmd.h"
#include "input/sound.h"
#include "models/engine.h"
#include "options/lm_opts.h"
#include "verbs/lm_answers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT_MAX = 1 << 26 };

struct opts {
    struct engine_opts engine;
    struct lm_opts lm;
    const char *prompt, *file, *prompts;
    int64_t batch_size;
    int raw, ids, json;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    LM_MODEL_ROW(struct opts),
    ENGINE_DRAFT_ROW(struct opts),
    ARG_HEADING("Prompt"),
    { .name = "prompt", .letter = 'p', .kind = ARG_TEXT, .at = AT(prompt), .value = "TEXT", .help = "same as PROMPT" },
    { .name = "file", .letter = 'f', .kind = ARG_TEXT, .at = AT(file), .value = "FILE",
      .help = "read the prompt from a file; - is standard input. One final newline is dropped" },
    { .name = "prompts", .kind = ARG_TEXT, .at = AT(prompts), .value = "FILE",
      .help = "one prompt per line of a file, or per JSON value (.jsonl); - is standard input; each result is one object per line" },
    { .name = "raw", .kind = ARG_FLAG, .at = AT(raw),
      .help = "continue the text as it is; without it a chat model gets it as a user's message" },
    LM_PROMPT_ROWS(struct opts),
    LM_SAMPLING_ROWS(struct opts),
    { .name = "batch-size", .letter = 'b', .kind = ARG_INT, .at = AT(batch_size), .value = "N", .dflt = "8", .lo = 1, .hi = 128,
      .help = "number of --prompts answered in parallel, 1 to 128; each text is the same as alone" },
    ARG_HEADING("Output"),
    { .name = "ids", .kind = ARG_FLAG, .at = AT(ids), .help = "print the new ids instead of the text, in one line" },
    { .name = "json", .letter = 'j', .kind = ARG_FLAG, .at = AT(json),
      .help = "print an object: text, ids, log-probabilities, reason of the end, times" },
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args generate_args = { "generate", "[OPTION]... -m MODEL [PROMPT|-]",
                                    "Let a language model answer PROMPT, or continue it; - is standard input.\n"
                                    "The text is printed while it is generated. Ctrl-C ends it.", rows };

static int say(const struct engine *e, const struct opts *o, const steno_generate_params *given, const int32_t *ids, int n)
{
    struct lm_stream out = lm_stream_begin(o->ids || o->json);
    steno_generate_params p = *given;
    p.user = &out;
    p.on_token = lm_stream_token;
    p.should_abort = signals_stop;
    signals_defer(1);
    signals_watch(e->session, NULL);
    const int rc = steno_generate(e->session, ids, n, &p);
    signals_watch(NULL, NULL);
    if (rc < 0 && rc != STENO_ECANCELED) return lm_failed(e->session, o->engine.given, rc);
    if (o->json) lm_print_object(stdout, e->model, e->session, ids, n, p.seed, -1);
    else if (o->ids) lm_print_ids(stdout, e->session);
    lm_stream_end(&out);
    const int code = message_flush();
    const struct notes notes = lm_notes(e->model, e->session, n);
    if (!o->engine.quiet && code == EXIT_OK) sound_notes_print(&notes);
    return signals_pending() ? EXIT_SIGNAL + signals_pending() : code;
}

/* ---- the prompt -------------------------------------------------------------------------------------------------------------- */

/* The line end that editors append to the last line is not part of a prompt. */
static void cut_line_end(char *text)
{
    size_t n = strlen(text);
    if (n && text[n - 1] == '\n') text[--n] = '\0';
    if (n && text[n - 1] == '\r') text[n - 1] = '\0';
}

/* Read the prompt into malloc'd memory. @return EXIT_OK, or the exit code to end with */
static int take_prompt(char **text, const struct opts *o, const char *operand)
{
    char why[TEXT_FILE_WHY];
    const char *file = o->file ? o->file : operand && !strcmp(operand, "-") ? operand : NULL;
    if (!file) {
        *text = strdup(o->prompt ? o->prompt : operand);
        if (*text) return lm_check_text("the prompt", *text);
        message("out of memory for the prompt");
        return EXIT_MEMORY;
    }
    switch (text_file_read(text, file, 1, PROMPT_MAX, why, sizeof why)) {
    case TEXT_FILE_READ: cut_line_end(*text); return EXIT_OK;
    case TEXT_FILE_NO_MEMORY: message("out of memory for the prompt"); return EXIT_MEMORY;
    default: break;
    }
    message("%s: %s", strcmp(file, "-") ? file : "standard input", why);
    return EXIT_INPUT;
}

static int check(const struct opts *o, int n, char **argv)
{
    if (n > 1) return message_usage("generate takes one PROMPT, not %d; put it in quotes", n);
    if ((n != 0) + (o->prompt != NULL) + (o->file != NULL) + (o->prompts != NULL) != 1)
        return message_usage("generate needs a prompt: PROMPT, --prompt TEXT, --file FILE or --prompts FILE%s",
                             n || o->prompt || o->file || o->prompts ? ", and only one of them" : "");
    if (!o->prompts && option_was_given(o->engine.given, "batch-size"))
        return message_usage("--batch-size needs --prompts");
    if (n && !*argv[0]) return message_usage("the prompt is empty");
    if (o->ids && o->json) return message_usage("--json includes the ids: leave out --ids");
    if (o->raw && (o->lm.system || o->lm.prompt_template || !o->lm.think))
        return message_usage("--raw has no turns: leave out --%s",
                             o->lm.system ? "system" : o->lm.prompt_template ? "prompt-template" : "no-think");
    return EXIT_OK;
}

static int generate(struct engine *e, const struct opts *o, const char *operand)
{
    struct lm_params lm;
    char *text = NULL;
    int32_t *ids = NULL;
    int n = 0, code = lm_check_model(e->model);
    if (code != EXIT_OK) return code;
    code = lm_params_open(&lm, &o->lm, o->engine.given, e->model);
    if (code == EXIT_OK && !o->raw) code = lm_check_turns(e->model, &o->lm);
    if (code == EXIT_OK && o->prompts) {
        const struct lm_many many = { o->prompts, (int)o->batch_size, o->raw, o->ids, &o->lm, &lm.p, o->engine.given };
        code = lm_many_run(e, &many);
        lm_params_close(&lm);
        return code;
    }
    if (code == EXIT_OK) code = take_prompt(&text, o, operand);
    if (code == EXIT_OK) code = lm_make_prompt(&ids, &n, e->model, &o->lm, o->raw, text);
    if (code == EXIT_OK) code = engine_open_session(e, 1);
    if (code == EXIT_OK) code = say(e, o, &lm.p, ids, n);
    free(ids);
    free(text);
    lm_params_close(&lm);
    return code;
}

int cmd_generate(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e;
    int n;
    int code = args_parse(&generate_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    code = check(&o, n, argv);
    if (code == EXIT_OK) code = lm_check_named(&o.engine, "generate");
    if (code == EXIT_OK) code = engine_open(&e, &o.engine, 0);
    if (code != EXIT_OK) return code;
    code = generate(&e, &o, n ? argv[0] : NULL);
    engine_close(&e);
    return code;
}
