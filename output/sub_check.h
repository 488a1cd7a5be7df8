/* steno: checks subtitles. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_SUB_CHECK_H
#define STENO_OUT_SUB_CHECK_H
#include "cue_rules.h"
#include "sub_read.h"

enum sub_rule { SUB_TIME, SUB_UTF8, SUB_HEAD, SUB_BLANK, SUB_NUMBER, SUB_ORDER, SUB_OVERLAP, SUB_ZERO, SUB_SHORT, SUB_LONG, SUB_FAST,
                SUB_GAP, SUB_EMPTY, SUB_LINES, SUB_WIDTH, SUB_MARKS, SUB_ORPHAN, N_SUB_RULES };

struct sub_fault {
    enum sub_rule rule;
    int64_t line;  /* of the file */
    size_t cue;    /* from 1; 0: before the first */
    double measured, allowed;
    const char *unit; /* "ms", "characters", ...; "": no measure */
};

const char *sub_rule_name(enum sub_rule rule); /* "too short" */

/* Reports every fault to `report`, cue by cue. rules may be NULL: then only errors independent of style are reported. @return 0, or -1 if
 * memory runs out */
int sub_check(const struct sub_file *f, const struct cue_rules *rules, void (*report)(void *user, const struct sub_fault *fault),
              void *user);
#endif
