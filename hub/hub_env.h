/* steno-hub: settings of hubs and caches from the environment. SPDX-License-Identifier: MIT
 *
 * The variables, their order and their defaults are those of the hubs' own clients, so that all use the same cache. */
#ifndef STENO_HUB_HUB_ENV_H
#define STENO_HUB_HUB_ENV_H
#include "hub_error.h"

enum hub_kind { HUB_HF, HUB_MS, N_HUBS };
#define HUB_NAMES "hf|ms" /* in this order */

struct hub_env {
    struct hub_of {
        const char *name; /* "Hugging Face" */
        char *cache;    /* NULL: HOME is not set */
        char *endpoint; /* without a trailing slash */
        char *token;    /* NULL: there is none, or it is disabled */
    } hub[N_HUBS];
    char *proof;        /* file of certificates, or NULL */
    int answer_s, stall_s;
    int offline, no_links, no_bar;
    int is_plain[N_HUBS]; /* the endpoint is http and not on this machine */
};

int hub_env_read(struct hub_env *v, struct hub_error *e);
void hub_env_free(struct hub_env *v);
#endif
