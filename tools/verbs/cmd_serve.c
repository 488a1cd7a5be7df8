/* steno: the verb serve: a transcription server. SPDX-License-Identifier: MIT
 *
 * This file turns options into the parameters of serve.h, and opens models with the same code as transcribe: an answer of the server has
 * the text that the program prints. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cmd.h"
#include "models/companion.h"
#include "serve.h"
#include "verbs/opt_rules.h"
#include "verbs/results.h"
#include "verbs/transcribe.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

struct opts {
    struct transcribe_opts t; /* must be first: rows of other verbs set it */
    struct arg_texts models, aliases, origins, trusted, hosts;
    const char *host, *unix_path, *prefix, *tls_cert, *tls_key, *key_file, *spool_dir;
    int no_auth, page, metrics, log_text, strict_fields, any_model;
    int64_t port, parallel, queue, ingest, upload_mb, spool_mb, memory_mb, connections, per_ip, live, live_step_ms, live_turn_ms,
        wyoming_port;
    double queue_timeout, timeout, idle_unload, seconds_max, head_timeout, body_timeout, idle_timeout, grace, live_seconds;
};

#define AT(field) offsetof(struct opts, field)

/* clang-format off */
static const struct arg rows[] = {
    ARG_HEADING("Models"),
    { .name = "model", .letter = 'm', .kind = ARG_TEXTS, .at = AT(models), .value = "PATH|NAME",
      .help = "model file or folder, or its name in the caches; may be given several times: requests choose by name, and the first is "
              "the default" },
    { .name = "alias", .kind = ARG_TEXTS, .at = AT(aliases), .value = "NAME=MODEL",
      .help = "another name of a model in requests; may be given several times" },
    { .name = "any-model", .kind = ARG_FLAG, .at = AT(any_model), .help = "an unknown name of a model means the first model" },
    ENGINE_DEMO_ROW(struct transcribe_opts),
    { .name = "idle-unload", .kind = ARG_S, .at = AT(idle_unload), .value = "S", .dflt = "0", .hi = 1e9,
      .help = "close a model after S seconds (or 10:00) without requests; the next request opens it again; 0: never" },
    { .name = "memory-limit", .kind = ARG_INT, .at = AT(memory_mb), .value = "MB", .dflt = "0", .hi = 1e9,
      .help = "maximum size of all open models in MB; idle ones are closed first; 0: no limit" },
    ARG_HEADING("Address"),
    { .name = "host", .kind = ARG_TEXT, .at = AT(host), .value = "ADDRESS", .dflt = "127.0.0.1",
      .help = "address to listen on; one that other machines reach needs --api-key-file, or --no-auth" },
    { .name = "port", .kind = ARG_INT, .at = AT(port), .value = "N", .dflt = "8090", .hi = 65535, .help = "TCP port; 0: any free one" },
    { .name = "unix", .kind = ARG_TEXT, .at = AT(unix_path), .value = "PATH", .help = "listen on a Unix socket, instead of TCP" },
    { .name = "prefix", .kind = ARG_TEXT, .at = AT(prefix), .value = "PATH", .help = "path before all routes, such as /stt" },
    { .name = "tls-cert", .kind = ARG_TEXT, .at = AT(tls_cert), .value = "FILE", .help = "certificate (PEM): serve HTTPS" },
    { .name = "tls-key", .kind = ARG_TEXT, .at = AT(tls_key), .value = "FILE", .help = "its private key (PEM)" },
    ARG_HEADING("Access"),
    { .name = "api-key-file", .kind = ARG_TEXT, .at = AT(key_file), .value = "FILE",
      .help = "file of keys that clients must send, one a line, readable by its owner only; SIGHUP reads it again" },
    { .name = "no-auth", .kind = ARG_FLAG, .at = AT(no_auth), .help = "serve other machines without keys" },
    { .name = "cors", .kind = ARG_TEXTS, .at = AT(origins), .value = "ORIGIN",
      .help = "origin whose pages may call the server, such as https://example.com; may be given several times" },
    { .name = "allow-host", .kind = ARG_TEXTS, .at = AT(hosts), .value = "NAME",
      .help = "name of this server in requests without keys, besides localhost; may be given several times" },
    { .name = "trust-proxy", .kind = ARG_TEXTS, .at = AT(trusted), .value = "CIDR",
      .help = "address or range of proxies whose X-Forwarded-For is believed; may be given several times" },
    { .name = "page", .kind = ARG_PAIR, .at = AT(page), .dflt = "on", .help = "serve the web page at /" },
    { .name = "metrics", .kind = ARG_PAIR, .at = AT(metrics), .dflt = "on", .help = "serve /metrics for Prometheus" },
    ARG_HEADING("Work"),
    { .name = "parallel", .letter = 'b', .kind = ARG_INT, .at = AT(parallel), .value = "N", .dflt = "8", .lo = 1, .hi = 128,
      .help = "number of windows that decode in parallel; the text does not change" },
    { .name = "queue", .kind = ARG_INT, .at = AT(queue), .value = "N", .dflt = "64", .lo = 1, .hi = 100000,
      .help = "maximum number of waiting requests; more are refused with 429 and Retry-After" },
    { .name = "queue-timeout", .kind = ARG_S, .at = AT(queue_timeout), .value = "S", .dflt = "300", .lo = 1, .hi = 1e6,
      .help = "maximum time that a request waits for its first window" },
    { .name = "timeout", .kind = ARG_S, .at = AT(timeout), .value = "S", .dflt = "0", .hi = 1e7,
      .help = "maximum time of a request after its upload; 0: 120 s, or four times its audio if that is longer" },
    { .name = "ingest", .kind = ARG_INT, .at = AT(ingest), .value = "N", .dflt = "2", .lo = 1, .hi = 64,
      .help = "number of threads that decode audio files" },
    { .name = "max-upload", .kind = ARG_INT, .at = AT(upload_mb), .value = "MB", .dflt = "200", .lo = 1, .hi = 1e6,
      .help = "maximum size of a file" },
    { .name = "max-seconds", .kind = ARG_S, .at = AT(seconds_max), .value = "S", .dflt = "14400", .lo = 1, .hi = 1e6,
      .help = "maximum length of a file's audio" },
    { .name = "spool", .kind = ARG_TEXT, .at = AT(spool_dir), .value = "DIR",
      .help = "folder of temporary files, which have no names; without it TMPDIR, else /tmp" },
    { .name = "spool-max", .kind = ARG_INT, .at = AT(spool_mb), .value = "MB", .dflt = "8000", .lo = 10, .hi = 1e9,
      .help = "maximum size of all temporary files" },
    { .name = "strict-fields", .kind = ARG_FLAG, .at = AT(strict_fields),
      .help = "refuse requests with unknown fields, instead of naming the fields in the header steno-ignored" },
    ARG_HEADING("Live"),
    { .name = "live", .kind = ARG_INT, .at = AT(live), .value = "N", .dflt = "16", .hi = 1000, .help = "maximum number of live sessions" },
    { .name = "live-step", .kind = ARG_MS, .at = AT(live_step_ms), .value = "MS", .dflt = "1000", .lo = 200, .hi = 10000,
      .help = "audio between two updates of a live text, in ms" },
    { .name = "live-max-turn", .kind = ARG_MS, .at = AT(live_turn_ms), .value = "MS", .dflt = "30000", .lo = 2000, .hi = 30000,
      .help = "maximum length of a turn, in ms" },
    { .name = "live-max-seconds", .kind = ARG_S, .at = AT(live_seconds), .value = "S", .dflt = "0", .hi = 1e7,
      .help = "maximum length of a live session; 0: no limit" },
    { .name = "wyoming", .kind = ARG_INT, .at = AT(wyoming_port), .value = "PORT", .dflt = "-1", .lo = -1, .hi = 65535,
      .help = "TCP port of the Wyoming protocol (Home Assistant), which has no keys; 0: any free one; -1: off" },
    ARG_HEADING("Connections"),
    { .name = "connections", .kind = ARG_INT, .at = AT(connections), .value = "N", .dflt = "1024", .lo = 1, .hi = 100000,
      .help = "maximum number of connections" },
    { .name = "per-ip", .kind = ARG_INT, .at = AT(per_ip), .value = "N", .dflt = "64", .lo = 1, .hi = 100000,
      .help = "maximum number of connections of an address" },
    { .name = "head-timeout", .kind = ARG_S, .at = AT(head_timeout), .value = "S", .dflt = "10", .lo = 0.1, .hi = 1e6,
      .help = "maximum time in which the head of a request arrives" },
    { .name = "body-timeout", .kind = ARG_S, .at = AT(body_timeout), .value = "S", .dflt = "60", .lo = 0.1, .hi = 1e6,
      .help = "the same for a body, to which 1 s is added for each 64 kB" },
    { .name = "idle-timeout", .kind = ARG_S, .at = AT(idle_timeout), .value = "S", .dflt = "75", .lo = 0.1, .hi = 1e6,
      .help = "maximum time between the requests of a connection" },
    { .name = "grace", .kind = ARG_S, .at = AT(grace), .value = "S", .dflt = "30", .hi = 1e6,
      .help = "after SIGTERM, time in which running requests may end" },
    ARG_HEADING("Defaults of requests"),
    { .name = "language", .letter = 'l', .kind = ARG_TEXT, .at = AT(t.language), .value = "auto|CODE", .dflt = "auto",
      .help = "language spoken; auto: detected" },
    VAD_ROWS(struct transcribe_opts),
    MARKS_ROWS(struct transcribe_opts),
    DECODE_ROWS(struct transcribe_opts),
    ENGINE_MACHINE_ROWS(struct transcribe_opts),
    ARG_HEADING("Messages"),
    { .name = "log-text", .kind = ARG_FLAG, .at = AT(log_text), .help = "write the texts of requests to the log" },
    ENGINE_QUIET_ROW(struct transcribe_opts),
    { 0 },
};
/* clang-format on */

const struct args serve_args = { "serve", "[OPTION]...",
                                 "Serve transcription over HTTP: OpenAI's audio API, live protocols, a web page.\n"
                                 "The log goes to standard error, one JSON object per request.", rows };

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

struct served {
    struct transcribe_opts o; /* the verb's options, with this model */
    struct transcription t;
    struct results results;
    char *id, *path;
    const char *alias[ARG_TEXTS_MAX + 1];
};

struct server {
    struct opts o;
    struct args_given given;
    struct decode_data data;
    struct path_guard path_guard;
    struct served *model; /* [n] */
    int n;
    int failed;           /* exit code of a model that could not be opened, after a message; EXIT_OK: none */
};

/* A name for requests: the path's last part without the ending of a file, or the name that was typed. @return malloc'd, or NULL */
static char *id_of(const char *typed, const char *path)
{
    struct stat st;
    const char *from = stat(typed, &st) == 0 ? path : typed;
    size_t n = strlen(from);
    while (n > 1 && from[n - 1] == '/') n--;
    size_t at = n;
    while (from == path && at > 0 && from[at - 1] != '/') at--;
    char *id = strndup(from + (from == path ? at : 0), n - (from == path ? at : 0));
    static const char *const ends[] = { ".bin", ".gguf", ".pt", ".safetensors", ".onnx" };
    for (size_t i = 0; id && i < sizeof ends / sizeof *ends; i++) {
        const size_t all = strlen(id), end = strlen(ends[i]);
        if (all > end && strcmp(id + all - end, ends[i]) == 0) id[all - end] = '\0';
    }
    return id;
}

/* Which model is used without -m. @return malloc'd path, or NULL after a message */
static char *best_path(struct transcribe_opts *o)
{
    struct engine e;
    struct transcribe_opts own = *o;
    own.engine.index_only = 1;
    if (engine_open(&e, &own.engine, 0) != EXIT_OK) return NULL;
    char *path = e.path ? strdup(e.path) : NULL;
    engine_close(&e);
    return path;
}

/* Names a model before it is opened. @return an exit code, after a message */
static int model_name(struct served *m, const char *typed)
{
    char *best = NULL;
    m->o.engine.model = typed;
    if (!typed && !m->o.engine.demo && !(best = best_path(&m->o))) return EXIT_MODEL;
    if (best) m->o.engine.model = typed = best;
    char *found = typed && !best ? models_find(typed) : NULL;
    m->path = best ? best : found ? found : typed ? strdup(typed) : NULL;
    m->id = typed ? id_of(typed, m->path ? m->path : typed) : strdup("demo");
    if (best) m->o.engine.model = m->path;
    if (m->id && (m->path || !typed)) return EXIT_OK;
    message("out of memory for the name of a model");
    return EXIT_MEMORY;
}

static void model_close(void *user, struct serve_engine *g)
{
    struct served *m = g->user;
    (void)user;
    marks_close(&m->t.marks);
    vad_close(&m->t.vad);
    engine_close(&m->t.engine);
}

/* Language models have no defaults of transcriptions. */
static int transcribes(const steno_model *m)
{
    steno_param p = { .size = sizeof p };
    for (int i = 0; steno_param_get(m, STENO_CALL_TRANSCRIBE, i, &p) == STENO_OK; i++)
        if (p.served) return 1;
    return 0;
}

/* @return an exit code, after a message */
static int open_parts(struct server *v, struct served *m)
{
    struct transcribe_opts *o = &m->o;
    m->results = (struct results){ .files.path_guard = &v->path_guard };
    m->t = (struct transcription){ .o = o, .results = &m->results, .data = v->data };
    o->decode = v->o.t.decode; /* decode_opts_settle changes it */
    int code = engine_open(&m->t.engine, &o->engine, 0);
    if (code != EXIT_OK || !transcribes(m->t.engine.model)) return code;
    decode_opts_settle(&o->decode, m->t.engine.model);
    code = vad_open(&m->t.vad, &o->vad, &m->t.engine, &o->engine, 1);
    if (code == EXIT_OK) code = marks_open(&m->t.marks, &o->marks, &m->t.engine, &o->engine, transcription_marks(o));
    if (code == EXIT_OK) code = transcription_params(&m->t, m->t.engine.model);
    if (code == EXIT_OK) transcription_job(&m->t);
    if (code != EXIT_OK) model_close(v, &(struct serve_engine){ .user = m });
    return code;
}

enum { REQUEST_LANES = 8 }; /* beam_size and best_of of a request; more are allowed if the defaults have more */

static int model_open(void *user, int i, struct serve_engine *g, steno_error *e)
{
    struct server *v = user;
    struct served *m = &v->model[i];
    const int code = open_parts(v, m);
    if (code != EXIT_OK) {
        v->failed = code;
        e->status = code == EXIT_MEMORY ? STENO_ENOMEM : code == EXIT_USAGE ? STENO_EARG : STENO_EIO;
        snprintf(e->text, sizeof e->text, "the model %s cannot be opened", m->id);
        return e->status;
    }
    *g = (struct serve_engine){ .team = m->t.engine.team, .model = m->t.engine.model, .lanes = REQUEST_LANES,
                                .job = m->t.job, .vad = m->t.vad.model, .uses_vad = m->t.vad.session != NULL,
                                .punctuation = m->t.marks.model, .user = m };
    g->job.speech.session = g->job.punctuation = NULL;
    return STENO_OK;
}

static int models_begin(struct server *v)
{
    const struct arg_texts *typed = &v->o.models;
    v->n = typed->n ? typed->n : 1;
    v->model = calloc((size_t)v->n, sizeof *v->model);
    if (!v->model) {
        message("out of memory for %d models", v->n);
        return EXIT_MEMORY;
    }
    int code = EXIT_OK;
    for (int i = 0; i < v->n && code == EXIT_OK; i++) {
        v->model[i].o = v->o.t;
        code = model_name(&v->model[i], typed->n ? typed->text[i] : NULL);
        for (int k = 0; code == EXIT_OK && k < i; k++)
            if (strcmp(v->model[k].id, v->model[i].id) == 0)
                code = message_usage("two models have the name %s: rename one of the files", v->model[i].id);
    }
    return code;
}

/* Adds "NAME=MODEL" to its model. */
static int alias_add(struct server *v, const char *alias)
{
    const char *is = strchr(alias, '=');
    if (!is || is == alias) return message_usage("--alias: \"%s\" is not NAME=MODEL", alias);
    for (int i = 0; i < v->n; i++) {
        if (strcmp(v->model[i].id, is + 1) != 0) continue;
        char *name = strndup(alias, (size_t)(is - alias));
        int k = 0;
        while (v->model[i].alias[k]) k++;
        v->model[i].alias[k] = name;
        return name ? EXIT_OK : EXIT_MEMORY;
    }
    return message_usage("--alias: no model has the name %s; -m gives the models", is + 1);
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static void on_signal(void *user, int sig)
{
    if (sig == SIGHUP) serve_reload(user);
    else serve_stop(user);
}

static void log_line(void *user, const char *line)
{
    (void)user;
    fprintf(stderr, "%s\n", line);
}

/* Options that another one makes useless. */
static int check_useless(const struct server *v)
{
    const struct opts *o = &v->o;
    const struct { const char *name, *beside; int is_useless; } pairs[] = {
        { "port", "--unix", o->unix_path != NULL },
        { "host", "--unix and without --wyoming", o->unix_path && o->wyoming_port < 0 },
        { "allow-host", "--api-key-file", o->key_file != NULL },
        { "live-step", "--live 0", o->live == 0 },
        { "live-max-turn", "--live 0", o->live == 0 },
        { "live-max-seconds", "--live 0", o->live == 0 },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].is_useless && option_was_given(&v->given, pairs[i].name))
            return message_usage("--%s has no effect with %s: leave one of them out", pairs[i].name, pairs[i].beside);
    return EXIT_OK;
}

static int check(struct server *v)
{
    struct opts *o = &v->o;
    if (!o->tls_cert != !o->tls_key) return message_usage("--tls-cert and --tls-key need each other");
    if (o->prefix && (o->prefix[0] != '/' || o->prefix[strlen(o->prefix) - 1] == '/'))
        return message_usage("--prefix: \"%s\" must begin with / and not end with it", o->prefix);
    if (o->t.engine.demo && o->models.n) return message_usage("--demo and --model exclude each other");
    const int code = check_useless(v);
    if (code != EXIT_OK) return code;
    o->t.channel = JOB_MIX;
    o->t.track = JOB_ANY_TRACK;
    o->t.engine.given = &v->given;
    o->t.engine.path_guard = o->t.decode.path_guard = &v->path_guard;
    o->t.engine.cmvn_apart = o->t.vad.kind != VAD_OFF;
    return decode_opts_check(&v->data, &o->t.decode, o->t.vad.kind != VAD_OFF && !o->t.vad.join);
}

static void params_fill(struct serve_params *p, struct server *v, struct serve_model *models, const struct systemd *systemd)
{
    const struct opts *o = &v->o;
    serve_params_init(p);
    p->models = models;
    p->n_models = v->n;
    p->open = model_open;
    p->close = model_close;
    p->log = log_line;
    p->user = v;
    p->host = o->host;
    p->port = (int)o->port;
    p->unix_path = o->unix_path;
    p->prefix = o->prefix ? o->prefix : "";
    p->tls_cert = o->tls_cert;
    p->tls_key = o->tls_key;
    p->key_file = o->key_file;
    p->no_auth = o->no_auth;
    p->origins = o->origins.text, p->n_origins = o->origins.n;
    p->trusted = o->trusted.text, p->n_trusted = o->trusted.n;
    p->hosts = o->hosts.text, p->n_hosts = o->hosts.n;
    p->page = o->page;
    p->metrics = o->metrics;
    p->log_text = o->log_text;
    p->is_strict = o->strict_fields;
    p->any_model = o->any_model;
    p->parallel = (int)o->parallel;
    p->queue = (int)o->queue;
    p->n_ingest = (int)o->ingest;
    p->queue_timeout_s = o->queue_timeout;
    p->timeout_s = o->timeout;
    p->idle_unload_s = o->idle_unload;
    p->memory_max = o->memory_mb * 1000000;
    p->upload_max = o->upload_mb * 1000000;
    p->spool_max = o->spool_mb * 1000000;
    p->seconds_max = o->seconds_max;
    p->spool_dir = o->spool_dir ? o->spool_dir : getenv("TMPDIR");
    p->head_timeout_s = o->head_timeout;
    p->body_timeout_s = o->body_timeout;
    p->idle_timeout_s = o->idle_timeout;
    p->grace_s = o->grace;
    p->connections = (int)o->connections;
    p->per_ip = (int)o->per_ip;
    p->live_max = (int)o->live;
    p->live_step_ms = (int)o->live_step_ms;
    p->live_turn_ms = (int)o->live_turn_ms;
    p->live_seconds_max = o->live_seconds;
    p->wyoming_port = (int)o->wyoming_port;
    p->systemd = systemd;
    p->wyoming_fd = systemd->wyoming_fd;
    p->version = STENO_VERSION;
}

static int exit_code(int rc)
{
    switch (rc) {
    case STENO_EARG: return EXIT_USAGE;
    case STENO_ENOMEM: return EXIT_MEMORY;
    case STENO_ESOURCE: return EXIT_OUTPUT;
    default: return EXIT_NETWORK;
    }
}

/* Without a detector, a pause does not end a live turn. */
static void report_turns(const struct server *v)
{
    int lacks = 0;
    for (int i = 0; i < v->n; i++) {
        const struct transcription *t = &v->model[i].t;
        lacks |= t->engine.model && transcribes(t->engine.model) && !t->vad.model;
    }
    if (lacks && v->o.live && !v->o.t.engine.quiet)
        message("note: no voice activity detection: live turns end at their maximum length, or when a client ends them; --vad silero ends "
                "them at pauses");
}

static void report_address(const struct server *v, struct serve *s)
{
    const struct opts *o = &v->o;
    const int is_v6 = strchr(o->host, ':') != NULL;
    if (o->unix_path) message("serving %s on the Unix socket %s", v->model[0].id, o->unix_path);
    else
        message("serving %s on http%s://%s%s%s:%d%s/", v->model[0].id, o->tls_cert ? "s" : "", is_v6 ? "[" : "", o->host, is_v6 ? "]" : "",
                serve_port(s), o->prefix ? o->prefix : "");
    if (serve_wyoming_port(s) >= 0) message("serving Wyoming on port %d", serve_wyoming_port(s));
}

static int is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

static void warn_plain(const struct opts *o)
{
    if (o->key_file && !o->tls_cert && !o->unix_path && !is_loopback(o->host))
        message("warning: keys are sent in plain HTTP: use --tls-cert and --tls-key, or a proxy with TLS");
}

static int serve_models(struct server *v, struct serve_model *models, const struct systemd *systemd)
{
    struct serve_params p;
    struct serve *s;
    steno_error e = { 0 };
    params_fill(&p, v, models, systemd);
    const int rc = serve_open(&s, &p, &e);
    if (rc != STENO_OK && v->failed != EXIT_OK) return v->failed;
    if (rc != STENO_OK) {
        message("%s", e.text[0] ? e.text : steno_status_text(rc));
        return exit_code(rc);
    }
    signals_handle(on_signal, s);
    report_turns(v);
    report_address(v, s);
    warn_plain(&v->o);
    serve_run(s);
    signals_handle(NULL, NULL);
    serve_close(s);
    return EXIT_OK;
}

static int systemd_read(struct systemd *systemd)
{
    const char *value[N_SYSTEMD_VARIABLES];
    steno_error e = { 0 };
    for (int i = 0; i < N_SYSTEMD_VARIABLES; i++) value[i] = getenv(systemd_variable_name[i]);
    const int rc = systemd_open(systemd, value, getpid(), &e);
    for (int i = 0; i < N_SYSTEMD_VARIABLES; i++) unsetenv(systemd_variable_name[i]);
    return rc == STENO_OK ? EXIT_OK : message_usage("%s", e.text);
}

static void server_free(struct server *v)
{
    for (int i = 0; i < v->n && v->model; i++) {
        for (int k = 0; v->model[i].alias[k]; k++) free((void *)(uintptr_t)v->model[i].alias[k]);
        free(v->model[i].id);
        free(v->model[i].path);
    }
    free(v->model);
    decode_data_free(&v->data);
    path_guard_free(&v->path_guard);
}

int cmd_serve(int argc, char **argv)
{
    struct server v = { .o.t = { .decode = DECODE_OPTS_UNSET } };
    struct systemd systemd = { .wyoming_fd = -1 };
    struct serve_model models[ARG_TEXTS_MAX] = { { 0 } };
    int n;
    args_parse(&transcribe_args, &v.o.t, NULL, 0, argv, &n); /* the defaults of options that are not among the rows */
    int code = args_parse(&serve_args, &v.o, &v.given, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n) return message_usage("serve takes no files: \"%s\"; -m names a model", argv[0]);
    code = check(&v);
    if (code == EXIT_OK) code = systemd_read(&systemd);
    if (code == EXIT_OK) code = models_begin(&v);
    for (int i = 0; i < v.o.aliases.n && code == EXIT_OK; i++) code = alias_add(&v, v.o.aliases.text[i]);
    for (int i = 0; i < v.n && code == EXIT_OK; i++) models[i] = (struct serve_model){ v.model[i].id, v.model[i].path, v.model[i].alias };
    if (code == EXIT_OK) code = serve_models(&v, models, &systemd);
    server_free(&v);
    return code;
}
