/* steno: option names in messages. SPDX-License-Identifier: MIT */
#include "cli/option_names.h"
#include "cli/message.h"
#include <stdio.h>
#include <string.h>

/* The row of an option, -1 if the verb does not have it. */
static int row_of(const struct args_given *g, const char *name)
{
    for (int i = 0; g && g->args->rows[i].kind != ARG_END; i++)
        if (g->args->rows[i].kind != ARG_GROUP && strcmp(g->args->rows[i].name, name) == 0) return i;
    return -1;
}

static int is_given(const struct args_given *g, int i)
{
    return i >= 0 && i < ARGS_MAX && g->row[i].how;
}

/* The row that sets a field: a typed one, else the one with the field's name, else any; -1 if there is none. */
static int row_of_field(const struct args_given *g, const char *field, size_t n)
{
    char param[64];
    int first = -1;
    for (int i = 0; g && g->args->rows[i].kind != ARG_END; i++) {
        double unit;
        if (g->args->rows[i].kind == ARG_GROUP) continue;
        arg_param(param, sizeof param, g->args->rows[i].name, &unit);
        if (strncmp(param, field, n) != 0 || param[n]) continue;
        if (is_given(g, i)) return i;
        if (first < 0 || strlen(g->args->rows[i].name) == n) first = i; /* preferably the row with the field's name */
    }
    return first;
}

static void spell(char out[OPTION_TEXT_SZ], const struct args_given *g, int i)
{
    const char *name = g->args->rows[i].name;
    const char how = is_given(g, i) ? g->row[i].how : '-';
    if (how == '-' || how == '!') snprintf(out, OPTION_TEXT_SZ, "--%s%s", how == '!' ? "no-" : "", name);
    else snprintf(out, OPTION_TEXT_SZ, "-%c", how);
}

int option_was_given(const struct args_given *g, const char *name)
{
    return is_given(g, row_of(g, name));
}

void option_forget(struct args_given *g, const char *name)
{
    const int i = row_of(g, name);
    if (is_given(g, i)) g->row[i].how = 0;
}

const char *option_name(char out[OPTION_TEXT_SZ], const struct args_given *g, const char *name)
{
    const int i = row_of(g, name);
    if (i >= 0) spell(out, g, i);
    else snprintf(out, OPTION_TEXT_SZ, "--%s", name);
    return out;
}

/* Was the option set by another program's command line, and not typed? */
static int is_own(const struct args_given *g, int i)
{
    char word[2][80];
    if (!g || !g->own || !is_given(g, i)) return 0;
    for (int no = 0; no < 2; no++) {
        const size_t n = (size_t)snprintf(word[no], sizeof word[no], " --%s%s", no ? "no-" : "", g->args->rows[i].name);
        for (const char *at = g->own; (at = strstr(at, word[no])) != NULL; at += n)
            if (!at[n] || strchr(" =", at[n])) return 1;
    }
    return 0;
}

/* Names the other program in a reason about an option that its user did not type and so cannot leave out. row: the option, or -1 */
static void blame(char *text, size_t room, const struct args_given *g, int row)
{
    static const char advice[] = ": leave it out";
    size_t n = strlen(text);
    const size_t end = sizeof advice - 1;
    if (row < 0 || !is_own(g, row)) return;
    if (n > end && !strcmp(text + n - end, advice)) n -= end;
    snprintf(text + n, room - n, ", and \"%s\" sets it: give another model, or use steno's own options", g->program);
}

/* ---- the library's reasons --------------------------------------------------------------------------------------------------- */

static int is_part_of_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A word with _ is a field name in any place. A word without _ is a field name only at the start. */
const char *option_reason(char out[OPTION_TEXT_SZ], const struct args_given *g, const char *reason)
{
    char name[OPTION_TEXT_SZ];
    size_t at = 0;
    int subject = -1;
    out[0] = '\0';
    for (const char *p = reason; *p && at + 1 < OPTION_TEXT_SZ;) {
        size_t n = 0;
        while (is_part_of_name(p[n])) n++;
        const int may_be = n > 0 && (p == reason || memchr(p, '_', n));
        const int row = may_be ? row_of_field(g, p, n) : -1;
        if (row >= 0 && subject < 0) subject = row;
        if (row >= 0) spell(name, g, row);
        else snprintf(name, sizeof name, "%.*s", (int)(n ? n : 1), p);
        at += (size_t)snprintf(out + at, OPTION_TEXT_SZ - at, "%s", name);
        p += n ? n : 1;
    }
    blame(out, OPTION_TEXT_SZ, g, subject);
    return out;
}

/* ---- the library's check ----------------------------------------------------------------------------------------------------- */

struct names {
    const struct args_given *given;
    char text[2][OPTION_TEXT_SZ]; /* of the last two names, because the caller may still use one */
    int turn;
    int subject; /* the first row that was named; -1: none */
};

/* A typed output format that needs the field, or NULL. */
static const char *format_that_asks(const struct args_given *g, const char *field)
{
    static const struct { const char *field, *format; } all[] = {
        { "word_timestamps", "ass" }, { "word_timestamps", "wts" }, { "token_timestamps", "json_full" },
    };
    const int row = row_of(g, "output-format");
    for (size_t i = 0; is_given(g, row) && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].field, field) == 0 && strstr(g->row[row].text, all[i].format)) return all[i].format;
    return NULL;
}

static const char *name(void *user, const char *field, int with_value)
{
    struct names *n = user;
    const int i = row_of_field(n->given, field, strlen(field));
    if (i < 0) return strcmp(field, "task") == 0 ? n->given->args->verb : NULL;
    if (n->subject < 0) n->subject = i;
    char *out = n->text[n->turn ^= 1];
    spell(out, n->given, i);
    const char *format = is_given(n->given, i) ? NULL : format_that_asks(n->given, field);
    if (format) snprintf(out + strlen(out), OPTION_TEXT_SZ - strlen(out), ", which the format %s needs,", format);
    const char *text = is_given(n->given, i) ? n->given->row[i].text : NULL;
    const size_t at = strlen(out);
    if (with_value && text) snprintf(out + at, OPTION_TEXT_SZ - at, " is %.80s", text);
    return out;
}

static int asked(void *user, const char *field)
{
    const struct names *n = user;
    return is_given(n->given, row_of_field(n->given, field, strlen(field)));
}

int option_check(const struct args_given *g, const steno_model *m, enum steno_call call, const void *params)
{
    struct names own = { .given = g, .subject = -1 };
    const steno_param_names names = { .size = sizeof names, .user = &own, .name = name, .asked = asked };
    steno_error e = { 0 };
    const int rc = steno_params_check(m, call, params, &names, &e);
    blame(e.text, sizeof e.text, g, own.subject);
    return rc == STENO_OK ? EXIT_OK : message_usage("%s", e.text);
}

int option_served(const steno_model *m, const char *field) { return steno_serves(m, STENO_CALL_TRANSCRIBE, field); }

int option_reads_chunks(const steno_model *m) { return option_served(m, "chunk_size") || option_served(m, "lookahead"); }
