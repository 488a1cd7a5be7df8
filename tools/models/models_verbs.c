/* steno: names, exit codes and mistyped commands of the verb models. SPDX-License-Identifier: MIT */
#include "models/models_verbs.h"
#include "cli/signals.h"
#include "cli/words.h"
#include "known.h"
#include "listing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int models_failed(const struct hub_error *e)
{
    static const int code[] = {
        [HUB_OK] = EXIT_OK, [HUB_EARG] = EXIT_USAGE, [HUB_EABSENT] = EXIT_MODEL, [HUB_EDAMAGED] = EXIT_MODEL, [HUB_EWRITE] = EXIT_OUTPUT,
        [HUB_ENET] = EXIT_NETWORK, [HUB_ENOMEM] = EXIT_MEMORY,
    };
    if (e->status == HUB_ESTOPPED && signals_pending()) return EXIT_SIGNAL + signals_pending();
    message("%s", e->text);
    return e->status < HUB_ESTOPPED ? code[e->status] : EXIT_NETWORK;
}

int models_spec(struct hub_spec *spec, const char *name, struct hub_error *e)
{
    struct hub_known known;
    memset(spec, 0, sizeof *spec);
    if (strchr(name, '/')) return hub_spec_read(spec, name, e);
    if (!hub_known_find(&known, name))
        return hub_fail(e, HUB_EABSENT, "%s: no model of that name is known; \"steno models list --all\" lists them, and ORG/NAME names "
                        "any", name);
    snprintf(spec->id, sizeof spec->id, "%s", known.repo);
    if (known.file[0] && hub_is_single(known.file)) snprintf(spec->file, sizeof spec->file, "%s", known.file);
    return HUB_OK;
}

/* ---- mistyped commands ------------------------------------------------------------------------------------------------------- */

/* Words that mean an action here or in other programs; alone: also valid without "models" before it. */
static const struct { const char *word, *action; int alone; } words[] = {
    { "pull", "pull", 1 },     { "list", "list", 1 },    { "where", "where", 1 },   { "verify", "verify", 1 }, { "rm", "rm", 1 },
    { "search", "search", 0 }, { "download", "pull", 1 }, { "fetch", "pull", 1 },    { "get", "pull", 1 },      { "install", "pull", 1 },
    { "add", "pull", 0 },      { "ls", "list", 1 },      { "remove", "rm", 1 },     { "delete", "rm", 1 },     { "uninstall", "rm", 1 },
    { "path", "where", 0 },    { "which", "where", 0 },  { "find", "search", 0 },   { "check", "verify", 0 },
};
enum { N_WORDS = sizeof words / sizeof *words };

static const char *meant_exactly(const char *word, int alone)
{
    for (int i = 0; i < N_WORDS; i++)
        if ((words[i].alone || !alone) && strcmp(word, words[i].word) == 0) return words[i].action;
    return NULL;
}

/* Accepts one extra, missing or wrong letter, or the beginning of the word. Words of two letters are too short. */
static const char *meant_nearly(const char *word, int alone)
{
    const char *best = NULL;
    int best_d = 2;
    for (int i = 0; i < N_WORDS; i++) {
        const int begins = strncmp(word, words[i].word, strlen(word)) == 0, d = begins ? 0 : word_distance(word, words[i].word);
        if (strlen(word) < 3 || strlen(words[i].word) < 4 || (alone && !words[i].alone) || d >= best_d) continue;
        best = words[i].action;
        best_d = d;
    }
    return best;
}

/* Write "steno models ACTION" with its operands, between quotes. */
static int write_command(char text[MODELS_MEANT_SZ], const char *action, int n, char **operand)
{
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    for (int i = 0; i < n; i++) {
        sink_char(&f, ' ');
        shell_word(&f, operand[i]);
    }
    snprintf(text, MODELS_MEANT_SZ, "\"steno models %s%s\"", action, memory.p && !f.failed ? memory.p : "");
    free(memory.p);
    return 1;
}

int models_meant(char text[MODELS_MEANT_SZ], int argc, char **argv)
{
    const char *action = argc ? meant_exactly(argv[0], 0) : NULL;
    if (argc && !action) action = meant_nearly(argv[0], 0);
    return action && write_command(text, action, argc - 1, argv + 1);
}

int models_meant_alone(char text[MODELS_MEANT_SZ], int argc, char **argv, int exact)
{
    const char *action = exact ? meant_exactly(argv[0], 1) : meant_nearly(argv[0], 1);
    return action && write_command(text, action, argc - 1, argv + 1);
}
