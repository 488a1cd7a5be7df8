/* steno: the verb chat: a conversation with a language model. SPDX-License-Identifier: MIT
 *
 * Each line of the user is a turn, and the whole conversation is the prompt of the next answer. Ctrl-C during an answer stops the answer
 * and keeps the conversation; at the prompt it ends the program. */
#include "cli/signals.h"
#include "cli/terminal.h"
#include "cmd.h"
#include "models/engine.h"
#include "options/lm_opts.h"
#include "verbs/lm_answers.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct engine_opts engine;
    struct lm_opts lm;
};

static const struct arg rows[] = {
    LM_MODEL_ROW(struct opts),
    ENGINE_DRAFT_ROW(struct opts),
    ARG_HEADING("Prompt"),
    LM_PROMPT_ROWS(struct opts),
    LM_SAMPLING_ROWS(struct opts),
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args chat_args = { "chat", "[OPTION]... -m MODEL",
                                "Chat with a language model: each line gets an answer. /reset starts a new\n"
                                "conversation, /exit or the end of input ends the program. Ctrl-C ends an answer.", rows };

/* ---- the conversation ------------------------------------------------------------------------------------------------------- */

struct talk {
    steno_message *turn; /* contents in malloc'd memory */
    int n, cap, n_system;
};

static int no_memory(void)
{
    message("out of memory for the conversation");
    return EXIT_MEMORY;
}

static int talk_add(struct talk *t, const char *role, const char *text, size_t n)
{
    if (t->n == t->cap) {
        const int cap = 2 * t->cap + 8;
        steno_message *more = realloc(t->turn, (size_t)cap * sizeof *more);
        if (!more) return no_memory();
        t->turn = more;
        t->cap = cap;
    }
    char *copy = strndup(text, n);
    if (!copy) return no_memory();
    t->turn[t->n++] = (steno_message){ role, copy };
    return EXIT_OK;
}

static void talk_cut(struct talk *t, int n)
{
    while (t->n > n) {
        void *content;
        memcpy(&content, &t->turn[--t->n].content, sizeof content);
        free(content);
    }
}

/* The model's reasoning is not part of the conversation. */
static const char *without_thoughts(const char *text)
{
    static const char end[] = "</think>";
    for (const char *at = strstr(text, end); at; at = strstr(text, end)) text = at + strlen(end);
    return text + strspn(text, "\n");
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

struct chat {
    struct engine e;
    const struct opts *o;
    struct lm_params lm;
    struct talk talk;
    int ctx; /* context size in positions */
};

/* Add the answer, even if it is incomplete, to the conversation. Without an answer, remove the question. */
static int keep_answer(struct chat *c, int rc)
{
    const char *text = without_thoughts(steno_generated_text(c->e.session));
    if (rc < 0 && rc != STENO_ECANCELED) {
        talk_cut(&c->talk, c->talk.n - 1);
        return lm_failed(c->e.session, c->o->engine.given, rc);
    }
    if (!*text) {
        talk_cut(&c->talk, c->talk.n - 1);
        return EXIT_OK;
    }
    return talk_add(&c->talk, "assistant", text, strlen(text));
}

static int say(struct chat *c, const int32_t *ids, int n)
{
    struct lm_stream out = lm_stream_begin(0);
    steno_generate_params p = c->lm.p;
    p.user = &out;
    p.on_token = lm_stream_token;
    p.should_abort = signals_stop;
    signals_defer(1);
    signals_watch(c->e.session, NULL);
    const int rc = steno_generate(c->e.session, ids, n, &p);
    signals_watch(NULL, NULL);
    signals_defer(0);
    lm_stream_end(&out);
    if (signals_pending() && signals_pending() != SIGINT) return EXIT_SIGNAL + signals_pending();
    signals_forget();
    const struct notes notes = lm_notes(c->e.model, c->e.session, n);
    for (int i = 0; i < notes.n && rc >= 0; i++)
        if (notes.note[i].kind == NOTE_CONTEXT_FULL) message("%s, /reset starts a new conversation", notes.note[i].text);
        else if (!c->o->engine.quiet) message("%s", notes.note[i].text);
    const int code = keep_answer(c, rc);
    return code == EXIT_OK ? message_flush() : code;
}

static int answer(struct chat *c, const char *line)
{
    int32_t *ids = NULL;
    int code = talk_add(&c->talk, "user", line, strlen(line));
    if (code != EXIT_OK) return code;
    const int n = lm_prompt(&ids, c->e.model, &c->o->lm, c->talk.turn, c->talk.n, 0, &code);
    if (n >= 0 && n > c->ctx) {
        message("the context of %d tokens is full: with this line the conversation has %d. /reset starts a new one, --ctx-size makes "
                "room", c->ctx,
                n);
        talk_cut(&c->talk, c->talk.n - 1);
    } else if (n >= 0) code = say(c, ids, n);
    free(ids);
    return code;
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------- */

/* @return 1 if the line was a command; *ends: that command ends the conversation. */
static int command(struct chat *c, const char *line, int *ends)
{
    if (line[0] != '/') return 0;
    if (!strcmp(line, "/exit") || !strcmp(line, "/quit")) *ends = 1;
    else if (!strcmp(line, "/reset")) talk_cut(&c->talk, c->talk.n_system);
    else message("%s: unknown command; the commands are /reset and /exit", line);
    return 1;
}

static int talk_on(struct chat *c)
{
    struct line_edit in;
    int code = line_edit_open(&in), ends = 0;
    while (code == EXIT_OK && !ends) {
        char *line = line_edit_next(&in, "> ");
        if (!line) break;
        const int is_text = lm_check_text("the line", line) == EXIT_OK;
        if (is_text && *line && !command(c, line, &ends)) code = answer(c, line);
    }
    if (code == EXIT_OK) code = line_edit_failed(&in);
    line_edit_close(&in);
    return code;
}

static int open_talk(struct chat *c)
{
    const char *system = c->o->lm.system;
    steno_model_info i = { .size = sizeof i };
    int32_t *ids = NULL;
    int code = lm_check_model(c->e.model);
    if (code == EXIT_OK) code = lm_params_open(&c->lm, &c->o->lm, c->o->engine.given, c->e.model);
    if (code == EXIT_OK && system) code = talk_add(&c->talk, "system", system, strlen(system));
    if (code != EXIT_OK) return code;
    c->talk.n_system = c->talk.n;
    code = talk_add(&c->talk, "user", "hello", 5); /* check that the model can make such a prompt */
    if (code == EXIT_OK) (void)lm_prompt(&ids, c->e.model, &c->o->lm, c->talk.turn, c->talk.n, 0, &code);
    free(ids);
    talk_cut(&c->talk, c->talk.n_system);
    if (code == EXIT_MODEL) message("--prompt-template sets the form of its turns; \"steno generate --raw\" needs none");
    if (code != EXIT_OK) return code;
    steno_model_info_get(c->e.model, &i);
    c->ctx = i.n_text_ctx;
    return engine_open_session(&c->e, 1);
}

int cmd_chat(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct chat c = { .o = &o };
    int n;
    int code = args_parse(&chat_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n) return message_usage("chat takes no operands; --system TEXT sets its instructions");
    code = lm_check_named(&o.engine, "chat");
    if (code == EXIT_OK) code = engine_open(&c.e, &o.engine, 0);
    if (code != EXIT_OK) return code;
    code = open_talk(&c);
    if (code == EXIT_OK) code = talk_on(&c);
    talk_cut(&c.talk, 0);
    free(c.talk.turn);
    lm_params_close(&c.lm);
    engine_close(&c.e);
    return code;
}
