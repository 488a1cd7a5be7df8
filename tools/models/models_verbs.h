/* steno: parts of the verb models. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_CMD_MODELS_H
#define STENO_TOOLS_CMD_MODELS_H
#include "cli/args.h"
#include "cli/message.h"
#include "hub_env.h"
#include "model_name.h"
#include <stdint.h>

struct models_opts {
    const char *to;
    int64_t limit, retries;
    int hub, hub_given, all, json, offline, force, dry_run, yes, quiet;
    int no_path; /* pull: do not print the path */
};

struct models_call {
    const struct models_opts *o;
    struct hub_env *env;
    int n;
    char **name; /* [n] */
    int *hub_of; /* [n] enum hub_kind of names given as hub pages, else -1 */
};

/* One function per action. @return the exit code */
int models_list(const struct models_call *c);
int models_where(const struct models_call *c);
int models_pull(const struct models_call *c);
int models_search(const struct models_call *c);
int models_rm(const struct models_call *c);
int models_verify(const struct models_call *c);

/* The table entry or typed repository of a name, for a search in the caches. */
int models_spec(struct hub_spec *spec, const char *name, struct hub_error *e);

/* Print the error. @return its exit code */
int models_failed(const struct hub_error *e);

/* ---- mistyped commands ------------------------------------------------------------------------------------------------------- */

enum { MODELS_MEANT_SZ = 512 };

/* The command that the user meant by argv[argc] after "steno models": "pul base" and "download base" mean "steno models pull base".
 * @param text  receives the command between quotes, cut if it is too long
 * @return 1, or 0 if argv[0] is not similar to an action */
int models_meant(char text[MODELS_MEANT_SZ], int argc, char **argv);

/* As models_meant, for argv[argc] after "steno" without the verb: "pull base". Fewer words are accepted as actions.
 * @param exact  1: only words without typing errors */
int models_meant_alone(char text[MODELS_MEANT_SZ], int argc, char **argv, int exact);
#endif
