/* steno: common options and examples in the help of a verb. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_HELP_PAGES_H
#define STENO_TOOLS_HELP_PAGES_H

enum { HELP_EXAMPLES = 3 };

struct help_page {
    const char *verb;
    const char *common; /* names of the options that --help shows, with blanks around; NULL: all, because there are few */
    struct { const char *command, *what; } example[HELP_EXAMPLES];
};

/* NULL if the verb has none */
const struct help_page *help_page_of(const char *verb);
#endif
