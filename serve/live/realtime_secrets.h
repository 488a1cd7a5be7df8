/* steno-serve: secrets that open realtime sessions for a while. SPDX-License-Identifier: MIT
 *
 * A server with keys creates them for its browsers, which must not receive a key. A secret is "ek_" and 256 random bits. It opens any
 * number of sessions until it expires, each with the session object that it was created with. Any thread. */
#ifndef STENO_SERVE_REALTIME_SECRETS_H
#define STENO_SERVE_REALTIME_SECRETS_H
#include "api_error.h"
#include "realtime_session.h"

enum { SECRETS_MAX = 1024, SECRET_LEAST_S = 10, SECRET_MOST_S = 7200, SECRET_USUAL_S = 600, SECRET_SZ = 3 + 64 + 1 };

struct secrets;
struct secrets *secrets_open(void); /* NULL: out of memory */
void secrets_close(struct secrets *s);

struct secret_request {
    const char *body;   /* [n] JSON; an empty body asks for the defaults */
    size_t n;
    int is_flat;        /* the shape: 1: transcription_sessions, 0: client_secrets */
    const char *model;  /* default */
    int64_t now;        /* Unix time */
    int (*check)(void *user, const struct realtime_config *c, struct realtime_error *e); /* as in realtime_params; may be NULL */
    void *user;
};

/* Creates a secret. The body of the answer is malloc'd, [*n]. @return API_OK or a code, in *e */
int secrets_create(struct secrets *s, const struct secret_request *q, char **answer, size_t *n, struct api_error *e);

/* Does the text open a session now? Takes the same time for all texts of a length. session: NULL, or receives a new reference.
 * @return 1 or 0 */
int secrets_check(struct secrets *s, const char *text, int64_t now, json_t **session);
#endif
