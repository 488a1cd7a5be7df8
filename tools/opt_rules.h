/* steno: what options of transcribe and translate need and exclude, where the library has no part in it. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_OPT_RULES_H
#define STENO_TOOLS_OPT_RULES_H
#include "transcribe.h"

struct opt_scene {
    const struct transcribe_opts *o;
    unsigned formats; /* with those that options add */
};

/* @return EXIT_OK or EXIT_USAGE, after a message */
int opt_rules_check(const struct args_given *g, const struct opt_scene *s);
#endif
