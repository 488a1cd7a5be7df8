/* steno-serve: realtime transcription: events of the live session. SPDX-License-Identifier: MIT */
#include "live.h"
#include "realtime_state.h"

/* Completes committed items whose texts are over. */
static void complete_committed(struct realtime *rt)
{
    while (rt->items && rt->items->is_committed) item_complete(rt);
}

/* A turn of voice activity is over. */
static void turn_complete(struct realtime *rt, int64_t end_ms)
{
    if (!rt->items) return;
    item_commit(rt, rt->items, end_ms);
    item_complete(rt);
}

static struct realtime_item *turn_item(struct realtime *rt, int64_t begin_ms)
{
    struct realtime_item *it = item_open(rt, begin_ms);
    if (!it) return NULL;
    it->is_turn = 1;
    out_event(rt, "input_audio_buffer.speech_started", json_pack("{s:s,s:I}", "item_id", it->id, "audio_start_ms", (json_int_t)begin_ms));
    return it;
}

static int drops_events(const struct realtime *rt) { return rt->is_clearing || rt->is_gone || rt->is_closed; }

static void event_take(struct realtime *rt, const struct live_event *e)
{
    const int64_t begin_ms = rt->base_ms + (e->t0_ms < 0 ? 0 : e->t0_ms), end_ms = rt->base_ms + (e->t1_ms < 0 ? e->now_ms : e->t1_ms);
    struct realtime_item *it = rt->items;
    if (e->kind == LIVE_PARTIAL && !(rt->config.include & REALTIME_PARTIAL)) return;
    if (!it) it = rt->live_has_vad ? turn_item(rt, begin_ms) : item_writing(rt);
    if (!it) return;
    if (e->kind == LIVE_PARTIAL) {
        item_partial(rt, it, e);
        return;
    }
    item_words(rt, it, e);
    if (e->kind != LIVE_ENDPOINT) return;
    if (rt->live_has_vad) turn_complete(rt, end_ms);
    else if (!it->is_committed && it->n > ITEM_TEXT_MAX) turn_complete(rt, end_ms);
}

void realtime_live_event(struct realtime *rt, const struct live_event *e)
{
    realtime_lock(rt);
    if (!drops_events(rt)) event_take(rt, e);
    realtime_unlock(rt);
}

void realtime_live_speech(struct realtime *rt, int begins, int64_t at_ms)
{
    realtime_lock(rt);
    if (!drops_events(rt) && rt->live_has_vad) {
        const int64_t at = rt->base_ms + at_ms;
        if (begins) {
            complete_committed(rt); /* a turn without an endpoint */
            if (!rt->items) turn_item(rt, at);
        } else if (rt->items) item_commit(rt, rt->items, at);
    }
    realtime_unlock(rt);
}

/* The answer to a client's commit while voice activity makes the turns: the turn that it ended, or an item without words. */
static void commit_answer(struct realtime *rt)
{
    if (rt->items) turn_complete(rt, rt->flush_ms);
    if (!rt->n_committed && item_open(rt, rt->commit_ms)) turn_complete(rt, rt->flush_ms);
    rt->commit_waits = rt->n_committed = 0;
    if (rt->commit_ms < rt->flush_ms) rt->commit_ms = rt->flush_ms;
}

void realtime_live_flushed(struct realtime *rt)
{
    realtime_lock(rt);
    if (rt->n_flushes) rt->n_flushes--;
    if (!drops_events(rt)) {
        if (rt->commit_waits) commit_answer(rt);
        else if (!rt->live_has_vad && rt->items && rt->items->is_committed) item_complete(rt);
    }
    realtime_unlock(rt);
}

void realtime_live_cleared(struct realtime *rt)
{
    realtime_lock(rt);
    if (rt->is_clearing) realtime_clear_end(rt);
    realtime_unlock(rt);
}

void realtime_live_room(struct realtime *rt)
{
    realtime_lock(rt);
    rt->is_full = 0;
    realtime_unlock(rt);
}

/* The live session failed: what it had is lost, and the client's session goes on. */
static void all_fail(struct realtime *rt, const char *why)
{
    const int64_t now = realtime_now_ms(rt);
    const int is_due = rt->live_has_vad ? rt->commit_waits && !rt->n_committed && !rt->items : now > rt->commit_ms;
    if (is_due && !item_filling(rt)) item_open(rt, rt->commit_ms);
    for (struct realtime_item *it = rt->items; it; it = it->next) {
        item_lose(it, why);
        if (rt->live_has_vad) item_commit(rt, it, now);
    }
    complete_committed(rt); /* what is left waits for the client's commit */
    if (rt->live_has_vad) rt->commit_ms = now;
    if (rt->commit_waits) rt->n_committed = 0;
    if (++rt->n_failures > FAILURES_MAX) out_close(rt, CLOSE_BROKEN, "the transcription fails");
}

/* All its audio is decoded. An item of manual commits goes on in the next live session, unless it was the last one. */
static void all_complete(struct realtime *rt)
{
    const int64_t now = realtime_now_ms(rt);
    complete_committed(rt);
    if (rt->is_ending && !rt->live_has_vad && !rt->items && now - rt->commit_ms >= COMMIT_LEAST_MS) item_open(rt, rt->commit_ms);
    if (rt->items && (rt->live_has_vad || rt->is_ending)) turn_complete(rt, now);
    if (rt->live_has_vad && rt->commit_waits) commit_answer(rt);
    if (rt->items) rt->items->begins_turn = 1;
}

void realtime_live_ended(struct realtime *rt, const struct api_error *e)
{
    realtime_lock(rt);
    if (!rt->is_gone && !rt->is_closed) {
        if (e) all_fail(rt, e->message);
        else all_complete(rt);
        if (e && e->code != API_internal_error) realtime_refused(rt, e); /* when its model had been waited for */
    }
    const int64_t now = realtime_now_ms(rt);
    rt->p.audio->close(rt->live);
    rt->live = NULL;
    rt->base_ms = now;
    rt->n_flushes = rt->is_full = rt->is_swapping = rt->commit_waits = 0;
    if (rt->is_clearing) realtime_clear_end(rt);
    if (rt->is_ending) out_close(rt, CLOSE_GOING, "the session is over");
    realtime_unlock(rt);
}
