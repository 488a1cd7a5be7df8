/* steno: messages about files that are both read and written. SPDX-License-Identifier: MIT */
#include "cli/path_guard_code.h"
#include "cli/message.h"
#include <string.h>
#include <unistd.h>

static const char standard_output[] = "standard output"; /* a path in messages */

int ledger_code(const struct ledger *l, int status)
{
    const struct ledger_refusal *r = &l->refused;
    switch (status) {
    case LEDGER_OK: return EXIT_OK;
    case LEDGER_NO_MEMORY: message("out of memory for the names of %zu files", l->n); return EXIT_MEMORY;
    case LEDGER_PLANNED_TWICE:
        return message_usage("%s and %s would be one file; choose another --output-dir or --output-template", r->other, r->path);
    case LEDGER_WRITTEN: return message_usage("%s was written for another input of this run; it stays", r->path);
    default:
        return message_usage("%s is %s and would be overwritten%s", r->path, r->what,
                             strcmp(r->path, standard_output) == 0 ? "" : "; choose another --output-dir");
    }
}

int ledger_code_stdout(struct ledger *l)
{
    return ledger_code(l, ledger_plan_open(l, STDOUT_FILENO, standard_output));
}

int ledger_code_read(struct ledger *l, const char *what, const char *path)
{
    struct ledger only = { 0 };
    if (l) return ledger_code(l, ledger_read(l, what, path));
    int code = ledger_code_stdout(&only);
    if (code == EXIT_OK) code = ledger_code(&only, ledger_read(&only, what, path));
    ledger_free(&only);
    return code;
}
