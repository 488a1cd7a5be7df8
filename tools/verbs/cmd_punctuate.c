/* steno: the verb punctuate: punctuation for texts. SPDX-License-Identifier: MIT
 *
 * Each line is a separate text of any length. With a streaming model, the text continues from line to line. */
#include "cli/message.h"
#include "cli/text_file.h"
#include "cmd.h"
#include "findings.h"
#include "input/sound.h"
#include "models/default_model.h"
#include "models/engine.h"
#include "options/punctuation_opts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts { struct engine_opts engine; const char *jieba_dict; };

static const struct arg rows[] = {
    ARG_HEADING("Model"),
    { .name = "model", .letter = 'm', .kind = ARG_TEXT, .at = offsetof(struct opts, engine.model), .value = "PATH|NAME",
      .help = "punctuation model, such as FunASR's ct-punc; without it one in the caches" },
    PUNCTUATION_JIEBA_ROW(struct opts, jieba_dict),
    ENGINE_DEVICE_ROW(struct opts),
    ENGINE_CPU_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args punctuate_args = { "punctuate", "[OPTION]... [FILE]...",
                                     "Punctuate each line of the text files FILE, or of standard input.", rows };

static int do_line(const struct engine *e, const char *name, const struct text_lines *l, const char *line, int goes_on,
                   struct marks_count *count)
{
    steno_punctuate_params p;
    steno_punctuate_params_init(&p);
    p.go_on = goes_on && l->number > 1;
    const int rc = steno_punctuate(e->session, line, &p);
    if (rc == STENO_OK) {
        findings_punctuation_line(count, line, steno_text(e->session));
        printf("%s\n", steno_text(e->session));
        return message_flush();
    }
    message("%s: line %lld: %s", name, l->number, steno_last_error(e->session));
    return rc == STENO_ENOMEM ? EXIT_MEMORY : EXIT_SOME;
}

static int do_file(const struct engine *e, const char *file, int goes_on, int quiet)
{
    static const int code_of[] = { [TEXT_FILE_UNREADABLE] = EXIT_INPUT, [TEXT_FILE_TOO_LONG] = EXIT_SOME, [TEXT_FILE_NO_TEXT] = EXIT_SOME,
                                   [TEXT_FILE_NO_MEMORY] = EXIT_MEMORY };
    const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
    struct text_lines lines;
    char why[TEXT_FILE_WHY], *line = NULL;
    int code = EXIT_OK;
    struct marks_count count = { 0 };
    struct notes notes = { .n = 0 };
    enum text_file how = text_lines_open(&lines, file, 1, TEXT_LINE_MAX, why, sizeof why);
    while (code == EXIT_OK && how == TEXT_FILE_READ) {
        how = text_lines_next(&lines, &line, why, sizeof why);
        if (how != TEXT_FILE_READ || !line) break;
        code = do_line(e, name, &lines, line, goes_on, &count);
    }
    text_lines_close(&lines);
    if (code == EXIT_OK && how == TEXT_FILE_READ) findings_punctuation(&notes, &count);
    if (!quiet) sound_notes(file, &notes);
    if (code != EXIT_OK || how == TEXT_FILE_READ) return code;
    message("%s: %s%s", name, why, how == TEXT_FILE_TOO_LONG ? ": break it up" : "");
    return code_of[how];
}

/* Choose the model: -m, by path or name, or one that is found. */
static int choose(struct engine_opts *o, char **found)
{
    int no_memory = 0;
    *found = o->model ? default_model_named(&default_model_punctuation, o->model, &no_memory)
                      : default_model_find(&default_model_punctuation, NULL, &no_memory);
    if (no_memory) {
        message("out of memory while looking for a punctuation model");
        return EXIT_MEMORY;
    }
    if (*found) o->model = *found;
    if (o->model) return EXIT_OK;
    return message_usage("punctuate needs a punctuation model: -m FOLDER, such as FunASR's ct-punc");
}

static int do_files(const struct engine *e, char **files, int n, int quiet)
{
    static char dash[] = "-", *const standard_input[] = { dash };
    steno_punctuate_params p;
    int code = EXIT_OK;
    if (steno_punctuate(e->session, "", NULL) != STENO_OK)
        return message_usage("-m: %s; it takes a model such as FunASR's ct-punc", steno_last_error(e->session));
    steno_punctuate_params_init(&p);
    p.go_on = 1;
    const int goes_on = steno_punctuate(e->session, "", &p) == STENO_OK;
    for (int i = 0; code == EXIT_OK && i < (n ? n : 1); i++) code = do_file(e, n ? files[i] : standard_input[0], goes_on, quiet);
    return code;
}

int cmd_punctuate(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e = { 0 };
    struct engine_opts own;
    char *found = NULL, *dict = NULL;
    int n;
    int code = args_parse(&punctuate_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    code = choose(&o.engine, &found);
    for (int i = 0; code == EXIT_OK && i < n; i++) code = path_guard_code_read(NULL, "an input", argv[i]);
    if (code == EXIT_OK) code = punctuation_engine(&own, &o.engine, o.jieba_dict, &dict);
    if (code == EXIT_OK) code = engine_open(&e, &own, 1);
    if (code == EXIT_OK) {
        code = punctuation_check(e.model, e.path, o.jieba_dict, o.engine.quiet);
        if (code == EXIT_OK) code = do_files(&e, argv, n, o.engine.quiet);
        engine_close(&e);
    }
    free(dict);
    free(found);
    return code;
}
