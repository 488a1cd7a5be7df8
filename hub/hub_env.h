/* steno-hub: what the environment says of hubs and caches. SPDX-License-Identifier: MIT
 *
 * The same variables, in the same order, with the same defaults as the hubs' own clients, so that both find one cache. */
#ifndef STENO_HUB_HUB_ENV_H
#define STENO_HUB_HUB_ENV_H
#include "hub_error.h"

enum hub_kind { HUB_HF, HUB_MS, N_HUBS };
#define HUB_NAMES "hf|ms" /* in this order */

struct hub_env {
    struct hub_of {
        const char *name; /* "Hugging Face" */
        char *cache;    /* NULL: there is no HOME */
        char *endpoint; /* without a slash at its end */
        char *token;    /* NULL: none, or it may not be used */
    } hub[N_HUBS];
    char *proof;        /* file of certificates, or NULL */
    int answer_s, stall_s;
    int offline, no_links, no_bar;
    int is_plain[N_HUBS]; /* the endpoint is http, and not of this machine */
};

int hub_env_read(struct hub_env *v, struct hub_error *e);
void hub_env_free(struct hub_env *v);
#endif
