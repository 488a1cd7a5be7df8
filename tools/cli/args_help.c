/* steno: rows of options: words, defaults, and how help and manual pages show them. SPDX-License-Identifier: MIT */
#include "cli/args.h"
#include "cli/help_pages.h"
#include <math.h>
#include <steno/steno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LEN = ARG_WORD_SZ };

int arg_word(char *out, const char *words, int i)
{
    const char *p = words;
    while (i-- > 0) {
        p = strchr(p, '|');
        if (!p) return 0;
        p++;
    }
    const size_t n = strcspn(p, "|");
    snprintf(out, NAME_MAX_LEN, "%.*s", (int)n, p);
    return 1;
}

int args_takes_value(const struct arg *r)
{
    return r->kind != ARG_FLAG && r->kind != ARG_PAIR;
}

/* ---- the library's table ----------------------------------------------------------------------------------------------------- */

void arg_param(char *out, size_t n, const char *name, double *unit)
{
    static const struct { const char *option, *param; double unit; } others[] = {
        { "sample-length", "sample_len", 1 }, { "word-threshold", "token_threshold", 1 }, { "chunk-length", "chunk_ms", 1000 },
        { "max-len", "token_timestamps", 1 }, { "suppress-non-speech", "suppress_tokens", 1 }, { "vad", "clip_timestamps", 1 },
        { "vad-threshold", "threshold", 1 }, { "vad-min-silence-ms", "max_end_silence_ms", 1 },
        { "vad-max-speech-s", "max_segment_ms", 1000 }, { "vad-merge-s", "merge_ms", 1000 }, { "vad-schedule", "schedule", 1 },
        { "vad-chunk-ms", "chunk_size_ms", 1 }, { "vad-neg-threshold", "neg_threshold", 1 },
        { "vad-speech-pad-ms", "speech_pad_ms", 1 }, { "vad-rules", "rules", 1 }, { "vad-min-speech-ms", "min_speech_ms", 1 },
        { "cpu", "cpu_level", 1 }, { "cmvn", "no_cmvn", 1 }, { "ctx-size", "text_ctx", 1 },
        { "batch-size", "max_windows", 1 }, { "dump", "on_rows", 1 }, { "keep-tags", "tags", 1 }, { "rich-text", "tags", 1 },
        { "greedy", "best_of", 1 },
    };
    *unit = 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].option, name) != 0) continue;
        *unit = others[i].unit;
        snprintf(out, n, "%s", others[i].param);
        return;
    }
    snprintf(out, n, "%s", name);
    for (char *p = out; *p; p++)
        if (*p == '-') *p = '_';
}

/* @return 1, or 0 if no call has such a field */
static int param_of(steno_param *p, const char *name)
{
    static const enum steno_call calls[] = { STENO_CALL_TRANSCRIBE, STENO_CALL_FIND_SPEECH, STENO_CALL_OPEN, STENO_CALL_GENERATE,
                                             STENO_CALL_EMBED };
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (int i = 0; p->size = sizeof *p, steno_param_get(NULL, calls[c], i, p) == STENO_OK; i++)
            if (strcmp(p->name, name) == 0) return 1;
    return 0;
}

static void dflt_write(char *out, const struct arg *r, const steno_param *p, double unit)
{
    char word[NAME_MAX_LEN];
    const int is_none = p->has_none && (p->value == p->none || (isnan(p->value) && isnan(p->none)));
    const int inverse = strncmp(p->name, "no_", 3) == 0;
    if (r->kind == ARG_PAIR || r->kind == ARG_FLAG) strcpy(out, (p->value > 0) != inverse ? "on" : "off");
    else if (r->kind == ARG_WORD) snprintf(out, ARG_DFLT_SZ, "%s", arg_word(word, r->value, (int)p->value) ? word : "");
    else if (is_none && r->none) strcpy(out, "none");
    else snprintf(out, ARG_DFLT_SZ, "%.10g", p->value / unit);
}

struct arg arg_full(const struct arg *r, char dflt[ARG_DFLT_SZ])
{
    struct arg full = *r;
    steno_param p;
    char param[NAME_MAX_LEN];
    double unit;
    if (!r->dflt || strcmp(r->dflt, ARG_OF_PARAM) != 0) return full;
    arg_param(param, sizeof param, r->name, &unit);
    full.dflt = NULL;
    if (!param_of(&p, param)) return full;
    full.lo = p.min / unit;
    full.hi = p.max / unit;
    if (r->kind != ARG_TEXT) dflt_write(dflt, r, &p, unit);
    full.dflt = r->kind == ARG_TEXT ? p.text : dflt;
    return full;
}

/* ---- help and manual pages --------------------------------------------------------------------------------------------------- */

const struct arg args_help_row = { .name = "help", .letter = 'h', .kind = ARG_FLAG, .help = "print this help" };
const struct arg args_help_all_row = { .name = "help-all", .kind = ARG_FLAG, .help = "print it with all options" };
const struct arg args_help_man_row = { .name = "help-man", .kind = ARG_FLAG, .help = "" }; /* used by the build */

enum { HELP_LEFT = 28, HELP_WIDTH = 80 };

/* Print `text`, wrapped at words, from column HELP_LEFT + 4 on. `column` is the cursor's present column. */
static void help_wrap(const char *text, size_t column)
{
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, " ");
        if (column + 1 + n > HELP_WIDTH) {
            printf("\n%*s", HELP_LEFT + 3, "");
            column = HELP_LEFT + 3;
        }
        printf(" %.*s", (int)n, p);
        column += 1 + n;
        p += n + strspn(p + n, " ");
    }
    putchar('\n');
}

/* Print an option's name and value; a list of words that is too long continues on the next line. @return 1 if the help text fits beside
 * it */
static int help_left(const char *left)
{
    const size_t room = HELP_WIDTH - 2;
    const char *p = left;
    while (strlen(p) > room) {
        size_t n = room;
        while (n > 0 && p[n - 1] != '|') n--;
        if (n == 0) break;
        printf("  %.*s\n      ", (int)n, p);
        p += n;
    }
    const int fits = p == left && strlen(left) <= HELP_LEFT;
    printf("  %-*s", fits ? HELP_LEFT : 0, p);
    return fits;
}

static void help_line(const struct arg *row)
{
    char left[160], text[512], dflt[ARG_DFLT_SZ];
    const struct arg full = arg_full(row, dflt), *r = &full;
    const char *no = r->kind == ARG_PAIR ? "[no-]" : "";
    const char *gap = args_takes_value(r) ? " " : "", *value = args_takes_value(r) ? r->value : "";
    if (r->letter) snprintf(left, sizeof left, "-%c, --%s%s%s%s", r->letter, no, r->name, gap, value);
    else snprintf(left, sizeof left, "    --%s%s%s%s", no, r->name, gap, value);
    if (r->dflt) snprintf(text, sizeof text, "%s (default: %s)", r->help, r->dflt);
    else snprintf(text, sizeof text, "%s", r->help);
    const int fits = help_left(left);
    if (fits) putchar(' ');
    help_wrap(text, fits ? HELP_LEFT + 3 : HELP_WIDTH);
}

static int is_shown(const struct help_page *page, const struct arg *r)
{
    char name[64];
    if (!page || !page->common) return 1;
    snprintf(name, sizeof name, " %s ", r->name);
    return strstr(page->common, name) != NULL;
}

static void help_examples(const struct help_page *page)
{
    printf("\nExamples:\n");
    for (int i = 0; i < HELP_EXAMPLES; i++) printf("  %s\n      %s\n", page->example[i].command, page->example[i].what);
}

/* @return the number of options left out */
static int help_rows(const struct args *a, const struct help_page *page)
{
    const struct arg *heading = NULL;
    int hidden = 0;
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++) {
        if (r->kind == ARG_GROUP) {
            heading = r;
            continue;
        }
        if (!is_shown(page, r)) {
            hidden++;
            continue;
        }
        if (heading) printf("\n%s:\n", heading->help);
        heading = NULL;
        help_line(r);
    }
    return hidden;
}

void args_help(const struct args *a, int all)
{
    const struct help_page *page = help_page_of(a->verb);
    printf("Usage: steno %s %s\n%s\n", a->verb, a->usage, a->about);
    if (page) help_examples(page);
    const int hidden = help_rows(a, all ? NULL : page);
    printf("\nHelp:\n");
    help_line(&args_help_row);
    if (!page || !page->common) return;
    char more[80];
    snprintf(more, sizeof more, "print it with %d more options", hidden);
    help_line(hidden ? &(struct arg) { .name = args_help_all_row.name, .kind = ARG_FLAG, .help = more } : &args_help_all_row);
}

/* ---- a manual page ------------------------------------------------------------------------------------------------------------- */

/* Text of roff: escaped, so that no part of it is read as a request or an escape. */
static void man_text(const char *s)
{
    if (*s == '.' || *s == '\'') fputs("\\&", stdout);
    for (; *s; s++) {
        if (*s == '\\') fputs("\\e", stdout);
        else if (*s == '-') fputs("\\-", stdout);
        else if (*s == '|') fputs("|\\:", stdout); /* a line may break there */
        else if (*s == '\n') fputs(s[1] == ' ' ? "\n.br\n" : "\n", stdout);
        else putchar(*s);
    }
}

static void man_row(const struct arg *row)
{
    char dflt[ARG_DFLT_SZ];
    const struct arg full = arg_full(row, dflt), *r = &full;
    fputs(".TP\n\\fB", stdout);
    if (r->letter) printf("\\-%c\\fR, \\fB", r->letter);
    fputs(r->kind == ARG_PAIR ? "\\-\\-[no\\-]" : "\\-\\-", stdout);
    man_text(r->name);
    fputs("\\fR", stdout);
    if (args_takes_value(r)) {
        fputs(" \\fI", stdout);
        man_text(r->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    man_text(r->help);
    if (r->dflt) {
        fputs(" (default: ", stdout);
        man_text(r->dflt);
        putchar(')');
    }
    putchar('\n');
}

void args_man(const struct args *a)
{
    const struct help_page *page = help_page_of(a->verb);
    const char *about = a->about;
    printf(".\\\" Written by \"steno %s --help-man\".\n", a->verb);
    printf(".TH STENO-%s 1 \"\" \"steno %s\" \"User Commands\"\n.SH NAME\nsteno\\-%s \\- ", a->verb, steno_version(), a->verb);
    printf("%.*s\n.SH SYNOPSIS\n\\fBsteno %s\\fR ", (int)strcspn(about, ".\n"), about, a->verb);
    man_text(a->usage);
    fputs("\n.SH DESCRIPTION\n", stdout);
    man_text(about);
    putchar('\n');
    if (page) fputs(".SH EXAMPLES\n", stdout);
    for (int i = 0; page && i < HELP_EXAMPLES; i++) {
        fputs(".TP\n\\fB", stdout);
        man_text(page->example[i].command);
        fputs("\\fR\n", stdout);
        man_text(page->example[i].what);
        putchar('\n');
    }
    fputs(".SH OPTIONS\n", stdout);
    for (const struct arg *r = a->rows; r->kind != ARG_END; r++) {
        if (r->kind != ARG_GROUP) man_row(r);
        else printf(".SS %s\n", r->help);
    }
    fputs(".SS Help\n", stdout);
    man_row(&args_help_row);
    man_row(&args_help_all_row);
    fputs(".SH SEE ALSO\n.BR steno (1),\nwhich has the exit codes, files and variables of the environment.\n", stdout);
}
