/* steno-serve: libwslay, loaded when the first connection is opened. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_WS_LIB_H
#define STENO_SERVE_WS_LIB_H
#include <wslay/wslay.h>

#define WSLAY_CALLS(X) \
    X(wslay_event_context_server_init) X(wslay_event_context_free) X(wslay_event_config_set_max_recv_msg_length) X(wslay_event_recv) \
    X(wslay_event_send) X(wslay_event_want_write) X(wslay_event_queue_msg) X(wslay_event_queue_close) X(wslay_event_get_close_sent) \
    X(wslay_event_get_close_received) X(wslay_event_get_read_enabled) X(wslay_event_get_status_code_received) \
    X(wslay_event_get_queued_msg_length) X(wslay_event_set_error) X(wslay_event_get_queued_msg_count)

struct wslay {
#define WSLAY_FIELD(f) __typeof__(f) *f;
    WSLAY_CALLS(WSLAY_FIELD)
#undef WSLAY_FIELD
};

int wslay_load(struct wslay *w); /* @return 0, or -1: it is not installed */
#endif
