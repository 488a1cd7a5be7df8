/* steno: the verb tokenize: text to tokens and tokens to text. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/text_file.h"
#include "cmd.h"
#include "models/engine.h"
#include "utf8.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 24, PIECE_MAX = 4096 };

struct opts {
    struct engine_opts engine;
    int json, ids, special, whole, decode;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ENGINE_MODEL_ROW(struct opts),
    ENGINE_VOCAB_ROW(struct opts),
    ARG_HEADING("Tokens"),
    { .name = "special", .kind = ARG_FLAG, .at = AT(special),
      .help = "special tokens written in the text become their ids (language models); for prompts, never for text from a user" },
    { .name = "whole", .kind = ARG_FLAG, .at = AT(whole),
      .help = "add the tokens that the model expects before and after a whole text (language models)" },
    { .name = "decode", .kind = ARG_FLAG, .at = AT(decode),
      .help = "decode ids and print their text; special tokens are dropped, or printed with --special" },
    ARG_HEADING("Output"),
    { .name = "ids", .kind = ARG_FLAG, .at = AT(ids), .help = "print only the ids, in one line" },
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "print an object of ids and pieces instead of lines" },
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args tokenize_args = { "tokenize", "[OPTION]... -m MODEL TEXT|IDS|@FILE|-",
                                    "Print ID and PIECE for each token of a text, or with --decode the text of ids.\n"
                                    "@FILE reads the text from a file, - from standard input. Only the vocabulary of\n"
                                    "MODEL is read.", rows };

static int no_memory(void)
{
    message("out of memory for the text");
    return EXIT_MEMORY;
}

/* Print a piece as JSON: a string, or a list of bytes if it is part of a character. */
static void print_piece(const steno_model *m, int32_t id)
{
    char s[PIECE_MAX + 1];
    const int64_t n = steno_token_bytes(m, id, s, PIECE_MAX);
    const size_t len = n < 0 ? 0 : n < PIECE_MAX ? (size_t)n : PIECE_MAX;
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
        return message_usage("--%s is for language models with a tokenizer", o->special ? "special" : "whole");
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

/* ---- ids to text ------------------------------------------------------------------------------------------------------------- */

/* Read the next id of "1 2, 3" or "[1, 2]" at *at. @return 1, 0 at the end, or -1 at a word that is not an id, with *at pointing to it */
static int next_id(const char **at, int32_t *id)
{
    *at += strspn(*at, " \t\r\n,[]");
    if (!**at) return 0;
    char *end;
    errno = 0;
    const long v = strtol(*at, &end, 10);
    if (end == *at || errno || v < 0 || v > INT32_MAX || !strchr(" \t\r\n,]", *end)) return -1;
    *at = end;
    *id = (int32_t)v;
    return 1;
}

/* Check that all ids are tokens of the model. @return EXIT_OK, or EXIT_USAGE after a message */
static int check_ids(const steno_model *m, const char *at)
{
    int32_t id;
    int got;
    steno_model_info i = { .size = sizeof i };
    steno_model_info_get(m, &i);
    for (;;) {
        const char *const from = at + strspn(at, " \t\r\n,[]");
        got = next_id(&at, &id);
        if (!got) return EXIT_OK;
        if (got > 0 && id < i.n_vocab) continue;
        const int n = (int)strcspn(from, " \t\r\n,[]");
        return message_usage("--decode: '%.*s' is not a token of this model; ids are 0 to %d", n < 40 ? n : 40, from,
                             (int)i.n_vocab - 1);
    }
}

static int decode_to(FILE *to, steno_detokenizer *d, const char *at)
{
    int32_t id;
    size_t n;
    const char *s = "";
    while (s && next_id(&at, &id) > 0)
        if ((s = steno_detokenizer_push(d, id, &n)) != NULL) fwrite(s, 1, n, to);
    if (s && (s = steno_detokenizer_end(d, &n)) != NULL) fwrite(s, 1, n, to);
    return s ? EXIT_OK : no_memory();
}

static int decode(const steno_model *m, const char *ids, const struct opts *o)
{
    steno_detokenizer *d;
    char *text = NULL;
    size_t n = 0;
    int code = check_ids(m, ids);
    if (code != EXIT_OK) return code;
    if (steno_detokenizer_open(&d, m, o->special, NULL)) return no_memory();
    FILE *to = open_memstream(&text, &n);
    code = to ? decode_to(to, d, ids) : no_memory();
    if (to && fclose(to) && code == EXIT_OK) code = no_memory();
    steno_detokenizer_close(d);
    if (code == EXIT_OK && o->json) {
        fputs("{\"text\": ", stdout);
        print_json(stdout, text);
        puts("}");
    } else if (code == EXIT_OK) {
        fwrite(text, 1, n, stdout);
        putchar('\n');
    }
    free(text);
    return code == EXIT_OK ? message_flush() : code;
}

/* Read the text of an operand into malloc'd memory. @return EXIT_OK, or the exit code to end with */
static int take_text(char **text, const char *operand)
{
    char why[TEXT_FILE_WHY];
    const int from_stdin = strcmp(operand, "-") == 0;
    if (!from_stdin && operand[0] != '@') {
        *text = strdup(operand);
        return *text ? EXIT_OK : no_memory();
    }
    switch (text_file_read(text, from_stdin ? operand : operand + 1, from_stdin, TEXT_MAX, why, sizeof why)) {
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
    if (o.decode && (o.ids || o.whole))
        return message_usage("--%s and --decode exclude each other: --decode prints text", o.ids ? "ids" : "whole");
    if (o.json && o.ids) return message_usage("--json includes the ids: leave out --ids");
    code = engine_open(&e, &o.engine, 0);
    if (code != EXIT_OK) return code;
    code = take_text(&text, argv[0]);
    if (code == EXIT_OK) code = o.decode ? decode(e.model, text, &o) : tokenize(e.model, text, &o);
    free(text);
    engine_close(&e);
    return code;
}
