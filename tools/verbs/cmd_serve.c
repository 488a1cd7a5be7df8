/* steno: the verb serve: a transcription server. SPDX-License-Identifier: MIT
 *
 * Turns options into the parameters of serve.h. */
#include "cli/message.h"
#include "cli/option_names.h"
#include "cli/signals.h"
#include "cmd.h"
#include "serve.h"
#include "verbs/serve_log.h"
#include "verbs/serve_models.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ----------------------------------------------------------------------------------------------------------------- */

struct opts {
    struct transcribe_opts t; /* must be first: rows of other verbs set it */
    struct arg_texts models, aliases, origins, trusted, hosts;
    const char *host, *unix_path, *prefix, *tls_cert, *tls_key, *key_file, *spool_dir;
    int no_auth, page, metrics, log_text, strict_fields, any_model;
    int64_t port, parallel, queue, ingest, upload_mb, spool_mb, memory_mb, connections, per_ip, live, live_step_ms, live_turn_ms,
        live_padding_ms, wyoming_port;
    int live_last; /* enum live_last, in the order of the values of --live-last-pass */
    double queue_timeout, timeout, idle_unload, seconds_max, head_timeout, body_timeout, idle_timeout, grace, live_seconds, live_delay;
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
    ENGINE_DECODER_ROW(struct transcribe_opts),
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
    { .name = "live-audio-padding", .kind = ARG_MS, .at = AT(live_padding_ms), .value = "MS", .dflt = "3000", .lo = 500, .hi = 30000,
      .help = "silence that an update encodes after the turn, in ms; 30000: the whole window, as the last pass of a turn (Whisper)" },
    { .name = "live-last-pass", .kind = ARG_WORD, .at = AT(live_last), .value = "window|turn", .dflt = "window",
      .help = "what the last pass of a turn encodes: the whole window, or as an update, unless its text is doubtful (Whisper)" },
    { .name = "live-max-seconds", .kind = ARG_S, .at = AT(live_seconds), .value = "S", .dflt = "0", .hi = 1e7,
      .help = "maximum length of a live session; 0: no limit" },
    { .name = "live-max-delay", .kind = ARG_S, .at = AT(live_delay), .value = "S", .dflt = "0", .hi = 1000,
      .help = "accept no live session while more than a quarter of the last texts of live sessions come later; 0: no limit" },
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
      .help = "language spoken; auto: detected; several, such as de,en: detected among them (Whisper)" },
    VAD_ROWS(struct transcribe_opts),
    PUNCTUATION_ROWS(struct transcribe_opts),
    DECODE_ROWS(struct transcribe_opts),
    ALIGNER_ROW(struct transcribe_opts),
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

/* ---- checks ------------------------------------------------------------------------------------------------------------------ */

struct server {
    struct opts o;
    struct args_given given;
    struct decode_data data;
    struct path_guard path_guard;
    struct served_models models;
};

/* Options that another one makes useless. */
static int check_useless(const struct server *v)
{
    const struct opts *o = &v->o;
    const struct { const char *name, *beside; int is_useless; } pairs[] = {
        { "port", "--unix", o->unix_path != NULL },
        { "host", "--unix and without --wyoming", o->unix_path && o->wyoming_port < 0 },
        { "allow-host", "--api-key-file", o->key_file != NULL },
        { "word-timestamps", "--align-model", o->t.aligner.model != NULL },
        { "live-step", "--live 0", o->live == 0 },
        { "live-max-turn", "--live 0", o->live == 0 },
        { "live-max-seconds", "--live 0", o->live == 0 },
        { "live-max-delay", "--live 0", o->live == 0 },
        { "live-audio-padding", "--live 0", o->live == 0 },
        { "live-last-pass", "--live 0", o->live == 0 },
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

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

/* Signals that come while the models are opened count when the server runs. */
struct running { struct serve *_Atomic server; atomic_int n_stops, n_reloads; };

static void early_signals(struct running *r)
{
    struct serve *s = atomic_load(&r->server);
    if (s && atomic_exchange(&r->n_reloads, 0)) serve_reload(s);
    if (s && atomic_exchange(&r->n_stops, 0)) serve_stop(s);
}

static void on_signal(void *user, int sig)
{
    struct running *r = user;
    struct serve *s = atomic_load(&r->server);
    if (s && sig == SIGHUP) serve_reload(s);
    else if (s) serve_stop(s);
    else if (sig == SIGHUP) atomic_store(&r->n_reloads, 1);
    else if (atomic_fetch_add(&r->n_stops, 1)) { /* the second one ends the program at once */
        signals_handle(NULL, NULL);
        raise(sig);
    }
    if (!s) early_signals(r); /* it may run by now */
}

static void params_fill(struct serve_params *p, struct server *v, struct serve_model *models, const struct systemd *systemd)
{
    const struct opts *o = &v->o;
    *p = (struct serve_params){ 0 };
    p->models = models;
    p->n_models = v->models.n;
    p->open = served_open;
    p->close = served_close;
    p->log = serve_log_line;
    p->user = &v->models;
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
    p->live_padding_ms = (int)o->live_padding_ms;
    p->live_last = o->live_last;
    p->live_seconds_max = o->live_seconds;
    p->live_delay_s = o->live_delay;
    p->wyoming_port = (int)o->wyoming_port;
    p->systemd = systemd;
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
static void report_turns(const struct server *v, const struct serve *s)
{
    if (v->models.needs_turns && serve_lacks_turns(s) && !v->o.t.engine.quiet)
        message("note: no voice activity model was found: live turns end at their maximum length, or when a client ends them. \"steno "
                "models pull silero\" gets one, and --vad-model names one");
}

static void report_address(const struct server *v, struct serve *s)
{
    const struct opts *o = &v->o;
    const int is_v6 = strchr(o->host, ':') != NULL;
    if (o->unix_path) message("serving %s on the Unix socket %s", v->models.model[0].id, o->unix_path);
    else if (serve_port(s) == 0) message("serving %s on the socket of systemd", v->models.model[0].id);
    else
        message("serving %s on http%s://%s%s%s:%d%s/", v->models.model[0].id, o->tls_cert ? "s" : "", is_v6 ? "[" : "", o->host,
                is_v6 ? "]" : "", serve_port(s), o->prefix ? o->prefix : "");
    if (serve_wyoming_port(s) >= 0) message("serving Wyoming on port %d", serve_wyoming_port(s));
}

static void warn_plain(const struct opts *o)
{
    if (o->key_file && !o->tls_cert && !o->unix_path && !serve_is_local(o->host))
        message("warning: keys are sent in plain HTTP: use --tls-cert and --tls-key, or a proxy with TLS");
}

/* Options for which the models must be open. */
static int check_models(const struct server *v)
{
    static const char *const names[] = { "live-audio-padding", "live-last-pass" };
    for (size_t i = 0; i < sizeof names / sizeof *names && !v->models.n_padded; i++)
        if (option_was_given(&v->given, names[i]))
            return message_usage("--%s is for Whisper: passes of the other models encode only the turn", names[i]);
    return EXIT_OK;
}

static int serve(struct server *v, struct serve_model *models, const struct systemd *systemd)
{
    struct serve_params p;
    struct serve *s;
    struct running running = { .server = NULL };
    steno_error e = { 0 };
    params_fill(&p, v, models, systemd);
    signals_handle(on_signal, &running);
    const int rc = serve_open(&s, &p, &e), code = rc == STENO_OK ? check_models(v) : EXIT_OK;
    if (rc != STENO_OK || code != EXIT_OK) signals_handle(NULL, NULL);
    if (rc != STENO_OK && v->models.failed != EXIT_OK) return v->models.failed;
    if (rc != STENO_OK) {
        message("%s", e.text[0] ? e.text : steno_status_text(rc));
        return exit_code(rc);
    }
    if (code != EXIT_OK) {
        serve_close(s);
        return code;
    }
    atomic_store(&running.server, s);
    early_signals(&running);
    report_turns(v, s);
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
    v.models = (struct served_models){ .o = &v.o.t, .data = &v.data, .path_guard = &v.path_guard };
    v.models.needs_turns = v.o.live > 0 && !v.o.t.vad.none && !option_was_given(&v.given, "vad");
    if (code == EXIT_OK) code = systemd_read(&systemd);
    if (code == EXIT_OK) code = served_begin(&v.models, &v.o.models);
    for (int i = 0; i < v.o.aliases.n && code == EXIT_OK; i++) code = served_alias(&v.models, v.o.aliases.text[i]);
    for (int i = 0; i < v.models.n && code == EXIT_OK; i++) {
        const struct served *m = &v.models.model[i];
        models[i] = (struct serve_model){ m->id, m->path, m->alias };
    }
    if (code == EXIT_OK) code = serve(&v, models, &systemd);
    served_free(&v.models);
    decode_data_free(&v.data);
    path_guard_free(&v.path_guard);
    return code;
}
