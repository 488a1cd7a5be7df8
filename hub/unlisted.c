/* steno-hub: the files of a repository without a listing. SPDX-License-Identifier: MIT */
#include "unlisted.h"
#include "hub_api.h"
#include "wanted.h"
#include <stdlib.h>

/* Requests size and hash of one file; an absent file is left out. */
static int ask_one(struct hub_listing *l, struct hub_file *f, char commit[HUB_REV_SZ], const struct hub_pull *p, const char *rev,
                   struct hub_error *e)
{
    int there = 1;
    const int rc = hub_ask_file(f, commit, &there, p->http, p->env, p->id, rev, e);
    if (!there) return HUB_OK;
    return rc == HUB_OK ? hub_listing_add(l, f->path, f->size, f->hash, e) : rc;
}

int hub_list_unlisted(struct hub_listing *l, char commit[HUB_REV_SZ], const struct hub_pull *p, const char *rev, struct hub_error *e)
{
    struct hub_listing all = { 0 };
    int rc = HUB_OK;
    *l = (struct hub_listing){ 0 };
    for (size_t i = 0; i < p->n_files && rc == HUB_OK; i++) rc = hub_listing_add(&all, p->files[i], -1, "", e);
    if (!p->n_files) rc = hub_ask_names(&all, commit, p->http, p->env, p->id, rev, e);
    char *take = calloc(all.n + 1, 1);
    if (!take && rc == HUB_OK) rc = hub_no_memory(e, "a list of files");
    if (rc == HUB_OK) rc = hub_wanted(take, &all, p->files, p->n_files, p->id, e);
    for (size_t i = 0; i < all.n && rc == HUB_OK; i++)
        if (take[i]) rc = ask_one(l, &all.f[i], commit, p, rev, e);
    free(take);
    hub_listing_free(&all);
    return rc;
}
