/* steno tests: a simulated microphone. SPDX-License-Identifier: MIT */
#include "fake_alsa.h"
#include <stddef.h>
#include <unistd.h>

static struct fake_alsa fake;

struct fake_alsa *fake_alsa(void);
int snd_pcm_open(void **pcm, const char *name, int stream, int mode);
int snd_pcm_set_params(void *pcm, int format, int access, unsigned channels, unsigned rate, int resample, unsigned latency_us);
int snd_pcm_start(void *pcm);
int snd_pcm_wait(void *pcm, int timeout_ms);
long snd_pcm_readi(void *pcm, void *buffer, unsigned long frames);
int snd_pcm_recover(void *pcm, int why, int silent);
int snd_pcm_close(void *pcm);
const char *snd_strerror(int why);
int snd_lib_error_set_handler(void *handler);

struct fake_alsa *fake_alsa(void) { return &fake; }

int snd_pcm_open(void **pcm, const char *name, int stream, int mode)
{
    (void)stream, (void)mode;
    if (fake.open_rc < 0 || !name[0]) return fake.open_rc;
    *pcm = &fake;
    fake.n_opened++;
    return 0;
}

int snd_pcm_set_params(void *pcm, int format, int access, unsigned channels, unsigned rate, int resample, unsigned latency_us)
{
    (void)pcm, (void)format, (void)access, (void)resample, (void)latency_us;
    return channels == 1 && rate == 16000 ? fake.params_rc : -22;
}

int snd_pcm_start(void *pcm)
{
    (void)pcm;
    fake.n_started++;
    return fake.start_rc;
}

/* Waits a millisecond instead of a tenth of a second. */
int snd_pcm_wait(void *pcm, int timeout_ms)
{
    (void)pcm, (void)timeout_ms;
    if (fake.at < fake.n * fake.repeats) return 1;
    usleep(1000);
    return 0;
}

long snd_pcm_readi(void *pcm, void *buffer, unsigned long frames)
{
    int16_t *to = buffer;
    const long got = fake.script[fake.at++ % fake.n];
    (void)pcm;
    for (long i = 0; i < got && i < (long)frames; i++) {
        to[i] = fake.next = (int16_t)(fake.next % FAKE_ALSA_SAMPLES + 1);
    }
    return got;
}

int snd_pcm_recover(void *pcm, int why, int silent)
{
    (void)pcm, (void)silent;
    fake.n_recovered++;
    return fake.recover_rc < 0 ? why : 0;
}

int snd_pcm_close(void *pcm)
{
    (void)pcm;
    fake.n_closed++;
    return 0;
}

const char *snd_strerror(int why) { return why == -19 ? "no such device" : "a fault"; }

int snd_lib_error_set_handler(void *handler)
{
    (void)handler;
    return 0;
}
