/* steno: completion of command lines by shells. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_COMPLETIONS_H
#define STENO_TOOLS_COMPLETIONS_H
#include "cli/args.h"

/* Print a script that completes the verbs of all[n], their options and option values. */
void completions_bash(const struct args *const *all, size_t n);
void completions_zsh(const struct args *const *all, size_t n);
void completions_fish(const struct args *const *all, size_t n);
#endif
