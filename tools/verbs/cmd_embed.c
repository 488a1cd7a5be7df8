/* steno: the verb embed: texts as vectors. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/npy_file.h"
#include "cli/text_file.h"
#include "cmd.h"
#include "findings.h"
#include "input/sound.h"
#include "options/embed_opts.h"
#include "utf8.h"
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 26, TEXTS_MAX = 1 << 22, JSON, NPY = 1 };

struct opts {
    struct engine_opts engine;
    struct embed_opts embed;
    int format;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    EMBED_MODEL_ROW(struct opts),
    ARG_HEADING("Vectors"),
    EMBED_POOLING_ROW(struct opts),
    { .name = "normalize", .kind = ARG_PAIR, .at = AT(embed.normalize), .dflt = ARG_OF_PARAM,
      .help = "scale vectors to length 1, so that their dot product is the cosine" },
    { .name = "truncate", .kind = ARG_FLAG, .at = AT(embed.truncate),
      .help = "read only the beginning of a text that is too long for the model; without it such a text is refused" },
    ARG_HEADING("Output"),
    { .name = "output-format", .letter = 'f', .kind = ARG_WORD, .at = AT(format), .value = "json|npy", .dflt = "json",
      .help = "json: one object per line for each text; npy: one NumPy array with a row for each text" },
    ENGINE_MACHINE_ROWS(struct opts),
    ARG_HEADING("Messages"),
    ENGINE_QUIET_ROW(struct opts),
    { 0 },
};

const struct args embed_args = { "embed", "[OPTION]... -m MODEL [TEXT|@FILE|-]...",
                                 "Print a vector for each TEXT, for each line of a file given as @FILE, or of\n"
                                 "standard input if TEXT is - or missing.", rows };

/* All texts of a run. */
struct texts {
    const char **text; /* [n] */
    const char **from; /* [n] file of which the text is a line, NULL: typed */
    int *line;         /* [n]; 0: a line whose characters make no tokens */
    int n, cap;
    char **file;       /* [n_files] contents of the files */
    int n_files;
    int64_t n_cut, n_empty; /* truncated texts, and lines without a vector */
    int width, n_waiting;   /* width of a vector, 0: not yet known; number of array rows that wait for it */
};

static int no_memory(void)
{
    message("out of memory for the texts");
    return EXIT_MEMORY;
}

static int add(struct texts *t, const char *text, const char *from, int line)
{
    if (t->n == TEXTS_MAX) {
        message("there are more than %d texts: give them in parts", TEXTS_MAX);
        return EXIT_INPUT;
    }
    if (t->n == t->cap) {
        const size_t cap = t->cap ? 2 * (size_t)t->cap : 64;
        const char **text_at = realloc(t->text, cap * sizeof *text_at);
        if (text_at) t->text = text_at;
        const char **from_at = realloc(t->from, cap * sizeof *from_at);
        if (from_at) t->from = from_at;
        int *line_at = realloc(t->line, cap * sizeof *line_at);
        if (line_at) t->line = line_at;
        if (!text_at || !from_at || !line_at) return no_memory();
        t->cap = (int)cap;
    }
    t->text[t->n] = text;
    t->from[t->n] = from;
    t->line[t->n++] = line;
    return EXIT_OK;
}

static int add_lines(struct texts *t, char *p, const char *from)
{
    int code = EXIT_OK;
    for (int line = 1; *p && code == EXIT_OK; line++) {
        char *end = p + strcspn(p, "\n"), *next = *end ? end + 1 : end;
        if (end > p && end[-1] == '\r') end[-1] = '\0';
        *end = '\0';
        code = add(t, p, from, line);
        p = next;
    }
    return code;
}

static int add_operand(struct texts *t, const char *operand)
{
    char why[TEXT_FILE_WHY], *bytes;
    const int from_stdin = !operand || strcmp(operand, "-") == 0;
    const char *name = from_stdin ? "standard input" : operand + 1;
    const int64_t bad = !from_stdin && operand[0] != '@' ? utf8_invalid_at(operand) : -1;
    if (bad >= 0) return message_usage("text %d is not valid UTF-8 at byte %lld", t->n + 1, (long long)bad);
    if (!from_stdin && operand[0] != '@') return add(t, operand, NULL, t->n + 1);
    switch (text_file_read(&bytes, from_stdin ? "-" : name, from_stdin, TEXT_MAX, why, sizeof why)) {
    case TEXT_FILE_READ: break;
    case TEXT_FILE_NO_MEMORY: return no_memory();
    default: message("%s: %s", name, why); return EXIT_INPUT;
    }
    char **more = realloc(t->file, ((size_t)t->n_files + 1) * sizeof *more);
    if (!more) {
        free(bytes);
        return no_memory();
    }
    t->file = more;
    t->file[t->n_files++] = bytes;
    return add_lines(t, bytes, name);
}

static void texts_free(struct texts *t)
{
    for (int i = 0; i < t->n_files; i++) free(t->file[i]);
    free(t->file);
    free(t->text);
    free(t->from);
    free(t->line);
}

static int text_fails(const struct texts *t, int i, const char *reason)
{
    if (t->from[i]) message("%s: line %d %s", t->from[i], t->line[i], reason);
    else message("text %d %s", t->line[i], reason);
    return EXIT_SOME;
}

/* v: NULL for a line without text */
static void print_vector(const char *text, const steno_embedding *v)
{
    printf("{\"text\": ");
    print_json(stdout, text);
    printf(", \"tokens\": %d, \"truncated\": %s, \"embedding\": %s", v ? (int)v->n_tokens : 0, v && v->is_truncated ? "true" : "false",
           v ? "[" : "null}\n");
    for (int i = 0; v && i < v->n; i++) printf("%s%.9g", i ? ", " : "", (double)v->vector[i]);
    if (v) printf("]}\n");
}

/* Print a row of the array. v: NULL for a line without text, whose row is zeros. The first vector determines the width. */
static void print_row(struct texts *t, const steno_embedding *v)
{
    static const float zero;
    char head[NPY_HEAD];
    if (!t->width && !v) {
        t->n_waiting++;
        return;
    }
    if (!t->width) {
        t->width = v->n;
        npy_head(head, t->n, t->width);
        fwrite(head, 1, sizeof head, stdout);
        for (int64_t i = 0; i < (int64_t)t->n_waiting * t->width; i++) fwrite(&zero, sizeof zero, 1, stdout);
    }
    for (int i = 0; i < t->width; i++) fwrite(v ? &v->vector[i] : &zero, sizeof zero, 1, stdout);
}

/* An empty line of a file keeps its place in the output. */
static int is_empty(const struct texts *t, int i)
{
    size_t n;
    (void)utf8_strip(t->text[i], &n);
    return t->from[i] && (!n || !t->line[i]);
}

static int print_vectors(const struct engine *e, struct texts *t, int at, int n, const struct opts *o)
{
    for (int i = at, k = 0; i < at + n; i++) {
        steno_embedding v = { .size = sizeof v };
        const int none = is_empty(t, i);
        if (!none && steno_embedding_get(e->session, k++, &v) != STENO_OK) return EXIT_MODEL;
        t->n_cut += v.is_truncated;
        if (o->format == NPY) print_row(t, none ? NULL : &v);
        else print_vector(t->text[i], none ? NULL : &v);
    }
    return message_flush();
}

/* Is it a line of invisible characters, which the tokenizer removes? Then it counts as an empty line. */
static int find_invisible(const struct engine *e, struct texts *t, int i)
{
    if (!t->from[i] || steno_tokenize(e->model, t->text[i], NULL, 0) != 0) return 0;
    t->line[i] = 0;
    t->n_empty++;
    return 1;
}

/* Is there a text, or a line with tokens? Only lines up to the first are tokenized. */
static int has_text(const struct engine *e, const struct texts *t)
{
    for (int i = 0; i < t->n; i++)
        if (!is_empty(t, i) && (!t->from[i] || steno_tokenize(e->model, t->text[i], NULL, 0) != 0)) return 1;
    return 0;
}

/* Embed texts [at, at + n): again without a line that is found to be invisible, until none is. */
static int do_some(const struct engine *e, struct texts *t, int at, int n, const struct opts *o, const steno_embed_params *p)
{
    const char *text[EMBED_TOGETHER];
    int place[EMBED_TOGETHER], code, bad;
    do {
        int k = 0;
        bad = -1;
        for (int i = at; i < at + n; i++) {
            if (is_empty(t, i)) continue;
            text[k] = t->text[i];
            place[k++] = i;
        }
        code = k ? embed_run(e, text, k, p, &bad) : EXIT_OK;
    } while (code != EXIT_OK && bad >= 0 && find_invisible(e, t, place[bad]));
    if (code != EXIT_OK && bad >= 0) return text_fails(t, place[bad], embed_reason(e));
    if (code != EXIT_OK && code < EXIT_SIGNAL) message("%s", steno_last_error(e->session));
    return code == EXIT_OK ? print_vectors(e, t, at, n, o) : code;
}

static int do_texts(const struct engine *e, struct texts *t, const struct opts *o)
{
    steno_embed_params p;
    struct notes notes = { .n = 0 };
    int code = EXIT_OK;
    if (!has_text(e, t)) {
        message("there is no text");
        return EXIT_INPUT;
    }
    for (int i = 0; i < t->n; i++) t->n_empty += is_empty(t, i);
    embed_params(&p, &o->embed);
    for (int at = 0, n; at < t->n && code == EXIT_OK; at += n) {
        n = t->n - at < EMBED_TOGETHER ? t->n - at : EMBED_TOGETHER;
        code = do_some(e, t, at, n, o, &p);
    }
    findings_vectors(&notes, t->n_cut, t->n_empty);
    if (!o->engine.quiet && code == EXIT_OK) sound_notes_print(&notes);
    return code;
}

int cmd_embed(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { .engine.given = &given };
    struct engine e;
    struct texts t = { 0 };
    int n;
    int code = args_parse(&embed_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    code = embed_open(&e, &o.engine, "embed");
    if (code != EXIT_OK) return code;
    for (int i = 0; code == EXIT_OK && i < (n ? n : 1); i++) code = add_operand(&t, n ? argv[i] : NULL);
    if (code == EXIT_OK) code = do_texts(&e, &t, &o);
    texts_free(&t);
    engine_close(&e);
    return code;
}
