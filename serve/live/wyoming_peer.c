/* steno-serve: a connection of the Wyoming protocol. SPDX-License-Identifier: MIT
 *
 * Its utterances are spooled, and run as files one after the other, but for those whose words are sent while they are spoken. An error is
 * an event, and ends the connection: a client that waits for a text would wait for ever. */
#include "ask.h"
#include "transcript.h"
#include "utf8.h"
#include "wyoming_in.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OUT_MAX = 1 << 20, READ_AT_ONCE = 1 << 18 };

static void peer_ready(void *user, int events);

/* ---- output -------------------------------------------------------------------------------------------------------------------- */

void wyoming_peer_removed(struct wyoming *w)
{
    if (!w->is_closing || w->n_peers) return;
    pthread_mutex_lock(&w->lock);
    w->is_closed = 1;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* ---- the log ------------------------------------------------------------------------------------------------------------------- */

/* Codes of this protocol only are bad requests. */
static enum api_code code_of(const char *name)
{
    int i = API_OK + 1;
    while (i < API_N_CODES && strcmp(api_code_name((enum api_code)i), name) != 0) i++;
    return i < API_N_CODES ? (enum api_code)i : API_bad_request;
}

/* Of what arrived; -1: none. */
static int64_t audio_ms(const struct wyoming_peer *c)
{
    const int64_t per_s = (int64_t)c->format.rate * c->format.width * c->format.channels;
    return per_s > 0 ? c->n_bytes * 1000 / per_s : -1;
}

/* An utterance has ended, or an event is refused. text: what was sent */
static void utterance_over(struct wyoming_peer *c, enum api_code code, const char *text)
{
    const struct wyoming_utterance u = {
        .code = code, .client = c->client, .work = c->work.engine ? &c->work : NULL, .text = text,
        .language = c->text_language[0] ? c->text_language : c->language, .audio_ms = audio_ms(c),
        .bytes_in = c->n_bytes, .bytes_out = text ? (int64_t)strlen(text) : 0, .total_us = c->begun_us ? loop_now_us() - c->begun_us : 0,
    };
    if (c->w->p.over) c->w->p.over(c->w->p.user, &u);
    c->work = (struct work){ 0 };
    c->stream = (struct answer_stream){ 0 };
    c->has_start = 0;
    c->refused = API_OK;
    c->format = (struct wyoming_format){ 0 };
    c->text_language[0] = '\0';
    c->n_bytes = c->begun_us = 0;
}

static enum api_code why_without_text(const struct wyoming_peer *c) { return c->refused ? c->refused : API_cancelled; }

static void peer_free(struct wyoming_peer *c)
{
    struct wyoming *w = c->w;
    if (c->begun_us) utterance_over(c, why_without_text(c), NULL);
    if (c->prev) c->prev->next = c->next;
    else w->peers = c->next;
    if (c->next) c->next->prev = c->prev;
    w->n_peers--;
    wyoming_reader_close(c->reader);
    spool_file_close(c->spool);
    free(c->text);
    free(c->out);
    free(c);
    wyoming_peer_removed(w);
}

void wyoming_peer_close(struct wyoming_peer *c)
{
    if (!c->is_gone) {
        loop_remove(c->f, NULL);
        close(c->fd);
    }
    c->is_gone = 1;
    if (c->live) wyoming_live_cancel(c->live);
    else if (c->is_running) work_cancel(&c->work);
    else peer_free(c);
}

/* Sends what waits. @return 0; -1: the connection broke, or all is sent and it may linger */
static int flush(struct wyoming_peer *c)
{
    size_t at = 0;
    while (at < c->n_out) {
        const ssize_t n = send(c->fd, c->out + at, c->n_out - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return -1;
        if (n < 0) break;
        at += (size_t)n;
    }
    if (at) memmove(c->out, c->out + at, c->n_out - at);
    c->n_out -= at;
    if (c->ends && !c->n_out && !c->lingers) {
        c->lingers = 1;
        c->active_ms = loop_now_ms();
        shutdown(c->fd, SHUT_WR); /* what the client still sends is read: a reset would destroy the answer */
    }
    loop_change(c->f, (c->is_full ? 0 : LOOP_READ) | (c->n_out ? LOOP_WRITE : 0));
    return 0;
}

static void flush_or_close(struct wyoming_peer *c)
{
    if (flush(c)) wyoming_peer_close(c);
}

static void put(struct wyoming_peer *c, const char *type, json_t *data)
{
    size_t n;
    char *text = wyoming_event_text(type, data, &n);
    if (!text || c->n_out + n > OUT_MAX) c->ends = 1; /* out of memory, or a client that does not read */
    else if (c->n_out + n > c->cap_out) {
        char *more = realloc(c->out, c->n_out + n + 1024);
        if (more) c->out = more, c->cap_out = c->n_out + n + 1024;
        else c->ends = 1;
    }
    if (text && c->n_out + n <= c->cap_out) {
        memcpy(c->out + c->n_out, text, n);
        c->n_out += n;
    }
    free(text);
}

static int put_error(struct wyoming_peer *c, const char *code, const char *text)
{
    put(c, "error", json_pack("{s:s, s:s}", "text", text, "code", code));
    c->ends = 1;
    if (c->live) wyoming_live_cancel(c->live);
    if (c->live || c->is_running) c->refused = code_of(code); /* it is logged when its work has ended */
    else {
        utterance_over(c, code_of(code), NULL);
        spool_file_close(c->spool); /* the connection lingers */
        c->spool = NULL;
    }
    return -1;
}

/* A part of the text; the first one is announced. */
static void put_part(struct wyoming_peer *c, const char *text, size_t n)
{
    if (!c->has_start) put(c, "transcript-start", c->language[0] ? json_pack("{s:s}", "language", c->language) : NULL);
    c->has_start = 1;
    if (n) put(c, "transcript-chunk", json_pack("{s:o}", "text", json_stringn(text, n)));
}

/* Clients that read parts receive the whole text, too. */
static void put_transcript(struct wyoming_peer *c, const char *text, const char *language)
{
    json_t *data = json_pack("{s:s}", "text", text);
    if (data && language[0]) json_object_set_new(data, "language", json_string(language));
    if (c->streams) {
        size_t n;
        const char *rest = answer_news(&c->stream, text, &n);
        put_part(c, rest, n);
    }
    put(c, "transcript", data);
    if (c->streams) put(c, "transcript-stop", NULL);
    utterance_over(c, API_OK, text);
}

/* ---- the work of an utterance -------------------------------------------------------------------------------------------------- */

static int work_prepare(struct work *w, const steno_model *m, struct api_error *e)
{
    const struct wyoming_peer *c = w->user;
    char near[64];
    w->job.aligner = NULL; /* an utterance has no words */
    if (!c->language[0]) return API_OK;
    const char *code = ask_language(m, c->language, near);
    if (!code)
        return api_fail(e, API_invalid_value, "language", "the model does not have the language \"%s\"%s%s", c->language,
                        near[0] ? "; the nearest is " : "", near);
    w->job.params.language = code;
    return API_OK;
}

/* A part of the text on its way to the loop's thread. */
struct part { struct wyoming_peer *c; size_t n; char text[]; };

static void part_over(void *user)
{
    struct part *p = user;
    if (!p->c->is_gone && !p->c->ends) {
        put_part(p->c, p->text, p->n);
        flush_or_close(p->c);
    }
    free(p);
}

/* A punctuation model changes the text at its end. */
static void work_segment(struct work *w, const steno_segment *seg)
{
    struct wyoming_peer *c = w->user;
    size_t n;
    (void)seg;
    if (!c->streams || w->job.punctuation) return;
    struct answer_stream next = c->stream;
    const char *text = answer_news(&next, steno_text(w->session), &n);
    struct part *p = n ? malloc(sizeof *p + n + 1) : NULL;
    if (!p) return; /* a later part has it */
    *p = (struct part){ c, n };
    memcpy(p->text, text, n);
    p->text[n] = '\0';
    if (utf8_invalid_at(p->text) >= 0) { /* a later part completes the character */
        free(p);
        return;
    }
    c->stream = next;
    loop_call(c->w->p.loop, part_over, p);
}

/* The text without spaces at its ends, which its parts do not have either. */
static void work_output(struct work *w, struct transcript *t)
{
    struct wyoming_peer *c = w->user;
    size_t n;
    const char *text = utf8_strip(t->text ? t->text : "", &n);
    c->text = strndup(text, n);
    snprintf(c->text_language, sizeof c->text_language, "%s", t->language ? t->language : "");
}

/* On the loop's thread again. */
static void work_over(void *user)
{
    struct wyoming_peer *c = user;
    c->is_running = 0;
    spool_file_close(c->spool);
    c->spool = NULL;
    if (c->is_gone) {
        peer_free(c);
        return;
    }
    if (c->ends) utterance_over(c, why_without_text(c), NULL);
    else if (c->error.code == API_audio_too_short) put_transcript(c, "", c->language); /* a wake word without a command */
    else if (c->error.code != API_OK) put_error(c, api_code_name(c->error.code), c->error.message);
    else if (!c->text) put_error(c, "internal_error", "the server has no memory for the text");
    else put_transcript(c, c->text, c->text_language);
    free(c->text);
    c->text = NULL;
    c->active_ms = loop_now_ms();
    flush_or_close(c);
}

static void work_ended(struct work *w, const struct api_error *e)
{
    struct wyoming_peer *c = w->user;
    c->error = *e;
    loop_call(c->w->p.loop, work_over, c);
}

static int utterance_end(struct wyoming_peer *c)
{
    unsigned char head[WYOMING_WAV_HEAD];
    struct api_error e = { 0 };
    c->has_audio = 0;
    if (c->live) {
        c->is_running = 1;
        wyoming_live_end(c->live);
        return 0;
    }
    if (!c->n_bytes) {
        put_transcript(c, "", c->language);
        spool_file_close(c->spool);
        c->spool = NULL;
        return 0;
    }
    wyoming_wav_head(head, &c->format, (size_t)c->n_bytes);
    struct engine *g = engines_for(c->w->p.engines, c->name, ENGINE_TRANSCRIBES, &e);
    if (!g) return put_error(c, api_code_name(e.code), e.message);
    const int fd = pwrite(spool_fd(c->spool), head, sizeof head, 0) == sizeof head ? dup(spool_fd(c->spool)) : -1;
    if (fd < 0 || lseek(fd, 0, SEEK_SET)) {
        if (fd >= 0) close(fd);
        return put_error(c, "internal_error", "the server cannot read its temporary file");
    }
    c->error = (struct api_error){ 0 };
    c->work = (struct work){ .user = c, .engine = g, .fd = fd, .name = "audio.wav", .client = c->client,
                             .prepare = work_prepare, .segment = work_segment, .output = work_output, .ended = work_ended };
    c->is_running = 1;
    if (work_submit(&c->work, &e) == API_OK) return 0;
    c->is_running = 0;
    return put_error(c, api_code_name(e.code), e.message);
}

/* ---- an utterance whose words are sent while it is spoken ---------------------------------------------------------------------- */

static int is_read(const struct wyoming_peer *c) { return !c->is_gone && !c->ends; }

static void live_words(void *user)
{
    struct wyoming_peer *c = user;
    size_t n;
    if (!is_read(c)) return;
    const char *news = answer_news(&c->stream, wyoming_live_text(c->live), &n);
    put_part(c, news, n);
    flush_or_close(c);
}

static void live_room(void *user)
{
    struct wyoming_peer *c = user;
    c->is_full = 0;
    if (is_read(c)) flush_or_close(c);
}

static void live_ended(void *user, const struct api_error *e)
{
    struct wyoming_peer *c = user;
    struct wyoming_live *live = c->live;
    c->live = NULL;
    c->is_full = 0;
    c->error = (struct api_error){ 0 };
    if (e) c->error = *e;
    c->text = strdup(wyoming_live_text(live));
    snprintf(c->text_language, sizeof c->text_language, "%s", wyoming_live_language(live));
    wyoming_live_close(live);
    work_over(c);
}

/* @return 1; 0: its audio must be spooled */
static int live_begin(struct wyoming_peer *c)
{
    struct api_error e = { 0 };
    struct engine *g = c->streams ? engines_for(c->w->p.engines, c->name, ENGINE_TRANSCRIBES, &e) : NULL;
    if (!g || !engine_decodes_chunks(g)) return 0;
    const struct wyoming_live_params p = { .loop = c->w->p.loop, .engine = g, .language = c->language, .format = c->format,
                                           .metrics = c->w->p.metrics,
                                           .words = live_words, .room = live_room, .ended = live_ended, .user = c };
    c->live = wyoming_live_open(&p);
    if (c->live) c->work = (struct work){ .engine = g };
    return c->live != NULL;
}

/* ---- events -------------------------------------------------------------------------------------------------------------------- */

static const char one_at_a_time[] = "one utterance at a time: wait for the transcript before the next audio";

static int utterance_begin(struct wyoming_peer *c, const json_t *data)
{
    static const unsigned char no_head[WYOMING_WAV_HEAD];
    if (c->is_running || c->live) return put_error(c, "invalid_value", one_at_a_time);
    const char *why = wyoming_format_read(&c->format, data);
    if (why) return put_error(c, "invalid_audio", why);
    spool_file_close(c->spool);
    c->spool = NULL;
    c->n_bytes = 0;
    c->begun_us = loop_now_us();
    if (!live_begin(c) && (spool_file_open(&c->spool, c->w->p.spool) || spool_write(c->spool, no_head, sizeof no_head)))
        return put_error(c, "spool_full", "the server has no room for more audio; try again later");
    c->has_audio = 1;
    return 0;
}

static int audio_chunk(struct wyoming_peer *c, const struct wyoming_event *e)
{
    struct wyoming_format f;
    const char *why = wyoming_format_read(&f, e->data);
    if (why) return put_error(c, "invalid_audio", why);
    if (!c->has_audio && utterance_begin(c, e->data)) return -1;
    if (f.rate != c->format.rate || f.width != c->format.width || f.channels != c->format.channels)
        return put_error(c, "invalid_audio", "the rate, width and channels of an audio-chunk must be those of audio-start");
    if (c->n_bytes + (int64_t)e->n_payload > c->w->p.upload_max)
        return put_error(c, "audio_too_long", "the utterance is longer than the server's maximum upload");
    if (c->live) c->is_full = wyoming_live_push(c->live, e->payload, e->n_payload) == 1;
    else if (spool_write(c->spool, e->payload, e->n_payload))
        return put_error(c, "spool_full", "the server has no room for more audio; try again later");
    c->n_bytes += (int64_t)e->n_payload;
    if (c->live && c->w->p.live_ms_max && audio_ms(c) > c->w->p.live_ms_max)
        return put_error(c, "audio_too_long", "the utterance is longer than the server's maximum for live audio");
    return 0;
}

static int transcribe(struct wyoming_peer *c, const json_t *data)
{
    const struct { const char *name; char *to; size_t size; } field[] = {
        { "name", c->name, sizeof c->name }, { "language", c->language, sizeof c->language },
    };
    if (c->is_running || c->live) return put_error(c, "invalid_value", one_at_a_time);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        const json_t *v = json_object_get(data, field[i].name);
        field[i].to[0] = '\0';
        if (!v || json_is_null(v)) continue;
        if (!json_is_string(v) || json_string_length(v) >= field[i].size)
            return put_error(c, "invalid_value", "name and language must be short texts");
        snprintf(field[i].to, field[i].size, "%s", json_string_value(v));
    }
    return 0;
}

/* Version 1.7 of the package added texts in parts. */
static int reads_parts(const char *version)
{
    int major = 0, minor = 0;
    return sscanf(version, "%4d.%4d", &major, &minor) == 2 && (major > 1 || (major == 1 && minor >= 7));
}

/* Events of other parts of the protocol are ignored. */
static int peer_event(void *user, const struct wyoming_event *e)
{
    struct wyoming_peer *c = user;
    if (e->version && !c->is_running && !c->live) c->streams = reads_parts(e->version);
    if (strcmp(e->type, "describe") == 0) put(c, "info", wyoming_info(c->w));
    else if (strcmp(e->type, "ping") == 0) put(c, "pong", json_deep_copy(e->data));
    else if (strcmp(e->type, "transcribe") == 0) transcribe(c, e->data);
    else if (strcmp(e->type, "audio-start") == 0) utterance_begin(c, e->data);
    else if (strcmp(e->type, "audio-chunk") == 0) audio_chunk(c, e);
    else if (strcmp(e->type, "audio-stop") == 0 && !c->is_running) utterance_end(c);
    return c->ends;
}

/* ---- the socket ---------------------------------------------------------------------------------------------------------------- */

static void peer_ready(void *user, int events)
{
    struct wyoming_peer *c = user;
    char bytes[16384];
    ssize_t n = 1;
    size_t sum = 0;
    int is_over = (events & LOOP_HANGUP) && !(events & LOOP_READ);
    while ((events & LOOP_READ) && sum < READ_AT_ONCE && !is_over && !c->is_full) {
        n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) is_over = 1;
        if (n <= 0) break;
        sum += (size_t)n;
        if (c->ends) continue;
        c->active_ms = loop_now_ms();
        if (wyoming_reader_add(c->reader, bytes, (size_t)n) && wyoming_reader_why(c->reader))
            put_error(c, "invalid_event", wyoming_reader_why(c->reader));
    }
    if (is_over || flush(c)) wyoming_peer_close(c);
}

void wyoming_peer_sweep(struct wyoming_peer *c, int64_t now_ms)
{
    const int64_t limit_ms = 1000 * (c->ends ? WYOMING_LINGER_S : WYOMING_IDLE_S);
    if (!c->is_gone && !c->is_running && now_ms - c->active_ms > limit_ms) wyoming_peer_close(c);
}

void wyoming_peer_add(struct wyoming *w, int fd)
{
    struct sockaddr_storage sa;
    socklen_t n = sizeof sa;
    struct wyoming_peer *c = calloc(1, sizeof *c);
    if (c) c->reader = wyoming_reader_open(peer_event, c);
    if (!c || !c->reader) {
        free(c);
        close(fd);
        return;
    }
    if (getpeername(fd, (struct sockaddr *)&sa, &n) || sa.ss_family == AF_UNIX ||
        getnameinfo((struct sockaddr *)&sa, n, c->client, sizeof c->client, NULL, 0, NI_NUMERICHOST))
        snprintf(c->client, sizeof c->client, "unix");
    c->w = w;
    c->fd = fd;
    c->active_ms = loop_now_ms();
    c->next = w->peers;
    if (c->next) c->next->prev = c;
    w->peers = c;
    w->n_peers++;
    c->f = loop_add(w->p.loop, fd, LOOP_READ, peer_ready, c);
    if (c->f) return;
    close(fd);
    c->is_gone = 1;
    peer_free(c);
}
