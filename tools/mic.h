/* steno: a microphone. SPDX-License-Identifier: MIT
 *
 * ALSA's library is opened when one is wanted, so that nothing depends on it. A thread takes what the device has, so that nothing is lost
 * while somebody computes. */
#ifndef STENO_TOOLS_MIC_H
#define STENO_TOOLS_MIC_H
#include <steno/steno.h>

struct mic;

/* Mono at 16 kHz from ALSA's device of that name. @return a status, with the reason in *e */
int mic_open(struct mic **out, const char *device, steno_error *e);
void mic_close(struct mic *m); /* NULL is allowed */

enum { MIC_NOTHING_YET = -1000 };
/* Up to n samples, after a tenth of a second at most. @return how many, 0 where the device has ended, MIC_NOTHING_YET, or a status with
 * the reason in *e */
int64_t mic_read(struct mic *m, float *pcm, int64_t n, steno_error *e);

int64_t mic_waiting(struct mic *m); /* samples that nobody has taken */
int mic_lost(struct mic *m);        /* how often the device had to drop some */
#endif
