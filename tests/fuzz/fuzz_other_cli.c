/* steno: fuzzing of words of other programs. SPDX-License-Identifier: MIT
 *
 * The first byte chooses the verb that they stand behind, the rest are the words, a line each. The words themselves stay as they are. */
#include "fuzz/input/argv.h"
#include "cmd.h"
#include "compat/other_cli.h"
#include "cli/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct args *const verbs[] = { &transcribe_args, &translate_args, &align_args, &detect_args, &vad_args, &bench_args };
    struct argv_input in;
    if (!n || argv_input_open(&in, data + 1, n - 1)) return 0;
    char *copy = malloc(n);
    if (copy) memcpy(copy, in.text, n);
    argv_input_quiet(&in);
    const int rc = other_cli_check(verbs[data[0] % (sizeof verbs / sizeof *verbs)], in.argc, in.argv);
    if ((rc != ARGS_RUN && rc != EXIT_USAGE) || (copy && memcmp(copy, in.text, n) != 0)) abort();
    free(copy);
    argv_input_close(&in);
    return 0;
}
