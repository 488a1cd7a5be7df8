/* steno: live sound input. SPDX-License-Identifier: MIT */
#include "input/stream_sound.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "findings.h"
#include "input/mic.h"
#include "input/sound.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WAV_HEAD = 44 };
enum { PER_MS = 16, ASK_MS = 100, STEP = 512 /* samples of a piece, if input comes at its own speed */,
       ARRIVALS = 1024, ARRIVAL_STEP = 800 /* samples */, WAITED_US = 2000 };

/* Arrival times of samples: the sample before end[i] arrived at us[i]. The newest entry is (n - 1) % ARRIVALS. */
struct arrivals { int64_t end[ARRIVALS], us[ARRIVALS]; size_t n; };

struct stream_sound {
    struct stream_sound_opts o;
    steno_media *media; /* NULL: raw samples */
    steno_source source;
    struct mic *mic;
    int has_clock, is_pipe;
    struct arrivals arrivals; /* of a pipe */
    FILE *raw;             /* mono raw samples at 16 kHz */
    unsigned char head[WAV_HEAD]; /* for other raw samples: the head that a WAV file would have */
    unsigned char held[4]; /* bytes of an incomplete sample */
    size_t n_held;
    int channel;     /* that is read, or STENO_MEDIA_MIX */
    struct notes notes; /* what was found when it was opened */
    int64_t at;      /* number of samples read */
    struct level level;
    int64_t begin_us; /* time when the first sample was spoken */
};

/* ---- the clock */

/* Wait until sample `at` has been spoken or a signal arrives. */
static void wait_for(const struct stream_sound *s, int64_t at)
{
    for (;;) {
        const int64_t left = s->begin_us + at * 1000 / PER_MS - progress_now_us();
        if (left <= 0 || signals_pending()) return;
        const struct timespec t = { (time_t)(left / 1000000), (long)(left % 1000000) * 1000 };
        nanosleep(&t, NULL);
    }
}

/* Samples were spoken before they arrive. So the earliest estimate is kept, which also follows a microphone clock that is slightly fast. */
static void clock_set(struct stream_sound *s, int64_t got)
{
    const int64_t begin_us = progress_now_us() - (s->at + got) * 1000 / PER_MS;
    if (!s->at || begin_us < s->begin_us) s->begin_us = begin_us;
    s->at += got;
}

/* Record that samples up to s->at have arrived; the read began at asked_us. If the read had to wait, they arrived now. Otherwise they
 * were already queued, and arrived no later than real time after the previous samples. */
static void arrivals_add(struct stream_sound *s, int64_t asked_us)
{
    struct arrivals *a = &s->arrivals;
    const size_t last = (a->n + ARRIVALS - 1) % ARRIVALS;
    int64_t us = progress_now_us();
    if (a->n && us - asked_us < WAITED_US) {
        const int64_t behind = a->us[last] + (s->at - a->end[last]) * 1000 / PER_MS;
        if (behind < us) us = behind;
    }
    if (a->n && s->at - a->end[last] < ARRIVAL_STEP) return;
    a->end[a->n % ARRIVALS] = s->at;
    a->us[a->n++ % ARRIVALS] = us;
}

/* @return microseconds of the clock */
static int64_t arrivals_find(const struct arrivals *a, int64_t at)
{
    size_t i = a->n;
    while (i > 1 && a->n - i + 1 < ARRIVALS && a->end[(i - 2) % ARRIVALS] >= at) i--;
    return i ? a->us[(i - 1) % ARRIVALS] : progress_now_us();
}

int64_t stream_sound_latency_ms(const struct stream_sound *s, int64_t t1_ms, int64_t now_ms)
{
    if (s->is_pipe) return (progress_now_us() - arrivals_find(&s->arrivals, t1_ms * PER_MS)) / 1000;
    return (s->has_clock ? (progress_now_us() - s->begin_us) / 1000 : now_ms) - t1_ms;
}

int64_t stream_sound_late_ms(const struct stream_sound *s)
{
    if (s->mic) return mic_waiting(s->mic) / PER_MS;
    const int64_t late = s->has_clock ? (progress_now_us() - s->begin_us) / 1000 - s->at / PER_MS : 0;
    return late > 0 ? late : 0;
}

/* ---- raw samples ---- */

/* @return the number of samples */
static int64_t samples_of(float *pcm, const unsigned char *b, size_t n, int raw)
{
    const size_t sz = raw == RAW_S16LE ? 2 : 4;
    for (size_t i = 0; i < n / sz; i++) {
        const unsigned char *p = b + i * sz;
        const uint32_t u = p[0] | (uint32_t)p[1] << 8 | (raw == RAW_S16LE ? 0 : (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        if (raw == RAW_S16LE) pcm[i] = (float)(int16_t)u / 32768;
        else memcpy(&pcm[i], &u, sizeof u);
    }
    return (int64_t)(n / sz);
}

static int64_t raw_read(struct stream_sound *s, float *pcm, int64_t n, steno_error *e)
{
    unsigned char b[4 * STREAM_PIECE + sizeof s->held];
    const size_t sz = s->o.raw == RAW_S16LE ? 2 : 4;
    memcpy(b, s->held, s->n_held);
    while (!signals_pending()) {
        struct pollfd p = { .fd = fileno(s->raw), .events = POLLIN };
        if (poll(&p, 1, ASK_MS) <= 0) continue; /* check also for a signal that arrived just before */
        const ssize_t got = read(fileno(s->raw), b + s->n_held, sz * (size_t)n - s->n_held);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            snprintf(e->text, sizeof e->text, "%s", strerror(errno));
            return e->status = STENO_EIO;
        }
        const size_t all = s->n_held + (size_t)got, whole = all / sz * sz;
        s->n_held = all - whole;
        memcpy(s->held, b + whole, s->n_held);
        if (!got || whole) return samples_of(pcm, b, whole, s->o.raw);
        memcpy(b, s->held, s->n_held);
    }
    return 0;
}

/* ---- sound files */

static int64_t media_read(struct stream_sound *s, float *pcm, int64_t n, steno_error *e)
{
    const int64_t got = s->source.read(s->source.user, pcm, n);
    if (got >= 0) return got;
    if (signals_pending()) return 0;
    snprintf(e->text, sizeof e->text, "%s", steno_media_error(s->media));
    return e->status = steno_media_status(s->media);
}

static void put_le(unsigned char **to, int64_t v, int n)
{
    for (int i = 0; i < n; i++) *(*to)++ = (unsigned char)(v >> 8 * i & 255);
}

/* Write the head of a WAV file without a known length. */
static void head_write(unsigned char head[WAV_HEAD], const struct stream_sound_opts *o)
{
    static const struct { int tag, bytes; } form[] = {
        [RAW_S16LE] = { 1, 2 }, [RAW_F32LE] = { 3, 4 }, [RAW_U8] = { 1, 1 }, [RAW_S24LE] = { 1, 3 }, [RAW_S32LE] = { 1, 4 },
        [RAW_ALAW] = { 6, 1 }, [RAW_MULAW] = { 7, 1 },
    };
    const int64_t frame = o->channels * form[o->raw].bytes;
    unsigned char *p = head + 20;
    memcpy(head, "RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0", 20);
    put_le(&p, form[o->raw].tag, 2);
    put_le(&p, o->channels, 2);
    put_le(&p, o->rate, 4);
    put_le(&p, o->rate * frame, 4);
    put_le(&p, frame, 2);
    put_le(&p, 8 * form[o->raw].bytes, 2);
    memcpy(p, "data\xff\xff\xff\xff", 8);
}

/* Choose the channel of a file, which unlike a pipe can be read twice. What fails here fails again when it is read. */
static int channel_of(struct stream_sound *s, const char *file)
{
    steno_media *m = NULL;
    steno_media_params p;
    steno_error e;
    struct stat st;
    if (s->o.raw || stat(file, &st) || !S_ISREG(st.st_mode)) return STENO_MEDIA_MIX;
    sound_params(&p);
    int channel = STENO_MEDIA_MIX;
    if (steno_media_open_params(&m, file, &p, &e) == STENO_OK && findings_channel(&s->notes, m, &channel)) channel = STENO_MEDIA_MIX;
    steno_media_close(m);
    return channel;
}

static int media_open(struct stream_sound *s, const char *file, steno_error *e)
{
    steno_media_params p;
    sound_params(&p);
    p.live = p.once = 1;
    if (s->o.raw) {
        head_write(s->head, &s->o);
        p.head = s->head;
        p.head_sz = WAV_HEAD;
    }
    const int rc = steno_media_open_params(&s->media, file, &p, e);
    if (rc) return rc;
    const int one = channel_of(s, file);
    if (one != STENO_MEDIA_MIX && steno_media_select(s->media, one) == STENO_OK) s->channel = one;
    steno_media_source(s->media, &s->source);
    signals_watch(NULL, s->media);
    return STENO_OK;
}

static int raw_open(struct stream_sound *s, const char *file, steno_error *e)
{
    s->raw = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb");
    if (s->raw) return STENO_OK;
    snprintf(e->text, sizeof e->text, "%s", strerror(errno));
    return e->status = STENO_EIO;
}

/* ---- all kinds of input ---- */

int stream_sound_check(const struct stream_sound_opts *o)
{
    const int is_other = o->rate != 16000 || o->channels != 1;
    if (is_other && o->raw == RAW_NONE) return message_usage("--raw-rate and --raw-channels need --raw");
    if (o->mic && o->raw != RAW_NONE) return message_usage("--mic and --raw exclude each other");
    if (o->mic && o->realtime) return message_usage("--realtime is for files: --mic is live already");
    return EXIT_OK;
}

/* Neither a file nor a URL: the sound of those exists before it is requested. */
static int comes_through_a_pipe(const char *path)
{
    struct stat st;
    const int failed = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st);
    return !failed && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

int stream_sound_open(struct stream_sound **out, const struct stream_sound_opts *o, const char *file, steno_error *e)
{
    struct stream_sound *s = *out = calloc(1, sizeof *s);
    if (!s) return STENO_ENOMEM;
    s->o = *o;
    s->channel = STENO_MEDIA_MIX;
    s->has_clock = o->realtime || o->mic;
    const char *path = file ? file : "-";
    const int as_is = (o->raw == RAW_S16LE || o->raw == RAW_F32LE) && o->rate == 16000 && o->channels == 1;
    const int rc = o->mic ? mic_open(&s->mic, file ? file : "default", e) : as_is ? raw_open(s, path, e) : media_open(s, path, e);
    s->is_pipe = !s->has_clock && comes_through_a_pipe(path);
    if (!rc) return rc;
    stream_sound_close(s);
    *out = NULL;
    return rc;
}

void stream_sound_close(struct stream_sound *s)
{
    if (!s) return;
    signals_watch(NULL, NULL);
    if (s->raw && s->raw != stdin) fclose(s->raw);
    steno_media_close(s->media);
    mic_close(s->mic);
    free(s);
}

int stream_sound_lost(const struct stream_sound *s)
{
    return s->mic ? mic_lost(s->mic) : 0;
}

void stream_sound_notes(const struct stream_sound *s, const char *file, int has_text)
{
    struct notes n = s->notes;
    if (s->media) findings_media(&n, s->media);
    findings_level(&n, &s->level);
    if (!has_text) findings_no_speech(&n, &s->level, s->media && s->channel == STENO_MEDIA_MIX ? steno_media_channels(s->media) : 1);
    sound_notes(file ? file : s->mic ? "default" : "-", &n);
}

int64_t stream_sound_read(struct stream_sound *s, float pcm[STREAM_PIECE], steno_error *e)
{
    const int64_t n = s->has_clock ? STEP : STREAM_PIECE;
    int64_t got = MIC_NOTHING_YET;
    const int64_t asked_us = progress_now_us();
    if (signals_pending()) return 0;
    while (s->mic && got == MIC_NOTHING_YET && !signals_pending()) got = mic_read(s->mic, pcm, n, e);
    if (s->mic && got == MIC_NOTHING_YET) return 0;
    if (!s->mic) got = s->raw ? raw_read(s, pcm, n, e) : media_read(s, pcm, n, e);
    if (got <= 0) return got;
    if (s->o.realtime && s->at) wait_for(s, s->at + got);
    clock_set(s, got);
    if (s->is_pipe) arrivals_add(s, asked_us);
    level_add(&s->level, pcm, got);
    return signals_pending() ? 0 : got;
}
