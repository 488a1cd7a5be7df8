/* steno: models search. SPDX-License-Identifier: MIT */
#include "models/models_verbs.h"
#include "hub_api.h"
#include "models/models_http.h"
#include "cli/print.h"
#include "cli/signals.h"
#include <stdio.h>
#include <stdlib.h>

static void print_hit(const struct models_call *c, const struct hub_hit *h)
{
    if (c->o->json) {
        fputs("{\"name\": ", stdout);
        print_json(stdout, h->id);
        printf(", \"hub\": \"%s\", \"downloads\": %lld, \"likes\": %lld}\n", c->o->hub == HUB_HF ? "hf" : "ms", (long long)h->downloads,
               (long long)h->likes);
    } else {
        print_name(stdout, h->id, 60);
        printf(" %12lld %8lld\n", (long long)h->downloads, (long long)h->likes);
    }
}

int models_search(const struct models_call *c)
{
    struct hub_error e = { 0 };
    struct http *http = NULL;
    struct hub_hit *hits = calloc((size_t)c->o->limit, sizeof *hits);
    int n = -1;
    signals_defer(1);
    if (!hits) hub_no_memory(&e, "names");
    else if (c->o->offline) hub_fail(&e, HUB_ENET, "search needs the hub, and network requests are off (HF_HUB_OFFLINE)");
    else if (models_open_http(&http, c, c->o->hub, NULL, NULL, &e) == HUB_OK)
        n = hub_ask_search(hits, (int)c->o->limit, http, c->env, c->o->hub, c->n ? c->name[0] : "", &e);
    for (int i = 0; i < n; i++) print_hit(c, &hits[i]);
    if (n == 0 && !c->o->quiet) message("no model has such a name");
    http_close(http);
    free(hits);
    return n < 0 ? models_failed(&e) : message_flush();
}
