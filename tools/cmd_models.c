/* steno: the verb models: get models, and see which are there. SPDX-License-Identifier: MIT */
#include "cmd_models.h"
#include "cmd.h"
#include "models_meant.h"
#include "option_names.h"
#include <stdio.h>
#include <string.h>

static const struct arg rows[] = {
    { .name = "hub", .kind = ARG_WORD, .at = offsetof(struct models_opts, hub), .value = HUB_NAMES, .dflt = "hf",
      .help = "pull, search: Hugging Face's hub or ModelScope; names of the table know their own" },
    { .name = "limit", .kind = ARG_INT, .at = offsetof(struct models_opts, limit), .value = "N", .dflt = "20", .lo = 1, .hi = 1000,
      .help = "search: so many names" },
    { .name = "to", .kind = ARG_TEXT, .at = offsetof(struct models_opts, to), .value = "DIR",
      .help = "pull: plain files into this folder, not into the hub's cache" },
    { .name = "offline", .kind = ARG_FLAG, .at = offsetof(struct models_opts, offline),
      .help = "pull: only look whether it is in the cache; HF_HUB_OFFLINE=1 says the same" },
    { .name = "force", .kind = ARG_FLAG, .at = offsetof(struct models_opts, force),
      .help = "pull: fetch again what is there; with --to, replace other files" },
    { .name = "retries", .kind = ARG_INT, .at = offsetof(struct models_opts, retries), .value = "N", .dflt = "5", .lo = 0, .hi = 100,
      .help = "pull, search: how often a connection that fails is tried again" },
    { .name = "all", .kind = ARG_FLAG, .at = offsetof(struct models_opts, all),
      .help = "list: also the models that are known and not here; verify: all that are found" },
    { .name = "dry-run", .kind = ARG_FLAG, .at = offsetof(struct models_opts, dry_run), .help = "rm: only say what would go" },
    { .name = "yes", .kind = ARG_FLAG, .at = offsetof(struct models_opts, yes), .help = "rm: do not ask" },
    { .name = "json", .kind = ARG_FLAG, .at = offsetof(struct models_opts, json),
      .help = "list, search: objects, one a line; pull: its progress, too, on standard error" },
    { .name = "quiet", .letter = 'q', .kind = ARG_FLAG, .at = offsetof(struct models_opts, quiet), .help = "no progress, no notes" },
    { 0 },
};

const struct args models_args = {
    "models", "list|search|pull|rm|where|verify [OPTION]... [NAME]...",
    "Get models from hubs, and see which are on this machine.\n"
    "  list            the models in the caches: size, place, whether they open\n"
    "  search [TEXT]   names on the hub, by how often they are fetched\n"
    "  pull NAME...    fetch models into the hub's cache, and print their paths\n"
    "  rm NAME...      remove them from the cache\n"
    "  where NAME      print the path that -m takes for a name\n"
    "  verify NAME...  compare files with their hashes: a name's, a path's\n"
    "NAME is one of \"models list --all\" (base, large-v3-turbo, ...), ORG/REPO,\n"
    "ORG/REPO@REVISION or ORG/REPO:FILE.", rows,
};

static const struct action {
    const char *name;
    int (*run)(const struct models_call *c);
    int least, most; /* operands */
    const char *options; /* that mean something to it, with blanks around */
} actions[] = {
    { "list", models_list, 0, 0, " all json quiet " },
    { "search", models_search, 0, 1, " hub limit retries json quiet " },
    { "pull", models_pull, 1, 1000, " hub to offline force retries json quiet " },
    { "rm", models_rm, 1, 1000, " dry-run yes " },
    { "where", models_where, 1, 1, " quiet " },
    { "verify", models_verify, 0, 1000, " all quiet " },
};

/* What would do nothing is refused. */
static int check_options(const struct action *a, const struct args_given *given)
{
    for (const struct arg *r = rows; r->kind; r++) {
        char name[64], as_typed[OPTION_TEXT_SZ];
        snprintf(name, sizeof name, " %s ", r->name);
        if (!strstr(a->options, name) && option_was_given(given, r->name))
            return message_usage("%s is not an option of models %s", option_name(as_typed, given, r->name), a->name);
    }
    return EXIT_OK;
}

static int act(const struct action *a, struct models_opts *o, int n, char **name)
{
    struct hub_env env;
    struct hub_error e = { 0 };
    struct models_call c = { o, &env, n, name };
    int code;
    if (hub_env_read(&env, &e)) {
        code = models_failed(&e);
    } else {
        if (env.offline) o->offline = 1;
        code = a->run(&c);
    }
    hub_env_free(&env);
    return code;
}

int cmd_models(int argc, char **argv)
{
    struct models_opts o = { 0 };
    struct args_given given;
    char meant[MODELS_MEANT_SZ];
    int n;
    const int is_near = models_meant(meant, argc, argv); /* before the options are taken out of argv */
    const int code = args_parse(&models_args, &o, &given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (!n) return message_usage("models needs an action: list, search, pull, rm, where or verify");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        const struct action *a = &actions[i];
        if (strcmp(argv[0], a->name) != 0) continue;
        if (n - 1 < a->least) return message_usage("models %s needs the name of a model", a->name);
        if (n - 1 > a->most) return message_usage("models %s takes %s", a->name, a->most ? "one name" : "no names");
        o.hub_given = option_was_given(&given, "hub");
        const int refused = check_options(a, &given);
        return refused ? refused : act(a, &o, n - 1, argv + 1);
    }
    if (is_near) return message_usage("models: \"%s\" is no action; did you mean %s?", argv[0], meant);
    return message_usage("models: \"%s\" is no action; there are list, search, pull, rm, where and verify", argv[0]);
}
