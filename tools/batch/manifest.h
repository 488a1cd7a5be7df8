/* steno: the lines of a manifest, which list the inputs of a batch. SPDX-License-Identifier: MIT
 *
 * A line is a JSON object, or a path as it is. The keys that are known here are those of NeMo's manifests, and a few more; others are
 * passed on to the result. Empty lines are skipped. */
#ifndef STENO_TOOLS_BATCH_MANIFEST_H
#define STENO_TOOLS_BATCH_MANIFEST_H
#include <stddef.h>
#include <stdint.h>

enum { MANIFEST_LINE_MAX = 1 << 20, MANIFEST_ID_MAX = 4096, MANIFEST_WHY = 200 };

struct manifest_item {
    const char *id;    /* unique in the manifest; without one the path, with "#t=SECONDS" if it begins later. Parts of a URL that may be
                        * secret are replaced by "#" and 16 digits of the SHA-256 of the whole */
    const char *path;  /* file, URL */
    const char *language, *initial_prompt; /* NULL: not given */
    int64_t begin_ms, duration_ms; /* of the range; begin_ms -1: not given; duration_ms 0: to the end */
    int channel;       /* -1: not given */
    int is_named_by_path; /* the id is made of the path alone */
    const char *other; /* other members as they are in the line: "KEY": VALUE,... */
    char *memory;      /* of all texts */
};

enum manifest_read { MANIFEST_ITEM, MANIFEST_EMPTY, MANIFEST_BAD, MANIFEST_NO_MEMORY };

/* Read a line, without its end. why[MANIFEST_WHY] receives the reason of MANIFEST_BAD. */
enum manifest_read manifest_item_read(struct manifest_item *it, const char *line, char *why);
/* Length of the item's range in an audio of this length. */
int64_t manifest_item_ms(const struct manifest_item *it, int64_t audio_ms);
void manifest_item_free(struct manifest_item *it); /* {0} is allowed */
#endif
