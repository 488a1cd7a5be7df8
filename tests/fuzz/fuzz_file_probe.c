/* steno tests: naming what arbitrary bytes are. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "load/file_probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int is_ended(const char *text, size_t n) { return memchr(text, 0, n) != NULL; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct file f;
    struct file_probe k;
    steno_error e = { 0 };
    file_from_memory(&f, "fuzz", data, n);
    if (probe_file(&k, &f, &e)) abort(); /* memory can be read */
    if (!is_ended(k.what, sizeof k.what) || !is_ended(k.advice, sizeof k.advice) || !is_ended(k.file, sizeof k.file)) abort();
    if (k.readable && k.advice[0]) abort();
    if ((probe_check(&f, &e) != STENO_OK) != (k.form == PROBE_OTHER || k.form == PROBE_ONNX)) abort();
    if (probe_refuse(&k, "fuzz", &e) == STENO_OK || strncmp(e.text, "fuzz", 4) != 0) abort();
    return 0;
}
