/* steno-serve: an utterance of Wyoming whose words are found while it is spoken. SPDX-License-Identifier: MIT
 *
 * The session's thread hands its events to the loop's thread as messages. */
#include "wyoming_live.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum what { WORDS, LANGUAGE, ROOM, ENDED };

struct message {
    struct wyoming_live *l;
    enum what what;
    int spaces; /* before the words */
    char text[];
};

struct wyoming_live {
    struct wyoming_live_params p;
    struct live_session *s;
    struct message *last; /* room for the message that ends it */
    struct api_error why; /* of that message */
    atomic_int is_lost;   /* there was no memory for a message */
    char language[16], *text;
};

/* ---- on the loop's thread ------------------------------------------------------------------------------------------------------ */

static void words_add(struct wyoming_live *l, const struct message *m)
{
    const size_t had = strlen(l->text), more = strlen(m->text), gap = had ? (size_t)m->spaces : 0;
    char *text = realloc(l->text, had + gap + more + 1);
    if (!text) {
        atomic_store(&l->is_lost, 1);
        return;
    }
    memset(text + had, ' ', gap);
    memcpy(text + had + gap, m->text, more + 1);
    l->text = text;
    l->p.words(l->p.user);
}

static void ended(struct wyoming_live *l)
{
    live_session_close(l->s);
    l->s = NULL;
    l->last = NULL;
    if (atomic_load(&l->is_lost)) api_fail(&l->why, API_internal_error, NULL, "the server has no memory for the text");
    const struct api_error e = l->why;
    l->p.ended(l->p.user, e.code == API_OK ? NULL : &e);
}

static void deliver(void *user)
{
    struct message *m = user;
    struct wyoming_live *l = m->l;
    if (m->what == WORDS) words_add(l, m);
    else if (m->what == LANGUAGE) snprintf(l->language, sizeof l->language, "%s", m->text);
    else if (m->what == ROOM) l->p.room(l->p.user);
    else ended(l);
    free(m);
}

/* ---- on the session's thread --------------------------------------------------------------------------------------------------- */

static void hand_over(struct wyoming_live *l, enum what what, int spaces, const char *text)
{
    const size_t n = strlen(text);
    struct message *m = malloc(sizeof *m + n + 1);
    if (!m) {
        atomic_store(&l->is_lost, 1);
        return;
    }
    *m = (struct message){ l, what, spaces };
    memcpy(m->text, text, n + 1);
    loop_call(l->p.loop, deliver, m);
}

static void on_event(void *user, const struct live_event *e)
{
    if (e->kind == LIVE_FINAL && *e->text) hand_over(user, WORDS, e->spaces, e->text);
    if (e->kind == LIVE_ENDPOINT && e->language) hand_over(user, LANGUAGE, 0, e->language);
}

static void on_room(void *user)
{
    hand_over(user, ROOM, 0, "");
}

static void on_ended(void *user, const struct api_error *e)
{
    struct wyoming_live *l = user;
    *l->last = (struct message){ l, ENDED, 0 };
    if (e) l->why = *e;
    loop_call(l->p.loop, deliver, l->last);
}

/* ---- the utterance ------------------------------------------------------------------------------------------------------------- */

static int session_open(struct wyoming_live *l)
{
    static const enum audio_encoding of_width[] = { [1] = AUDIO_U8, [2] = AUDIO_S16LE, [4] = AUDIO_S32LE };
    const struct wyoming_live_params *p = &l->p;
    struct api_error e = { 0 };
    struct live_session_params sp = { .engine = p->engine, .metrics = p->metrics, .encoding = of_width[p->format.width],
                                      .rate = p->format.rate, .channels = p->format.channels, .threshold = -1, .silence_ms = -1,
                                      .padding_ms = -1, .event = on_event, .room = on_room, .ended = on_ended, .user = l };
    if (!l->text || !l->last || engine_language(p->engine, p->language, &sp.language, &e) != API_OK) return -1;
    if (live_session_open(&l->s, &sp, &e) == API_OK) return 0;
    live_session_refused(p->metrics, &e);
    return -1;
}

struct wyoming_live *wyoming_live_open(const struct wyoming_live_params *p)
{
    struct wyoming_live *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->p = *p;
    l->text = strdup("");
    l->last = malloc(sizeof *l->last);
    if (session_open(l) == 0) return l;
    wyoming_live_close(l);
    return NULL;
}

int wyoming_live_push(struct wyoming_live *l, const char *bytes, size_t n)
{
    return live_session_push(l->s, bytes, n);
}

void wyoming_live_end(struct wyoming_live *l)
{
    live_session_end(l->s);
}

void wyoming_live_cancel(struct wyoming_live *l)
{
    live_session_cancel(l->s);
}

const char *wyoming_live_text(const struct wyoming_live *l)
{
    return l->text;
}

const char *wyoming_live_language(const struct wyoming_live *l)
{
    return l->language;
}

void wyoming_live_close(struct wyoming_live *l)
{
    if (!l) return;
    free(l->last);
    free(l->text);
    free(l);
}
