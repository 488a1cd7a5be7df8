/* steno-serve: the sessions of a route. SPDX-License-Identifier: MIT */
#include "sessions.h"

void sessions_open(struct sessions *of, void (*end)(struct session_entry *s))
{
    *of = (struct sessions){ .end = end };
    pthread_mutex_init(&of->lock, NULL);
    pthread_cond_init(&of->changed, NULL);
}

void sessions_close(struct sessions *of)
{
    pthread_mutex_lock(&of->lock);
    while (of->n) pthread_cond_wait(&of->changed, &of->lock);
    pthread_mutex_unlock(&of->lock);
    pthread_cond_destroy(&of->changed);
    pthread_mutex_destroy(&of->lock);
}

void sessions_count(struct sessions *of, int by)
{
    pthread_mutex_lock(&of->lock);
    of->n += by;
    pthread_cond_broadcast(&of->changed);
    pthread_mutex_unlock(&of->lock);
}

int sessions_now(const struct sessions *of)
{
    struct sessions *own = (struct sessions *)of;
    pthread_mutex_lock(&own->lock);
    const int n = own->n;
    pthread_mutex_unlock(&own->lock);
    return n;
}

void sessions_list(struct sessions *of, struct session_entry *s)
{
    pthread_mutex_lock(&of->lock);
    s->previous = NULL;
    s->next = of->first;
    if (s->next) s->next->previous = s;
    of->first = s;
    if (of->is_draining) of->end(s);
    pthread_mutex_unlock(&of->lock);
}

void sessions_unlist(struct sessions *of, struct session_entry *s)
{
    pthread_mutex_lock(&of->lock);
    if (s->previous) s->previous->next = s->next;
    else of->first = s->next;
    if (s->next) s->next->previous = s->previous;
    pthread_mutex_unlock(&of->lock);
}

void sessions_drain(struct sessions *of)
{
    pthread_mutex_lock(&of->lock);
    of->is_draining = 1;
    for (struct session_entry *s = of->first; s; s = s->next) of->end(s);
    pthread_mutex_unlock(&of->lock);
}
