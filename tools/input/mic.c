/* steno: a microphone. SPDX-License-Identifier: MIT */
#include "input/mic.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if STENO_MIC
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Declarations of the ALSA functions used. ALSA's binary interface is stable, so its headers are not needed. */
typedef struct snd_pcm snd_pcm_t;
enum { PCM_CAPTURE = 1, PCM_NONBLOCK = 1, PCM_S16_LE = 2, PCM_INTERLEAVED = 3 };
struct alsa {
    int (*snd_pcm_open)(snd_pcm_t **pcm, const char *name, int stream, int mode);
    int (*snd_pcm_set_params)(snd_pcm_t *pcm, int format, int access, unsigned channels, unsigned rate, int resample, unsigned latency_us);
    int (*snd_pcm_start)(snd_pcm_t *pcm);
    int (*snd_pcm_wait)(snd_pcm_t *pcm, int timeout_ms);
    long (*snd_pcm_readi)(snd_pcm_t *pcm, void *buffer, unsigned long frames);
    int (*snd_pcm_recover)(snd_pcm_t *pcm, int why, int silent);
    int (*snd_pcm_close)(snd_pcm_t *pcm);
    const char *(*snd_strerror)(int why);
    int (*snd_lib_error_set_handler)(void (*handler)(const char *file, int line, const char *function, int why, const char *fmt, ...));
};

#define ALSA_CALLS(X) \
    X(snd_pcm_open) X(snd_pcm_set_params) X(snd_pcm_start) X(snd_pcm_wait) X(snd_pcm_readi) X(snd_pcm_recover) X(snd_pcm_close) \
    X(snd_strerror) X(snd_lib_error_set_handler)

enum { RATE = 16000, RING = 30 * RATE, PIECE = RATE / 50, LATENCY_US = 500000, ASK_MS = 100 };

struct mic {
    struct alsa alsa;
    snd_pcm_t *pcm;
    pthread_t thread;
    int has_thread, has_locks;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Protected by the lock. */
    int16_t *ring;    /* [RING] */
    int64_t put, taken;
    int stop, is_over, why, n_lost; /* why: ALSA's error that ended the input, 0: end of input */
};

static int refuse(steno_error *e, const char *fmt, const char *a, const char *b)
{
    snprintf(e->text, sizeof e->text, fmt, a, b);
    return e->status = STENO_EIO;
}

/* ALSA prints to standard error unless a handler is set; its error numbers say the same. */
static void say_nothing(const char *file, int line, const char *function, int why, const char *fmt, ...)
{
    (void)file, (void)line, (void)function, (void)why, (void)fmt;
}

/* The library stays loaded until the program ends. */
static int alsa_load(struct alsa *a, steno_error *e)
{
    void *lib = dlopen("libasound.so.2", RTLD_NOW | RTLD_LOCAL), *p;
    const char *missing = NULL;
    if (!lib)
        return refuse(e, "ALSA's library (%s) is not installed, and a microphone needs it: install it (Debian, Ubuntu: libasound2; Fedora: "
                         "alsa-lib), or read samples from another program: %s",
                      "libasound.so.2", "arecord -f S16_LE -r 16000 -t raw | steno stream --raw s16le");
#define ALSA_BIND(f) \
    p = dlsym(lib, #f); \
    if (!p) missing = #f; \
    memcpy(&a->f, &p, sizeof p);
    ALSA_CALLS(ALSA_BIND)
#undef ALSA_BIND
    if (missing) return refuse(e, "the installed %s lacks %s: install a newer one", "libasound.so.2", missing);
    a->snd_lib_error_set_handler(say_nothing);
    return STENO_OK;
}

/* ---- the thread that reads the device -------- */

/* @return the number of samples, or ALSA's error < 0; 0 if the device has ended */
static long device_read(struct mic *m, int16_t *to)
{
    const struct alsa *a = &m->alsa;
    memset(to, 0, PIECE * sizeof *to); /* ALSA's file plugin does not fill the buffer past its end */
    const int ready = a->snd_pcm_wait(m->pcm, ASK_MS);
    const long got = ready > 0 ? a->snd_pcm_readi(m->pcm, to, PIECE) : ready ? ready : -EAGAIN;
    if (got >= 0 || got == -EAGAIN) return got;
    const int rc = a->snd_pcm_recover(m->pcm, (int)got, 1);
    if (rc < 0) return rc;
    a->snd_pcm_start(m->pcm);
    pthread_mutex_lock(&m->lock);
    m->n_lost += got == -EPIPE;
    pthread_mutex_unlock(&m->lock);
    return -EAGAIN;
}

/* Waits for space; the device counts the samples it drops meanwhile. @return 1 to continue */
static int ring_put(struct mic *m, const int16_t *pcm, long n)
{
    pthread_mutex_lock(&m->lock);
    while (!m->stop && m->put + n - m->taken > RING) pthread_cond_wait(&m->changed, &m->lock);
    for (long i = 0; i < n; i++) m->ring[(m->put + i) % RING] = pcm[i];
    m->put += n > 0 ? n : 0;
    if (n <= 0 && n != -EAGAIN) {
        m->is_over = 1;
        m->why = (int)n;
    }
    const int goes_on = !m->stop && !m->is_over;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return goes_on;
}

static void *take(void *arg)
{
    int16_t piece[PIECE];
    while (ring_put(arg, piece, device_read(arg, piece))) {}
    return NULL;
}

/* ---- */

static int mic_begin(struct mic *m, const char *device, steno_error *e)
{
    int rc = alsa_load(&m->alsa, e);
    if (rc) return rc;
    rc = m->alsa.snd_pcm_open(&m->pcm, device, PCM_CAPTURE, PCM_NONBLOCK);
    if (rc < 0) {
        m->pcm = NULL;
        return refuse(e, "this microphone cannot be opened: %s; \"arecord -L\" lists all microphones%s", m->alsa.snd_strerror(rc), "");
    }
    rc = m->alsa.snd_pcm_set_params(m->pcm, PCM_S16_LE, PCM_INTERLEAVED, 1, RATE, 1, LATENCY_US);
    if (rc < 0)
        return refuse(e, "this microphone does not provide 16-bit mono samples at 16 kHz: %s; ALSA converts for the devices default and "
                         "plughw%s", m->alsa.snd_strerror(rc), "");
    rc = m->alsa.snd_pcm_start(m->pcm);
    if (rc < 0) return refuse(e, "this microphone cannot be started: %s%s", m->alsa.snd_strerror(rc), "");
    m->ring = malloc(RING * sizeof *m->ring);
    m->has_locks = m->ring && !pthread_mutex_init(&m->lock, NULL) && !pthread_cond_init(&m->changed, NULL);
    m->has_thread = m->has_locks && !pthread_create(&m->thread, NULL, take, m);
    if (m->has_thread) return STENO_OK;
    refuse(e, "out of memory for the microphone%s%s", "", "");
    return e->status = STENO_ENOMEM;
}

int mic_open(struct mic **out, const char *device, steno_error *e)
{
    struct mic *m = *out = calloc(1, sizeof *m);
    if (!m) return STENO_ENOMEM;
    const int rc = mic_begin(m, device, e);
    if (!rc) return rc;
    mic_close(m);
    *out = NULL;
    return rc;
}

void mic_close(struct mic *m)
{
    if (!m) return;
    if (m->has_thread) {
        pthread_mutex_lock(&m->lock);
        m->stop = 1;
        pthread_cond_signal(&m->changed);
        pthread_mutex_unlock(&m->lock);
        pthread_join(m->thread, NULL);
    }
    if (m->has_locks) {
        pthread_cond_destroy(&m->changed);
        pthread_mutex_destroy(&m->lock);
    }
    if (m->pcm) m->alsa.snd_pcm_close(m->pcm);
    free(m->ring);
    free(m);
}

int64_t mic_read(struct mic *m, float *pcm, int64_t n, steno_error *e)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ASK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&m->lock);
    while (m->taken == m->put && !m->is_over)
        if (pthread_cond_timedwait(&m->changed, &m->lock, &until)) break;
    const int64_t left = m->put - m->taken, some = n < left ? n : left;
    for (int64_t i = 0; i < some; i++) pcm[i] = (float)m->ring[(m->taken + i) % RING] / 32768;
    m->taken += some;
    const int is_over = m->is_over, why = m->why;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->lock);
    if (some || !is_over) return some ? some : MIC_NOTHING_YET;
    return why ? refuse(e, "the microphone has stopped: %s%s", m->alsa.snd_strerror(why), "") : 0;
}

int64_t mic_waiting(struct mic *m)
{
    pthread_mutex_lock(&m->lock);
    const int64_t n = m->put - m->taken;
    pthread_mutex_unlock(&m->lock);
    return n;
}

int mic_lost(struct mic *m)
{
    pthread_mutex_lock(&m->lock);
    const int n = m->n_lost;
    pthread_mutex_unlock(&m->lock);
    return n;
}
#else
int mic_open(struct mic **out, const char *device, steno_error *e)
{
    (void)device;
    *out = NULL;
    snprintf(e->text, sizeof e->text, "this build has no microphone support (STENO_MIC=OFF); read samples from another program: arecord -f "
                                      "S16_LE -r 16000 -t raw | steno stream --raw s16le");
    return e->status = STENO_EUNSUPPORTED;
}

void mic_close(struct mic *m) { (void)m; }

int64_t mic_read(struct mic *m, float *pcm, int64_t n, steno_error *e)
{
    (void)m, (void)pcm, (void)n, (void)e;
    return STENO_EUNSUPPORTED;
}

int64_t mic_waiting(struct mic *m) { (void)m; return 0; }

int mic_lost(struct mic *m) { (void)m; return 0; }
#endif
