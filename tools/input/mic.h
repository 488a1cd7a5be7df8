/* steno: a microphone. SPDX-License-Identifier: MIT
 *
 * ALSA's library is loaded at the first use, so the program does not depend on it. A thread reads the device continuously, so no samples
 * are lost during computation. */
#ifndef STENO_TOOLS_MIC_H
#define STENO_TOOLS_MIC_H
#include <steno/steno.h>

struct mic;

/* Open ALSA's device of that name, mono at 16 kHz. @return a status, with the reason in *e */
int mic_open(struct mic **out, const char *device, steno_error *e);
void mic_close(struct mic *m); /* may be NULL */

enum { MIC_NOTHING_YET = -1000 };
/* Read up to n samples; waits at most 0.1 s. @return their number, 0 if the device has ended, MIC_NOTHING_YET, or a status with the
 * reason in *e */
int64_t mic_read(struct mic *m, float *pcm, int64_t n, steno_error *e);

int64_t mic_waiting(struct mic *m); /* samples not yet read */
int mic_lost(struct mic *m);        /* how often the device dropped samples */
#endif
