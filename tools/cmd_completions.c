/* steno: the verb completions. SPDX-License-Identifier: MIT */
#include "cli/completions.h"
#include "cli/message.h"
#include "cmd.h"
#include <string.h>

static const struct arg rows[] = { { 0 } };

const struct args completions_args = { "completions", "bash|zsh|fish",
                                       "Print a script that completes verbs, options and their values.", rows };

static const struct args *const all[] = {
    &transcribe_args, &translate_args, &batch_args, &align_args, &detect_args, &vad_args, &stream_args,
#if STENO_SERVE
    &serve_args,
#endif
    &tokenize_args, &punctuate_args, &chat_args,
    &generate_args,
    &embed_args, &search_args, &convert_args, &quantize_args, &models_args, &info_args, &bench_args, &compare_args, &doctor_args,
    &lint_subs_args, &completions_args, &install_dialects_args,
};

static const struct { const char *name; void (*print)(const struct args *const *all, size_t n); } shells[] = {
    { "bash", completions_bash }, { "zsh", completions_zsh }, { "fish", completions_fish },
};

int cmd_completions(int argc, char **argv)
{
    int n, opts = 0;
    const int code = args_parse(&completions_args, &opts, NULL, argc, argv, &n);
    if (code != ARGS_RUN) return code;
    if (n != 1) return message_usage("completions takes the name of a shell: bash, zsh or fish");
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(argv[0], shells[i].name) != 0) continue;
        shells[i].print(all, sizeof all / sizeof *all);
        return message_flush();
    }
    return message_usage("unknown shell \"%s\"; there are bash, zsh and fish", argv[0]);
}
