/* steno: the journal of a batch, which is also its output. SPDX-License-Identifier: MIT */
#include "batch/journal.h"
#include "batch/ids.h"
#include "json_scan.h"
#include "utf8.h"
#include "write.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- records ----------------------------------------------------------------------------------------------------------------- */

static const char *const class_names[N_CLASSES] = { NULL, "input", "decode", "memory", "timeout", "io", "poison" };

const char *batch_class_name(enum batch_class c)
{
    return class_names[c];
}

int batch_class_is_retryable(enum batch_class c)
{
    return c == CLASS_MEMORY || c == CLASS_TIMEOUT || c == CLASS_IO;
}

static enum record_kind kind_of(const char *type)
{
    static const struct { const char *name; enum record_kind kind; } kinds[] = {
        { "job", RECORD_HEADER }, { "begin", RECORD_BEGIN }, { "stop", RECORD_STOP }, { "transcript", RECORD_RESULT },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].name) == 0) return kinds[i].kind;
    return RECORD_OTHER;
}

/* Read the class, which is null or a name. @return 1, or 0 if it is neither */
static int class_read(enum batch_class *c, const struct json_path *j)
{
    *c = CLASS_OK;
    if (j->piece == JSON_PIECE_OTHER) return 1;
    for (int i = CLASS_OK + 1; j->piece == JSON_PIECE_TEXT && i < N_CLASSES; i++)
        if (strcmp(j->json.s, class_names[i]) == 0) return *c = (enum batch_class)i, 1;
    return 0;
}

/* Read a member if it is a number of a result's audio, or null. @return 1, or 0 if it is such a member and neither */
static int audio_read(struct batch_audio *a, const struct json_path *j)
{
    const struct { const char *name; int *to, lo; } numbers[] = {
        { "track", &a->track, 1 }, { "tracks", &a->n_tracks, 1 }, { "channel", &a->channel, 0 }, { "channels", &a->n_channels, 1 },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!json_path_is(j, numbers[i].name) || j->piece == JSON_PIECE_OTHER) continue;
        const int64_t n = json_path_whole(j);
        if (n < numbers[i].lo || n > INT32_MAX) return 0;
        *numbers[i].to = (int)n;
    }
    return 1;
}

static int audio_fits(const struct batch_audio *a)
{
    if (a->n_tracks && (a->track < 1 || a->track > a->n_tracks)) return 0;
    return !a->n_channels || (a->channel >= 0 && a->channel < a->n_channels);
}

/* The members of a result's front come in the order id, class, retryable, track, tracks, channel, channels, run. */
static int result_read(struct batch_record *r, struct json_path *j, const char *line)
{
    int has_class = 0, is_bad = 0;
    r->audio.channel = -1;
    size_t end = 0; /* of the member before */
    for (; json_path_next(j); end = (size_t)(j->json.p - line)) {
        if (json_path_is(j, "id")) r->id = json_path_text(j, "id");
        if (json_path_is(j, "class") && !(has_class = class_read(&r->class, j))) return 0;
        is_bad |= !audio_read(&r->audio, j);
        if (!json_path_is(j, "run")) continue;
        if (j->piece == JSON_PIECE_OPEN) r->run_at = end;
        while (j->json.depth > 1 && json_path_next(j)) continue;
        r->run_end = (size_t)(j->json.p - line);
        return r->run_at && r->id && has_class && !is_bad && audio_fits(&r->audio) && j->json.depth == 1;
    }
    return 0;
}

static enum record_kind front_read(struct batch_record *r, char *line)
{
    struct json_path j;
    json_path_begin(&j, line);
    json_path_next(&j);
    if (j.piece != JSON_PIECE_OPEN || j.json.is_list[0] || !json_path_next(&j) || !json_path_text(&j, "type")) return RECORD_BAD;
    const enum record_kind kind = kind_of(j.json.s);
    if (kind == RECORD_RESULT && !result_read(r, &j, line)) return RECORD_BAD;
    if (kind == RECORD_BEGIN || kind == RECORD_STOP) {
        if (!json_path_next(&j) || !(r->id = json_path_text(&j, "id"))) return RECORD_BAD;
    }
    return kind;
}

void batch_record_read(struct batch_record *r, char *line)
{
    *r = (struct batch_record){ 0 };
    const enum record_kind kind = front_read(r, line);
    if (kind == RECORD_BAD) *r = (struct batch_record){ 0 };
    r->kind = kind;
}

static int is_first_channel(const struct batch_audio *a) { return !a->n_channels || a->channel == 0; }
static int is_last_channel(const struct batch_audio *a) { return !a->n_channels || a->channel + 1 == a->n_channels; }
static int is_first(const struct batch_audio *a) { return is_first_channel(a) && (!a->n_tracks || a->track == 1); }
static int is_last(const struct batch_audio *a) { return is_last_channel(a) && (!a->n_tracks || a->track == a->n_tracks); }

/* Does the audio b come after the audio a of its input? */
static int follows(const struct batch_audio *b, const struct batch_audio *a)
{
    if (a->n_tracks != b->n_tracks || !a->n_channels != !b->n_channels) return 0;
    if (a->track != b->track) return a->n_tracks && b->track == a->track + 1 && is_last_channel(a) && is_first_channel(b);
    return a->n_channels == b->n_channels && a->n_channels && b->channel == a->channel + 1;
}

int batch_group_add(struct batch_group *g, const struct batch_record *r, int64_t at)
{
    if (r->kind != RECORD_RESULT) return *g = (struct batch_group){ 0 }, 0;
    const uint64_t id = id_key_of(r->id).first;
    if (is_first(&r->audio)) *g = (struct batch_group){ .at = at, .id = id };
    else if (!g->n || id != g->id || !follows(&r->audio, &g->last)) return *g = (struct batch_group){ 0 }, 0; /* a line is missing */
    g->n++;
    g->last = r->audio;
    if (!is_last(&r->audio)) return 0;
    g->n = 0;
    return 1;
}

/* Largest memory of this process so far, in bytes. */
static int64_t peak_rss(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (int64_t)u.ru_maxrss * 1024 : 0;
}

static void put_run(struct sink *f, const struct batch_result *r)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    sink_format(f, ", \"run\": {\"attempts\": %d, \"elapsed\": ", r->attempt);
    write_json_number(f, round((double)r->spent_us / 1e3) / 1e3);
    sink_text(f, ", \"rtfx\": ");
    write_json_number(f, r->spent_us > 0 && r->audio_ms >= 0 ? round((double)r->audio_ms * 1e5 / (double)r->spent_us) / 100 : NAN);
    sink_format(f, ", \"peak_rss\": %" PRId64 ", \"host\": ", peak_rss());
    utf8_json(f, host);
    sink_char(f, '}');
}

static void put_number(struct sink *f, const char *key, int n, int is_known)
{
    sink_format(f, ", \"%s\": ", key);
    if (is_known) sink_format(f, "%d", n);
    else sink_text(f, "null");
}

void batch_result_write(struct sink *f, const void *result)
{
    const struct batch_result *r = result;
    const char *name = class_names[r->class];
    sink_text(f, ", \"id\": ");
    utf8_json(f, r->id);
    sink_text(f, ", \"class\": ");
    if (name) utf8_json(f, name);
    else sink_text(f, "null");
    sink_format(f, ", \"retryable\": %s", !name ? "null" : batch_class_is_retryable(r->class) ? "true" : "false");
    put_number(f, "track", r->audio.track, r->audio.track > 0);
    put_number(f, "tracks", r->audio.n_tracks, r->audio.n_tracks > 0);
    put_number(f, "channel", r->audio.channel, r->audio.channel >= 0);
    put_number(f, "channels", r->audio.n_channels, r->audio.n_channels > 0);
    put_run(f, r);
    sink_format(f, ", \"manifest\": {%s}", r->other);
}

/* ---- the header -------------------------------------------------------------------------------------------------------------- */

static void put_text(struct sink *f, const char *key, const char *text)
{
    sink_format(f, ", \"%s\": ", key);
    if (text[0]) utf8_json(f, text);
    else sink_text(f, "null");
}

void batch_header_write(struct sink *f, const void *header)
{
    const struct batch_header *h = header;
    sink_text(f, ", \"header\": {\"engine_version\": ");
    utf8_json(f, h->engine);
    put_text(f, "model_sha256", h->model_sha256);
    put_text(f, "options_sha256", h->options_sha256);
    put_text(f, "manifest_sha256", h->manifest_sha256);
    sink_format(f, ", \"manifest_bytes\": %" PRId64, h->manifest_bytes);
    put_text(f, "begun", h->begun);
    put_text(f, "shard", h->shard);
    sink_char(f, '}');
}

static void take(char *to, size_t size, const struct json_path *j, const char *at)
{
    const char *text = json_path_text(j, at);
    if (text) snprintf(to, size, "%s", text);
}

int batch_header_read(struct batch_header *h, char *line)
{
    struct json_path j;
    int is_job = 0, has_header = 0;
    *h = (struct batch_header){ .manifest_bytes = -1 };
    json_path_begin(&j, line);
    while (json_path_next(&j)) {
        const char *type = json_path_text(&j, "type");
        is_job |= type && kind_of(type) == RECORD_HEADER;
        take(h->engine, sizeof h->engine, &j, "header.engine_version");
        take(h->model_sha256, sizeof h->model_sha256, &j, "header.model_sha256");
        take(h->options_sha256, sizeof h->options_sha256, &j, "header.options_sha256");
        take(h->manifest_sha256, sizeof h->manifest_sha256, &j, "header.manifest_sha256");
        take(h->shard, sizeof h->shard, &j, "header.shard");
        take(h->begun, sizeof h->begun, &j, "header.begun");
        if (json_path_is(&j, "header.manifest_bytes")) h->manifest_bytes = json_path_whole(&j);
        if (!json_path_is(&j, "header") || j.piece != JSON_PIECE_CLOSE) continue;
        has_header = h->engine[0] && h->options_sha256[0] && h->shard[0] && h->manifest_bytes >= 0;
        break;
    }
    return is_job && has_header;
}

/* ---- the file ---------------------------------------------------------------------------------------------------------------- */

enum { SYNC_US = 5000000 };

enum journal_status batch_journal_open(struct batch_journal *j, const char *path)
{
    struct stat st;
    *j = (struct batch_journal){ .path = path, .fd = STDOUT_FILENO };
    if (strcmp(path, "-") == 0) {
        j->is_stream = 1;
        return BATCH_JOURNAL_OK;
    }
    const int is_fifo = stat(path, &st) == 0 && S_ISFIFO(st.st_mode); /* its own reading end would hide that its reader has gone */
    j->fd = open(path, (is_fifo ? O_WRONLY : O_RDWR) | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (j->fd < 0 || fstat(j->fd, &st)) return BATCH_JOURNAL_FAILED;
    j->is_stream = !S_ISREG(st.st_mode);
    j->size = st.st_size;
    if (j->is_stream || flock(j->fd, LOCK_EX | LOCK_NB) == 0) return BATCH_JOURNAL_OK;
    return errno == EWOULDBLOCK ? BATCH_JOURNAL_BUSY : BATCH_JOURNAL_UNLOCKED;
}

/* After a loss of power a file may have its length and no content, that is, zeros. */
int batch_journal_may_begin(const struct batch_journal *j)
{
    static const char header[] = "{\"type\": \"job\", ", zeros[sizeof header] = { 0 };
    char start[sizeof header];
    const ssize_t n = pread(j->fd, start, sizeof header - 1, 0);
    return n >= 0 && (!memcmp(start, header, (size_t)n) || !memcmp(start, zeros, (size_t)n));
}

int batch_journal_cut(struct batch_journal *j, int64_t size)
{
    if (ftruncate(j->fd, (off_t)size)) return -1;
    j->size = size;
    j->is_dirty = 1;
    return 0;
}

int batch_journal_add(struct batch_journal *j, const char *line, size_t n)
{
    size_t at = 0;
    while (at < n) {
        const ssize_t k = write(j->fd, line + at, n - at);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0 || (k == 0 && (errno = ENOSPC))) break;
        at += (size_t)k;
    }
    if (at == n) {
        j->size += (int64_t)n;
        j->is_dirty = 1;
        return 0;
    }
    const int why = errno;
    if (at && !j->is_stream && ftruncate(j->fd, (off_t)j->size)) j->is_dirty = 1; /* --resume cuts what remains */
    errno = why;
    return -1;
}

static int sync_lines(struct batch_journal *j)
{
    if (!j->is_dirty || j->is_stream) return 0;
    j->is_dirty = 0;
    return fdatasync(j->fd);
}

int batch_journal_tick(struct batch_journal *j, int64_t now_us)
{
    if (!j->is_dirty || now_us - j->synced_us < SYNC_US) return 0;
    j->synced_us = now_us;
    return sync_lines(j);
}

int batch_journal_close(struct batch_journal *j, int sync)
{
    int bad = 0;
    if (j->fd < 0) return 0;
    if (sync) bad = sync_lines(j);
    if (j->fd != STDOUT_FILENO && close(j->fd)) bad = -1;
    j->fd = -1;
    return bad;
}
