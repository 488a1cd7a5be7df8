/* steno: fuzzing of the command lines of other programs. SPDX-License-Identifier: MIT
 *
 * The first byte chooses the dialect, the rest are its words, a line each. They are read and put into ours; nothing is run. */
#include "fuzz/input/argv.h"
#include "compat/compat.h"
#include "cli/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Instead of a run: what was typed lies among the words, and ours have ends. */
static int look(struct compat_call *c)
{
    size_t sum = 0;
    if (c->n_inputs < 0 || c->n_outputs < 0 || c->n_words < 0) abort();
    for (int i = 0; i < c->n_inputs; i++) sum += strlen(c->input[i]);
    for (int i = 0; i < c->n_outputs; i++) sum += strlen(c->output[i]);
    for (int i = 0; i < c->n_words; i++) sum += strlen(c->word[i]);
    for (int i = 0; i < c->n_options; i++) sum += c->value[i] ? strlen(c->value[i]) : 0;
    return sum > (size_t)1 << 30 ? EXIT_MEMORY : EXIT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct argv_input in;
    int n_compats = 0;
    while (compat_at(n_compats)) n_compats++;
    if (!n || argv_input_open(&in, data + 1, n - 1)) return 0;
    struct compat d = *compat_at(data[0] % n_compats);
    d.run = look;
    d.manner &= ~(unsigned)COMPAT_AT_FILE;
    argv_input_quiet(&in);
    const int rc = compat_run(&d, "try", in.argc, in.argv);
    if (rc != EXIT_OK && rc != d.mistake && rc != EXIT_MEMORY) abort();
    argv_input_close(&in);
    return 0;
}
