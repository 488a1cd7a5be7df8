/* steno: the parts of a sound as whisper.cpp puts them together. SPDX-License-Identifier: MIT
 *
 * What whisper_full_parallel makes of -p: each part has segments whose times count from its beginning. They are moved to where the part
 * begins, and no segment begins before the one in front of it ends; where that one ends late, a segment may end before it begins. Times of
 * tokens are not moved there, nor here. */
#ifndef STENO_TOOLS_WHISPER_CLI_PARTS_H
#define STENO_TOOLS_WHISPER_CLI_PARTS_H
#include "whisper_cli_view.h"

struct whisper_cli_parts {
    struct whisper_cli_view *part; /* [n] */
    int n;
    char language[16];             /* of the first part */
};

/* Keep a copy of the next part. @return 0, or -1: out of memory */
int whisper_cli_parts_add(struct whisper_cli_parts *p, const struct whisper_cli_view *v, int64_t start_ms);
/* All that were added, as one. @return as above; whisper_cli_view_free in any case */
int whisper_cli_parts_view(struct whisper_cli_view *v, const struct whisper_cli_parts *p);
void whisper_cli_parts_free(struct whisper_cli_parts *p); /* {0} is allowed */

/* By how much the times of a part are moved: it begins `samples` behind the offset. In ms, a multiple of 10 */
int64_t whisper_cli_part_ms(int64_t samples, int64_t offset_ms);
#endif
