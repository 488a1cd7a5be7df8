/* steno: subtitle output of verbs that print lines by default. SPDX-License-Identifier: MIT */
#include "verbs/cue_results.h"
#include "cli/message.h"

int cue_results_open(struct cue_results *c, const struct cue_results_opts *o, char *input, int json, int quiet)
{
    static const int formats[] = { 0, WRITER_SRT, WRITER_VTT, WRITER_ASS };
    *c = (struct cue_results){ .input = input, .on = o->format > 0 };
    if (!c->on && o->dir) return message_usage("--output-dir is for the output formats srt, vtt and ass");
    if (!c->on) return EXIT_OK;
    if (json) return message_usage("--json and --output-format exclude each other");
    c->results = (struct results){ .files = { .naming = { .dir = o->dir, .formats = 1u << formats[o->format], .n_inputs = 1 },
                                              .ledger = &c->ledger },
                                   .inputs = &c->input, .n = 1, .quiet = quiet };
    return results_check(&c->results);
}

int cue_results_write(struct cue_results *c, const struct transcript *t)
{
    return results_write(&c->results, c->input, t, ~0u);
}

void cue_results_close(struct cue_results *c)
{
    results_free(&c->results);
    ledger_free(&c->ledger);
}
