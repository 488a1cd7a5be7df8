/* steno-serve: the order in which work is decoded and runs. SPDX-License-Identifier: MIT
 *
 * The batch itself gives its decode slots window by window, to the request with the fewest windows. So nothing here waits for the end of
 * another request while the batch has sessions. It has twice as many sessions as decode slots, and short audio does not wait for a session
 * that long audio holds:
 * - one ingest thread decodes small files only;
 * - long audio leaves a quarter of the sessions to short audio;
 * - a client holds at most as many sessions as there are decode slots, one fewer while another client waits; and a quarter more for its
 *   short audio. */
#include "engines_in.h"
#include <string.h>

static int is_short(const struct item *it)
{
    return !it->w || it->w->audio_ms <= SHORT_MS;
}

static int is_small(const struct item *it)
{
    return it->bytes <= SMALL_FILE;
}

/* Work of a client. */
struct share { int running, running_short, begun; };

static struct share share_of(const struct engines *es, const char *client, const struct engine *g)
{
    struct share s = { 0 };
    for (const struct item *it = es->first; it; it = it->next) {
        if (strcmp(it->client, client)) continue;
        s.begun += it->state != ITEM_WAITS;
        if (it->engine != g || it->state != ITEM_RUNS) continue;
        s.running++;
        s.running_short += is_short(it);
    }
    return s;
}

/* ---- ingest ------------------------------------------------------------------------------------------------------------------ */

/* Is `a`, of a client with `share_a`, before `b`, which came earlier? */
static int goes_before(const struct item *a, int share_a, const struct item *b, int share_b)
{
    if (a->priority != b->priority) return a->priority > b->priority;
    return share_a < share_b;
}

struct item *queue_for_ingest(struct engines *es, int thread)
{
    struct item *best = NULL;
    int share = 0;
    for (struct item *it = es->first; it; it = it->next) {
        if (it->state != ITEM_WAITS || it->stop || it->engine->state != ENGINE_OPEN) continue;
        if (thread == 0 && !is_small(it)) continue;
        const int own = share_of(es, it->client, it->engine).begun;
        if (best && !goes_before(it, own, best, share)) continue;
        best = it;
        share = own;
    }
    return best;
}

/* ---- batch ------------------------------------------------------------------------------------------------------------------- */

static int quarter(int n)
{
    return n < 8 ? 1 : n / 4;
}

static int others_wait(const struct engine *g, const char *client)
{
    for (const struct item *it = g->es->first; it; it = it->next)
        if (it->engine == g && it->state == ITEM_READY && !it->stop && !it->is_vectors && strcmp(it->client, client)) return 1;
    return 0;
}

static int long_running(const struct engine *g)
{
    int n = 0;
    for (const struct item *it = g->es->first; it; it = it->next) n += it->engine == g && it->state == ITEM_RUNS && !is_short(it);
    return n;
}

static int may_run(const struct item *it, const struct share *s)
{
    const struct engine *g = it->engine;
    const int windows = g->windows;
    int most = windows - others_wait(g, it->client);
    if (most < 1) most = 1;
    if (!is_short(it)) return s->running < most && long_running(g) < g->n_work_slots - quarter(windows);
    return s->running < most || (s->running < most + quarter(windows) && s->running_short < quarter(windows));
}

struct item *queue_for_batch(struct engine *g)
{
    struct item *best = NULL;
    int share = 0;
    for (struct item *it = g->es->first; it; it = it->next) {
        if (it->engine != g || it->state != ITEM_READY || it->stop || it->is_vectors) continue;
        const struct share s = share_of(g->es, it->client, g);
        if (!may_run(it, &s) || (best && !goes_before(it, s.running, best, share))) continue;
        best = it;
        share = s.running;
    }
    return best;
}

struct slot *queue_free_slot(struct engine *g)
{
    for (int i = 0; i < g->n_work_slots; i++)
        if (!g->slot[i].item) return &g->slot[i];
    return NULL;
}

/* ---- how long until there is room -------------------------------------------------------------------------------------------- */

int queue_waiting(const struct engines *es)
{
    int n = 0;
    for (const struct item *it = es->first; it; it = it->next) n += it->state < ITEM_RUNS;
    return n;
}

int queue_retry_s(const struct engine *g)
{
    enum { GUESS_MS = 30000, GUESS_SPEED = 10 }; /* of audio that is not decoded yet; of a model that has no figures yet */
    int64_t ms = 0;
    for (const struct item *it = g->es->first; it; it = it->next) {
        if (it->engine != g) continue;
        const int64_t own = it->w && it->w->audio_ms ? it->w->audio_ms : GUESS_MS;
        ms += own > it->done_ms ? own - it->done_ms : 0;
    }
    const int64_t busy_us = g->busy_us + (g->n_running ? loop_now_us() - g->busy_since_us : 0);
    const double speed = g->audio_ms > 0 && busy_us > 0 ? (double)g->audio_ms * 1e3 / (double)busy_us : GUESS_SPEED;
    const double s = (double)ms / 1e3 / speed;
    return s < 1 ? 1 : s > RETRY_MAX_S ? RETRY_MAX_S : (int)s + (s > (int)s);
}
