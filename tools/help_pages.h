/* steno: what the help of a verb shows beside its table of options. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_HELP_PAGES_H
#define STENO_TOOLS_HELP_PAGES_H

enum { HELP_EXAMPLES = 3 };

struct help_page {
    const char *verb;
    const char *common; /* names of the options that --help shows, with blanks around; NULL: all, as there are not many */
    struct { const char *command, *what; } example[HELP_EXAMPLES];
};

/* NULL: there is none of that verb */
const struct help_page *help_page_of(const char *verb);
#endif
