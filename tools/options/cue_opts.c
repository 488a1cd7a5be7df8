/* steno: options for the rules of published subtitles. SPDX-License-Identifier: MIT */
#include "options/cue_opts.h"
#include "cli/message.h"
#include "cli/option_names.h"

int cue_opts_choice(struct cue_choice *c, const struct cue_opts *o, const struct args_given *g, int64_t line_width, int64_t lines)
{
    *c = (struct cue_choice)CUE_CHOICE_UNSET;
    const struct { const char *name; int64_t value, *to; } given[] = {
        { "min-cue-ms", o->min_ms, &c->min_ms }, { "max-cue-ms", o->max_ms, &c->max_ms },
        { "min-gap-ms", o->gap_ms, &c->gap_ms }, { "close-gap-ms", o->close_ms, &c->close_ms },
    };
    c->line_width = line_width;
    c->lines = lines;
    c->style = o->style;
    c->frame_rate = o->frame_rate;
    c->on = option_was_given(g, "style");
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (!option_was_given(g, given[i].name)) continue;
        *given[i].to = given[i].value;
        c->on = 1;
    }
    if (option_was_given(g, "max-cps")) {
        c->cps = o->cps;
        c->on = 1;
    }
    const char *fault = cue_choice_fault(c);
    return fault ? message_usage("%s", fault) : EXIT_OK;
}
