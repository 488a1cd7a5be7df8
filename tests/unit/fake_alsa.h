/* steno tests: a microphone that does as it is told. SPDX-License-Identifier: MIT
 *
 * fake_alsa.c is a library with the name of ALSA's: whoever loads it first is given it in place of that. */
#ifndef STENO_TESTS_FAKE_ALSA_H
#define STENO_TESTS_FAKE_ALSA_H
#include <stdint.h>

/* What its calls answer is set before a microphone is opened, and read by nobody else while one is open. */
struct fake_alsa {
    int open_rc, params_rc, start_rc, recover_rc;
    const long *script; /* [n] what is read, one after the other: samples (1, 2, 3, ...), 0: the end, < 0: ALSA's numbers */
    int n, repeats;     /* repeats: so many times; behind it nothing comes any more */
    int n_opened, n_closed, n_started, n_recovered;
    int at;
    int16_t next;
};

enum { FAKE_ALSA_SAMPLES = 30000 }; /* which begin anew behind that */

typedef struct fake_alsa *fake_alsa_get(void);
#endif
