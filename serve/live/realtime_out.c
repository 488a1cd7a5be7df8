/* steno-serve: server events of realtime transcription. SPDX-License-Identifier: MIT */
#include "realtime_state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void out_close(struct realtime *rt, int code, const char *reason)
{
    if (rt->is_closed || rt->is_gone) return;
    rt->is_closed = 1;
    rt->p.close(rt->p.user, code, reason);
}

void out_event(struct realtime *rt, const char *type, json_t *fields)
{
    char id[32];
    json_t *event = json_object();
    char *text = NULL;
    snprintf(id, sizeof id, "event_%lld", ++rt->n_events);
    int rc = !fields || !event ? -1 : json_object_set_new(event, "type", json_string(type));
    if (!rc) rc = json_object_set_new(event, "event_id", json_string(id));
    if (!rc && !json_object_update(event, fields)) text = json_dumps(event, JSON_COMPACT);
    json_decref(event);
    json_decref(fields);
    if (!text) out_close(rt, CLOSE_BROKEN, "out of memory");
    else if (!rt->is_closed && !rt->is_gone) rt->p.send(rt->p.user, text, strlen(text));
    free(text);
}

void out_session(struct realtime *rt, int is_new)
{
    static const char *const names[2][2] = { { "session.updated", "session.created" },
                                             { "transcription_session.updated", "transcription_session.created" } };
    char id[ID_SZ];
    snprintf(id, sizeof id, "sess_%s", rt->seed);
    struct realtime_session s;
    json_t *session = NULL;
    if (!realtime_session_copy(&s, &rt->session)) {
        const int finds = !rt->config.uses_vad || !rt->p.finds_turns || rt->p.finds_turns(rt->p.user, rt->config.model);
        if (finds || !realtime_session_no_turns(&s)) session = realtime_session_json(&s, rt->p.is_beta, id, rt->p.expires_at);
        realtime_session_free(&s);
    }
    out_event(rt, names[!!rt->p.is_beta][!!is_new], session ? json_pack("{s:o}", "session", session) : NULL);
}

void out_error(struct realtime *rt, const struct realtime_error *e, const char *event_id)
{
    const char *type = !strcmp(e->code, "server_error") ? "server_error" : "invalid_request_error";
    out_event(rt, "error", json_pack("{s:{s:s,s:s,s:s,s:s?,s:s?}}", "error", "type", type, "code", e->code, "message", e->message, "param",
                                     e->param[0] ? e->param : NULL, "event_id", event_id && *event_id ? event_id : NULL));
}
