/* steno tests: a simulated microphone. SPDX-License-Identifier: MIT
 *
 * fake_alsa.c is a library with ALSA's file name. A program that loads it first gets it instead of ALSA. */
#ifndef STENO_TESTS_FAKE_ALSA_H
#define STENO_TESTS_FAKE_ALSA_H
#include <stdint.h>

/* Results of its calls. They are set before a microphone is opened and read only while one is open. */
struct fake_alsa {
    int open_rc, params_rc, start_rc, recover_rc;
    const long *script; /* [n] results of reads in order: a number of samples (of values 1, 2, 3, ...), 0: the end, < 0: an ALSA error */
    int n, repeats;     /* repeats: number of repetitions; after them nothing more arrives */
    int n_opened, n_closed, n_started, n_recovered;
    int at;
    int16_t next;
};

enum { FAKE_ALSA_SAMPLES = 30000 }; /* after that the values begin again */

typedef struct fake_alsa *fake_alsa_get(void);
#endif
