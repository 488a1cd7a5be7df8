/* steno: models pull, models search: models in the hubs. SPDX-License-Identifier: MIT */
#include "address.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "http.h"
#include "hub_api.h"
#include "known.h"
#include "model_name.h"
#include "models/models_verbs.h"
#include "pull.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- models pull ------------------------------------------------------------------------------------------------------------- */

/* Progress of a download. */
struct show {
    const struct models_call *c;
    const char *repo, *commit;
    char file[256]; /* current file, "": none. A copy, because its owner may be freed when an error is reported */
    int64_t total, begun_at, begun_us, drawn_us;
    int bar;
};

static void pull_event(const struct show *s, const char *what, int64_t bytes, int64_t total, const char *path)
{
    if (!s->c->o->json) return;
    fprintf(stderr, "{\"event\": \"%s\", \"repo\": ", what);
    print_json(stderr, s->repo ? s->repo : "");
    fputs(", \"commit\": ", stderr);
    print_json(stderr, s->commit ? s->commit : "");
    fputs(", \"file\": ", stderr);
    print_json(stderr, s->file);
    fprintf(stderr, ", \"bytes\": %lld, \"total\": %lld", (long long)bytes, (long long)total);
    if (path) fputs(strcmp(what, "error") == 0 ? ", \"reason\": " : ", \"path\": ", stderr), print_json(stderr, path);
    fputs("}\n", stderr);
}

static void on_start(void *user, const char *file, int64_t total)
{
    struct show *s = user;
    snprintf(s->file, sizeof s->file, "%s", file);
    s->total = total;
    s->begun_at = -1;
    s->begun_us = s->drawn_us = progress_now_us();
    pull_event(s, "start", 0, total, NULL);
}

/* Print "model.safetensors 37% of 151.1 MB, 10.2 MB/s", at most ten times a second. */
static void on_progress(void *user, int64_t bytes)
{
    struct show *s = user;
    const int64_t now = progress_now_us();
    if (s->begun_at < 0) s->begun_at = bytes;
    if (now - s->drawn_us < 100000) return;
    s->drawn_us = now;
    pull_event(s, "progress", bytes, s->total, NULL);
    if (!s->bar) return;
    char line[256];
    const double rate = (double)(bytes - s->begun_at) / (double)(now - s->begun_us + 1); /* bytes per microsecond */
    const long left = rate > 0 ? (long)((double)(s->total - bytes) / rate / 1e6) : 0;
    snprintf(line, sizeof line, "%.36s %3d%% of %.1f MB, %.1f MB/s, %ld:%02ld left", s->file,
             (int)(s->total ? 100 * bytes / s->total : 100), (double)s->total / 1e6, rate, left / 60, left % 60);
    message_bar(line);
}

static void on_done(void *user, const char *file, const char *path, int64_t bytes)
{
    struct show *s = user;
    snprintf(s->file, sizeof s->file, "%s", file);
    pull_event(s, "done", bytes, bytes, path);
    if (s->bar) message_bar(NULL);
    if (!s->c->o->json && !s->c->o->quiet) {
        if (bytes) message("%s: %.1f MB fetched, hash is right", file, (double)bytes / 1e6);
        else message("%s: exists already", file);
    }
}

static void on_wait(void *user, double seconds, const char *why)
{
    const struct show *s = user;
    if (!s->c->o->quiet && !s->c->o->json) message("%s; retry in %.0f s", why, seconds);
}

/* What to download for a name: a table entry, whose files and hashes may be built in, or ORG/NAME. */
struct wish {
    struct hub_spec spec;
    struct hub_known known;
    struct hub_listing files; /* with built-in hashes; empty: ask the hub */
    int hub;
};

/* The hub to ask for a name that is not in the table. */
static int hub_of(const struct models_call *c, int which)
{
    return c->hub_of[which] >= 0 ? c->hub_of[which] : c->o->hub;
}

static int wish_read(struct wish *w, const struct models_call *c, int which, struct hub_error *e)
{
    const char *name = c->name[which];
    *w = (struct wish){ .hub = hub_of(c, which) };
    int rc = models_spec(&w->spec, name, e);
    if (rc != HUB_OK || strchr(name, '/')) return rc;
    hub_known_find(&w->known, name);
    if (c->o->hub_given && w->known.hub != c->o->hub)
        return hub_fail(e, HUB_EARG, "%s: is downloaded from %s; ORG/NAME names a model of the other "
                                     "hub", name, c->env->hub[w->known.hub].name);
    w->hub = w->known.hub;
    snprintf(w->spec.rev, sizeof w->spec.rev, "%s", w->known.commit);
    if (w->known.file[0] && w->known.size < 0) snprintf(w->spec.file, sizeof w->spec.file, "%s", w->known.file);
    return hub_known_files(&w->files, &w->known, e) < 0 ? e->status : HUB_OK;
}

static int pull_one(const struct models_call *c, struct show *show, int which, struct http *const *http, struct hub_error *e)
{
    struct wish w;
    struct hub_pulled got = { 0 };
    int rc = wish_read(&w, c, which, e);
    if (rc != HUB_OK) return rc;
    const char *files[] = { w.spec.file };
    const struct hub_pull p = {
        .env = c->env, .http = http[w.hub], .hub = w.hub, .id = w.spec.id, .rev = w.spec.rev[0] ? w.spec.rev : NULL, .files = files,
        .n_files = w.spec.file[0] != 0, .known = w.files.n ? &w.files : NULL, .to = c->o->to, .force = c->o->force, .stop = signals_stop,
        .started = on_start, .progress = on_progress, .done = on_done, .user = show,
    };
    show->repo = w.spec.id;
    show->commit = got.commit;
    show->file[0] = '\0';
    rc = hub_pull(&p, &got, e);
    hub_listing_free(&w.files);
    if (show->bar) message_bar(NULL);
    if (rc == HUB_OK && !c->o->no_path) puts(got.path);
    if (rc != HUB_OK) address_hide(e->text);
    if (rc != HUB_OK) pull_event(show, "error", 0, show->total, e->text);
    if (rc != HUB_OK && got.partial) message("%s keeps the partial download; the same command continues it", got.partial);
    hub_pulled_free(&got);
    return rc;
}

/* Without network access: report what is in the cache, or where it was searched. */
static int pull_offline(const struct models_call *c, const char *name, struct hub_error *e)
{
    struct hub_spec spec;
    struct hub_cache cache = { 0 };
    int rc = models_spec(&spec, name, e);
    if (rc == HUB_OK) rc = hub_cache_read(&cache, c->env, e);
    char *path = rc == HUB_OK ? hub_model_path(&cache, &spec, e) : NULL;
    if (path) puts(path);
    else if (rc == HUB_OK && e->status != HUB_ENOMEM && hub_model_is_absent(&cache, &spec))
        rc = hub_fail(e, HUB_EABSENT, "%s: the repository has no such file, by an earlier request", name);
    else if (rc == HUB_OK && e->status != HUB_ENOMEM)
        rc = hub_fail(e, HUB_EABSENT, "%s: is not in the caches, and offline nothing is downloaded; searched %s and %s", name,
                      c->env->hub[HUB_HF].cache ? c->env->hub[HUB_HF].cache : "(no HOME)",
                      c->env->hub[HUB_MS].cache ? c->env->hub[HUB_MS].cache : "(no HOME)");
    else rc = e->status;
    free(path);
    hub_cache_free(&cache);
    return rc;
}

/* @param waiting  called with `user` before a wait for the next attempt; may be NULL */
static int models_open_http(struct http **out, const struct models_call *c, int which, void (*waiting)(void *, double, const char *),
                            void *user, struct hub_error *e)
{
    const struct hub_of *hub = &c->env->hub[which];
    const struct http_settings s = {
        .endpoint = hub->endpoint, .token = hub->token, .cookie = which == HUB_MS ? "m_session_id" : NULL,
        .agent = "steno/" STENO_VERSION, .proof = c->env->proof, .answer_s = c->env->answer_s, .stall_s = c->env->stall_s,
        .tries = (int)c->o->retries, .most = 64 << 20, .stop = signals_stop, .waiting = waiting, .user = user,
    };
    if (c->env->is_plain[which] && !c->o->quiet)
        message("%s does not use TLS: the download can be observed; its hash is still checked", hub->endpoint);
    return http_open(out, &s, e);
}

/* Connects to the name's hub at its first use. */
static int pull_from_hub(const struct models_call *c, struct show *show, int i, struct http **http, struct hub_error *e)
{
    struct hub_known known;
    const int which = !strchr(c->name[i], '/') && hub_known_find(&known, c->name[i]) ? known.hub : hub_of(c, i);
    const int rc = http[which] ? HUB_OK : models_open_http(&http[which], c, which, on_wait, show, e);
    return rc == HUB_OK ? pull_one(c, show, i, http, e) : rc;
}

int models_pull(const struct models_call *c)
{
    struct show show = { .c = c, .bar = !c->o->quiet && !c->o->json && !c->env->no_bar && progress_can_redraw() };
    struct hub_error e = { 0 };
    struct http *http[N_HUBS] = { NULL };
    int code = EXIT_OK;
    signals_defer(1);
    for (int i = 0; i < c->n && code == EXIT_OK; i++) {
        const int rc = c->o->offline ? pull_offline(c, c->name[i], &e) : pull_from_hub(c, &show, i, http, &e);
        if (rc != HUB_OK) code = models_failed(&e);
    }
    for (int i = 0; i < N_HUBS; i++) http_close(http[i]);
    const int flushed = message_flush();
    return code == EXIT_OK ? flushed : code;
}

/* ---- models search ----------------------------------------------------------------------------------------------------------- */

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
