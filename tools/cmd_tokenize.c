/* steno: the verb tokenize: the tokens of a text. SPDX-License-Identifier: MIT */
#include "cmd.h"
#include "engine.h"
#include "print.h"
#include "text_file.h"
#include "utf8.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 1 << 24, PIECE_MOST = 4096 };

struct opts {
    struct engine_opts engine;
    int json, ids, special, whole;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_VOCAB_ROW(struct opts),
    ARG_HEADING("Tokens"),
    { .name = "special", .kind = ARG_FLAG, .at = AT(special),
      .help = "special tokens written in the text become their ids (language models); for prompts, never for what a user has written" },
    { .name = "whole", .kind = ARG_FLAG, .at = AT(whole),
      .help = "with the tokens that the model puts before and behind a whole text (language models)" },
    ARG_HEADING("Output"),
    { .name = "ids", .kind = ARG_FLAG, .at = AT(ids), .help = "the ids alone, in one line" },
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "an object of ids and pieces instead of lines" },
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args tokenize_args = { "tokenize", "[OPTION]... -m MODEL TEXT|@FILE|-",
                                    "Print ID and PIECE for each token of a text: of a file after @, of standard\n"
                                           "input where it is -. Only the vocabulary of MODEL is read.", rows };

static int no_memory(void)
{
    message("out of memory for the text");
    return EXIT_MEMORY;
}

/* A piece as JSON: a string, or a list of bytes where it is a part of a character. */
static void print_piece(const steno_model *m, int32_t id)
{
    char s[PIECE_MOST + 1];
    const int64_t n = steno_token_bytes(m, id, s, PIECE_MOST);
    const size_t len = n < 0 ? 0 : n < PIECE_MOST ? (size_t)n : PIECE_MOST;
    s[len] = 0;
    if (strlen(s) == len && utf8_invalid_at(s) < 0) {
        print_json(stdout, s);
        return;
    }
    for (size_t i = 0; i < len; i++) printf("%s%d", i ? ", " : "[", (unsigned char)s[i]);
    putchar(']');
}

static void print_tokens(const steno_model *m, const int32_t *ids, int n, const struct opts *o)
{
    if (o->json) printf("{\"ids\": [");
    for (int i = 0; i < n && (o->json || o->ids); i++) printf("%s%d", i ? (o->json ? ", " : " ") : "", (int)ids[i]);
    if (o->json) printf("], \"pieces\": [");
    for (int i = 0; i < n && !o->ids; i++) {
        if (o->json) printf("%s", i ? ", " : "");
        else printf("%d ", (int)ids[i]);
        print_piece(m, ids[i]);
        if (!o->json) putchar('\n');
    }
    if (o->json) printf("]}");
    if (o->json || o->ids) putchar('\n');
}

static int tokenize(const steno_model *m, const char *text, const struct opts *o)
{
    const uint32_t flags = (o->special ? STENO_TOKENIZE_SPECIAL : 0u) | (o->whole ? STENO_TOKENIZE_WHOLE : 0u);
    const int most = steno_tokenize_text(m, text, strlen(text), flags, NULL, 0);
    if (most == STENO_EUNSUPPORTED && flags)
        return message_usage("--%s is for language models that say how text becomes tokens", o->special ? "special" : "whole");
    if (most == STENO_EUNSUPPORTED) {
        steno_model_info i = { .size = sizeof i };
        steno_model_info_get(m, &i);
        return message_usage("-m: a %s model without a tokenizer; it takes Whisper, a language model or BERT", i.family);
    }
    if (most < 0) {
        message("the text has no tokens: %s", most == STENO_EARG ? "part of it is not in the vocabulary" : steno_status_text(most));
        return most == STENO_ENOMEM ? EXIT_MEMORY : most == STENO_EARG ? EXIT_USAGE : EXIT_MODEL;
    }
    int32_t *ids = malloc(((size_t)most + 1) * sizeof *ids);
    if (!ids) return no_memory();
    const int n = steno_tokenize_text(m, text, strlen(text), flags, ids, most);
    print_tokens(m, ids, n, o);
    free(ids);
    return message_flush();
}

/* The text that an operand stands for, in malloc'd memory. @return EXIT_OK, or the exit code to end with */
static int take_text(char **text, const char *operand)
{
    char why[TEXT_FILE_WHY];
    const int from_stdin = strcmp(operand, "-") == 0;
    if (!from_stdin && operand[0] != '@') {
        *text = strdup(operand);
        return *text ? EXIT_OK : no_memory();
    }
    switch (text_file_read(text, from_stdin ? operand : operand + 1, from_stdin, TEXT_MOST, why, sizeof why)) {
    case TEXT_FILE_READ: return EXIT_OK;
    case TEXT_FILE_NO_MEMORY: return no_memory();
    default: break;
    }
    message("%s: %s", from_stdin ? "standard input" : operand + 1, why);
    return EXIT_INPUT;
}

int cmd_tokenize(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given, .engine.index_only = 1, .engine.threads = 1 };
    struct engine e;
    char *text = NULL;
    int n;
    int code = args_parse(&tokenize_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 1) return message_usage("tokenize takes one text, @FILE, or - for standard input, not %d", n);
    if (o.json && o.ids) return message_usage("--json has the ids, too: leave --ids away");
    code = engine_open(&e, &o.engine, 0);
    if (code != EXIT_OK) return code;
    code = take_text(&text, argv[0]);
    if (code == EXIT_OK) code = tokenize(e.model, text, &o);
    free(text);
    engine_close(&e);
    return code;
}
