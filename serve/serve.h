/* steno-serve: a transcription server. SPDX-License-Identifier: MIT
 *
 * Internal library: the program opens models and passes options; everything else is here. It prints nothing but its log, through a
 * callback, and handles no signals: the caller calls serve_stop. */
#ifndef STENO_SERVE_H
#define STENO_SERVE_H
#include "job.h"
#include "systemd.h"
#include <stdint.h>

/* An open model. */
struct serve_engine {
    steno_team *team;
    steno_model *model;
    struct job job;                   /* the defaults of every request, without callbacks and sessions */
    const steno_model *vad;           /* voice activity detection; NULL: none */
    int uses_vad;                     /* 1: job.speech applies to every request; 0: only to those that ask for it */
    const steno_model *punctuation;   /* NULL: none */
    const steno_model *aligner;       /* finds the times of words instead of the model; NULL: none */
    int lanes;                        /* wanted maximum of sequences of a window (beam_size, best_of); 0: those of job.params */
    int64_t memory;                   /* bytes of its weights */
    void *user;                       /* of serve_params.open */
    int live_padding_ms, live_last;   /* set by the server, from serve_params */
};

struct serve_model {
    const char *id;        /* name in requests */
    const char *path;      /* of its file or folder; NULL: built in */
    const char *const *aliases; /* ends with NULL; may be NULL */
};

/* All must be set; the options of the program have the defaults. */
struct serve_params {
    const struct serve_model *models; /* [n_models] the first one is the default */
    int n_models;
    /* Opens and closes model i. Called on threads of the server, one call at a time. */
    int (*open)(void *user, int i, struct serve_engine *out, steno_error *e);
    void (*close)(void *user, struct serve_engine *g);
    /* a line of the log, without its line end; from any thread, also from several at a time */
    void (*log)(void *user, const char *line);
    void *user;

    /* address */
    const char *host;      /* address or name */
    int port;              /* 0: any free one */
    const char *unix_path; /* NULL: none */
    const struct systemd *systemd; /* the service manager and its sockets, instead of host and unix_path; NULL: none */
    const char *prefix;    /* before all routes; "" */
    const char *tls_cert, *tls_key;
    /* access */
    const char *key_file;  /* one key a line; NULL: no keys */
    int no_auth;           /* 1: a host that others reach is allowed without keys */
    const char *const *origins; int n_origins;  /* CORS */
    const char *const *trusted; int n_trusted;  /* proxies */
    const char *const *hosts; int n_hosts;      /* more names in Host, when there are no keys */
    int page, metrics;     /* 1: on */
    int log_text;          /* 1: the log has texts */
    int is_strict;         /* 1: unknown fields are errors */
    int any_model;         /* 1: unknown names of models mean the default */
    /* work */
    int parallel;          /* decode slots of a batch */
    int queue;             /* waiting requests */
    int n_ingest;
    double queue_timeout_s, timeout_s; /* 0: 120 s or 4 times the audio */
    double idle_unload_s;  /* 0: never */
    int64_t memory_max;    /* bytes of all loaded models; 0: no limit */
    int64_t upload_max, spool_max; /* bytes */
    double seconds_max;    /* of decoded audio */
    const char *spool_dir;
    /* connections */
    double head_timeout_s, body_timeout_s, idle_timeout_s, grace_s;
    int connections, per_ip;
    /* live */
    int live_max, live_step_ms, live_turn_ms;
    int live_padding_ms;     /* silence that an update encodes after the turn; 0: the whole window */
    int live_last;           /* last pass of a turn: 0 the whole window; 1 as an update, unless its text is doubtful */
    double live_seconds_max; /* 0: no limit */
    double live_delay_s;     /* of texts, beyond which no session is accepted; 0: no limit */
    int wyoming_port;        /* -1: none; 0: any */
    const char *version;
};

struct serve;
/* Opens the models, then listens. @return STENO_OK; STENO_EARG (an option), STENO_ESOURCE (the spool), STENO_EIO (the address),
 * STENO_EUNSUPPORTED (a library is missing), STENO_ENOMEM, or what p->open returned; with the reason in *e */
int serve_open(struct serve **out, const struct serve_params *p, steno_error *e);
int serve_is_local(const char *host); /* does only this machine reach the address? */
int serve_port(const struct serve *s);
int serve_wyoming_port(const struct serve *s);
int serve_lacks_turns(const struct serve *s); /* does a recogniser that was opened have no voice activity detection? */
/* Runs until serve_stop. The first stop drains, the second one ends at once. */
void serve_run(struct serve *s);
/* Both are safe in a signal handler. */
void serve_stop(struct serve *s);
void serve_reload(struct serve *s); /* reads the keys again */
void serve_close(struct serve *s);
#endif
