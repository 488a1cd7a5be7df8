/* steno: completion of command lines by shells. SPDX-License-Identifier: MIT */
#include "cli/completions.h"
#include "known.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The option after r; --help and --help-all are the last, then NULL. */
static const struct arg *option_after(const struct arg *r)
{
    if (r == &args_help_row) return &args_help_all_row;
    if (r == &args_help_all_row) return NULL;
    do r++;
    while (r->kind == ARG_GROUP);
    return r->kind == ARG_END ? &args_help_row : r;
}

static const struct arg *option_first(const struct args *a)
{
    if (a->rows->kind == ARG_END) return &args_help_row;
    return a->rows->kind == ARG_GROUP ? option_after(a->rows) : a->rows;
}

static int has_words(const struct arg *r)
{
    return r->kind == ARG_WORD || r->kind == ARG_LIST;
}

static void put_words(const struct arg *r)
{
    char word[ARG_WORD_SZ];
    for (int i = 0; arg_word(word, r->value, i); i++) printf("%s%s", i ? " " : "", word);
}

/* Is the value a model: a path, or a known name? */
static int takes_model(const struct arg *r)
{
    return args_takes_path(r) && strcmp(r->value, "PATH|NAME") == 0;
}

static void put_models(void)
{
    struct hub_known k;
    for (size_t i = 0; hub_known_row(&k, i); i++)
        if (hub_known_is_first(&k)) printf("%s%s", i ? " " : "", k.name);
}

static int is_models(const struct args *a)
{
    return strcmp(a->verb, "models") == 0;
}

static void put_verbs(const struct args *const *all, size_t n, const char *between)
{
    for (size_t i = 0; i < n; i++) printf("%s%s", i ? between : "", all[i]->verb);
}

/* The first sentence of a verb's description. @return its length in bytes */
static size_t sentence(const char *about)
{
    const char *end = strchr(about, '.');
    while (end && end[1] && end[1] != ' ' && end[1] != '\n') end = strchr(end + 1, '.');
    return end ? (size_t)(end - about) : strlen(about);
}

/* First words after the verb, from its usage: "list|pull|where ...". @return length in bytes, 0: none */
static size_t operands(const struct args *a)
{
    const size_t n = strspn(a->usage, "abcdefghijklmnopqrstuvwxyz|-");
    return memchr(a->usage, '|', n) && (a->usage[n] == ' ' || !a->usage[n]) ? n : 0;
}

static void put_operands(const struct args *a)
{
    for (size_t i = 0; i < operands(a); i++) putchar(a->usage[i] == '|' ? ' ' : a->usage[i]);
}

/* ---- bash ---------------------------------------------------------------------------------------------------------------------- */

static void bash_options(const struct args *a)
{
    printf("    %s) options=\"", a->verb);
    for (const struct arg *r = option_first(a); r; r = option_after(r)) {
        if (r->letter) printf("-%c ", r->letter);
        printf("--%s ", r->name);
        if (r->kind == ARG_PAIR) printf("--no-%s ", r->name);
    }
    fputs("\" operands=\"", stdout);
    put_operands(a);
    puts("\" ;;");
}

static void bash_values(const struct args *a)
{
    for (const struct arg *r = option_first(a); r; r = option_after(r)) {
        if (!args_takes_value(r)) continue;
        printf("    %s--%s", a->verb, r->name);
        if (r->letter) printf("|%s-%c", a->verb, r->letter);
        fputs(") ", stdout);
        if (has_words(r)) {
            fputs("words=\"", stdout);
            put_words(r);
            printf("\"%s ;;\n", r->kind == ARG_LIST ? "; list=1" : "");
        } else {
            puts(takes_model(r) ? "files=1; names=1 ;;" : args_takes_path(r) ? "files=1 ;;" : "nothing=1 ;;");
        }
    }
}

void completions_bash(const struct args *const *all, size_t n)
{
    puts("# steno: completion for bash, printed by \"steno completions bash\"\n"
         "_steno() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} last= verb=transcribe options= operands= words= list= files= names= nothing= done=\n"
         "    [ \"$COMP_CWORD\" -gt 0 ] && last=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    if [ \"$cur\" = = ]; then\n"
         "        cur=\n"
         "    elif [ \"$last\" = = ] && [ \"$COMP_CWORD\" -gt 1 ]; then\n"
         "        last=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    fi\n"
         "    COMPREPLY=()");
    fputs("    local models=\"", stdout);
    put_models();
    fputs("\"\n    local verbs=\"", stdout);
    put_verbs(all, n, " ");
    puts("\"\n    case ${COMP_WORDS[1]} in");
    fputs("    ", stdout);
    put_verbs(all, n, "|");
    puts(") [ \"$COMP_CWORD\" -gt 1 ] && verb=${COMP_WORDS[1]} ;;\n    esac\n    case $verb$last in");
    for (size_t i = 0; i < n; i++) bash_values(all[i]);
    puts("    esac\n    case $verb in");
    for (size_t i = 0; i < n; i++) bash_options(all[i]);
    puts("    esac\n"
         "    if [ \"${COMP_WORDS[1]}\" = help ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
         "        COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))\n"
         "        return\n"
         "    fi\n"
         "    if [ -n \"$nothing\" ]; then return; fi\n"
         "    if [ -n \"$words\" ]; then\n"
         "        [ -n \"$list\" ] && [ \"$cur\" != \"${cur%,*}\" ] && done=${cur%,*},\n"
         "        COMPREPLY=($(compgen -P \"$done\" -W \"$words\" -- \"${cur#\"$done\"}\"))\n"
         "    elif [ -z \"$files\" ] && [ \"${cur#-}\" != \"$cur\" ]; then\n"
         "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
         "    else\n"
         "        [ -z \"$files\" ] && [ \"$COMP_CWORD\" -eq 2 ] && words=$operands\n"
         "        [ -z \"$files\" ] && [ \"$COMP_CWORD\" -gt 2 ] && [ \"$verb\" = models ] && names=1\n"
         "        [ -n \"$names\" ] && words=$models\n"
         "        [ \"$COMP_CWORD\" -eq 1 ] && words=\"$verbs help\"\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"; compgen -f -- \"$cur\")\n"
         "    fi\n"
         "}\n"
         "complete -o filenames -F _steno steno");
}

/* ---- zsh ----------------------------------------------------------------------------------------------------------------------- */

/* Escape text for single quotes and brackets. */
static void zsh_text(const char *s, size_t n)
{
    for (; *s && n; s++, n--) {
        if (*s == '\'') fputs("'\\''", stdout);
        else if (strchr("[]:\\", *s)) printf("\\%c", *s);
        else putchar(*s == '\n' ? ' ' : *s);
    }
}

static void zsh_value(const struct arg *r)
{
    if (!args_takes_value(r)) return;
    fputs(":value:", stdout);
    if (r->kind == ARG_LIST) fputs("_sequence compadd - ", stdout);
    if (r->kind == ARG_WORD) putchar('(');
    if (has_words(r)) put_words(r);
    else if (takes_model(r)) fputs("_steno_model", stdout);
    else if (args_takes_path(r)) fputs("_files", stdout);
    if (r->kind == ARG_WORD) putchar(')');
}

static void zsh_option(const struct arg *r, const char *no)
{
    printf("        '*--%s%s%s[", no, r->name, args_takes_value(r) ? "=" : "");
    zsh_text(r->help, SIZE_MAX);
    putchar(']');
    zsh_value(r);
    puts("' \\");
    if (!r->letter || *no) return;
    printf("        '*-%c%s[", r->letter, args_takes_value(r) ? "+" : "");
    zsh_text(r->help, SIZE_MAX);
    putchar(']');
    zsh_value(r);
    puts("' \\");
}

void completions_zsh(const struct args *const *all, size_t n)
{
    puts("#compdef steno\n"
         "# steno: completion for zsh, printed by \"steno completions zsh\"\n"
         "_steno_model() {\n"
         "    local -a names");
    fputs("    names=(", stdout);
    put_models();
    puts(")\n"
         "    compadd \"$@\" -a names\n"
         "    _files \"$@\"\n"
         "}\n"
         "_steno() {\n"
         "    local verb=transcribe\n"
         "    local -a verbs\n"
         "    verbs=(");
    for (size_t i = 0; i < n; i++) {
        printf("        '%s:", all[i]->verb);
        zsh_text(all[i]->about, sentence(all[i]->about));
        puts("'");
    }
    puts("    )\n    case $words[2] in");
    fputs("    ", stdout);
    put_verbs(all, n, "|");
    puts(") if ((CURRENT > 2)); then verb=$words[2]; shift words; ((CURRENT--)); fi ;;\n"
         "    esac\n"
         "    if ((CURRENT == 2)) && [[ $words[1] == *steno && $words[2] != -* ]]; then _describe verb verbs; fi\n"
         "    if ((CURRENT == 3)) && [[ $words[2] == help ]]; then _describe verb verbs; return; fi\n"
         "    case $verb in");
    for (size_t i = 0; i < n; i++) {
        printf("    %s) _arguments -s -S : \\\n", all[i]->verb);
        for (const struct arg *r = option_first(all[i]); r; r = option_after(r)) {
            zsh_option(r, "");
            if (r->kind == ARG_PAIR) zsh_option(r, "no-");
        }
        if (operands(all[i])) {
            fputs("        '1:word:(", stdout);
            put_operands(all[i]);
            puts(")' \\");
        }
        puts(is_models(all[i]) ? "        '*:model:_steno_model' ;;" : "        '*:file:_files' ;;");
    }
    puts("    esac\n}\n_steno \"$@\"");
}

/* ---- fish ---------------------------------------------------------------------------------------------------------------------- */

static void fish_text(const char *s, size_t n)
{
    for (; *s && n; s++, n--) {
        if (*s == '\'' || *s == '\\') printf("\\%c", *s);
        else putchar(*s == '\n' ? ' ' : *s);
    }
}

static void fish_option(const char *verb, const struct arg *r, const char *no)
{
    printf("complete -c steno -n '__steno_is %s' -l %s%s", verb, no, r->name);
    if (r->letter && !*no) printf(" -s %c", r->letter);
    if (has_words(r)) {
        printf(" -x -a '%s", r->kind == ARG_LIST ? "(__fish_append , " : "");
        put_words(r);
        printf("%s'", r->kind == ARG_LIST ? ")" : "");
    } else if (takes_model(r)) {
        fputs(" -r -F -a '(__steno_models)'", stdout);
    } else if (args_takes_value(r)) {
        fputs(args_takes_path(r) ? " -r -F" : " -x", stdout);
    }
    fputs(" -d '", stdout);
    fish_text(r->help, SIZE_MAX);
    puts("'");
}

void completions_fish(const struct args *const *all, size_t n)
{
    puts("# steno: completion for fish, printed by \"steno completions fish\"\n"
         "function __steno_is\n"
         "    set -l typed (commandline -opc)");
    fputs("    set -l verbs ", stdout);
    put_verbs(all, n, " ");
    fputs("\n"
          "    set -l verb transcribe\n"
          "    if set -q typed[2]; and contains -- $typed[2] $verbs\n"
          "        set verb $typed[2]\n"
          "    end\n"
          "    test $verb = $argv[1]\n"
          "end\n"
          "function __steno_at\n"
          "    test (count (commandline -opc)) -eq $argv[1]\n"
          "end\n"
          "function __steno_help\n"
          "    set -l typed (commandline -opc)\n"
          "    test (count $typed) -eq 2; and test $typed[2] = help\n"
          "end\n"
          "function __steno_models\n"
          "    string split ' ' -- '", stdout);
    put_models();
    puts("'\nend");
    for (size_t i = 0; i < n; i++) {
        printf("complete -c steno -n '__steno_at 1; or __steno_help' -a %s -d '", all[i]->verb);
        fish_text(all[i]->about, sentence(all[i]->about));
        puts("'");
        if (!operands(all[i])) continue;
        printf("complete -c steno -f -n '__steno_is %s; and __steno_at 2' -a '", all[i]->verb);
        put_operands(all[i]);
        puts("'");
        if (is_models(all[i])) puts("complete -c steno -n '__steno_is models; and not __steno_at 2' -a '(__steno_models)'");
    }
    for (size_t i = 0; i < n; i++)
        for (const struct arg *r = option_first(all[i]); r; r = option_after(r)) {
            fish_option(all[i]->verb, r, "");
            if (r->kind == ARG_PAIR) fish_option(all[i]->verb, r, "no-");
        }
}
