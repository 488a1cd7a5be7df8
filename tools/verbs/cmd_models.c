/* steno: the verb models: download and list models. SPDX-License-Identifier: MIT */
#include "address.h"
#include "cli/option_names.h"
#include "cmd.h"
#include "model_name.h"
#include "models/models_verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct arg rows[] = {
    { .name = "hub", .kind = ARG_WORD, .at = offsetof(struct models_opts, hub), .value = HUB_NAMES, .dflt = "hf",
      .help = "pull, search: Hugging Face's hub or ModelScope; names of the table have their own hub" },
    { .name = "limit", .kind = ARG_INT, .at = offsetof(struct models_opts, limit), .value = "N", .dflt = "20", .lo = 1, .hi = 1000,
      .help = "search: maximum number of results" },
    { .name = "to", .kind = ARG_TEXT, .at = offsetof(struct models_opts, to), .value = "DIR",
      .help = "pull: write plain files into this folder instead of the hub's cache" },
    { .name = "offline", .kind = ARG_FLAG, .at = offsetof(struct models_opts, offline),
      .help = "pull: make no network requests; the same as HF_HUB_OFFLINE=1" },
    { .name = "force", .kind = ARG_FLAG, .at = offsetof(struct models_opts, force),
      .help = "pull: download existing files again; with --to, replace other files" },
    { .name = "retries", .kind = ARG_INT, .at = offsetof(struct models_opts, retries), .value = "N", .dflt = "5", .lo = 0, .hi = 100,
      .help = "pull, search: number of retries after a failed connection" },
    { .name = "all", .kind = ARG_FLAG, .at = offsetof(struct models_opts, all),
      .help = "list: also known models that are not on this machine; verify: all local models" },
    { .name = "dry-run", .kind = ARG_FLAG, .at = offsetof(struct models_opts, dry_run),
      .help = "rm: only print what would be removed" },
    { .name = "yes", .kind = ARG_FLAG, .at = offsetof(struct models_opts, yes), .help = "rm: do not ask for confirmation" },
    { .name = "json", .kind = ARG_FLAG, .at = offsetof(struct models_opts, json),
      .help = "list, search: one object per line; pull: also progress as objects, on standard error" },
    { .name = "quiet", .letter = 'q', .kind = ARG_FLAG, .at = offsetof(struct models_opts, quiet),
      .help = "print no progress and no notes" },
    { 0 },
};

const struct args models_args = {
    "models", "list|search|pull|rm|where|verify [OPTION]... [NAME]...",
    "Download, list and remove models.\n"
    "  list            list the models in the caches: size, place, whether they open\n"
    "  search [TEXT]   search the hub, sorted by number of downloads\n"
    "  pull NAME...    download models into the hub's cache, and print their paths\n"
    "  rm NAME...      remove models from the cache\n"
    "  where NAME      print the path of a local model\n"
    "  verify NAME...  compare the files of a name or a path with their hashes\n"
    "NAME is one of \"models list --all\" (base, large-v3-turbo, ...), ORG/REPO,\n"
    "ORG/REPO@REVISION, ORG/REPO:FILE, or the URL of its page on a hub.", rows,
};

static const struct action {
    const char *name;
    int (*run)(const struct models_call *c);
    int least, most; /* number of operands */
    const char *options; /* options that apply to it, with blanks around */
    int takes_names;     /* operands are names of models, or URLs of their pages */
} actions[] = {
    { "list", models_list, 0, 0, " all json quiet ", 0 },
    { "search", models_search, 0, 1, " hub limit retries json quiet ", 0 },
    { "pull", models_pull, 1, 1000, " hub to offline force retries json quiet ", 1 },
    { "rm", models_rm, 1, 1000, " dry-run yes ", 1 },
    { "where", models_where, 1, 1, " quiet ", 1 },
    { "verify", models_verify, 0, 1000, " all quiet ", 1 },
};

/* Refuse options that have no effect. */
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

/* The model's name on a hub's page. @return malloc'd text, or NULL with the reason in *e */
static char *name_of_page(int *hub, const struct hub_env *env, const char *url, struct hub_error *e)
{
    struct hub_spec spec;
    char shown[512];
    const char *fault = hub_page_read(&spec, hub, env, url);
    address_shown(shown, sizeof shown, url);
    char *name = fault ? NULL : hub_format("%s%s%s%s%s", spec.id, spec.rev[0] ? "@" : "", spec.rev, spec.file[0] ? ":" : "", spec.file);
    if (fault) hub_fail(e, HUB_EARG, "%s: not a model name: %s", shown, fault);
    else if (!name) hub_no_memory(e, "a name");
    return name;
}

/* All names, with URLs of pages replaced by names. made[n] holds malloc'd names that the caller frees. */
static int read_pages(struct models_call *c, char **made, struct hub_error *e)
{
    for (int i = 0; i < c->n; i++) {
        c->hub_of[i] = -1;
        if (!address_is(c->name[i])) continue;
        made[i] = name_of_page(&c->hub_of[i], c->env, c->name[i], e);
        if (!made[i]) return e->status;
        if (c->o->hub_given && c->hub_of[i] != c->o->hub)
            return hub_fail(e, HUB_EARG, "%s: its page is on another hub than that of --hub", made[i]);
        c->name[i] = made[i];
    }
    return HUB_OK;
}

static int act(const struct action *a, struct models_opts *o, int n, char **name)
{
    struct hub_env env;
    struct hub_error e = { 0 };
    char **made = calloc((size_t)n + 1, sizeof *made);
    struct models_call c = { o, &env, n, name, calloc((size_t)n + 1, sizeof *c.hub_of) };
    int rc = hub_env_read(&env, &e);
    if (rc == HUB_OK && (!made || !c.hub_of)) rc = hub_no_memory(&e, "the names");
    if (rc == HUB_OK && a->takes_names) rc = read_pages(&c, made, &e);
    if (rc == HUB_OK && env.offline) o->offline = 1;
    const int code = rc == HUB_OK ? a->run(&c) : models_failed(&e);
    hub_env_free(&env);
    for (int i = 0; made && i < n; i++) free(made[i]);
    free(made);
    free(c.hub_of);
    return code;
}

int cmd_models(int argc, char **argv)
{
    struct models_opts o = { 0 };
    struct args_given given;
    char meant[MODELS_MEANT_SZ];
    int n;
    const int is_near = models_meant(meant, argc, argv); /* must come before options are removed from argv */
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
    if (is_near) return message_usage("models: unknown action \"%s\"; did you mean %s?", argv[0], meant);
    return message_usage("models: unknown action \"%s\"; actions are list, search, pull, rm, where and verify", argv[0]);
}
