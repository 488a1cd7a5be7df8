/* steno: the verb lint-subs: check subtitles. SPDX-License-Identifier: MIT */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cmd.h"
#include "input/sub_file.h"
#include "options/subtitle_opts.h"
#include "sub_check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    struct cue_opts cues;
    const char *language;
    int64_t max_line_width, max_line_count;
    int json;
};

enum { FILE_MAX = 1 << 26 }; /* bytes */

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ARG_HEADING("Rules"),
    CUE_ROWS(struct opts, cues),
    { .name = "max-line-width", .kind = ARG_INT, .at = AT(max_line_width), .value = "N", .hi = 1e6,
      .help = "maximum number of characters per line" },
    { .name = "max-line-count", .kind = ARG_INT, .at = AT(max_line_count), .value = "N", .hi = 1e6,
      .help = "maximum number of lines per cue" },
    { .name = "language", .letter = 'l', .kind = ARG_TEXT, .at = AT(language), .value = "auto|CODE", .dflt = "auto",
      .help = "language whose limits the style applies; auto: Japanese, Korean and Chinese are recognised by their script" },
    ARG_HEADING("Output"),
    { .name = "json", .kind = ARG_FLAG, .at = AT(json), .help = "print an object per file instead of lines" },
    { 0 },
};

const struct args lint_subs_args = { "lint-subs", "[OPTION]... FILE...",
                                     "Check subtitles (srt, vtt, ass, sbv, lrc) and print faults as FILE:LINE: cue N:\n"
                                     "RULE: MEASURED, ALLOWED; - is standard input. Without a style or a limit among\n"
                                     "the options only general faults count. Exit code 1: there are faults.", rows };

/* The file being checked. */
struct lint {
    const char *name;
    int json, n;
};

/* 833, 17.35, 12: without trailing zeros. */
static void put_number(double v)
{
    char text[64];
    snprintf(text, sizeof text, "%.2f", v);
    size_t n = strlen(text);
    while (text[n - 1] == '0') text[--n] = '\0';
    if (text[n - 1] == '.') text[--n] = '\0';
    fputs(text, stdout);
}

static void put_line(void *user, const struct sub_fault *f)
{
    struct lint *l = user;
    l->n++;
    print_name(stdout, l->name, 0);
    printf(":%lld: ", (long long)f->line);
    if (f->cue) printf("cue %zu: ", f->cue);
    fputs(sub_rule_name(f->rule), stdout);
    if (f->measured != 0 || f->allowed != 0) {
        fputs(": ", stdout);
        put_number(f->measured);
        fputs(f->unit[0] ? " " : "", stdout);
        fputs(f->unit, stdout);
        fputs(", allowed ", stdout);
        put_number(f->allowed);
    }
    putchar('\n');
}

static void put_object(void *user, const struct sub_fault *f)
{
    struct lint *l = user;
    printf("%s{\"line\": %lld, \"cue\": ", l->n++ ? ", " : "", (long long)f->line);
    if (f->cue) printf("%zu", f->cue);
    else fputs("null", stdout);
    fputs(", \"rule\": ", stdout);
    print_json(stdout, sub_rule_name(f->rule));
    fputs(", \"measured\": ", stdout);
    print_json_number(stdout, f->measured);
    fputs(", \"allowed\": ", stdout);
    print_json_number(stdout, f->allowed);
    fputs(", \"unit\": ", stdout);
    print_json(stdout, f->unit);
    putchar('}');
}

static int check_bytes(struct lint *l, const struct opts *o, const struct cue_choice *choice, const char *bytes, size_t n)
{
    struct sub_file f;
    struct cue_rules rules;
    int rc = sub_read(&f, sub_form_of(l->name, bytes, n), bytes, n);
    if (rc == 0) {
        const char *language = strcmp(o->language, "auto") == 0 ? cue_language_of(f.text, f.text_n) : o->language;
        cue_rules_of(&rules, choice, language);
        if (l->json) {
            fputs("{\"file\": ", stdout);
            print_json(stdout, l->name);
            printf(", \"cues\": %zu, \"faults\": [", f.n);
        }
        rc = sub_check(&f, choice->on ? &rules : NULL, l->json ? put_object : put_line, l);
        if (l->json) puts("]}");
    }
    sub_free(&f);
    if (rc == 0) return EXIT_OK;
    message("out of memory for %s", l->name);
    return EXIT_MEMORY;
}

/* *n_bad: number of files with faults. @return EXIT_OK, EXIT_INPUT or EXIT_MEMORY, after a message */
static int check_file(const char *name, const struct opts *o, const struct cue_choice *choice, int *n_bad)
{
    struct lint l = { .name = strcmp(name, "-") == 0 ? "standard input" : name, .json = o->json };
    char *bytes, why[TEXT_FILE_WHY];
    size_t n;
    const enum text_file how = sub_file_bytes(&bytes, &n, name, FILE_MAX, why, sizeof why);
    if (how != TEXT_FILE_READ) {
        message_file(l.name, why);
        return how == TEXT_FILE_NO_MEMORY ? EXIT_MEMORY : EXIT_INPUT;
    }
    const int code = check_bytes(&l, o, choice, bytes, n);
    *n_bad += l.n > 0;
    free(bytes);
    return code;
}

int cmd_lint_subs(int argc, char **argv)
{
    struct args_given given;
    struct opts o = { 0 };
    struct cue_choice choice;
    int n, n_bad = 0, n_read = 0;
    int code = args_parse(&lint_subs_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n == 0) return message_usage("no input; give a file of subtitles, or - for standard input");
    const int width = option_was_given(&given, "max-line-width"), count = option_was_given(&given, "max-line-count");
    code = cue_opts_choice(&choice, &o.cues, &given, width ? o.max_line_width : CUE_UNSET, count ? o.max_line_count : CUE_UNSET);
    if (code != EXIT_OK) return code;
    choice.on |= width || count;
    for (int i = 0; i < n && code != EXIT_MEMORY; i++) {
        const int one = check_file(argv[i], &o, &choice, &n_bad);
        n_read += one == EXIT_OK;
        if (one != EXIT_OK) code = one;
    }
    const int flushed = message_flush();
    if (flushed != EXIT_OK) return flushed;
    if (code == EXIT_INPUT && n_read) return EXIT_SOME;
    return code == EXIT_OK && n_bad ? EXIT_SOME : code;
}
