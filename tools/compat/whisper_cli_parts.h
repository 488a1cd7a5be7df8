/* steno: joins the parts of a sound as whisper.cpp does. SPDX-License-Identifier: MIT
 *
 * Does what whisper_full_parallel does for -p. Each part has segments whose times count from its start; they are shifted by that start.
 * A segment never begins before the previous one ends; if the previous one ends late, a segment may end before it begins. Token times
 * are not shifted, as in whisper.cpp. */
#ifndef STENO_TOOLS_WHISPER_CLI_PARTS_H
#define STENO_TOOLS_WHISPER_CLI_PARTS_H
#include "compat/whisper_cli_view.h"

struct whisper_cli_parts {
    struct whisper_cli_view *part; /* [n] */
    int n;
    char language[16];             /* language of the first part */
};

/* Add a copy of the next part. @return 0, or -1 if out of memory */
int whisper_cli_parts_add(struct whisper_cli_parts *p, const struct whisper_cli_view *v, int64_t start_ms);
/* Join all added parts. @return 0, or -1 if out of memory; call whisper_cli_view_free in both cases */
int whisper_cli_parts_view(struct whisper_cli_view *v, const struct whisper_cli_parts *p);
void whisper_cli_parts_free(struct whisper_cli_parts *p); /* {0} is allowed */

/* The time shift of a part that begins `samples` after the offset, in ms, a multiple of 10. */
int64_t whisper_cli_part_ms(int64_t samples, int64_t offset_ms);
#endif
