/* steno-hub: requests to the hubs' APIs. SPDX-License-Identifier: MIT */
#include "hub_api.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes a request, and frees its three texts. */
static int ask(struct http *h, char *url, const char *what, char **text, struct http_fields *fields, struct hub_error *e)
{
    *text = NULL;
    const int rc = url ? http_text(h, url, what, text, fields, e) : hub_no_memory(e, "an address");
    free(url);
    return rc;
}

/* Requests Hugging Face's data of a revision. */
static int ask_revision(struct http *h, const struct hub_env *env, const char *id, const char *rev, char **text, struct hub_error *e)
{
    struct http_fields fields;
    char *escaped = hub_escape(rev, "");
    char *url = escaped ? hub_format("%s/api/models/%s/revision/%s", env->hub[HUB_HF].endpoint, id, escaped) : NULL;
    free(escaped);
    return ask(h, url, id, text, &fields, e);
}

int hub_ask_commit(char commit[HUB_REV_SZ], struct http *h, const struct hub_env *env, int hub, const char *id, const char *rev,
                   struct hub_error *e)
{
    char *text;
    if (hub == HUB_MS || hub_is_commit(rev)) {
        snprintf(commit, HUB_REV_SZ, "%s", rev);
        return HUB_OK;
    }
    int rc = ask_revision(h, env, id, rev, &text, e);
    if (rc == HUB_OK) rc = hub_commit_hf(commit, text, id, e);
    free(text);
    return rc;
}

/* The next page is read from our endpoint, whatever host the link names: a mirror may return links to the hub itself. */
static char *next_page(const char *base, const char *link)
{
    const char *query = strchr(link, '?');
    return query ? hub_format("%s%s", base, query) : strdup("");
}

static int list_hf(struct hub_listing *l, struct http *h, const char *endpoint, const char *id, const char *commit, struct hub_error *e)
{
    enum { MOST_PAGES = 100 };
    char *base = hub_format("%s/api/models/%s/tree/%s", endpoint, id, commit);
    char *url = base ? hub_format("%s?recursive=true", base) : NULL;
    int rc = url ? HUB_OK : hub_no_memory(e, "an address");
    for (int page = 0; rc == HUB_OK && url && url[0]; page++) {
        struct http_fields fields;
        char *text, *next = NULL;
        if (page == MOST_PAGES) {
            rc = hub_fail(e, HUB_EABSENT, "%s: its list of files does not end", id);
            break;
        }
        rc = ask(h, url, id, &text, &fields, e);
        url = NULL;
        if (rc == HUB_OK) rc = hub_listing_hf(l, text, id, e);
        if (rc == HUB_OK && fields.next[0] && !(next = next_page(base, fields.next))) rc = hub_no_memory(e, "an address");
        free(text);
        url = next;
    }
    free(url);
    free(base);
    return rc;
}

int hub_ask_listing(struct hub_listing *l, struct http *h, const struct hub_env *env, int hub, const char *id, const char *commit,
                    struct hub_error *e)
{
    struct http_fields fields;
    char *text;
    *l = (struct hub_listing){ 0 };
    if (hub == HUB_HF) return list_hf(l, h, env->hub[hub].endpoint, id, commit, e);
    char *rev = hub_escape(commit, "");
    char *url = rev ? hub_format("%s/api/v1/models/%s/repo/files?Revision=%s&Recursive=True", env->hub[hub].endpoint, id, rev) : NULL;
    free(rev);
    int rc = ask(h, url, id, &text, &fields, e);
    if (rc == HUB_OK) rc = hub_listing_ms(l, text, id, e);
    free(text);
    return rc;
}

int hub_ask_names(struct hub_listing *l, char commit[HUB_REV_SZ], struct http *h, const struct hub_env *env, const char *id,
                  const char *rev, struct hub_error *e)
{
    char *text;
    *l = (struct hub_listing){ 0 };
    int rc = ask_revision(h, env, id, rev, &text, e);
    if (rc == HUB_OK) rc = hub_names_hf(l, commit, text, id, e);
    free(text);
    return rc;
}

int hub_ask_file(struct hub_file *f, char commit[HUB_REV_SZ], int *there, struct http *h, const struct hub_env *env, const char *id,
                 const char *rev, struct hub_error *e)
{
    struct http_answer a = { 0 };
    const struct http_fields *is = &a.fields;
    char *url = hub_file_url(env, HUB_HF, id, commit[0] ? commit : rev, f->path);
    int rc = url ? http_meta(h, url, f->path, &a, e) : hub_no_memory(e, "an address");
    free(url);
    *there = !(rc == HUB_EABSENT && a.code == 404 && (!is->fault[0] || strcmp(is->fault, "EntryNotFound") == 0));
    if (rc != HUB_OK) return rc;
    const int moved = a.code >= 300; /* length, and possibly hash, are those of the redirect */
    const char *hash = is->linked_etag[0] ? is->linked_etag : moved ? "" : is->etag;
    f->size = is->linked_size >= 0 ? is->linked_size : moved ? -1 : a.code == 206 ? is->range_total : is->length;
    if (!commit[0] && hub_is_commit(is->commit)) snprintf(commit, HUB_REV_SZ, "%s", is->commit);
    if (!commit[0])
        return hub_fail(e, HUB_EABSENT, "%s: the server sends no list of files, and no commit", f->path);
    if (f->size < 0 || !(hub_is_hex(hash, 64) || hub_is_hex(hash, 40)))
        return hub_fail(e, HUB_EABSENT, "%s: the server sends no list of files, and no hash or size of this one", f->path);
    memcpy(f->hash, hash, strlen(hash) + 1);
    f->is_lfs = strlen(hash) == 64;
    return HUB_OK;
}

int hub_ask_search(struct hub_hit *hits, int most, struct http *h, const struct hub_env *env, int hub, const char *text,
                   struct hub_error *e)
{
    struct http_fields fields;
    const char *endpoint = env->hub[hub].endpoint;
    char *answer, *word = hub_escape(text, ""), *url = NULL;
    if (word && hub == HUB_HF)
        url = hub_format("%s/api/models?search=%s&%ssort=downloads&limit=%d", endpoint, word,
                         text[0] ? "" : "pipeline_tag=automatic-speech-recognition&", most);
    else if (word)
        url = hub_format("%s/openapi/v1/models?search=%s&page_number=1&page_size=%d", endpoint, word, most);
    free(word);
    int n = ask(h, url, "the search", &answer, &fields, e) == HUB_OK ? 0 : -1;
    if (n == 0) n = hub == HUB_HF ? hub_hits_hf(hits, most, answer, "the search", e) : hub_hits_ms(hits, most, answer, "the search", e);
    free(answer);
    return n;
}

char *hub_file_url(const struct hub_env *env, int hub, const char *id, const char *commit, const char *path)
{
    char *name = hub_escape(path, "/"), *rev = hub_escape(commit, ""), *url = NULL;
    if (name && rev)
        url = hub_format(hub == HUB_HF ? "%s/%s/resolve/%s/%s" : "%s/models/%s/resolve/%s/%s", env->hub[hub].endpoint, id, rev, name);
    free(name);
    free(rev);
    return url;
}
